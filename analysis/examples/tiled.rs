//! Writes a model whose operators FIRST..=LAST run in ROWS x COLUMNS tiles, in standard
//! operators and with plans for TensorFlow Lite Micro, OUT.none.tflite without overlaps and
//! OUT.analytic.tflite with those of the reference kernels; prints what they cost as JSON.
//!
//! `cargo run -p dmo-analysis --example tiled -- MODEL.tflite FIRST LAST ROWS COLUMNS [OUT]`

#![allow(clippy::unwrap_used, reason = "a part that it shares with tests")]

#[path = "../tests/tflite/handed.rs"]
mod handed;

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId, tflite};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::transform::{Recipe, Split, apply, macs};
use dmo_planner::budget::Budget;
use handed::hand_over;
use serde_json::json;
use std::error::Error;

const TIME: f64 = 5.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(path), Some(numbers)) = (arguments.first(), arguments.get(1..5)) else {
        return Err("expected MODEL.tflite FIRST LAST ROWS COLUMNS [OUT]".into());
    };
    let numbers: Vec<u32> = numbers
        .iter()
        .map(|number| number.parse())
        .collect::<Result<_, _>>()?;
    let file = std::fs::read(path)?;
    let model = tflite::read(&file)?;
    let graph = model.graphs.first().ok_or("no subgraph")?;
    let operators = numbers[0]..=numbers[1];
    let recipe = Recipe {
        splits: vec![Split {
            operators: operators.map(|index| OperatorId(index as usize)).collect(),
            grid: [numbers[2], numbers[3]],
            cached: false,
        }],
        ..Recipe::default()
    };
    // Some operators have no kernel that touches a tensor in pieces.
    let views = apply(graph, &recipe).ok().map(|applied| applied.graph);
    let none: fn(&Graph) -> Overlaps = overlaps::none;
    for (name, overlaps) in [("none", none), ("analytic", overlaps::analytic)] {
        let handed = hand_over(&file, &recipe, overlaps, TIME)?;
        let graphs = [graph, &handed.standard.graph];
        let report = json!({
            "overlaps": name,
            "arena_bytes": {
                "original": arena(graph, overlaps)?,
                "views": views.as_ref().map(|views| arena(views, overlaps)).transpose()?,
                "standard": handed.planned.arena_bytes,
                "bound": handed.planned.order_bound_bytes,
                "device": handed.device.arena_bytes,
            },
            "multiply_accumulates": graphs.map(macs::of_graph),
            "operators": graphs.map(|graph| graph.operators.len()),
            "file_bytes": [file.len(), handed.file.len()],
        });
        println!("{report}");
        if let Some(out) = arguments.get(5) {
            std::fs::write(format!("{out}.{name}.tflite"), &handed.file)?;
        }
    }
    Ok(())
}

fn arena(graph: &Graph, overlaps: fn(&Graph) -> Overlaps) -> Result<u64, Box<dyn Error>> {
    let task = Task {
        graph,
        overlaps: &overlaps(graph),
        layout: Layout::tflm(),
        reorder: false,
        fixed: &[],
    };
    Ok(optimise(task, &mut Budget::of_seconds(TIME), &mut |_| {})?.arena_bytes)
}
