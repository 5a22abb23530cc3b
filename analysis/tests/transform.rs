//! Changed graphs against the graphs that they come from: run on numbers, apart and in a plan.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

#[path = "transform/bounds.rs"]
mod bounds;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "schedule/graphs.rs"]
mod graphs;
#[path = "transform/interpreter.rs"]
mod interpreter;
#[path = "transform/networks.rs"]
mod networks;

use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::{Graph, Kind, OperatorId, Storage, TensorId, TensorType, overlaps, zoo};
use dmo_analysis::operator::Operator;
use dmo_analysis::optimise::{ModelPlan, Task, optimise};
use dmo_analysis::schedule::CountedEnds;
use dmo_analysis::trace::AccessKind;
use dmo_analysis::transform::front::{Search, front};
use dmo_analysis::transform::{Recipe, Split, Transformed, apply, in_place, macs};
use dmo_analysis::verify::{Positions, clashes};
use dmo_planner::budget::Budget;
use graphs::Random;
use interpreter::Memory;

fn any_split(graph: &Graph, random: &mut Random) -> Recipe {
    let count = graph.operators.len() as u64;
    let first = random.below(count);
    let end = first + 1 + random.below(count - first);
    let run = (first..end).map(|at| OperatorId(at as usize));
    let slices = first == 0 && random.one_in(2);
    let cached = random.one_in(2);
    let mut part = |most: u64| 1 + random.below(most) as u32;
    Recipe {
        splits: vec![Split {
            operators: run.collect(),
            grid: [part(6), part(4)],
            cached,
        }],
        slices,
        ..Recipe::default()
    }
}

fn outputs(graph: &Graph, memory: &Memory) -> Vec<Vec<u64>> {
    let outputs = graph.outputs.iter();
    outputs.map(|&id| memory.tensor(graph, id)).collect()
}

fn run_apart(graph: &Graph) -> Vec<Vec<u64>> {
    let mut memory = Memory::apart(graph);
    memory.run(graph, &graph.file_order());
    outputs(graph, &memory)
}

fn planned(graph: &Graph, milliseconds: u64) -> ModelPlan {
    let task = Task {
        graph,
        overlaps: &overlaps::analytic(graph),
        layout: Layout::default(),
        reorder: false,
        fixed: &[],
    };
    optimise(
        task,
        &mut Budget::of_seconds(milliseconds as f64 / 1000.0),
        &mut |_| {},
    )
    .unwrap()
}

/// Random networks and splits that can be done, with what comes of them.
fn splits(seed: u64, networks: u64, mut visit: impl FnMut(&Graph, &Recipe, &Transformed)) {
    let mut random = Random(seed);
    let mut done = 0;
    for number in 0..networks {
        let graph = networks::network(seed << 32 | number, 7);
        for _ in 0..4 {
            let recipe = any_split(&graph, &mut random);
            if let Ok(transformed) = apply(&graph, &recipe) {
                done += 1;
                visit(&graph, &recipe, &transformed);
            }
        }
    }
    // Else nothing was tried.
    assert!(done > networks, "{done} of {networks}");
}

/// A run computed tile by tile gives what it gives in one piece, and where bands keep rows, nothing of it
/// is computed twice.
#[test]
fn tiles_compute_the_same() {
    let mut kept = 0;
    splits(1, 1500, |graph, recipe, transformed| {
        let nodes = &transformed.graph.operators;
        kept += (nodes.iter().filter(|node| node.kind == Kind::KeptRows)).count();
        if recipe.splits[0].cached && recipe.splits[0].grid[1] == 1 {
            assert!(macs::of_graph(&transformed.graph) <= macs::of_graph(graph));
        }
        let expected = run_apart(graph);
        assert_eq!(
            run_apart(&transformed.graph),
            expected,
            "{graph:?} {recipe:?}"
        );
    });
    assert!(kept > 300, "rows are kept {kept} times");
}

