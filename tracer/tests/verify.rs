//! Plans on real machine code: those that are safe pass all three witnesses; each of them made
//! unsafe by one element, at each overlap that it makes use of, is caught by geometry and
//! replay. Real models are looked for in `$DMO_TRACE_MODELS`, else beside the repository; a
//! test whose model is missing is reported as ignored. Networks built in code have invented
//! weights.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the model's name"
)]

mod support;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, GraphTensor, OperatorId, TensorId, overlaps, tflite};
use dmo_analysis::operator::Operator;
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_planner::budget::Budget;
use dmo_trace::kernels::KernelLibrary;
use dmo_trace::model::verify::{MeasuredPair, Runs, Subject, Verification, verify};
use dmo_trace::model::{Deployment, Placement};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use support::models::{self, LIMITS};

/// Real models, and our own that stand in for them: how many plans that are unsafe by one element are tried, and of how many the
/// outputs differ.
const MODELS: &[(&str, (usize, usize))] = &[
    ("further_moves_float32", (5, 4)),
    ("stand_in_autoencoder_int8", (3, 2)),
    ("stand_in_bytes_int8", (1, 0)),
    ("stand_in_keyword_int8", (2, 2)),
    ("stand_in_layers_int16", (5, 3)),
    ("stand_in_layers_int8", (5, 5)),
    ("stand_in_operators_int8", (7, 6)),
    ("stand_in_padded_int8", (5, 4)),
    ("stand_in_sequence_int8", (1, 1)),
    ("stand_in_upsampling_float32", (3, 2)),
    ("stand_in_upsampling_int16", (3, 2)),
    ("stand_in_upsampling_int8", (3, 3)),
    ("stand_in_vision_float32", (5, 2)),
    ("stand_in_vision_int16", (5, 3)),
    ("stand_in_vision_int8", (5, 2)),
    ("stand_in_vision_uint8", (5, 2)),
    ("stand_in_weights_int4", (6, 2)),
    ("mlcommons_tiny/ad01_int8", (4, 2)),
    ("mlcommons_tiny/kws_ref_model", (12, 10)),
    ("mlcommons_tiny/pretrainedResnet_quant", (5, 5)),
    ("mlcommons_tiny/str_ww_ref_model", (5, 5)),
    ("mlcommons_tiny/vww_96_int8", (6, 5)),
    ("mlcommons_tiny/vww_96_float", (6, 6)),
    ("tflite_micro/hello_world_int8", (2, 0)),
    ("tflite_micro/keyword_scrambled_8bit", (4, 1)),
    ("tflite_micro/micro_speech_quantized", (3, 2)),
    ("tflite_micro/person_detect", (5, 3)),
    ("tflite_micro/trained_lstm_int8", (1, 0)),
    ("tinyengine/mcunet_vww", (6, 4)),
    ("coral/mobilenet_v1_0.25_128_quant", (6, 5)),
    (LARGE, (4, 3)),
];

/// It takes a minute, and is verified where all cases are wanted.
const LARGE: &str = "swiftnet/swiftnet_vww_uint8";

const NETWORKS: &[(&str, (usize, usize))] = &[("mobilenet_v1_0.25_128", (6, 4))];

fn main() {
    let mut trials = Vec::new();
    for &(name, expected) in MODELS {
        if name == LARGE && !support::tools::are_all_cases_wanted() {
            continue;
        }
        let test = move |file: &[u8]| {
            let model = tflite::read(file)?;
            let library = models::library("reference");
            let deployment = Deployment::of_file(&model.graphs[0], file, &library, LIMITS)?;
            check(&deployment, expected)
        };
        trials.push(models::trial(name, &format!("{name}.tflite"), test));
    }
    for &(name, expected) in NETWORKS {
        trials.push(Trial::test(format!("zoo:{name}"), move || {
            let library = models::library("reference");
            check(&invented(&network(name), &library), expected)
        }));
    }
    trials.push(Trial::test(
        "a plan for other kernels is caught",
        other_kernels,
    ));
    trials.push(Trial::test(
        "scratch memory as the runtime's kernels ask for it",
        scratch_of_runtime,
    ));
    let untouched = Trial::test("what no operator touches is compared too", untouched);
    trials.push(untouched);
    trials.push(models::trial(
        "the published formula is caught",
        "mlcommons_tiny/pretrainedResnet_quant.tflite",
        published_formula,
    ));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn network(name: &str) -> Graph {
    zoo::find(name).unwrap().build(Element::Int8)
}

fn invented<'a>(graph: &Graph, library: &'a KernelLibrary) -> Deployment<'a> {
    Deployment::invented(graph, library, LIMITS).unwrap()
}

