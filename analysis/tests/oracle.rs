//! What the oracle says is what the planner says, whatever it has been asked before.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test may fail loudly")]

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps;
use dmo_analysis::graph::sketch::{Sketch, SketchError, Step};
use dmo_analysis::graph::zoo::{Element, NETWORKS, find};
use dmo_analysis::graph::{Graph, Kind, TensorId, TensorType};
use dmo_analysis::operator::{Conv2d, Elementwise, Operator, Svdf, Window};
use dmo_analysis::optimise::{Certificate, Task, optimise};
use dmo_analysis::oracle::{Oracle, OracleRequest};
use dmo_planner::budget::Budget;

/// The networks whose plans are quick.
fn networks() -> impl Iterator<Item = Graph> {
    let small = NETWORKS.iter().filter(|network| {
        let name = network.name;
        name.starts_with("mobilenet") || ["person_detection", "blazeface"].contains(&name)
    });
    let elements = [Element::Int8, Element::Float32];
    small.flat_map(move |network| elements.map(|element| network.build(element)))
}

#[test]
fn an_oracle_that_has_seen_much_says_what_a_new_one_says() {
    let mut oracle = Oracle::default();
    let mut seen = 0;
    for graph in networks() {
        let needs = oracle.ask(&graph).unwrap();
        assert_eq!(
            needs,
            Oracle::default().ask(&graph).unwrap(),
            "{}",
            graph.name
        );
        assert_eq!(needs, oracle.ask(&graph).unwrap(), "{}", graph.name);
        seen += 1;
    }
    assert!(seen > 70, "{seen} networks");
}

#[test]
fn a_candidate_needs_what_its_plan_needs() {
    let mut oracle = Oracle::default();
    let mut seen = 0;
    for graph in networks() {
        let needs = oracle.ask(&graph).unwrap();
        let overlaps = overlaps::analytic(&graph);
        let task = Task {
            graph: &graph,
            overlaps: &overlaps,
            layout: Layout::tflm(),
            reorder: false,
            fixed: &[],
        };
        let planned = optimise(task, &mut Budget::of_seconds(0.5), &mut |_| {}).unwrap();
        assert!(needs.bound_bytes <= planned.bound_bytes, "{}", graph.name);
        assert!(planned.arena_bytes <= needs.peak_bytes, "{}", graph.name);
        if needs.certificate != Certificate::BestFound {
            assert_eq!(needs.peak_bytes, planned.arena_bytes, "{}", graph.name);
        }
        seen += 1;
    }
    assert!(seen > 70, "{seen} networks");
}

#[test]
fn the_peak_is_in_use_and_in_the_arena() {
    for graph in networks() {
        let needs = Oracle::default().ask(&graph).unwrap();
        let all: u64 = needs.peak.iter().map(|buffer| buffer.size_bytes).sum();
        assert!((1..=all).contains(&needs.used_bytes));
        assert!(needs.used_bytes <= needs.peak_bytes);
        let end = |offset: u64, size: u64| offset + size <= needs.peak_bytes;
        assert!(
            needs
                .peak
                .iter()
                .all(|it| end(it.offset_bytes, it.size_bytes))
        );
        // Sizes are rounded up to the alignment.
        for (tensor, size) in needs
            .peak
            .iter()
            .filter_map(|it| Some((it.tensor?, it.size_bytes)))
        {
            assert!((size - 15..=size).contains(&graph.tensor(tensor).size_bytes));
        }
    }
}

#[test]
fn figures_of_a_known_network() {
    let graph = find("person_detection").unwrap().build(Element::Int8);
    let apart = OracleRequest {
        overlap: false,
        ..OracleRequest::default()
    };
    assert_eq!(Oracle::default().ask(&graph).unwrap().peak_bytes, 36_880);
    assert_eq!(Oracle::new(apart).ask(&graph).unwrap().peak_bytes, 55_296);
    let tiled = Oracle::default().ask_tiled(&graph, 10.0, 5.0).unwrap();
    assert!(tiled.peak_bytes < 36_880 && tiled.runs > 0);
    assert!(tiled.extra_macs * 10 <= tiled.macs);
}

