//! Tables 1 and 2 of Pisarchyk and Lee.

use super::{Figure, Line, TableError, Work, graph, of_row, published};
use crate::published::{Method, Row, Unit};
use crate::reading::READINGS;
use dmo_analysis::arena::{Arena, Layout};
use dmo_analysis::graph::overlaps;
use dmo_analysis::schedule::CountedEnds;
use dmo_planner::plan::Strategy;
use dmo_planner::plan::exact;
use dmo_planner::problem::Problem;

const PAPER: &str = "Pisarchyk and Lee";

/// Shared objects.
pub(super) fn table_1(work: &mut Work<'_>) -> Result<Vec<Line>, TableError> {
    let table = published(PAPER, "Table 1")?;
    let mut lines = Vec::new();
    for row in table.rows {
        (work.progress)(row.label);
        let problem = problem(row)?;
        for (&method, &printed) in table.methods.iter().zip(row.figures) {
            let bytes = match method {
                Method::LowerBound => Some(objects_lower_bound(&problem)),
                _ => planned(&problem, objects(method)),
            };
            lines.push(line(
                row,
                method,
                printed,
                bytes,
                objects(method),
                &problem,
            )?);
        }
    }
    Ok(lines)
}

/// Offsets in one block, and the least that is possible.
pub(super) fn table_2(work: &mut Work<'_>) -> Result<Vec<Line>, TableError> {
    let table = published(PAPER, "Table 2")?;
    let mut lines = Vec::new();
    for row in table.rows {
        (work.progress)(row.label);
        let problem = problem(row)?;
        for (&method, &printed) in table.methods.iter().zip(row.figures) {
            let bytes = match method {
                Method::LowerBound => Some(problem.lower_bound()),
                _ => planned(&problem, offsets(method)),
            };
            lines.push(line(
                row,
                method,
                printed,
                bytes,
                offsets(method),
                &problem,
            )?);
        }
        let best = exact::plan(&problem, &mut work.budget());
        let remark = if best.is_optimal() {
            "no placement needs less".to_owned()
        } else {
            format!(
                "the best found; at least {} bytes are needed",
                best.bound_bytes
            )
        };
        lines.push(figure(row).line("Exact", None, best.arena_bytes, remark));
    }
    Ok(lines)
}

fn figure(row: &Row) -> Figure {
    Figure {
        row: row.label,
        unit: Unit::Mebibytes,
    }
}

/// Graph inputs and outputs left out, each tensor of its own size, in the file's order.
fn problem(row: &Row) -> Result<Problem, TableError> {
    let graph = graph(row)?;
    let layout = Layout {
        counted: CountedEnds {
            count_graph_inputs: false,
            count_graph_outputs: false,
        },
        ..Layout::default()
    };
    let none = overlaps::none(&graph);
    let arena = Arena::new(&graph, &graph.file_order(), &none, layout);
    Ok(of_row(row.label, arena)?.problem)
}

/// The planner of shared objects that a column is about.
fn objects(method: Method) -> &'static str {
    match method {
        Method::GreedyBySize => "objects-by-size",
        Method::GreedyBySizeImproved => "objects-by-size-improved",
        Method::GreedyByBreadth => "objects-by-breadth",
        Method::GreedyLee => "objects-greedy",
        Method::MinCostFlow => "objects-min-cost-flow",
        _ => "naive",
    }
}

/// The planner of offsets that a column is about.
fn offsets(method: Method) -> &'static str {
    match method {
        Method::GreedyBySize => "offsets-by-size",
        Method::GreedyByBreadth => "offsets-by-breadth",
        Method::GreedyLee => "offsets-greedy",
        Method::StripPacking => "strip-packing",
        _ => "naive",
    }
}

fn planned(problem: &Problem, strategy: &str) -> Option<u64> {
    let plan = Strategy::named(strategy)?.plan(problem)?;
    Some(plan.arena_bytes(problem))
}

fn line(
    row: &'static Row,
    method: Method,
    printed: Option<&'static str>,
    bytes: Option<u64>,
    strategy: &'static str,
    problem: &Problem,
) -> Result<Line, TableError> {
    let bytes = bytes.ok_or(TableError::Missing {
        place: row.label,
        missing: strategy,
    })?;
    let mut line = figure(row).line(method.label(), printed, bytes, "");
    if line.agrees == Some(false) {
        line.remark = difference(row, method, &line, strategy, problem);
    }
    Ok(line)
}

/// Why ours is another: another network, another reading, or neither is known.
fn difference(row: &Row, method: Method, line: &Line, strategy: &str, problem: &Problem) -> String {
    let of_network = row
        .remark
        .filter(|remark| remark.starts_with("another version") || method == Method::Naive);
    if let Some(remark) = of_network {
        return remark.to_owned();
    }
    let printed = line
        .published
        .as_deref()
        .and_then(|figure| Unit::Mebibytes.rounded(figure));
    let reading = READINGS.iter().find(|reading| {
        let bytes = reading.plan(problem).arena_bytes(problem);
        let gives = printed.as_ref().is_some_and(|range| range.contains(&bytes));
        reading.strategy == strategy && gives
    });
    if let Some(reading) = reading {
        return format!("as printed if read so: {}", reading.title);
    }
    let smaller = printed.is_some_and(|range| line.bytes < *range.start());
    if smaller {
        "ours is smaller; none of the other readings gives the printed one".to_owned()
    } else {
        "none of the other readings gives the printed one".to_owned()
    }
}

/// The least sum of shared objects without overlaps, in bytes: of the largest buffers of each step
/// the largest, of the second ones the largest, and so on (positional maxima; Pisarchyk and Lee,
/// section 4.1).
fn objects_lower_bound(problem: &Problem) -> u64 {
    let mut maxima: Vec<u64> = Vec::new();
    for section in problem.sections() {
        let size = |&buffer: &usize| problem.buffers()[buffer].size_bytes;
        let mut sizes: Vec<u64> = section.alive.iter().map(size).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        maxima.resize(maxima.len().max(sizes.len()), 0);
        for (maximum, size) in maxima.iter_mut().zip(sizes) {
            *maximum = size.max(*maximum);
        }
    }
    maxima.iter().sum()
}
