//! Firmware that runs a model by an interpreter in the style of TensorFlow Lite Micro: its plan is
//! recovered, what it does is reported, and what the plan cannot explain is refused.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the firmware's name"
)]

mod support;

use dmo_analysis::graph::tflite::{self, export};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::cross::{CPUS, compile, compiler, firmware, kernels};
use support::tools;

fn main() {
    let compiler = compiler();
    let trial = |name: &str, test: fn() -> Result<(), Failed>| tools::trial(name, &compiler, test);
    let mut trials: Vec<Trial> = vec![
        trial("the_greedy_plan_is_recovered", greedy),
        trial("a_profiler_of_its_own_does", own_profiler),
        trial("two_inferences_are_two", two_inferences),
        trial("a_safe_offline_plan_is_safe", safe_offline_plan),
        trial("a_clobber_is_found_and_blamed", clobber),
        trial("a_later_clobber_is_found", waiting_tensor),
        trial("stores_between_operators_are_found", intruder),
        trial("another_planner_is_refused", other_planner),
        trial("an_offline_plan_that_is_not_obeyed_is_refused", disobeyed),
        trial("another_model_is_refused", other_model),
        trial("another_arena_is_refused", other_arena),
        trial("an_arena_need_not_be_aligned", unaligned_arena),
        trial("options_that_make_no_sense_are_errors", bad_options),
    ];
    for (cpu, flags) in CPUS {
        trials.push(tools::trial(
            format!("at_every_level_on_{cpu}"),
            &compiler,
            move || every_level(cpu, flags),
        ));
    }
    tools::main(&compiler, trials)
}

/// A model file and firmware that runs it, in a folder.
struct Bench {
    folder: tempfile::TempDir,
    graph: Graph,
}

const MARKS: &[&str] = &["-O2", "-DMARKS"];

