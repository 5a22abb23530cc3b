//! The table of `docs/zoo.md`.

use super::better_order;
use dmo_analysis::graph::zoo::{Element, Figures, NETWORKS};

const DOCUMENT: &str = include_str!("../../../docs/zoo.md");

/// Each row of the document is what the graph gives.
#[test]
fn documented_figures() {
    let mut missing = Vec::new();
    for network in NETWORKS {
        let row = row(network.name, network.source);
        if !DOCUMENT.lines().any(|line| line == row) {
            missing.push(row);
        }
    }
    assert!(
        missing.is_empty(),
        "docs/zoo.md lacks these rows:\n{}",
        missing.join("\n")
    );
}

fn row(name: &str, source: &str) -> String {
    let graph = dmo_analysis::graph::zoo::find(name)
        .unwrap()
        .build(Element::Float32);
    let figures = Figures::of(&graph);
    let (_, better) = better_order(&graph);
    format!(
        "| `{name}` | {source} | {} | {} | {} | {} | {} | {} | {} |",
        figures.activations,
        figures.operators,
        grouped(figures.parameters),
        grouped(figures.multiply_accumulates),
        grouped(figures.naive_bytes),
        grouped(figures.lower_bound_bytes),
        grouped(better.min(figures.lower_bound_bytes)),
    )
}

/// With a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
