//! Memory against recomputation.

use crate::study::change::WorkFront;
use crate::study::plan::Planned;
use crate::study::remedies::Remedies;
use crate::words::recipe::described;
use dmo_analysis::wording::grouped;
use serde::Serialize;

/// Ways to run the model that nothing else beats in both memory and work.
#[derive(Debug, Clone, Serialize)]
pub struct FrontChart {
    /// What the axes are of.
    pub axes: FrontAxes,
    /// The work of the model, or of its fastest form.
    pub work: u64,
    /// The ways, by work.
    pub points: Vec<FrontPoint>,
    /// The most memory that one may take, where that is limited.
    pub limit_bytes: Option<u64>,
    /// What was searched, in sentences.
    pub about: String,
}

/// What a front is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FrontAxes {
    /// The heading.
    pub title: &'static str,
    /// Whose bytes are counted.
    pub memory: &'static str,
    /// What is counted beside [`FrontChart::work`].
    pub extra: &'static str,
}

/// Of plans.
const RECOMPUTATION: FrontAxes = FrontAxes {
    title: "Memory against recomputation",
    memory: "Arena",
    extra: "multiply-accumulates computed again",
};

/// A way to run the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrontPoint {
    /// The memory in bytes.
    pub memory_bytes: u64,
    /// What it takes beside the work of the chart.
    pub extra_work: u64,
    /// What is done to the model.
    pub change: String,
    /// The page's plan is of this way.
    pub is_chosen: bool,
}

/// The front, with the way that the plan takes. A plan of several memories is none of its points,
/// whose arenas lie in one.
pub fn chart(tried: &Remedies, planned: &Planned) -> Option<FrontChart> {
    let front = tried.front.as_ref()?;
    let points = front.front.points.iter();
    let is_of_one_memory = planned.placed.is_none();
    let is_chosen = |point: &dmo_analysis::transform::front::Point| {
        is_of_one_memory
            && point.arena_bytes == planned.plan.arena_bytes
            && match &planned.file.recipe {
                Some(recipe) => point.recipe == *recipe,
                None => !point.recipe.changes(),
            }
    };
    Some(FrontChart {
        axes: RECOMPUTATION,
        work: front.macs,
        points: points
            .map(|point| FrontPoint {
                memory_bytes: point.arena_bytes,
                extra_work: point.extra_macs,
                change: described(&point.recipe),
                is_chosen: is_chosen(point),
            })
            .collect(),
        limit_bytes: None,
        about: about(front, tried.is_suggestion, planned),
    })
}

fn about(found: &WorkFront, is_suggestion: bool, planned: &Planned) -> String {
    let whole = if found.front.complete {
        "nothing that was tried is better than one of these; with another --max-recompute, other ways are tried"
    } else {
        "the best found within --time"
    };
    let mut text = format!(
        "{} ways to run the model were tried: {whole}. Their arenas are planned with overlaps by \
         formula; the model has {} multiply-accumulates.",
        grouped(found.front.candidates),
        grouped(found.macs)
    );
    if planned.overlaps.measured.is_some() {
        text += " These overlaps are those of the reference kernels: the kernels of this plan may allow less.";
    }
    if planned.placed.is_some() {
        text += " Each arena lies in one memory; this plan lies in several and is none of them.";
    }
    if is_suggestion {
        text += " They were searched for this page, with the work of about two seconds: --allow \
                 split,patch searches longer, and plans with what it finds.";
    }
    text
}
