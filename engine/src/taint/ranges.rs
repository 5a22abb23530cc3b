//! Between which numbers a register lies, whatever the data are.
//!
//! That a register depends on data says nothing of how far it can be off. An index that is loaded as a
//! byte reaches 256 entries of a table and no more, wherever the table is.

use super::places::{self, NZCV, Places};
use super::range::Range;
use super::results::{result, source_range};
use crate::core::Core;
use crate::interpreter::address::register;
use crate::operation::{Addressing, Comparison, Condition, Offset, Operation, ShiftKind};

/// Whether an instruction is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happens {
    /// Whatever the data are.
    Always,
    /// Where this condition holds.
    If(Condition),
    /// On some ways.
    Perhaps,
}

/// What each register may hold that depends; what another holds is known.
#[derive(Debug, Clone)]
pub(super) struct Ranges {
    registers: [Range; 15],
    /// The flags are of this comparison, which was made whatever the data are.
    compared: Option<Compared>,
    /// What was written last under a condition, if flags are as they were.
    half: Option<Half>,
}

/// A register that holds this where a condition holds.
#[derive(Debug, Clone, Copy)]
struct Half {
    register: u8,
    condition: Condition,
    range: Range,
}

/// A register that still holds what was compared, and what it was compared with.
#[derive(Debug, Clone, Copy)]
struct Compared {
    register: u8,
    other: Range,
}

impl Ranges {
    /// Nothing is known.
    pub(super) fn any() -> Self {
        Self {
            registers: [Range::ANY; 15],
            compared: None,
            half: None,
        }
    }

    /// Nothing is known of these registers, and of what was compared.
    pub(super) fn forget(&mut self, places: Places) {
        (self.compared, self.half) = (None, None);
        for (index, range) in self.registers.iter_mut().enumerate() {
            if places >> index & 1 == 1 {
                *range = Range::ANY;
            }
        }
    }

    /// A register as a source, if `places` depend.
    pub(super) fn of(&self, core: &Core, places: Places, index: u8) -> Range {
        let depends = places & places::core(index) != 0;
        let range = self.registers.get(usize::from(index));
        let range = range.filter(|_| depends);
        range.map_or_else(|| Range::exact(register(core, index)), |range| *range)
    }

    /// Follows an instruction that is about to write `written`, from memory perhaps this word.
    pub(super) fn follow(
        &mut self,
        core: &Core,
        places: Places,
        operation: &Operation,
        written: Places,
        happens: Happens,
        word: Option<u32>,
    ) {
        let of = |index| self.of(core, places, index);
        let found = match (operation, word) {
            (Operation::Load { rt, .. }, Some(word)) => Some((*rt, Range::exact(word))),
            _ => result(operation, &of),
        };
        let compared = compared(operation, &of).filter(|_| happens == Happens::Always);
        let is_known = |register: u8| written & (NZCV | places::core(register)) == 0;
        let mut half = self.half.filter(|it| is_known(it.register));
        for index in (0..15).filter(|index| written & places::core(*index) != 0) {
            let range = found.filter(|(rd, _)| *rd == index && index != 13);
            let range = range.map_or(Range::ANY, |(_, range)| range);
            self.registers[usize::from(index)] = match happens {
                Happens::Always => range,
                Happens::If(condition) => {
                    half = Some(Half {
                        register: index,
                        condition,
                        range,
                    });
                    range.or(self.otherwise(core, places, index, condition))
                }
                Happens::Perhaps => range.or(self.of(core, places, index)),
            };
        }
        self.compared = compared.or(self.compared.filter(|it| is_known(it.register)));
        self.half = half;
    }

    /// What a register holds where a condition fails.
    fn otherwise(&self, core: &Core, places: Places, index: u8, condition: Condition) -> Range {
        let is_other = |it: &Half| it.register == index && it.condition == condition.opposite();
        if let Some(half) = self.half.filter(is_other) {
            return half.range;
        }
        let range = self.of(core, places, index);
        let compared = self.compared.filter(|it| it.register == index);
        compared.map_or(range, |compared| range.without(condition, compared.other))
    }

    /// The addresses at which an access of this many bytes may be, from the first to the last; `None` where
    /// it may be anywhere, or at no multiple of its size.
    pub(super) fn addresses(
        &self,
        core: &Core,
        places: Places,
        addressing: Addressing,
        size_bytes: u32,
    ) -> Option<[u32; 2]> {
        let Addressing {
            rn, offset, index, ..
        } = addressing;
        // Of the program counter the lowest bits are cut off.
        let base = (rn != 15).then(|| self.of(core, places, rn))?;
        let address = match offset {
            _ if !index => base,
            Offset::Immediate(offset) => base.plus(Range::exact(offset as u32)),
            Offset::Register { rm, shift } => {
                let offset = self.of(core, places, rm);
                base.plus(offset.shifted(ShiftKind::Lsl, shift.into()))
            }
        };
        let ends = address.unsigned().map(|it| it as u32);
        let is_known = ends != [0, u32::MAX] && address.is_multiple_of(size_bytes);
        is_known.then_some(ends)
    }

    /// Has a register lie there.
    #[cfg(test)]
    pub(super) fn set(&mut self, index: u8, range: Range) {
        self.registers[usize::from(index)] = range;
    }
}

fn compared(operation: &Operation, of: &dyn Fn(u8) -> Range) -> Option<Compared> {
    match *operation {
        Operation::Compare {
            comparison: Comparison::Cmp,
            rn,
            source,
        } => Some(Compared {
            register: rn,
            other: source_range(source, of),
        }),
        _ => None,
    }
}
