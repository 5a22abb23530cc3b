//! What our own writer does not make: several subgraphs, data behind the flatbuffer,
//! shared and unknown parts.

use super::parts::{accelerated, accelerated_with, code, operator, operator_fields, tensor};
use super::single::{FLOAT32, INT32, Model, activation, constant};
use super::tree::{Part, Part::*, write};
use dmo_analysis::arena::{ArenaError, Layout};
use dmo_analysis::graph::overlaps;
use dmo_analysis::graph::tflite::{self, Call, RuntimeKernels};
use dmo_analysis::graph::{OperatorId, Storage, TensorId};
use dmo_analysis::handover::on_device;
use dmo_analysis::operator::{Operator, Reduce};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::schedule::ScheduleError;
use dmo_analysis::tflm::{TflmError, whole_arena};
use dmo_planner::budget::Budget;

/// Two operators that run in either order: `t1 = relu(t0)`, `t2 = relu(t0)`.
fn twins() -> Part {
    subgraph(vec![operator(0, &[0], &[1]), operator(0, &[0], &[2])])
}

fn subgraph(operators: Vec<Part>) -> Part {
    Table(vec![
        (0, Tables(vec![tensor(4, 0), tensor(4, 0), tensor(4, 0)])),
        (1, Words(vec![0])),
        (2, Words(vec![1, 2])),
        (3, Tables(operators)),
        (4, Text("main")),
    ])
}

fn model(subgraphs: Vec<Part>, more: Vec<(usize, Part)>) -> Vec<u8> {
    // RELU and IF.
    let codes = Tables(vec![code(19), code(118)]);
    let mut fields = vec![(0, Word(3)), (1, codes), (2, Tables(subgraphs))];
    fields.extend(more);
    write(&Table(fields))
}

#[test]
fn subgraphs_that_call() {
    let conditional = |then: u32| {
        let mut fields = operator_fields(1, &[0], &[1, 2]);
        fields.extend([
            (3, Byte(92)),
            (4, Table(vec![(0, Word(then)), (1, Word(2))])),
        ]);
        subgraph(vec![Table(fields)])
    };
    let file = model(vec![conditional(1), twins(), twins()], Vec::new());
    let model_read = tflite::read(&file).unwrap();
    assert_eq!(model_read.graphs.len(), 3);
    let call = Call {
        subgraph: 0,
        operator: OperatorId(0),
        callees: vec![1, 2],
    };
    assert_eq!(model_read.calls, [call]);
    let offsets: Vec<i32> = (0..9).collect();
    let planned = tflite::with_plan(&file, None, &offsets).unwrap();
    let plan = tflite::offline_plan(&planned).unwrap().unwrap();
    assert_eq!((plan.subgraphs, plan.offsets), (3, offsets));
    assert_eq!(tflite::read(&planned).unwrap().graphs, model_read.graphs);

    let file = model(vec![conditional(3), twins(), twins()], Vec::new());
    assert_eq!(
        tflite::read(&file).unwrap_err().to_string(),
        "operator 0 of subgraph 0 IF: subgraph 3, but there are 3"
    );
}

#[test]
fn subgraphs_that_call_one_another_without_end() {
    let conditional = |callee: u32| {
        let mut fields = operator_fields(1, &[0], &[1, 2]);
        fields.extend([
            (3, Byte(92)),
            (4, Table(vec![(0, Word(callee)), (1, Word(callee))])),
        ]);
        subgraph(vec![Table(fields)])
    };
    let arena = |callees: [u32; 2]| {
        let file = model(callees.map(conditional).into(), Vec::new());
        whole_arena(&file, RuntimeKernels::Reference)
    };
    for callees in [[0, 1], [1, 0], [1, 1]] {
        assert!(matches!(arena(callees), Err(TflmError::Calls { .. })));
    }
    let ends = model(vec![conditional(1), twins()], Vec::new());
    let arena = whole_arena(&ends, RuntimeKernels::Reference).unwrap();
    assert_eq!((arena.operators.len(), arena.unknown), (3, Vec::new()));
}

