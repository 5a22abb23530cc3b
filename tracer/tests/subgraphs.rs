//! Models of several subgraphs on the command line: planned together, in files that carry the plan,
//! and run on kernels.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    reason = "a test may fail loudly, and uses a part of what it shares"
)]

#[path = "../../analysis/tests/tflite/subgraphs/program.rs"]
mod program;
#[path = "../../analysis/tests/tflite/tree.rs"]
mod tree;

use dmo_analysis::graph::tflite;
use program::{Grower, Operation};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn dmo_trace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.args(arguments).output().unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The exit code, and the report.
fn report(arguments: &[&str]) -> (i32, Value) {
    let output = dmo_trace(&[arguments, &["--json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_slice(&output.stdout);
    (
        output.status.code().unwrap(),
        value.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {errors}")),
    )
}

#[test]
fn plans_of_all_subgraphs_are_safe_on_kernels_and_damaged_ones_are_not() {
    let (mut plans, mut executed, mut caught) = (0, 0, 0);
    for seed in 0..12 {
        let program = Grower::program(seed);
        if program.subgraphs.len() < 2 {
            continue;
        }
        let [model, plan, damaged] = ["tflite", "json", "damaged.json"]
            .map(|end| path(&format!("linked-{seed}.{end}")))
            .map(|path| path.to_str().unwrap().to_owned());
        std::fs::write(&model, program.file()).unwrap();
        let arguments = ["plan", &model, "--overlap", "traced", "--out", &plan];
        assert_eq!(report(&arguments).0, 0, "seed {seed}");
        let verify = ["verify", &model, "--plan", &plan, "--inputs", "2"];
        let (code, found) = report(&verify);
        assert_eq!((code, &found["geometric"]["safe"]), (0, &true.into()));
        executed += found["layers"].as_array().unwrap().len();
        plans += 1;

        // All tensors in one place.
        let mut file: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
        let tensors = file["tensors"].as_array_mut().unwrap();
        for tensor in tensors.iter_mut() {
            tensor["offset"] = 0.into();
        }
        std::fs::write(&damaged, file.to_string()).unwrap();
        let (code, found) = report(&["verify", &model, "--plan", &damaged, "--inputs", "2"]);
        assert_eq!(code, 1, "seed {seed}");
        caught += usize::from(found["execution"]["safe"] == false);
    }
    assert!(plans >= 8 && executed >= 50, "{plans} {executed}");
    assert_eq!(caught, plans);
}

#[test]
fn a_model_carries_the_plan_of_all_its_subgraphs() {
    let mut seen = 0;
    for seed in 0..8 {
        let program = Grower::program(seed);
        let [model, planned] = ["tflite", "planned.tflite"]
            .map(|end| path(&format!("carried-{seed}.{end}")))
            .map(|path| path.to_str().unwrap().to_owned());
        std::fs::write(&model, program.file()).unwrap();
        let (code, found) = report(&["plan", &model, "--out", &planned]);
        assert_eq!(code, 0);
        let (code, audited) = report(&["audit", &planned]);
        assert_eq!((code, &audited["arena_bytes"]), (0, &found["arena_bytes"]));
        let mut operators = program.subgraphs.iter().flat_map(|it| &it.operators);
        seen += usize::from(operators.any(|it| matches!(it.operation, Operation::While(..))));
    }
    assert!(seen > 2);
}

/// What the plan does not place is left to the runtime: it does not lie at the arena's start.
#[test]
fn what_is_not_counted_is_left_to_the_runtime() {
    let (mut audited, mut left) = (0, 0);
    for seed in 0..8 {
        let program = Grower::program(seed);
        if program.subgraphs.len() < 2 {
            continue;
        }
        let [model, planned] = ["tflite", "planned.tflite"]
            .map(|end| path(&format!("left-{seed}.{end}")))
            .map(|path| path.to_str().unwrap().to_owned());
        std::fs::write(&model, program.file()).unwrap();
        for options in [
            &["--exclude-inputs"][..],
            &["--exclude-outputs"],
            &["--exclude-inputs", "--exclude-outputs"],
        ] {
            let plan = [&["plan", &model], options, &["--out", &planned]].concat();
            assert_eq!(report(&plan).0, 0, "seed {seed} {options:?}");
            let (code, found) = report(&["audit", &planned]);
            assert_eq!(code, 0, "seed {seed} {options:?} {found}");
            let file = std::fs::read(&planned).unwrap();
            let offsets = tflite::offline_plan(&file).unwrap().unwrap().offsets;
            left += offsets.iter().filter(|offset| **offset == -1).count();
            audited += 1;
        }
    }
    assert!(audited >= 15 && left >= 15, "{audited} {left}");
}

/// TensorFlow Lite Micro looks a state of any subgraph up by its index there, among the first offsets: it
/// would allocate nothing for it if it found one.
#[test]
fn no_offset_is_where_that_of_a_state_is_looked_up() {
    let (mut seen, mut refused) = (0, 0);
    for seed in 0..12 {
        let program = Grower::program(seed);
        let [_, second, ..] = &program.subgraphs[..] else {
            continue;
        };
        let [model, planned, damaged] = ["tflite", "planned.tflite", "damaged.tflite"]
            .map(|end| path(&format!("states-{seed}.{end}")))
            .map(|path| path.to_str().unwrap().to_owned());
        let first = second.tensors.len();
        std::fs::write(&model, program.file_with_states(&[0, 8])).unwrap();
        assert_eq!(
            report(&["plan", &model, "--out", &planned]).0,
            0,
            "seed {seed}"
        );
        assert_eq!(report(&["audit", &planned]).0, 0, "seed {seed}");
        let file = std::fs::read(&planned).unwrap();
        let offsets = tflite::offline_plan(&file).unwrap().unwrap().offsets;
        for index in (first..first + 8).filter(|index| *index < offsets.len()) {
            assert_eq!(offsets[index], -1, "seed {seed}, tensor {index}");
            seen += 1;
            let mut wrong = offsets.clone();
            wrong[index] = 4096;
            let given = std::fs::read(&model).unwrap();
            let wrong = tflite::with_plan(&given, None, &wrong).unwrap();
            std::fs::write(&damaged, wrong).unwrap();
            for command in ["audit", "verify", "arena"] {
                let output = dmo_trace(&[command, &damaged]);
                assert_eq!(output.status.code(), Some(2), "seed {seed} {command}");
            }
            refused += 1;
        }
    }
    assert!(seen >= 40 && refused == seen, "{seen} {refused}");
}