/// The smallest plan for the reference kernels, and what is found of it and of those that are
/// unsafe by one element.
fn check(deployment: &Deployment, expected: (usize, usize)) -> Result<(), Failed> {
    let plan = planned(deployment);
    let (order, placement) = (plan.order.clone(), placement(deployment, &plan));
    let found = verified(deployment, &order, &placement)?;
    if !found.is_safe() {
        return Err(format!(
            "the plan is said to be unsafe: {:?} {:?} {:?}",
            found.clashes,
            found.differences,
            found.layers.iter().find(|layer| !layer.is_clean())
        )
        .into());
    }
    let pairs = || {
        let layers = found.layers.iter();
        layers.flat_map(|layer| layer.pairs.iter().map(|pair| (layer.operator, pair)))
    };
    let of_plan = pairs().filter_map(|(operator, pair)| {
        let mutant = closer_by_one_element(deployment, &placement, pair)?;
        Some((operator, mutant))
    });
    let above = pairs().filter_map(|(operator, pair)| {
        let mutant = too_close_above_all(deployment, &placement, pair)?;
        Some((operator, mutant))
    });
    let of_plan: Vec<_> = of_plan.collect();
    let above: Vec<_> = above.collect();
    let step = above.len().div_ceil(MOST_ABOVE).max(1);
    let above = above.into_iter().step_by(step);
    let mutants: Vec<_> = of_plan.into_iter().chain(above).collect();
    let mut differing = 0;
    for (operator, mutant) in &mutants {
        differing += caught(deployment, &order, mutant, *operator)?;
    }
    let caught = mutants.len();
    println!("{caught} unsafe plans caught, {differing} of them give other bytes");
    if (caught, differing) != expected {
        return Err(format!("{caught} and {differing}, expected {expected:?}").into());
    }
    Ok(())
}

/// Of the mutants above all else, this many are tried.
const MOST_ABOVE: usize = 4;

/// The layout with the two tensors of a pair above everything else, the input one element nearer
/// to its output than is safe; `None` if there is no such place.
fn too_close_above_all(
    deployment: &Deployment,
    placement: &Placement,
    pair: &MeasuredPair,
) -> Option<Placement> {
    let graph = &deployment.graph;
    let element = u64::from(deployment.element_type(pair.input).size_bytes());
    let displacement = u64::from(pair.displacement_bytes).checked_sub(element)?;
    let size = |id: TensorId| graph.tensor(id).size_bytes;
    let base = placement.arena_bytes.next_multiple_of(16);
    let mut mutant = placement.clone();
    mutant.tensors[pair.output.0] = Some(base);
    mutant.tensors[pair.input.0] = Some(base + displacement);
    mutant.arena_bytes = base + size(pair.output).max(displacement + size(pair.input));
    Some(mutant)
}

/// Geometry and replay object, the replay at this operator; 1 where execution does too.
fn caught(
    deployment: &Deployment,
    order: &[OperatorId],
    mutant: &Placement,
    operator: OperatorId,
) -> Result<usize, Failed> {
    let found = verified(deployment, order, mutant)?;
    let place = format!("unsafe at operator {}: ", operator.0);
    if found.clashes.is_empty() {
        return Err(format!("{place}geometry says it is safe").into());
    }
    let mut layers = found.layers.iter();
    let layer = layers.find(|layer| layer.operator == operator).unwrap();
    if layer.is_clean() {
        return Err(format!("{place}replay says it is safe").into());
    }
    Ok(usize::from(!found.differences.is_empty()))
}

