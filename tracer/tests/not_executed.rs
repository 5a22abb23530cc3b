//! Operators that no kernel can be called for: nothing overlaps there, geometry catches each
//! layout in which something does, and what other libraries compute is as in one library.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, Kind, OperatorId, TensorId, overlaps, tflite};
use dmo_analysis::optimise::{Task, optimise};
use dmo_planner::budget::Budget;
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::{KernelLibrary, images};
use dmo_trace::mcu::machine::Observation;
use dmo_trace::model::verify::{
    Runs, Subject, Verification, measured_overlaps, model_inputs, verify, without_overlaps,
};
use dmo_trace::model::{Deployment, Inference, KernelSource, Placement};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use support::LIMITS;

/// The built-in reference kernels, a function of which is called something else.
fn renamed(from: &str, to: &str) -> KernelLibrary {
    KernelLibrary::new(&renamed_elf(from, to), None, DEFAULT_RAM).unwrap()
}

fn renamed_elf(from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut elf = images::find("reference", None).unwrap().elf();
    let name = format!("\0{from}\0");
    let starts = |at: &usize| elf[*at..].starts_with(name.as_bytes());
    let places: Vec<usize> = (0..elf.len() - name.len()).filter(starts).collect();
    // In the table of symbols, and perhaps in the debug information.
    assert!((1..=2).contains(&places.len()), "{from}: {places:?}");
    for place in places {
        elf[place + 1..][..to.len()].copy_from_slice(to.as_bytes());
    }
    elf
}

/// Without a kernel for quantised depthwise convolutions.
fn without_depthwise() -> KernelLibrary {
    renamed("dmo_depthwise_conv2d_s8", "own_depthwise_conv2d_s8")
}

fn network(name: &str) -> Graph {
    zoo::find(name).unwrap().build(Element::Int8)
}

fn fallback(library: &KernelLibrary) -> KernelSource<'_> {
    KernelSource {
        library,
        stands_for_reference: true,
        is_fallback: true,
    }
}

fn planned(deployment: &Deployment, overlaps: &overlaps::Overlaps) -> (Vec<OperatorId>, Placement) {
    let task = Task {
        graph: &deployment.graph,
        overlaps,
        layout: Layout::tflm(),
        reorder: false,
        fixed: &[],
    };
    let plan = optimise(task, &mut Budget::of_seconds(10.0), &mut |_| ()).unwrap();
    let mut scratch = vec![None; deployment.steps.len()];
    for buffer in &plan.arena.scratch {
        scratch[buffer.operator.0] = Some(plan.plan.offsets[buffer.buffer]);
    }
    let placement = Placement {
        tensors: plan.arena.tensor_offsets(&plan.plan),
        scratch,
        arena_bytes: plan.arena_bytes,
    };
    (plan.order, placement)
}

fn verified(deployment: &Deployment, order: &[OperatorId], placement: &Placement) -> Verification {
    let subject = Subject {
        order,
        placement,
        keep_inputs: false,
    };
    verify(deployment, &subject, Runs::on(1, LIMITS), &|_, _| ()).unwrap()
}

fn missing(deployment: &Deployment) -> Vec<OperatorId> {
    deployment
        .not_executed()
        .map(|(operator, _)| operator)
        .collect()
}

fn of_kind(graph: &Graph, kind: &Kind) -> Vec<OperatorId> {
    let operators = graph.operators.iter().enumerate();
    let of_kind = operators.filter(|(_, node)| node.kind == *kind);
    of_kind.map(|(index, _)| OperatorId(index)).collect()
}

/// The layout with the operator's output moved so that it shares one element with `other`.
fn touching(
    graph: &Graph,
    placement: &Placement,
    output: TensorId,
    other: TensorId,
    above: bool,
) -> Placement {
    let mut mutant = placement.clone();
    let size = |id: TensorId| graph.tensor(id).size_bytes;
    let base = placement.arena_bytes.next_multiple_of(16);
    let (low, high) = if above {
        (other, output)
    } else {
        (output, other)
    };
    mutant.tensors[low.0] = Some(base);
    mutant.tensors[high.0] = Some(base + size(low) - 1);
    mutant.arena_bytes = base + size(low) + size(high);
    mutant
}

