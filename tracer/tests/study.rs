//! The library without the command line: a model is planned and verified in ten lines, and a plan
//! that is not safe is not called so.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

#[path = "../examples/plan_and_verify.rs"]
mod example;
#[allow(dead_code, reason = "the tests of the reader use the rest")]
#[path = "../../analysis/tests/tflite/parts.rs"]
mod parts;
#[allow(dead_code, reason = "the tests of the reader use the rest")]
#[path = "../../analysis/tests/tflite/tree.rs"]
mod tree;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{self, SafeOverlap, Sharing};
use dmo_analysis::graph::tflite::{self, RuntimeKernels};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, GraphTensor, Kernel, Kind, Node, Storage, TensorId, TensorType};
use dmo_analysis::operator::{Operator, Reduce, Reduction};
use dmo_analysis::tflm::{whole_arena, whole_arena_in_place_of_cmsis_nn};
use dmo_analysis::verify::{Positions, clashes};
use dmo_trace::model::overlaps::Store;
use dmo_trace::study::build::{BuildRequest, build};
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::emit::Emission;
use dmo_trace::study::error::PlanError;
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::overlap_source::{OverlapKind, OverlapRequest};
use dmo_trace::study::plan::{PlanRequest, plan};
use dmo_trace::study::plan_file::NamedPlan;
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::savings::{SavingsRequest, savings};
use dmo_trace::study::session::Cache;
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};
use dmo_trace::study::whole_arena::verified_arena;
use dmo_trace::study::{Session, StudyError};
use std::path::Path;

const MODEL: &str = "zoo:liberis_lane_figure_1:int8";

#[test]
fn example() {
    assert_eq!(example::plan_and_verify(MODEL).unwrap(), (3680, true));
}

/// An overlap that is one byte too tight.
#[test]
fn a_plan_that_is_too_tight() {
    let session = Session::default();
    let mut source = Source::load(MODEL).unwrap();
    let planned = plan(&mut source, &PlanRequest::default(), &session).unwrap();
    let mut named = NamedPlan {
        name: "too tight".to_owned(),
        plan: planned.file,
    };
    let pair = named.plan.overlaps[0].pair;
    let Sharing::Displaced(needed) = pair.sharing else {
        panic!("{pair:?}");
    };
    let mut tensors = named.plan.tensors.iter();
    let output = tensors.find(|tensor| tensor.tensor == pair.output);
    let too_low = output.unwrap().offset + needed - 1;
    let mut tensors = named.plan.tensors.iter_mut();
    let input = tensors.find(|tensor| tensor.tensor == pair.input);
    input.unwrap().offset = too_low;
    named.plan.layout.alignment = 1;
    let to_check = PlanToCheck::new(&named, &source, None).unwrap();
    let kernels = KernelRequest::default().load().unwrap();
    let request = VerifyRequest::default();
    let verified = verify(&source, Some(to_check), &kernels, request, &session).unwrap();
    let found = verified.verification.as_ref().unwrap();
    assert!(!verified.is_safe());
    assert!(verified.faults.is_empty(), "{:?}", verified.faults);
    assert!(!found.clashes.is_empty());
}

