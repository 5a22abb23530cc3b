//! Executes a case with `dmo-engine`: interpreted, and translated.

use crate::case::Case;
use crate::cpu::Cpu;
use crate::layout;
use crate::state::{Access, CONTROL_BITS, End, Execution, FLAGS, IT, Notes, State};
use dmo_engine::core::Core;
use dmo_engine::decode::{decode, length};
use dmo_engine::engine::{self, Engine, Stop};
use dmo_engine::fault::{AccessKind, Fault};
use dmo_engine::features::Features;
use dmo_engine::memory::{Kind, MapError, Memory, Watch};
use dmo_engine::operation::Operation;
use unicorn_engine::MemType;

/// The most instructions of an execution.
const MOST_INSTRUCTIONS: u64 = 100;
/// Cases until an engine is made anew: each branch goes to another page, whose code it keeps.
const CASES: usize = 2000;

/// One of our engines.
pub struct Ours {
    engine: Engine,
    execution: engine::Execution,
    cases: usize,
    translated: u64,
}

impl Ours {
    /// A core and its memory, interpreting.
    ///
    /// # Errors
    /// When the memory cannot be.
    pub fn interpreting(cpu: &Cpu) -> Result<Self, MapError> {
        Self::new(cpu, engine::Execution::Interpreter)
    }

    /// A core and its memory, translating all that can be.
    ///
    /// # Errors
    /// When the memory cannot be.
    pub fn translating(cpu: &Cpu) -> Result<Self, MapError> {
        Self::new(cpu, engine::Execution::Translator)
    }

    fn new(cpu: &Cpu, execution: engine::Execution) -> Result<Self, MapError> {
        Ok(Self {
            engine: made(cpu.features, execution)?,
            execution,
            cases: 0,
            translated: 0,
        })
    }

    /// How many instructions translated code has executed.
    pub fn translated_instructions(&self) -> u64 {
        self.translated + self.engine.translated_instructions()
    }

    /// Executes a case at one go.
    pub fn execute(&mut self, case: &Case, ram: &[u8]) -> Execution {
        self.enter(case, ram);
        let stop = self.engine.run(MOST_INSTRUCTIONS);
        self.leave(case, stop)
    }

    /// Executes a case one instruction after the other.
    pub fn step(&mut self, case: &Case, ram: &[u8]) -> (Execution, Notes) {
        self.enter(case, ram);
        let mut notes = Notes::default();
        let stop = loop {
            let operation = self.operation();
            let time = self.engine.core.time;
            let stop = self.engine.run(time + 1);
            if self.engine.core.time > time {
                notes.executed.extend(operation);
            }
            match stop {
                Stop::Until if time + 1 < MOST_INSTRUCTIONS => {}
                stop => break stop,
            }
        };
        if let Stop::Fault(fault) = stop {
            notes.fault = Some(fault);
        }
        (self.leave(case, stop), notes)
    }

    fn enter(&mut self, case: &Case, ram: &[u8]) {
        self.cases += 1;
        if self.cases.is_multiple_of(CASES) {
            self.renew();
        }
        let mut core = Core {
            fpscr: case.float_status,
            s: case.floats,
            ..Core::default()
        };
        core.set_status(case.status);
        core.r[..15].copy_from_slice(&case.registers);
        core.r[15] = case.address;
        self.engine.core = core;
        // Both are there.
        let _ = self.engine.write(case.address, &case.code());
        let _ = self.engine.memory.write(layout::RAM.start as u32, ram);
    }

    fn leave(&mut self, case: &Case, stop: Stop) -> Execution {
        let end = case.address + case.code().len() as u32;
        let filling = layout::fillings(case.address..end);
        // It is there.
        let _ = self.engine.write(case.address, &filling);
        let events = self.engine.memory.take_events();
        let accesses = events.as_slice().iter().map(|event| Access {
            kind: event.kind(),
            address: event.address(),
            size_bytes: event.size_bytes().into(),
        });
        let accesses = accesses.collect();
        Execution {
            end: match stop {
                Stop::Breakpoint(_) => End::Breakpoint,
                Stop::Hint | Stop::Sleep => End::Hint,
                Stop::Fault(fault) => End::Fault(named(fault)),
                _ => End::Endless,
            },
            state: self.state(),
            accesses,
            time: Some(self.engine.core.time),
        }
    }

    fn renew(&mut self) {
        self.translated += self.engine.translated_instructions();
        // It was possible before.
        if let Ok(engine) = made(*self.engine.features(), self.execution) {
            self.engine = engine;
        }
    }

    /// What the next instruction does; `None` if there is none.
    fn operation(&self) -> Option<Operation> {
        let memory = &self.engine.memory;
        let pc = self.engine.core.r[15];
        let first = memory.fetch(pc).ok()?;
        let second = match length(first) {
            2 => 0,
            _ => memory.fetch(pc.wrapping_add(2)).ok()?,
        };
        let instruction = decode(first, second, self.engine.features()).ok()?;
        Some(instruction.operation)
    }

    fn state(&self) -> State {
        let core = &self.engine.core;
        let ram = self
            .engine
            .memory
            .read(layout::RAM.start as u32, layout::RAM_BYTES as usize);
        State {
            registers: core.r,
            status: core.status() & (FLAGS | IT),
            float_status: core.fpscr,
            floats: core.s,
            special: [
                core.primask,
                core.basepri,
                core.faultmask,
                core.control & CONTROL_BITS,
            ],
            ram: ram.unwrap_or_default(),
        }
    }
}

/// In Unicorn's words if it is an access.
fn named(fault: Fault) -> String {
    let Fault::Access {
        kind,
        address,
        mapped,
        ..
    } = fault
    else {
        return fault.to_string();
    };
    let kind = match (kind, mapped) {
        (AccessKind::Load, true) => MemType::READ_PROT,
        (AccessKind::Load, false) => MemType::READ_UNMAPPED,
        (AccessKind::Store, true) => MemType::WRITE_PROT,
        (AccessKind::Store, false) => MemType::WRITE_UNMAPPED,
    };
    format!("{kind:?} at {address:#x}")
}

fn made(features: Features, execution: engine::Execution) -> Result<Engine, MapError> {
    let regions = [(layout::CODE, Kind::Flash), (layout::RAM, Kind::Device)];
    let mut memory = Memory::new(regions)?;
    let watches = [layout::CODE, layout::RAM].map(|range| Watch { range, loads: true });
    memory.watch(&watches);
    let code = layout::CODE.start as u32..layout::CODE.end as u32;
    // It is there.
    let _ = memory.write(code.start, &layout::fillings(code));
    let mut engine = Engine::new(features, memory, execution);
    engine.enable_floating_point();
    engine.translate_at_once();
    Ok(engine)
}
