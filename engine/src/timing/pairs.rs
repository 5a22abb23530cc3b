//! What an instruction takes more or less after another.

use super::{Class, Cost, HALVES, Pipeline};

/// A cycle, in halves.
const CYCLE: i64 = HALVES as i64;
/// What two instructions that are issued together gain, on average over a run of such.
const ISSUED_TOGETHER: i64 = -1;

impl Cost {
    /// Halves of a cycle that it takes more after `previous`. Both are outside IT blocks, and no
    /// branch lies between them.
    pub(crate) fn after(&self, previous: &Self, pipeline: Pipeline) -> i64 {
        match pipeline {
            Pipeline::CortexM0Plus => 0,
            Pipeline::CortexM3 | Pipeline::CortexM4 => {
                self.pipelined(previous, pipeline) + self.address_stall(previous)
            }
            Pipeline::CortexM33 | Pipeline::CortexM55 => {
                self.result_stall(previous) + self.folded(previous)
            }
            Pipeline::CortexM7 => self.superscalar(previous),
        }
    }

    /// Halves of a cycle that it takes more where a branch has gone to it.
    pub(crate) fn after_branch(&self, pipeline: Pipeline) -> i64 {
        match pipeline {
            Pipeline::CortexM3 | Pipeline::CortexM4 if self.is_unaligned => CYCLE,
            _ => 0,
        }
    }

    /// M3 and M4: what overlaps with the access before it, or must not.
    fn pipelined(&self, previous: &Self, pipeline: Pipeline) -> i64 {
        use Class as C;
        let depends = self.address & previous.loads != 0;
        match (previous.class, self.class) {
            (C::Load, C::Load) if !depends && self.chains(previous, pipeline) => -CYCLE,
            (C::Load, C::Store) if !depends => {
                let late = pipeline == Pipeline::CortexM3 && self.written_back.is_some();
                if late { 0 } else { -CYCLE }
            }
            (C::Load, C::StoreOffset) if !depends => -CYCLE,
            (C::Load | C::StoreOffset, C::Nop) => -CYCLE,
            (before, C::Load | C::LoadMultiple | C::LoadBranch) if before.is_store() => CYCLE,
            (before, C::IfThen) if previous.is_narrow && !before.is_branch() => -CYCLE,
            _ => 0,
        }
    }

    /// Whether a load overlaps with the load before it, as far as their written-back bases go.
    fn chains(&self, previous: &Self, pipeline: Pipeline) -> bool {
        match self.written_back {
            None => true,
            Some(_) if pipeline == Pipeline::CortexM3 => false,
            own => previous.written_back != own,
        }
    }

    /// M3 and M4: a computed address is not forwarded.
    fn address_stall(&self, previous: &Self) -> i64 {
        let computed = previous.class.is_data_processing() && self.class.is_access();
        if computed && self.address & previous.writes != 0 {
            CYCLE
        } else {
            0
        }
    }

    /// M33 and M55: what is loaded, shifted or multiplied is there a cycle later.
    fn result_stall(&self, previous: &Self) -> i64 {
        use Class as C;
        let late = match previous.class {
            C::Load => previous.loads,
            C::Shifted | C::Bits | C::Multiply | C::MultiplyAdd | C::MultiplyLong => {
                previous.writes
            }
            C::FloatMultiplyAdd if self.class.is_floating_point() => return 2 * CYCLE,
            _ => 0,
        };
        if (self.reads | self.address) & late != 0 {
            CYCLE
        } else {
            0
        }
    }

    /// M33 and M55: some instructions of 16 bits take no time after another one.
    fn folded(&self, previous: &Self) -> i64 {
        let folds = match self.class {
            Class::Nop => previous.class != Class::Nop,
            Class::IfThen => true,
            Class::Branch => !previous.sets_flags,
            _ => false,
        };
        let both_narrow = self.is_narrow && previous.is_narrow;
        if folds && both_narrow && !previous.class.is_branch() {
            -CYCLE
        } else {
            0
        }
    }

    fn superscalar(&self, previous: &Self) -> i64 {
        use Class as C;
        if (self.reads | self.address) & previous.writes != 0 {
            let late = previous.class == C::Load || previous.class.is_multiplication();
            let early = previous.class.is_data_processing() && self.address & previous.writes != 0;
            return if late || early { CYCLE } else { 0 };
        }
        if self.is_issued_with(previous) {
            ISSUED_TOGETHER
        } else {
            0
        }
    }

    fn is_issued_with(&self, previous: &Self) -> bool {
        use Class as C;
        let alone = |class| {
            matches!(
                class,
                C::LoadMultiple
                    | C::StoreMultiple
                    | C::Divide
                    | C::LoadBranch
                    | C::TableBranch
                    | C::Barrier
                    | C::Special
                    | C::FloatDivide
            )
        };
        let (a, b) = (previous.class, self.class);
        if alone(a) || alone(b) || a.is_branch() {
            return false;
        }
        let same_unit = a == b && matches!(a, C::Shifted | C::Bits)
            || a.is_store() && b.is_store()
            || a.is_multiplication() && (b.is_multiplication() || b.is_store())
            || b.is_multiplication() && a.is_store()
            || a.is_floating_point() && b.is_floating_point();
        !same_unit
    }
}