/// The rows of an input are handed over in order, each at most once, and the input itself is never
/// in the arena.
#[test]
fn rows_of_an_input_come_in_order() {
    let (mut inputs, mut moved) = (0, 0);
    splits(5, 1500, |graph, recipe, transformed| {
        if !recipe.slices {
            return;
        }
        inputs += 1;
        let changed = &transformed.graph;
        let input = changed.inputs[0];
        assert_eq!(changed.tensor(input).storage, Storage::Application);
        let [_, rows, width, depth] = changed.tensor(input).shape[..] else {
            panic!("{recipe:?}");
        };
        let row_bytes = u64::from(width * depth);
        let mut next = 0;
        let handed_over = changed.operators.iter();
        for node in handed_over.filter(|node| node.kind == Kind::InputRows) {
            let new = node.inputs.last().unwrap();
            let range = if *new == input {
                0..u64::from(rows) * row_bytes
            } else {
                assert_eq!(changed.views[new].of, input, "{graph:?} {recipe:?}");
                changed.extent(*new)
            };
            assert!(range.start >= next, "{graph:?} {recipe:?}");
            assert!(range.start.is_multiple_of(row_bytes) && range.end.is_multiple_of(row_bytes));
            next = range.end;
            moved += u64::from(node.inputs.len() == 2);
        }
        assert!(next > 0, "{graph:?} {recipe:?}");
    });
    assert!(
        inputs > 200 && moved > 100,
        "{inputs} inputs, {moved} moves"
    );
}

/// In the plan too, where tensors overlap: the distances of what is stored in pieces are safe.
#[test]
fn planned_tiles_compute_the_same() {
    let mut shared = 0;
    splits(2, 600, |graph, recipe, transformed| {
        let changed = &transformed.graph;
        let plan = planned(changed, 20);
        let offsets = plan.arena.tensor_offsets(&plan.plan);
        let positions = Positions {
            tensors: &offsets,
            scratch: &[],
            keep_inputs: false,
        };
        let order = changed.file_order();
        let overlaps = overlaps::analytic(changed);
        let found = clashes(changed, &order, &overlaps, positions, 3).unwrap();
        assert_eq!(found, [], "{graph:?} {recipe:?}");
        let mut memory = Memory::at(changed, &offsets, plan.arena_bytes as usize);
        memory.run(changed, &order);
        assert_eq!(
            outputs(changed, &memory),
            run_apart(graph),
            "{graph:?} {recipe:?}"
        );
        let apart = plan.arena.problem.without_overlaps();
        shared += u64::from(!plan.plan.check(&apart).is_empty());
    });
    assert!(shared > 300, "{shared} plans make use of overlaps");
}

/// Whatever layout the geometric witness calls safe loses nothing.
#[test]
fn a_safe_layout_of_tiles_loses_no_byte() {
    let mut random = Random(3);
    let (mut safe, mut lost) = (0, 0);
    splits(3, 250, |graph, recipe, transformed| {
        let changed = &transformed.graph;
        let plan = planned(changed, 20);
        let order = changed.file_order();
        let overlaps = overlaps::analytic(changed);
        let expected = run_apart(graph);
        let first = plan.arena.tensor_offsets(&plan.plan);
        for _ in 0..6 {
            let mut offsets = first.clone();
            for (index, offset) in offsets.iter_mut().enumerate() {
                let is_view = changed.views.contains_key(&TensorId(index));
                if let Some(offset) = offset.as_mut().filter(|_| !is_view)
                    && random.one_in(5)
                {
                    *offset = (*offset + random.below(9)).saturating_sub(4);
                }
            }
            let positions = Positions {
                tensors: &offsets,
                scratch: &[],
                keep_inputs: false,
            };
            let found = clashes(changed, &order, &overlaps, positions, 1).unwrap();
            let size = plan.arena_bytes as usize + 16;
            let mut memory = Memory::at(changed, &offsets, size);
            memory.run(changed, &order);
            let same = outputs(changed, &memory) == expected;
            if found.is_empty() {
                safe += 1;
                assert!(same, "{graph:?} {recipe:?} {offsets:?}");
            } else {
                lost += u64::from(!same);
            }
        }
    });
    assert!(safe > 300 && lost > 300, "{safe} safe, {lost} lost");
}

