//! For libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| dmo_trace_fuzz::foreign(input));
