//! Options that say which program runs, and on what.

use super::firmware::FirmwareOptions;
use super::flash::FlashArguments;
use super::hooks::HookOptions;
use super::numbers::{Seconds, parse_address, parse_range};
use crate::cli::{Verdict, output};
use anyhow::Context;
use dmo_analysis::firmware::ArenaUse;
use dmo_analysis::trace::Exit;
use dmo_trace::elf::image::MAX_FILE_BYTES;
use dmo_trace::mcu::cpu;
use dmo_trace::mcu::machine::Limits;
use dmo_trace::mcu::memory::MemoryOptions;
use dmo_trace::program::target::{Target, TargetOptions};
use dmo_trace::study::compare::INPUTS;
use dmo_trace::study::{KERNEL_LIMITS, input};
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::PathBuf;

/// A program, and what it runs on.
#[derive(clap::Args)]
pub struct ProgramArguments {
    /// Bare-metal ELF program. The model that it runs by TensorFlow Lite Micro, layer marks in it, or --layer and --layers define the layers
    pub elf: PathBuf,
    #[command(flatten)]
    layers: HookOptions,
    #[command(flatten)]
    firmware: FirmwareOptions,
    #[arg(long, help = cpu_help())]
    cpu: Option<String>,
    /// Map RAM here, for example 0x20000000:256K; repeatable [default: enough for the program's
    /// segments and stack]
    #[arg(long, value_name = "START:SIZE", value_parser = parse_range)]
    ram: Vec<Range<u64>>,
    /// Map flash here, for example 0x08000000:1M; repeatable [default: enough for the program's
    /// segments]
    #[arg(long, value_name = "START:SIZE", value_parser = parse_range)]
    flash: Vec<Range<u64>>,
    /// Map a peripheral's registers as plain memory: reads return the last write, initially 0. Code
    /// that polls a status bit will hang; repeatable
    #[arg(long, value_name = "START:SIZE", value_parser = parse_range)]
    device: Vec<Range<u64>>,
    /// Address of the vector table [default: found in the program]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    vectors: Option<u32>,
    #[command(flatten)]
    flash_timing: FlashArguments,
    /// Number of inputs to run each layer on, the program's own first: if the accesses differ, they
    /// depend on the data and no overlap is granted
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub inputs: u64,
    /// End the run after the Nth layer, for firmware that loops forever. What the program does
    /// afterwards is not analysed [default: run until the program ends, or TensorFlow Lite Micro
    /// begins a third inference]
    #[arg(long, value_name = "N")]
    stop_after: Option<NonZeroU64>,
    /// Give up after this many executed instructions
    #[arg(long, value_name = "N", default_value_t = 20_000_000_000)]
    max_instructions: u64,
    /// Give up after this many seconds of emulation
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(KERNEL_LIMITS.timeout))]
    timeout: Seconds,
}

fn cpu_help() -> String {
    let names = cpu::names();
    format!("CPU to emulate: {names} [default: the one that the program was built for]")
}

impl ProgramArguments {
    /// Reads the program and its hooks.
    pub fn load(&self) -> anyhow::Result<Target> {
        let path = self.elf.display();
        let bytes = input::read(&self.elf, MAX_FILE_BYTES as u64)
            .with_context(|| format!("cannot read {path}"))?;
        let options = TargetOptions {
            cpu: self.cpu.clone(),
            memory: MemoryOptions {
                ram: self.ram.clone(),
                flash: self.flash.clone(),
                device: self.device.clone(),
                ..MemoryOptions::default()
            },
            vectors: self.vectors,
            flash_timing: self.flash_timing.timing(),
        };
        let mut target = Target::new(&bytes, &options).with_context(|| path.to_string())?;
        let hooks = self.layers.hooks(&target);
        target.hooks = hooks.with_context(|| path.to_string())?;
        if target.hooks.is_none() {
            let bounded = self.stop_after.is_none();
            target.interpreted = self.firmware.interpreted(&target, self.limits(), bounded)?;
        }
        target.stop_after = self.stop_after;
        Ok(target)
    }

    /// The name of its file, without folders.
    pub fn file_name(&self) -> String {
        let name = self.elf.file_name().unwrap_or(self.elf.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Bounds on a run of it.
    pub fn limits(&self) -> Limits {
        Limits {
            max_instructions: self.max_instructions,
            timeout: self.timeout.0,
        }
    }

    /// A program that fails its own check has no business being laid out.
    pub fn verdict(&self, exit: Exit, arena: Option<&ArenaUse>) -> Verdict {
        match exit {
            Exit::Status(status) if status != 0 => {
                output::message(&format!(
                    "dmo-trace: {}: the program ended with exit status {status}: its own check fails",
                    self.elf.display()
                ));
                Verdict::Fails
            }
            _ if arena.is_some_and(|arena| !arena.safe) => Verdict::Fails,
            _ => Verdict::Holds,
        }
    }
}