/// Multiply-accumulates are the loads of what convolutions load.
#[test]
fn macs_are_loads() {
    splits(4, 300, |_, _, transformed| {
        for node in &transformed.graph.operators {
            let operator = &node.kernel.as_ref().unwrap().operator;
            let plain = match operator {
                Operator::Pitched(pitched) => &*pitched.operator,
                plain => plain,
            };
            if !matches!(plain, Operator::Conv2d(_) | Operator::DepthwiseConv2d(_)) {
                continue;
            }
            let mut loads = 0;
            operator
                .accesses(|kind, _, _| loads += u64::from(kind == AccessKind::Load))
                .unwrap();
            assert_eq!(macs::of_operator(operator), loads, "{operator:?}");
        }
    });
}

/// No point of a front is beaten by another, and each is what its recipe makes.
#[test]
fn fronts_hold_what_they_say() {
    for (name, slices, cached) in [
        ("mobilenet_v1_0.25_128", false, false),
        ("mobilenet_v1_0.25_128", true, false),
        ("mobilenet_v2_0.35_224", false, false),
        ("mobilenet_v2_0.35_224", false, true),
        ("mobilenet_v2_0.35_224", true, true),
    ] {
        let graph = zoo::find(name).unwrap().build(zoo::Element::Int8);
        let total = macs::of_graph(&graph);
        let order = graph.file_order();
        let search = Search {
            graph: &graph,
            order: &order,
            overlaps: &overlaps::analytic,
            layout: Layout::default(),
            in_place: true,
            remove: Vec::new(),
            bands: true,
            patches: true,
            cached,
            most_extra_macs: total / 10,
            slices,
        };
        let found = front(&search, &mut Budget::of_seconds(10.0), &mut |_, _, _| {}).unwrap();
        if cached {
            let keeps_rows = |recipe: &Recipe| recipe.splits.iter().any(|split| split.cached);
            let mut points = found.points.iter();
            let nothing_again = points.any(|it| it.extra_macs == 0 && keeps_rows(&it.recipe));
            assert!(nothing_again, "{name} {found:?}");
        } else {
            assert!(found.points.len() > 3, "{name} {found:?}");
        }
        for pair in found.points.windows(2) {
            assert!(pair[0].extra_macs < pair[1].extra_macs, "{pair:?}");
            assert!(pair[0].arena_bytes > pair[1].arena_bytes, "{pair:?}");
        }
        for point in &found.points {
            assert_eq!(point.recipe.slices, slices);
            let transformed = apply(&graph, &point.recipe).unwrap();
            let extra = macs::of_graph(&transformed.graph) - total;
            assert_eq!(extra, point.extra_macs);
            assert!(extra <= total / 10);
            let plan = planned(&transformed.graph, 2000);
            assert!(plan.arena_bytes <= point.arena_bytes, "{name} {point:?}");
        }
    }
}

/// Section II-A of Blacker et al.: four bands of the second pointwise convolution and the
/// depthwise one behind it compute 3072 elements twice, of 8 multiply-accumulates each, and need
/// 17 rows of 1024 bytes at a time. The paper has 6144 elements and 18 rows (docs/errata.md).
#[test]
fn the_published_split_of_mobilenet() {
    let graph = zoo::find("mobilenet_v1_0.25_128").unwrap();
    let graph = graph.build(zoo::Element::Int8);
    let recipe = Recipe {
        splits: vec![Split {
            operators: vec![OperatorId(2), OperatorId(3)],
            grid: [4, 1],
            cached: false,
        }],
        ..Recipe::default()
    };
    let changed = apply(&graph, &recipe).unwrap().graph;
    assert_eq!(macs::of_graph(&changed) - macs::of_graph(&graph), 3072 * 8);
    let bands = changed.tensors[graph.tensors.len()..].iter();
    let rows = bands.filter(|tensor| tensor.shape[2..] == [64, 16]);
    let rows: Vec<u32> = rows.map(|tensor| tensor.shape[1]).collect();
    assert_eq!(rows, [17, 17, 17, 16]);
}

