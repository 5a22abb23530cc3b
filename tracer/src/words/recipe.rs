//! What is done to a model, in words.

use dmo_analysis::graph::OperatorId;
use dmo_analysis::transform::{Recipe, Split};
use dmo_analysis::wording::{counted, grouped};

/// More runs in tiles are only counted.
const MOST_RUNS: usize = 6;

/// What a recipe does to a model.
pub fn described(recipe: &Recipe) -> String {
    let splits = recipe.splits.iter().take(MOST_RUNS);
    let mut parts: Vec<String> = splits.map(in_tiles).collect();
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

/// How a run is computed: `operators 2 to 5 in 4 bands`.
pub fn in_tiles(split: &Split) -> String {
    let [rows, columns] = split.grid;
    let tiles = match columns {
        1 => counted(rows.into(), "band", "bands"),
        _ => format!("{} patches", grouped(u64::from(rows) * u64::from(columns))),
    };
    let keep = if split.cached { " that keep rows" } else { "" };
    match split.operators[..] {
        [only] => format!("operator {} in {tiles}{keep}", only.0),
        _ => format!("operators {} in {tiles}{keep}", span(&split.operators)),
    }
}

/// The first and the last operator of a run: `2 to 5`.
pub fn span(operators: &[OperatorId]) -> String {
    match operators {
        [] => String::new(),
        [only] => only.0.to_string(),
        [first, .., last] => format!("{} to {}", first.0, last.0),
    }
}
