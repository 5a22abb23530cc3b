//! Executes one instruction, plainly, as the manual has it.

pub(crate) mod address;
mod control;
mod data;
mod float;
mod memory;
mod multiply;
mod outcome;
mod parallel;
mod special;

use crate::arithmetic::{condition_holds, shift};
use crate::core::Core;
use crate::fault::Fault;
use crate::features::Features;
use crate::memory::{Memory, Moment};
use crate::operation::{Condition, Operation, Shifted, Source};

/// What follows an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next one, in order or where a branch went.
    Next,
    /// It was a hint that says something to others.
    Hint,
    /// It waits for an interrupt. It does not count as executed.
    Sleep,
    /// It is a breakpoint. It does not count as executed.
    Breakpoint(u8),
    /// It branches to itself for ever. It does not count as executed.
    Loop,
}

/// Executes the instruction at the program counter.
///
/// # Errors
/// Why it cannot be executed. The program counter is then still at it, but for
/// [`Fault::NotThumb`]: the branch was executed, and the program counter is where it went.
#[inline]
pub fn step(
    core: &mut Core,
    memory: &mut Memory,
    features: &Features,
    operation: &Operation,
    bytes: u8,
) -> Result<Flow, Fault> {
    let it = core.it;
    let pc = core.r[15];
    let next = pc.wrapping_add(u32::from(bytes));
    if it != 0 {
        core.it = advanced(it);
        let unconditional = matches!(operation, Operation::Breakpoint { .. });
        if !unconditional && !condition_holds(it >> 4, [core.n, core.z, core.c, core.v]) {
            if memory.records_every_outcome {
                outcome::note_skipped(core, memory, operation);
            }
            core.r[15] = next;
            core.time += 1;
            return Ok(Flow::Next);
        }
        if memory.records_every_outcome {
            outcome::note_executed(pc, memory, operation);
        }
    }
    let mut execution = Execution {
        core,
        memory,
        features,
        pc,
        next,
        in_it_block: it != 0,
    };
    let flow = execution.execute(operation);
    let next = execution.next;
    if it != 0 {
        memory.condition = crate::memory::Condition::Unconditional;
    }
    match flow {
        Ok(Flow::Next | Flow::Hint) => {
            core.r[15] = next;
            core.time += 1;
        }
        Err(Fault::NotThumb { address }) => {
            core.r[15] = address;
            core.time += 1;
        }
        _ => core.it = it,
    }
    flow
}

/// Executes an instruction that needs nothing but the registers of the DSP extension or of the
/// floating-point unit: not in an IT block, and without counting it.
pub(crate) fn compute(core: &mut Core, operation: &Operation) {
    if operation.is_floating_point() {
        float::compute(core, operation);
    } else {
        parallel::parallel(core, operation);
    }
}

/// The IT state of the next instruction.
pub(crate) fn advanced(it: u32) -> u32 {
    match it & 0b111 {
        0 => 0,
        _ => it & 0b1110_0000 | it << 1 & 0b0001_1111,
    }
}

/// One instruction in execution.
struct Execution<'a> {
    core: &'a mut Core,
    memory: &'a mut Memory,
    features: &'a Features,
    /// Its address.
    pc: u32,
    /// The address of the one to be executed next.
    next: u32,
    in_it_block: bool,
}

type Outcome = Result<(), Fault>;

