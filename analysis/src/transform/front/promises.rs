//! All runs in all grids, with what each needs at least and exactly what it computes again.

use super::Search;
use super::candidates::{self, Tiling};
use super::cuts::{Cut, Step};
use super::floor::{Span, Steps};
use super::path::Piece;
use dmo_planner::budget::Budget;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The runs of a model, in all grids that may help.
pub(super) struct Promises {
    /// Ordered by the first step, the last one and the work.
    pub(super) pieces: Vec<Piece>,
    /// Pairs of a run and a grid that were looked at.
    pub(super) looked_at: u64,
    /// The work was enough for all of them.
    pub(super) complete: bool,
}

/// Runs that end with the same step share their cuts. `needs` are the bytes of each step that is
/// not in tiles; so much work was `spared` of the model's already.
pub(super) fn promises(
    search: &Search<'_>,
    steps: &Steps<'_>,
    needs: &[u64],
    spared: u64,
    budget: &mut Budget<'_>,
) -> Promises {
    let most_extra_macs = search.most_extra_macs.saturating_add(spared);
    let mut found = Promises {
        pieces: Vec::new(),
        looked_at: 0,
        complete: true,
    };
    let least = candidates::least_bytes(&steps.steps, needs);
    for end in 1..=steps.steps.len() {
        let first = steps.first(end, candidates::MOST_OPERATORS);
        let most = needs[first..end].iter().max();
        let Some(last) = &steps.steps[end - 1] else {
            continue;
        };
        if most.is_none_or(|&most| most <= least) {
            continue;
        }
        if budget.is_spent() {
            found.complete = false;
            break;
        }
        let ends = Ends::new(search, steps, first..end, last, budget);
        for start in (first..end).rev() {
            let run = start..end;
            let whole = needs[run.clone()].iter().max().copied().unwrap_or(0);
            if whole > least {
                budget.spend((run.len() * ends.tilings.len()) as u64);
                found.looked_at += ends.tilings.len() as u64;
                let pieces = ends.pieces(&run, most_extra_macs);
                let pieces = pieces.map(|piece| Piece {
                    bytes: piece.bytes.max(least),
                    ..piece
                });
                found
                    .pieces
                    .extend(pieces.filter(|piece| piece.bytes < whole));
            }
        }
    }
    found.pieces.sort_by_key(|piece| {
        (
            piece.steps.start,
            piece.steps.end,
            piece.extra_macs,
            piece.tiling,
        )
    });
    found
}

/// The runs that end with the same step.
struct Ends<'a, 's> {
    steps: &'s Steps<'a>,
    end: usize,
    tilings: Vec<Tiling>,
    /// By axis, number of parts, and whether rows are kept.
    cuts: [HashMap<(u32, bool), Cut>; 2],
}

impl<'a, 's> Ends<'a, 's> {
    fn new(
        search: &Search<'_>,
        steps: &'s Steps<'a>,
        run: Range<usize>,
        last: &Step<'_>,
        budget: &mut Budget<'_>,
    ) -> Self {
        let tilings = candidates::tilings(search, last.shape);
        let cut = |axis: usize| {
            let keys = tilings.iter().map(|&tiling| along(tiling, axis));
            let keys: BTreeSet<(u32, bool)> = keys.collect();
            let cut = |(parts, cached)| {
                let (steps, producers) = (&steps.steps, &steps.producers);
                Cut::new(steps, producers, run.clone(), axis, parts, cached)
            };
            let cuts = keys.into_iter().map(|key| (key, cut(key)));
            cuts.collect::<HashMap<(u32, bool), Cut>>()
        };
        let cuts = [cut(0), cut(1)];
        let parts = cuts.iter().flat_map(HashMap::keys);
        let parts: u64 = parts.map(|&(parts, _)| u64::from(parts)).sum();
        budget.spend(parts * run.len() as u64);
        Self {
            steps,
            end: run.end,
            tilings,
            cuts,
        }
    }

    /// A run in all tilings in which it can be computed with so much work.
    fn pieces(&self, run: &Range<usize>, most_extra_macs: u64) -> impl Iterator<Item = Piece> {
        let span = self.steps.span(run.clone());
        self.tilings.iter().filter_map(move |&tiling| {
            let Tiling { grid, cached } = tiling;
            let [rows, columns] = [0, 1].map(|axis| self.cuts[axis].get(&along(tiling, axis)));
            let cuts = [rows?, columns?];
            if cuts.iter().any(|cut| cut.first() > run.start) || cached && !cuts[0].keeps(run) {
                return None;
            }
            let extra_macs = self.extra_macs(run, cuts[0], cuts[1]);
            let allowed = extra_macs <= most_extra_macs && !self.is_refused(&span, cuts[1], grid);
            let least = allowed.then(|| span.floor(cuts, grid))?;
            Some(Piece {
                steps: run.clone(),
                tiling,
                bytes: least,
                is_known: false,
                least,
                extra_macs,
            })
        })
    }

    fn extra_macs(&self, run: &Range<usize>, rows: &Cut, columns: &Cut) -> u64 {
        let steps = run
            .clone()
            .filter_map(|at| Some((at, self.steps.steps[at].as_ref()?)));
        let (mut tiled, mut whole) = (0u64, 0u64);
        for (at, step) in steps {
            tiled = tiled.saturating_add(rows.macs(columns, at, step));
            whole = whole.saturating_add(step.macs);
        }
        tiled.saturating_sub(whole)
    }

    /// Whether an operator would touch rows with gaps that has no kernel for it.
    fn is_refused(&self, span: &Span<'_, '_>, columns: &Cut, grid: [u32; 2]) -> bool {
        let Some(last) = &self.steps.steps[self.end - 1] else {
            return true;
        };
        // A single row has no gaps.
        if grid[1] == 1 || grid[0] >= last.shape[1] {
            return false;
        }
        let touches_gaps = |at: usize, step: &Step<'_>| {
            let asked = columns.at(at);
            let gaps = step.inputs.iter().zip(&asked.read).any(|(input, read)| {
                let inside = self
                    .steps
                    .producers
                    .get(input)
                    .filter(|at| span.steps.contains(at));
                match inside {
                    Some(&producer) => *read != columns.at(producer).computed,
                    None => self.steps.has_gaps(*input, read),
                }
            });
            gaps || at + 1 == self.end
        };
        span.steps.clone().any(|at| {
            let step = self.steps.steps[at].as_ref();
            step.is_some_and(|step| !step.pitched && touches_gaps(at, step))
        })
    }
}

/// The parts of a tiling along an axis. Only rows are kept.
fn along(tiling: Tiling, axis: usize) -> (u32, bool) {
    (tiling.grid[axis], tiling.cached && axis == 0)
}