impl Bench {
    fn new() -> Self {
        let network = zoo::find("liberis_lane_figure_1").expect("a network of the zoo");
        let graph = network.build(Element::Int8);
        let bench = Self {
            folder: tempfile::tempdir().expect("a folder"),
            graph,
        };
        let file = export(&bench.graph, 1).expect("a model file");
        std::fs::write(bench.path("model.tflite"), file).expect("a file");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The activations: the firmware's tensors 0 to 7.
    fn activations(&self) -> Vec<TensorId> {
        let ids = (0..self.graph.tensors.len()).map(TensorId);
        ids.filter(|&id| self.graph.in_arena(id)).collect()
    }

    /// The model with this plan for the firmware's tensors.
    fn with_plan(self, order: Option<&[OperatorId]>, offsets: &[i32]) -> Self {
        let file = std::fs::read(self.path("model.tflite")).expect("a file");
        let tensors = tflite::read(&file).expect("a model").graphs[0]
            .tensors
            .len();
        let mut all = vec![-1; tensors];
        for (id, &offset) in self.activations().into_iter().zip(offsets) {
            all[id.0] = offset;
        }
        let file = tflite::with_plan(&file, order, &all).expect("a plan");
        std::fs::write(self.path("model.tflite"), file).expect("a file");
        self
    }

    fn build(&self, cpu: usize, flags: &[&str]) -> Result<(), Failed> {
        let (cpu, cpu_flags) = CPUS[cpu];
        let mut sources = vec![firmware("interpreter.cpp"), kernels("marks/dmo_trace.c")];
        for kernel in ["conv2d", "depthwise_conv2d", "concat"] {
            sources.push(kernels(&format!("reference/dmo_{kernel}_s8.c")));
        }
        // Of C files that option is none, which is told and does no harm.
        let flags = [cpu_flags, &["-fno-rtti"], flags].concat();
        let elf = compile(cpu, &flags, &sources)?;
        Ok(std::fs::write(self.path("firmware.elf"), elf)?)
    }

    fn run_with(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
            .arg("run")
            .arg(self.path("firmware.elf"))
            .args(["--inputs", "2"])
            .args(arguments)
            .output()
            .expect("dmo-trace")
    }

    fn run(&self, arena: &str, arguments: &[&str]) -> Output {
        let model = self.path("model.tflite");
        let model = model.to_str().expect("a name");
        self.run_with(&[&["--model", model, "--arena", arena], arguments].concat())
    }

    /// A run that succeeds, or fails where `code` is 1.
    fn json(&self, arena: &str, code: i32) -> Value {
        let output = self.run(arena, &["--json"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn assert_refused(&self, arena: &str, reason: &str) {
        let output = self.run(arena, &[]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(reason), "{errors}");
        assert!(output.stdout.is_empty());
    }
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Names, roles, addresses and O_s of all layers.
fn layers(report: &Value) -> Vec<Value> {
    let layers = report["layers"].as_array().expect("layers");
    let mut all = Vec::new();
    for layer in layers {
        all.push(layer["name"].clone());
        for tensor in layer["tensors"].as_array().expect("tensors") {
            all.extend(
                ["name", "role", "size_bytes", "loads", "stores"].map(|key| tensor[key].clone()),
            );
        }
        for pair in layer["pairs"].as_array().expect("pairs") {
            all.push(pair["safe_overlap_bytes"].clone());
        }
    }
    all
}

/// Offsets in the head of each layer's tensors.
fn offsets(report: &Value) -> Vec<(String, u64)> {
    let head = number(&report["arena"]["head_start"]);
    let layers = report["layers"].as_array().expect("layers");
    let tensors = layers
        .iter()
        .flat_map(|layer| layer["tensors"].as_array().expect("tensors"));
    let offset = |tensor: &Value| {
        let name = tensor["name"].as_str().expect("a name").to_owned();
        (name, number(&tensor["address"]) - head)
    };
    tensors.map(offset).collect()
}

fn greedy() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.build(1, MARKS)?;
    let report = bench.json("tensor_arena", 0);
    let arena = &report["arena"];
    assert_eq!(arena["planned"], "greedy");
    assert_eq!(arena["safe"], true);
    assert_eq!(number(&arena["inferences"]), 1);
    assert_eq!(number(&arena["size_bytes"]), 8192);
    assert_eq!(number(&arena["head_start"]) % 16, 0);
    // The second operator needs both of its tensors and nothing else, and so does the first;
    // while the second runs, no other waits.
    let in_use: Vec<u64> = arena["in_use_bytes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect();
    assert_eq!(
        in_use,
        [
            1568 + 3136,
            3136 + 1568,
            3136 + 1568 + 512,
            3136 + 512 + 512,
            512 + 512 + 256,
            512 + 256 + 256,
            256 + 256 + 512
        ]
    );
    let head = number(&arena["head_bytes"]);
    assert!((5216..8192).contains(&head), "{head}");
    // Eight tensors of 20 bytes are kept at the end.
    assert_eq!(number(&arena["tail_bytes"]), 160);
    assert_eq!(number(&arena["temporary_bytes"]), 0);
    assert_eq!(number(&arena["headroom_bytes"]), 8192 - 160 - head);
    // With overlaps the head is smaller, and holds at least the tensors that cannot overlap.
    let overlapped = number(&arena["overlapped"]["head_bytes"]);
    assert!((3136..head).contains(&overlapped), "{overlapped} of {head}");
    let layers = report["layers"].as_array().expect("layers");
    let kinds: Vec<&str> = layers
        .iter()
        .filter_map(|layer| layer["operator"].as_str())
        .collect();
    let expected: Vec<&str> = bench
        .graph
        .operators
        .iter()
        .map(|node| node.kind.name())
        .collect();
    assert_eq!(kinds, expected);
    for (operator, layer) in layers.iter().enumerate() {
        assert_eq!(layer["data_dependent"], false, "{layer}");
        for pair in layer["pairs"].as_array().expect("pairs") {
            // Another operator loads its input again.
            if operator == 1 {
                assert_eq!(pair["refusals"][0]["kind"], "input_used_again");
                continue;
            }
            assert!(
                pair["refusals"].as_array().expect("a list").is_empty(),
                "{pair}"
            );
            assert!(number(&pair["safe_overlap_bytes"]) > 0, "{pair}");
        }
    }
    let text = bench.run("tensor_arena", &[]).stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    for line in [
        "head-room",
        "overlapped",
        "no tensor is overwritten while it is needed",
    ] {
        assert!(text.contains(line), "{text}");
    }
    Ok(())
}

fn own_profiler() -> Result<(), Failed> {
    let (marked, own) = (Bench::new(), Bench::new());
    marked.build(1, MARKS)?;
    own.build(1, &["-O2"])?;
    let (marked, own) = (marked.json("tensor_arena", 0), own.json("tensor_arena", 0));
    assert_eq!(layers(&marked), layers(&own));
    assert_eq!(offsets(&marked), offsets(&own));
    for field in [
        "head_bytes",
        "headroom_bytes",
        "tail_bytes",
        "overlapped",
        "in_use_bytes",
    ] {
        assert_eq!(marked["arena"][field], own["arena"][field], "{field}");
    }
    Ok(())
}

fn two_inferences() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.build(1, &["-O2", "-DMARKS", "-DINFERENCES=2"])?;
    let report = bench.json("tensor_arena", 0);
    assert_eq!(number(&report["arena"]["inferences"]), 2);
    assert_eq!(report["layers"].as_array().expect("layers").len(), 14);
    let all = layers(&report);
    assert_eq!(all[..all.len() / 2], all[all.len() / 2..]);
    Ok(())
}

/// Each operator's output ends where its input begins, or lies elsewhere.
const APART: [i32; 8] = [3136, 0, 3136, 4704, 5216, 0, 256, 512];

fn offline(offsets: &[i32]) -> String {
    let numbers: Vec<String> = offsets.iter().map(i32::to_string).collect();
    format!("-DOFFLINE={}", numbers.join(","))
}

/// The firmware with this plan, as its model says.
fn obeying(offsets: &[i32]) -> Result<Bench, Failed> {
    let bench = Bench::new().with_plan(None, offsets);
    bench.build(1, &[MARKS, &[offline(offsets).as_str()]].concat())?;
    Ok(bench)
}

fn safe_offline_plan() -> Result<(), Failed> {
    let report = obeying(&APART)?.json("tensor_arena", 0);
    assert_eq!(report["arena"]["planned"], "offline");
    assert!(report["arena"]["overlapped"].is_object());
    // The last operator but one leaves part of its own room to its input: half of the bytes.
    let mut overlapped = APART;
    overlapped[5] = 4704 - 128;
    let bench = obeying(&overlapped)?;
    let report = bench.json("tensor_arena", 0);
    assert!(report["arena"]["overlapped"].is_null());
    let found = offsets(&report);
    assert_eq!(
        found
            .iter()
            .filter(|(_, offset)| *offset == 4704 - 128)
            .count(),
        2
    );
    // Whose bytes an access is of cannot be told: no overlap is granted.
    let layer = &report["layers"][4];
    assert_eq!(
        layer["pairs"][0]["refusals"][0]["kind"], "shared_memory",
        "{layer}"
    );
    let file = bench.path("trace.dmo");
    let output = bench.run("tensor_arena", &["--save", file.to_str().expect("a name")]);
    assert_eq!(output.status.code(), Some(2));
    Ok(())
}

/// The first operator makes two elements of each one and overwrites what it has yet to load.
fn clobber() -> Result<(), Failed> {
    let mut offsets = APART;
    offsets[0] = 16;
    let bench = obeying(&offsets)?;
    let report = bench.json("tensor_arena", 1);
    assert_eq!(report["arena"]["safe"], false);
    let finding = &report["arena"]["findings"][0];
    assert_eq!(
        (&finding["kind"], number(&finding["operator"])),
        (&Value::from("clobber"), 0)
    );
    let output = bench.run("tensor_arena", &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("are overwritten before they are loaded"),
        "{text}"
    );
    assert!(
        text.contains("oracle_conv2d.c:") || text.contains("dmo_conv2d_s8"),
        "{text}"
    );
    assert!(text.contains("UNSAFE"), "{text}");
    Ok(())
}

/// An output lies where another operator's input waits.
fn waiting_tensor() -> Result<(), Failed> {
    let mut offsets = APART;
    offsets[3] = 1000 / 16 * 16;
    let report = obeying(&offsets)?.json("tensor_arena", 1);
    let findings = report["arena"]["findings"].as_array().expect("a list");
    let destroyed = |finding: &&Value| finding["kind"] == "destroyed";
    let finding = findings.iter().find(destroyed).expect("a finding");
    assert_eq!(number(&finding["operator"]), 2);
    Ok(())
}

fn intruder() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.build(1, &["-O2", "-DMARKS", "-DINTRUDE"])?;
    let report = bench.json("tensor_arena", 1);
    let store = &report["arena"]["stores_between"][0];
    assert_eq!(
        (number(&store["operator"]), number(&store["count"])),
        (1, 1)
    );
    Ok(())
}

fn other_planner() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.build(1, &["-O2", "-DMARKS", "-DIN_ORDER"])?;
    bench.assert_refused(
        "tensor_arena",
        "the firmware's plan is not the one simulated",
    );
    Ok(())
}

/// Each tensor in turn lies 16 bytes further up than the model says.
fn disobeyed() -> Result<(), Failed> {
    for tensor in 0..APART.len() {
        let mut moved = APART;
        moved[tensor] += 16;
        let bench = Bench::new().with_plan(None, &APART);
        bench.build(1, &[MARKS, &[offline(&moved).as_str()]].concat())?;
        let output = bench.run("tensor_arena", &[]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "tensor {tensor}: {errors}");
    }
    Ok(())
}

fn other_model() -> Result<(), Failed> {
    let order: Vec<OperatorId> = [0, 1, 3, 2, 4, 5, 6].map(OperatorId).to_vec();
    let bench = Bench::new().with_plan(Some(&order), &[-1; 8]);
    bench.build(1, MARKS)?;
    bench.assert_refused("tensor_arena", "is it the model that the firmware runs?");
    Ok(())
}

fn other_arena() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.build(1, MARKS)?;
    bench.assert_refused(
        "other_memory",
        "the firmware's plan is not the one simulated",
    );
    bench.assert_refused("tensor_arenas", "the program has no object");
    bench.assert_refused("0x20000000..0x20000010", "the model's plan needs");
    bench.assert_refused("0x100..0x8000", "is not in RAM");
    bench.assert_refused("0x20000010..0x20000000", "has no bytes");
    bench.assert_refused("0x20000010..", "is not a number");
    Ok(())
}

fn unaligned_arena() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.build(1, MARKS)?;
    let aligned = bench.json("tensor_arena", 0);
    bench.build(1, &["-O2", "-DMARKS", "-DARENA_OFFSET=4"])?;
    // The symbol is not the arena now.
    bench.assert_refused(
        "tensor_arena",
        "the firmware's plan is not the one simulated",
    );
    let start = number(&aligned["arena"]["start"]);
    let given = format!("{:#x}..{:#x}", start + 4, start + 8192);
    let moved = bench.json(&given, 0);
    assert_eq!(number(&moved["arena"]["head_start"]), start + 16);
    assert_eq!(offsets(&moved), offsets(&aligned));
    Ok(())
}

