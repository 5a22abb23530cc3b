//! Writes a model whose operators FIRST..=LAST run in ROWS x COLUMNS tiles, in standard
//! operators and with a plan for TensorFlow Lite Micro, and prints what it costs.
//!
//! `cargo run -p dmo-analysis --example tiled -- MODEL.tflite FIRST LAST ROWS COLUMNS [OUT.tflite]`

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId, tflite};
use dmo_analysis::handover::tiled;
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::transform::{Recipe, Split, apply, macs};
use std::error::Error;
use std::time::Duration;

const TIME: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(path), Some(numbers)) = (arguments.first(), arguments.get(1..5)) else {
        return Err("expected MODEL.tflite FIRST LAST ROWS COLUMNS [OUT.tflite]".into());
    };
    let numbers: Vec<u32> = numbers
        .iter()
        .map(|number| number.parse())
        .collect::<Result<_, _>>()?;
    let file = std::fs::read(path)?;
    let model = tflite::read(&file)?;
    let graph = model.graphs.first().ok_or("no subgraph")?;
    let recipe = Recipe {
        splits: vec![Split {
            operators: (numbers[0]..=numbers[1])
                .map(|index| OperatorId(index as usize))
                .collect(),
            grid: [numbers[2], numbers[3]],
        }],
        ..Recipe::default()
    };
    let views = apply(graph, &recipe)?.graph;
    let none: fn(&Graph) -> Overlaps = overlaps::none;
    for (name, overlaps) in [("none", none), ("analytic", overlaps::analytic)] {
        let handed = tiled(&file, &recipe, overlaps, TIME, &mut |_| {})?;
        println!(
            "overlaps {name}: original {}, views {}, standard {} bytes (bound {}), on device {}",
            arena(graph, overlaps)?,
            arena(&views, overlaps)?,
            handed.planned.arena_bytes,
            handed.planned.order_bound_bytes,
            handed.device.arena_bytes,
        );
        if let Some(out) = arguments.get(5) {
            std::fs::write(format!("{out}.{name}.tflite"), &handed.file)?;
        }
        if name == "none" {
            let macs = [graph, &views, &handed.standard.graph].map(macs::of_graph);
            let operators = [graph, &handed.standard.graph].map(|graph| graph.operators.len());
            println!(
                "multiply-accumulates {macs:?}, operators {operators:?}, file {} to {} bytes",
                file.len(),
                handed.file.len()
            );
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
    Ok(optimise(task, TIME, &mut |_| {})?.arena_bytes)
}
