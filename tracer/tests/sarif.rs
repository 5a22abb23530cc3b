//! Objections in SARIF, for code hosts.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What `verify` writes, and its exit code.
fn log(arguments: &[&str]) -> (Value, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.sarif");
    let mut verify = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    verify.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"));
    let output = verify
        .arg("verify")
        .args(arguments)
        .arg("--sarif")
        .arg(&path);
    let output = output.output().unwrap();
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (serde_json::from_slice(&text).unwrap(), output.status.code())
}

fn results(log: &Value) -> &[Value] {
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "dmo-trace");
    run["results"].as_array().unwrap()
}

#[test]
fn objections_are_at_the_line_that_does_the_damage() {
    let model = "zoo:mobilenet_v1_0.25_128:int8";
    let (log, code) = log(&[
        model,
        "--inputs",
        "1",
        "--kernels",
        "dsp-channels-outside",
        "--source-root",
        "kernels-c",
    ]);
    assert_eq!(code, Some(1));
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let mut at_lines = 0;
    for result in results(&log) {
        let known = rules.iter().any(|rule| rule["id"] == result["ruleId"]);
        assert!(known && result["level"] == "error", "{result}");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        match place["region"]["startLine"].as_u64() {
            Some(line) => {
                assert!(line > 0 && uri.starts_with("dsp/"), "{uri}");
                at_lines += 1;
            }
            None => assert_eq!(uri, model),
        }
    }
    assert!(at_lines > 0 && results(&log).len() > at_lines, "{log}");
}

#[test]
fn a_safe_plan_has_no_results() {
    let (log, code) = log(&["stand_in_autoencoder_int8.tflite", "--inputs", "1"]);
    assert_eq!(code, Some(0));
    assert_eq!(results(&log), [] as [Value; 0]);
}
