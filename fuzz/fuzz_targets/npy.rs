#![no_main]

libfuzzer_sys::fuzz_target!(init: bidilel_fuzz::report_own_panics(), |bytes: &[u8]| bidilel_fuzz::npy(bytes));
