//! What a plan may change of the work: other kernels, fewer operators, smaller ones.

use super::error::{About, PlanError, StudyError};
use super::overlap_source::OverlapKind;
use super::search_time::{STOPPED, SearchTime, within_time};
use super::session::{Session, State, Work};
use super::source::Source;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::transform::front::{Front, Point, Search, front};
use dmo_analysis::transform::macs;
use schemars::JsonSchema;
use serde::Serialize;

/// Which changes of a model's work are allowed. By default none is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeRequest {
    /// Depthwise convolutions by a kernel that keeps one plane aside and works in place.
    pub in_place: bool,
    /// Element-wise operators may store over an input, whatever else overlaps.
    pub accumulate: bool,
    /// Channels that make no difference are left out of the model's file, before all else.
    pub prune: bool,
    /// Operators that only move data are left out.
    pub remove: bool,
    /// Runs of operators are computed in bands of rows.
    pub split: bool,
    /// Runs of operators are computed in patches of rows and columns.
    pub patch: bool,
    /// Runs of operators are computed in bands that keep rows for the next band.
    pub cache: bool,
    /// The input is handed over in rows, to a run in tiles.
    pub slices: bool,
    /// At most this part of the model's multiply-accumulates may be computed again where runs
    /// are split, in percent.
    pub most_recomputed_percent: f64,
}

/// What may be computed again where runs are split, in percent of the model's work.
pub const RECOMPUTED_PERCENT: f64 = 10.0;

impl Default for ChangeRequest {
    fn default() -> Self {
        Self {
            in_place: false,
            accumulate: false,
            prune: false,
            remove: false,
            split: false,
            patch: false,
            cache: false,
            slices: false,
            most_recomputed_percent: RECOMPUTED_PERCENT,
        }
    }
}

impl ChangeRequest {
    /// The same with an input in rows; all tiles are then allowed, unless some are.
    #[must_use]
    pub fn in_rows(self) -> Self {
        let all = !self.allows_tiles();
        Self {
            slices: true,
            split: all || self.split,
            patch: all || self.patch,
            cache: all || self.cache,
            ..self
        }
    }

    /// Whether runs of operators may be computed in tiles.
    pub fn allows_tiles(&self) -> bool {
        self.split || self.patch || self.cache
    }

    /// Whether something is allowed that gives another graph than that of the file.
    pub fn reshapes(&self) -> bool {
        self.in_place || self.remove || self.allows_tiles()
    }

    /// What may overlap in a graph, as far as it is known without measuring.
    pub fn known_overlaps(&self, graph: &Graph, kind: OverlapKind) -> Overlaps {
        match kind {
            OverlapKind::None if self.accumulate => overlaps::accumulating(graph),
            OverlapKind::None => overlaps::none(graph),
            OverlapKind::Analytic | OverlapKind::Traced => overlaps::analytic(graph),
        }
    }
}

/// What memory can be had for what work.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct WorkFront {
    /// Multiply-accumulates of the model.
    pub macs: u64,
    /// The front of arena against work; the arenas with overlaps by formula, where those of the
    /// plan are measured.
    #[serde(flatten)]
    pub front: Front,
}

impl WorkFront {
    /// The smallest arena.
    pub fn best(&self) -> Option<&Point> {
        let points = self.front.points.iter();
        points.min_by_key(|point| point.arena_bytes)
    }

    /// Searches for what may be done to the model that the plan `order` is of.
    ///
    /// # Errors
    /// When the order is not one of the model's, no plan was found in time, or an input in rows is to
    /// be kept, or left out of the arena, as a whole.
    pub(super) fn search(
        source: &Source,
        order: &[OperatorId],
        changes: &ChangeRequest,
        layout: Layout,
        kind: OverlapKind,
        time: impl Into<SearchTime>,
        session: &Session,
    ) -> Result<Self, StudyError> {
        let is_whole = layout.keep_inputs || !layout.counted.count_graph_inputs;
        if changes.slices && is_whole {
            let given = if layout.keep_inputs {
                "--keep-inputs"
            } else {
                "--exclude-inputs"
            };
            return Err(PlanError::WholeInput { given }.into());
        }
        let graph = source.graph();
        let macs = macs::of_graph(graph);
        let overlaps = |graph: &Graph| changes.known_overlaps(graph, kind);
        let search = Search {
            graph,
            order,
            overlaps: &overlaps,
            layout,
            in_place: changes.in_place,
            remove: if changes.remove {
                source.removable()?
            } else {
                Vec::new()
            },
            bands: changes.split,
            patches: changes.patch,
            cached: changes.cache,
            most_extra_macs: (macs as f64 * changes.most_recomputed_percent / 100.0) as u64,
            slices: changes.slices,
        };
        let running = session.begin(Work::Splitting);
        let front = within_time(time, |budget| {
            front(&search, budget, &mut |done, all, arena_bytes| {
                running.reach(State::Splitting {
                    done,
                    all,
                    arena_bytes,
                });
            })
        });
        let front = front.about(&source.name)?;
        if front.stopped {
            session.progress.note(STOPPED);
        }
        if front.points.is_empty() && changes.slices {
            return Err(PlanError::NoSlices {
                model: source.name.clone(),
            }
            .into());
        }
        if front.points.is_empty() {
            return Err(PlanError::NoChangeInTime {
                model: source.name.clone(),
            }
            .into());
        }
        Ok(Self { macs, front })
    }
}
