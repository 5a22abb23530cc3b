//! Counted cycles.

/// Halves of a cycle in a cycle.
pub(crate) const HALVES: u64 = 2;

/// Estimated cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Cycles {
    /// Halves of a cycle that the pipeline takes, with memory that never makes it wait.
    pub(crate) halves: u64,
    /// Cycles that it waits for instructions.
    pub code_stalls: u64,
    /// Cycles that it waits for loaded data.
    pub data_stalls: u64,
}

impl Cycles {
    /// Cycles that the pipeline takes, with memory that never makes it wait.
    pub fn base(&self) -> u64 {
        self.halves.div_ceil(HALVES)
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.base() + self.code_stalls + self.data_stalls
    }

    /// Those since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            halves: self.halves.saturating_sub(earlier.halves),
            code_stalls: self.code_stalls.saturating_sub(earlier.code_stalls),
            data_stalls: self.data_stalls.saturating_sub(earlier.data_stalls),
        }
    }
}
