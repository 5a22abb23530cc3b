//! Plans for others: what is written is read back, compiles as C, and is what TensorFlow Lite
//! Micro makes of it.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "handover/executorch.rs"]
mod executorch;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "schedule/graphs.rs"]
mod graphs;
#[path = "handover/st_edge.rs"]
mod st_edge;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::{Graph, OperatorId, Storage, TensorId};
use dmo_analysis::handover::{PlanFile, on_device};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::verify::{Positions, clashes};
use dmo_planner::budget::Budget;
use graphs::Random;
use std::path::Path;
use std::process::Command;

fn plan_file(graph: &Graph, random: &mut Random, name: &str) -> PlanFile {
    let overlaps = graphs::overlaps(graph, random);
    let task = Task {
        graph,
        overlaps: &overlaps,
        layout: Layout::default(),
        reorder: true,
        fixed: &[],
    };
    let planned = optimise(task, &mut Budget::of_seconds(0.01), &mut |_| {}).unwrap();
    PlanFile::new(name, None, "analytic", task, &planned)
}

#[test]
fn plans_are_read_back_as_written() {
    let mut random = Random(1);
    for _ in 0..300 {
        let graph = graphs::any(&mut random, 6);
        let file = plan_file(&graph, &mut random, "any \"model\"\n.tflite");
        let text = serde_json::to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<PlanFile>(&text).unwrap(), file);
    }
}

#[test]
fn unknown_and_missing_fields_are_refused() {
    let mut random = Random(2);
    let mut refused = 0;
    for _ in 0..100 {
        let graph = graphs::any(&mut random, 6);
        let file = plan_file(&graph, &mut random, "model.tflite");
        let value = serde_json::to_value(&file).unwrap();
        for place in ["", "/layout", "/tensors/0", "/scratch/0", "/overlaps/0"] {
            let mut more = value.clone();
            let Some(object) = more.pointer_mut(place).and_then(|at| at.as_object_mut()) else {
                continue;
            };
            object.insert("colour".to_owned(), "blue".into());
            let read = serde_json::from_value::<PlanFile>(more);
            assert!(read.is_err(), "{place} {value}");
            refused += 1;
        }
        for field in ["schema", "order", "tensors", "certificate"] {
            let mut less = value.clone();
            less.as_object_mut().unwrap().remove(field);
            assert!(serde_json::from_value::<PlanFile>(less).is_err());
        }
    }
    assert!(refused > 250, "{refused}");
}

const NAMES: &[&str] = &[
    "model.tflite",
    "",
    "1.tflite",
    "_Reserved",
    "*/ #error */",
    "/* nested /* // \\",
    "a\\\nb\u{0}c",
    "??/\n??=",
    "Größe \u{202e}tnemmoc",
    "int",
    "\u{feff}\u{2028}name%d\"'",
];

#[test]
fn headers_compile_whatever_the_names() {
    if Command::new("gcc").arg("--version").output().is_err() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("headers");
    std::fs::create_dir_all(&folder).unwrap();
    let mut random = Random(3);
    let mut program = String::new();
    for (index, name) in NAMES.iter().enumerate() {
        let mut graph = graphs::any(&mut random, 6);
        for (tensor, name) in graph.tensors.iter_mut().zip(NAMES.iter().cycle()) {
            tensor.name = (*name).to_owned();
        }
        let file = plan_file(&graph, &mut random, name);
        for tensors in [graph.tensors.len(), 0] {
            let header = format!("plan_{index}_{tensors}.h");
            std::fs::write(folder.join(&header), file.c_header(tensors)).unwrap();
            program = format!("#include \"{header}\"\nint main(void) {{ return 0; }}\n");
            std::fs::write(folder.join("main.c"), &program).unwrap();
            let output = Command::new("gcc")
                .args([
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-std=c99",
                    "-fsyntax-only",
                    "main.c",
                ])
                .current_dir(&folder)
                .output()
                .unwrap();
            let problem = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name:?}: {problem}");
        }
    }
    assert!(!program.is_empty());
}

