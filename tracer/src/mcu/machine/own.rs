//! The engine of this project, `dmo-engine`: it stops exactly where it is told, so that limits and
//! inspections are times to run up to.

mod check;
mod companion;
mod construction;
mod fault;
mod inspection;
mod peripherals;
mod run;

use super::engine::{Engine, Snapshot};
use super::inspection::{ExecutionPoint, Inspector, Sight};
use super::limits::Allowance;
use super::{
    Accompanied, Batch, DataMarks, Decision, Deliver, MachineError, Observation, Pause, Precision,
    Settings, Watch, watch,
};
use crate::mcu::cycles::Cycles;
use crate::mcu::self_check::{CheckError, Checker};
use crate::mcu::system::Exception;
pub(super) use companion::OwnCompanion;
use dmo_analysis::trace::{AccessKind, Address, Time};
use dmo_engine::core::Core;
use dmo_engine::features::FloatingPoint;
use dmo_engine::timing::{Pipeline, Timing};
use inspection::Inspections;
use peripherals::System;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Accesses that are worth waking who listens.
const BATCH: usize = 1 << 12;

/// A microcontroller emulated by `dmo-engine`.
pub(super) struct OwnEngine<'a> {
    engine: dmo_engine::engine::Engine,
    system: Rc<RefCell<System>>,
    observation: Observation,
    allowance: Allowance,
    /// When to look at the real time again.
    next_look: Time,
    /// The program has stopped at an instruction that counts as executed, though it was not.
    at_instruction: bool,
    watches: Vec<Watch>,
    deliver: Option<Deliver<'a>>,
    precision: Precision,
    /// To be handed over.
    waiting: Batch,
    inspections: Inspections,
    regions: Vec<(Range<u64>, dmo_engine::memory::Kind)>,
    checker: Option<Checker>,
    companions: Vec<Accompanied>,
    /// What is known of the core's cycles.
    timing: Option<Timing>,
    /// Whose cycles are counted.
    pipeline: Option<Pipeline>,
}

impl OwnEngine<'_> {
    fn core(&self) -> &Core {
        &self.engine.core
    }

    fn pc(&self) -> u32 {
        self.core().r[15]
    }

    /// Hands over what waits; false when nobody listens any more.
    fn hand_over_all(&mut self) -> bool {
        let accesses = std::mem::take(&mut self.waiting);
        match &mut self.deliver {
            Some(deliver) if !accesses.is_empty() => deliver(accesses),
            _ => true,
        }
    }

    /// All of it or an error: a part would make a snapshot or the self-check worthless.
    fn writable_memory(&self) -> Result<Vec<(u32, Vec<u8>)>, MachineError> {
        self.regions
            .iter()
            .filter(|(_, kind)| *kind != dmo_engine::memory::Kind::Flash)
            .map(|(range, _)| {
                let start = range.start as u32;
                let bytes = self.read(Address(start), (range.end - range.start) as usize);
                Ok((start, bytes.ok_or_else(|| no_memory("read memory"))?))
            })
            .collect()
    }

    fn has_floating_point(&self) -> bool {
        self.engine.features().floating_point != FloatingPoint::None
    }
}

fn no_memory(what: &'static str) -> MachineError {
    MachineError {
        what,
        reason: "there is none".to_owned(),
    }
}

impl Sight for OwnEngine<'_> {
    fn register(&self, index: usize) -> u32 {
        let register = self.core().r.get(index);
        register.copied().unwrap_or_else(|| self.pc())
    }

    fn float_register(&self, index: i32) -> Option<u32> {
        let register = self.core().s.get(usize::try_from(index).ok()?);
        register.copied().filter(|_| self.has_floating_point())
    }

    fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.engine.memory.read(address.0, size_bytes)
    }
}

