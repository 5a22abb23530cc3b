//! A program together with the microcontroller it runs on.

use crate::elf::image::{Image, ImageError};
use crate::mcu::bit_band;
use crate::mcu::boot::{self, Boot, BootError};
use crate::mcu::cpu::{self, Cpu, CpuError};
use crate::mcu::cycles::FlashTiming;
use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::{EngineKind, Limits, Machine, MachineError, Observation};
use crate::mcu::memory::{MemoryError, MemoryMap, MemoryOptions};
use crate::program::hooks::Hooks;
use crate::program::interpreter::Interpreted;
use dmo_analysis::trace::{Address, Location};
use std::num::NonZeroU64;

/// The user's description of the microcontroller; what is missing is deduced from the image.
#[derive(Debug, Clone, Default)]
pub struct TargetOptions {
    /// CPU model; by default what the image was built for.
    pub cpu: Option<String>,
    /// Memory regions; by default what the image needs.
    pub memory: MemoryOptions,
    /// Address of the vector table; by default found in the image.
    pub vectors: Option<u32>,
    /// Flash memory that makes the CPU wait, as far as cycles are estimated.
    pub flash_timing: Option<FlashTiming>,
}

/// A program that can be run.
#[derive(Debug)]
pub struct Target {
    /// The program.
    pub image: Image,
    /// The CPU.
    pub cpu: Cpu,
    /// What executes its instructions.
    pub engine: EngineKind,
    /// The memory.
    pub map: MemoryMap,
    /// The start.
    pub boot: Boot,
    /// The hooked functions that are its layers; `None` if marks define the layers.
    pub hooks: Option<Hooks>,
    /// The model that its interpreter runs, in its arena: the operators are the layers then.
    pub interpreted: Option<Interpreted>,
    /// End the run after this many layers; `None` runs until the program ends.
    pub stop_after: Option<NonZeroU64>,
}

/// Why a program cannot be run.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TargetError {
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Cpu(#[from] CpuError),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Target {
    /// Reads an ELF program and fits a microcontroller around it.
    ///
    /// # Errors
    /// When the file is no such program, or does not fit.
    pub fn new(elf: &[u8], options: &TargetOptions) -> Result<Self, TargetError> {
        let image = Image::parse(elf)?;
        let cpu = cpu::choose(options.cpu.as_deref(), &image.attributes)?;
        let cpu = cpu.with_flash(options.flash_timing);
        bit_band::check(&cpu, &options.memory, &image)?;
        let boot = boot::find(&image, options.vectors)?;
        let map = MemoryMap::new(&image, &options.memory, Some(boot.stack_top))?;
        Ok(Self {
            image,
            cpu,
            engine: EngineKind::Auto,
            map,
            boot,
            hooks: None,
            interpreted: None,
            stop_after: None,
        })
    }

    /// A machine with the program loaded, at its first instruction.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn machine<'a>(
        &self,
        observation: Observation,
        limits: Limits,
    ) -> Result<Machine<'a>, MachineError> {
        self.machine_with(&self.map, observation, limits)
    }

    /// A copy with other memory, which must hold the program.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn machine_with<'a>(
        &self,
        map: &MemoryMap,
        observation: Observation,
        limits: Limits,
    ) -> Result<Machine<'a>, MachineError> {
        let mut machine = Machine::new(self.engine, self.cpu, map, observation, limits)?;
        for segment in &self.image.segments {
            if !segment.content.is_empty() {
                machine.write(Address(segment.load_address), &segment.content)?;
            }
        }
        machine.set_register(13, self.boot.stack_top)?;
        machine.set_register(14, u32::MAX)?;
        machine.set_register(15, self.boot.pc)?;
        Ok(machine)
    }

    /// Where the instruction at `pc` comes from.
    pub fn location(&self, pc: Address, disassembler: &Disassembler) -> Location {
        let line = self.image.lines.at(pc.0);
        Location {
            function: self
                .image
                .symbols
                .function_at(pc.0)
                .map(|(symbol, _)| symbol.name.clone()),
            line: line.as_ref().and_then(|(_, line)| *line),
            file: line.map(|(file, _)| file),
            disassembly: self
                .code_at(pc)
                .and_then(|code| disassembler.at(pc.0, code)),
        }
    }

    /// Up to four bytes of code as the image holds them.
    fn code_at(&self, pc: Address) -> Option<&[u8]> {
        self.image.segments.iter().find_map(|segment| {
            let offset = pc.0.checked_sub(segment.run_address)? as usize;
            let rest = segment.content.get(offset..)?;
            (rest.len() >= 2).then(|| &rest[..rest.len().min(4)])
        })
    }
}
