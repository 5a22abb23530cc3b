//! Plans of several subgraphs: by execution in the layout, and against TensorFlow Lite Micro.

mod execution;
mod program;

use super::parts::{operator, tensor};
use super::tree::{Part::*, write};
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps;
use dmo_analysis::graph::tflite::{self, Part, RuntimeKernels, TfliteError};
use dmo_analysis::graph::{Storage, TensorId};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::random::SplitMix64;
use dmo_analysis::tflm;
use dmo_analysis::verify::{Positions, clashes};
use dmo_planner::budget::Budget;
use execution::{apart, execute};
use program::{Grower, Operation, Program};
use std::path::Path;
use std::process::Command;

/// A program as a file, a plan of all its subgraphs, and that plan in the file.
struct Planned {
    file: Vec<u8>,
    linked: tflite::Linked,
    offsets: Vec<Option<u64>>,
    planned_file: Vec<u8>,
}

fn plan(program: &Program) -> Planned {
    let file = program.file();
    let model = tflite::read(&file).unwrap();
    let linked = model.linked().unwrap();
    let overlaps = overlaps::analytic(&linked.graph);
    let task = Task {
        graph: &linked.graph,
        overlaps: &overlaps,
        layout: Layout::tflm(),
        reorder: false,
        fixed: &[],
    };
    let planned = optimise(task, &mut Budget::of_work(3000), &mut |_| {}).unwrap();
    let mut offsets = planned.arena.tensor_offsets(&planned.plan);
    let order = linked.graph.file_order();
    let found = clashes(&linked.graph, &order, &overlaps, at(&offsets), 1).unwrap();
    assert_eq!(found, []);
    for (offset, tensor) in offsets.iter_mut().zip(&linked.graph.tensors) {
        // What no inference uses.
        if tensor.storage == Storage::Arena {
            offset.get_or_insert(0);
        }
    }
    let (of_model, graph) = ((&model, &linked), &linked.graph);
    let device = tflm::on_device(&file, of_model, graph, &offsets, false).unwrap();
    assert!(device.scratch_is_apart);
    let words: Vec<i32> = (offsets.iter())
        .map(|offset| offset.map_or(-1, |offset| offset as i32))
        .collect();
    let planned_file = tflite::with_plan(&file, None, &words).unwrap();
    let whole = tflm::whole_arena(&planned_file, RuntimeKernels::Reference).unwrap();
    assert_eq!(whole.head_bytes, device.arena_bytes);
    Planned {
        file,
        linked,
        offsets,
        planned_file,
    }
}

fn at(tensors: &[Option<u64>]) -> Positions<'_> {
    Positions {
        tensors,
        scratch: &[],
        keep_inputs: false,
    }
}

/// Which operations a program has, and whether a subgraph is run from several places.
fn features(program: &Program, linked: &tflite::Linked) -> [bool; 4] {
    let operators = || program.subgraphs.iter().flat_map(|it| &it.operators);
    let has = |is: fn(Operation) -> bool| operators().any(|it| is(it.operation));
    [
        has(|it| matches!(it, Operation::If(..))),
        has(|it| matches!(it, Operation::While(..))),
        has(|it| matches!(it, Operation::CallOnce(_))),
        linked
            .steps
            .iter()
            .any(|step| matches!(step.part, Part::Opaque(_))),
    ]
}

#[test]
fn random_programs_compute_the_same_in_their_plans() {
    let (mut seen, mut smaller) = ([0; 4], 0);
    for seed in 0..400 {
        let program = Grower::program(seed);
        let planned = plan(&program);
        let own = tflm::whole_arena(&planned.file, RuntimeKernels::Reference).unwrap();
        let new = tflm::whole_arena(&planned.planned_file, RuntimeKernels::Reference).unwrap();
        // A plan keeps an input that nothing loads in the first step too, the runtime does not.
        let main = &program.subgraphs[0];
        let is_loaded = |id| main.operators.iter().any(|it| it.inputs.contains(id));
        let all_loaded = main.inputs.iter().all(is_loaded);
        assert!(
            new.head_bytes <= own.head_bytes || !all_loaded,
            "seed {seed}"
        );
        smaller += usize::from(new.head_bytes < own.head_bytes);
        for (count, has) in seen.iter_mut().zip(features(&program, &planned.linked)) {
            *count += usize::from(has);
        }
        for inputs in 0..3 {
            let expected = execute(&program, &apart(&program), inputs);
            let found = execute(&program, &planned.offsets, inputs);
            assert!(expected.is_some() && found == expected, "seed {seed}");
        }
    }
    assert!(seen.iter().all(|&count| count > 40), "{seen:?}");
    assert!(smaller > 100, "{smaller}");
}