/// What was asked of the layout goes into the model in tiles as well: invoked again without a new
/// input it finds the old one.
#[test]
fn tiles_keep_what_the_layout_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.tflite");
    let network = zoo::find("mobilenet_v1_0.25_128").unwrap();
    let file = tflite::export(&network.build(Element::Int8), 1).unwrap();
    std::fs::write(&path, file).unwrap();
    let session = Session::default();
    let mut overwritten = 0;
    for (alignment, keep_inputs) in [(16, false), (16, true), (64, true)] {
        let layout = Layout {
            alignment,
            keep_inputs,
            ..Layout::tflm()
        };
        let request = PlanRequest {
            layout,
            changes: ChangeRequest {
                split: true,
                ..ChangeRequest::default()
            },
            ..PlanRequest::default()
        };
        let mut source = Source::load(path.to_str().unwrap()).unwrap();
        let planned = plan(&mut source, &request, &session).unwrap();
        assert!(planned.file.recipe.is_some());
        let emission = Emission::new(Path::new("tiled.tflite"), &source, alignment).unwrap();
        let emitted = emission.of_plan(&source, &planned, &session).unwrap();
        let [change] = emitted.changes[..] else {
            panic!("{:?}", emitted.changes);
        };
        let whole = whole_arena(&emitted.content, change.kernels).unwrap();
        let choice = emitted.choice.unwrap();
        assert_eq!(change.after_bytes, whole.needed_bytes);
        assert!(change.after_bytes < change.before_bytes);
        assert!(choice.forms > 1 && Some(change.after_bytes) <= choice.of_the_plan_bytes);
        let graph = tflite::read(&emitted.content).unwrap().graphs.remove(0);
        let carried = tflite::offline_plan(&emitted.content).unwrap().unwrap();
        let offset = |&offset: &i32| u64::try_from(offset).ok();
        let offsets: Vec<Option<u64>> = carried.offsets.iter().map(offset).collect();
        let mut placed = offsets.iter().flatten();
        assert!(placed.all(|offset| offset.is_multiple_of(alignment)));
        let is_kept = |keep_inputs: bool| {
            let positions = Positions {
                tensors: &offsets,
                scratch: &[],
                keep_inputs,
            };
            let allowed = overlaps::analytic(&graph);
            clashes(&graph, &graph.file_order(), &allowed, positions, 1)
                .unwrap()
                .is_empty()
        };
        assert!(is_kept(keep_inputs), "{alignment} {keep_inputs}");
        overwritten += u32::from(!is_kept(true));
    }
    assert_eq!(
        overwritten, 1,
        "without the option the input is overwritten"
    );
}

