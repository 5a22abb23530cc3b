//! Firmware of TensorFlow Lite Micro that is followed by its own functions: without marks, a
//! profiler or options, with whatever kernels and planner it has.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the firmware's name"
)]

mod support;

use dmo_analysis::graph::tflite::{self, export};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, Kind, TensorId};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Output};
use support::cross::{compile, compiler, firmware, kernels};
use support::tools;

fn main() {
    let compiler = compiler();
    let trial = |name: &str, test: fn() -> Result<(), Failed>| tools::trial(name, &compiler, test);
    let trials: Vec<Trial> = vec![
        trial("model_and_arena_are_found", found),
        trial("explain_grants_what_run_grants", explained),
        trial("options_only_confirm", options),
        trial("scratch_memory_counts", scratch),
        trial("a_planner_of_its_own_is_followed", own_planner),
        trial("an_endless_loop_ends_after_two_inferences", endless),
        trial("an_arena_in_other_memory_is_found", pooled),
        trial("another_model_on_the_same_arena_is_told", second_model),
        trial(
            "models_with_allocators_on_one_arena_are_unsafe",
            two_allocators,
        ),
        trial(
            "stores_to_what_another_model_keeps_are_found",
            stores_to_another,
        ),
        trial("firmware_is_a_set_of_kernels", as_kernels),
        trial("a_plan_that_its_kernels_corrupt_is_unsafe", corrupted),
        trial("a_plan_beyond_its_arena_is_unsafe", too_small),
        trial("kernels_that_branch_on_data_get_no_overlap", branches),
        trial("firmware_that_cannot_be_handed_a_model_says_so", not_handed),
        trial("the_firmware's_plan_counts_not_the_file's", other_plan),
        trial("another_model_is_refused", other_model),
        trial("a_clobber_is_found_and_blamed", clobber),
        trial("own_clobber_names_the_doubt", own_clobber),
        trial("scratch_memory_that_is_overrun_is_refused", overrun),
        trial("scratch_buffers_of_one_operator_keep_apart", shared_scratch),
        trial("an_arena_beyond_memory_is_refused", huge_arena),
        trial("structures_of_another_version_are_simulated", other_layout),
        trial("a_program_without_inference_says_so", never_run),
        trial("a_stripped_program_wants_options", stripped),
    ];
    tools::main(&compiler, trials)
}

/// A model file, and firmware in which it lies.
struct Bench {
    folder: tempfile::TempDir,
    graph: Graph,
}

