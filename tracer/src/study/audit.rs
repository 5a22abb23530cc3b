//! A plan against overlaps that are known: the geometric check alone, nothing is run.

use super::plan_to_check::{PlanFault, PlanToCheck};
use dmo_analysis::graph::Graph;
use dmo_analysis::graph::overlaps::Overlaps;
use dmo_analysis::schedule::ScheduleError;
use dmo_analysis::verify::{Clash, clashes};

/// What is wrong with a plan.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The first pairs that come too close.
    pub clashes: Vec<Clash>,
    /// What is wrong whatever may overlap.
    pub faults: Vec<PlanFault>,
}

impl Audit {
    /// Holds a plan against what may overlap; looks for at most `most_clashes`.
    ///
    /// # Errors
    /// When the plan's order is none of the graph's, or the overlaps are not of it.
    pub fn of(
        plan: &PlanToCheck,
        graph: &Graph,
        overlaps: &Overlaps,
        most_clashes: usize,
    ) -> Result<Self, ScheduleError> {
        let positions = plan.positions();
        Ok(Self {
            clashes: clashes(graph, &plan.order, overlaps, positions, most_clashes)?,
            faults: plan.faults(graph),
        })
    }

    /// Nothing is wrong.
    pub fn is_safe(&self) -> bool {
        self.clashes.is_empty() && self.faults.is_empty()
    }
}