#[test]
fn a_layout_that_overlaps_at_an_operator_that_is_not_executed_is_caught() {
    let graph = network("mobilenet_v1_0.25_128");
    let library = without_depthwise();
    let deployment = Deployment::invented_on(&graph, &[(&library).into()], LIMITS);
    let missing = missing(&deployment);
    assert_eq!(missing, of_kind(&graph, &Kind::DepthwiseConv2d));
    assert_eq!(missing.len(), 13);

    // What the other operators allow is used all the same.
    let mut allowed = overlaps::analytic(&deployment.graph);
    let (order, unsafe_here) = planned(&deployment, &allowed);
    for operator in &missing {
        allowed[operator.0].clear();
    }
    let (_, placement) = planned(&deployment, &allowed);
    let found = verified(&deployment, &order, &placement);
    assert!(
        found.is_safe(),
        "{:?} {:?}",
        found.clashes,
        found.differences
    );
    assert_eq!(found.layers.len(), graph.operators.len() - missing.len());
    let measured = measured_overlaps(&deployment, &found.layers);
    let granted = measured.iter().filter(|pairs| !pairs.is_empty()).count();
    assert!(granted >= 15, "{granted}");
    let apart = without_overlaps(&deployment, &order).unwrap();
    assert!(placement.arena_bytes < apart.arena_bytes);

    // A plan for kernels that it does not have.
    let objected = verified(&deployment, &order, &unsafe_here);
    let clashing: BTreeSet<OperatorId> = objected
        .clashes
        .iter()
        .map(|clash| clash.operator)
        .collect();
    assert!(!clashing.is_empty());
    assert!(
        clashing.iter().all(|operator| missing.contains(operator)),
        "{clashing:?}"
    );
    assert!(!objected.differences.is_empty());

    let (mut mutants, mut differing) = (0, 0);
    for &operator in missing.iter().step_by(4) {
        let node = &graph.operators[operator.0];
        let (input, output) = (graph.arena_inputs(node)[0], node.outputs[0]);
        for above in [false, true] {
            let mutant = touching(&graph, &placement, output, input, above);
            let found = verified(&deployment, &order, &mutant);
            let caught = found.clashes.iter().any(|clash| clash.operator == operator);
            assert!(caught, "operator {}: {:?}", operator.0, found.clashes);
            mutants += 1;
            differing += usize::from(!found.differences.is_empty());
        }
    }
    // One byte of an input that is lost changes every output of what stands in.
    assert_eq!((mutants, differing), (8, 8));
}

#[test]
fn what_is_alive_while_an_operator_is_not_executed_is_not_overwritten() {
    let graph = network("mobilenet_v2_0.35_96");
    let library = renamed("dmo_conv2d_s8", "own_conv2d_s8");
    let deployment = Deployment::invented_on(&graph, &[(&library).into()], LIMITS);
    let missing = missing(&deployment);
    assert_eq!(missing, of_kind(&graph, &Kind::Conv2d));
    let (order, placement) = planned(&deployment, &overlaps::none(&deployment.graph));
    assert!(verified(&deployment, &order, &placement).is_safe());
    // The shortcut of a block is alive beside its convolutions.
    let additions = of_kind(&graph, &Kind::Add);
    let mut mutants = 0;
    for addition in additions.into_iter().step_by(4) {
        let made_by = |id: &TensorId| {
            let mut nodes = graph.operators.iter();
            nodes.position(|node| node.outputs.contains(id))
        };
        let inputs = graph.operators[addition.0].inputs.iter().copied();
        let shortcut = inputs.min_by_key(made_by).unwrap();
        let within = missing.iter().rev().find(|operator| {
            let node = &graph.operators[operator.0];
            operator.0 < addition.0
                && !node.inputs.contains(&shortcut)
                && !node.outputs.contains(&shortcut)
        });
        let output = graph.operators[within.unwrap().0].outputs[0];
        let mutant = touching(&graph, &placement, output, shortcut, true);
        let found = verified(&deployment, &order, &mutant);
        assert!(
            found
                .clashes
                .iter()
                .any(|clash| clash.operator == *within.unwrap()),
            "{:?}",
            found.clashes
        );
        assert!(!found.differences.is_empty());
        mutants += 1;
    }
    assert_eq!(mutants, 3);
}