fn conv(input: [u32; 4], channels: u32) -> Operator {
    Operator::Conv2d(Conv2d {
        input,
        output: [input[0], input[1], input[2], channels],
        window: Window::default(),
        groups: 1,
        element_bytes: 1,
    })
}

fn step(operator: Operator, inputs: &[TensorId]) -> Step<'_> {
    Step {
        kind: Kind::Conv2d,
        operator,
        inputs,
        output_type: TensorType::Int8,
    }
}

#[test]
fn a_sketch_refuses_what_does_not_fit_together() {
    let mut sketch = Sketch::new("wrong");
    let image = sketch
        .input("image", &[1, 4, 4, 3], TensorType::Int8)
        .unwrap();
    let wrong = [
        sketch.add(step(conv([1, 4, 4, 4], 8), &[image])),
        sketch.add(step(conv([1, 4, 4, 3], 8), &[])),
        sketch.add(step(conv([1, 4, 4, 3], 0), &[image])),
        sketch.add(step(conv([1, 4, 4, 3], 8), &[TensorId(7)])),
        sketch.add(Step {
            output_type: TensorType::Int16,
            ..step(conv([1, 4, 4, 3], 8), &[image])
        }),
    ];
    assert!(matches!(
        wrong,
        [
            Err(SketchError::InputSize { .. }),
            Err(SketchError::InputCount { .. }),
            Err(SketchError::Shape(_)),
            Err(SketchError::NoTensor { .. }),
            Err(SketchError::OutputType { .. }),
        ]
    ));
    assert!(sketch.graph().operators.is_empty());
    assert_eq!(sketch.clone().finish(&[]), Err(SketchError::NoOutputs));
    assert!(
        sketch
            .input("huge", &[1 << 31, 2], TensorType::Int8)
            .is_err()
    );
}

/// One layer is changed at a time: what is remembered of the others does not change the answer.
#[test]
fn a_changed_layer_changes_the_answer_as_a_new_network_would() {
    let chain = |channels: &[u32]| {
        let mut sketch = Sketch::new("chain");
        let mut shape = [1, 16, 16, 3];
        let mut last = sketch.input("image", &shape, TensorType::Int8).unwrap();
        for &count in channels {
            let added = sketch.add(step(conv(shape, count), &[last])).unwrap();
            (last, shape[3]) = (added[0], count);
        }
        sketch.finish(&[last]).unwrap()
    };
    let mut oracle = Oracle::default();
    let mut channels = vec![8; 12];
    let mut answers = Vec::new();
    for changed in 0..channels.len() {
        channels[changed] = 8 + 4 * changed as u32;
        let graph = chain(&channels);
        let needs = oracle.ask(&graph).unwrap();
        assert_eq!(needs, Oracle::default().ask(&graph).unwrap());
        answers.push(needs.peak_bytes);
    }
    answers.dedup();
    assert!(answers.len() > 8, "{answers:?}");
}

/// The scratch memory of `SVDF`, int8: 4 bytes for each filter and for each unit.
#[test]
fn scratch_memory_counts() {
    let mut sketch = Sketch::new("svdf");
    let input = sketch.input("frame", &[1, 64], TensorType::Int8).unwrap();
    let svdf = Operator::Svdf(Svdf {
        batches: 1,
        input_depth: 64,
        units: 16,
        rank: 2,
        input_element_bytes: 1,
        output_element_bytes: 1,
    });
    let inputs = [input];
    let step = Step {
        kind: Kind::Svdf,
        ..step(svdf, &inputs)
    };
    let output = sketch.add(step).unwrap();
    let elementwise = Operator::Elementwise(Elementwise {
        elements: 16,
        input_element_bytes: 1,
        output_element_bytes: 1,
    });
    let output = sketch
        .add(Step {
            kind: Kind::Relu,
            operator: elementwise,
            inputs: &output,
            output_type: TensorType::Int8,
        })
        .unwrap();
    let graph = sketch.finish(&output).unwrap();
    assert_eq!(graph.operators[0].scratch_bytes, [128, 64]);
    let apart = OracleRequest {
        overlap: false,
        ..OracleRequest::default()
    };
    assert_eq!(
        Oracle::new(apart).ask(&graph).unwrap().peak_bytes,
        64 + 16 + 128 + 64
    );
}
