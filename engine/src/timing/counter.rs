//! Counts, one instruction after the other.

use super::operands::Access;
use super::{Cost, Cycles, Flash, HALVES, Pipeline, SKIPPED_CYCLES, Timing};
use crate::arithmetic::condition_holds;
use crate::core::Core;
use crate::operation::Operation;
use std::ops::Range;

/// What was executed before an instruction, as far as its time depends on it.
///
/// The cost lies as it does by itself, and is written in one piece: it is written and read at each
/// instruction that is interpreted, and pieces that are read otherwise than written take ten times as
/// long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Previous {
    /// Nothing that matters, or it has been counted already.
    Nothing,
    /// A branch that was taken.
    Branch,
    /// The instruction before it in memory, outside IT blocks.
    Instruction(Cost),
}

/// Counts the cycles of a core.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) pipeline: Pipeline,
    pub(crate) previous: Previous,
    /// Where it makes the core wait. In a place of its own, for translated code to find.
    pub(crate) flash: Option<Box<Flash>>,
}

/// An instruction about to be executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    halves: u64,
    is_skipped: bool,
    in_it_block: bool,
    load: Option<Access>,
}

impl Counter {
    /// With flash memory at these addresses.
    pub(crate) fn new(timing: Timing, flash: &[Range<u32>]) -> Self {
        let state = |timing| Box::new(Flash::new(timing, flash));
        Self {
            pipeline: timing.pipeline,
            previous: Previous::Nothing,
            flash: timing.flash.map(state),
        }
    }

    /// Counts what the instruction at the program counter takes more or less for what was
    /// executed before it.
    pub(crate) fn arrive(&mut self, core: &mut Core, cost: &Cost) {
        let more = match &self.previous {
            _ if core.it != 0 => 0,
            Previous::Nothing => 0,
            Previous::Branch => cost.after_branch(self.pipeline),
            Previous::Instruction(previous) => cost.after(previous, self.pipeline),
        };
        self.previous = Previous::Nothing;
        core.cycles.halves = core.cycles.halves.wrapping_add_signed(more);
    }

    /// Fetches the instruction at the program counter.
    pub(crate) fn fetch(&mut self, core: &mut Core, size_bytes: u8) {
        if let Some(flash) = &mut self.flash {
            flash.fetch(&mut core.cycles, core.r[15], size_bytes.into());
        }
    }

    /// What an instruction will take, by itself.
    pub(crate) fn expect(&self, core: &Core, operation: &Operation, cost: &Cost) -> Expected {
        let it = core.it;
        let always = matches!(operation, Operation::Breakpoint { .. });
        let flags = [core.n, core.z, core.c, core.v];
        let is_skipped = it != 0 && !always && !condition_holds(it >> 4, flags);
        let halves = if is_skipped {
            u64::from(SKIPPED_CYCLES) * HALVES
        } else {
            let single = || Access::single(operation, core, core.r[15]);
            let unaligned = cost.may_be_unaligned.then(single).flatten();
            u64::from(cost.cycles) * HALVES
                + cost.operands.halves(core)
                + unaligned.map_or(0, Access::unaligned_halves)
        };
        let loads = !is_skipped && self.flash.is_some();
        let load = loads.then(|| Access::load(operation, core, core.r[15]));
        Expected {
            load: load.flatten(),
            halves,
            is_skipped,
            in_it_block: it != 0,
        }
    }

    /// Counts an instruction that was executed. The program counter is after it.
    pub(crate) fn executed(&mut self, core: &mut Core, expected: Expected, cost: &Cost, next: u32) {
        let taken = !expected.is_skipped && (cost.is_indirect || core.r[15] != next);
        if let (Some(flash), Some(load)) = (&mut self.flash, expected.load) {
            flash.load(&mut core.cycles, load.address, load.size_bytes);
        }
        let Cycles { halves, .. } = &mut core.cycles;
        *halves += expected.halves;
        if taken {
            *halves += u64::from(cost.taken) * HALVES;
        }
        if taken {
            self.previous = Previous::Branch;
        } else if expected.in_it_block {
            self.previous = Previous::Nothing;
        } else {
            self.previous = Previous::Instruction(*cost);
        }
    }
}
