//! Real models, and our own that stand in for them: what is read of them agrees with what is known
//! of them, they carry plans without loss, TensorFlow Lite and TensorFlow Lite Micro compute the
//! same with and without, and the latter also with each overlap that is granted. Real ones are
//! looked for in `$DMO_TRACE_MODELS`, else beside the repository; a test whose model or runtime is
//! missing is reported as ignored.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panic, with the model's name"
)]

#[path = "tflite/net.rs"]
mod net;
#[path = "tflite/runtimes.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod runtimes;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{self, SafeOverlap, Sharing};
use dmo_analysis::graph::tflite::{self, OfflinePlan, RuntimeKernels};
use dmo_analysis::graph::{Graph, GraphTensor, OperatorId, Storage, TensorId, TensorType};
use dmo_analysis::handover::on_device;
use dmo_analysis::optimise::{Certificate, ModelPlan, Task, optimise};
use dmo_analysis::tflm::whole_arena;
use dmo_analysis::verify::{Positions, clashes};
use dmo_planner::budget::Budget;
use dmo_planner::minimalloc::Table;
use dmo_planner::plan::Plan;
use dmo_planner::plan::exact;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use runtimes::{
    NO_PACKAGE, NOT_LOADED, RUNTIME, RUNTIMES, is_installed, missing, same_results, trial,
};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder and name, number of operators, all activations together in bytes, and operators
/// without a kernel.
const MODELS: &[(&str, usize, u64, &[&str])] = &[
    ("stand_in_autoencoder_int8", 6, 184, &[]),
    ("stand_in_bytes_int8", 6, 222, &[]),
    ("stand_in_keyword_int8", 5, 66, &[]),
    ("stand_in_layers_int16", 4, 2 * 334, &[]),
    ("stand_in_layers_int8", 4, 334, &[]),
    ("stand_in_operators_float32", 26, 84_464, &[]),
    ("stand_in_operators_int8", 26, 21_509, &[]),
    ("stand_in_operators_signal", 12, 1114, &[]),
    ("stand_in_padded_int8", 6, 1548, &[]),
    ("stand_in_sequence_int8", 4, 204, &[]),
    ("stand_in_upsampling_float32", 6, 6272, &[]),
    ("stand_in_upsampling_int16", 5, 2112, &[]),
    ("stand_in_upsampling_int8", 6, 1568, &[]),
    ("stand_in_vision_float32", 11, 10_724, &[]),
    ("stand_in_vision_int16", 12, 5372, &[]),
    ("stand_in_vision_int8", 12, 2686, &[]),
    ("stand_in_vision_uint8", 12, 2686, &[]),
    ("stand_in_weights_int4", 10, 1430, &[]),
    ("coral/mobilenet_v1_0.25_128_quant", 31, 464_059, &[]),
    ("coral/mobilenet_v2_1.0_224_quant", 66, 7_049_307, &[]),
    ("deeplab/deeplabv3_257_mv_gpu", 70, 57_423_608, &[]),
    ("mlcommons_tiny/ad01_int8", 10, 2312, &[]),
    ("mlcommons_tiny/kws_ref_model", 13, 72_642, &[]),
    (
        "mlcommons_tiny/kws_ref_model_float32",
        13,
        4 * 72_642,
        HYBRID,
    ),
    ("mlcommons_tiny/pretrainedResnet_quant", 16, 117_908, &[]),
    ("mlcommons_tiny/str_ww_ref_model", 11, 16_086, &[]),
    ("mlcommons_tiny/vww_96_float", 31, 4 * 259_716, &[]),
    ("mlcommons_tiny/vww_96_int8", 31, 259_716, &[]),
    ("swiftnet/swiftnet_vww_uint8", 85, 2_164_116, &[]),
    ("tflite_micro/hello_world_float", 3, 4 * 34, &[]),
    ("tflite_micro/hello_world_int8", 3, 34, &[]),
    ("tflite_micro/keyword_scrambled_8bit", 15, 718, &[]),
    ("tflite_micro/micro_speech_quantized", 4, 7928, &[]),
    ("tflite_micro/person_detect", 31, 241_030, &[]),
    (
        "tflite_micro/person_detect_vela",
        1,
        VELA_BYTES,
        &["CUSTOM:ethos-u"],
    ),
    ("tflite_micro/simple_add_model", 1, 3 * 128 * 128, &[]),
    ("tflite_micro/trained_lstm_int8", 4, 1924, &[]),
    ("tinyengine/mcunet_vww", 62 + 1, 722_702, &[]),
];

