//! Memories, and what is pinned to them, in words.

use super::regions::{Pin, Pinned};
use dmo_analysis::graph::TensorId;
use dmo_analysis::wording::{grouped, parse_size};
use dmo_planner::regions::ArenaRegion;

/// A memory, its size, the cycles of an access (1 unless given) and what offsets are multiples of:
/// `sram=64K`, `psram=8M@12,align=32`.
///
/// # Errors
/// When it is none.
pub fn parse_region(text: &str) -> Result<ArenaRegion, String> {
    let wrong = || {
        format!(
            "'{text}' is not NAME=BYTES, NAME=BYTES@CYCLES or NAME=BYTES@CYCLES,align=BYTES, for \
             instance sram=64K or psram=8M@12,align=32"
        )
    };
    let named = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, memory) = named.ok_or_else(wrong)?;
    let (memory, alignment) = match memory.split_once(',') {
        Some((memory, rest)) => (memory, Some(rest.strip_prefix("align=").ok_or_else(wrong)?)),
        None => (memory, None),
    };
    let (size, cost) = match memory.split_once('@') {
        Some((size, cost)) => (size, cost.parse::<u32>().ok().filter(|&cost| cost > 0)),
        None => (memory, Some(1)),
    };
    let access_cost = cost.ok_or_else(|| {
        format!(
            "'{text}': an access takes a whole number of cycles from 1 to {}, such as @12",
            grouped(u32::MAX.into())
        )
    })?;
    let alignment = alignment.map_or(Ok(1), parse_size)?;
    if alignment == 0 || alignment > MOST_ALIGNED {
        return Err(format!(
            "'{text}': offsets are multiples of at least 1 byte and at most {}",
            grouped(MOST_ALIGNED)
        ));
    }
    let capacity_bytes = parse_size(size)?;
    if u32::try_from(capacity_bytes).is_err() {
        return Err(format!(
            "'{text}': a region of {} bytes is too large for 32-bit addresses, which reach {}",
            grouped(capacity_bytes),
            grouped(u32::MAX.into())
        ));
    }
    Ok(ArenaRegion {
        name: name.to_owned(),
        capacity_bytes,
        access_cost,
        alignment,
    })
}

/// As of `--align`, in bytes.
const MOST_ALIGNED: u64 = 1 << 20;

/// What is pinned to which memories: `inputs=sram`, `7=tcm,sram`.
///
/// # Errors
/// When it is none.
pub fn parse_pin(text: &str) -> Result<Pin, String> {
    let wrong = || {
        format!(
            "'{text}' is not WHAT=REGION or WHAT=REGION,REGION, where WHAT is a tensor's index, \
             inputs, outputs, scratch or states"
        )
    };
    let (what, regions) = text.split_once('=').ok_or_else(wrong)?;
    let what = match what {
        "inputs" => Pinned::Inputs,
        "outputs" => Pinned::Outputs,
        "scratch" => Pinned::Scratch,
        "states" => Pinned::States,
        index => Pinned::Tensor(TensorId(index.parse().map_err(|_| wrong())?)),
    };
    let regions = regions.split(',').map(str::to_owned).collect();
    Ok(Pin { what, regions })
}
