//! Estimated cycles (docs/cycles.md), and the flash memory of common parts.

use dmo_engine::timing::{Held, Pipeline, Timing};
use schemars::JsonSchema;
use serde::Serialize;

pub use dmo_engine::timing::FlashTiming;

/// Estimated cycles of some code on a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Cycles {
    /// All of them.
    pub total: u64,
    /// Those of the pipeline, with memory that never makes it wait.
    pub base: u64,
    /// Those that it waits for instructions from flash memory.
    pub code_stalls: u64,
    /// Those that it waits for data from flash memory.
    pub data_stalls: u64,
    /// Those that it waits for the memories of a plan of several, of which none is flash memory.
    #[serde(default, skip_serializing_if = "is_none")]
    pub memory_stalls: u64,
    /// The rules of the core give an order of magnitude rather than a figure.
    pub rough: bool,
}
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_none(cycles: &u64) -> bool {
    *cycles == 0
}

impl Cycles {
    /// What a core has counted.
    pub(super) fn counted(counted: &dmo_engine::cycles::Cycles, pipeline: Pipeline) -> Self {
        Self {
            total: counted.total(),
            base: counted.base(),
            code_stalls: counted.code_stalls,
            data_stalls: counted.data_stalls,
            memory_stalls: 0,
            rough: pipeline.is_rough(),
        }
    }

    /// Combines each number with the other's.
    fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            total: combine(self.total, other.total),
            base: combine(self.base, other.base),
            code_stalls: combine(self.code_stalls, other.code_stalls),
            data_stalls: combine(self.data_stalls, other.data_stalls),
            memory_stalls: combine(self.memory_stalls, other.memory_stalls),
            rough: self.rough || other.rough,
        }
    }

    /// Those since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// The same, with this many more that the core waits for memory.
    #[must_use]
    pub fn waiting(self, memory_stalls: u64) -> Self {
        Self {
            total: self.total.saturating_add(memory_stalls),
            memory_stalls: self.memory_stalls.saturating_add(memory_stalls),
            ..self
        }
    }

    /// The average over so many runs.
    #[must_use]
    pub fn of_each(self, runs: u64) -> Self {
        self.with(self, |all, _| all / runs.max(1))
    }
}

/// Flash memory of a common part at its highest clock. docs/cycles.md names the sources.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Its name on the command line.
    pub name: &'static str,
    /// The clock for which its wait states are, in MHz.
    pub clock_mhz: u16,
    /// Its flash memory.
    pub flash: FlashTiming,
}

const fn held(ways: u16, sets: u16) -> Held {
    Held { ways, sets }
}

const fn flash(
    wait_states: u16,
    line_bytes: u16,
    prefetch: bool,
    code: Held,
    data: Option<Held>,
) -> FlashTiming {
    FlashTiming {
        wait_states,
        line_bytes,
        prefetch,
        code,
        data,
    }
}

/// The parts that have a name.
pub const PARTS: &[Part] = &[
    Part {
        name: "stm32f1",
        clock_mhz: 72,
        flash: flash(2, 8, true, held(2, 1), Some(held(0, 1))),
    },
    Part {
        name: "stm32f2",
        clock_mhz: 120,
        flash: flash(3, 16, true, held(64, 1), Some(held(8, 1))),
    },
    Part {
        name: "stm32f4",
        clock_mhz: 168,
        flash: flash(5, 16, true, held(64, 1), Some(held(8, 1))),
    },
    Part {
        name: "stm32l4",
        clock_mhz: 80,
        flash: flash(4, 8, false, held(4, 32), Some(held(4, 8))),
    },
    Part {
        name: "stm32g0",
        clock_mhz: 64,
        flash: flash(2, 8, true, held(2, 1), Some(held(0, 1))),
    },
    Part {
        name: "rp2040",
        clock_mhz: 125,
        flash: flash(60, 8, false, held(2, 1024), None),
    },
];

/// Flash memory with so many wait states, whatever the part: reads of 16 bytes, of which the last
/// one is held for instructions and the last one for data.
pub fn flash_with(wait_states: u16) -> FlashTiming {
    flash(wait_states, 16, false, held(1, 1), Some(held(1, 1)))
}

/// What is known of the timing of a CPU with this pipeline, and with flash memory that never makes
/// it wait.
pub(super) const fn timing(pipeline: Pipeline) -> Option<Timing> {
    Some(Timing {
        pipeline,
        flash: None,
    })
}