/// The layout with the pair's input one element nearer to its output than is safe; none where
/// the plan does not overlap the pair, or where the input would lie below the output.
fn closer_by_one_element(
    deployment: &Deployment,
    placement: &Placement,
    pair: &MeasuredPair,
) -> Option<Placement> {
    let graph = &deployment.graph;
    let range = |id: TensorId| {
        let offset = placement.tensors[id.0]?;
        Some(offset..offset + graph.tensor(id).size_bytes)
    };
    let (input, output) = (range(pair.input)?, range(pair.output)?);
    if input.start >= output.end || output.start >= input.end {
        return None;
    }
    let element = u64::from(deployment.element_type(pair.input).size_bytes());
    let displacement = u64::from(pair.displacement_bytes).checked_sub(element)?;
    let mut mutant = placement.clone();
    let offset = output.start + displacement;
    mutant.tensors[pair.input.0] = Some(offset);
    mutant.arena_bytes = mutant.arena_bytes.max(offset + input.end - input.start);
    Some(mutant)
}

fn planned(deployment: &Deployment) -> ModelPlan {
    plan_with(deployment, &overlaps::analytic(&deployment.graph))
}

fn plan_with(deployment: &Deployment, overlaps: &overlaps::Overlaps) -> ModelPlan {
    let task = Task {
        graph: &deployment.graph,
        overlaps,
        // Floats are loaded at multiples of 4.
        layout: Layout {
            alignment: 4,
            ..Layout::default()
        },
        reorder: true,
        fixed: &[],
    };
    optimise(task, &mut Budget::of_seconds(10.0), &mut |_| ()).unwrap()
}

fn placement(deployment: &Deployment, plan: &ModelPlan) -> Placement {
    let mut scratch = vec![None; deployment.steps.len()];
    for buffer in &plan.arena.scratch {
        scratch[buffer.operator.0] = Some(plan.plan.offsets[buffer.buffer]);
    }
    Placement {
        tensors: plan.arena.tensor_offsets(&plan.plan),
        scratch,
        arena_bytes: plan.arena_bytes,
    }
}

fn verified(
    deployment: &Deployment,
    order: &[OperatorId],
    placement: &Placement,
) -> Result<Verification, Failed> {
    let subject = Subject {
        order,
        placement,
        keep_inputs: false,
    };
    Ok(verify(
        deployment,
        &subject,
        Runs::on(1, LIMITS),
        &|_, _| (),
    )?)
}

/// Kernels that walk output channels outside corrupt a layout that those of the formulas allow.
fn other_kernels() -> Result<(), Failed> {
    let graph = network("mobilenet_v1_0.25_128");
    let library = models::library("dsp-channels-outside");
    let deployment = invented(&graph, &library);
    let plan = planned(&deployment);
    let found = verified(&deployment, &plan.order, &placement(&deployment, &plan))?;
    let replay = found.layers.iter().any(|layer| !layer.is_clean());
    match (
        found.clashes.is_empty(),
        replay,
        found.differences.is_empty(),
    ) {
        (false, true, false) => Ok(()),
        witnesses => Err(format!("not every witness objects: {witnesses:?}").into()),
    }
}

/// An input that is an output too, and that no operator loads, is lost where an operator stores.
fn untouched() -> Result<(), Failed> {
    let mut graph = network("mobilenet_v1_0.25_128");
    let tensor = TensorId(graph.tensors.len());
    graph.tensors.push(GraphTensor {
        name: "untouched".to_owned(),
        ..graph.tensor(graph.inputs[0]).clone()
    });
    graph.inputs.push(tensor);
    graph.outputs.push(tensor);
    let library = models::library("reference");
    let deployment = invented(&graph, &library);
    let plan = planned(&deployment);
    let safe = placement(&deployment, &plan);
    if !verified(&deployment, &plan.order, &safe)?.is_safe() {
        return Err("the plan is said to be unsafe".into());
    }
    let mut lost = safe;
    let stored = deployment.steps[0].outputs[0];
    lost.tensors[tensor.0] = lost.tensors[stored.0];
    let found = verified(&deployment, &plan.order, &lost)?;
    let replay = found.layers.iter().any(|layer| !layer.is_clean());
    match (
        found.clashes.is_empty(),
        replay,
        found.differences.is_empty(),
    ) {
        (false, true, false) => Ok(()),
        witnesses => Err(format!("not every witness objects: {witnesses:?}").into()),
    }
}