impl Execution<'_> {
    fn execute(&mut self, operation: &Operation) -> Result<Flow, Fault> {
        use Operation as O;
        match *operation {
            O::Alu { .. } | O::Move { .. } | O::Compare { .. } | O::ShiftBy { .. } => {
                self.data_processing(operation)?;
            }
            O::MoveTop { .. }
            | O::Address { .. }
            | O::Extend { .. }
            | O::Reverse { .. }
            | O::CountLeadingZeros { .. }
            | O::BitFieldInsert { .. }
            | O::BitFieldExtract { .. }
            | O::ConditionalSelect { .. } => self.bits(operation)?,
            O::Multiply { .. }
            | O::MultiplyAdd { .. }
            | O::MultiplyLong { .. }
            | O::Divide { .. }
            | O::MultiplyHalves { .. }
            | O::MultiplyWordByHalf { .. }
            | O::MultiplyDual { .. }
            | O::MultiplyHalvesLong { .. }
            | O::MultiplyDualLong { .. }
            | O::MultiplyTop { .. } => self.multiplication(operation)?,
            O::Parallel { .. }
            | O::SaturatingAdd { .. }
            | O::Saturate { .. }
            | O::SaturateHalves { .. }
            | O::SumOfDifferences { .. }
            | O::Select { .. }
            | O::Pack { .. } => parallel::parallel(self.core, operation),
            O::Load { .. }
            | O::Store { .. }
            | O::LoadDouble { .. }
            | O::StoreDouble { .. }
            | O::LoadMultiple { .. }
            | O::StoreMultiple { .. }
            | O::LoadExclusive { .. }
            | O::StoreExclusive { .. }
            | O::LoadAcquire { .. }
            | O::StoreRelease { .. } => self.access(operation)?,
            O::Branch { .. }
            | O::BranchLink { .. }
            | O::BranchExchange { .. }
            | O::CompareBranch { .. }
            | O::TableBranch { .. }
            | O::IfThen { .. }
            | O::LoopStart { .. }
            | O::LoopEnd { .. } => return self.branch(operation),
            O::ClearExclusive => self.core.exclusive = 0,
            O::Nop => {}
            O::Hint => return Ok(Flow::Hint),
            O::Sleep => return Ok(Flow::Sleep),
            O::Breakpoint { number } => return Ok(Flow::Breakpoint(number)),
            O::SupervisorCall { number } => return Err(Fault::SupervisorCall { number }),
            O::PermanentlyUndefined => return Err(Fault::Undefined),
            O::ClearRegisters { .. }
            | O::ChangeState { .. }
            | O::ReadSpecial { .. }
            | O::WriteSpecial { .. } => self.special(operation)?,
            O::FloatLoad { .. }
            | O::FloatStore { .. }
            | O::FloatLoadMultiple { .. }
            | O::FloatStoreMultiple { .. } => self.float_access(operation)?,
            O::MoveSingle { .. }
            | O::MoveSingles { .. }
            | O::MoveDouble { .. }
            | O::MoveLane { .. }
            | O::ReadFloatStatus { .. }
            | O::WriteFloatStatus { .. }
            | O::FloatSelect { .. } => self.float_move(operation)?,
            _ => float::compute(self.core, operation),
        }
        Ok(Flow::Next)
    }

    /// A register as a source.
    #[inline]
    fn register(&self, index: u8) -> u32 {
        address::register(self.core, index)
    }

    /// Sets a register but r15.
    #[inline]
    fn set_register(&mut self, index: u8, value: u32) -> Outcome {
        if index == 13 {
            return self.set_stack_pointer(value);
        }
        self.core.r[usize::from(index & 15)] = value;
        Ok(())
    }

    /// Its lowest two bits are always zero, and Armv8-M has a limit for it.
    fn set_stack_pointer(&mut self, value: u32) -> Outcome {
        let value = value & !3;
        if value < self.stack_limit() {
            return Err(Fault::StackLimit { address: value });
        }
        self.core.move_stack(value);
        Ok(())
    }

    fn stack_limit(&self) -> u32 {
        self.core.stack_limits[(self.core.control >> 1 & 1) as usize]
    }

    /// A branch that stays in Thumb state.
    fn go(&mut self, address: u32) {
        self.next = address & !1;
    }

    /// A branch whose lowest bit says whether the code is Thumb.
    fn go_exchanging(&mut self, address: u32) -> Outcome {
        if address & 1 == 0 {
            return Err(Fault::NotThumb { address });
        }
        self.go(address);
        Ok(())
    }

    #[inline]
    fn shifted(&self, Shifted { rm, kind, amount }: Shifted) -> (u32, u32) {
        shift(kind, self.register(rm), u32::from(amount), self.core.c)
    }

    /// The flexible operand and the carry that comes with it.
    #[inline]
    fn source(&self, source: Source) -> (u32, u32) {
        match source {
            Source::Immediate { value, carry } => (value, carry.map_or(self.core.c, u32::from)),
            Source::Register(shifted) => self.shifted(shifted),
        }
    }

    fn holds(&self, condition: Condition) -> bool {
        let Core { n, z, c, v, .. } = *self.core;
        condition_holds(condition as u32, [n, z, c, v])
    }

    fn moment(&self) -> Moment {
        Moment {
            time: self.core.time + 1,
            pc: self.pc,
        }
    }

    fn set_nz(&mut self, result: u32) {
        self.core.n = result >> 31;
        self.core.z = u32::from(result == 0);
    }
}