/// For the reference kernels and CMSIS-NN each what firmware reports as `arena_used_bytes`, and the
/// smallest multiple of 16 that is enough for it (see `tflite/whole_arena.rs`).
#[rustfmt::skip]
const WHOLE: &[(&str, [u64; 2], [u64; 2])] = &[
    ("deeplab/deeplabv3_257_mv_gpu", [5_719_584, 5_719_584], [5_650_176, 5_650_176]),
    ("mlcommons_tiny/ad01_int8", [2260, 2704], [2580, 3024]),
    ("mlcommons_tiny/kws_ref_model", [22_772, 22_784], [22_820, 22_832]),
    ("mlcommons_tiny/pretrainedResnet_quant", [54_340, 54_352], [54_996, 55_008]),
    ("mlcommons_tiny/str_ww_ref_model", [15_252, 15_264], [16_596, 16_608]),
    ("mlcommons_tiny/vww_96_float", [321_808, 321_808], [299_968, 299_968]),
    ("mlcommons_tiny/vww_96_int8", [100_660, 100_672], [100_708, 100_720]),
    ("tflite_micro/hello_world_float", [736, 1072], [832, 1168]),
    ("tflite_micro/hello_world_int8", [676, 1072], [772, 1168]),
    ("tflite_micro/keyword_scrambled_8bit", [8052, 10_400], [8212, 10_560]),
    ("tflite_micro/micro_speech_quantized", [6788, 6800], [6836, 6848]),
    ("tflite_micro/person_detect", [82_292, 82_304], [82_308, 82_320]),
    ("tflite_micro/simple_add_model", [49_604, 49_616], [49_604, 49_616]),
    ("tflite_micro/trained_lstm_int8", [3220, 3232], [4052, 4064]),
    ("tinyengine/mcunet_vww", [219_744, 219_744], [219_808, 219_808]),
];

/// The smallest arena in bytes, proven, with the overlaps of the reference kernels: at
/// alignment 1, without scratch buffers, inputs and outputs in it.
const ARENAS: &[(&str, u64)] = &[
    ("stand_in_padded_int8", 617),
    ("stand_in_upsampling_int16", 590),
    ("stand_in_vision_float32", 3036),
    ("stand_in_vision_int8", 759),
    ("coral/mobilenet_v1_0.25_128_quant", 65_543),
    ("coral/mobilenet_v2_1.0_224_quant", 1_204_239),
    ("deeplab/deeplabv3_257_mv_gpu", 5_548_116),
    ("mlcommons_tiny/ad01_int8", 767),
    ("mlcommons_tiny/kws_ref_model", 9788),
    ("mlcommons_tiny/pretrainedResnet_quant", 33_311),
    ("mlcommons_tiny/str_ww_ref_model", 3840),
    ("mlcommons_tiny/vww_96_int8", 36_871),
    ("swiftnet/swiftnet_vww_uint8", 301_056),
    ("tflite_micro/keyword_scrambled_8bit", 192),
    ("tflite_micro/micro_speech_quantized", 4164),
    ("tflite_micro/person_detect", 36_871),
    ("tflite_micro/trained_lstm_int8", 784),
    ("tinyengine/mcunet_vww", 84_672),
];

/// The proof takes no longer.
const PROOF: f64 = 2.0;

