//! What the integration tests share.

#![allow(dead_code, reason = "each test program uses its part of it")]

use dmo_analysis::profile::{Profile, Profiler};
use dmo_trace::machine::Limits;
use dmo_trace::run::{RunError, RunOptions, RunOutcome, run};
use dmo_trace::target::{Target, TargetOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const LIMITS: Limits = Limits {
    max_instructions: 1_000_000_000,
    timeout: Duration::from_secs(300),
};

pub const CHECKED: RunOptions = RunOptions {
    limits: LIMITS,
    self_check: true,
};

/// The recorded ELFs of all CPUs, in a fixed order.
pub fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/elf");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&root)
        .expect("traces/elf")
        .filter_map(|entry| {
            let path = entry.expect("entry").path();
            path.is_dir().then_some(path)
        })
        .flat_map(|folder| std::fs::read_dir(folder).expect("folder"))
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "elf"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no ELF in {}", root.display());
    files
}

/// The name `cpu/program` of a recorded ELF.
pub fn name(path: &Path) -> String {
    let part = |path: Option<&Path>| {
        path.and_then(Path::file_name)
            .expect("name")
            .to_string_lossy()
            .into_owned()
    };
    format!("{}/{}", part(path.parent()), part(Some(path)))
}

pub fn elf(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../traces/elf")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn target(bytes: &[u8]) -> Target {
    Target::new(bytes, &TargetOptions::default()).expect("target")
}

pub fn profile(target: &Target, options: RunOptions) -> Result<(Profile, RunOutcome), RunError> {
    let mut profiler = Profiler::<()>::default();
    let outcome = run(
        target,
        options,
        Box::new(|bytes| eprint!("{}", String::from_utf8_lossy(bytes))),
        &mut profiler,
        &mut |_| (),
    )?;
    Ok((profiler.finish().0, outcome))
}
