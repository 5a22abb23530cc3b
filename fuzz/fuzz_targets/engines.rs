//! For libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let found = dmo_engine_judge::fuzz::difference(input);
    assert!(matches!(found, Ok(None)), "{found:?}");
});
