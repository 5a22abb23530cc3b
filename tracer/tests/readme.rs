//! The console examples of the documents are what the program prints.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

#[test]
fn console_examples() {
    // Readers are in the repository's folder.
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    std::env::set_current_dir(repository).expect("the repository's folder");
    let cache = tempfile::tempdir().expect("a folder");
    trycmd::TestCases::new()
        .env("XDG_CACHE_HOME", cache.path().to_str().expect("a name"))
        .register_bin("dmo-trace", trycmd::cargo::cargo_bin!("dmo-trace"))
        .case("README.md")
        .case("docs/arena.md")
        .case("docs/cycles.md")
        .case("docs/explain.md")
        .case("docs/hooks.md")
        .case("docs/in-place.md")
        .case("tracer/tests/console/*.md");
}
