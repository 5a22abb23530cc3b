//! A tensor lies where its elements may lie, whoever asks for the plan: a float at an odd address
//! makes a real core fault. No caller asks for more than byte alignment here.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::overlaps;
use dmo_analysis::graph::{
    Graph, GraphTensor, Kernel, Node, Storage, TensorId, TensorType, tflite,
};
use dmo_analysis::operator::{Concat, Operator};
use dmo_planner::plan::STRATEGIES;
use dmo_planner::problem::{Buffer, Problem};
use dmo_planner::regions::ArenaRegion;
use dmo_trace::study::Session;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::emit::Emission;
use dmo_trace::study::examine::{ExamineRequest, PlanOrigin};
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::others::LoopOrderCost;
use dmo_trace::study::overlap_source::{OverlapKind, OverlapRequest};
use dmo_trace::study::plan::{PlanRequest, Planned, plan};
use dmo_trace::study::plan_file::NamedPlan;
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::regions::{RegionRequest, place_model};
use dmo_trace::study::savings::{SavingsRequest, savings};
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// Pixels of three channels: sizes in bytes that are odd, or no multiples of four.
const PIXELS: [u32; 4] = [1, 5, 6, 7];

/// No search of so small a model needs longer.
const TIME: Duration = Duration::from_secs(2);

/// Bytes, floats and bytes again, in two branches that are alive at the same time.
fn mixed(pixels: u32) -> Graph {
    let mut graph = Graph {
        name: format!("mixed_{pixels}"),
        ..Graph::default()
    };
    let mut tensor = |name: &str, channels: u32, element_type: TensorType| {
        let shape = vec![1, 1, pixels, channels];
        let elements = u64::from(pixels * channels);
        graph.tensors.push(GraphTensor {
            name: name.to_owned(),
            shape,
            element_type,
            size_bytes: elements * element_type.bits().unwrap() / 8,
            storage: Storage::Arena,
        });
        TensorId(graph.tensors.len() - 1)
    };
    let [int8, float32] = [TensorType::Int8, TensorType::Float32];
    let input = tensor("input", 3, int8);
    let relu = tensor("relu", 3, int8);
    let wide = tensor("wide", 3, float32);
    let logistic = tensor("logistic", 3, float32);
    let sum = tensor("sum", 3, float32);
    let narrow = tensor("narrow", 3, int8);
    let both = tensor("both", 6, int8);
    let nodes = [
        ("RELU", vec![input], relu),
        ("DEQUANTIZE", vec![relu], wide),
        ("LOGISTIC", vec![wide], logistic),
        ("ADD", vec![logistic, wide], sum),
        ("QUANTIZE", vec![sum], narrow),
        ("CONCATENATION", vec![narrow, relu], both),
    ];
    graph.operators = nodes
        .map(|(kind, inputs, output)| Node {
            kind: kind.into(),
            inputs,
            outputs: vec![output],
            kernel: None,
            scratch_bytes: Vec::new(),
        })
        .into();
    let concat = graph.operators.last_mut().unwrap();
    concat.kernel = Some(Kernel {
        operator: Operator::Concat(Concat {
            inputs: vec![[1, 1, pixels, 3]; 2],
            axis: 3,
            element_bytes: 1,
        }),
        inputs: concat.inputs.clone(),
        outputs: concat.outputs.clone(),
    });
    graph.inputs = vec![input];
    graph.outputs = vec![both, sum];
    graph
}

struct Models {
    folder: TempDir,
}

impl Models {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for pixels in PIXELS {
            let file = tflite::export(&mixed(pixels), 1).unwrap();
            std::fs::write(folder.path().join(format!("{pixels}.tflite")), file).unwrap();
        }
        Self { folder }
    }

    fn path(&self, pixels: u32) -> PathBuf {
        self.folder.path().join(format!("{pixels}.tflite"))
    }

    fn source(&self, pixels: u32) -> Source {
        let source = Source::load(self.path(pixels).to_str().unwrap()).unwrap();
        let known = source.graph().operators.iter();
        assert_eq!(known.filter(|node| node.kernel.is_some()).count(), 6);
        source
    }

    fn all(&self) -> impl Iterator<Item = (u32, Source)> {
        PIXELS.iter().map(|&pixels| (pixels, self.source(pixels)))
    }
}