#[test]
fn operators_that_subgraphs_share() {
    let file = model(vec![twins(), Again], Vec::new());
    assert_eq!(tflite::read(&file).unwrap().graphs.len(), 2);
    let swapped = [OperatorId(1), OperatorId(0)];
    let problem = tflite::with_plan(&file, Some(&swapped), &[-1; 6]).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "two subgraphs share their operators, so that the order of one cannot be changed"
    );
    assert!(tflite::with_plan(&file, None, &[-1; 6]).is_ok());
}

#[test]
fn roots_with_unknown_fields() {
    let file = model(vec![twins()], vec![(8, Words(vec![1]))]);
    let problem = tflite::with_plan(&file, None, &[-1; 3])
        .unwrap_err()
        .to_string();
    assert!(
        problem.starts_with("the model's root has a field 8"),
        "{problem}"
    );
}

/// Fields of the root that are not read are carried over, and so are other metadata.
#[test]
fn all_else_is_kept() {
    let metadata = Tables(vec![Table(vec![(0, Text("author")), (1, Word(1))])]);
    let buffers = Tables(vec![
        Table(vec![]),
        Table(vec![(0, Bytes(b"somebody".to_vec()))]),
    ]);
    let signatures = Tables(vec![Table(vec![(2, Text("serve"))])]);
    let more = vec![(4, buffers), (6, metadata), (7, signatures)];
    let file = model(vec![twins()], more);
    let swapped = [OperatorId(1), OperatorId(0)];
    let planned = tflite::with_plan(&file, Some(&swapped), &[0, 16, 32]).unwrap();
    let model = tflite::read(&planned).unwrap();
    let author = model.metadata("author").unwrap().bytes.clone();
    assert_eq!(&planned[author], b"somebody");
    assert_eq!(model.metadata.len(), 2);
    assert_eq!(model.graphs[0].operators[0].outputs, [TensorId(2)]);
    let present = [true, true, true, false, true, false, true, true];
    assert_eq!(root_fields(&planned), present);
}

/// Which of its fields a file's root has.
fn root_fields(file: &[u8]) -> Vec<bool> {
    let word = |at: usize| u32::from_le_bytes(*file[at..].first_chunk().unwrap()) as usize;
    let half = |at: usize| u16::from_le_bytes(*file[at..].first_chunk().unwrap()) as usize;
    let root = word(0);
    let directory = root - word(root);
    (4..half(directory))
        .step_by(2)
        .map(|at| half(directory + at) != 0)
        .collect()
}

/// Weights that a large model keeps behind the flatbuffer are found by their place in the
/// file, which a plan moves.
#[test]
fn data_behind_the_flatbuffer() {
    let data = [1, 2, 3, 4];
    let make = |offset: u64| {
        let outside = Table(vec![(1, Long(offset)), (2, Long(4))]);
        let buffers = Tables(vec![Table(vec![]), outside]);
        let tensors = Tables(vec![tensor(4, 0), tensor(4, 0), tensor(4, 1)]);
        let main = Table(vec![
            (0, tensors),
            (1, Words(vec![0])),
            (2, Words(vec![1])),
            (3, Tables(vec![operator(0, &[0], &[1])])),
        ]);
        let metadata = Tables(vec![Table(vec![(0, Text("weights")), (1, Word(1))])]);
        model(vec![main], vec![(4, buffers), (6, metadata)])
    };
    let end = make(2).len();
    let mut file = make(end as u64);
    file.extend(data);
    let planned = tflite::with_plan(&file, None, &[0, 16, -1]).unwrap();
    for file in [&file, &planned] {
        let model = tflite::read(file).unwrap();
        assert_eq!(model.outside_bytes, 4);
        assert_eq!(model.graphs[0].tensors[2].storage, Storage::Constant);
        assert_eq!(file[model.metadata("weights").unwrap().bytes.clone()], data);
    }
    file.pop();
    let problem = tflite::read(&file).unwrap_err().to_string();
    assert_eq!(
        problem,
        format!(
            "damaged or truncated model: buffer 1 has 4 bytes at byte {end}, but the file ends at {}",
            file.len()
        )
    );
}

