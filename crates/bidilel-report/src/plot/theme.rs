//! Colors of a drawing.

/// Colors of one drawing; `paper` is its background, none where it is transparent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Text and axes.
    pub(crate) ink: &'static str,
    /// Labels of axes, names of little weight.
    pub(crate) muted: &'static str,
    /// Lines of the grid.
    pub(crate) grid: &'static str,
    /// Background.
    pub(crate) paper: Option<&'static str>,
    /// What names stand on where they cover something.
    pub(crate) halo: &'static str,
    /// Series: they differ for readers who see few colors (M. Okabe and K. Ito, 2008).
    pub(crate) series: [&'static str; 5],
}

impl Theme {
    /// Dark on white.
    pub const LIGHT: Self = Self {
        ink: "#1c2330",
        muted: "#566070",
        grid: "#dde2ea",
        paper: Some("#ffffff"),
        halo: "#ffffff",
        series: ["#0072b2", "#d55e00", "#008060", "#b5528f", "#444c5a"],
    };

    /// Light on dark.
    pub const DARK: Self = Self {
        ink: "#e8ecf2",
        muted: "#a5afbf",
        grid: "#323a48",
        paper: Some("#141820"),
        halo: "#141820",
        series: ["#56b4e9", "#f0a050", "#2fc79b", "#e0a0c8", "#c3cad6"],
    };

    /// Dark without a background, for pages and slides that are light.
    pub const TRANSPARENT: Self = Self { paper: None, ..Self::LIGHT };

    /// The colors of the report page, which follow its light or dark appearance.
    pub(crate) const PAGE: Self = Self {
        ink: "var(--ink)",
        muted: "var(--muted)",
        grid: "var(--grid)",
        paper: None,
        halo: "var(--paper)",
        series: ["var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)", "var(--s5)"],
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast of two colors by WCAG 2.2.
    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |color: &str| {
            let channel = |at: usize| {
                let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).expect("a color")) / 255.0;
                if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_and_series_stand_out_from_the_background() {
        for theme in [Theme::LIGHT, Theme::DARK] {
            let paper = theme.paper.expect("a background");
            assert!(contrast(theme.ink, paper) > 7.0 && contrast(theme.muted, paper) > 4.5);
            assert!(theme.series.iter().all(|color| contrast(color, paper) > 3.0), "{theme:?}");
        }
    }
}
