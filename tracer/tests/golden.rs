//! Real models on the emulated reference kernels, and on those of generated code, compute, operator
//! by operator, what TensorFlow Lite Micro computes, bit for bit; where that does not run a model, what TensorFlow Lite's
//! reference kernels compute (`tests/golden/README.md`). Models are looked for in
//! `$DMO_TRACE_MODELS`, else beside the repository; a test whose model is missing is reported
//! as ignored.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the model's name"
)]

mod support;

use dmo_analysis::graph::{TensorId, tflite};
use dmo_analysis::transform::decode::{DecodeError, decode};
use dmo_analysis::transform::integer_io::{IntegerIo, integer_io};
use dmo_trace::elf::image::sha256;
use dmo_trace::mcu::machine::Observation;
use dmo_trace::model::verify::{model_inputs, without_overlaps};
use dmo_trace::model::{Deployment, Inference, KernelSource};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use support::models;

/// Models of the repository's own.
const STAND_INS: usize = 15;
/// Quantised models with ends in floats, and how many inputs and outputs can be integers.
const FLOAT_ENDS: [(&str, [usize; 2]); 2] = [
    ("stand_in_floats_int8.tflite", [1, 1]),
    ("tinyengine/mcunet_vww.tflite", [1, 1]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn main() {
    let (mut trials, mut own) = (Vec::new(), 0);
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    for path in files {
        let golden: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let model = golden["model"].as_str().unwrap().to_owned();
        for sets in [&["reference"][..], &["dsp-packed", "reference"]] {
            let golden = golden.clone();
            let test = move |file: &[u8]| check(file, &golden, sets);
            trials.push(models::trial(format!("{model}::{}", sets[0]), &model, test));
        }
        own += usize::from(model.starts_with("stand_in_"));
    }
    assert!(own >= STAND_INS, "golden outputs of {own} stand-ins");
    for (model, ends) in FLOAT_ENDS {
        let name = Path::new(model).with_extension("json");
        let golden = folder().join(name.file_name().unwrap());
        let golden: Value = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
        let test = move |file: &[u8]| check_integer_io(file, &golden, ends);
        trials.push(models::trial(format!("{model}::integer_io"), model, test));
    }
    trials.push(Trial::test("damaged options of signals", damaged_options));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(file: &[u8], golden: &Value, sets: &[&str]) -> Result<(), Failed> {
    if golden["sha256"] != sha256(file) {
        return Err("the model is another file than the golden outputs are of".into());
    }
    // Weights that are packed, as they are unpacked; what is an output is unpacked by the kernel.
    let decoded = match decode(file) {
        Ok(decoded) => Some(decoded.file),
        Err(DecodeError::Nothing | DecodeError::Subgraphs { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let file = decoded.as_deref().unwrap_or(file);
    let model = tflite::read(file)?;
    let libraries: Vec<_> = sets.iter().map(|set| models::library(set)).collect();
    let sources: Vec<_> = libraries.iter().map(KernelSource::from).collect();
    let with_variables = model.with_variables(file)?;
    let deployment = match &with_variables {
        Some(model) => Deployment::of_variables_on(model, file, &sources, models::LIMITS)?,
        None => Deployment::of_file_on(&model.graphs[0], file, &sources, models::LIMITS)?,
    };
    let deployment = deployment.complete()?;
    let order = deployment.graph.file_order();
    let apart = without_overlaps(&deployment, &order)?;
    let mut inference = Inference::new(
        &deployment,
        &apart,
        0x5a,
        Observation::Watch,
        models::LIMITS,
    )?;
    let mut compared = 0;
    for run in runs(golden) {
        let Some(expected) = run["tensors"].as_object() else {
            continue;
        };
        let number = run["number"].as_u64().unwrap();
        inference.reset()?;
        for before in run["after"].as_array().into_iter().flatten() {
            let before = before.as_u64().ok_or("a number of an input")?;
            inference.infer(&model_inputs(&deployment, before), &order)?;
        }
        inference.begin(&model_inputs(&deployment, number))?;
        for &operator in &order {
            inference.run(operator)?;
            let step = deployment.step(operator);
            for &TensorId(tensor) in step.outputs.iter().chain(&step.states) {
                let Some(wanted) = expected.get(&tensor.to_string()) else {
                    continue;
                };
                compared += 1;
                let found = inference.tensor(TensorId(tensor))?;
                if *wanted != sha256(&found) {
                    let function = step.function().unwrap();
                    let start = &found[..found.len().min(16)];
                    return Err(format!(
                        "input {number}: operator {} ({function}) computes another tensor \
                         {tensor}, which begins with {start:?}",
                        operator.0
                    )
                    .into());
                }
            }
        }
        for (tensor, bytes) in run["outputs"].as_object().unwrap() {
            let found = inference.tensor(TensorId(tensor.parse()?))?;
            let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            if *bytes != found {
                return Err(format!("input {number}: output {tensor} is {found}").into());
            }
        }
    }
    match compared {
        0 => Err("nothing was compared".into()),
        _ => Ok(()),
    }
}

/// Whatever byte of an operator's options is another one, the model is refused or runs: nothing
/// panics, and no kernel faults or stores beyond its buffers.
fn damaged_options() -> Result<(), Failed> {
    const MODELS: [&str; 4] = [
        "further_signal_int16.tflite",
        "further_signal_int32.tflite",
        "further_signal_uint32.tflite",
        "stand_in_operators_signal.tflite",
    ];
    /// A name in the options of each operator that has some, and how many bytes are its.
    const NAMES: [(&str, usize); 6] = [
        ("alternate_one_minus_smoothing", 300),
        ("delay_length", 26),
        ("fft_length", 34),
        ("frame_size", 70),
        ("num_channels", 110),
        ("shift", 20),
    ];
    let library = models::library("reference");
    let sources = [KernelSource::from(&library)];
    let [mut executed, mut refused] = [0, 0];
    for name in MODELS {
        let given = std::fs::read(folder().join(name))?;
        for (option, length) in NAMES {
            let is_name = |start: &usize| given[*start..].starts_with(option.as_bytes());
            for start in (0..given.len()).filter(is_name).take(2) {
                for at in start..given.len().min(start + length) {
                    let mut file = given.clone();
                    file[at] ^= if at % 2 == 0 { 0x81 } else { 0x0a };
                    let deployed = tflite::read(&file).ok().and_then(|model| {
                        let graph = &model.graphs[0];
                        let found = Deployment::of_file_on(graph, &file, &sources, models::LIMITS);
                        found.ok()?.complete().ok()
                    });
                    let Some(deployment) = deployed else {
                        refused += 1;
                        continue;
                    };
                    executed += 1;
                    outputs(&deployment, &model_inputs(&deployment, 1))?;
                }
            }
        }
    }
    if executed < 100 || refused < 100 {
        return Err(format!("{executed} were executed, {refused} refused").into());
    }
    Ok(())
}

/// Without the conversions at its ends, and on what the first ones store, a model computes the same
/// tensors, which have the same numbers.
fn check_integer_io(file: &[u8], golden: &Value, ends: [usize; 2]) -> Result<(), Failed> {
    let IntegerIo { file: new, report } = integer_io(file)?;
    if [report.inputs.len(), report.outputs.len()] != ends {
        return Err(format!("{report:?}").into());
    }
    let [given, made] = [tflite::read(file)?, tflite::read(&new)?];
    let library = models::library("reference");
    let sources = [KernelSource::from(&library)];
    let given = Deployment::of_file_on(&given.graphs[0], file, &sources, models::LIMITS)?;
    let made = Deployment::of_file_on(&made.graphs[0], &new, &sources, models::LIMITS)?;
    let [given, made] = [given.complete()?, made.complete()?];
    let left = given.graph.operators.len() - made.graph.operators.len();
    if left != ends[0] + ends[1] || made.graph.tensors.len() != given.graph.tensors.len() {
        return Err("other operators or tensors than those at the ends are gone".into());
    }
    let mut compared = 0;
    for run in runs(golden) {
        let Some(expected) = run["tensors"].as_object() else {
            continue;
        };
        let number = run["number"].as_u64().unwrap();
        let whole = outputs(&given, &model_inputs(&given, number))?;
        let mut inputs = model_inputs(&made, number);
        for (id, content) in &mut inputs {
            if let Some(stored) = whole.get(id) {
                content.clone_from(stored);
            }
        }
        let found = outputs(&made, &inputs)?;
        for id in &made.graph.outputs {
            if !found.contains_key(id) {
                return Err(format!("output {} is not stored", id.0).into());
            }
        }
        for (id, bytes) in found {
            if expected[&id.0.to_string()] != sha256(&bytes) {
                return Err(format!("input {number}: another tensor {}", id.0).into());
            }
            compared += 1;
        }
    }
    if compared < made.graph.operators.len() {
        return Err(format!("{compared} tensors were compared").into());
    }
    Ok(())
}

/// What the operators of a model store.
fn outputs(
    deployment: &Deployment,
    inputs: &[(TensorId, Vec<u8>)],
) -> Result<HashMap<TensorId, Vec<u8>>, Failed> {
    let order = deployment.graph.file_order();
    let apart = without_overlaps(deployment, &order)?;
    let mut inference =
        Inference::new(deployment, &apart, 0x5a, Observation::Watch, models::LIMITS)?;
    inference.begin(inputs)?;
    let mut stored = HashMap::new();
    for &operator in &order {
        inference.run(operator)?;
        for &id in &deployment.step(operator).outputs {
            stored.insert(id, inference.tensor(id)?);
        }
    }
    Ok(stored)
}

/// Those of TensorFlow Lite Micro, where it runs the model.
fn runs(golden: &Value) -> Vec<Value> {
    let results = golden["results"].as_array().unwrap();
    let of_micro = |result: &&Value| {
        let runtimes = result["runtimes"].as_array().unwrap();
        runtimes.iter().any(|runtime| runtime == "micro")
    };
    let result = results.iter().find(of_micro).unwrap_or(&results[0]);
    result["runs"].as_array().unwrap().clone()
}