#[test]
fn indices_out_of_range() {
    let problem = |operators| {
        let file = model(vec![subgraph(operators)], Vec::new());
        tflite::read(&file).unwrap_err().to_string()
    };
    assert_eq!(
        problem(vec![operator(2, &[0], &[1])]),
        "operator 0 of subgraph 0: operator code 2, but there are 2"
    );
    assert_eq!(
        problem(vec![operator(0, &[-2], &[1])]),
        "operator 0 of subgraph 0 RELU: tensor -2, but there are 3"
    );
    let file = write(&Table(vec![(0, Word(3))]));
    assert_eq!(
        tflite::read(&file).unwrap_err().to_string(),
        "the model has no subgraph"
    );
}

/// Operators that share a variable stay in their order.
#[test]
fn state() {
    let variable = Table(vec![
        (0, Words(vec![4])),
        (1, Byte(9)),
        (3, Text("state")),
        (5, Byte(1)),
    ]);
    let main = Table(vec![
        (
            0,
            Tables(vec![tensor(4, 0), tensor(4, 0), tensor(4, 0), variable]),
        ),
        (1, Words(vec![0])),
        (2, Words(vec![1, 2])),
        (
            3,
            Tables(vec![operator(0, &[0, 3], &[1]), operator(0, &[0, 3], &[2])]),
        ),
    ]);
    let file = model(vec![main], Vec::new());
    let swapped = [OperatorId(1), OperatorId(0)];
    let problem = tflite::with_plan(&file, Some(&swapped), &[-1; 4]).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "the order has operator 1 RELU before operator 0 RELU, but both keep state, so that \
         they have to stay in the model's order"
    );
}

/// What a custom operator reads and nothing has written is memory that it works in.
#[test]
fn working_memory() {
    let custom = Table(vec![(0, Byte(32)), (1, Text("accelerator"))]);
    let main = Table(vec![
        (0, Tables(vec![tensor(4, 0), tensor(4, 0), tensor(9, 0)])),
        (1, Words(vec![0])),
        (2, Words(vec![1])),
        (3, Tables(vec![operator(0, &[0, 2, -1], &[1])])),
    ]);
    let fields = vec![(1, Tables(vec![custom])), (2, Tables(vec![main]))];
    let graph = tflite::read(&write(&Table(fields)))
        .unwrap()
        .graphs
        .remove(0);
    let node = &graph.operators[0];
    assert_eq!(node.kind.name(), "CUSTOM:accelerator");
    assert_eq!(node.inputs, [TensorId(0)]);
    assert_eq!(node.outputs, [TensorId(1), TensorId(2)]);
    assert_eq!(node.kernel, None);
}

/// The accelerator finds its tensors in its scratch tensor, where the plan has them, and nowhere
/// else.
#[test]
fn tensors_of_an_accelerator_stay_where_they_are_in_its_scratch_memory() {
    let file = accelerated(Some([-1, 32, 32, 48, 32, 96]));
    let graph = tflite::read(&file).unwrap().graphs.remove(0);
    let within = |index: usize| {
        let view = graph.views.get(&TensorId(index))?;
        assert_eq!((view.of, view.pitch_bytes), (TensorId(1), None));
        Some(view.offset_bytes)
    };
    let found: Vec<_> = (0..6).map(within).collect();
    assert_eq!(found, [None, None, Some(0), Some(16), Some(0), None]);

    let overlaps = overlaps::analytic(&graph);
    let task = Task {
        graph: &graph,
        overlaps: &overlaps,
        layout: Layout::tflm(),
        reorder: true,
        fixed: &[],
    };
    let planned = optimise(task, &mut Budget::of_work(1000), &mut |_| {}).unwrap();
    let offsets = planned.arena.tensor_offsets(&planned.plan);
    let start = offsets[1].unwrap();
    assert_eq!([offsets[3], offsets[4]], [Some(start + 16), Some(start)]);
    let device = on_device(&graph, &planned.order, &offsets, false).unwrap();
    assert_eq!(device.tensors, offsets);

    let words = offsets
        .iter()
        .map(|offset| offset.map_or(-1, |offset| offset as i32));
    let emitted = tflite::with_plan(&file, None, &words.collect::<Vec<i32>>()).unwrap();
    assert_eq!(tflite::read(&emitted).unwrap().graphs[0], graph);

    // The accelerator stores its output where its input was.
    let layout = Layout {
        keep_inputs: true,
        ..Layout::tflm()
    };
    let kept = Task { layout, ..task };
    let error = optimise(kept, &mut Budget::of_work(1000), &mut |_| {});
    let overwritten = ScheduleError::Overwritten { input: TensorId(3) };
    assert_eq!(error, Err(ArenaError::Schedule(overwritten)));
}