/// On two machines, between which the arena goes to and fro, each operator computes what it
/// computes on one.
#[test]
fn two_libraries_compute_what_one_does() {
    let complete = support::models::library("reference");
    let mut compared = 0;
    for name in ["mobilenet_v1_0.25_128", "mobilenet_v2_0.35_96"] {
        let graph = network(name);
        let partial = without_depthwise();
        let sources = [(&partial).into(), fallback(&complete)];
        let mixed = Deployment::invented_on(&graph, &sources, LIMITS);
        assert!(missing(&mixed).is_empty());
        let of_second = mixed
            .steps
            .iter()
            .filter(|step| step.kernel.as_ref().unwrap().source == 1);
        assert_eq!(
            of_second.count(),
            of_kind(&graph, &Kind::DepthwiseConv2d).len()
        );
        let alone = Deployment::invented(&graph, &complete, LIMITS).unwrap();
        let order = graph.file_order();
        let mut inferences = [&mixed, &alone].map(|deployment| {
            let apart = without_overlaps(deployment, &order).unwrap();
            Inference::new(deployment, &apart, 0x11, Observation::Watch, LIMITS).unwrap()
        });
        for number in 0..2 {
            let inputs = model_inputs(&alone, number);
            for inference in &mut inferences {
                inference.begin(&inputs).unwrap();
            }
            for &operator in &order {
                let output = graph.operators[operator.0].outputs[0];
                let [mixed, alone] = inferences.each_mut().map(|inference| {
                    inference.run(operator).unwrap();
                    inference.tensor(output).unwrap()
                });
                assert!(mixed == alone, "{name}: operator {}", operator.0);
                compared += 1;
            }
        }
        // What stands for TensorFlow Lite's reference is granted no more than that allows.
        let (order, placement) = planned(&mixed, &overlaps::analytic(&mixed.graph));
        assert!(verified(&mixed, &order, &placement).is_safe());
    }
    assert_eq!(compared, 2 * (31 + 66));
}

/// TensorFlow Lite Micro calls what its library has: the reference kernel would be another one.
#[test]
fn nothing_falls_back_where_the_library_has_a_function_of_its_own() {
    let complete = support::models::library("reference");
    let graph = network("mobilenet_v1_0.25_128");
    let library = renamed("dmo_depthwise_conv2d_s8", "arm_depthwise_conv_s8_x");
    let sources = [(&library).into(), fallback(&complete)];
    let deployment = Deployment::invented_on(&graph, &sources, LIMITS);
    assert_eq!(
        missing(&deployment),
        of_kind(&graph, &Kind::DepthwiseConv2d)
    );
    let (_, reason) = deployment.not_executed().next().unwrap();
    assert!(
        reason.to_string().contains("arm_depthwise_conv_s8_x"),
        "{reason}"
    );
    // Unless the user says so.
    let said = [(&library).into(), KernelSource::from(&complete)];
    let deployment = Deployment::invented_on(&graph, &said, LIMITS);
    assert!(missing(&deployment).is_empty());
}