/// What geometry has no objection to computes the same, however it came about.
#[test]
fn no_layout_without_a_clash_computes_something_else() {
    let (mut safe, mut unsafe_found) = (0, 0);
    for seed in 0..400 {
        let program = Grower::program(seed);
        let planned = plan(&program);
        let graph = &planned.linked.graph;
        let (order, overlaps) = (graph.file_order(), overlaps::analytic(graph));
        let mut random = SplitMix64::new(seed);
        let placed: Vec<usize> = (0..graph.tensors.len())
            .filter(|&id| graph.in_arena(TensorId(id)))
            .collect();
        for _ in 0..30 {
            let mut offsets = planned.offsets.clone();
            let one = placed[random.below(placed.len())];
            let other = placed[random.below(placed.len())];
            // Where another one lies, or near by.
            let place = offsets[other].unwrap_or(0) + 4 * random.below(5) as u64;
            offsets[one] = Some(place);
            let found = clashes(graph, &order, &overlaps, at(&offsets), 1).unwrap();
            let same = (0..3).all(|inputs| {
                let expected = execute(&program, &apart(&program), inputs);
                execute(&program, &offsets, inputs) == expected
            });
            if found.is_empty() {
                assert!(same, "seed {seed}: tensor {one} at {place}");
                safe += 1;
            }
            unsafe_found += usize::from(!same);
        }
    }
    assert!(safe > 1000 && unsafe_found > 1000, "{safe} {unsafe_found}");
}

/// TensorFlow Lite Micro itself lays the models out as we say, and computes the same with our plans.
#[test]
#[ignore = "needs the Python package tflite-micro"]
fn the_runtime_agrees() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/runtime.py");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let run = |arguments: &[&str]| {
        let output = Command::new("python3").arg(script).args(arguments).output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{arguments:?}: {text}");
        text
    };
    let mut checked = 0;
    for seed in 0..24 {
        let planned = plan(&Grower::program(seed));
        let paths = ["own", "planned"].map(|name| {
            let path = folder.join(format!("subgraphs-{seed}-{name}.tflite"));
            path.to_str().unwrap().to_owned()
        });
        for (path, file) in paths.iter().zip([&planned.file, &planned.planned_file]) {
            std::fs::write(path, file).unwrap();
            let text = run(&["arena", path]);
            let head: u64 = text.split_whitespace().next().unwrap().parse().unwrap();
            let whole = tflm::whole_arena(file, RuntimeKernels::Reference).unwrap();
            assert_eq!(whole.head_bytes, head, "seed {seed}");
        }
        run(&["micro", &paths[0], &paths[1]]);
        checked += 1;
    }
    assert_eq!(checked, 24);
}

#[test]
fn what_runs_itself_is_refused() {
    let mut program = Grower::program(1);
    let flags = [program.subgraphs[0].inputs[0]; 2];
    let last = program.subgraphs.len();
    let mut own = program::Subgraph {
        tensors: vec![program.subgraphs[0].tensors[flags[0]].clone()],
        inputs: vec![0],
        ..program::Subgraph::default()
    };
    own.operators.push(program::Operator {
        operation: Operation::If(last, last),
        inputs: vec![0, 0],
        outputs: Vec::new(),
    });
    program.subgraphs.push(own);
    program.subgraphs[0].operators.push(program::Operator {
        operation: Operation::If(last, last),
        inputs: flags.to_vec(),
        outputs: Vec::new(),
    });
    let model = tflite::read(&program.file()).unwrap();
    assert_eq!(model.linked(), Err(TfliteError::Calls { depth: 64 }));
}

/// The number of a variable lies in the data of `VAR_HANDLE`, but is copied to subgraphs.
#[test]
fn numbers_of_variables_are_not_in_the_arena() {
    let resource = || {
        Table(vec![
            (0, Words(vec![1])),
            (1, Byte(13)),
            (2, Word(0)),
            (3, Text("v")),
        ])
    };
    let code = |number: u32| Table(vec![(0, Byte(number.min(127) as u8)), (3, Word(number))]);
    let main = Table(vec![
        (0, Tables(vec![tensor(4, 0), resource(), tensor(4, 0)])),
        (1, Words(vec![0])),
        (2, Words(vec![2])),
        (
            3,
            Tables(vec![operator(0, &[], &[1]), operator(1, &[1], &[2])]),
        ),
    ]);
    // VAR_HANDLE and READ_VARIABLE.
    let file = write(&Table(vec![
        (0, Word(3)),
        (1, Tables(vec![code(142), code(143)])),
        (2, Tables(vec![main])),
    ]));
    let model = tflite::read(&file).unwrap();
    let [input, handle, value] = &model.graphs[0].tensors[..] else {
        panic!("three tensors");
    };
    assert_eq!(handle.storage, Storage::Variable);
    assert_eq!((handle.size_bytes, value.storage), (4, input.storage));
    let whole = tflm::whole_arena(&file, RuntimeKernels::Reference).unwrap();
    // The input and the value, one after the other.
    assert_eq!(whole.head_bytes, 16);
}
