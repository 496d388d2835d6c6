#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bidilel_fuzz::parquet_schema(bytes));