/// What was measured at multiples of 16 says nothing of other offsets, where LDM faults on a real
/// core and a kernel may take another way. Nothing is run to find that out.
#[test]
fn no_plan_lies_below_the_alignment_of_what_was_measured() {
    let session = Session::default();
    let mut refused = 0;
    for kind in OverlapKind::ALL {
        for alignment in [1, 2, 4, 8, 24] {
            let overlap = OverlapRequest {
                kind,
                kernels: (kind != OverlapKind::Analytic).then(KernelRequest::default),
                ..OverlapRequest::default()
            };
            let request = PlanRequest {
                overlap,
                layout: Layout {
                    alignment,
                    ..Layout::tflm()
                },
                ..PlanRequest::default()
            };
            let planned = plan(&mut Source::load(MODEL).unwrap(), &request, &session);
            match planned {
                Ok(_) => assert_eq!(kind, OverlapKind::Analytic),
                Err(StudyError::Plan(PlanError::BelowMeasured {
                    given,
                    measured: 16,
                })) => {
                    assert_eq!(given, alignment);
                    refused += 1;
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    assert_eq!(refused, 10);
}

/// A measurement that was kept and is damaged, in any of its digits, is measured again.
#[test]
fn damaged_measurements_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = || Cache {
        folder: Some(folder.path().to_owned()),
    };
    let session = Session {
        cache: cache(),
        ..Session::default()
    };
    let request = PlanRequest {
        overlap: OverlapRequest {
            kind: OverlapKind::Traced,
            ..OverlapRequest::default()
        },
        ..PlanRequest::default()
    };
    let planned = || plan(&mut Source::load(MODEL).unwrap(), &request, &session).unwrap();
    let expected = planned().file;
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(files.len() > 4, "{}", files.len());
    let mut damaged = 0;
    for file in files {
        let path = file.unwrap().path();
        let key = path.file_name().unwrap().to_str().unwrap();
        let kept = std::fs::read(&path).unwrap();
        assert!(cache().load(key).is_some());
        for at in 0..kept.len() {
            if kept[at].is_ascii_digit() {
                let mut other = kept.clone();
                other[at] = b'0' + (other[at] - b'0' + 1) % 10;
                std::fs::write(&path, other).unwrap();
                assert!(cache().load(key).is_none(), "byte {at} of {key}");
                damaged += 1;
            }
        }
        // One of its digits stays wrong.
        let last = kept.iter().rposition(u8::is_ascii_digit).unwrap();
        let mut other = kept;
        other[last] = if other[last] == b'0' { b'1' } else { b'0' };
        std::fs::write(&path, other).unwrap();
    }
    assert!(damaged > 100, "{damaged}");
    assert_eq!(planned().file, expected);
}

/// `REDUCE_MAX(RELU(in))`; kernels of TensorFlow Lite Micro ask for scratch memory for it that ours
/// do without.
fn reduced(folder: &Path) -> Source {
    let tensor = |name: &str, depth: u32| GraphTensor {
        name: name.to_owned(),
        shape: vec![1, 4, 4, depth],
        element_type: TensorType::Float32,
        size_bytes: u64::from(4 * 4 * depth * 4),
        storage: Storage::Arena,
    };
    let node = |kind: &str, input: usize, kernel: Option<Operator>| Node {
        kind: kind.into(),
        inputs: vec![TensorId(input)],
        outputs: vec![TensorId(input + 1)],
        kernel: kernel.map(|operator| Kernel {
            operator,
            inputs: vec![TensorId(input)],
            outputs: vec![TensorId(input + 1)],
        }),
        scratch_bytes: Vec::new(),
    };
    let reduce = Operator::Reduce(Reduce {
        input: [1, 4, 4, 8],
        axes: [false, false, false, true],
        reduction: Reduction::Fold,
        input_element_bytes: 4,
        output_element_bytes: 4,
    });
    let graph = Graph {
        tensors: vec![tensor("in", 8), tensor("relu", 8), tensor("most", 1)],
        operators: vec![node("RELU", 0, None), node("REDUCE_MAX", 1, Some(reduce))],
        inputs: vec![TensorId(0)],
        outputs: vec![TensorId(2)],
        ..Graph::default()
    };
    let path = folder.join("model.tflite");
    std::fs::write(&path, tflite::export(&graph, 1).unwrap()).unwrap();
    let source = Source::load(path.to_str().unwrap()).unwrap();
    assert_eq!(source.graph().operators[1].scratch_bytes, [16, 4]);
    source
}

/// Of kernels that leave it alone the bytes come out right, of others they would not.
#[test]
fn a_scratch_buffer_over_memory_in_use_is_not_safe() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = reduced(folder.path());
    let session = Session::default();
    let planned = plan(&mut source, &PlanRequest::default(), &session).unwrap();
    let named = NamedPlan {
        name: "reduced".to_owned(),
        plan: planned.file,
    };
    let kernels = KernelRequest::default().load().unwrap();
    let is_safe = |named: &NamedPlan| {
        let to_check = PlanToCheck::new(named, &source, None).unwrap();
        let request = VerifyRequest {
            inputs: 2,
            ..VerifyRequest::default()
        };
        let verified = verify(&source, Some(to_check), &kernels, request, &session).unwrap();
        assert_eq!(verified.faults, []);
        verified.is_safe()
    };
    assert!(is_safe(&named));
    for scratch in 0..2 {
        for tensor in [TensorId(1), TensorId(2)] {
            let mut other = named.clone();
            let mut tensors = named.plan.tensors.iter();
            let in_use = tensors.find(|placed| placed.tensor == tensor).unwrap();
            assert_ne!(other.plan.scratch[scratch].offset, in_use.offset);
            other.plan.scratch[scratch].offset = in_use.offset;
            assert!(!is_safe(&other), "scratch {scratch} over tensor {tensor:?}");
        }
    }
}

/// TensorFlow Lite Micro's kernels ask for scratch memory that ours do without, and it does not
/// know that an input is to be kept: whichever kernels were measured, its own decide.
#[test]
fn scratch_memory_of_the_runtime_decides_what_can_be_emitted() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::default();
    for kind in OverlapKind::ALL {
        for keep_inputs in [false, true] {
            let request = PlanRequest {
                overlap: OverlapRequest {
                    kind,
                    kernels: (kind != OverlapKind::Analytic).then(KernelRequest::default),
                    ..OverlapRequest::default()
                },
                layout: Layout {
                    keep_inputs,
                    ..Layout::tflm()
                },
                ..PlanRequest::default()
            };
            let mut source = reduced(folder.path());
            let planned = plan(&mut source, &request, &session).unwrap();
            let emission = Emission::new(Path::new("planned.tflite"), &source, 16).unwrap();
            let emitted = emission.of_plan(&source, &planned, &session);
            assert_eq!(emitted.is_err(), keep_inputs, "{}", kind.name());
        }
    }
}

/// Of a model in tiles the kernels are measured anew, and asked what scratch memory they want for a
/// tile; `verify` finds the same.
#[test]
fn tiles_are_planned_with_what_measured_kernels_allow_in_them() {
    let network = zoo::find("mobilenet_v1_0.25_128").unwrap();
    let mut graph = network.build(Element::Int8);
    graph.operators.truncate(4);
    graph.outputs = graph.operators[3].outputs.clone();
    let file = tflite::export(&graph, 1).unwrap();
    let given = || Source::of_bytes("model.tflite", file.clone()).unwrap();
    let kernels = KernelRequest::of_model(&["dsp".to_owned()], None, None);
    let whole = PlanRequest {
        overlap: OverlapRequest::on(OverlapKind::Traced, &kernels),
        ..PlanRequest::default()
    };
    let split = PlanRequest {
        changes: ChangeRequest {
            split: true,
            ..ChangeRequest::default()
        },
        ..whole.clone()
    };
    let session = Session::default();
    let emission_of = |request: &PlanRequest| {
        let mut source = given();
        let planned = plan(&mut source, request, &session).unwrap();
        let emission = Emission::new(Path::new("tiled.tflite"), &source, 16).unwrap();
        emission.of_plan(&source, &planned, &session).unwrap()
    };
    let [as_a_whole, in_tiles] = [&whole, &split].map(emission_of);
    let ([before], [change]) = (&as_a_whole.changes[..], &in_tiles.changes[..]) else {
        panic!("{:?} {:?}", as_a_whole.changes, in_tiles.changes);
    };
    assert!(change.with_measured_scratch && !change.is_lower_bound);
    assert!(change.after_bytes < before.after_bytes);
    let form = in_tiles.form.as_ref().unwrap();
    let known = form.planned.overlaps.measured.as_ref().unwrap();
    assert_eq!(known.planned.name, "dsp");
    assert!(!form.planned.file.overlaps.is_empty());
    assert_eq!(form.origins.len(), form.source.graph().operators.len());
    let operators = form.source.graph().operators.iter().zip(&form.origins);
    let computing = operators.filter(|(node, origin)| graph.operators[origin.0].kind == node.kind);
    assert!(computing.count() > graph.operators.len());
    let tiled = Source::of_bytes("tiled.tflite", in_tiles.content).unwrap();
    let kernels = kernels.load().unwrap();
    let verified = verify(&tiled, None, &kernels, VerifyRequest::default(), &session).unwrap();
    assert!(verified.is_safe());
    let arena = verified_arena(&tiled, &verified).unwrap().unwrap();
    assert_eq!(arena.needed_bytes, change.after_bytes);
}

/// What the file says of the arena before is of the file as it was given, with its floats.
#[test]
fn integers_at_both_ends_are_compared_with_the_given_file() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/stand_in_floats_int8.tflite");
    let given = std::fs::read(&path).unwrap();
    let mut source = Source::load(path.to_str().unwrap()).unwrap();
    source.take_integers().unwrap();
    let session = Session::default();
    let planned = plan(&mut source, &PlanRequest::default(), &session).unwrap();
    let emission = Emission::new(Path::new("planned.tflite"), &source, 16).unwrap();
    let emitted = emission.of_plan(&source, &planned, &session).unwrap();
    assert!(!emitted.changes.is_empty());
    for change in emitted.changes {
        let whole = |file: &[u8]| whole_arena(file, change.kernels).unwrap().needed_bytes;
        assert_eq!(change.before_bytes, whole(&given));
        assert_eq!(change.after_bytes, whole(&emitted.content));
        assert!(change.after_bytes < change.before_bytes);
    }
}

