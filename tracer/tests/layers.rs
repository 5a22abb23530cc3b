//! `dmo-trace layers` says of each operator what `verify` says of it on the same kernels.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use serde_json::Value;
use std::process::{Command, Output};

const VISION: &str = "tracer/tests/golden/stand_in_vision_int8.tflite";
const OPERATORS: &str = "tracer/tests/golden/stand_in_operators_int8.tflite";

fn dmo_trace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command.args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = dmo_trace(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{arguments:?}: {message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The greatest overlap that `verify` grants to an operator.
fn granted(layer: &Value) -> Option<u64> {
    let pairs = layer["pairs"].as_array().unwrap().iter();
    let granted = pairs.map(|pair| {
        let is_refused = !pair["refusals"].as_array().unwrap().is_empty();
        let overlap = pair["safe_overlap_bytes"].as_u64().unwrap();
        if is_refused { 0 } else { overlap }
    });
    granted.max()
}

#[test]
fn figures_are_those_of_verify() {
    const SETS: [&str; 3] = ["reference", "dsp", "dsp-packed"];
    let mut seen = 0;
    for model in [VISION, OPERATORS] {
        let compared = json(&[
            "layers",
            model,
            "--json",
            "--kernels",
            SETS[0],
            "--kernels",
            SETS[1],
            "--kernels",
            SETS[2],
        ]);
        let compared = &compared["models"][0];
        for (position, set) in SETS.iter().enumerate() {
            let verified = json(&["verify", model, "--json", "--kernels", set]);
            assert_eq!(compared["kernels"][position]["name"], *set);
            let mut instructions = 0;
            for layer in compared["layers"].as_array().unwrap() {
                let figures = &layer["figures"][position];
                let all = verified["layers"].as_array().unwrap();
                let same = all.iter().find(|it| it["operator"] == layer["operator"]);
                let Some(same) = same else {
                    assert!(figures.is_null(), "{model} {set} {layer}");
                    continue;
                };
                for key in ["function", "scratch_bytes"] {
                    assert_eq!(figures[key], same[key], "{model} {set} {layer}");
                }
                let overlap = figures["safe_overlap_bytes"].as_u64();
                assert_eq!(overlap, granted(same), "{model} {set} {layer}");
                // Copies take other instructions at other addresses.
                let [one, other] = [figures, same].map(|it| it["instructions"].as_u64().unwrap());
                assert!(one.abs_diff(other) * 20 <= one, "{model} {set} {layer}");
                instructions += one;
                seen += 1;
            }
            let is_common = compared["layers"].as_array().unwrap().iter();
            let is_common = is_common
                .flat_map(|it| it["figures"].as_array().unwrap())
                .all(|it| !it.is_null());
            if is_common {
                assert_eq!(compared["kernels"][position]["instructions"], instructions);
            }
        }
    }
    assert!(seen > 60, "{seen}");
}

#[test]
fn the_table_has_a_row_for_each_operator_and_the_sum() {
    let output = dmo_trace(&[
        "layers",
        VISION,
        "--kernels",
        "dsp",
        "--kernels",
        "reference",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let compared = json(&[
        "layers",
        VISION,
        "--json",
        "--kernels",
        "dsp",
        "--kernels",
        "reference",
    ]);
    let layers = compared["models"][0]["layers"].as_array().unwrap().len();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), layers + 3, "{text}");
    assert!(
        rows[0].contains("dsp: cycles") && rows[0].contains("ratio"),
        "{text}"
    );
    assert!(
        text.contains("reference takes ") && text.contains(" times the cycles of dsp"),
        "{text}"
    );
}

#[test]
fn the_arena_is_that_of_a_plan() {
    let libraries = ["dsp", "dsp-packed", "reference"];
    let options = libraries.iter().flat_map(|name| ["--kernels", name]);
    let options: Vec<&str> = ["layers", VISION, "--json"]
        .into_iter()
        .chain(options)
        .collect();
    let compared = json(&options);
    let compared = compared["models"][0]["kernels"].as_array().unwrap();
    assert_eq!(compared.len(), libraries.len());
    for (name, compared) in libraries.iter().zip(compared) {
        let planned = json(&["plan", VISION, "--json", "--kernels", name]);
        let arena = &compared["arena"];
        assert_eq!(arena["planned_bytes"], planned["arena_bytes"], "{name}");
        assert_eq!(arena["is_lower_bound"], false, "{name}");
        let of_plan = planned["arena_changes"].get(0).unwrap_or(&Value::Null);
        assert_eq!(&arena["runtime"], of_plan, "{name}");
    }
}

#[test]
fn a_model_that_cannot_be_compared_does_not_stop_others() {
    let output = dmo_trace(&[
        "layers",
        "absent.tflite",
        VISION,
        "--kernels",
        "dsp",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("absent.tflite"), "{message}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["models"].as_array().unwrap().len(), 1);
    let none = dmo_trace(&["layers", VISION, "--kernels", "no-such-set"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(none.stdout.is_empty());
}