fn bad_options() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.build(1, MARKS)?;
    let status = |arguments: &[&str]| bench.run_with(arguments).status.code();
    assert_eq!(status(&["--arena", "tensor_arena"]), Some(2));
    // The profiler's marks name no buffers.
    let output = bench.run_with(&[]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(message.contains("--model and --arena"), "{message}");
    let model = bench.path("model.tflite");
    let model = model.to_str().expect("a name");
    assert_eq!(status(&["--model", model]), Some(2));
    let hooked = [
        "--layers",
        "cmsis-nn",
        "--model",
        model,
        "--arena",
        "tensor_arena",
    ];
    assert_eq!(status(&hooked), Some(2));
    let nowhere = Path::new("/no-such-model.tflite").display().to_string();
    assert_eq!(
        status(&["--model", &nowhere, "--arena", "tensor_arena"]),
        Some(2)
    );
    Ok(())
}

fn every_level(cpu: &str, _: &[&str]) -> Result<(), Failed> {
    let cpu = CPUS
        .iter()
        .position(|(name, _)| *name == cpu)
        .expect("a CPU");
    let mut found: Option<Vec<(String, u64)>> = None;
    for level in [&["-O0"][..], &["-Os"], &["-O3"], &["-O2", "-flto"]] {
        for marks in [&["-DMARKS"][..], &[]] {
            let bench = Bench::new();
            bench.build(cpu, &[level, marks].concat())?;
            let report = bench.json("tensor_arena", 0);
            assert_eq!(report["arena"]["safe"], true, "{level:?}");
            let here = offsets(&report);
            assert_eq!(
                *found.get_or_insert_with(|| here.clone()),
                here,
                "{level:?}"
            );
        }
    }
    Ok(())
}
