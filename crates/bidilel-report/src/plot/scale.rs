//! Axes: values to pixels, round ticks and their labels.

/// How values become positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Equal differences are equally far apart.
    Linear,
    /// The same for counts: no ticks between whole numbers.
    Whole,
    /// Equal ratios are equally far apart.
    Log,
}

/// An axis over a range of values, mapped to a range of pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Values that get a line and a label.
    ticks: Vec<f64>,
}

impl Scale {
    /// An axis from round tick to round tick that has all values, with about `most` ticks.
    pub(crate) fn over(kind: Kind, values: impl IntoIterator<Item = f64>, most: usize) -> Self {
        let usable = |value: &f64| value.is_finite() && (kind != Kind::Log || *value > 0.0);
        let (low, high) = values
            .into_iter()
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        // Without a value there is nothing to show, but still an axis.
        let (low, high) = if low <= high { (low, high) } else { (0.1, 1.0) };
        match kind {
            Kind::Linear => Self::linear(low, high, most, 0.0),
            Kind::Whole => Self::linear(low, high, most, 1.0),
            Kind::Log => Self::log(low, high, most),
        }
    }

    /// Round ticks that are at least `least` apart.
    fn linear(low: f64, high: f64, most: usize, least: f64) -> Self {
        // A single value has room around it: a percent, or its own size.
        let (low, high) = if high - low > 1e-12 * high.abs().max(low.abs()) {
            (low, high)
        } else {
            let room = if low == 0.0 { 1.0 } else { 0.05 * low.abs() };
            (low - room, high + room)
        };
        let step = round_step((high - low) / most.max(1) as f64).max(least);
        let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
        let ticks: Vec<f64> = (0..=count(last - first)).map(|i| step * (first + i as f64)).collect();
        let (low, high) = (step * first, step * last);
        Self { kind: Kind::Linear, low, high, from: 0.0, to: 1.0, ticks }
    }

    fn log(low: f64, high: f64, most: usize) -> Self {
        let (first, last) = (low.log10(), high.log10());
        let room = (0.04 * (last - first)).max(0.02);
        let (first, last) = (first - room, last + room);
        let powers = || int(first.floor())..=int(last.ceil());
        let within = |value: &f64| (first..=last).contains(&value.log10());
        let digits = |digits: &'static [f64]| -> Vec<f64> {
            powers()
                .flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)))
                .filter(within)
                .collect()
        };
        let decades = digits(&[1.0]);
        let fine = digits(&[1.0, 2.0, 5.0]);
        let ticks = if decades.len() > most {
            let every = decades.len().div_ceil(most.max(1));
            decades.into_iter().step_by(every).collect()
        } else if fine.len() <= most || decades.len() < 2 {
            // A narrow range has no round ticks but those of a linear axis.
            if fine.len() < 2 {
                Self::linear(low, high, most, 0.0).ticks.into_iter().filter(within).collect()
            } else {
                fine
            }
        } else {
            decades
        };
        Self { kind: Kind::Log, low: first, high: last, from: 0.0, to: 1.0, ticks }
    }

    /// An axis with an equal share for each of the values 0, 1, 2 and so on, and no round ticks.
    pub(crate) fn of_names(count: usize) -> Self {
        let (low, high) = (-0.5, count.max(1) as f64 - 0.5);
        Self { kind: Kind::Linear, low, high, from: 0.0, to: 1.0, ticks: Vec::new() }
    }

    /// The same axis on a range of pixels.
    pub(crate) fn on(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (from, to);
        self
    }

    /// Where a value lies; values outside of the range at its ends.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let value = match self.kind {
            Kind::Linear | Kind::Whole => value,
            Kind::Log => value.max(f64::MIN_POSITIVE).log10(),
        };
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + (self.to - self.from) * share
    }

    /// Positions and labels of the ticks, in units of `unit`: 0.01 for percent.
    pub(crate) fn ticks(&self, unit: f64) -> Vec<(f64, String)> {
        let values: Vec<f64> = self.ticks.iter().map(|value| value / unit).collect();
        let decimals = match self.kind {
            Kind::Linear | Kind::Whole => {
                values.windows(2).map(|pair| decimals(pair[1] - pair[0])).max().unwrap_or(0)
            }
            Kind::Log => 0,
        };
        let label = |value: &f64| match self.kind {
            Kind::Linear | Kind::Whole => number(*value, decimals),
            Kind::Log => number(*value, decimals_of(*value)),
        };
        self.ticks.iter().zip(&values).map(|(&tick, value)| (self.position(tick), label(value))).collect()
    }
}