/// O_s by the published formula is 23 bytes too much for the shortcut of this network.
fn published_formula(file: &[u8]) -> Result<(), Failed> {
    let model = tflite::read(file)?;
    let library = models::library("reference");
    let deployment = Deployment::of_file(&model.graphs[0], file, &library, LIMITS)?;
    let plan = planned(&deployment);
    let found = verified(&deployment, &plan.order, &placement(&deployment, &plan))?;
    let mut caught_pairs = 0;
    for layer in &found.layers {
        let kernel = deployment.graph.operators[layer.operator.0].kernel.as_ref();
        let Operator::Conv2d(conv) = &kernel.unwrap().operator else {
            continue;
        };
        let operator = Operator::Conv2d(*conv);
        let pair = &layer.pairs[0];
        let output_bytes = deployment.graph.tensor(pair.output).size_bytes;
        let published = operator.overlap(0, 0)?.published_bytes.unwrap();
        let displacement = output_bytes - published as u64;
        if displacement >= u64::from(pair.displacement_bytes) {
            continue;
        }
        let mut mutant = placement(&deployment, &plan);
        // Everything else out of the way.
        let base = mutant.arena_bytes;
        mutant.tensors[pair.output.0] = Some(base);
        mutant.tensors[pair.input.0] = Some(base + displacement);
        let input_bytes = deployment.graph.tensor(pair.input).size_bytes;
        mutant.arena_bytes = base + output_bytes.max(displacement + input_bytes);
        caught(&deployment, &plan.order, &mutant, layer.operator)?;
        caught_pairs += 1;
    }
    match caught_pairs {
        0 => Err("the published formula is safe for every layer".into()),
        _ => Ok(()),
    }
}

/// A plan of a model by itself has the scratch buffers that the runtime's kernels ask for. Ours, which stand for
/// these, ask for others; that is no fault of the plan, unless one of its buffers is missing, too small or in use.
fn scratch_of_runtime() -> Result<(), Failed> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("plan.json");
    let (mut seen, mut refused) = (0, 0);
    for name in [
        "stand_in_keyword_int8",
        "stand_in_sequence_int8",
        "further_sequences_int16",
    ] {
        let model = golden.join(name).with_extension("tflite");
        let verdict = |command: &str, option: &str| {
            let program = env!("CARGO_BIN_EXE_dmo-trace");
            let arguments = [
                command.as_ref(),
                model.as_os_str(),
                option.as_ref(),
                path.as_os_str(),
            ];
            let output = Command::new(program)
                .args(arguments)
                .output()
                .expect("dmo-trace");
            output.status.code()
        };
        assert_eq!(verdict("plan", "--out"), Some(0), "{name}");
        assert_eq!(verdict("verify", "--plan"), Some(0), "{name}");
        let plan: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        let scratch = plan["scratch"].as_array().expect("scratch buffers");
        let tensor = plan["tensors"][0]["offset"].clone();
        for index in 0..scratch.len() {
            let mut moved = plan.clone();
            moved["scratch"][index]["offset"] = tensor.clone();
            let mut smaller = plan.clone();
            smaller["scratch"][index]["size_bytes"] = 1.into();
            let mut missing = plan.clone();
            missing["scratch"]
                .as_array_mut()
                .expect("a list")
                .remove(index);
            for damaged in [moved, smaller, missing] {
                if damaged == plan {
                    continue;
                }
                std::fs::write(&path, damaged.to_string())?;
                assert_ne!(verdict("verify", "--plan"), Some(2), "{name}: {damaged}");
                refused += usize::from(verdict("verify", "--plan") == Some(1));
            }
        }
        seen += scratch.len();
    }
    assert!(seen >= 6, "{seen}");
    assert!(refused >= 2 * seen, "{refused} of {seen}");
    Ok(())
}
