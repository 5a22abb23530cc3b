//! A program run under emulation.

use crate::error::wrong;
use crate::interruptible::interruptible;
use crate::options;
use crate::values::{reported, value};
use anyhow::Context;
use dmo_analysis::trace::Program;
use dmo_trace::elf::image::MAX_FILE_BYTES;
use dmo_trace::mcu::machine::Limits;
use dmo_trace::mcu::memory::MemoryOptions;
use dmo_trace::program::run::{RunOptions, describe_exit};
use dmo_trace::program::semihosting::Host;
use dmo_trace::program::target::{Target, TargetOptions};
use dmo_trace::study::firmware::ArenaPlace;
use dmo_trace::study::input;
use dmo_trace::study::run::{self as study, RunRequest, interpreter_of, placed};
use dmo_trace::study::source::Source;
use dmo_trace::study::tenants;
use dmo_trace::words::run::{RunReport, Warning};
use pyo3::prelude::*;
use serde_json::Value;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Options of `dmo-trace run`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    cpu: Option<String>,
    /// Start and size in bytes of each stretch of memory.
    ram: Vec<(u64, u64)>,
    flash: Vec<(u64, u64)>,
    device: Vec<(u64, u64)>,
    vectors: Option<u32>,
    model: Option<PathBuf>,
    /// A symbol, or the first address and the one after the last.
    arena: Option<String>,
    arena_addresses: Option<(u64, u64)>,
    inputs: u64,
    stop_after: Option<u64>,
    max_instructions: u64,
    timeout: f64,
    self_check: bool,
    every_input: bool,
}

/// Runs a program; gives its report and what it has printed.
#[pyfunction]
pub fn run<'py>(
    py: Python<'py>,
    elf: PathBuf,
    options: Options,
) -> PyResult<(Bound<'py, PyAny>, Vec<u8>)> {
    let limits = Limits {
        max_instructions: options.max_instructions,
        timeout: options::seconds("timeout", options.timeout)?,
    };
    options::inputs(options.inputs)?;
    if options.stop_after == Some(0) {
        return Err(wrong("stop_after 0: expected at least 1 layer"));
    }
    let printed = Arc::new(Mutex::new(Vec::new()));
    let console = Arc::clone(&printed);
    let report = interruptible(py, move || {
        report(&elf, &options, limits, &console).with_context(|| elf.display().to_string())
    })?;
    let printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((reported(py, report)?, printed.clone()))
}

/// A program's endless output is cut here.
const MOST_PRINTED: usize = 1 << 20;

fn report(
    elf: &Path,
    options: &Options,
    limits: Limits,
    printed: &Mutex<Vec<u8>>,
) -> Result<Value, anyhow::Error> {
    let mut target = target(elf, options, limits)?;
    let name = elf.file_name().unwrap_or(elf.as_os_str());
    let program = Program {
        name: name.to_string_lossy().into_owned(),
        sha256: target.image.sha256.clone(),
        cpu: target.cpu.name.to_owned(),
        recorder: concat!("dmo-trace ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let request = RunRequest {
        options: RunOptions {
            limits,
            self_check: options.self_check,
        },
        inputs: options.inputs,
        every_input: options.every_input,
        other_folder: None,
    };
    let host = Host::console(Box::new(|bytes: &[u8]| {
        let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST_PRINTED.saturating_sub(printed.len()).min(bytes.len());
        printed.extend_from_slice(&bytes[..room]);
    }));
    let traced = study::trace(&target, request, host, None, &mut |_| ())?;
    let models = tenants::of_run(&mut target, &traced, limits)?;
    value(&RunReport {
        program: &program,
        file: Some(elf),
        ending: &traced.ending,
        exit: &describe_exit(traced.ending.exit, &target.image.symbols),
        inputs: Some(options.inputs),
        self_checked: Some(options.self_check),
        memory: Some(target.map.to_string()),
        cycles: traced.outcome.cycles.as_ref(),
        profile: &traced.profile,
        decisions: traced.decisions.as_deref(),
        warnings: Warning::all(&traced, &target),
        ram: Some(traced.outcome.ram.clone()),
        arena: placed(&target).zip(traced.arena.as_ref()),
        models,
    })
}

fn target(elf: &Path, options: &Options, limits: Limits) -> Result<Target, anyhow::Error> {
    let bytes = input::read(elf, MAX_FILE_BYTES as u64)?;
    let ranges = |given: &[(u64, u64)]| given.iter().map(range).collect::<Result<Vec<_>, _>>();
    let target_options = TargetOptions {
        cpu: options.cpu.clone(),
        memory: MemoryOptions {
            ram: ranges(&options.ram)?,
            flash: ranges(&options.flash)?,
            device: ranges(&options.device)?,
            ..MemoryOptions::default()
        },
        vectors: options.vectors,
        flash_timing: None,
    };
    let mut target = Target::new(&bytes, &target_options)?;
    let model = options.model.as_ref().map(Source::load).transpose()?;
    let arena = options.arena.clone().map(|given| ArenaPlace {
        given,
        addresses: options.arena_addresses.map(|(start, end)| start..end),
    });
    let bounded = options.stop_after.is_none();
    target.interpreted = interpreter_of(&target, model, arena, limits, bounded)?;
    target.stop_after = options.stop_after.and_then(NonZeroU64::new);
    Ok(target)
}

/// In the 32-bit address space.
fn range(&(start, size): &(u64, u64)) -> Result<Range<u64>, anyhow::Error> {
    let end = start
        .checked_add(size)
        .filter(|&end| size > 0 && end <= 1 << 32);
    let end = end.with_context(|| {
        format!("memory ({start:#x}, {size}) has no bytes or ends beyond the 32-bit address space")
    })?;
    Ok(start..end)
}
