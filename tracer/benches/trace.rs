//! What tracing costs: ratios within one run, against the same program under bare
//! Unicorn.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may fail loudly"
)]

use dmo_analysis::profile::{Profile, Profiler};
use dmo_trace::machine::{Limits, Observation, Pause};
use dmo_trace::run::{RunOptions, run};
use dmo_trace::target::{Target, TargetOptions};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits {
    max_instructions: u64::MAX,
    timeout: Duration::from_secs(600),
};

fn main() {
    for name in ["bench_conv2d", "bench_depthwise"] {
        let path = format!(
            "{}/../traces/elf/cortex-m4/{name}.elf",
            env!("CARGO_MANIFEST_DIR")
        );
        let target =
            Target::new(&std::fs::read(&path).unwrap(), &TargetOptions::default()).unwrap();
        for _ in 0..3 {
            let bare = bare(&target);
            let (traced, profile) = traced(&target);
            let layer = &profile.layers[0];
            println!(
                "{name}: {:.1} M instructions, {:.1} M events; bare {bare:?}, traced {traced:?}: {:.2} times",
                layer.instructions() as f64 / 1e6,
                (layer.loads() + layer.stores()) as f64 / 1e6,
                traced.as_secs_f64() / bare.as_secs_f64(),
            );
        }
    }
}

fn bare(target: &Target) -> Duration {
    let mut machine = target.machine(Observation::None, LIMITS).unwrap();
    let start = Instant::now();
    let pause = machine.run();
    let time = start.elapsed();
    assert_eq!(pause, Pause::SoftwareBreakpoint(0xab));
    time
}

fn traced(target: &Target) -> (Duration, Profile) {
    let start = Instant::now();
    let mut profiler = Profiler::<()>::default();
    let options = RunOptions {
        limits: LIMITS,
        self_check: false,
    };
    run(
        target,
        options,
        Box::new(|_| ()),
        &mut profiler,
        &mut |_| (),
    )
    .unwrap();
    let (profile, ()) = profiler.finish();
    (start.elapsed(), profile)
}
