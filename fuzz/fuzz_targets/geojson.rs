#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mad_fuzz::once(&mad_fuzz::files::GEOJSON, bytes));
