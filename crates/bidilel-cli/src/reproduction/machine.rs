//! Where a table was made, for its manifest.

use bidilel_math::simd::Level;
use bidilel_report::Machine;

/// This machine.
pub(crate) fn here() -> Machine {
    Machine {
        os: std::env::consts::OS.to_owned(),
        processor: format!("{} with {}", std::env::consts::ARCH, Level::in_use()),
        threads: rayon::current_num_threads(),
    }
}
