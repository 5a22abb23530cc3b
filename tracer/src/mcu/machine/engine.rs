//! What an engine can do: [`super::Machine`] says what it means.

use super::inspection::{ExecutionPoint, Inspector, Sight};
use super::limits::Allowance;
use super::{
    Accompanied, DataMarks, Decision, Deliver, MachineError, Pause, Precision, Settings, Watch,
};
use crate::mcu::cycles::Cycles;
use crate::mcu::self_check::CheckError;
use crate::mcu::system::Exception;
use dmo_analysis::trace::{AccessKind, Address, Time};
use std::any::Any;
use std::ops::Range;

/// The state of a machine, see [`super::Machine::snapshot`].
pub struct Snapshot {
    /// As the engine keeps them.
    pub(super) registers: Box<dyn Any>,
    /// Each stretch of writable memory.
    pub(super) memory: Vec<(u32, Vec<u8>)>,
}

impl Snapshot {
    /// The registers, as this engine keeps them.
    pub(super) fn registers<T: Any>(&self) -> Result<&T, MachineError> {
        self.registers.downcast_ref().ok_or_else(|| MachineError {
            what: "restore the registers",
            reason: "they are those of another engine".to_owned(),
        })
    }
}

/// Executes the instructions of a machine. A method that has the name of one of the machine means
/// the same.
pub(super) trait Engine<'a>: Sight {
    /// Under the self-check, other engines execute the same.
    fn accompany(&mut self, companions: Vec<Accompanied>);
    fn deliver_to(&mut self, deliver: Deliver<'a>, precision: Precision);
    fn note_entries(&mut self, addresses: &[u32]) -> Result<(), MachineError>;
    fn entered(&self) -> Vec<u32>;
    fn watch(&mut self, watches: Vec<Watch>) -> Result<(), MachineError>;
    fn moved(&mut self, kind: AccessKind, range: &Range<u64>);
    fn flush(&mut self);

    fn expects_ticks(&self) -> bool;
    fn fault_on_exceptions(&mut self, is_fault: bool);
    fn requested_exception(&self) -> Option<Exception>;

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), MachineError>;
    fn take_lowest_stack_pointer(&mut self) -> Option<u32>;
    fn set_register(&mut self, index: usize, value: u32) -> Result<(), MachineError>;
    fn status(&self) -> u32;
    fn set_status(&mut self, status: u32) -> Result<(), MachineError>;
    fn settings(&self) -> Settings;
    fn set_float_register(&mut self, index: usize, bits: u32) -> Result<(), MachineError>;
    fn enable_floating_point(&mut self);

    fn allowance(&self) -> &Allowance;
    fn allowance_mut(&mut self) -> &mut Allowance;
    fn now(&self) -> Time;
    /// Where it can; false where it cannot.
    fn record_every_outcome(&mut self) -> bool {
        false
    }
    fn unknown_outcomes(&self) -> Vec<u32> {
        Vec::new()
    }
    /// Where it can; false where it cannot.
    fn follow_data(&mut self, _follow: bool) -> bool {
        false
    }
    fn mark_data(&mut self, _marks: &DataMarks) {}
    fn decisions(&self) -> Vec<(Address, Decision)> {
        Vec::new()
    }
    /// Where it can.
    fn count_cycles(&mut self) {}
    fn cycles(&self) -> Option<Cycles> {
        None
    }
    /// From here on so many instructions have been executed, whatever was under way.
    fn stop_clock_at(&mut self, executed: Time);
    /// The self-check has heard of the instruction at the program counter; it does not execute
    /// for now.
    fn withdraw_instruction(&mut self);

    fn stop_on_return(&mut self, addresses: &[u32], stack_pointer: u32)
    -> Result<(), MachineError>;
    fn inspect_at(
        &mut self,
        points: &[ExecutionPoint],
        look: Inspector,
    ) -> Result<(), MachineError>;
    fn run(&mut self) -> Pause;
    fn finish_check(&mut self) -> Result<(), CheckError>;

    fn snapshot(&self) -> Result<Snapshot, MachineError>;
    /// The clock has been stopped.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), MachineError>;
}
