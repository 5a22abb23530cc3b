//! The least cost: depth first over the buffers in the order in which they come to life, guided
//! and bounded by what the rest costs at least. It begins with plans that are made from all
//! buffers in one region.

use super::diagram::Diagram;
use super::error::LeftOver;
use super::packing::{self, Packing, Part};
use super::{NoRoom, RegionOffset, RegionOptimum, RegionPlan, RegionProblem};
use crate::budget::Budget;
use crate::plan::Plan;
use crate::plan::exact::Decision;

/// After this many assignments of which it is not known whether they fit, the search ends with
/// the plan that it has.
const MOST_UNDECIDED: usize = 30;
/// From this many assignments that do not fit plans are made of what does.
const MOST_REPAIRED: usize = 20;
/// A buffer that is not decided.
const OPEN: usize = usize::MAX;

/// The plan with the least cost. When the budget ends the search, the best one so far, and the
/// best bound so far.
///
/// # Errors
/// When none was found, and whether that is proven.
pub fn place(problem: &RegionProblem, budget: &mut Budget<'_>) -> Result<RegionOptimum, NoRoom> {
    place_from(problem, None, budget)
}

/// The same, with a plan of all buffers in one arena that is `known`: if one of the regions takes
/// it, a plan is found however little the search may do.
///
/// # Errors
/// When none was found, and whether that is proven.
pub fn place_from(
    problem: &RegionProblem,
    known: Option<&Plan>,
    budget: &mut Budget<'_>,
) -> Result<RegionOptimum, NoRoom> {
    let diagram = budget.share(4, |budget| Diagram::new(problem, budget));
    let mut search = Search {
        problem,
        packing: Packing::new(problem),
        level_of: level_of(&diagram),
        likenesses: likenesses(problem),
        assigned: vec![OPEN; problem.problem().buffers().len()],
        conflicts: Vec::new(),
        conflicts_with: vec![Vec::new(); problem.problem().buffers().len()],
        best: None,
        undecided: Vec::new(),
        repaired: 0,
        diagram,
    };
    budget.share(4, |budget| search.begin(known, budget));
    let part = budget.left() / 10 * 8;
    let open = budget.within(part, |budget| search.run(budget));
    search.finish(open, budget)
}

/// The place of each buffer in the order of decisions.
fn level_of(diagram: &Diagram<'_>) -> Vec<usize> {
    let mut levels = vec![0; diagram.order.len()];
    for (level, &buffer) in diagram.order.iter().enumerate() {
        levels[buffer] = level;
    }
    levels
}

/// For each region the earlier ones that are the same but for their names.
fn likenesses(problem: &RegionProblem) -> Vec<Vec<usize>> {
    let alike = |region: usize| {
        let earlier = (0..region).filter(move |&other| problem.are_alike(other, region));
        earlier.collect()
    };
    (0..problem.regions().len()).map(alike).collect()
}

/// Buffers that do not fit into a region together.
struct Conflict {
    region: usize,
    members: Vec<usize>,
}

/// A region for each buffer, and offsets with which all fit.
struct Found {
    cost: u64,
    places: Vec<RegionOffset>,
}

/// The regions in which a buffer may lie, those with the least bound first.
struct Frame {
    /// What the buffers before cost.
    cost: u64,
    /// Bounds and regions.
    choices: Vec<(u64, usize)>,
    next: usize,
}

struct Search<'a> {
    problem: &'a RegionProblem,
    packing: Packing<'a>,
    diagram: Diagram<'a>,
    /// The place of each buffer in the order of decisions.
    level_of: Vec<usize>,
    /// For each region the earlier ones that are the same but for their names.
    likenesses: Vec<Vec<usize>>,
    /// The region of each buffer, or [`OPEN`].
    assigned: Vec<usize>,
    conflicts: Vec<Conflict>,
    /// Those that name a buffer.
    conflicts_with: Vec<Vec<usize>>,
    best: Option<Found>,
    /// The costs of assignments of which it is not known whether they fit.
    undecided: Vec<u64>,
    repaired: usize,
}