#[test]
fn what_an_accelerator_could_not_find_is_refused() {
    for (offsets, expected) in [
        (None, "no offset of its tensor 1"),
        (Some([-1, -1, 32, 48, 32, 96]), "no offset of its tensor 1"),
        (Some([-1, 32, 32, 96, 32, 96]), "tensor 3 lies outside"),
        (Some([-1, 32, 32, 16, 32, 96]), "tensor 3 lies outside"),
        (Some([-1, 32, 32, -1, 32, 96]), "no offset of its tensor 3"),
    ] {
        let error = tflite::read(&accelerated(offsets)).unwrap_err().to_string();
        assert!(error.contains(expected), "{offsets:?}: {error}");
        assert!(error.contains("operator 0 CUSTOM:ethos-u"), "{error}");
    }
}

/// Vela's sign that there is no faster memory.
#[test]
fn an_accelerator_without_faster_memory() {
    let fast = tensor(64, 0);
    let none = tensor(0, 0);
    let with = accelerated(Some([-1, 32, 32, 48, 32, 96]));
    let without = accelerated_with(none, Some([-1, 32, 32, 48, 32, 96]));
    assert_eq!(with, accelerated_with(fast, Some([-1, 32, 32, 48, 32, 96])));
    let graph = tflite::read(&without).unwrap().graphs.remove(0);
    assert_eq!(graph.tensors[2].size_bytes, 0);
    assert_eq!(graph.views.len(), 2);
}

/// What kernels of the runtime ask for that have no kernel here.
#[test]
fn scratch_memory_of_kinds_without_a_kernel() {
    // REDUCE_ALL, MIRROR_PAD, ADD_N.
    for (number, expected) in [(140, vec![4, 16]), (100, vec![4, 4]), (106, vec![8])] {
        let main = Table(vec![
            (0, Tables(vec![tensor(4, 0), tensor(4, 0), tensor(4, 0)])),
            (1, Words(vec![0, 1])),
            (2, Words(vec![2])),
            (3, Tables(vec![operator(0, &[0, 1], &[2])])),
        ]);
        let fields = vec![(1, Tables(vec![code(number)])), (2, Tables(vec![main]))];
        let model = tflite::read(&write(&Table(fields))).unwrap();
        let found = &model.graphs[0].operators[0].scratch_bytes;
        assert_eq!(*found, expected, "{number}");
    }
}

/// The axes of a reduction along none.
#[test]
fn constants_without_elements() {
    const MEAN: u32 = 40;
    let floats = |shape: &[i32]| activation(FLOAT32, shape, None);
    let file = |axes| Model::new(MEAN, vec![floats(&[1, 8]), axes, floats(&[1, 8])]).write();
    let none = file(constant(INT32, &[0], None, &[]));
    let graph = tflite::read(&none).unwrap().graphs.remove(0);
    assert_eq!(graph.inputs, [TensorId(0)]);
    assert_eq!(graph.tensors[1].storage, Storage::Constant);
    let kernel = graph.operators[0].kernel.as_ref();
    assert!(kernel.is_some_and(|kernel| matches!(
        kernel.operator,
        Operator::Reduce(Reduce {
            axes: [false, false, false, false],
            ..
        })
    )));
    assert!(tflite::parameters(&none, 0).unwrap()[0].is_ok());
    assert!(whole_arena(&none, RuntimeKernels::Reference).is_ok());
    // An input without elements, a constant that has none of its elements, and one of an unknown shape.
    for axes in [
        activation(INT32, &[0], None),
        constant(INT32, &[1], None, &[]),
        constant(INT32, &[0, -1], None, &[]),
    ] {
        assert!(tflite::read(&file(axes)).is_err());
    }
}
