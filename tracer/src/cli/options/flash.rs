//! Flash memory, as the user describes it.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dmo_trace::mcu::cycles::{FlashTiming, PARTS, flash_with};

/// Flash memory that makes the core wait, as far as cycles are estimated.
#[derive(Debug, clap::Args, Clone, Copy, Default)]
pub struct FlashArguments {
    /// Count this many wait states for each read of flash memory in the estimated cycles [default:
    /// those of --flash-part, else 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000))]
    flash_wait: Option<u16>,
    /// Count the wait states of this part at its highest clock, with its buffers and caches
    #[arg(long, value_name = "NAME", value_parser = part())]
    flash_part: Option<FlashTiming>,
}

impl FlashArguments {
    /// What it takes; `None` if it never makes the core wait.
    pub fn timing(&self) -> Option<FlashTiming> {
        match (self.flash_part, self.flash_wait) {
            (part, None) => part,
            (None, Some(wait_states)) => Some(flash_with(wait_states)),
            (Some(part), Some(wait_states)) => Some(FlashTiming {
                wait_states,
                ..part
            }),
        }
    }
}

fn part() -> impl TypedValueParser<Value = FlashTiming> {
    let names = PARTS.iter().map(|part| part.name);
    PossibleValuesParser::new(names).try_map(|given| {
        let found = PARTS.iter().find(|part| part.name == given);
        found.map(|part| part.flash).ok_or("there is no such part")
    })
}
