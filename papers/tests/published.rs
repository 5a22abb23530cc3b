//! The papers' tables: whole, and what this repository says of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_analysis::graph::zoo::{Figures, live_bytes};
use dmo_analysis::graph::{Graph, Node, OperatorId, Storage, TensorId};
use dmo_analysis::operator::Operator;
use dmo_papers::published::{APPENDIX_A, Method, Row, TABLES, Table, Unit};
use proptest::prelude::*;

fn table(paper: &str, number: &str) -> &'static Table {
    TABLES
        .iter()
        .find(|table| table.paper.starts_with(paper) && table.number == number)
        .unwrap()
}

fn figure(table: &Table, row: &Row, method: Method) -> &'static str {
    let column = table.methods.iter().position(|&found| found == method);
    row.figures[column.unwrap()].unwrap()
}

#[test]
fn every_figure_has_a_method_and_a_network() {
    for table in TABLES {
        for row in table.rows {
            assert_eq!(row.figures.len(), table.methods.len(), "{}", row.label);
            assert!(row.graph().is_some(), "{}", row.network);
        }
    }
}

/// A figure is a number, a percentage, or 'None' for a saving.
#[test]
fn every_figure_can_be_read() {
    for table in TABLES {
        for row in table.rows {
            for (method, figure) in table.methods.iter().zip(row.figures) {
                let Some(figure) = figure else { continue };
                let is_size = !matches!(method, Method::Saving | Method::OverlapError);
                assert_eq!(table.unit.rounded(figure).is_some(), is_size, "{figure}");
            }
        }
    }
}

/// The saving is what the other two columns of Table III say, but for their rounding.
#[test]
fn savings_agree_with_their_columns() {
    let table = table("Blacker", "Table III");
    for row in table.rows {
        let [original, optimised] = [Method::WithoutOverlap, Method::WithOverlap]
            .map(|method| figure(table, row, method).parse::<f64>().unwrap());
        let saving = match figure(table, row, Method::Saving) {
            "None" => 0.0,
            percent => percent.trim_end_matches('%').parse().unwrap(),
        };
        let computed = 100.0 * (1.0 - optimised / original);
        assert!(
            (computed - saving).abs() < 0.25,
            "{}: {computed}",
            row.label
        );
    }
}

/// No order and placement without overlap is below the largest operator alone.
#[test]
fn originals_are_at_least_the_largest_operator() {
    let table = table("Blacker", "Table III");
    for row in table.rows {
        let graph = row.graph().unwrap();
        let alone = |node| -> u64 {
            let both = [graph.arena_inputs(node), graph.arena_outputs(node)].concat();
            both.iter().map(|&id| graph.tensor(id).size_bytes).sum()
        };
        let largest = graph.operators.iter().map(alone).max().unwrap();
        let original = table
            .unit
            .rounded(figure(table, row, Method::WithoutOverlap));
        assert!(*original.unwrap().end() >= largest, "{}", row.label);
    }
}

/// Lower bound and naive sum of Pisarchyk and Lee, but for the rows that say otherwise.
#[test]
fn bounds_and_sums_of_intermediate_tensors() {
    for number in ["Table 1", "Table 2"] {
        let table = table("Pisarchyk", number);
        for row in table.rows {
            let mut graph = row.graph().unwrap();
            for &id in graph.inputs.iter().chain(&graph.outputs) {
                graph.tensors[id.0].storage = Storage::Constant;
            }
            let figures = Figures::of(&graph);
            let agrees = |method, bytes| {
                let printed = figure(table, row, method);
                table.unit.rounded(printed).unwrap().contains(&bytes)
            };
            assert_eq!(
                agrees(Method::Naive, figures.naive_bytes),
                row.remark.is_none(),
                "{}",
                row.label
            );
            let another_version = row.remark.is_some_and(|text| text.contains("version"));
            let bound = match number {
                "Table 1" => sum_of_positional_maxima(&graph),
                _ => figures.lower_bound_bytes,
            };
            let label = row.label;
            let agrees = agrees(Method::LowerBound, bound);
            assert_eq!(agrees, !another_version, "{number} {label}: {bound}");
        }
    }
}

/// The bound for shared objects, section 4.1: at each operator the live tensors by size;
/// of the largest ones the largest, of the second ones the largest, and so on.
fn sum_of_positional_maxima(graph: &Graph) -> u64 {
    let order = graph.file_order();
    let mut maxima: Vec<u64> = Vec::new();
    for place in 0..order.len() {
        let mut sizes: Vec<u64> = (0..graph.tensors.len())
            .map(TensorId)
            .filter(|&id| graph.in_arena(id) && is_live(graph, id, place))
            .map(|id| graph.tensor(id).size_bytes)
            .collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        maxima.resize(maxima.len().max(sizes.len()), 0);
        for (maximum, size) in maxima.iter_mut().zip(sizes) {
            *maximum = size.max(*maximum);
        }
    }
    maxima.iter().sum()
}