/// `t1 = relu(t0)`, where `t0` is the model's input and has data all the same: TensorFlow Lite Micro
/// would compute with these.
#[test]
fn no_library_is_made_of_a_model_whose_input_has_data() {
    use tree::Part::{Byte, Bytes, Table, Tables, Text, Word, Words};
    let floats = |buffer: u32| {
        Table(vec![
            (0, Words(vec![4])),
            (1, Byte(0)),
            (2, Word(buffer)),
            (3, Text("t")),
        ])
    };
    let with_buffer = |buffer: u32| {
        let main = Table(vec![
            (0, Tables(vec![floats(buffer), floats(0)])),
            (1, Words(vec![0])),
            (2, Words(vec![1])),
            (3, Tables(vec![parts::operator(0, &[0], &[1])])),
        ]);
        let data = Table(vec![(0, Bytes(vec![0; 16]))]);
        tree::write(&Table(vec![
            (0, Word(3)),
            (1, Tables(vec![parts::code(19)])),
            (2, Tables(vec![main])),
            (3, Text("input with data")),
            (4, Tables(vec![Table(vec![]), data])),
        ]))
    };
    let built = |buffer| {
        let mut source = Source::of_bytes("m.tflite", with_buffer(buffer)).unwrap();
        build(&mut source, &BuildRequest::default(), &Session::default())
    };
    let refusal = built(1).map(|_| ()).unwrap_err();
    let refusal = format!("{:#}", anyhow::Error::from(refusal));
    assert!(refusal.contains("has data in the file"), "{refusal}");
    assert!(built(0).unwrap().is_safe);
}