fn bytewise() -> Layout {
    Layout {
        alignment: 1,
        round_sizes: false,
        ..Layout::tflm()
    }
}

fn request(kind: OverlapKind, changes: ChangeRequest) -> PlanRequest {
    PlanRequest {
        overlap: OverlapRequest {
            kind,
            ..OverlapRequest::default()
        },
        layout: bytewise(),
        changes,
        time: TIME,
        ..PlanRequest::default()
    }
}

/// How many tensors of several bytes an element lie where these may lie. Fails where one does not.
fn check(graph: &Graph, offsets: &[Option<u64>], place: &str) -> usize {
    assert_eq!(graph.tensors.len(), offsets.len());
    let placed = graph.tensors.iter().zip(offsets);
    let wide = placed.filter_map(|(tensor, offset)| {
        let alignment = tensor.element_type.alignment();
        Some((tensor, (*offset)?, alignment)).filter(|_| alignment > 1)
    });
    let mut count = 0;
    for (tensor, offset, alignment) in wide {
        let name = &tensor.name;
        assert!(
            offset.is_multiple_of(alignment),
            "{place}: {name} lies at {offset}"
        );
        count += 1;
    }
    count
}

fn check_plan(planned: &Planned, place: &str) -> usize {
    let graph = &planned.overlaps.graph;
    check(graph, &planned.file.offsets(graph.tensors.len()), place)
}

/// Of the plans for problems without the rule some break it: else the tests would show nothing.
#[test]
fn every_planner() {
    let models = Models::new();
    let (mut count, mut broken) = (0, 0);
    for (pixels, source) in models.all() {
        let graph = source.graph();
        let order = graph.file_order();
        for given in [overlaps::none(graph), overlaps::analytic(graph)] {
            let arena = Arena::new(graph, &order, &given, bytewise()).unwrap();
            let buffers = arena.problem.buffers().iter().map(|buffer| Buffer {
                alignment: 1,
                ..buffer.clone()
            });
            let free = Problem::new(buffers.collect(), &[]).unwrap();
            for strategy in STRATEGIES {
                let Some(plan) = strategy.plan(&arena.problem) else {
                    continue;
                };
                let place = format!("{pixels} pixels, {}", strategy.name);
                count += check(graph, &arena.tensor_offsets(&plan), &place);
                let free = arena.tensor_offsets(&strategy.plan(&free).unwrap());
                let mut free = graph.tensors.iter().zip(free);
                broken += u32::from(free.any(|(tensor, offset)| {
                    let alignment = tensor.element_type.alignment();
                    offset.is_some_and(|offset| !offset.is_multiple_of(alignment))
                }));
            }
        }
    }
    assert!(count > 4 * 2 * 8 * 3, "{count} tensors");
    assert!(broken > 4, "{broken} plans");
}

#[test]
fn every_kind_of_overlap_and_change() {
    let models = Models::new();
    let changes = [
        ChangeRequest::default(),
        ChangeRequest {
            accumulate: true,
            ..ChangeRequest::default()
        },
        ChangeRequest {
            in_place: true,
            remove: true,
            split: true,
            patch: true,
            ..ChangeRequest::default()
        },
    ];
    let mut count = 0;
    for kind in [OverlapKind::None, OverlapKind::Analytic] {
        for changes in changes {
            for (pixels, mut source) in models.all() {
                let request = request(kind, changes);
                let planned = plan(&mut source, &request, &Session::default()).unwrap();
                let place = format!("{pixels} pixels, {}, {changes:?}", kind.name());
                count += check_plan(&planned, &place);
            }
        }
    }
    // Tiles have tensors of their own.
    assert!(count >= 2 * 3 * 4 * 3, "{count} tensors");
}

