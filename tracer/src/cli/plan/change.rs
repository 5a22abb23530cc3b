//! What a plan may change of the work: other kernels, fewer operators, smaller ones.

use super::source::Source;
use super::{LayoutArguments, OverlapKind};
use crate::cli::progress;
use anyhow::{Context, ensure};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::transform::front::{Front, Point, Search, front};
use dmo_analysis::transform::macs;
use dmo_analysis::wording::grouped;
use serde::Serialize;
use std::time::Duration;

/// What may be done to the work of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Change {
    /// Run depthwise convolutions in place, with a kernel that needs one plane of scratch
    Inplace,
    /// Let element-wise operators overwrite an input, whatever --overlap says
    Accumulate,
    /// Leave out operators that only move data
    Remove,
    /// Compute runs of operators in bands of rows
    Split,
    /// Compute runs of operators in patches of rows and columns
    Patch,
}

/// Which changes are allowed.
#[derive(clap::Args)]
pub struct ChangeArguments {
    /// Changes to the model's graph to allow, comma-separated; the results stay the same. The plan
    /// then needs kernels that support them, and `dmo-trace verify --plan` proves it
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub allow: Vec<Change>,
    /// Extra multiply-accumulates allowed for tiling, in % of the model's
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = parse_percent)]
    pub max_recompute: f64,
}

impl ChangeArguments {
    /// Whether something is allowed that gives another graph.
    pub fn reshapes(&self) -> bool {
        self.allow
            .iter()
            .any(|change| *change != Change::Accumulate)
    }

    /// Whether element-wise operators may store over an input.
    pub fn accumulates(&self) -> bool {
        self.allows(Change::Accumulate)
    }

    fn allows(&self, change: Change) -> bool {
        self.allow.contains(&change)
    }
}

/// `10%`, `10`.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=10_000.0).contains(percent))
        .ok_or_else(|| format!("'{text}' is no percentage from 0 to 10000"))
}

/// What the search has found.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// Multiply-accumulates of the model.
    pub macs: u64,
    /// The front of arena against work; the arenas with overlaps by formula, where those of the
    /// plan are measured.
    #[serde(flatten)]
    pub front: Front,
}

impl Found {
    /// The smallest arena.
    pub fn best(&self) -> Option<&Point> {
        self.front
            .points
            .iter()
            .min_by_key(|point| point.arena_bytes)
    }
}

/// Searches for what may be done to the model that the plan `order` is of.
///
/// # Errors
/// When the order is not one of the model's.
pub fn search(
    source: &Source,
    order: &[OperatorId],
    arguments: &ChangeArguments,
    layout: &LayoutArguments,
    overlap: OverlapKind,
    time: Duration,
) -> anyhow::Result<Found> {
    let graph = source.graph();
    let macs = macs::of_graph(graph);
    let overlaps = |graph: &Graph| allowed(graph, overlap, arguments);
    let search = Search {
        graph,
        order,
        overlaps: &overlaps,
        layout: layout.layout(),
        in_place: arguments.allows(Change::Inplace),
        remove: if arguments.allows(Change::Remove) {
            source.removable()?
        } else {
            Vec::new()
        },
        bands: arguments.allows(Change::Split),
        patches: arguments.allows(Change::Patch),
        most_extra_macs: (macs as f64 * arguments.max_recompute / 100.0) as u64,
    };
    let bar = progress::spinner("splitting");
    let found = front(&search, time, &mut |done, all, bytes| {
        bar.set_message(format!(
            "{done} of {all} runs, arena {} bytes so far",
            grouped(bytes)
        ));
    });
    bar.finish_and_clear();
    let front = found.with_context(|| source.name.clone())?;
    ensure!(
        !front.points.is_empty(),
        "{}: no plan was found in time",
        source.name
    );
    Ok(Found { macs, front })
}

/// What may overlap in a graph, as far as it is known without measuring.
pub fn allowed(graph: &Graph, overlap: OverlapKind, arguments: &ChangeArguments) -> Overlaps {
    match overlap {
        OverlapKind::None if arguments.allows(Change::Accumulate) => overlaps::accumulating(graph),
        OverlapKind::None => overlaps::none(graph),
        OverlapKind::Analytic | OverlapKind::Traced => overlaps::analytic(graph),
    }
}
