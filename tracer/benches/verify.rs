//! What verifying a whole model takes with our engine, against the same with Unicorn in the same
//! run: traced, replayed and executed twice.
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

use dmo_analysis::graph::tflite;
use dmo_analysis::graph::zoo::{self, Element};
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::{KernelLibrary, images};
use dmo_trace::mcu::machine::{EngineKind, Limits};
use dmo_trace::model::Deployment;
use dmo_trace::model::verify::{Runs, Subject, verify, without_overlaps};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits {
    max_instructions: u64::MAX,
    timeout: Duration::from_secs(600),
};

const ROUNDS: usize = 5;

/// Inputs, as the command has them.
const INPUTS: u64 = 3;

/// Our engine is this many times as fast.
const TIMES_AT_LEAST: f64 = 2.0;

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
        let library = |engine| {
            let library = KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect(set);
            library.with_engine(engine)
        };
        let libraries = [EngineKind::Unicorn, EngineKind::Translator].map(library);
        let times = if let Some(network) = model.strip_prefix("zoo:") {
            let graph = zoo::find(network).expect(network).build(Element::Int8);
            let deployments = libraries
                .each_ref()
                .map(|library| Deployment::invented(&graph, library, LIMITS).unwrap());
            bench(model, set, deployments.each_ref())
        } else if let Some(path) = find(model) {
            let file = std::fs::read(path).unwrap();
            let read = tflite::read(&file).unwrap();
            let deployments = libraries.each_ref().map(|library| {
                Deployment::of_file(&read.graphs[0], &file, library, LIMITS).unwrap()
            });
            bench(model, set, deployments.each_ref())
        } else {
            println!("{model} is not there: left out");
            continue;
        };
        kept &= times >= TIMES_AT_LEAST;
    }
    assert!(kept, "the bound is not kept");
}

fn find(model: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DMO_TRACE_MODELS").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models");
    let path = folder.unwrap_or_else(beside).join(model);
    path.is_file().then_some(path)
}

/// Prints a line; gives how many times as fast our engine is.
fn bench(model: &str, set: &str, deployments: [&Deployment; 2]) -> f64 {
    let (mut unicorn, mut ours) = (Duration::MAX, Duration::MAX);
    // In turns, so that a slow moment of the machine meets both.
    for _ in 0..ROUNDS {
        unicorn = unicorn.min(time_of_verification(deployments[0]));
        ours = ours.min(time_of_verification(deployments[1]));
    }
    let times = unicorn.as_secs_f64() / ours.as_secs_f64();
    println!(
        "{set} {model}: Unicorn {:.1} ms, our engine {:.1} ms, {times:.2} times as fast (at least {TIMES_AT_LEAST})",
        1e3 * unicorn.as_secs_f64(),
        1e3 * ours.as_secs_f64(),
    );
    times
}

fn time_of_verification(deployment: &Deployment) -> Duration {
    let order = deployment.graph.file_order();
    let placement = without_overlaps(deployment, &order).unwrap();
    let subject = Subject {
        order: &order,
        placement: &placement,
        keep_inputs: false,
    };
    let start = Instant::now();
    let found = verify(deployment, &subject, Runs::on(INPUTS, LIMITS), &|_, _| ()).unwrap();
    assert!(found.is_safe());
    start.elapsed()
}