impl Bench {
    fn new(flags: &[&str]) -> Result<Self, Failed> {
        let network = zoo::find("liberis_lane_figure_1").expect("a network of the zoo");
        let folder = tempfile::tempdir()?;
        let model = folder.path().join("model.tflite");
        std::fs::write(&model, export(&network.build(Element::Int8), 1)?)?;
        let bench = Self {
            graph: tflite::read(&std::fs::read(&model)?)?.graphs.remove(0),
            folder,
        };
        std::fs::write(bench.path("model.h"), bench.header())?;
        bench.build(flags)?;
        Ok(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the firmware wants to know of the file's tensors.
    fn header(&self) -> String {
        let mut text = format!("#define MODEL_FILE {:?}\n", self.path("model.tflite"));
        let tensors = &self.graph.tensors;
        let mut activation = -1;
        let ids = (0..tensors.len()).map(TensorId);
        let activations = ids.map(|id| {
            let planned = self.graph.in_arena(id);
            activation += i32::from(planned);
            if planned { activation } else { -1 }.to_string()
        });
        let activations: Vec<String> = activations.collect();
        let dims = tensors.iter().map(|tensor| {
            let extents: Vec<String> = tensor.shape.iter().map(u32::to_string).collect();
            format!("{{ {}, {} }}", tensor.shape.len(), extents.join(", "))
        });
        let dims: Vec<String> = dims.collect();
        let count = tensors.len();
        let _ = writeln!(text, "constexpr int kFileTensors = {count};");
        let list = activations.join(", ");
        let _ = writeln!(text, "constexpr int kActivation[] = {{ {list} }};");
        let list = dims.join(", ");
        let _ = writeln!(text, "constexpr int kDims[][8] = {{ {list} }};");
        text
    }

    fn build(&self, flags: &[&str]) -> Result<(), Failed> {
        let mut sources = vec![firmware("runtime.cpp")];
        for kernel in ["conv2d", "depthwise_conv2d", "concat"] {
            sources.push(kernels(&format!("reference/dmo_{kernel}_s8.c")));
        }
        let include = format!("-I{}", self.folder.path().display());
        let common = ["-mfloat-abi=soft", "-fno-rtti", "-O2", include.as_str()];
        let elf = compile("cortex-m4", &[&common, flags].concat(), &sources)?;
        Ok(std::fs::write(self.path("firmware.elf"), elf)?)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
            .arg("run")
            .arg(self.path("firmware.elf"))
            .args(["--inputs", "2"])
            .args(arguments)
            .output()
            .expect("dmo-trace")
    }

    fn json(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn assert_refused(&self, arguments: &[&str], reason: &str) {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(reason), "{errors}");
        assert!(output.stdout.is_empty());
    }

    fn model(&self) -> String {
        self.path("model.tflite").display().to_string()
    }
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn layers(report: &Value) -> &Vec<Value> {
    report["layers"].as_array().expect("layers")
}

fn found() -> Result<(), Failed> {
    let bench = Bench::new(&[])?;
    let report = bench.json(&[], 0);
    let arena = &report["arena"];
    assert_eq!(arena["planned"], "greedy", "{arena}");
    assert_eq!(arena["safe"], true);
    assert_eq!(number(&arena["inferences"]), 1);
    assert_eq!(number(&arena["size_bytes"]), 16384);
    let kinds = layers(&report)
        .iter()
        .map(|layer| layer["operator"].as_str());
    let operators = bench.graph.operators.iter();
    let expected = operators.map(|node| Some(node.kind.name()));
    assert_eq!(kinds.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    Ok(())
}

/// `explain` grants what `run` grants.
fn explained() -> Result<(), Failed> {
    let bench = Bench::new(&[])?;
    let report = bench.json(&[], 0);
    let elf = bench.path("firmware.elf");
    let elf = elf.to_str().ok_or("a name")?;
    let output = dmo_trace(&["explain", "run", elf, "--inputs", "2", "--json"]);
    let explained: Value = serde_json::from_slice(&output.stdout)?;
    let explanations = explained["explanations"].as_array().ok_or("a list")?;
    let mut granted = 0;
    for explanation in explanations {
        let layer = &layers(&report)[number(&explanation["layer"]) as usize];
        let pair = &layer["pairs"][number(&explanation["pair"]) as usize - 1];
        let bytes = &explanation["safe_overlap_bytes"];
        assert_eq!(*bytes, pair["safe_overlap_bytes"], "{explanation}");
        granted += usize::from(number(bytes) > 0);
    }
    assert!(granted > 2, "{granted} of {}", explanations.len());
    Ok(())
}

fn options() -> Result<(), Failed> {
    let bench = Bench::new(&[])?;
    let alone = bench.json(&[], 0);
    let model = bench.model();
    let arguments: [&[&str]; 3] = [
        &["--model", &model],
        &["--arena", "tensor_arena"],
        &["--model", &model, "--arena", "tensor_arena"],
    ];
    for arguments in arguments {
        assert_eq!(bench.json(arguments, 0), alone, "{arguments:?}");
    }
    let elsewhere = ["--arena", "0x20000000..0x20000010"];
    bench.assert_refused(&elsewhere, "which is not in the arena");
    Ok(())
}

/// Each convolution has scratch memory of its input's size, loads its input into it and nothing
/// else: all of the output may lie over it.
fn scratch() -> Result<(), Failed> {
    let report = Bench::new(&[])?.json(&[], 0);
    let mut seen = 0;
    for layer in layers(&report) {
        let tensors = layer["tensors"].as_array().expect("tensors");
        let of = |role: &str| tensors.iter().find(|tensor| tensor["role"] == role);
        if layer["operator"] != "CONV_2D" {
            assert!(of("scratch").is_none(), "{layer}");
            continue;
        }
        let size = |role: &str| number(&of(role).expect(role)["size_bytes"]);
        assert_eq!(size("scratch"), size("input"));
        let pair = &layer["pairs"][0];
        assert_eq!(
            number(&pair["observed_overlap_bytes"]),
            size("input").min(size("output")),
            "{layer}"
        );
        seen += 1;
    }
    assert_eq!(seen, 5);
    Ok(())
}

fn own_planner() -> Result<(), Failed> {
    let report = Bench::new(&["-DIN_ORDER"])?.json(&[], 0);
    assert_eq!(report["arena"]["planned"], "firmware");
    assert_eq!(report["arena"]["safe"], true);
    Ok(())
}

fn endless() -> Result<(), Failed> {
    let bench = Bench::new(&["-DINFERENCES=0"])?;
    let report = bench.json(&[], 0);
    assert_eq!(number(&report["arena"]["inferences"]), 2);
    assert_eq!(layers(&report).len(), 14);
    let further = bench.json(&["--stop-after", "21"], 0);
    assert_eq!(number(&further["arena"]["inferences"]), 3);
    // One that ends by itself is followed to its end.
    let two = Bench::new(&["-DINFERENCES=2"])?.json(&[], 0);
    assert_eq!(number(&two["arena"]["inferences"]), 2);
    assert_eq!(two["exit"]["detail"], 0, "{}", two["exit"]);
    Ok(())
}

fn pooled() -> Result<(), Failed> {
    let report = Bench::new(&["-DPOOLED"])?.json(&[], 0);
    assert_eq!(number(&report["arena"]["size_bytes"]), 16384);
    assert_eq!(report["arena"]["safe"], true);
    Ok(())
}

fn second_model() -> Result<(), Failed> {
    let report = Bench::new(&["-DSECOND", "-DINFERENCES=2"])?.json(&[], 0);
    assert_eq!(number(&report["arena"]["inferences"]), 2);
    assert_eq!(layers(&report).len(), 14);
    let warnings = report["warnings"].as_array().expect("warnings");
    let others = |warning: &&Value| warning["kind"] == "other_models";
    assert_eq!(warnings.iter().filter(others).count(), 1, "{warnings:?}");
    assert_eq!(report["arena"]["safe"], true);
    let models = report["models"].as_array().expect("models");
    assert_eq!(models.len(), 2);
    for model in models {
        assert_eq!(model["safe"], true, "{model}");
        assert_eq!(number(&model["inferences"]), 2, "{model}");
        assert_eq!(
            model["kept"].as_array().expect("ranges").len(),
            1,
            "{model}"
        );
    }
    // One below the other.
    let kept = |model: &Value, bound| number(&model["kept"][0][bound]);
    assert_eq!(kept(&models[0], "start"), kept(&models[1], "end"));
    let alone = Bench::new(&["-DINFERENCES=2"])?.json(&[], 0);
    assert!(alone["models"].is_null());
    Ok(())
}

/// The second one keeps its data where the first one does.
fn two_allocators() -> Result<(), Failed> {
    let bench = Bench::new(&["-DSECOND", "-DOWN_ALLOCATOR", "-DINFERENCES=2"])?;
    let report = bench.json(&[], 1);
    let models = report["models"].as_array().expect("models");
    assert_eq!(models.len(), 2);
    for model in models {
        assert_eq!(model["safe"], false, "{model}");
        assert_eq!(model["clobbered"], false, "{model}");
        let twice = model["claimed_twice"].as_array().expect("ranges");
        assert_eq!(twice.len(), 1, "{model}");
    }
    let text = bench.run(&[]).stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("they need one MicroAllocator"), "{text}");
    Ok(())
}

/// Operators of the first model store to what the second one keeps.
fn stores_to_another() -> Result<(), Failed> {
    let bench = Bench::new(&["-DSECOND", "-DINTRUDE", "-DINFERENCES=2"])?;
    let report = bench.json(&[], 1);
    let models = report["models"].as_array().expect("models");
    let of = |model: &Value| {
        let stores = model["foreign_stores"].as_array().expect("stores");
        (model["safe"].clone(), stores.len())
    };
    // Each operator in each of two inferences; the second model stores to its own.
    assert_eq!(of(&models[0]), (Value::Bool(false), 14));
    assert_eq!(of(&models[1]), (Value::Bool(true), 0));
    Ok(())
}

fn dmo_trace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.args(arguments).output().expect("dmo-trace")
}

impl Bench {
    /// A study of a model in this firmware.
    fn hosted(&self, command: &str, model: &str, more: &[&str], code: i32) -> Value {
        let (model, firmware) = (self.path(model), self.path("firmware.elf"));
        let [model, firmware] = [&model, &firmware].map(|it| it.to_str().expect("a name"));
        let given = [command, model, "--firmware", firmware, "--json"];
        let output = dmo_trace(&[&given, more].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Plans the model for this firmware.
    fn planned(&self) -> String {
        let planned = self.path("planned.tflite").display().to_string();
        // Its operators are compiled in this order.
        let more = ["--order", "file", "--out", &planned];
        self.hosted("plan", "model.tflite", &more, 0);
        planned
    }
}

fn count(report: &Value, list: &str) -> usize {
    report[list].as_array().expect(list).len()
}

/// O_s is measured in the firmware, the plan is made from it, and holds there.
fn as_kernels() -> Result<(), Failed> {
    let bench = Bench::new(&["-DINTERPRETER", "-DINFERENCES=0"])?;
    bench.planned();
    let report = bench.hosted("verify", "planned.tflite", &[], 0);
    assert_eq!(report["verdict"], "safe", "{report}");
    let head = |arena: &str| number(&report[arena]["head_bytes"]);
    assert!(head("arena") < head("arena_before"), "{report}");
    assert_eq!(number(&report["inputs"]), 3);
    assert_eq!(count(&report, "order"), 7);
    assert!(number(&report["accesses"]) > 1000);
    assert_eq!(report["own_model"], true);
    let text = String::from_utf8(
        dmo_trace(&[
            "verify",
            &bench.path("planned.tflite").display().to_string(),
            "--firmware",
            &bench.path("firmware.elf").display().to_string(),
        ])
        .stdout,
    )?;
    assert!(text.ends_with("\nSAFE with this firmware\n"), "{text}");
    Ok(())
}

/// Tensors end beyond what the plan says that its arena has.
fn too_small() -> Result<(), Failed> {
    let bench = Bench::new(&["-DINTERPRETER"])?;
    let path = bench.path("plan.json").display().to_string();
    let more = ["--order", "file", "--out", &path];
    bench.hosted("plan", "model.tflite", &more, 0);
    let verify = ["--plan", path.as_str()];
    bench.hosted("verify", "model.tflite", &verify, 0);
    let mut plan: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
    plan["arena_bytes"] = 16.into();
    std::fs::write(&path, plan.to_string())?;
    let report = bench.hosted("verify", "model.tflite", &verify, 1);
    assert_eq!(report["verdict"], "unsafe");
    assert!(count(&report, "faults") > 1, "{report}");
    Ok(())
}

/// All three witnesses see that an output lies over an input that is still needed.
fn corrupted() -> Result<(), Failed> {
    let bench = Bench::new(&["-DINTERPRETER"])?;
    let file = std::fs::read(bench.path("model.tflite"))?;
    let planned = |offsets: [i32; 8]| -> Result<Value, Failed> {
        let mut words = vec![-1; bench.graph.tensors.len()];
        let ids = (0..words.len()).map(TensorId);
        let activations = ids.filter(|&id| bench.graph.in_arena(id));
        for (id, offset) in activations.zip(offsets) {
            words[id.0] = offset;
        }
        let file = tflite::with_plan(&file, None, &words)?;
        std::fs::write(bench.path("planned.tflite"), file)?;
        let is_safe = offsets == APART;
        let code = if is_safe { 0 } else { 1 };
        Ok(bench.hosted("verify", "planned.tflite", &[], code))
    };
    let lists = ["clashes", "findings", "differences"];
    let safe = planned(APART)?;
    assert_eq!(lists.map(|list| count(&safe, list)), [0; 3], "{safe}");
    let mut offsets = APART;
    offsets[3] = 992;
    let wrong = planned(offsets)?;
    assert_eq!(wrong["verdict"], "unsafe");
    for list in lists {
        assert!(count(&wrong, list) > 0, "{list}: {wrong}");
    }
    Ok(())
}

/// An overlap that kernels which do not branch allow is not safe with those that do.
fn branches() -> Result<(), Failed> {
    let steady = Bench::new(&["-DINTERPRETER"])?;
    let planned = steady.overlapped_depthwise()?;
    let report = steady.hosted("verify", "planned.tflite", &[], 0);
    assert_eq!(count(&report, "data_dependent"), 0, "{report}");
    let bench = Bench::new(&["-DINTERPRETER", "-DBRANCHES"])?;
    bench.planned();
    let own = bench.hosted("verify", "planned.tflite", &[], 0);
    let kinds = bench.graph.operators.iter();
    let depthwise = kinds.filter(|node| node.kind == Kind::DepthwiseConv2d);
    assert_eq!(count(&own, "data_dependent"), depthwise.count(), "{own}");
    std::fs::write(bench.path("other.tflite"), planned)?;
    let other = bench.hosted("verify", "other.tflite", &[], 1);
    // The bytes happen to be right, and nothing says that they always are.
    assert_eq!(count(&other, "clashes"), 1, "{other}");
    assert_eq!(count(&other, "differences"), 0, "{other}");
    Ok(())
}

impl Bench {
    /// The model with a plan that has a buffer for each tensor, but that the first depthwise
    /// convolution's output lies over its input, as far as its kernel allows.
    fn overlapped_depthwise(&self) -> Result<Vec<u8>, Failed> {
        let mut nodes = self.graph.operators.iter().enumerate();
        let depthwise = nodes.find(|(_, node)| node.kind == Kind::DepthwiseConv2d);
        let (position, node) = depthwise.expect("a depthwise convolution");
        let report = self.json(&[], 0);
        let pair = &layers(&report)[position]["pairs"][0];
        let distance = number(&pair["displacement_bytes"]).next_multiple_of(16);
        let (input, output) = (node.inputs[0], node.outputs[0]);
        let size = |id: TensorId| self.graph.tensor(id).size_bytes;
        assert!(distance < size(output), "{pair}");
        let mut words = vec![-1; self.graph.tensors.len()];
        words[output.0] = 0;
        words[input.0] = distance as i32;
        let mut end = (distance + size(input)).max(size(output)) as i32;
        for id in (0..words.len()).map(TensorId) {
            if self.graph.in_arena(id) && words[id.0] < 0 {
                words[id.0] = (end + 15) / 16 * 16;
                end = words[id.0] + size(id) as i32;
            }
        }
        let file = std::fs::read(self.path("model.tflite"))?;
        let planned = tflite::with_plan(&file, None, &words)?;
        std::fs::write(self.path("planned.tflite"), &planned)?;
        Ok(planned)
    }
}

fn not_handed() -> Result<(), Failed> {
    for (flags, reason) in [
        (
            &["-DINTERPRETER", "-s"][..],
            "cannot be changed without building it anew",
        ),
        (&[], "the constructor of MicroInterpreter is not found"),
    ] {
        let bench = Bench::new(flags)?;
        let firmware = bench.path("firmware.elf").display().to_string();
        let output = dmo_trace(&["verify", &bench.model(), "--firmware", &firmware]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(reason), "{errors}");
    }
    Ok(())
}

/// Offsets of the activations that keep apart what lives together.
const APART: [i32; 8] = [3136, 0, 3136, 4704, 5216, 0, 256, 512];

fn offline(offsets: &[i32]) -> String {
    let numbers: Vec<String> = offsets.iter().map(i32::to_string).collect();
    format!("-DOFFLINE={}", numbers.join(","))
}

fn other_plan() -> Result<(), Failed> {
    let bench = Bench::new(&[])?;
    let file = std::fs::read(bench.path("model.tflite"))?;
    let planned = tflite::with_plan(&file, None, &vec![-1; bench.graph.tensors.len()])?;
    let other = bench.path("planned.tflite");
    std::fs::write(&other, planned)?;
    let other = other.display().to_string();
    assert_eq!(bench.json(&["--model", &other], 0), bench.json(&[], 0));
    Ok(())
}

fn other_model() -> Result<(), Failed> {
    let bench = Bench::new(&["-DINFERENCES=0"])?;
    let network = zoo::find("mobilenet_v1_0.25_128").expect("a network of the zoo");
    let other = bench.path("other.tflite");
    std::fs::write(&other, export(&network.build(Element::Int8), 1)?)?;
    let other = other.display().to_string();
    bench.assert_refused(&["--model", &other], "the program runs another model");
    Ok(())
}

/// The third operator's output lies over the input that the fourth has yet to load.
fn clobber() -> Result<(), Failed> {
    let mut offsets = APART;
    offsets[3] = 992;
    let bench = Bench::new(&[&offline(&offsets)])?;
    let report = bench.json(&[], 1);
    assert_eq!(report["arena"]["planned"], "firmware");
    let findings = report["arena"]["findings"].as_array().expect("findings");
    let destroyed = findings.iter().find(|one| one["kind"] == "destroyed");
    assert_eq!(number(&destroyed.expect("a finding")["operator"]), 2);
    let text = bench.run(&[]).stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("dmo_depthwise_conv2d_s8"), "{text}");
    assert!(text.contains("UNSAFE"), "{text}");
    assert!(!text.contains("load back"), "{text}");
    Ok(())
}

/// The third operator's output lies on the end of its own input: whether it loads that or its output
/// back, only an execution without overlaps can tell.
fn own_clobber() -> Result<(), Failed> {
    let mut offsets = APART;
    offsets[3] = 4192;
    let bench = Bench::new(&[&offline(&offsets)])?;
    let text = bench.run(&[]).stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("UNSAFE"), "{text}");
    assert!(
        text.contains("Next: operators that load back what they have stored look the same")
            && text.contains("If operator 2 DEPTHWISE_CONV_2D is one"),
        "{text}"
    );
    Ok(())
}

fn overrun() -> Result<(), Failed> {
    let bench = Bench::new(&["-DOVERRUN"])?;
    let output = bench.run(&[]);
    let (code, text) = (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr),
    );
    // What lies there says which: another tensor's content, or nothing.
    assert!(matches!(code, Some(1 | 2)), "{text}");
    assert!(
        code == Some(1) || text.contains("that its own plan does not explain"),
        "{text}"
    );
    Ok(())
}

fn shared_scratch() -> Result<(), Failed> {
    let bench = Bench::new(&["-DSHARED"])?;
    bench.assert_refused(&[], "share memory, so that what it stores to one destroys");
    Ok(())
}

fn huge_arena() -> Result<(), Failed> {
    let bench = Bench::new(&["-DHUGE"])?;
    bench.assert_refused(&[], "the arena that the firmware hands to its interpreter");
    assert_eq!(
        bench.json(&["--arena", "tensor_arena"], 0)["arena"]["safe"],
        true
    );
    Ok(())
}

fn other_layout() -> Result<(), Failed> {
    let bench = Bench::new(&["-DOTHER_LAYOUT"])?;
    bench.assert_refused(&[], "--arena");
    let simulated = bench.json(&["--arena", "tensor_arena"], 0);
    let read = Bench::new(&[])?.json(&[], 0);
    assert_eq!(simulated["arena"]["planned"], "greedy");
    for field in ["head_bytes", "in_use_bytes", "overlapped"] {
        assert_eq!(simulated["arena"][field], read["arena"][field], "{field}");
    }
    Ok(())
}

fn never_run() -> Result<(), Failed> {
    let bench = Bench::new(&["-DNEVER_RUN"])?;
    bench.assert_refused(&[], "before its interpreter began an inference");
    Ok(())
}

fn stripped() -> Result<(), Failed> {
    let bench = Bench::new(&["-s"])?;
    let arguments = [
        "--model",
        &bench.model(),
        "--arena",
        "0x20000000..0x20004000",
    ];
    bench.assert_refused(&arguments, "nothing tells when an operator begins and ends");
    bench.assert_refused(&["--model", &bench.model()], "--arena SYMBOL");
    Ok(())
}
