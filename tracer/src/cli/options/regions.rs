//! The memories that an arena is made of.

use dmo_planner::regions::ArenaRegion;
use dmo_trace::study::region_words::{parse_pin, parse_region};
use dmo_trace::study::regions::{Pin, RegionRequest};
use std::time::Duration;

/// Several memories in place of one arena.
#[derive(clap::Args)]
pub struct RegionArguments {
    /// A memory, its size, the cycles of an access (1 unless given) and what offsets are multiples
    /// of, for example psram=8M@12,align=32; repeatable: tensors lie where their accesses cost
    /// least in all
    #[arg(long, value_name = "NAME=BYTES[@CYCLES][,align=BYTES]", value_parser = parse_region)]
    pub region: Vec<ArenaRegion>,
    /// Place a tensor, given by its index in the file, or all inputs, outputs, scratch buffers or
    /// states in one of these regions, for example inputs=sram,tcm; repeatable
    #[arg(long, value_name = "WHAT=REGIONS", value_parser = parse_pin, requires = "region")]
    pub pin: Vec<Pin>,
}

impl RegionArguments {
    /// The request that they make, to be answered in this time; without regions, that of one arena.
    pub fn request(&self, time: Duration) -> RegionRequest {
        RegionRequest {
            regions: self.region.clone(),
            pins: self.pin.clone(),
            time,
        }
    }
}
