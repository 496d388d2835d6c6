//! Run-time dispatch of SIMD kernels: the instruction set is chosen once per process.
//!
//! It is the widest that the processor has, or the one that the environment variable `BIDILEL_SIMD` names: `scalar`,
//! `avx2`, `avx512` or `neon`. A kernel that accumulates in registers has one partial sum per lane, so its results differ
//! between levels in the last bits, and in nothing else: the tests run at every level that the machine has.
//!
//! faer selects its instruction set by itself; this variable does not affect it.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use pulp::{Arch, Simd, WithSimd};

/// The environment variable that forces a level.
pub const LEVEL_VARIABLE: &str = "BIDILEL_SIMD";

/// A SIMD instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No vector instructions beyond the baseline of the compilation target.
    Scalar,
    /// NEON: 128 bits.
    Neon,
    /// AVX2 with fused multiply-add: 256 bits.
    Avx2,
    /// AVX-512 F, CD, BW, DQ and VL: 512 bits.
    Avx512,
}

/// A requested level that is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// No level of that name.
    #[error("{LEVEL_VARIABLE} must be scalar, neon, avx2 or avx512, found `{0}`")]
    Unknown(String),
    /// The processor, or the build, does not have it.
    #[error("{LEVEL_VARIABLE} must be a level of this processor, found {0}")]
    Unavailable(Level),
}

impl Level {
    const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// The levels that this processor has, narrowest first.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|level| level.arch().is_some()).collect()
    }

    /// The level that the environment variable requests, if it is set.
    ///
    /// # Errors
    /// When there is no such level, or not on this processor.
    pub fn requested() -> Result<Option<Self>, LevelError> {
        let Some(text) = std::env::var_os(LEVEL_VARIABLE).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let level: Self = text.to_string_lossy().parse()?;
        level.arch().map(|_| Some(level)).ok_or(LevelError::Unavailable(level))
    }

    /// The level in use. An invalid request falls back to the widest level; programs check [`Self::requested`] first.
    pub fn in_use() -> Self {
        let (level, _) = chosen();
        level
    }

    fn arch(self) -> Option<Arch> {
        match self {
            Self::Scalar => Some(Arch::Scalar),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => pulp::x86::V3::try_new().map(Arch::V3),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => pulp::x86::V4::try_new().map(Arch::V4),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => pulp::aarch64::Neon::try_new().map(Arch::Neon),
            _ => None,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        let same = |level: &Self| level.to_string().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(same).ok_or_else(|| LevelError::Unknown(text.to_owned()))
    }
}

fn chosen() -> (Level, Arch) {
    static CHOSEN: OnceLock<(Level, Arch)> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let requested = Level::requested().ok().flatten();
        let widest = || Level::available().into_iter().next_back();
        let level = requested.or_else(widest).unwrap_or(Level::Scalar);
        (level, level.arch().unwrap_or_default())
    })
}

/// Runs the tests of a test binary again at every other level; for tests only.
///
/// # Panics
/// If a test fails at one of the levels, with its output.
#[doc(hidden)]
pub fn test_at_other_levels() {
    // With the variable set, this process is itself such a run.
    if std::env::var_os(LEVEL_VARIABLE).is_some() {
        return;
    }
    let tests = std::env::current_exe().expect("a test knows its own program");
    for level in Level::available().into_iter().filter(|&level| level != Level::in_use()) {
        let run = std::process::Command::new(&tests).env(LEVEL_VARIABLE, level.to_string()).output();
        let run = run.expect("the tests start again");
        assert!(run.status.success(), "at the level {level}:\n{}", String::from_utf8_lossy(&run.stdout));
    }
}

/// Runs a closure compiled for the level in use.
///
/// The closure should be `#[inline(always)]`, and the order of its operations must not depend on the register width.
#[inline]
pub fn dispatch<R>(work: impl FnMut() -> R) -> R {
    struct Work<F>(F);
    impl<R, F: FnMut() -> R> WithSimd for Work<F> {
        type Output = R;

        // Called by reference: a closure called by value may be compiled as a separate function, without the wide
        // instructions.
        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> R {
            (self.0)()
        }
    }
    run_kernel(Work(work))
}

/// Runs a kernel that is generic over the register type, at the level in use.
#[inline]
pub(crate) fn run_kernel<Op: WithSimd>(op: Op) -> Op::Output {
    chosen().1.dispatch(op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_others_are_refused() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let failure = "avx1024".parse::<Level>().expect_err("no such instructions");
        assert_eq!(failure.to_string(), "BIDILEL_SIMD must be scalar, neon, avx2 or avx512, found `avx1024`");
    }

    #[test]
    fn the_level_in_use_is_the_one_asked_for_or_the_widest() {
        let available = Level::available();
        assert_eq!(available.first(), Some(&Level::Scalar));
        let expected = Level::requested().expect("a level of this machine").or(available.last().copied());
        assert_eq!(Some(Level::in_use()), expected);
    }

    /// Every test of this crate, again at each of the other levels.
    #[test]
    fn every_test_passes_at_every_level() {
        test_at_other_levels();
    }
}
