//! Table 1 and Appendix A of Liberis and Lane.

use super::{Figure, Line, TableError, Work, graph, ordered, published};
use crate::orders::dynamic::compact;
use crate::orders::liberis_lane::liberis_lane;
use crate::published::{APPENDIX_A, Method, Unit};
use dmo_analysis::graph::zoo::{self, Element, live_bytes};
use dmo_analysis::graph::{Graph, OperatorId, overlaps};
use dmo_analysis::schedule::cost::Overlapped;
use dmo_analysis::schedule::search::{Limits, search};
use dmo_analysis::schedule::{CountedEnds, Proof, Schedule};

const PAPER: &str = "Liberis and Lane";

/// Sets of tensors that Algorithm 1 may remember.
const MOST_SETS: usize = 1 << 17;

/// Peaks of both networks by all four methods; the paper has two of each.
pub(super) fn table_1(work: &mut Work<'_>) -> Result<Vec<Line>, TableError> {
    let table = published(PAPER, "Table 1")?;
    let mut lines = Vec::new();
    for row in table.rows {
        (work.progress)(row.label);
        let graph = graph(row)?;
        let figure = Figure {
            row: row.label,
            unit: table.unit,
        };
        let order = graph.file_order();
        let dynamic = ordered(row.label, compact(&graph, &order, CountedEnds::default()))?;
        let found = lowest_peak(row.label, &graph, work)?;
        for (method, &printed) in table.methods.iter().zip(row.figures) {
            let (bytes, remark) = match method {
                Method::DefaultOrder => (peak(&graph, &order), String::new()),
                Method::OptimalOrder => (found.peak_bytes, proof(&found)),
                Method::StaticAllocation => (graph.naive_bytes(), "no reuse".to_owned()),
                _ => (
                    dynamic.peak_bytes,
                    format!(
                        "{} buffers or {} bytes moved",
                        dynamic.moves, dynamic.moved_bytes
                    ),
                ),
            };
            lines.push(figure.line(method.label(), printed, bytes, remark));
        }
        if let Some(theirs) = algorithm_1(row.label, &graph)? {
            let optimal = table
                .methods
                .iter()
                .position(|&method| method == Method::OptimalOrder);
            let printed = optimal.and_then(|column| row.figures.get(column).copied().flatten());
            lines.push(figure.line("Algorithm 1", printed, peak(&graph, &theirs.order), ""));
        }
    }
    Ok(lines)
}

/// Working sets of the example in two orders, and the orders found here.
pub(super) fn appendix_a(work: &mut Work<'_>) -> Result<Vec<Line>, TableError> {
    const NETWORK: &str = "liberis_lane_figure_1";
    let network = zoo::find(NETWORK).ok_or(TableError::Missing {
        place: "Appendix A",
        missing: NETWORK,
    })?;
    let graph = network.build(Element::Int8);
    let mut lines = Vec::new();
    for sets in &APPENDIX_A {
        (work.progress)(sets.title);
        let figure = Figure {
            row: sets.title,
            unit: Unit::Bytes,
        };
        let order = sets.order.map(|number| OperatorId(number - 1));
        let working_sets = live_bytes(&graph, &order);
        for ((number, &printed), bytes) in sets.order.iter().zip(&sets.bytes).zip(working_sets) {
            let printed = printed.to_string();
            lines.push(figure.line(format!("operator {number}"), Some(&printed), bytes, ""));
        }
    }
    let figure = Figure {
        row: "lowest peak",
        unit: Unit::Bytes,
    };
    let found = lowest_peak(figure.row, &graph, work)?;
    lines.push(figure.line(
        "exact search",
        Some("4960"),
        found.peak_bytes,
        proof(&found),
    ));
    if let Some(theirs) = algorithm_1(figure.row, &graph)? {
        let bytes = peak(&graph, &theirs.order);
        lines.push(figure.line("Algorithm 1", Some("4960"), bytes, numbers(&theirs.order)));
    }
    Ok(lines)
}

fn peak(graph: &Graph, order: &[OperatorId]) -> u64 {
    live_bytes(graph, order).into_iter().max().unwrap_or(0)
}

fn lowest_peak(row: &'static str, graph: &Graph, work: &Work<'_>) -> Result<Schedule, TableError> {
    let mut cost = ordered(
        row,
        Overlapped::new(graph, &overlaps::none(graph), CountedEnds::default()),
    )?;
    let (ends, limits) = (CountedEnds::default(), Limits::default());
    let found = search(
        graph,
        ends,
        &mut cost,
        limits,
        &mut work.budget(),
        &mut |_| {},
    );
    ordered(row, found)
}

fn proof(schedule: &Schedule) -> String {
    match schedule.proof {
        Proof::Optimal => "no order has a lower peak".to_owned(),
        Proof::BestFound => format!(
            "the best found; no order is below {} bytes",
            schedule.bound_bytes
        ),
    }
}

/// None where it would have to remember too much.
fn algorithm_1(row: &'static str, graph: &Graph) -> Result<Option<Schedule>, TableError> {
    ordered(row, liberis_lane(graph, CountedEnds::default(), MOST_SETS))
}

fn numbers(order: &[OperatorId]) -> String {
    let numbers: Vec<String> = order
        .iter()
        .map(|operator| (operator.0 + 1).to_string())
        .collect();
    format!("order {}", numbers.join(", "))
}
