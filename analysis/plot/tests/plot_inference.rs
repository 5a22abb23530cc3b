//! Pictures of whole inferences, from the accesses of the reference kernels' loops.
//!
//! Set `DMO_PLOT_DIR` to a folder to keep the pictures and look at them.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[allow(dead_code, reason = "the tests of traces use the rest")]
#[path = "plot/picture.rs"]
mod picture;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{Overlaps, analytic, none};
use dmo_analysis::graph::zoo::{Element, find};
use dmo_analysis::graph::{
    Graph, GraphTensor, Kernel, Node, OperatorId, Storage, TensorId, TensorType,
};
use dmo_analysis::operator::{Conv2d, Operator, Window};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::profile::{Observer, Profile, Profiler};
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Role, Span, Tensor, Time, TraceSink,
};
use dmo_planner::budget::Budget;
use dmo_plot::{Canvas, Figure, InferencePanel, draw_inferences};
use picture::{Pixels, check, keep, panels};

const ARENA: u32 = 0x2000_0000;
const LOAD: &str = "#CF222E";
const STORE: &str = "#1F5FBF";
const UPDATE: &str = "#3FAE49";
const IN_USE: &str = "#D6D6D6";

fn tensor(name: &str, role: Role, offset: u32, size_bytes: u32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        role,
        address: Address(ARENA + offset),
        size_bytes,
        element_type: ElementType::Int8,
    }
}

/// A model in an arena.
struct Inference {
    graph: Graph,
    order: Vec<OperatorId>,
    offsets: Vec<Option<u64>>,
    arena_bytes: u64,
}

impl Inference {
    fn planned(graph: &Graph, overlaps: &Overlaps) -> Self {
        let task = Task {
            graph,
            overlaps,
            layout: Layout::default(),
            reorder: false,
            fixed: &[],
        };
        let planned = optimise(task, &mut Budget::of_seconds(0.3), &mut |_| {}).unwrap();
        Self {
            graph: graph.clone(),
            offsets: planned.arena.tensor_offsets(&planned.plan),
            order: planned.order,
            arena_bytes: planned.arena_bytes,
        }
    }

    /// Layer by layer, an instruction for each access to the arena.
    fn run(&self, sink: &mut dyn TraceSink) {
        let mut time = 0;
        for operator in &self.order {
            let node = &self.graph.operators[operator.0];
            let kernel = node.kernel.as_ref().unwrap();
            let mut tensors: Vec<(TensorId, Tensor)> = Vec::new();
            for (role, ids) in [(Role::Input, &node.inputs), (Role::Output, &node.outputs)] {
                for id in ids {
                    if let Some(offset) = self.offsets[id.0] {
                        let size = self.graph.tensor(*id).size_bytes as u32;
                        let name = format!("t{}", id.0);
                        tensors.push((*id, tensor(&name, role, offset as u32, size)));
                    }
                }
            }
            let layer = Layer {
                span: Span::Layer,
                name: node.kind.to_string(),
                operator: node.kind.to_string(),
                tensors: tensors.iter().map(|(_, tensor)| tensor.clone()).collect(),
            };
            sink.begin_layer(&layer, time);
            let buffers = kernel.operator.buffers().unwrap();
            let access = |kind, index: usize, position: u32| {
                let (id, buffer) = match kind {
                    AccessKind::Load => (kernel.inputs[index], buffers.inputs[index]),
                    AccessKind::Store => (kernel.outputs[index], buffers.outputs[index]),
                };
                let own = tensors.iter().position(|&(other, _)| other == id);
                if let Some(own) = own {
                    time += 1;
                    sink.events(&[Event {
                        time,
                        pc: Address(0x800_0000),
                        offset: position * buffer.element_bytes,
                        tensor: own as u16,
                        size_bytes: buffer.element_bytes as u8,
                        kind,
                    }]);
                }
            };
            kernel.operator.accesses(access).unwrap();
            time += 1;
            sink.end_layer(time);
        }
    }

    fn profile(&self) -> Profile {
        let mut profiler = Profiler::<()>::default();
        self.run(&mut profiler);
        profiler.finish().0
    }

    fn canvas<'p>(&self, profile: &'p Profile) -> Canvas<'p> {
        let canvas = Canvas::of_memory(profile, Address(ARENA), self.arena_bytes as u32);
        let mut profiler = Profiler::with_observer(canvas);
        self.run(&mut profiler);
        profiler.finish().1
    }
}

fn before_and_after(name: &str, graph: &Graph) -> Figure {
    let plans = [none(graph), analytic(graph)].map(|overlaps| Inference::planned(graph, &overlaps));
    let profiles = [0, 1].map(|index| plans[index].profile());
    let canvases = [0, 1].map(|index| plans[index].canvas(&profiles[index]));
    let panels = [
        InferencePanel {
            title: "no overlap",
            canvas: &canvases[0],
        },
        InferencePanel {
            title: "with overlaps",
            canvas: &canvases[1],
        },
    ];
    let figure = draw_inferences(name, &panels).unwrap();
    for (plan, title) in plans.iter().zip(["no overlap", "with overlaps"]) {
        let bytes = dmo_analysis::wording::grouped(plan.arena_bytes);
        assert!(figure.svg.contains(&format!("{title}: {bytes} bytes")));
    }
    figure
}

