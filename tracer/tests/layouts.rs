//! Kernels that look at where their buffers lie: nothing is granted, and nothing is said of every input,
//! where they do something else in overlapped buffers than apart.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test may fail loudly; libtest-mimic wants a result"
)]

mod support;

use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, Kind, OperatorId};
use dmo_analysis::operator::{Operator, Reshape};
use dmo_analysis::profile::Refusal;
use dmo_analysis::trace::ElementType;
use dmo_trace::kernels::{Case, KernelLibrary};
use dmo_trace::measure::{choose, measure_in_detail};
use dmo_trace::model::verify::{Runs, Subject, VerifiedLayer, verify, without_overlaps};
use dmo_trace::model::{Deployment, KernelSource};
use dmo_trace::study::error::StudyError;
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::sweep::{Grid, SweepRequest, shard, sweep};
use libtest_mimic::Failed;
use std::path::{Path, PathBuf};
use support::LIMITS;
use support::tools;
use support::workshop::{HARD, Workshop, linked};

fn main() {
    let compiler = tools::version("arm-none-eabi-gcc").map(|_| ());
    let trials = vec![
        tools::trial("an overlap", &compiler, granted),
        tools::trial("a layout", &compiler, verified),
        tools::trial("a sweep", &compiler, swept),
    ];
    tools::main(&compiler, trials)
}

/// The kernel of `tests/vendor/layouts.c`.
fn kernel(kind: u32) -> KernelLibrary {
    linked(&archive(&Workshop::new(&HARD), kind))
}

fn archive(workshop: &Workshop, kind: u32) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vendor");
    let macros = [
        format!("-DKIND={kind}"),
        "-fno-tree-loop-distribute-patterns".to_owned(),
    ];
    let object = workshop.compile(&folder.join("layouts.c"), &macros);
    workshop.archive("kernel.a", &[object])
}

/// What following the kernel has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// Data decide what it accesses.
    Decision,
    /// It accesses other bytes than with its buffers apart.
    OtherBytes,
}
use Found::{Decision, Nothing, OtherBytes};

/// Half of it is odd.
const ELEMENTS: u32 = 18;

fn granted() -> Result<(), Failed> {
    let kinds = [
        Nothing, Nothing, Decision, OtherBytes, OtherBytes, Decision, Nothing, Decision, OtherBytes,
    ];
    let mut seen = 0;
    for (kind, expected) in (1..).zip(kinds) {
        let case = Case {
            operator: Operator::Reshape(Reshape {
                elements: ELEMENTS,
                element_bytes: 1,
            }),
            kind: Kind::of_kernels("reshape").unwrap(),
            input_type: ElementType::Int8,
            output_type: ElementType::Int8,
        };
        let library = kernel(kind);
        let contract = choose(&library, &case, None).expect("a kernel");
        let found = measure_in_detail(&library, &case, contract, 3, LIMITS).expect("measured");
        let pair = &found.layer.pairs[0];
        let decisions = found.decisions.as_deref().expect("followed");
        let (refusals, overlap): (&[Refusal], _) = match expected {
            Nothing => (&[], ELEMENTS),
            Decision => (&[Refusal::DataDependent], 0),
            OtherBytes => (&[Refusal::LayoutDependent], 0),
        };
        assert_eq!(pair.refusals, refusals, "{kind}: {decisions:?}");
        assert_eq!(pair.safe_overlap_bytes, overlap, "{kind}");
        assert_eq!(pair.in_place, expected == Nothing, "{kind}");
        assert_eq!(decisions.is_empty(), expected != Decision, "{kind}");
        seen += 1;
    }
    assert_eq!(seen, 9);
    Ok(())
}