/// Figure 11 of the TinyEngine article: MobileNetV2 up to its first output of 28 x 28 in 4 x 4
/// patches, the image not counted (it can be decoded in parts), no overlaps but depthwise
/// convolutions in place behind it: 7.5 times less memory. In place alone would not
/// do, nor would patches alone.
#[test]
fn the_published_patches_of_mobilenet_v2() {
    let graph = zoo::find("mobilenet_v2_1.0_224").unwrap();
    let graph = graph.build(zoo::Element::Int8);
    let needs = |in_place: bool, patches: bool| {
        let can = |id: &OperatorId| {
            let kernel = graph.operators[id.0].kernel.as_ref();
            id.0 > 12 && kernel.is_some_and(|kernel| in_place::in_place(&kernel.operator).is_some())
        };
        let recipe = Recipe {
            in_place: graph
                .file_order()
                .into_iter()
                .filter(|id| in_place && can(id))
                .collect(),
            splits: vec![Split {
                operators: (0..=12).map(OperatorId).collect(),
                grid: if patches { [4, 4] } else { [1, 1] },
                cached: false,
            }],
            ..Recipe::default()
        };
        let changed = apply(&graph, &recipe).unwrap().graph;
        let mut overlaps = overlaps::analytic(&changed);
        for (node, pairs) in changed.operators.iter().zip(&mut overlaps) {
            let kernel = node.kernel.as_ref().map(|kernel| &kernel.operator);
            if !matches!(kernel, Some(Operator::DepthwiseInPlace(_))) {
                pairs.clear();
            }
        }
        let layout = Layout {
            counted: CountedEnds {
                count_graph_inputs: false,
                count_graph_outputs: true,
            },
            ..Layout::default()
        };
        let order = changed.file_order();
        let arena = Arena::new(&changed, &order, &overlaps, layout).unwrap();
        (arena.problem.lower_bound(), macs::of_graph(&changed))
    };
    let [(plain, macs), (patches, more), (in_place, _), (both, _)] = [
        needs(false, false),
        needs(false, true),
        needs(true, false),
        needs(true, true),
    ];
    assert_eq!((plain, in_place), (1_505_280, 1_505_280));
    // 28 x 28 with 192 channels, and twice the 32 on the way around them.
    assert_eq!((patches, both), (326_144, 28 * 28 * (192 + 2 * 32)));
    assert_eq!(1000 * (more - macs) / macs, 93);
}

/// What a recipe says twice, of nothing, or against itself is refused.
#[test]
fn recipes_that_contradict_themselves_are_refused() {
    let graph = zoo::find("mobilenet_v1_0.25_128").unwrap();
    let graph = graph.build(zoo::Element::Int8);
    let in_place = |operators: &[usize]| Recipe {
        in_place: operators.iter().copied().map(OperatorId).collect(),
        ..Recipe::default()
    };
    assert!(apply(&graph, &in_place(&[5])).is_ok());
    let split = |operators: &[usize], grid| Split {
        operators: operators.iter().copied().map(OperatorId).collect(),
        grid,
        cached: false,
    };
    let with = |splits: &[Split], recipe: Recipe| Recipe {
        splits: splits.to_vec(),
        ..recipe
    };
    let plain = Recipe::default;
    let in_rows = || Recipe {
        slices: true,
        ..plain()
    };
    let whole = split(&[4, 5], [2, 1]);
    assert!(apply(&graph, &with(std::slice::from_ref(&whole), plain())).is_ok());
    for recipe in [
        in_place(&[5, 5]),
        in_place(&[usize::MAX]),
        // A convolution, and one whose output is smaller than its input.
        in_place(&[4]),
        in_place(&[3]),
        with(std::slice::from_ref(&whole), in_place(&[5])),
        with(&[whole.clone(), whole.clone()], plain()),
        with(&[whole.clone(), split(&[5, 6], [2, 1])], plain()),
        with(&[split(&[5, 4], [2, 1])], plain()),
        with(&[split(&[4, 6], [2, 1])], plain()),
        with(&[split(&[usize::MAX], [2, 1])], plain()),
        with(&[split(&[], [2, 1])], plain()),
        with(&[split(&[4, 5], [0, 1])], plain()),
        with(&[split(&[4, 5], [u32::MAX, u32::MAX])], plain()),
        // The input of the model is not that of the run.
        with(&[whole], in_rows()),
        in_rows(),
    ] {
        let refused = apply(&graph, &recipe);
        assert!(refused.is_err(), "{recipe:?}");
    }
    let first = split(&[0, 1], [2, 1]);
    assert!(apply(&graph, &with(&[first], in_rows())).is_ok());
    let mut unsigned = graph;
    for tensor in &mut unsigned.tensors {
        tensor.element_type = TensorType::Uint8;
    }
    assert!(apply(&unsigned, &in_place(&[5])).is_err());
}