/// The round number, 1, 2 or 5 times a power of ten, that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(power)
}

/// Decimals that a step of round numbers needs.
fn decimals(step: f64) -> usize {
    count(-(step.abs().log10() + 1e-9).floor())
}

/// Decimals of one, two or five times a power of ten.
fn decimals_of(value: f64) -> usize {
    (0..9)
        .find(|&digits| {
            let scaled = value * 10_f64.powi(i32::try_from(digits).unwrap_or(0));
            (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1e-9)
        })
        .unwrap_or(9)
}

/// A number with a comma between thousands.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let is_zero = text.chars().all(|digit| matches!(digit, '0' | '.'));
    let sign = if value < 0.0 && !is_zero { "\u{2212}" } else { "" };
    format!("{sign}{grouped}{rest}")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn count(value: f64) -> usize {
    value.round().clamp(0.0, 1000.0) as usize
}

#[expect(clippy::cast_possible_truncation, reason = "powers of ten of a float are few")]
fn int(value: f64) -> i32 {
    value as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale, unit: f64) -> String {
        scale.ticks(unit).into_iter().map(|tick| tick.1).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_and_cover_every_value() {
        let linear = |values: &[f64]| Scale::over(Kind::Linear, values.iter().copied(), 5);
        assert_eq!(labels(&linear(&[0.413, 0.478]), 0.01), "40 42 44 46 48");
        assert_eq!(labels(&linear(&[0.0, 0.9]), 0.01), "0 20 40 60 80 100");
        assert_eq!(labels(&linear(&[0.0, 23_000.0]), 1.0), "0 5,000 10,000 15,000 20,000 25,000");
        assert_eq!(labels(&linear(&[-0.031, 0.02]), 1.0), "−0.04 −0.02 0.00 0.02");
        for (low, high) in [(0.0, 1.0), (0.413, 0.478), (-3.0, 17.0), (1e-9, 2e-9), (5.0, 5.0), (0.0, 0.0)] {
            let scale = linear(&[low, high]).on(0.0, 100.0);
            let ticks = scale.ticks(1.0);
            assert!((2..=8).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            assert!(scale.low <= low && high <= scale.high);
            assert!(ticks[0].0.abs() < 1e-9 && (ticks[ticks.len() - 1].0 - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn powers_are_equally_far_apart_on_a_logarithmic_axis() {
        let scale = Scale::over(Kind::Log, [1.0, 1000.0, -5.0, f64::NAN], 5).on(0.0, 100.0);
        assert_eq!(labels(&scale, 1.0), "1 10 100 1,000");
        let ticks = scale.ticks(1.0);
        let gaps: Vec<f64> = ticks.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        assert!(gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-9));
        assert_eq!(labels(&Scale::over(Kind::Log, [0.02, 0.5], 6), 1.0), "0.02 0.05 0.1 0.2 0.5");
        assert!(Scale::over(Kind::Log, [0.0131, 0.0142], 5).ticks(1.0).len() > 1);
        assert!(Scale::over(Kind::Log, (0..12).map(|power| 10_f64.powi(power)), 5).ticks(1.0).len() <= 6);
    }

    #[test]
    fn no_value_still_makes_an_axis() {
        for kind in [Kind::Linear, Kind::Log] {
            let scale = Scale::over(kind, [f64::NAN], 5).on(0.0, 10.0);
            assert!(scale.position(f64::INFINITY).is_finite() && !scale.ticks(1.0).is_empty());
        }
    }
}
