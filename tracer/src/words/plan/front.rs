//! What memory can be had for what work, as a table.

use crate::study::change::WorkFront;
use crate::words::recipe::span;
use crate::words::table;
use dmo_analysis::transform::front::Point;
use dmo_analysis::wording::grouped;

/// A row for each point of the front; `by_formula` where the plan's overlaps were measured.
pub fn front_table(found: &WorkFront, by_formula: bool) -> String {
    let header = [
        "arena",
        "recomputed",
        "of all",
        "operators",
        "tiles",
        "in place",
        "left out",
    ];
    let rows = found.front.points.iter().map(|point| {
        [
            grouped(point.arena_bytes),
            grouped(point.extra_macs),
            format!("{:.2} %", percent(point, found)),
            runs(point),
            grids(point),
            point.recipe.in_place.len().to_string(),
            point.recipe.removed.len().to_string(),
        ]
    });
    let table = table(header, [0, 1, 2, 5, 6], rows);
    let WorkFront { macs, front } = found;
    let search = if front.candidates == 0 {
        "no other way was found to try"
    } else if front.complete {
        "nothing that was tried is better than one of these; with another --max-recompute, other ways are tried"
    } else {
        "the best found within --time"
    };
    let tried = match front.candidates {
        0 => String::new(),
        1 => "1 way was tried: ".to_owned(),
        ways => format!("{} ways were tried: ", grouped(ways)),
    };
    let overlaps = if by_formula {
        ", planned by formula, not with what was measured"
    } else {
        ""
    };
    let mut splits = (front.points.iter()).flat_map(|point| &point.recipe.splits);
    let kept = if splits.any(|split| split.cached) {
        "; kept: rows that the next tile needs too"
    } else {
        ""
    };
    format!(
        "Ways to run the model{overlaps} (tiles: along the rows x along the columns{kept}):\n\n{table}\n\n\
         {} multiply-accumulates; {tried}{search}.{}",
        grouped(*macs),
        bound(found)
    )
}

/// What no tiling needs less than, with all the work that is allowed.
fn bound(found: &WorkFront) -> String {
    let Some(bound) = found.front.bounds.last() else {
        return String::new();
    };
    let share = 100.0 * bound.most_extra_macs as f64 / found.macs.max(1) as f64;
    format!(
        " For {share:.2} % recomputed, no tiling of this kind needs less than {} bytes.",
        grouped(bound.arena_bytes)
    )
}

fn percent(point: &Point, found: &WorkFront) -> f64 {
    100.0 * point.extra_macs as f64 / found.macs.max(1) as f64
}

/// The first and the last operator of each run.
fn runs(point: &Point) -> String {
    let splits = point.recipe.splits.iter();
    let runs = splits.map(|split| span(&split.operators));
    runs.collect::<Vec<_>>().join("; ")
}

fn grids(point: &Point) -> String {
    let grids = point.recipe.splits.iter();
    let grids = grids.map(|split| {
        let keep = if split.cached { " kept" } else { "" };
        format!("{} x {}{keep}", split.grid[0], split.grid[1])
    });
    grids.collect::<Vec<_>>().join("; ")
}
