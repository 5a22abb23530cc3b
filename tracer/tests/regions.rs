//! Plans of several memories, written by `plan --region` and held against the model again.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const MODEL: &str = "zoo:mobilenet_v1_0.25_128:int8";

fn dmo_trace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.args(arguments).output().unwrap()
}

fn audit(plan: &Path, content: &Value) -> (Option<i32>, String) {
    std::fs::write(plan, content.to_string()).unwrap();
    let output = dmo_trace(&["audit", MODEL, "--plan", plan.to_str().unwrap()]);
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

#[test]
fn a_plan_of_several_memories_is_audited_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let emit = path.to_str().unwrap();
    let regions = ["--region", "sram=40K", "--region", "psram=1M"];
    let output = dmo_trace(&[&["plan", MODEL, "--emit", emit], &regions[..]].concat());
    assert!(output.status.success());
    let plan: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(plan["regions"][1]["used_bytes"].as_u64().unwrap() > 0);
    let (code, words) = audit(&path, &plan);
    assert_eq!(code, Some(0), "{words}");

    let mut moved = 0;
    for (index, tensor) in plan["tensors"].as_array().unwrap().iter().enumerate() {
        if tensor["region"] != 1 {
            continue;
        }
        // Everything at the start of the first memory that is large enough for it.
        let mut mutant = plan.clone();
        mutant["regions"][0]["capacity_bytes"] = Value::from(1 << 20);
        mutant["tensors"][index]["region"] = Value::from(0);
        mutant["tensors"][index]["offset"] = Value::from(0);
        let (code, words) = audit(&path, &mutant);
        assert_eq!(code, Some(1), "{words}");
        moved += 1;
    }
    assert!(moved > 0);

    let mut small = plan.clone();
    small["regions"][1]["capacity_bytes"] = Value::from(16);
    let (code, words) = audit(&path, &small);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("beyond its 16 bytes"), "{words}");
    let mut without = plan;
    without["regions"].as_array_mut().unwrap().pop();
    let (code, words) = audit(&path, &without);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("region 1"), "{words}");
}