#[test]
fn operators_of_an_accelerator_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vela.tflite");
    std::fs::write(&path, parts::accelerated(Some([-1, 32, 32, 48, 32, 96]))).unwrap();
    let load = || Source::load(path.to_str().unwrap()).unwrap();
    let planned = |changes| {
        let request = PlanRequest {
            changes,
            ..PlanRequest::default()
        };
        plan(&mut load(), &request, &Session::default())
    };
    let accumulate = ChangeRequest {
        accumulate: true,
        ..ChangeRequest::default()
    };
    assert!(planned(accumulate).is_ok());
    let [mut in_place, mut remove, mut split, mut patch] = [ChangeRequest::default(); 4];
    in_place.in_place = true;
    remove.remove = true;
    split.split = true;
    patch.patch = true;
    for changes in [in_place, remove, split, patch] {
        let error = planned(changes).map(|planned| planned.file).unwrap_err();
        assert!(is_of_an_accelerator(&error), "{changes:?}: {error}");
    }
    let saved = savings(&load(), &SavingsRequest::default());
    let error = saved.map(|saved| saved.rows.len()).unwrap_err();
    assert!(is_of_an_accelerator(&error), "{error}");
}

fn is_of_an_accelerator(error: &StudyError) -> bool {
    matches!(error, StudyError::Plan(PlanError::Accelerated { .. }))
}

/// CMSIS-NN has functions that join and reshape tensors, which TensorFlow Lite Micro does not call: what
/// they allow says nothing of its own kernels.
#[test]
fn the_runtime_joins_and_reshapes_by_its_own_kernels() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let kernels = KernelRequest::of_model(&["dsp".to_owned()], None, None);
    let request = PlanRequest {
        overlap: OverlapRequest::on(OverlapKind::Traced, &kernels),
        ..PlanRequest::default()
    };
    let (mut joined, mut reshaped) = (0, 0);
    for name in [
        "further_plain_int8",
        "stand_in_vision_int8",
        "stand_in_upsampling_int8",
    ] {
        let path = folder.join(name).with_extension("tflite");
        let mut source = Source::load(&path).unwrap();
        let planned = plan(&mut source, &request, &Session::default()).unwrap();
        let measured = planned.overlaps.measured.as_ref().unwrap();
        let operators = planned.overlaps.graph.operators.iter();
        let functions = operators.zip(&measured.planned.functions);
        for ((node, function), granted) in functions.zip(&planned.overlaps.overlaps) {
            let function = function.as_deref().unwrap_or_default();
            match node.kind.name() {
                "CONCATENATION" => {
                    joined += 1;
                    assert!(granted.is_empty(), "{name}: {granted:?}");
                }
                "RESHAPE" => {
                    reshaped += 1;
                    let is_alias = |it: &SafeOverlap| it.sharing == Sharing::Alias;
                    assert!(granted.iter().all(is_alias), "{name}: {granted:?}");
                }
                _ => continue,
            }
            assert!(function.starts_with("dmo_"), "{name}: {function}");
        }
    }
    assert!(joined >= 2 && reshaped >= 1, "{joined} {reshaped}");
}