/// A buffer as TensorFlow Lite Micro's planner is told of it; uses are inclusive.
struct Request {
    size: u64,
    first: usize,
    last: usize,
    offline: Option<u64>,
}

/// Offline offsets as they are; then the largest first, of equals the one added last, each
/// at the lowest address at which nothing that is used at the same time is in the way.
fn greedy(requests: &[Request]) -> Vec<u64> {
    let mut offsets: Vec<Option<u64>> = requests.iter().map(|request| request.offline).collect();
    while let Some(next) = (0..requests.len())
        .filter(|&index| offsets[index].is_none())
        .max_by_key(|&index| (requests[index].size, index))
    {
        let Request {
            size, first, last, ..
        } = requests[next];
        let free = |offset: &u64| {
            requests.iter().zip(&offsets).all(|(other, placed)| {
                let together = other.first <= last && first <= other.last;
                let clear = |placed: u64| placed >= offset + size || *offset >= placed + other.size;
                !together || placed.is_none_or(clear)
            })
        };
        offsets[next] = (0..).step_by(16).find(free);
    }
    offsets.into_iter().flatten().collect()
}

/// Tensors in the file's order, then scratch buffers; inputs from time 0, operators from 1.
fn requests(
    graph: &Graph,
    given: &[Option<u64>],
) -> (Vec<TensorId>, Vec<OperatorId>, Vec<Request>) {
    let (mut tensors, mut scratch, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let rounded = |bytes: u64| bytes.next_multiple_of(16);
    for (index, tensor) in graph.tensors.iter().enumerate() {
        let id = TensorId(index);
        if tensor.storage != Storage::Arena || tensor.size_bytes == 0 {
            continue;
        }
        let mut uses: Vec<usize> = Vec::new();
        for (operator, node) in graph.operators.iter().enumerate() {
            if node.inputs.contains(&id) || node.outputs.contains(&id) {
                uses.push(operator + 1);
            }
        }
        if graph.inputs.contains(&id) {
            uses.push(0);
        }
        if graph.outputs.contains(&id) {
            uses.push(graph.operators.len());
        }
        let (Some(&first), Some(&last)) = (uses.iter().min(), uses.iter().max()) else {
            continue;
        };
        tensors.push(id);
        found.push(Request {
            size: rounded(tensor.size_bytes),
            first,
            last,
            offline: given[index],
        });
    }
    for (operator, node) in graph.operators.iter().enumerate() {
        for &bytes in node.scratch_bytes.iter().filter(|&&bytes| bytes > 0) {
            scratch.push(OperatorId(operator));
            found.push(Request {
                size: rounded(bytes),
                first: operator + 1,
                last: operator + 1,
                offline: None,
            });
        }
    }
    (tensors, scratch, found)
}

/// Operators that can run next, drawn at random; those with variables keep their order.
fn some_order(graph: &Graph, random: &mut Random) -> Vec<OperatorId> {
    let stateful = |operator: usize| {
        let inputs = &graph.operators[operator].inputs;
        let mut storage = inputs.iter().map(|id| graph.tensor(*id).storage);
        storage.any(|storage| storage == Storage::Variable)
    };
    let needs = |later: usize, earlier: usize| {
        let (one, other) = (&graph.operators[later], &graph.operators[earlier]);
        one.inputs.iter().any(|id| other.outputs.contains(id))
            || earlier < later && stateful(earlier) && stateful(later)
    };
    let mut left: Vec<usize> = (0..graph.operators.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let place = random.below(left.len() as u64) as usize;
        if !left.iter().any(|&other| needs(left[place], other)) {
            order.push(OperatorId(left.remove(place)));
        }
    }
    order
}

#[test]
fn the_device_is_simulated_as_its_planner_behaves() {
    let mut random = Random(4);
    let (mut compared, mut unread) = (0, 0);
    for _ in 0..3000 {
        let mut graph = graphs::any(&mut random, 8);
        for tensor in &mut graph.tensors {
            tensor.size_bytes *= 5;
        }
        // In real models what is read is stored by someone.
        let read = |id: TensorId| {
            let mut nodes = graph.operators.iter();
            nodes.any(|node| node.inputs.contains(&id)) || graph.outputs.contains(&id)
        };
        let written = |id: TensorId| {
            let mut nodes = graph.operators.iter();
            nodes.any(|node| node.outputs.contains(&id)) || graph.inputs.contains(&id)
        };
        let ids: Vec<TensorId> = (0..graph.tensors.len()).map(TensorId).collect();
        if ids.iter().any(|id| graph.in_arena(*id) && !written(*id)) {
            continue;
        }
        let has_unread = graph.inputs.iter().any(|id| !read(*id));
        let keep_inputs = random.one_in(2);
        unread += u32::from(has_unread);
        let given: Vec<Option<u64>> = ids
            .iter()
            .map(|_| random.one_in(3).then(|| 16 * random.below(8)))
            .collect();
        // A reordered file is what it is given.
        let order = some_order(&graph, &mut random);
        let operators = order.iter().map(|id| graph.operators[id.0].clone());
        let file = Graph {
            operators: operators.collect(),
            ..graph.clone()
        };
        let (tensors, scratch, requests) = requests(&file, &given);
        let expected = greedy(&requests);
        let device = on_device(&graph, &order, &given, keep_inputs).unwrap();
        let placed = tensors.iter().map(|id| device.tensors[id.0].unwrap());
        let scratch_placed = device.scratch.iter().map(|&(_, offset, _)| offset);
        let owners: Vec<OperatorId> = scratch.iter().map(|at| order[at.0]).collect();
        let device_owners: Vec<OperatorId> = device.scratch.iter().map(|at| at.0).collect();
        assert_eq!(device_owners, owners);
        let offsets: Vec<u64> = placed.chain(scratch_placed).collect();
        // Where inputs need not be kept, those that nothing reads stay for the first step.
        let is_exact = keep_inputs || !has_unread;
        if is_exact {
            assert_eq!(offsets, expected, "{graph:?} {given:?}");
        }
        let ends = requests.iter().zip(&expected);
        let ends = ends.map(|(request, offset)| offset + request.size);
        let taken = ends.max().unwrap_or(0);
        assert!(device.arena_bytes == taken || !is_exact && device.arena_bytes > taken);
        compared += 1;
    }
    assert!(compared > 500 && unread > 100, "{compared} {unread}");
}

/// TensorFlow Lite Micro does not know that inputs are to be kept: what it places itself may lie
/// over one. The check that shares nothing with planners says the same.
#[test]
fn what_it_places_over_a_kept_input_is_noticed() {
    let mut random = Random(11);
    let (mut safe, mut over_input) = (0, 0);
    for round in 0..2000 {
        let graph = graphs::any(&mut random, 6);
        let overlaps = graphs::overlaps(&graph, &mut random);
        for keep_inputs in [false, true] {
            let layout = Layout {
                keep_inputs,
                ..Layout::tflm()
            };
            let task = Task {
                graph: &graph,
                overlaps: &overlaps,
                layout,
                reorder: true,
                fixed: &[],
            };
            let planned = optimise(task, &mut Budget::of_work(10_000), &mut |_| {}).unwrap();
            let offsets = planned.arena.tensor_offsets(&planned.plan);
            let device = on_device(&graph, &planned.order, &offsets, keep_inputs).unwrap();
            let positions = Positions {
                tensors: &device.tensors,
                scratch: &device.scratch,
                keep_inputs,
            };
            let found = clashes(&graph, &planned.order, &overlaps, positions, 1).unwrap();
            let place = format!("round {round}, {keep_inputs}: {graph:?}");
            assert_eq!(
                device.scratch_is_apart,
                found.is_empty(),
                "{place} {found:?}"
            );
            assert_eq!(device.clash.is_none(), found.is_empty(), "{place}");
            safe += u32::from(found.is_empty());
            over_input += u32::from(keep_inputs && !found.is_empty());
        }
    }
    assert!(
        safe > 1000 && over_input > 20,
        "{safe} safe, {over_input} not"
    );
}
