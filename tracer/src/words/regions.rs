//! The memories of a plan of several in words.

use super::{names, table};
use crate::study::overlap_source::OverlapKind;
use crate::study::region_use::RegionUse;
use dmo_analysis::handover::{PlannedKernels, PlannedRegion};
use dmo_analysis::wording::{bytes, counted, grouped};
use dmo_planner::regions::NoRoom;
use schemars::JsonSchema;
use serde::Serialize;

/// A memory of a plan that was checked.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct UsedRegion {
    name: String,
    capacity_bytes: u64,
    used_bytes: u64,
}

/// The memories of a plan that was checked; none of one arena.
pub fn used(regions: &[PlannedRegion]) -> Vec<UsedRegion> {
    let used = regions.iter().map(|known| UsedRegion {
        name: known.region.name.clone(),
        capacity_bytes: known.region.capacity_bytes,
        used_bytes: known.used_bytes,
    });
    used.collect()
}

/// A line for each of them.
pub fn lines(regions: &[UsedRegion]) -> String {
    let line = |known: &UsedRegion| {
        format!(
            "Memory {}: {} of {} bytes\n",
            known.name.escape_debug(),
            grouped(known.used_bytes),
            grouped(known.capacity_bytes)
        )
    };
    regions.iter().map(line).collect()
}

/// Why one capacity says nothing of a plan in this many memories. `option` is where it was given.
pub fn no_capacity(option: &str, memories: usize) -> String {
    format!(
        "{option} is of one arena, and the plan has {memories} memories, each with a capacity of its \
         own\n  hint: leave out {option}"
    )
}

/// What the reader of a plan in several memories should know: how far its accesses are assumed, and
/// which kernels its overlaps are those of.
pub fn remarks(overlap: &str, kernels: Option<&PlannedKernels>, assumed: usize) -> Vec<String> {
    let assumed = (assumed > 0).then(|| {
        format!(
            "Of {} the loops are not known: each element counts once.",
            counted(assumed as u64, "operator", "operators")
        )
    });
    // Where kernels were measured their name is always worth knowing.
    let has_kernels = kernels.is_some() || overlap != OverlapKind::None.name();
    let safe = has_kernels.then(|| names::safe_with(overlap, kernels, false));
    assumed.into_iter().chain(safe).collect()
}

/// Why a model has no plan in several memories, and what to try.
pub fn no_room(model: &str, error: &NoRoom) -> String {
    let hint = match error {
        NoRoom::Proven { .. } => {
            "larger regions; --allow split,patch computes operators in tiles, which may need less"
        }
        NoRoom::Unknown { .. } => "more time, such as --time 60, or larger regions",
    };
    format!("{model}: {error}\n  hint: {hint}")
}

/// That nothing lies in some of the memories; `None` if something lies in each.
pub fn unused(regions: &[RegionUse]) -> Option<String> {
    let unused = regions.iter().filter(|known| known.used_bytes == 0);
    let names: Vec<&str> = unused.map(|known| &*known.region.name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Nothing lies in {}: the library takes no array there.\n",
            names.join(", ")
        )
    })
}

/// A row for each memory: its size, what of it is used, and what its accesses cost.
pub fn table_of(regions: &[RegionUse]) -> String {
    let rows = regions.iter().map(|known| {
        [
            known.region.name.clone(),
            grouped(known.region.capacity_bytes),
            grouped(known.region.access_cost.into()),
            grouped(known.used_bytes),
            grouped(known.accesses),
            grouped(known.wait_cycles()),
        ]
    });
    let head = ["region", "bytes", "cycles", "used", "accesses", "waiting"];
    table(head, 1..6, rows)
}

/// What of each is used; `None` of one arena.
pub fn sizes(regions: &[RegionUse]) -> Option<String> {
    let used = regions.iter().filter(|known| known.used_bytes > 0);
    let used = used.map(|known| format!("{} {}", known.region.name, bytes(known.used_bytes)));
    let used: Vec<String> = used.collect();
    (!used.is_empty()).then(|| used.join(", "))
}

/// How often each is accessed, and how often it was to be, where that differs.
pub fn accesses(regions: &[RegionUse]) -> String {
    let each = regions.iter().map(|known| {
        let planned = known.planned_accesses;
        let planned = planned.filter(|planned| *planned != known.accesses);
        let planned = planned.map_or_else(String::new, |planned| {
            format!(" (planned with {})", grouped(planned))
        });
        format!("{} {}{planned}", known.region.name, grouped(known.accesses))
    });
    each.collect::<Vec<_>>().join(", ")
}
