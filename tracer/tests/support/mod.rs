//! What the integration tests share.

#![allow(dead_code, reason = "each test program uses its part of it")]

pub mod cases;
pub mod cross;
pub mod expected;
pub mod explained;
pub mod firmware;
pub mod gdb;
pub mod guest;
pub mod hooked;
pub mod models;
pub mod placed;
pub mod tools;
pub mod vendor_cases;
pub mod workshop;

use dmo_analysis::profile::{Profile, Profiler};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::program::run::{RunError, RunOptions, RunOutcome, run};
use dmo_trace::program::semihosting::Host;
use dmo_trace::program::target::{Target, TargetOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The CPUs that the recorded ELFs are built for.
pub const CPUS: [&str; 3] = ["cortex-m3", "cortex-m4", "cortex-m7"];

pub const LIMITS: Limits = Limits {
    max_instructions: 1_000_000_000,
    timeout: Duration::from_secs(300),
};

/// The only place that knows what a run can be told.
pub fn run_options(self_check: bool, limits: Limits) -> RunOptions {
    RunOptions { limits, self_check }
}

pub fn traces_elf() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/elf")
}

/// The names of the recorded programs, such as `conv2d`; each exists for every CPU.
pub fn programs() -> Vec<String> {
    let of = |cpu: &str| -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(traces_elf().join(cpu))
            .expect("folder of recorded ELFs")
            .map(|entry| entry.expect("entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "elf"))
            .map(|path| {
                path.file_stem()
                    .expect("name")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    };
    let names = of(CPUS[0]);
    assert!(!names.is_empty(), "no recorded ELF");
    for cpu in CPUS {
        assert_eq!(of(cpu), names, "programs for {cpu}");
    }
    names
}

/// The same, without the two large ones that are there for benches.
pub fn small_programs() -> Vec<String> {
    let mut names = programs();
    names.retain(|name| !name.starts_with("bench_"));
    names
}

/// The bytes of a recorded ELF.
pub fn elf(cpu: &str, program: &str) -> Vec<u8> {
    let path = traces_elf().join(cpu).join(program).with_extension("elf");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn target(elf: &[u8]) -> Target {
    Target::new(elf, &TargetOptions::default()).expect("target")
}

pub fn recorded(cpu: &str, program: &str) -> Target {
    let target = target(&elf(cpu, program));
    assert_eq!(target.cpu.name, cpu, "{program}");
    target
}

pub fn profile(target: &Target, options: RunOptions) -> Result<(Profile, RunOutcome), RunError> {
    let mut profiler = Profiler::<()>::default();
    let outcome = run(
        target,
        options,
        Host::console(Box::new(|bytes| {
            eprint!("{}", String::from_utf8_lossy(bytes));
        })),
        &mut profiler,
        &mut |_| (),
    )?;
    Ok((profiler.finish().0, outcome))
}
