//! Models without the channels that make no difference, on machine code: they compute bit for bit
//! what the model computes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

#[path = "../../analysis/tests/prune/builder.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod builder;
#[path = "../../analysis/tests/prune/cases.rs"]
mod cases;
#[path = "../../analysis/tests/prune/random.rs"]
mod random;
mod support;
#[path = "../../analysis/tests/tflite/tree.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod tree;

use builder::Net;
use cases::{constant_rows, layer};
use dmo_analysis::graph::tflite::{parameters, read};
use dmo_analysis::random::SplitMix64;
use dmo_analysis::transform::prune::prune;
use dmo_trace::kernels::KernelLibrary;
use dmo_trace::mcu::machine::Observation;
use dmo_trace::model::verify::without_overlaps;
use dmo_trace::model::{Deployment, Inference, KernelSource};
use dmo_trace::study::Session;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::kernel_request::KernelRequest;
use dmo_trace::study::plan::{PlanRequest, plan};
use dmo_trace::study::plan_file::NamedPlan;
use dmo_trace::study::plan_to_check::PlanToCheck;
use dmo_trace::study::source::Source;
use dmo_trace::study::verify::{VerifyRequest, verify};
use support::LIMITS;
use support::models::library;

/// What a model stores as its outputs for each of some inputs.
fn outputs(file: &[u8], library: &KernelLibrary, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let graph = read(file).unwrap().graphs.remove(0);
    let sources = [KernelSource {
        library,
        stands_for_reference: true,
        is_fallback: false,
    }];
    let deployment = Deployment::of_file_on(&graph, file, &sources, LIMITS).unwrap();
    let reasons: Vec<String> = deployment
        .not_executed()
        .map(|(operator, reason)| format!("operator {}: {reason}", operator.0))
        .collect();
    assert!(reasons.is_empty(), "{reasons:?}");
    let order = graph.file_order();
    let placement = without_overlaps(&deployment, &order).unwrap();
    let observation = Observation::Watch;
    let mut inference = Inference::new(&deployment, &placement, 0x3c, observation, LIMITS).unwrap();
    let run = |content: &Vec<u8>| {
        inference
            .begin(&[(graph.inputs[0], content.clone())])
            .unwrap();
        for &operator in &order {
            inference.run(operator).unwrap();
        }
        let outputs = graph.outputs.iter();
        outputs
            .flat_map(|&id| inference.tensor(id).unwrap())
            .collect()
    };
    inputs.iter().map(run).collect()
}

/// The least, the greatest, and random bytes.
fn some_inputs(file: &[u8], count: usize) -> Vec<Vec<u8>> {
    let graph = read(file).unwrap().graphs.remove(0);
    let size = graph.tensor(graph.inputs[0]).size_bytes as usize;
    let mut random = SplitMix64::new(count as u64);
    let ends = [0x80, 0x7f, 0].map(|byte| vec![byte; size]);
    let others = (0..count).map(|_| (0..size).map(|_| random.next_u64() as u8).collect());
    ends.into_iter().chain(others).collect()
}

/// How many channels went, and whether the outputs depend on the input.
fn check(name: &str, file: &[u8], library: &KernelLibrary, inputs: &[Vec<u8>]) -> (usize, bool) {
    let pruned = prune(file).unwrap();
    let expected = outputs(file, library, inputs);
    let found = outputs(&pruned.file, library, inputs);
    for ((expected, found), input) in expected.iter().zip(&found).zip(inputs) {
        assert_eq!(
            expected, found,
            "{name} computes something else of {input:x?}"
        );
    }
    let varies = expected.iter().any(|output| *output != expected[0]);
    (pruned.report.removed(), varies)
}

#[test]
fn cases_by_hand_compute_the_same() {
    let library = library("reference");
    let (mut checked, mut varying) = (0, 0);
    for case in cases::cases() {
        if case.name == "float" {
            continue;
        }
        let inputs = some_inputs(&case.file, 12);
        let (_, varies) = check(case.name, &case.file, &library, &inputs);
        varying += usize::from(varies);
        checked += 1;
    }
    assert_eq!(checked, 42);
    assert!(varying > 35, "{varying} of {checked} depend on their input");
}

#[test]
fn random_networks_compute_the_same() {
    let library = library("reference");
    let (mut removed, mut pruned, mut varying) = (0, 0, 0);
    for seed in 0..1200 {
        let file = random::network(seed);
        let inputs = some_inputs(&file, 5);
        let (channels, varies) = check(&format!("network {seed}"), &file, &library, &inputs);
        removed += channels;
        pruned += usize::from(channels > 0);
        varying += usize::from(channels > 0 && varies);
    }
    assert!(
        removed > 6000 && pruned > 1000,
        "{removed} channels of {pruned}"
    );
    assert!(varying > 150, "{varying} depend on their input");
}

/// A network of a single byte, for every value of it.
#[test]
fn all_inputs_there_are() {
    let library = library("reference");
    let inputs: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let mut removed = 0;
    for seed in 0..6 {
        let mut net = Net::default();
        let input = net.input(&[1, 1, 1, 1]);
        let rows: &[usize] = &[seed as usize % 6, 5];
        let first = constant_rows(layer(seed, 6, 1), rows, 710 * seed as i32);
        let middle = net.conv(input, 6, &first);
        let output = net.fully_connected(middle, 4, 6, &layer(seed + 10, 4, 6));
        let file = net.finish(output);
        let (channels, varies) = check("of one byte", &file, &library, &inputs);
        assert!(varies, "seed {seed}");
        removed += channels;
    }
    assert!(removed >= 11, "{removed}");
}

