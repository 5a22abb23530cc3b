//! Departing on an excursion: from here on its end and what depends there are known.

use super::super::places::{Places, core};
use super::super::transfer::{Kind, Transfer, transfer};
use super::super::{Step, Taint, Underway};
use super::{End, Excursion, Value};
use crate::core::Core;
use crate::memory::Memory;
use std::ops::Range;

const SP: u8 = 13;

/// An excursion that the program is on.
#[derive(Debug)]
pub(in super::super) struct Away {
    end: u32,
    stack_pointer: u32,
    /// What depends at the end.
    pub(in super::super) places: Places,
}

impl Away {
    pub(in super::super) fn ends_at(&self, here: &Core) -> bool {
        here.r[15] == self.end && here.r[usize::from(SP)] == self.stack_pointer && here.it == 0
    }
}

impl Taint {
    /// Begins an excursion, unless it accesses what others ask about, or returns to where data say.
    pub(in super::super) fn depart(
        &mut self,
        step: Step,
        memory: &Memory,
        excursion: &Excursion,
    ) -> bool {
        if !self.stops.is_disjoint(&excursion.instructions) {
            return false;
        }
        let stack_pointer = step.core.r[usize::from(SP)];
        let above = |offset: i32| stack_pointer.wrapping_add_signed(offset);
        let stack = excursion.stack.clone();
        let bytes = {
            let start = i64::from(stack_pointer) + i64::from(stack.start);
            let end = i64::from(stack_pointer) + i64::from(stack.end);
            u64::try_from(start).ok().zip(u64::try_from(end).ok())
        };
        let Some((start, end)) = bytes else {
            return false;
        };
        let stack = start..end;
        if self.places & core(SP) != 0 || !stack.is_empty() && !self.owns(&stack) {
            return false;
        }
        let transfers = excursion.accesses.iter();
        let transfers: Vec<Transfer> = transfers
            .filter_map(|operation| transfer(step.core, operation))
            .collect();
        let may_be_made = |it: &Transfer| {
            self.is_free(step.core, memory, it) && (it.kind == Kind::Load || !is_within(it, &stack))
        };
        if transfers.len() != excursion.accesses.len() || !transfers.iter().all(may_be_made) {
            return false;
        }
        let end = match excursion.end {
            End::At(address) => Some(address),
            End::Return(value) => self.target(step.core, memory, value, stack_pointer),
        };
        let returns = matches!(excursion.end, End::Return(_));
        let is_unclear = |end: &u32| returns && excursion.instructions.contains(end);
        let Some(end) = end.filter(|end| !is_unclear(end)) else {
            return false;
        };
        let depends = |value: Value| match value {
            Value::Unknown => true,
            Value::Register(index) => self.places & core(index) != 0,
            Value::Word(offset) => self.memory.any(above(offset), 4),
            Value::Constant(_) => false,
        };
        let mut places = self.places | excursion.writes;
        let mut changed = excursion.writes;
        for index in (0..15).filter(|&index| index != SP) {
            let value = excursion.state.register(index);
            places = places & !core(index) | if depends(value) { core(index) } else { 0 };
            if value != Value::Register(index) {
                changed |= core(index);
            }
        }
        let words = excursion.state.words();
        let words: Vec<(u32, bool)> = words
            .map(|(offset, value)| (above(offset), depends(value)))
            .collect();
        for (address, depends) in words {
            self.set_memory(memory, address, 4, depends);
        }
        for transfer in transfers.iter().filter(|it| it.kind == Kind::Store) {
            for (address, _) in transfer.parts() {
                self.set_memory(memory, address, transfer.size_bytes, true);
            }
        }
        self.ranges.forget(changed);
        self.underway.push(Underway::Away(Away {
            end,
            stack_pointer: above(excursion.stack_moved),
            places,
        }));
        true
    }

    /// Where it returns to.
    fn target(
        &self,
        here: &Core,
        memory: &Memory,
        value: Value,
        stack_pointer: u32,
    ) -> Option<u32> {
        let address = match value {
            Value::Register(index) if self.places & core(index) == 0 => {
                here.r.get(usize::from(index)).copied()
            }
            Value::Word(offset) => {
                let place = stack_pointer.wrapping_add_signed(offset);
                let bytes = memory
                    .read(place, 4)
                    .filter(|_| !self.memory.any(place, 4))?;
                Some(u32::from_le_bytes(bytes.try_into().ok()?))
            }
            _ => None,
        };
        address
            .filter(|address| address & 1 == 1)
            .map(|address| address & !1)
    }
}

/// Whether an access is to any of these bytes.
fn is_within(transfer: &Transfer, bytes: &Range<u64>) -> bool {
    transfer.parts().any(|(address, _)| {
        let start = u64::from(address);
        start < bytes.end && bytes.start < start + u64::from(transfer.size_bytes)
    })
}
