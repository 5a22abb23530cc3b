//! The console examples are what the program prints.
#![allow(clippy::expect_used, reason = "a test fails by panic")]

#[test]
fn console_examples() {
    trycmd::TestCases::new()
        .register_bin("dmo-papers", trycmd::cargo::cargo_bin!("dmo-papers"))
        .case("tests/console/*.md");
}
