//! Which calls of a kernel are traced, and what scratch memory holds in them.

use dmo_analysis::random::{SplitMix64, mixed};

/// Which calls are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    /// The first on its machine, on input number 0.
    First,
    /// The calls after the first: a kernel that keeps state may do something else in them.
    Later { inputs: u64 },
}

impl Calls {
    /// The numbers of their inputs, and what scratch memory holds. The last call on a machine finds
    /// there what the one before has left: on a device nobody else need have been there.
    pub(super) fn numbers(self, has_scratch: bool) -> Vec<(u64, Stale)> {
        let numbers = match self {
            Self::First | Self::Later { inputs: ..=1 } => 0..1,
            Self::Later { inputs } => 1..inputs,
        };
        let last = numbers.end - 1;
        let again = has_scratch && self != Self::First;
        let numbers = numbers.map(|number| (number, Stale::Other));
        numbers
            .chain(again.then_some((last, Stale::Kept)))
            .collect()
    }
}

/// What scratch memory holds before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stale {
    /// Something else each time.
    Other,
    /// What is there.
    Kept,
}

/// Bytes without a pattern, other ones for each seed.
pub(super) fn other_content(seed: u64, size_bytes: u32) -> Vec<u8> {
    let mut random = SplitMix64::new(mixed(seed));
    (0..size_bytes).map(|_| random.next_u64() as u8).collect()
}