/// All of the layers have their names, no output that lies on a dead input is an update, and
/// above the second arena there is nothing.
#[test]
fn a_network_before_and_after() {
    let graph = find("mobilenet_v1_0.25_128").unwrap().build(Element::Int8);
    let title = "MobileNet v1 0.25 128, int8: an inference in its tensor arena";
    let figure = before_and_after(title, &graph);
    check(&figure);
    keep("inference", &figure);
    for (number, node) in (0..).zip(&graph.operators) {
        let start = format!("{number} {}", &node.kind.name()[..4]);
        assert!(figure.svg.contains(&start), "{start}");
    }
    assert!(figure.svg.contains("with overlaps: 65,"));
    assert!(figure.svg.contains("% saved"));
    let frames = panels(&figure);
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[0].2, frames[1].2);
    let pixels = Pixels::of(&figure);
    for (x, y, width, height) in frames {
        let all = || (x..x + width).flat_map(|x| (y..y + height).map(move |y| (x, y)));
        for (colour, least) in [(LOAD, 2000), (STORE, 500), (IN_USE, 5000)] {
            let count = all().filter(|&(x, y)| pixels.at(x, y) == colour).count();
            assert!(count > least, "{count} of {colour}");
        }
        let updates = all().filter(|&(x, y)| pixels.at(x, y) == UPDATE).count();
        assert_eq!(updates, 0);
    }
}

/// A chain of convolutions 1x1 with so many channels.
fn convolutions(depths: &[u32]) -> Graph {
    let shape = |&depth: &u32| [1, 8, 8, depth];
    let tensor = |(index, depth): (usize, &u32)| GraphTensor {
        name: format!("t{index}"),
        shape: shape(depth).to_vec(),
        element_type: TensorType::Int8,
        size_bytes: 64 * u64::from(*depth),
        storage: Storage::Arena,
    };
    let node = |(index, depths): (usize, &[u32])| Node {
        kind: "CONV_2D".into(),
        inputs: vec![TensorId(index)],
        outputs: vec![TensorId(index + 1)],
        kernel: Some(Kernel {
            operator: Operator::Conv2d(Conv2d {
                input: shape(&depths[0]),
                output: shape(&depths[1]),
                window: Window {
                    kernel: [1; 2],
                    stride: [1; 2],
                    dilation: [1; 2],
                    padding_before: [0; 2],
                },
                groups: 1,
                element_bytes: 1,
            }),
            inputs: vec![TensorId(index)],
            outputs: vec![TensorId(index + 1)],
        }),
        scratch_bytes: Vec::new(),
    };
    Graph {
        name: "chain".into(),
        tensors: depths.iter().enumerate().map(tensor).collect(),
        operators: depths.windows(2).enumerate().map(node).collect(),
        inputs: vec![TensorId(0)],
        outputs: vec![TensorId(depths.len() - 1)],
        ..Graph::default()
    }
}

/// Of very many layers those with room for it have a name, near to where they are.
#[test]
fn many_layers() {
    let chain = |count: u32| -> Vec<u32> {
        (0..count)
            .map(|index| 1 + index * index % 23 + 400 / (index + 8))
            .collect()
    };
    for count in [30, 65, 91, 300] {
        let figure = before_and_after(&format!("{count} layers"), &convolutions(&chain(count)));
        check(&figure);
        keep("chain", &figure);
        let names = figure.svg.matches(" CONV_2D").count();
        assert!(names > 20, "{names}");
    }
}

/// Notes what is in use.
#[derive(Default)]
struct InUse(Vec<(u32, u32, Time, Time)>);

impl Observer for InUse {
    fn in_use(&mut self, address: Address, size_bytes: u32, from: Time, to: Time) {
        self.0.push((address.0 - ARENA, size_bytes, from, to));
    }
}

/// In one layer an output over its input: from the first moment the input is in use, byte by
/// byte until it is loaded, and each byte of the output from its store on.
#[test]
fn an_output_over_its_input_is_stored_not_updated() {
    let layer = |input, output| Layer {
        span: Span::Layer,
        name: "relu".into(),
        operator: "relu".into(),
        tensors: vec![
            tensor("in", Role::Input, input, 4),
            tensor("out", Role::Output, output, 4),
        ],
    };
    let mut profiler = Profiler::with_observer(InUse::default());
    let mut time = 10;
    for (input, output) in [(1, 0), (0, 0)] {
        profiler.begin_layer(&layer(input, output), time);
        for offset in 0..4 {
            for (tensor, kind) in [(0, AccessKind::Load), (1, AccessKind::Store)] {
                time += 1;
                profiler.events(&[Event {
                    time,
                    pc: Address(4),
                    offset,
                    tensor,
                    size_bytes: 1,
                    kind,
                }]);
            }
        }
        profiler.end_layer(time);
    }
    let (profile, mut seen) = profiler.finish();
    for layer in &profile.layers {
        assert_eq!(layer.tensors[1].updates, 0);
        assert_eq!(layer.tensors[1].stores, 4);
    }
    seen.0.sort_unstable();
    let expected = [
        // The first input, loaded at 11, 13, 15, 17; the middle layer's values, stored at
        // 12, 14, 16, 18 and loaded at 19, 21, 23, 25; the last ones, to the end.
        (0, 1, 12, 19),
        (0, 1, 20, 26),
        (1, 1, 10, 11),
        (1, 1, 14, 21),
        (1, 1, 22, 26),
        (2, 1, 10, 13),
        (2, 1, 16, 23),
        (2, 1, 24, 26),
        (3, 1, 10, 15),
        (3, 1, 18, 25),
        (4, 1, 10, 17),
    ];
    // The last byte is stored when all ends.
    assert_eq!(seen.0, expected);
}

/// Nothing to draw, or one inference only.
#[test]
fn few_panels_are_drawn_too() {
    let profile = Profile::default();
    let canvas = Canvas::of_memory(&profile, Address(ARENA), 0);
    let empty = InferencePanel {
        title: "nothing",
        canvas: &canvas,
    };
    for panels in [vec![], vec![empty], vec![empty; 3]] {
        check(&draw_inferences("empty", &panels).unwrap());
    }
    check(&draw_inferences(&"long <title> & more ".repeat(20), &[empty]).unwrap());
}
