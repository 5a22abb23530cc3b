//! Tables II and III of Blacker, Bridges and Hadfield.

use super::{Figure, Line, TableError, Work, graph, of_row, ordered, published};
use crate::orders::serial::{eager, lazy};
use crate::published::{Method, Row, Unit};
use dmo_analysis::arena::{Arena, ArenaError, Layout};
use dmo_analysis::graph::overlaps::{self, Overlaps, Sharing};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, OperatorId, TensorType};
use dmo_analysis::optimise::{Certificate, ModelPlan, Task, optimise};
use dmo_planner::plan::Strategy;

const PAPER: &str = "Blacker, Bridges and Hadfield";

/// The operator that a row of Table II is about, by network, kind and number, where the row
/// says another one.
const OPERATORS: [(&str, &str, usize, &str); 3] = [
    (
        "mobilenet_v2_1.0_224",
        "DEPTHWISE_CONV_2D",
        1,
        "of MobileNet v2's second depthwise convolution (Table I): the row's name is exchanged with the next one's",
    ),
    (
        "mobilenet_v1_1.0_224",
        "CONV_2D",
        1,
        "of MobileNet v1's first 1x1 convolution, where its peak lies; the row has the saving of the whole model",
    ),
    (
        "inception_resnet_v2",
        "CONV_2D",
        2,
        "of the 3x3 convolution from 147x147x32 to 147x147x64",
    ),
];

/// O_s of three operators.
pub(super) fn table_2(work: &mut Work<'_>) -> Result<Vec<Line>, TableError> {
    let table = published(PAPER, "Table II")?;
    let mut lines = Vec::new();
    for (row, (network, kind, number, remark)) in table.rows.iter().zip(OPERATORS) {
        (work.progress)(row.label);
        let missing = |missing| TableError::Missing {
            place: row.label,
            missing,
        };
        let network = zoo::find(network).ok_or(missing(network))?;
        let graph = network.build(Element::Float32);
        let mut nodes = graph
            .operators
            .iter()
            .filter(|node| node.kind.name() == kind);
        let node = nodes.nth(number).ok_or(missing(kind))?;
        let kernel = node.kernel.as_ref().ok_or(missing(kind))?;
        let exact = kernel.operator.overlaps().ok();
        let exact = exact.and_then(|pairs| pairs.first().map(|pair| pair.bytes));
        let estimate = kernel.operator.overlap(0, 0).ok();
        let estimate = estimate.and_then(|pair| pair.published_bytes);
        let figure = Figure {
            row: row.label,
            unit: table.unit,
        };
        let quantities = [
            (Method::ExactOverlap, exact.map(u64::from)),
            (Method::EstimatedOverlap, estimate.map(|bytes| bytes as u64)),
        ];
        for ((method, bytes), printed) in quantities.into_iter().zip(row.figures) {
            let bytes = bytes.ok_or(missing("O_s"))?;
            lines.push(figure.line(method.label(), *printed, bytes, remark));
        }
    }
    Ok(lines)
}

/// Peaks of whole models.
pub(super) fn table_3(work: &mut Work<'_>) -> Result<Vec<Line>, TableError> {
    let table = published(PAPER, "Table III")?;
    let mut lines = Vec::new();
    for row in table.rows {
        (work.progress)(row.label);
        let graph = graph(row)?;
        lines.extend(model(row, &graph, work)?);
    }
    Ok(lines)
}

fn model(row: &'static Row, graph: &Graph, work: &Work<'_>) -> Result<Vec<Line>, TableError> {
    let figure = Figure {
        row: row.label,
        unit: Unit::Kibibytes,
    };
    let [original, optimised] = match row.figures {
        [original, optimised, ..] => [*original, *optimised],
        _ => [None, None],
    };
    let (apart, exact) = (overlaps::none(graph), overlaps::analytic(graph));
    let best = |overlaps| {
        let task = Task {
            fixed: &[],
            graph,
            overlaps,
            layout: Layout::default(),
            reorder: true,
        };
        of_row(row.label, optimise(task, &mut work.budget(), &mut |_| {}))
    };
    let (without, with) = (best(&apart)?, best(&exact)?);
    let order = graph.file_order();
    let arena = of_row(
        row.label,
        Arena::new(graph, &order, &apart, Layout::default()),
    )?;
    let bound = arena.problem.lower_bound();
    let estimated = as_published(graph);
    let forwards_backwards = ["heap-overlap", "heap-overlap-reverse"];
    let heaps = [
        ("original: heap", original, &apart, ["heap", "heap-reverse"]),
        (
            "optimised: heap, exact O_s",
            optimised,
            &exact,
            forwards_backwards,
        ),
        (
            "optimised: heap, published O_s",
            optimised,
            &estimated,
            forwards_backwards,
        ),
    ];
    let mut lines = vec![
        figure.line("bound for the file's order", None, bound, "without overlap"),
        figure.line(
            "original: best plan",
            original,
            without.arena_bytes,
            proof(&without),
        ),
        figure.line(
            "optimised: best plan",
            optimised,
            with.arena_bytes,
            proof(&with),
        ),
    ];
    for (quantity, printed, overlaps, strategies) in heaps {
        let heaps = heaps_of(row.label, graph, overlaps, strategies)?;
        if let Some((bytes, remark)) = chosen(&heaps, printed) {
            lines.push(figure.line(quantity, printed, bytes, remark));
        }
    }
    Ok(lines)
}

