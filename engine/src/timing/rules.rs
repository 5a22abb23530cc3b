//! What each class of instructions takes on each core. docs/cycles.md names the sources.

use super::class::sets_flags;
use super::operands::{Operands, least_long_multiply, may_be_unaligned};
use super::registers::{Registers, words};
use super::{Class, Cost, Pipeline};
use crate::operation::{Instruction, Operation};

/// Cycles where it executes, and further ones where it branches.
type Cycles = (u8, u8);

impl Cost {
    /// Of an instruction at an address.
    pub(crate) fn of(pipeline: Pipeline, instruction: &Instruction, pc: u32) -> Self {
        let operation = &instruction.operation;
        let class = Class::of(instruction);
        let (cycles, taken) = match pipeline {
            Pipeline::CortexM0Plus => two_stages(class, operation),
            Pipeline::CortexM3 => three_stages(class, operation, true),
            Pipeline::CortexM4 => three_stages(class, operation, false),
            Pipeline::CortexM33 => late_results(class, operation, 1),
            Pipeline::CortexM55 => late_results(class, operation, 2),
            Pipeline::CortexM7 => superscalar(class, operation),
        };
        let registers = Registers::of(operation);
        let is_branch = class.is_branch() || registers.loads >> 15 == 1;
        Self {
            cycles,
            taken,
            operands: Operands::of(pipeline, class, operation),
            class,
            is_indirect: is_branch
                && !matches!(class, Class::Branch | Class::Call | Class::LoopEnd),
            may_be_unaligned: may_be_unaligned(operation),
            is_narrow: instruction.bytes == 2,
            sets_flags: sets_flags(operation),
            is_unaligned: instruction.bytes == 4 && pc % 4 == 2,
            reads: registers.reads,
            address: registers.address,
            writes: registers.writes,
            loads: registers.loads,
            written_back: registers.written_back,
        }
    }
}

/// Cortex-M0+.
fn two_stages(class: Class, operation: &Operation) -> Cycles {
    match class {
        Class::Load | Class::Store | Class::StoreOffset => (2, 0),
        Class::LoadMultiple | Class::StoreMultiple => (1 + words(operation), 2),
        Class::Branch | Class::BranchRegister => (1, 1),
        Class::Call => (1, 2),
        Class::Barrier => (3, 0),
        Class::Special if !matches!(operation, Operation::ChangeState { .. }) => (3, 0),
        _ => (1, 0),
    }
}

/// Cycles that the Cortex-M3 and M4 take to refill their pipeline after a branch to a constant
/// distance, and to where a register or a loaded word says.
const REFILL: u8 = 1;
const REFILL_REGISTER: u8 = 2;
const REFILL_LOADED: u8 = 3;

/// Cortex-M3 and M4.
fn three_stages(class: Class, operation: &Operation, is_m3: bool) -> Cycles {
    match class {
        Class::MultiplyAdd if is_m3 => (2, 0),
        Class::MultiplyLong if is_m3 => (least_long_multiply(operation), 0),
        Class::Divide | Class::Load | Class::StoreOffset => (2, 0),
        Class::LoadMultiple | Class::StoreMultiple => (1 + words(operation), REFILL_REGISTER),
        Class::LoadBranch => (2, REFILL_LOADED),
        Class::TableBranch => (3, REFILL_LOADED),
        Class::Branch | Class::Call | Class::LoopEnd => (1, REFILL),
        Class::BranchRegister => (1, REFILL_REGISTER),
        Class::Barrier | Class::Special => (2, 0),
        Class::FloatMultiplyAdd => (3, 0),
        Class::FloatDivide => (14, 0),
        Class::FloatMoveTwo => (2, 0),
        Class::FloatLoad | Class::FloatStore => (1 + words(operation), 0),
        _ => (1, 0),
    }
}

/// Cortex-M33, and with another refill the M55.
fn late_results(class: Class, operation: &Operation, refill: u8) -> Cycles {
    match class {
        Class::Multiply if sets_flags(operation) => (2, 0),
        Class::Divide => (2, 0),
        Class::LoadMultiple | Class::StoreMultiple => (words(operation), refill + 1),
        Class::LoadBranch => (2, refill + 1),
        Class::TableBranch => (3, refill + 1),
        Class::Branch | Class::Call => (1, refill),
        Class::LoopEnd => (1, 0),
        Class::BranchRegister => (1, refill),
        Class::Barrier | Class::Special => (2, 0),
        Class::FloatDivide => (14, 0),
        Class::FloatMoveTwo => (2, 0),
        Class::FloatLoad | Class::FloatStore => (words(operation), 0),
        _ => (1, 0),
    }
}

/// Cortex-M7, where branches are predicted.
fn superscalar(class: Class, operation: &Operation) -> Cycles {
    match class {
        Class::Divide => (2, 0),
        Class::LoadMultiple | Class::StoreMultiple => (words(operation).div_ceil(2), 2),
        Class::LoadBranch | Class::TableBranch => (2, 2),
        Class::Branch | Class::Call => (1, 1),
        Class::BranchRegister => (1, 2),
        Class::Barrier | Class::Special => (2, 0),
        Class::FloatDivide => (16, 0),
        Class::FloatLoad | Class::FloatStore => (words(operation).div_ceil(2), 0),
        _ => (1, 0),
    }
}
