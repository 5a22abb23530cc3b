//! Executes a case with `dmo-engine`.

use crate::case::Case;
use crate::cpu::Cpu;
use crate::layout;
use crate::state::{End, Execution, FLAGS, IT, Notes, State};
use dmo_engine::core::Core;
use dmo_engine::decode::{decode, length};
use dmo_engine::fault::Fault;
use dmo_engine::features::Features;
use dmo_engine::interpreter::{Flow, step};
use dmo_engine::memory::{Kind, MapError, Memory};

/// The most instructions of an execution.
const MOST_INSTRUCTIONS: usize = 100;

/// Our engine.
pub struct Ours {
    memory: Memory,
    features: Features,
}

impl Ours {
    /// A core and its memory.
    ///
    /// # Errors
    /// When the memory cannot be.
    pub fn new(cpu: &Cpu) -> Result<Self, MapError> {
        let regions = [(layout::CODE, Kind::Flash), (layout::RAM, Kind::Device)];
        let mut memory = Memory::new(regions)?;
        let code = layout::CODE.start as u32..layout::CODE.end as u32;
        // It is there.
        let _ = memory.write(code.start, &layout::breakpoints(code));
        Ok(Self {
            memory,
            features: cpu.features,
        })
    }

    /// Executes a case.
    pub fn execute(&mut self, case: &Case, ram: &[u8]) -> (Execution, Notes) {
        let code = case.code();
        let end = case.address + code.len() as u32;
        let mut core = Core {
            fpscr: case.float_status,
            s: case.floats,
            ..Core::default()
        };
        core.set_status(case.status);
        core.r[..15].copy_from_slice(&case.registers);
        core.r[15] = case.address;
        // Both are there.
        let _ = self.memory.write(case.address, &code);
        let _ = self.memory.write(layout::RAM.start as u32, ram);
        let mut notes = Notes::default();
        let end_of_run = self.run(&mut core, &mut notes);
        let breakpoints = layout::breakpoints(case.address..end);
        let _ = self.memory.write(case.address, &breakpoints);
        let state = self.state(&core);
        let execution = Execution {
            end: end_of_run,
            state,
        };
        (execution, notes)
    }

    fn run(&mut self, core: &mut Core, notes: &mut Notes) -> End {
        for _ in 0..MOST_INSTRUCTIONS {
            match self.step(core, notes) {
                Ok(Flow::Next) => {}
                Ok(Flow::Breakpoint(_)) => return End::Breakpoint,
                Ok(Flow::Loop) => return End::Endless,
                Ok(Flow::Hint | Flow::Sleep) => return End::Hint,
                Err(fault) => {
                    notes.fault = Some(fault);
                    return End::Fault(fault.to_string());
                }
            }
        }
        End::Endless
    }

    fn step(&mut self, core: &mut Core, notes: &mut Notes) -> Result<Flow, Fault> {
        let pc = core.r[15];
        let first = self.memory.fetch(pc)?;
        let second = match length(first) {
            2 => 0,
            _ => self.memory.fetch(pc.wrapping_add(2))?,
        };
        let instruction = decode(first, second, &self.features)?;
        let operation = instruction.operation;
        let flow = step(
            core,
            &mut self.memory,
            &self.features,
            &operation,
            instruction.bytes,
        );
        match flow {
            Ok(_) => notes.executed.push(operation),
            Err(_) => notes.refused = Some(operation),
        }
        flow
    }

    fn state(&self, core: &Core) -> State {
        let ram = self
            .memory
            .read(layout::RAM.start as u32, layout::RAM_BYTES as usize);
        State {
            registers: core.r,
            status: core.status() & (FLAGS | IT),
            float_status: core.fpscr,
            floats: core.s,
            special: [core.primask, core.basepri, core.faultmask, core.control],
            ram: ram.unwrap_or_default(),
        }
    }
}