/// Models that TensorFlow Lite Micro runs with a plan of all their overlaps.
const OVERLAPPED: &[&str] = &[
    "stand_in_operators_float32",
    "stand_in_operators_int8",
    "stand_in_padded_int8",
    "stand_in_upsampling_int16",
    "stand_in_vision_float32",
    "stand_in_vision_int16",
    "stand_in_vision_int8",
    "stand_in_weights_int4",
    "mlcommons_tiny/kws_ref_model",
    "mlcommons_tiny/vww_96_int8",
    "tflite_micro/person_detect",
];

/// Floating point with weights of 8 bits.
const HYBRID: &[&str] = &["CONV_2D"];

/// The memory that the accelerator works in; input, output and its faster memory lie within.
const VELA_BYTES: u64 = 74_464;

/// Types of the network that is exported.
const EXPORTED: &[(TensorType, u32)] = &[
    (TensorType::Int8, 1),
    (TensorType::Uint8, 1),
    (TensorType::Int16, 2),
    (TensorType::Float32, 4),
];

fn main() {
    let mut trials = Vec::new();
    for &(name, operators, bytes, opaque) in MODELS {
        trials.push(trial("read", name, move |file| {
            read(file, operators, bytes, opaque);
            Ok(Completion::Completed)
        }));
        trials.push(trial("parameters", name, move |file| {
            parameters(file, opaque);
            Ok(Completion::Completed)
        }));
        trials.push(trial("plan", name, |file| {
            plan(file);
            Ok(Completion::Completed)
        }));
    }
    for &(name, arena_bytes) in ARENAS {
        trials.push(trial("arena", name, move |file| {
            arena(file, arena_bytes);
            Ok(Completion::Completed)
        }));
    }
    for problem in ["A", "B", "C", "D", "E"] {
        trials.push(Trial::ignorable_test(
            format!("minimalloc {problem}"),
            move || Ok(minimalloc(problem)),
        ));
    }
    trials.push(trial("audit", "tflite_micro/person_detect_vela", |file| {
        let plan = tflite::offline_plan(file)?;
        let expected = OfflinePlan {
            version: 0,
            subgraphs: 1,
            offsets: vec![0, -1, -1, 0, 0, 0],
        };
        assert_eq!(plan, Some(expected));
        Ok(Completion::Completed)
    }));
    for &(name, reference, cmsis_nn) in WHOLE {
        let test = move |file: &[u8]| Ok(whole(file, reference, cmsis_nn));
        trials.push(trial("whole arena", name, test));
    }
    for (runtime, package) in RUNTIMES {
        let installed = is_installed(package);
        for &(name, ..) in MODELS {
            let test =
                move |file: &[u8]| same_results(runtime, installed, name, file, &planned(file).1);
            trials.push(trial(runtime, name, test));
        }
        for &(element_type, element_bytes) in EXPORTED {
            let name = format!("exported {element_type}");
            trials.push(Trial::ignorable_test(
                format!("{runtime} {name}"),
                move || {
                    let network = net::network(element_type, element_bytes);
                    let file = tflite::export(&network, 1)?;
                    same_results(runtime, installed, &name, &file, &planned(&file).1)
                },
            ));
        }
    }
    let installed = is_installed("tflite_micro");
    for &name in OVERLAPPED {
        let test = move |file: &[u8]| {
            let name = format!("{name} overlapped");
            same_results("micro", installed, &name, file, &fully_overlapped(file))
        };
        trials.push(trial("all overlaps", name, test));
    }
    for &(name, ..) in MODELS {
        let test = move |file: &[u8]| overlapped(installed, name, file);
        trials.push(trial("overlap", name, test));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn graph(file: &[u8]) -> Graph {
    let mut model = tflite::read(file).unwrap();
    assert_eq!(model.graphs.len(), 1);
    assert!(model.calls.is_empty());
    model.graphs.remove(0)
}

fn whole(file: &[u8], reference: [u64; 2], cmsis_nn: [u64; 2]) -> Completion {
    for (kernels, expected) in [
        (RuntimeKernels::Reference, reference),
        (RuntimeKernels::CmsisNn, cmsis_nn),
    ] {
        let found = whole_arena(file, kernels).unwrap();
        assert_eq!(
            [found.used_bytes, found.needed_bytes],
            expected,
            "{kernels:?}"
        );
        assert!(found.unknown.is_empty());
    }
    Completion::Completed
}

fn read(file: &[u8], operators: usize, naive_bytes: u64, opaque: &[&str]) {
    let graph = graph(file);
    assert_eq!(graph.operators.len(), operators);
    assert_eq!(graph.naive_bytes(), naive_bytes);
    let found: BTreeSet<&str> = graph
        .operators
        .iter()
        .filter(|node| node.kernel.is_none())
        .map(|node| node.kind.name())
        .collect();
    let expected: BTreeSet<&str> = opaque.iter().copied().collect();
    assert_eq!(found, expected, "operators without a kernel");
}

/// What has a kernel computes with what is known.
fn parameters(file: &[u8], opaque: &[&str]) {
    let graph = graph(file);
    let parameters = tflite::parameters(file, 0).unwrap();
    assert_eq!(parameters.len(), graph.operators.len());
    for (index, (node, parameters)) in graph.operators.iter().zip(parameters).enumerate() {
        let known = !opaque.contains(&node.kind.name());
        let place = format!("operator {index} {}", node.kind);
        if !known {
            assert!(parameters.is_err(), "{place}");
            continue;
        }
        let parameters = parameters.unwrap_or_else(|problem| panic!("{place}: {problem}"));
        assert_eq!(parameters.outputs.len(), node.outputs.len(), "{place}");
        let constants = parameters.constants.iter().flatten();
        let constants: u64 = constants.map(|constant| constant.bytes.len() as u64).sum();
        let expected = node.inputs.iter().map(|&id| graph.tensor(id));
        let expected = expected.filter(|tensor| tensor.storage == Storage::Constant);
        let expected: u64 = expected.map(|tensor| tensor.size_bytes).sum();
        assert_eq!(constants, expected, "{place}");
    }
}

/// Among the operators that can run, always the one that is last in the file.
fn other_order(graph: &Graph) -> Vec<OperatorId> {
    let mut written: BTreeSet<TensorId> = graph.inputs.iter().copied().collect();
    let mut rest = graph.file_order();
    let mut order = Vec::new();
    while !rest.is_empty() {
        let ready = |id: &OperatorId| {
            let inputs = graph.arena_inputs(&graph.operators[id.0]);
            inputs.iter().all(|input| written.contains(input))
        };
        let index = rest.iter().rposition(ready).unwrap();
        let id = rest.remove(index);
        written.extend(&graph.operators[id.0].outputs);
        order.push(id);
    }
    order
}

/// A place of its own for every tensor that does not lie in another.
fn apart(graph: &Graph) -> Vec<i32> {
    let mut end = 0;
    let place = |tensor: &GraphTensor| {
        let offset = (tensor.storage == Storage::Arena).then_some(end)?;
        end += tensor.size_bytes.next_multiple_of(16);
        Some(offset)
    };
    let offsets = graph.with_views(graph.tensors.iter().map(place).collect());
    let offsets = offsets.iter();
    let offset = |offset: &Option<u64>| offset.map_or(-1, |offset| i32::try_from(offset).unwrap());
    offsets.map(offset).collect()
}

/// In another order, with every tensor in a place of its own.
fn planned(file: &[u8]) -> (Vec<OperatorId>, Vec<u8>) {
    let graph = graph(file);
    let order = other_order(&graph);
    let offsets = apart(&graph);
    let planned = tflite::with_plan(file, Some(&order), &offsets).unwrap();
    let plan = tflite::offline_plan(&planned).unwrap().unwrap();
    assert_eq!(
        (plan.version, plan.subgraphs, plan.offsets),
        (1, 1, offsets)
    );
    (order, planned)
}

/// All but the plan and the order is as it was, the bytes of the file included.
fn plan(file: &[u8]) {
    let (order, planned) = planned(file);
    let old = graph(file);
    let mut expected = old.clone();
    expected.operators = order.iter().map(|id| old.operators[id.0].clone()).collect();
    assert_eq!(graph(&planned), expected);
    let (front, rest) = planned.split_at(planned.len() - file.len());
    assert_eq!(front.len() % 64, 0);
    let changed = rest.iter().zip(file).filter(|(new, old)| new != old);
    assert!(changed.count() <= 4 * order.len());
    let unmoved = tflite::with_plan(file, None, &vec![-1; old.tensors.len()]);
    // An accelerator would find nothing without a plan.
    assert_eq!(unmoved.is_ok(), old.views.is_empty());
    assert!(unmoved.is_ok_and(|unmoved| unmoved.ends_with(file)) || !old.views.is_empty());
    let names = |file: &[u8]| -> BTreeSet<String> {
        let model = tflite::read(file).unwrap();
        model.metadata.into_iter().map(|entry| entry.name).collect()
    };
    let mut kept = names(file);
    kept.insert("OfflineMemoryAllocation".to_owned());
    assert_eq!(names(&planned), kept);
}

/// The plan of the model's reference kernels, which is checked.
fn overlapped_plan(graph: &Graph, layout: Layout) -> ModelPlan {
    let overlaps = overlaps::analytic(graph);
    let task = Task {
        graph,
        overlaps: &overlaps,
        layout,
        reorder: true,
        fixed: &[],
    };
    let planned = optimise(task, &mut Budget::of_seconds(PROOF), &mut |_| {}).unwrap();
    let tensors = planned.arena.tensor_offsets(&planned.plan);
    let scratch = planned.arena.scratch.iter().map(|scratch| {
        let bytes = graph.operators[scratch.operator.0].scratch_bytes[scratch.index];
        (
            scratch.operator,
            planned.plan.offsets[scratch.buffer],
            bytes,
        )
    });
    let scratch: Vec<_> = scratch.collect();
    let positions = Positions {
        tensors: &tensors,
        scratch: &scratch,
        keep_inputs: false,
    };
    let found = clashes(graph, &planned.order, &overlaps, positions, 10).unwrap();
    assert_eq!(found, vec![]);
    planned
}

fn arena(file: &[u8], arena_bytes: u64) {
    let layout = Layout {
        scratch: false,
        ..Layout::default()
    };
    let planned = overlapped_plan(&graph(file), layout);
    assert_eq!(
        (planned.arena_bytes, planned.certificate()),
        (arena_bytes, Certificate::Optimal)
    );
}

/// As TensorFlow Lite Micro wants it, scratch buffers included, and with some overlap.
fn fully_overlapped(file: &[u8]) -> Vec<u8> {
    let graph = graph(file);
    let planned = overlapped_plan(&graph, Layout::tflm());
    let offsets = planned.arena.tensor_offsets(&planned.plan);
    let device = on_device(&graph, &planned.order, &offsets, false).unwrap();
    let plain = on_device(&graph, &planned.order, &vec![None; offsets.len()], false).unwrap();
    assert!(device.arena_bytes < plain.arena_bytes);
    let offset = |offset: &Option<u64>| offset.map_or(-1, |offset| i32::try_from(offset).unwrap());
    let offsets: Vec<i32> = offsets.iter().map(offset).collect();
    tflite::with_plan(file, Some(&planned.order), &offsets).unwrap()
}

/// The capacity of the published problems, in bytes.
const MINIMALLOC_BYTES: u64 = 1 << 20;

fn minimalloc(problem: &str) -> Completion {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/minimalloc");
    let folder = std::env::var_os("DMO_TRACE_MINIMALLOC");
    let folder = folder.map_or(PathBuf::from(beside), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(folder.join(format!("{problem}.1048576.csv"))) else {
        return Completion::ignored_with("the problem is missing");
    };
    let problem = Table::parse(&text).unwrap().problem;
    let decision = exact::fit(&problem, MINIMALLOC_BYTES, &mut Budget::unlimited());
    let exact::Decision::Possible(offsets) = decision else {
        panic!("{decision:?}");
    };
    let plan = Plan { offsets };
    assert_eq!(plan.check(&problem), vec![]);
    assert!(plan.arena_bytes(&problem) <= MINIMALLOC_BYTES);
    Completion::Completed
}

/// Too few to be sure that one of them shows.
const FEW: u32 = 6;
/// Larger files are copied too often.
const FILE_BYTES: usize = 1 << 20;

/// Each overlap that is granted, alone, and where that makes sense with one byte more.
fn overlapped(installed: bool, name: &str, file: &[u8]) -> Result<Completion, Failed> {
    if !installed {
        return missing(NO_PACKAGE);
    }
    if file.len() > FILE_BYTES {
        return Ok(Completion::ignored_with("the model is large"));
    }
    let graph = graph(file);
    let mut plans = String::new();
    let mut safe = Vec::new();
    for (index, found) in overlaps::analytic(&graph).iter().enumerate() {
        for overlap in found
            .iter()
            .filter(|overlap| dies(&graph, index, overlap.input))
        {
            let sizes = [overlap.input, overlap.output].map(|id| graph.tensor(id).size_bytes);
            let (bytes, more) = match overlap.sharing {
                Sharing::Alias => (sizes[1], false),
                Sharing::Displaced(displacement) => {
                    let most = sizes[0].min(sizes[1]);
                    let bytes = sizes[1].saturating_sub(displacement).min(most);
                    (bytes, bytes < most)
                }
            };
            for extra in 0..=u64::from(more) {
                let offsets = overlapping(&graph, overlap, bytes + extra);
                let offsets: Vec<String> = offsets.iter().map(i32::to_string).collect();
                plans += &offsets.join(" ");
                plans.push('\n');
                safe.push((index, extra == 0));
            }
        }
    }
    let model = tflite::with_plan(file, None, &apart(&graph)).unwrap();
    let place = tflite::read(&model).unwrap();
    let place = place
        .metadata("OfflineMemoryAllocation")
        .unwrap()
        .bytes
        .start
        + 12;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = path.join(format!("{}-overlap.tflite", name.replace('/', "-")));
    std::fs::write(&path, model)?;
    let mut child = Command::new("python3")
        .args([RUNTIME, "plans"])
        .arg(path)
        .arg(place.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().unwrap().write_all(plans.as_bytes()).ok();
    let output = child.wait_with_output()?;
    if output.status.code() == Some(NOT_LOADED) {
        return Ok(Completion::ignored_with(
            "the runtime does not load the model",
        ));
    }
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    let results = String::from_utf8_lossy(&output.stdout);
    let results: Vec<bool> = results.lines().map(|line| line == "same").collect();
    assert_eq!(results.len(), safe.len());
    let (mut noticed, mut wrong) = (0, 0);
    for (same, (index, safe)) in results.into_iter().zip(safe) {
        assert!(same || !safe, "operator {index}");
        wrong += u32::from(!safe);
        noticed += u32::from(!safe && !same);
    }
    // The last output shows only some of what goes wrong before it.
    assert!(
        wrong < FEW || 4 * noticed >= wrong,
        "one byte more is noticed {noticed} times of {wrong}"
    );
    Ok(Completion::Completed)
}

/// Whether nothing reads the tensor after this operator.
fn dies(graph: &Graph, operator: usize, tensor: TensorId) -> bool {
    let mut later = graph.operators[operator + 1..].iter();
    !graph.outputs.contains(&tensor) && !later.any(|node| node.inputs.contains(&tensor))
}

/// The start of the input in the end of the output, all other tensors apart.
fn overlapping(graph: &Graph, overlap: &SafeOverlap, bytes: u64) -> Vec<i32> {
    let mut offsets = apart(graph);
    let sizes = graph
        .tensors
        .iter()
        .filter(|tensor| tensor.storage == Storage::Arena);
    let end: u64 = sizes
        .map(|tensor| tensor.size_bytes.next_multiple_of(16))
        .sum();
    let output = graph.tensor(overlap.output).size_bytes;
    // Behind all others.
    let start = i32::try_from(end).unwrap();
    offsets[overlap.output.0] = start;
    offsets[overlap.input.0] = start + i32::try_from(output - bytes).unwrap();
    offsets
}
