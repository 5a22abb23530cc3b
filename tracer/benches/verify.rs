//! What a traced and verified inference of a whole model costs, against its bare emulation in
//! the same run: the model under Unicorn without any hook, one operator after the other.
//!
//! `cargo bench -p dmo-trace --bench verify`, on a computer that does nothing else. Fails when
//! the bound is not kept or a plan is not safe. Real models are looked for in
//! `$DMO_TRACE_MODELS`, else beside the repository; what is missing is left out, and said.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may fail loudly"
)]

use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{OperatorId, tflite};
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::{KernelLibrary, images};
use dmo_trace::mcu::machine::{Limits, Observation};
use dmo_trace::model::verify::{Subject, model_inputs, verify, without_overlaps};
use dmo_trace::model::{Deployment, Inference};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits {
    max_instructions: u64::MAX,
    timeout: Duration::from_secs(600),
};

const ROUNDS: usize = 5;

/// Bound of the project for the two real models: so many times the bare inference.
const TIMES_AT_MOST: f64 = 6.0;

/// Of networks built in code, which are always there: those with fast kernels come near to the
/// bound, and a regression shows all the same.
const TIMES_AT_MOST_BUILT: f64 = 7.0;

const MODELS: [(&str, &str); 4] = [
    ("tflite_micro/person_detect.tflite", "reference"),
    ("mlcommons_tiny/vww_96_int8.tflite", "dsp"),
    ("zoo:mobilenet_v1_0.25_128", "reference"),
    ("zoo:mobilenet_v1_0.25_128", "dsp"),
];

fn main() {
    let mut kept = true;
    for (model, set) in MODELS {
        let image = images::find(set, Some("cortex-m4")).expect(set);
        let library = KernelLibrary::new(image.elf, None, DEFAULT_RAM).expect(set);
        if let Some(network) = model.strip_prefix("zoo:") {
            let graph = zoo::find(network).expect(network).build(Element::Int8);
            let deployment = Deployment::invented(&graph, &library, LIMITS).unwrap();
            kept &= bench(model, set, &deployment) <= TIMES_AT_MOST_BUILT;
        } else if let Some(path) = find(model) {
            let file = std::fs::read(path).unwrap();
            let read = tflite::read(&file).unwrap();
            let deployment = Deployment::of_file(&read.graphs[0], &file, &library, LIMITS);
            kept &= bench(model, set, &deployment.unwrap()) <= TIMES_AT_MOST;
        } else {
            println!("{model} is not there: left out");
        }
    }
    assert!(kept, "the bound is not kept");
}

fn find(model: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DMO_TRACE_MODELS").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models");
    let path = folder.unwrap_or_else(beside).join(model);
    path.is_file().then_some(path)
}

/// Prints a line; gives how many times the bare inference it takes.
fn bench(model: &str, set: &str, deployment: &Deployment) -> f64 {
    let order = deployment.graph.file_order();
    let (mut bare, mut verified) = (Duration::MAX, Duration::MAX);
    // In turns, so that a slow moment of the machine meets both.
    for _ in 0..ROUNDS {
        bare = bare.min(time(|| infer(deployment, &order)));
        verified = verified.min(time(|| check(deployment, &order)));
    }
    let times = verified.as_secs_f64() / bare.as_secs_f64();
    println!(
        "{set} {model}: bare {:.1} ms, traced and verified {:.1} ms, {times:.2} times",
        1e3 * bare.as_secs_f64(),
        1e3 * verified.as_secs_f64(),
    );
    times
}

fn time(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn infer(deployment: &Deployment, order: &[OperatorId]) {
    let placement = without_overlaps(deployment, order).unwrap();
    let mut inference =
        Inference::new(deployment, &placement, 0, Observation::None, LIMITS).unwrap();
    inference.begin(&model_inputs(deployment, 0)).unwrap();
    for &operator in order {
        inference.run(operator).unwrap();
    }
}

fn check(deployment: &Deployment, order: &[OperatorId]) {
    let placement = without_overlaps(deployment, order).unwrap();
    let subject = Subject {
        order,
        placement: &placement,
        keep_inputs: false,
    };
    let found = verify(deployment, &subject, 1, LIMITS, &|_, _| ()).unwrap();
    assert!(found.is_safe());
}