/// In a .json and in several memories; what is read again is what was planned.
#[test]
fn every_form_of_a_plan() {
    let models = Models::new();
    let session = Session::default();
    let (mut count, mut moved) = (0, 0);
    for (pixels, mut source) in models.all() {
        let request = request(OverlapKind::Analytic, ChangeRequest::default());
        let planned = plan(&mut source, &request, &session).unwrap();
        let path = models.path(pixels).with_extension("json");
        let emission = Emission::new(&path, &source, 1).unwrap();
        let emitted = emission
            .of_plan(&source, &planned, &Session::default())
            .unwrap();
        std::fs::write(&path, emitted.content).unwrap();
        let read = PlanToCheck::new(&NamedPlan::read(&path).unwrap(), &source, None).unwrap();
        assert_eq!(read.faults(source.graph()), []);
        count += check(source.graph(), &read.tensors, "a plan that is read");

        let first = planned.plan.arena_bytes - 1;
        let regions =
            [("fast", first), ("slow", 1 << 20)].map(|(name, capacity_bytes)| ArenaRegion {
                name: name.to_owned(),
                capacity_bytes,
                access_cost: 1,
                alignment: 1,
            });
        let request = RegionRequest {
            regions: regions.into(),
            time: TIME,
            ..RegionRequest::default()
        };
        let placed = place_model(&source, &planned, &request, None)
            .unwrap()
            .unwrap();
        let tensors = placed.tensors.iter();
        let offsets: Vec<_> = tensors.map(|it| it.map(|place| place.offset)).collect();
        count += check(source.graph(), &offsets, "regions");
        moved += placed
            .tensors
            .iter()
            .flatten()
            .filter(|place| place.region > 0)
            .count();
    }
    assert_eq!(count, 2 * 4 * 3);
    assert!(moved > 0);
}

/// Studies that say how large an arena is, and not where its tensors lie: it is that of the plan.
#[test]
fn every_size() {
    let models = Models::new();
    let session = Session::default();
    for (pixels, mut source) in models.all() {
        let smallest = |source: &mut Source, kind| {
            let request = request(kind, ChangeRequest::default());
            plan(source, &request, &session).unwrap()
        };
        let apart = smallest(&mut source, OverlapKind::None);
        let overlapped = smallest(&mut source, OverlapKind::Analytic);
        let request = SavingsRequest {
            layout: bytewise(),
            time: TIME,
            ..SavingsRequest::default()
        };
        let saved = savings(&source, &request).unwrap();
        let row = |added: &str| {
            let mut rows = saved.rows.iter();
            rows.find(|row| row.added == added).unwrap().arena_bytes
        };
        assert_eq!(row("+ order"), apart.file.arena_bytes, "{pixels} pixels");
        assert_eq!(
            row("+ overlaps"),
            overlapped.file.arena_bytes,
            "{pixels} pixels"
        );
        let cost = LoopOrderCost::of(&apart, &session).unwrap();
        assert_eq!(cost.together_bytes, overlapped.file.arena_bytes);
    }
}

/// On machine code, which runs with these offsets: as planned, as a baseline has it, and by
/// default.
#[test]
fn every_verified_plan() {
    let models = Models::new();
    let session = Session::default();
    let kernels = KernelRequest::default().load().unwrap();
    let mut count = 0;
    for pixels in PIXELS {
        let examine = ExamineRequest {
            model: models.path(pixels).to_str().unwrap().to_owned(),
            plan: PlanOrigin::Made(request(OverlapKind::Analytic, ChangeRequest::default())),
            kernels: KernelRequest::default(),
        };
        let examination = examine.load().unwrap();
        let audited = examination.audit(1, &session).unwrap();
        assert!(audited.audit.is_safe());
        let source = &examination.source;
        count += check(source.graph(), &audited.plan.tensors, "audit");
        let on_two = VerifyRequest {
            inputs: 2,
            ..VerifyRequest::default()
        };
        let verified = examination
            .verify(&kernels, on_two, &session)
            .unwrap()
            .verified;
        assert!(verified.is_safe(), "{pixels} pixels: {:?}", verified.faults);
        count += check(source.graph(), &verified.plan.tensors, "verify");
        let verified = verify(source, None, &kernels, VerifyRequest::default(), &session).unwrap();
        assert!(verified.is_safe(), "{pixels} pixels: {:?}", verified.faults);
        count += check(
            source.graph(),
            &verified.plan.tensors,
            "verify without a plan",
        );
    }
    assert_eq!(count, 3 * 4 * 3);
}
