//! Makes most accesses of a case reach memory.

use super::{Case, Ram};
use crate::random::Random;
use crate::state::{ROUNDING, is_fixed_to_float};
use dmo_engine::operation::{Addressing, Offset, Operation};

/// What an access needs of its base.
enum Base {
    Any,
    Word,
}

/// Makes most accesses of a case reach memory, and most loads of the program counter find code.
pub(super) fn prepare(case: &mut Case, random: &mut Random) {
    for index in 0..case.instructions.len() {
        let Some(operation) = case.instructions[index].operation() else {
            continue;
        };
        if loads_program_counter(&operation) {
            case.ram = Ram::CodeAddresses(random.bits() as u32);
        }
        // Else Unicorn rounds otherwise, see the known differences.
        if is_fixed_to_float(&operation) && !random.one_in(8) {
            case.float_status &= !ROUNDING;
        }
        // At times it is as it comes.
        if !random.one_in(16) {
            place(case, &operation, random);
        }
    }
}

fn loads_program_counter(operation: &Operation) -> bool {
    match *operation {
        Operation::Load { rt, .. } => rt == 15,
        Operation::LoadMultiple { registers, .. } => registers >> 15 == 1,
        _ => false,
    }
}

fn place(case: &mut Case, operation: &Operation, random: &mut Random) {
    use Operation as O;
    match *operation {
        O::Load { addressing, .. } | O::Store { addressing, .. } => {
            place_addressing(case, addressing, &Base::Any, random);
        }
        O::LoadDouble { addressing, .. } | O::StoreDouble { addressing, .. } => {
            place_addressing(case, addressing, &Base::Word, random);
        }
        O::LoadMultiple { rn, .. }
        | O::StoreMultiple { rn, .. }
        | O::LoadExclusive { rn, .. }
        | O::StoreExclusive { rn, .. }
        | O::LoadAcquire { rn, .. }
        | O::StoreRelease { rn, .. }
        | O::FloatLoad { rn, .. }
        | O::FloatStore { rn, .. }
        | O::FloatLoadMultiple { rn, .. }
        | O::FloatStoreMultiple { rn, .. } => set(case, rn, &Base::Word, random),
        O::TableBranch { rn, rm, .. } => {
            set_index(case, rm, random);
            set(case, rn, &Base::Any, random);
        }
        O::BranchExchange { rm, .. } => {
            if let Some(register) = case.registers.get_mut(usize::from(rm)) {
                *register = random.code_address();
            }
        }
        _ => {}
    }
}

fn place_addressing(case: &mut Case, addressing: Addressing, base: &Base, random: &mut Random) {
    if let Offset::Register { rm, .. } = addressing.offset {
        set_index(case, rm, random);
    }
    set(case, addressing.rn, base, random);
}

/// Points a register into memory. The stack pointer already does.
fn set(case: &mut Case, rn: u8, base: &Base, random: &mut Random) {
    let address = match base {
        Base::Any => random.ram_address(),
        Base::Word => random.ram_address() & !3,
    };
    if let Some(register) = case.registers.get_mut(usize::from(rn)).filter(|_| rn != 13) {
        *register = address;
    }
}

fn set_index(case: &mut Case, rm: u8, random: &mut Random) {
    let index = random.below(512).wrapping_sub(128);
    if let Some(register) = case.registers.get_mut(usize::from(rm)).filter(|_| rm != 13) {
        *register = index;
    }
}