/// Where TensorFlow Lite Micro asks for several buffers, or asks another function than the kernel's for
/// the size.
#[test]
fn scratch_buffers_are_those_that_the_runtime_asks_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let (mut transposed, mut layers, mut packed) = (0, 0, 0);
    for name in [
        "stand_in_upsampling_int8",
        "stand_in_layers_int8",
        "stand_in_weights_int4",
    ] {
        let mut source = Source::load(folder.join(name).with_extension("tflite")).unwrap();
        let kernels = KernelRequest::of_model(&["dsp".to_owned()], None, None);
        let request = PlanRequest {
            overlap: OverlapRequest::on(OverlapKind::None, &kernels),
            ..PlanRequest::default()
        };
        let planned = plan(&mut source, &request, &Session::default()).unwrap();
        let measured = planned.overlaps.measured.as_ref().unwrap();
        let graph = &measured.on_device;
        let sizes = graph.operators.iter().map(|it| it.scratch_bytes.clone());
        let file = source.file.as_ref().unwrap();
        let of_cmsis_nn = &tflite::scratch(file, RuntimeKernels::CmsisNn).unwrap()[0];
        let arena = whole_arena_in_place_of_cmsis_nn(file, &[sizes.collect()]).unwrap();
        let functions = measured.planned.functions.iter();
        let operators = graph.operators.iter().zip(functions).zip(&arena.operators);
        for ((node, function), counted) in operators {
            let filter = node.inputs.get(1).copied();
            let filter = filter.map(|it| graph.tensor(it));
            match function.as_deref().unwrap_or_default() {
                "arm_transpose_conv_wrapper_s8" => {
                    transposed += 1;
                    assert_eq!(node.scratch_bytes.len(), 2, "{name}");
                    assert_eq!(node.scratch_bytes[1], 0, "{name}");
                }
                "arm_convolve_1x1_s8_fast" if node.kind == Kind::FullyConnected => {
                    layers += 1;
                    let depth = u64::from(filter.unwrap().shape[1]);
                    let mut sizes = of_cmsis_nn[counted.operator.0].clone().unwrap();
                    // Rows of few columns are on the stack.
                    if depth > 16 {
                        sizes.push(8 * depth.next_multiple_of(4));
                    }
                    assert_eq!(node.scratch_bytes, sizes, "{name}");
                }
                "arm_convolve_wrapper_s4" => {
                    packed += 1;
                    // As for weights of 8 bits.
                    let [_, height, width, depth] = filter.unwrap().shape[..] else {
                        panic!("{name}: {filter:?}");
                    };
                    let row = u64::from(height * width * depth).next_multiple_of(4);
                    let is_gathered = depth % 4 != 0 && height * width != 1;
                    let bytes = if is_gathered { 9 * row } else { 8 * row };
                    let is_few = height * width == 1 && depth <= 16;
                    let expected: &[u64] = if is_few { &[] } else { &[bytes] };
                    assert_eq!(node.scratch_bytes, expected, "{name}");
                }
                _ => continue,
            }
            assert_eq!(counted.scratch_bytes, node.scratch_bytes, "{name}");
        }
    }
    assert!(
        transposed >= 1 && layers >= 1 && packed >= 2,
        "{transposed} {layers} {packed}"
    );
}

/// A tensor that is named twice as an input has one content.
#[test]
fn an_input_that_is_named_twice_is_one() {
    let network = zoo::find("liberis_lane_figure_1").unwrap();
    let mut graph = network.build(Element::Int8);
    graph.inputs.push(graph.inputs[0]);
    let file = tflite::export(&graph, 1).unwrap();
    let mut source = Source::of_bytes("twice", file).unwrap();
    assert_eq!(source.graph().inputs.len(), 2);
    let request = BuildRequest {
        keep_inputs: true,
        ..BuildRequest::default()
    };
    let built = build(&mut source, &request, &Session::default()).unwrap();
    assert!(built.holds());
}
