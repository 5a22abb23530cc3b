//! The memories of a plan of several in words.

use super::table;
use crate::study::region_use::RegionUse;
use dmo_analysis::wording::{bytes, grouped};

/// A row for each memory: its size, what of it is used, and what its accesses cost.
pub fn table_of(regions: &[RegionUse]) -> String {
    let rows = regions.iter().map(|known| {
        [
            known.region.name.clone(),
            grouped(known.region.capacity_bytes),
            known.region.access_cost.to_string(),
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