/// A model with a constant channel that is folded into a bias.
fn folded() -> Vec<u8> {
    let cases = cases::cases();
    let case = cases.into_iter().find(|case| case.name == "average");
    case.unwrap().file
}

fn pruning() -> PlanRequest {
    PlanRequest {
        changes: ChangeRequest {
            prune: true,
            ..ChangeRequest::default()
        },
        ..PlanRequest::default()
    }
}

#[test]
fn a_plan_says_what_it_is_for() {
    let file = folded();
    let mut source = Source::of_bytes("folded", file.clone()).unwrap();
    let planned = plan(&mut source, &pruning(), &Session::default()).unwrap();
    let own = Source::of_bytes("own", source.file.clone().unwrap()).unwrap();
    assert_eq!(planned.file.pruned_sha256, own.sha256);
    let given = Source::of_bytes("given", file.clone()).unwrap();
    assert_eq!(planned.file.model_sha256, given.sha256);
    // The model as it is given has larger tensors.
    let mut named = NamedPlan {
        name: "plan".to_owned(),
        plan: planned.file.clone(),
    };
    let error = PlanToCheck::new(&named, &given, None).unwrap_err();
    assert!(
        error.to_string().contains("pruned in another way"),
        "{error}"
    );
    assert!(PlanToCheck::new(&named, &source, None).is_ok());
    named.plan.pruned_sha256 = None;
    assert!(PlanToCheck::new(&named, &source, None).is_err());
    // A file that is followed prunes the model itself.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    std::fs::write(&path, serde_json::to_vec(&planned.file).unwrap()).unwrap();
    let mut source = Source::of_bytes("folded", file).unwrap();
    let named = source.follow_plan(&path).unwrap();
    assert!(PlanToCheck::new(&named, &source, None).is_ok());
    assert_eq!(source.pruned_sha256(), own.sha256.as_ref());
}

/// A quantised model whose ends are in floats.
const FLOATS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/golden/stand_in_floats_int8.tflite"
);

#[test]
fn a_plan_of_integer_ends_is_for_no_others() {
    let mut source = Source::load(FLOATS).unwrap();
    assert!(source.has_float_ends());
    source.take_integers().unwrap();
    assert!(!source.has_float_ends() && source.is_changed());
    let planned = plan(&mut source, &PlanRequest::default(), &Session::default()).unwrap();
    let given = Source::load(FLOATS).unwrap();
    assert_eq!(planned.file.model_sha256, given.sha256);
    let mut named = NamedPlan {
        name: "plan".to_owned(),
        plan: planned.file.clone(),
    };
    let error = PlanToCheck::new(&named, &given, None).unwrap_err();
    assert!(error.to_string().contains("--integer-io"), "{error}");
    named.plan.integer_io_sha256 = None;
    assert!(PlanToCheck::new(&named, &source, None).is_err());
    // The model that the plan is followed by is the same.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    std::fs::write(&path, serde_json::to_vec(&planned.file).unwrap()).unwrap();
    let mut other = Source::load(FLOATS).unwrap();
    let named = other.follow_plan(&path).unwrap();
    let to_check = PlanToCheck::new(&named, &other, None).unwrap();
    assert_eq!(other.graph(), source.graph());
    let kernels = KernelRequest::default().load().unwrap();
    let (request, session) = (VerifyRequest::default(), Session::default());
    let verified = verify(&other, Some(to_check), &kernels, request, &session).unwrap();
    assert!(verified.is_safe());
}

#[test]
fn ends_that_are_integers_stay() {
    let file = folded();
    let mut source = Source::of_bytes("folded", file).unwrap();
    assert!(!source.has_float_ends());
    let error = source.take_integers().unwrap_err();
    let error = std::error::Error::source(&error).unwrap().to_string();
    assert!(error.contains("the inputs are INT8"), "{error}");
}

#[test]
fn other_results_than_those_of_the_model_are_seen() {
    let kernels = KernelRequest::default().load().unwrap();
    let session = Session::default();
    let request = VerifyRequest::default();
    let mut source = Source::of_bytes("folded", folded()).unwrap();
    source.prune().unwrap();
    let safe = |source: &Source| {
        let verified = verify(source, None, &kernels, request, &session).unwrap();
        verified.is_safe()
    };
    assert!(safe(&source));
    // The bias that the constants were folded into.
    let file = source.file.take().unwrap();
    let place = {
        let all = parameters(&file, 0).unwrap();
        let last = all.last().unwrap().as_ref().unwrap();
        let bias = last.constant(2).unwrap().bytes.as_ptr();
        bias.addr() - file.as_ptr().addr()
    };
    let mut other = file;
    other[place + 1] ^= 1;
    source.file = Some(other);
    assert!(!safe(&source));
}

#[test]
fn networks_of_the_zoo_have_no_weights_to_look_at() {
    let mut source = Source::load("zoo:mobilenet_v1:int8").unwrap_or_else(|_| {
        let name = dmo_analysis::graph::zoo::NETWORKS[0].name;
        Source::load(format!("zoo:{name}")).unwrap()
    });
    let error = source.prune().unwrap_err().to_string();
    assert!(error.contains("none of its own"), "{error}");
}