/// `sweep` says on demand what holds on every input.
fn swept() -> Result<(), Failed> {
    let mut seen = 0;
    for (kind, every_input, overlap, finding) in [
        (1, true, ELEMENTS, ""),
        (6, false, ELEMENTS, ""),
        (6, true, 0, "data decide "),
    ] {
        let workshop = Workshop::new(&HARD);
        let archive = archive(&workshop, kind);
        let kernels = KernelRequest {
            kernels: archive.display().to_string(),
            ..KernelRequest::default()
        };
        let text = format!(
            "[[grid]]\noperator = \"reshape\"\ninput = [\"{ELEMENTS}\"]\ndtype = [\"int8\"]\n"
        );
        let grid = Grid::parse(&text, Some(&kernels)).expect("a grid");
        let request = SweepRequest {
            every_input,
            ..SweepRequest::default()
        };
        sweep(&shard(&grid, 1, 1), request, |rows| {
            assert_eq!(rows[0].pair.traced_bytes, Some(overlap), "{rows:?}");
            assert_eq!(rows[0].finding.is_empty(), finding.is_empty(), "{rows:?}");
            assert!(rows[0].finding.starts_with(finding), "{rows:?}");
            seen += rows.len();
            Ok::<_, StudyError>(())
        })?;
    }
    assert_eq!(seen, 3);
    Ok(())
}

fn verified() -> Result<(), Failed> {
    // For each kind what is found in place, and with half of the bytes shared.
    let kinds = [
        (1, Nothing, Nothing),
        (3, Decision, Decision),
        (5, Nothing, Decision),
        (6, Decision, Nothing),
    ];
    let graph = zoo::find("mobilenet_v1_0.25_128")
        .expect("in the zoo")
        .build(Element::Int8);
    let mut seen = 0;
    for (kind, in_place, half) in kinds {
        let library = kernel(kind);
        assert_eq!(reshape(&graph, &library, 0), in_place, "{kind}");
        assert_eq!(reshape(&graph, &library, 2), half, "{kind}");
        seen += 1;
    }
    assert_eq!(seen, 4);
    assert_eq!(reshape(&graph, &kernel(2), 0), Nothing);
    assert_eq!(reshape(&graph, &kernel(4), 0), OtherBytes);
    assert_eq!(reshape(&graph, &kernel(8), 0), Decision);
    assert_eq!(reshape(&graph, &kernel(9), 0), OtherBytes);
    Ok(())
}

/// What is found where the input of the network's reshape lies in place of its output, or, with a
/// `part`, that part of its size after it.
fn reshape(graph: &Graph, library: &KernelLibrary, part: u64) -> Found {
    let deployment = Deployment::invented_on(graph, &[KernelSource::from(library)], LIMITS);
    let order: Vec<OperatorId> = (0..graph.operators.len()).map(OperatorId).collect();
    let mut executed = deployment.steps.iter().filter(|step| step.kernel.is_ok());
    let step = executed.next().expect("the reshape");
    assert_eq!(executed.count(), 0);
    let mut placement = without_overlaps(&deployment, &order).expect("the model's order");
    let bytes = graph.tensor(step.inputs[0]).size_bytes;
    let start = placement.arena_bytes.next_multiple_of(16);
    let displacement = bytes.checked_div(part).unwrap_or(0);
    placement.tensors[step.outputs[0].0] = Some(start);
    placement.tensors[step.inputs[0].0] = Some(start + displacement);
    placement.arena_bytes = start + displacement + bytes;
    let subject = Subject {
        order: &order,
        placement: &placement,
        keep_inputs: false,
    };
    let runs = Runs {
        follows_data: true,
        ..Runs::on(1, LIMITS)
    };
    let verified = verify(&deployment, &subject, runs, &|_, _| ()).expect("verified");
    assert!(verified.differences.is_empty(), "{verified:?}");
    let [layer] = &verified.layers[..] else {
        panic!("{:?}", verified.layers);
    };
    found(layer)
}

fn found(layer: &VerifiedLayer) -> Found {
    let decisions = layer.decisions.as_deref().expect("followed");
    match (decisions, layer.otherwise_in_layout) {
        ([], false) => Nothing,
        ([], true) => OtherBytes,
        _ => Decision,
    }
}
