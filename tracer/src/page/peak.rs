//! What holds the arena up, and which changes would lower it.

use super::map::ArenaMap;
use super::text;
use crate::study::plan::Planned;
use crate::study::remedies::Remedies;
use crate::words::recipe::described;
use dmo_analysis::transform::front::Point;
use dmo_analysis::wording::{bytes, counted, grouped};
use serde::Serialize;

/// What holds the arena up.
#[derive(Debug, Clone, Serialize)]
pub struct Peak {
    /// The buffers, the highest first.
    pub buffers: Vec<PeakBuffer>,
    /// Changes that make the arena smaller, the one that saves most first; `None` if none was tried.
    pub remedies: Option<Vec<Remedy>>,
}

/// A buffer of the peak.
#[derive(Debug, Clone, Serialize)]
pub struct PeakBuffer {
    /// Its name.
    pub name: String,
    /// First byte.
    pub offset: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// How much higher the arena is because of it: what it has above the next lower one's end.
    pub adds_bytes: u64,
    /// First and last step in which it is in use.
    pub steps: [u32; 2],
    /// The operators that run in these steps, in words.
    pub operators: String,
}

/// A change and what it would give.
#[derive(Debug, Clone, Serialize)]
pub struct Remedy {
    /// The change.
    pub text: String,
    /// Size of the arena with it, in bytes.
    pub arena_bytes: u64,
    /// How much smaller it would be, in bytes.
    pub saves_bytes: u64,
    /// What it costs, in words.
    pub costs: String,
}

/// The buffers of a map that hold its arena up.
pub fn buffers(map: &ArenaMap) -> Vec<PeakBuffer> {
    let mut peak: Vec<_> = map.buffers.iter().filter(|it| it.is_peak).collect();
    peak.sort_by_key(|buffer| (buffer.offset, buffer.size_bytes));
    let mut reach = 0;
    let rows = peak.into_iter().map(|buffer| {
        let end = buffer.offset.saturating_add(buffer.size_bytes);
        let adds_bytes = end.saturating_sub(reach.max(buffer.offset));
        reach = reach.max(end);
        PeakBuffer {
            name: buffer.name.clone(),
            offset: buffer.offset,
            size_bytes: buffer.size_bytes,
            adds_bytes,
            steps: buffer.steps,
            operators: operators(map, buffer.steps),
        }
    });
    let rows: Vec<PeakBuffer> = rows.collect();
    // One after the other at the same place, as scratch memory often is, they are one step up.
    let alike = rows.chunk_by(|one, other| {
        other.adds_bytes == 0 && (one.offset, one.size_bytes) == (other.offset, other.size_bytes)
    });
    let mut rows: Vec<PeakBuffer> = alike.filter_map(as_one).collect();
    rows.reverse();
    rows
}

/// The first of several buffers at one place, with the number of the others.
fn as_one(alike: &[PeakBuffer]) -> Option<PeakBuffer> {
    let mut first = alike.first()?.clone();
    if alike.len() > 1 {
        let others = counted(alike.len() as u64 - 1, "other", "others");
        first.name += &format!(" and {others} at its place");
    }
    Some(first)
}

/// The operators of some steps: the first and the last.
pub fn operators(map: &ArenaMap, [first, last]: [u32; 2]) -> String {
    let name = |step: u32| {
        let index = match map.of_layers {
            Some(_) => step as usize,
            None => (step as usize).checked_sub(1)?,
        };
        let &[operator, kind, origin] = map.operators.get(index)?;
        let kind = map.kinds.get(kind)?;
        let part = if operator == origin {
            String::new()
        } else {
            format!(", part of {origin}")
        };
        Some(format!("{operator} {kind}{part}"))
    };
    let first = match map.of_layers {
        Some(_) => first,
        None => first.max(1),
    };
    match (name(first), name(last)) {
        (Some(first), Some(last)) if first == last => first,
        (Some(first), Some(last)) => format!("{first} to {last}"),
        (Some(first), None) => first,
        (None, _) => "the application".to_owned(),
    }
}

/// Of the ways to run operators in tiles at most this many are named: the chart has all.
const MOST_TILES: usize = 4;

/// What was tried, as far as it makes the arena smaller; `None` if nothing was.
pub fn remedies(planned: &Planned, tried: &Remedies, arena_bytes: u64) -> Option<Vec<Remedy>> {
    if !tried.has_tried_any() {
        return None;
    }
    // Tiles are planned by formula, whatever the kernels of the plan are.
    let with = match planned.overlaps.measured {
        Some(_) => " (with the reference kernels; these may allow less)",
        None => "",
    };
    let mut found = Vec::new();
    if let Some(front) = tried.front.as_ref().filter(|_| tried.is_suggestion) {
        let points = front.front.points.iter();
        let mut points: Vec<&Point> = points.filter(|it| it.recipe.changes()).collect();
        points.sort_by_key(|point| point.arena_bytes);
        for point in points.into_iter().take(MOST_TILES) {
            found.push(Remedy {
                text: format!("{}: --allow split,patch{with}", described(&point.recipe)),
                arena_bytes: point.arena_bytes,
                saves_bytes: arena_bytes.saturating_sub(point.arena_bytes),
                costs: format!(
                    "{} multiply-accumulates more, {} of all",
                    grouped(point.extra_macs),
                    text::percent(point.extra_macs, front.macs)
                ),
            });
        }
    }
    if let Some(own) = tried.own_kernels {
        found.push(Remedy {
            text: format!(
                "other kernels in place of CMSIS-NN's: --kernels {}",
                own.set
            ),
            arena_bytes: own.arena_bytes,
            saves_bytes: arena_bytes.saturating_sub(own.arena_bytes),
            costs: "another library, which `dmo-trace kernels` writes".to_owned(),
        });
    }
    for better in &tried.kernels {
        let operators = &planned.overlaps.graph.operators;
        let kind = operators[better.operator.0].kind.name();
        found.push(Remedy {
            text: format!(
                "a kernel for operator {} {} whose output may overlap its input as a whole",
                better.operator.0,
                text::name(kind)
            ),
            arena_bytes: better.arena_bytes,
            saves_bytes: arena_bytes.saturating_sub(better.arena_bytes),
            costs: "another kernel; no plan with any kernel there needs less".to_owned(),
        });
    }
    found.retain(|remedy| remedy.saves_bytes > 0);
    found.sort_by_key(|remedy| remedy.arena_bytes);
    Some(found)
}

/// What a size means beside another one, in words.
pub fn beside(before: u64, after: u64) -> String {
    let share = text::percent(before.abs_diff(after), before);
    let word = if after <= before { "less" } else { "more" };
    format!("{} {word}, {share}", bytes(before.abs_diff(after)))
}
