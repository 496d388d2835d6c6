#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bidilel_fuzz::hdf5_chunks(bytes));
