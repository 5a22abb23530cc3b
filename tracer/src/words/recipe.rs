//! What is done to a model, in words.

use dmo_analysis::graph::OperatorId;
use dmo_analysis::transform::Recipe;
use dmo_analysis::wording::{counted, grouped};

/// More runs in tiles are only counted.
const MOST_RUNS: usize = 6;

/// What a recipe does to a model.
pub fn described(recipe: &Recipe) -> String {
    let splits = recipe.splits.iter().take(MOST_RUNS);
    let mut parts: Vec<String> = splits
        .map(|split| {
            let [rows, columns] = split.grid;
            let tiles = match columns {
                1 => counted(rows.into(), "band", "bands"),
                _ => format!("{} patches", grouped(u64::from(rows) * u64::from(columns))),
            };
            format!("{} in {tiles}", run(&split.operators))
        })
        .collect();
    if recipe.splits.len() > MOST_RUNS {
        parts.push(format!(
            "{} more runs in tiles",
            recipe.splits.len() - MOST_RUNS
        ));
    }
    for (operators, what) in [
        (&recipe.in_place, "in place"),
        (&recipe.removed, "left out"),
    ] {
        match operators[..] {
            [] => (),
            [only] => parts.push(format!("operator {} {what}", only.0)),
            _ => parts.push(format!("{} operators {what}", operators.len())),
        }
    }
    if recipe.slices {
        parts.push("input in rows".to_owned());
    }
    if parts.is_empty() {
        return "the model as it is".to_owned();
    }
    parts.join(", ")
}

/// The first and the last operator.
fn run(operators: &[OperatorId]) -> String {
    match operators {
        [] => String::new(),
        [only] => format!("operator {}", only.0),
        [first, .., last] => format!("operators {} to {}", first.0, last.0),
    }
}