/// Of an intermediate tensor: from the operator that stores it to the last that loads it.
fn is_live(graph: &Graph, id: TensorId, place: usize) -> bool {
    let touches = |node: &Node| node.inputs.contains(&id) || node.outputs.contains(&id);
    graph.operators[..=place].iter().any(touches) && graph.operators[place..].iter().any(touches)
}

#[test]
fn table_1_of_liberis_and_lane() {
    let table = table("Liberis", "Table 1");
    let (swiftnet, mobilenet) = (&table.rows[0], &table.rows[1]);
    let agrees = |row, method, bytes| {
        let printed = figure(table, row, method);
        assert!(table.unit.rounded(printed).unwrap().contains(&bytes));
    };
    let figures = Figures::of(&swiftnet.graph().unwrap());
    agrees(swiftnet, Method::DefaultOrder, figures.lower_bound_bytes);
    let figures = Figures::of(&mobilenet.graph().unwrap());
    agrees(mobilenet, Method::StaticAllocation, figures.naive_bytes);
    agrees(
        mobilenet,
        Method::DynamicAllocation,
        figures.lower_bound_bytes,
    );
}

#[test]
fn appendix_a() {
    let graph = dmo_analysis::graph::zoo::find("liberis_lane_figure_1")
        .unwrap()
        .build(dmo_analysis::graph::zoo::Element::Int8);
    for sets in APPENDIX_A {
        let order = sets.order.map(|number| OperatorId(number - 1));
        assert_eq!(live_bytes(&graph, &order), sets.bytes, "{}", sets.title);
    }
}

/// What the remarks on Table II say: O_s of the operators that the rows really show.
#[test]
fn the_operators_of_table_2() {
    let [first, second, third] = [0, 1, 2].map(|row| &table("Blacker", "Table II").rows[row]);
    // Found at the other network.
    let depthwise = overlap(&second.graph().unwrap(), "DEPTHWISE_CONV_2D", 1);
    assert_eq!(depthwise, (1_204_224, 1_193_376));
    assert_eq!(first.figures[..2], [Some("1204224"), Some("1193376")]);

    let v1 = first.graph().unwrap();
    let (pointwise, _) = overlap(&v1, "CONV_2D", 1);
    assert_eq!(pointwise, 1_605_508);
    assert_eq!(second.figures[0], Some("1605632"));
    assert_eq!(Figures::of(&v1).lower_bound_bytes / 3, 1_605_632);

    let convolution = overlap(&third.graph().unwrap(), "CONV_2D", 2);
    assert_eq!(convolution, (2_746_884, 2_746_884));
    assert_eq!(third.figures[..2], [Some("2746884"); 2]);
}

/// Exact and as published, in whole bytes, of the operator of this kind and number.
fn overlap(graph: &Graph, kind: &str, number: usize) -> (u32, u32) {
    let mut nodes = graph
        .operators
        .iter()
        .filter(|node| node.kind.name() == kind);
    let operator: &Operator = &nodes.nth(number).unwrap().kernel.as_ref().unwrap().operator;
    let exact = operator.overlaps().unwrap()[0].bytes;
    (
        exact,
        operator.overlap(0, 0).unwrap().published_bytes.unwrap() as u32,
    )
}

#[test]
fn what_is_no_number_is_none() {
    for figure in ["", ".", "33.3%", "None", "-1", "1.2.3", "+4", "1e3"] {
        assert_eq!(Unit::Mebibytes.rounded(figure), None, "{figure}");
    }
    assert_eq!(Unit::Bytes.rounded("99999999999999999999"), None);
    assert_eq!(Unit::Mebibytes.rounded("18446744073709551615"), None);
    assert_eq!(Unit::Bytes.rounded("1204224"), Some(1_204_224..=1_204_224));
}

proptest! {
    /// A number of bytes is among those that round to its own print.
    #[test]
    fn rounding_holds_what_was_printed(bytes in 0_u64..1 << 40, decimals in 0_usize..4) {
        for unit in [Unit::Kilobytes, Unit::Kibibytes, Unit::Mebibytes] {
            let value = bytes as f64 / unit.bytes() as f64;
            let printed = format!("{value:.decimals$}");
            let range = unit.rounded(&printed).unwrap();
            prop_assert!(range.contains(&bytes), "{bytes} prints {printed}: {range:?}");
            let last_place = unit.bytes() as f64 / 10_f64.powi(decimals as i32);
            prop_assert!((range.end() - range.start()) as f64 <= last_place);
        }
    }
}