impl Search<'_> {
    /// Plans that begin with all buffers in one region, or if there are none, one that places them
    /// one after the other.
    fn begin(&mut self, known: Option<&Plan>, budget: &mut Budget<'_>) {
        let regions = self.problem.regions().len();
        for home in 0..regions {
            let gathered = budget.share((regions - home) as u64 + 1, |budget| {
                let known = known.map(|plan| &plan.offsets[..]);
                self.packing.gather(home, known, budget)
            });
            if let Some(places) = gathered {
                self.offer(places);
            }
        }
        if self.best.is_none() {
            let order = self.packing.by_gain();
            if let Ok(places) = self.packing.place_each(&order, None, budget) {
                self.offer(places);
            }
        }
    }

    /// Goes through all assignments that may be better than the best one. The least bound of
    /// those that the budget did not reach; `None` if it reached all.
    fn run(&mut self, budget: &mut Budget<'_>) -> Option<u64> {
        let count = self.diagram.order.len();
        if count == 0 {
            self.best = Some(Found {
                cost: 0,
                places: Vec::new(),
            });
            return None;
        }
        let mut frames = vec![self.frame(0, 0)];
        loop {
            let level = frames.len().checked_sub(1)?;
            let buffer = self.diagram.order[level];
            self.assigned[buffer] = OPEN;
            let most = self.best.as_ref().map_or(u64::MAX, |best| best.cost);
            let frame = &mut frames[level];
            let choice = frame.choices.get(frame.next).copied();
            let Some((_, region)) = choice.filter(|&(bound, _)| bound < most) else {
                frames.pop();
                continue;
            };
            let is_enough = self.undecided.len() >= MOST_UNDECIDED && self.best.is_some();
            if budget.spend(count as u64) || is_enough {
                let open = frames
                    .iter()
                    .filter_map(|frame| frame.choices.get(frame.next));
                return open.map(|&(bound, _)| bound).min();
            }
            frame.next += 1;
            if self.has_unused_likeness(region) {
                continue;
            }
            self.assigned[buffer] = region;
            if self.conflicts(buffer, region) {
                continue;
            }
            let cost = frame.cost + self.problem.cost(buffer, region);
            if level + 1 < count {
                frames.push(self.frame(level + 1, cost));
                continue;
            }
            if let Some(last) = self.try_assignment(cost, budget) {
                while frames.len() > last + 1 {
                    self.assigned[self.diagram.order[frames.len() - 1]] = OPEN;
                    frames.pop();
                }
            }
        }
    }

    /// Where the buffer of this decision may lie, with what everything then costs at least.
    fn frame(&mut self, level: usize, cost: u64) -> Frame {
        let buffer = self.diagram.order[level];
        let mut choices = Vec::new();
        for region in self.problem.choices(buffer) {
            self.assigned[buffer] = region;
            if let Some(rest) = self.diagram.rest(level + 1, &self.assigned) {
                let bound = cost + self.problem.cost(buffer, region) + rest;
                choices.push((bound, region));
            }
        }
        self.assigned[buffer] = OPEN;
        choices.sort_by_key(|&(bound, _)| bound);
        Frame {
            cost,
            choices,
            next: 0,
        }
    }

    /// Whether the region is not used yet, nor is an earlier one that is the same but for its
    /// name: that one is tried.
    fn has_unused_likeness(&self, region: usize) -> bool {
        let is_used = |region: usize| self.assigned.contains(&region);
        let earlier = &self.likenesses[region];
        !earlier.is_empty() && !is_used(region) && earlier.iter().any(|&other| !is_used(other))
    }

    /// Whether the buffer in this region completes a set that does not fit into it.
    fn conflicts(&self, buffer: usize, region: usize) -> bool {
        let known = self.conflicts_with[buffer].iter();
        let mut known = known.map(|&index| &self.conflicts[index]);
        known.any(|conflict| {
            let there = |&member: &usize| self.assigned[member] == region;
            conflict.region == region && conflict.members.iter().all(there)
        })
    }

    /// Whether all buffers fit where they are assigned. If not, and it is known why, the first
    /// decision that completes what does not fit.
    fn try_assignment(&mut self, cost: u64, budget: &mut Budget<'_>) -> Option<usize> {
        let mut parts = Vec::new();
        let (mut last, mut is_known) = (None, true);
        for region in 0..self.problem.regions().len() {
            let there = |&buffer: &usize| self.assigned[buffer] == region;
            let members: Vec<usize> = (0..self.assigned.len()).filter(there).collect();
            match self.packing.fit(region, &members, budget) {
                Decision::Possible(offsets) => parts.push(Part { members, offsets }),
                Decision::Impossible => {
                    let decided = self.add_conflict(region, members, budget);
                    last = last.into_iter().chain([decided]).min();
                }
                Decision::Unknown => is_known = false,
            }
        }
        if last.is_none() && is_known {
            self.best = Some(Found {
                cost,
                places: packing::places(&parts),
            });
            return None;
        }
        if self.repaired < MOST_REPAIRED {
            self.repaired += 1;
            let order = self.packing.by_gain();
            let assigned = Some(&self.assigned[..]);
            if let Ok(places) = self.packing.place_each(&order, assigned, budget) {
                self.offer(places);
            }
        }
        if last.is_none() {
            self.undecided.push(cost);
        }
        last
    }

    /// Keeps what does not fit into the region of these; the last decision of it.
    fn add_conflict(
        &mut self,
        region: usize,
        mut members: Vec<usize>,
        budget: &mut Budget<'_>,
    ) -> usize {
        members.sort_unstable_by_key(|&buffer| self.level_of[buffer]);
        let conflict = self.packing.conflict(region, &members, budget);
        let levels = conflict.iter().map(|&buffer| self.level_of[buffer]);
        let last = levels.max().unwrap_or(0);
        // What fits into none of the regions that are the same is known of each of them.
        let alike = (0..self.problem.regions().len())
            .filter(|&other| other == region || self.problem.are_alike(region, other));
        for region in alike {
            for &member in &conflict {
                self.conflicts_with[member].push(self.conflicts.len());
            }
            let members = conflict.clone();
            self.conflicts.push(Conflict { region, members });
        }
        last
    }

    /// Keeps a plan if it is the best so far.
    fn offer(&mut self, places: Vec<RegionOffset>) {
        let plan = RegionPlan { places };
        let cost = self.problem.total_cost(&plan);
        if self.best.as_ref().is_none_or(|best| cost < best.cost) {
            let places = plan.places;
            self.best = Some(Found { cost, places });
        }
    }

    /// What was found, of an end of the search with this bound.
    fn finish(
        mut self,
        open: Option<u64>,
        budget: &mut Budget<'_>,
    ) -> Result<RegionOptimum, NoRoom> {
        let unknown = open.into_iter().chain(self.undecided.iter().copied()).min();
        if self.best.is_none() {
            let order = self.packing.by_extent();
            let placed = budget.share(2, |budget| self.packing.place_each(&order, None, budget));
            match placed {
                Ok(places) => self.offer(places),
                Err(left) if unknown.is_none() => return Err(NoRoom::Proven { left }),
                Err(left) => return Err(NoRoom::Unknown { left }),
            }
        }
        let Some(Found { cost, places }) = self.best else {
            let left = LeftOver::default();
            return Err(NoRoom::Unknown { left });
        };
        let count = self.problem.regions().len();
        let mut parts = packing::parts(&places, count);
        for (region, part) in parts.iter_mut().enumerate() {
            budget.share((count - region) as u64, |budget| {
                self.packing.compact(region, part, budget);
            });
        }
        Ok(RegionOptimum {
            plan: RegionPlan {
                places: packing::places(&parts),
            },
            cost,
            bound: unknown.map_or(cost, |bound| bound.min(cost)),
        })
    }
}