impl<'a> Engine<'a> for OwnEngine<'a> {
    fn accompany(&mut self, companions: Vec<Accompanied>) {
        self.companions = companions;
    }

    fn deliver_to(&mut self, deliver: Deliver<'a>, precision: Precision) {
        self.deliver = Some(deliver);
        self.precision = precision;
    }

    fn note_entries(&mut self, addresses: &[u32]) -> Result<(), MachineError> {
        self.engine.note(addresses);
        Ok(())
    }

    fn entered(&self) -> Vec<u32> {
        self.engine.noted().to_vec()
    }

    fn watch(&mut self, watches: Vec<Watch>) -> Result<(), MachineError> {
        // The self-check watches everything.
        if self.observation == Observation::Watch {
            let ranges: Vec<_> = watches
                .iter()
                .map(|watch| dmo_engine::memory::Watch {
                    range: watch.range.clone(),
                    loads: watch.loads,
                })
                .collect();
            self.engine.memory.watch(&ranges);
        }
        self.watches = watches;
        Ok(())
    }

    fn moved(&mut self, kind: AccessKind, range: &Range<u64>) {
        let moment = (self.now(), self.pc());
        for access in watch::moved(&self.watches, moment, kind, range) {
            self.waiting.push(access);
        }
        self.flush();
    }

    fn flush(&mut self) {
        // Whether anybody listens shows in the next run.
        let _ = self.hand_over_all();
    }

    fn expects_ticks(&self) -> bool {
        self.system.borrow().control.expects_ticks()
    }

    fn fault_on_exceptions(&mut self, is_fault: bool) {
        self.system.borrow_mut().exceptions_are_faults = is_fault;
    }

    fn requested_exception(&self) -> Option<Exception> {
        self.system.borrow().requested_exception
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), MachineError> {
        if let Some(checker) = &mut self.checker {
            checker.write(address.0, bytes);
        }
        let written = self.engine.write(address.0, bytes);
        written
            .then_some(())
            .ok_or_else(|| no_memory("write memory"))
    }

    fn take_lowest_stack_pointer(&mut self) -> Option<u32> {
        Some(self.engine.core.take_lowest_sp())
    }

    fn set_register(&mut self, index: usize, value: u32) -> Result<(), MachineError> {
        if index == 13 {
            self.engine.core.start_stack(value);
            return Ok(());
        }
        let mask = match index {
            15 => !1,
            _ => !0,
        };
        if let Some(register) = self.engine.core.r.get_mut(index) {
            *register = value & mask;
        }
        Ok(())
    }

    fn status(&self) -> u32 {
        self.core().status()
    }

    fn set_status(&mut self, status: u32) -> Result<(), MachineError> {
        self.engine.core.set_status(status);
        Ok(())
    }

    fn settings(&self) -> Settings {
        let core = self.core();
        Settings {
            floating_point: core.fpscr & Settings::FLOATING_POINT,
            masks: [core.primask, core.basepri, core.faultmask],
            control: core.control & Settings::CONTROL,
        }
    }

    fn set_float_register(&mut self, index: usize, bits: u32) -> Result<(), MachineError> {
        let has_it = self.has_floating_point();
        match self.engine.core.s.get_mut(index).filter(|_| has_it) {
            Some(register) => {
                *register = bits;
                Ok(())
            }
            None => Err(MachineError {
                what: "set a floating-point register",
                reason: "the CPU has none".to_owned(),
            }),
        }
    }

    fn enable_floating_point(&mut self) {
        self.engine.enable_floating_point();
    }

    fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    fn allowance_mut(&mut self) -> &mut Allowance {
        &mut self.allowance
    }

    fn now(&self) -> Time {
        self.core().time + Time::from(self.at_instruction)
    }

    fn record_every_outcome(&mut self) -> bool {
        self.engine.record_every_outcome();
        true
    }

    fn unknown_outcomes(&self) -> Vec<u32> {
        self.engine.unknown_outcomes().collect()
    }

    fn follow_data(&mut self, follow: bool) -> bool {
        self.engine.follow_data(follow);
        true
    }

    fn mark_data(&mut self, marks: &DataMarks) {
        let Some(taint) = self.engine.taint_mut() else {
            return;
        };
        let addresses = |range: &Range<u64>| range.start as u32..range.end as u32;
        for range in &marks.dependent {
            taint.mark_memory(addresses(range), true);
        }
        for range in &marks.arguments {
            taint.mark_memory(addresses(range), false);
        }
        taint.set_own_memory(addresses(&marks.own));
        if let Some(given) = &marks.given {
            taint.set_given_memory(addresses(given));
        }
        taint.mark_registers(marks.registers, marks.singles);
    }

    fn decisions(&self) -> Vec<(Address, Decision)> {
        let taint = self.engine.taint();
        let decisions = taint
            .into_iter()
            .flat_map(dmo_engine::taint::Taint::decisions);
        decisions.map(|(&pc, &it)| (Address(pc), it)).collect()
    }

    fn count_cycles(&mut self) {
        if let Some(timing) = self.timing {
            self.engine.count_cycles(timing);
            self.pipeline = Some(timing.pipeline);
        }
    }

    fn cycles(&self) -> Option<Cycles> {
        let pipeline = self.pipeline?;
        Some(Cycles::counted(&self.core().cycles, pipeline))
    }

    fn stop_clock_at(&mut self, executed: Time) {
        self.engine.core.time = executed;
        self.at_instruction = false;
    }

    fn withdraw_instruction(&mut self) {
        if let Some(checker) = &mut self.checker {
            checker.withdraw();
        }
    }

    fn stop_on_return(
        &mut self,
        addresses: &[u32],
        stack_pointer: u32,
    ) -> Result<(), MachineError> {
        let stops: Vec<_> = addresses
            .iter()
            .map(|&address| (address, stack_pointer))
            .collect();
        self.engine.stop_at(&stops);
        Ok(())
    }

    fn inspect_at(
        &mut self,
        points: &[ExecutionPoint],
        look: Inspector,
    ) -> Result<(), MachineError> {
        self.inspections.add(points, look);
        Ok(())
    }

    fn run(&mut self) -> Pause {
        let pause = self.run_to_pause();
        self.flush();
        pause
    }

    fn finish_check(&mut self) -> Result<(), CheckError> {
        let Some(mut checker) = self.checker.take() else {
            return Ok(());
        };
        checker.finish(self.now(), |address, length| {
            self.read(Address(address), length).unwrap_or_default()
        })
    }

    fn snapshot(&self) -> Result<Snapshot, MachineError> {
        Ok(Snapshot {
            registers: Box::new(self.core().clone()),
            memory: self.writable_memory()?,
        })
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), MachineError> {
        let registers: &Core = snapshot.registers()?;
        for (address, bytes) in &snapshot.memory {
            self.write(Address(*address), bytes)?;
        }
        let Core {
            time,
            cycles,
            lowest_sp,
            other_lowest_sp,
            ..
        } = *self.core();
        self.engine.core = Core {
            time,
            cycles,
            lowest_sp,
            other_lowest_sp,
            ..registers.clone()
        };
        Ok(())
    }
}
