//! The vector instructions that the kernels of this crate use, chosen once a process.
//!
//! The widest that the processor has, or those that the environment variable `BIDILEL_SIMD` names: `scalar`, `avx2`,
//! `avx512` or `neon`. Sums that a kernel keeps in registers are as many as the registers have lanes, so results differ
//! between levels in their last bits, and in nothing else: the tests run at every level that the machine has.
//!
//! faer chooses its instructions by itself, and this variable does not reach them.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use pulp::{Arch, WithSimd};

/// The environment variable that forces a level.
pub const VARIABLE: &str = "BIDILEL_SIMD";

/// A set of vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No vector instructions beyond what the compiler takes for granted.
    Scalar,
    /// NEON: 128 bits.
    Neon,
    /// AVX2 with fused multiply-add: 256 bits.
    Avx2,
    /// AVX-512 F, CD, BW, DQ and VL: 512 bits.
    Avx512,
}

/// A level that was asked for and cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// No level of that name.
    #[error("{VARIABLE} must be scalar, neon, avx2 or avx512, found `{0}`")]
    Unknown(String),
    /// The processor, or the build, does not have it.
    #[error("{VARIABLE} asks for {0}, which this processor does not have")]
    Unavailable(Level),
}

impl Level {
    const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// The levels that this processor has, narrowest first.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|level| level.arch().is_some()).collect()
    }

    /// The level that the environment asks for, if it does.
    ///
    /// # Errors
    /// When there is no such level, or not on this processor.
    pub fn requested() -> Result<Option<Self>, LevelError> {
        let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
        let level: Self = text.to_string_lossy().parse()?;
        level.arch().map(|_| Some(level)).ok_or(LevelError::Unavailable(level))
    }

    /// The level in use. A request that cannot be met leaves the widest: programs ask [`Self::requested`] first.
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

/// Runs the tests of a test binary at each of the levels that its process does not run at; for tests alone.
///
/// # Panics
/// If a test fails at one of them, with what it said.
#[doc(hidden)]
pub fn test_at_other_levels() {
    // A process that was told its level was started by another that runs the rest.
    if std::env::var_os(VARIABLE).is_some() {
        return;
    }
    let tests = std::env::current_exe().expect("a test knows its own program");
    for level in Level::available().into_iter().filter(|&level| level != Level::in_use()) {
        let run = std::process::Command::new(&tests).env(VARIABLE, level.to_string()).output();
        let run = run.expect("the tests start again");
        assert!(run.status.success(), "at the level {level}:\n{}", String::from_utf8_lossy(&run.stdout));
    }
}

/// Runs a kernel with the instructions in use.
#[inline]
pub(crate) fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
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

    /// Every test of this crate, once more at each of the other levels.
    #[test]
    fn every_test_passes_at_every_level() {
        test_at_other_levels();
    }
}