/// The kernel would store beyond it.
#[test]
fn a_state_of_another_size_is_not_executed() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let file = std::fs::read(golden.join("stand_in_sequence_int8.tflite")).unwrap();
    let graph = tflite::read(&file).unwrap().graphs.remove(0);
    let library = KernelLibrary::new(
        &images::find("reference", None).unwrap().elf(),
        None,
        DEFAULT_RAM,
    )
    .unwrap();
    let deploy = |graph: &Graph| {
        let deployment =
            Deployment::of_file_on(graph, &file, &[(&library).into()], LIMITS).unwrap();
        let reasons = deployment
            .not_executed()
            .map(|(_, reason)| reason.to_string());
        (
            deployment
                .steps
                .iter()
                .flat_map(|step| step.states.clone())
                .collect(),
            reasons.collect(),
        )
    };
    let (states, reasons): (Vec<TensorId>, Vec<String>) = deploy(&graph);
    assert_eq!((states.len(), reasons.len()), (2, 0));
    for (state, name) in states.into_iter().zip(["hidden state", "cell state"]) {
        for change in [-1, 1] {
            let mut other = graph.clone();
            let bytes = &mut other.tensors[state.0].size_bytes;
            *bytes = bytes.checked_add_signed(change).unwrap();
            let (_, reasons) = deploy(&other);
            assert_eq!(reasons.len(), 1, "{name}");
            assert!(
                reasons[0].starts_with(&format!("its {name} has ")),
                "{}",
                reasons[0]
            );
        }
    }
}

fn dmo_trace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.args(arguments).output().unwrap()
}

#[test]
fn the_verdict_is_another_word_and_plans_name_the_library_of_each_operator() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (kernels, plan) = (path("kernels.elf"), path("plan.json"));
    let elf = renamed_elf("dmo_depthwise_conv2d_s8", "arm_depthwise_conv_s8_x");
    std::fs::write(&kernels, elf).unwrap();
    let model = "zoo:mobilenet_v1_0.25_128:int8";
    let inputs = ["--inputs", "1", "--json"];
    let verify = |more: &[&str]| {
        let arguments = [&["verify", model, "--kernels", &kernels], more, &inputs].concat();
        dmo_trace(&arguments)
    };
    // The plan that is found by formula has no overlap where nothing is executed.
    for (more, code) in [(&[][..], 0), (&["--require-all"][..], 1)] {
        let output = verify(more);
        assert_eq!(output.status.code(), Some(code), "{more:?}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["verdict"], "no_objection");
        assert_eq!(report["safe"], false);
        assert_eq!(report["not_executed"].as_array().unwrap().len(), 13);
        assert_eq!(report["not_executed"][0]["kind"], "DEPTHWISE_CONV_2D");
    }
    let planned = [
        "plan",
        model,
        "--kernels",
        &kernels,
        "--overlap",
        "none",
        "--out",
        &plan,
    ];
    assert!(dmo_trace(&planned).status.success());
    let file: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    assert!(file["kernels"]["functions"][1].is_null());
    let other = verify(&["--kernels", "reference", "--plan", &plan]);
    assert_eq!(other.status.code(), Some(2));
    let words = String::from_utf8(other.stderr).unwrap();
    let expected = "operator 1 is computed by dmo_depthwise_conv2d_s8, not by nothing";
    assert!(words.contains(expected), "{words}");
}

/// A library that computes an operator, and none of the parts that tiles make of it: these are not planned.
#[test]
fn a_tile_without_a_kernel_is_not_planned() {
    let folder = tempfile::tempdir().unwrap();
    let kernels = folder.path().join("kernels.elf");
    let (function, other) = (
        "dmo_depthwise_conv2d_pitched_s8",
        "own_depthwise_conv2d_pitched_s8",
    );
    std::fs::write(&kernels, renamed_elf(function, other)).unwrap();
    let kernels = kernels.to_str().unwrap();
    let plan = |kernels: &str| -> Value {
        let output = dmo_trace(&[
            "plan",
            "zoo:mobilenet_v1_0.25_128:int8",
            "--overlap",
            "traced",
            "--kernels",
            kernels,
            "--allow",
            "patch",
            "--time",
            "5",
            "--inputs",
            "1",
            "--no-cache",
            "--json",
        ]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let missing = |report: &Value| {
        let functions = report["kernels"]["functions"].as_array().unwrap();
        functions.iter().filter(|it| it.is_null()).count()
    };
    let complete = plan("reference");
    let partial = plan(kernels);
    assert_eq!([&complete, &partial].map(missing), [0, 0]);
    let arena = |report: &Value| report["arena_bytes"].as_u64().unwrap();
    assert!(arena(&complete) < arena(&partial));
    assert!(complete["recipe"].is_object());
}
