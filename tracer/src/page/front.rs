//! Memory against recomputation.

use super::peak::change;
use crate::study::remedies::Remedies;
use serde::Serialize;

/// Ways to run the model that nothing else beats in both memory and work.
#[derive(Debug, Clone, Serialize)]
pub struct FrontChart {
    /// Multiply-accumulates of the model.
    pub macs: u64,
    /// The ways, by work.
    pub points: Vec<FrontPoint>,
    /// How many ways were tried.
    pub candidates: u64,
    /// All ways were tried that there are.
    pub is_complete: bool,
    /// The plan of the page is none of these: they were searched for the page alone.
    pub is_suggestion: bool,
}

/// A way to run the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrontPoint {
    /// Size of the arena in bytes.
    pub arena_bytes: u64,
    /// Multiply-accumulates beside those of the model.
    pub extra_macs: u64,
    /// What is done to the model.
    pub change: String,
    /// The page's plan is of this way.
    pub is_chosen: bool,
}

/// The front, with the way that the plan of `recipe` takes.
pub fn chart(
    tried: &Remedies,
    recipe: Option<&dmo_analysis::transform::Recipe>,
) -> Option<FrontChart> {
    let front = tried.front.as_ref()?;
    let points = front.front.points.iter();
    let is_chosen = |point: &dmo_analysis::transform::front::Point| match recipe {
        Some(recipe) => point.recipe == *recipe,
        None => !point.recipe.changes(),
    };
    Some(FrontChart {
        macs: front.macs,
        points: points
            .map(|point| FrontPoint {
                arena_bytes: point.arena_bytes,
                extra_macs: point.extra_macs,
                change: change(point),
                is_chosen: is_chosen(point),
            })
            .collect(),
        candidates: front.front.candidates,
        is_complete: front.front.complete,
        is_suggestion: tried.is_suggestion,
    })
}