fn proof(plan: &ModelPlan) -> String {
    let kibibytes = |bytes: u64| format!("{:.2} KB", bytes as f64 / 1024.0);
    match plan.certificate() {
        Certificate::Optimal => "no order and no placement needs less".to_owned(),
        Certificate::OptimalForOrder => format!(
            "no placement needs less in this order, {} in any",
            kibibytes(plan.bound_bytes)
        ),
        Certificate::BestFound => format!(
            "the best found; at least {} are needed",
            kibibytes(plan.bound_bytes)
        ),
    }
}

/// What a heap needs, and how it was used.
struct Heap {
    bytes: u64,
    way: String,
    /// Whether the paper's text has it so.
    as_text: bool,
}

/// Both directions, in both of the paper's orders and the file's, with the graph's inputs and
/// outputs in the arena and without.
fn heaps_of(
    row: &'static str,
    graph: &Graph,
    overlaps: &Overlaps,
    strategies: [&'static str; 2],
) -> Result<Vec<Heap>, TableError> {
    let orders = [
        ("eager", ordered(row, eager(graph))?),
        ("lazy", ordered(row, lazy(graph))?),
        ("the file's order", graph.file_order()),
    ];
    let mut heaps = Vec::new();
    for (counted, ends) in [(true, ""), (false, ", without graph inputs and outputs")] {
        for (place, (order_name, order)) in orders.iter().enumerate() {
            for (strategy, direction) in strategies.into_iter().zip(["forwards", "backwards"]) {
                let bytes = of_row(row, heap_bytes(graph, order, overlaps, strategy, counted))?;
                heaps.push(Heap {
                    bytes: bytes.ok_or(TableError::Missing {
                        place: row,
                        missing: strategy,
                    })?,
                    way: format!("{direction}, {order_name}{ends}"),
                    as_text: counted && place < 2,
                });
            }
        }
    }
    Ok(heaps)
}

/// The best heap of the paper's text, and which one gives what is printed, if any does.
fn chosen(heaps: &[Heap], printed: Option<&str>) -> Option<(u64, String)> {
    let as_text = heaps.iter().filter(|heap| heap.as_text);
    let best = as_text.min_by_key(|heap| heap.bytes)?;
    let printed = printed?;
    let rounded = Unit::Kibibytes.rounded(printed)?;
    let mut remark = best.way.clone();
    if !rounded.contains(&best.bytes) {
        let truncated = |heap: &Heap| (heap.bytes / 1024).to_string() == printed;
        let equal = |heap: &&Heap| rounded.contains(&heap.bytes) || truncated(heap);
        if truncated(best) {
            remark += "; as printed, truncated";
        } else if let Some(heap) = heaps.iter().find(equal) {
            remark += &format!("; {printed} is {}", heap.way);
        }
    }
    Some((best.bytes, remark))
}

fn heap_bytes(
    graph: &Graph,
    order: &[OperatorId],
    overlaps: &Overlaps,
    strategy: &str,
    counted: bool,
) -> Result<Option<u64>, ArenaError> {
    let mut layout = Layout::default();
    layout.counted.count_graph_inputs = counted;
    layout.counted.count_graph_outputs = counted;
    let arena = Arena::new(&of_bytes(graph), order, overlaps, layout)?;
    let plan = Strategy::named(strategy).and_then(|strategy| strategy.plan(&arena.problem));
    Ok(plan.map(|plan| plan.arena_bytes(&arena.problem)))
}

/// The graph as the paper sees it: it places bytes, and aligns no element.
fn of_bytes(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for tensor in &mut graph.tensors {
        tensor.element_type = TensorType::Int8;
    }
    graph
}

/// O_s by the published formula where there is one, and where that is safe; else exact.
fn as_published(graph: &Graph) -> Overlaps {
    let mut overlaps = overlaps::analytic(graph);
    for (node, pairs) in graph.operators.iter().zip(&mut overlaps) {
        let operator = node.kernel.as_ref().map(|kernel| &kernel.operator);
        let estimate = operator.and_then(|operator| operator.overlap(0, 0).ok());
        let estimate = estimate.and_then(|pair| pair.published_bytes);
        let Some(estimate) = estimate else { continue };
        for pair in pairs {
            let size = graph.tensor(pair.output).size_bytes;
            if let Sharing::Displaced(displacement) = &mut pair.sharing {
                let published = size.saturating_sub(estimate.max(0.0) as u64);
                *displacement = published.max(*displacement);
            }
        }
    }
    overlaps
}
