//! A plan of another tool, a .json: judged, and made anew.

use super::error::{About, PlanError, StudyError};
use super::input;
use super::problem::{PlannedProblem, plan};
use super::session::Session;
use dmo_analysis::foreign::{ForeignPlan, Memory, Renewal, Tool, executorch};
use dmo_planner::plan::Plan;
use std::path::Path;
use std::time::Duration;

/// No such file is larger.
const MOST_BYTES: u64 = 256 << 20;

/// Whether the path is that of another tool's plan, not of a model.
pub fn is_foreign(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// A plan of another tool, and the file that it is in.
#[derive(Debug, Clone)]
pub struct ForeignFile {
    /// What the user calls it.
    pub name: String,
    /// The plan.
    pub plan: ForeignPlan,
    text: String,
}

/// A memory that was planned anew.
#[derive(Debug, Clone)]
pub struct Renewed {
    /// What was planned, and what its buffers are in the memory.
    pub renewal: Renewal,
    /// The plan.
    pub planned: PlannedProblem,
}

impl ForeignFile {
    /// Reads a plan.
    ///
    /// # Errors
    /// When the file cannot be read, or is of no tool that is known.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let shown = path.display();
        let text = input::text(path, MOST_BYTES).about(format_args!("cannot read {shown}"))?;
        Ok(Self {
            name: shown.to_string(),
            plan: ForeignPlan::parse(&text).about(shown)?,
            text,
        })
    }

    /// Plans each memory anew, all of them in this time. No plan is larger than the tool's own, where
    /// that is safe.
    ///
    /// # Errors
    /// When there is no problem for a memory, or a plan does not pass its check.
    pub fn renew(&self, time: Duration, session: &Session) -> Result<Vec<Renewed>, StudyError> {
        let memories = self.plan.memories.iter();
        let share = time / self.plan.memories.len().max(1) as u32;
        let renewed = |memory: &Memory| {
            let renewal = memory.renewal().map_err(|error| {
                let memory = memory.name.clone();
                StudyError::from(dmo_analysis::foreign::ForeignError::Problem { memory, error })
            });
            let renewal = renewal.about(&self.name)?;
            let mut planned = plan(&memory.name, &renewal.problem, None, share, session)?;
            if let Some(plan) = renewal.own_plan(memory) {
                let arena_bytes = plan.arena_bytes(&renewal.problem);
                if arena_bytes < planned.arena_bytes {
                    (planned.plan, planned.arena_bytes) = (plan, arena_bytes);
                }
            }
            Ok(Renewed { renewal, planned })
        };
        memories.map(renewed).collect()
    }

    /// The memories whose own plan has buffers at the same bytes that are in use at the same time, as
    /// far as the file says.
    pub fn unexplained(&self) -> impl Iterator<Item = &Memory> {
        let memories = self.plan.memories.iter();
        memories.filter(|memory| !memory.faults().is_empty())
    }

    /// The same file with other plans. What was written is read again, and everything has to lie where
    /// the plans say.
    ///
    /// # Errors
    /// When the tool's files are only read, its own plan is not understood, or what was written is
    /// not safe.
    pub fn with_plans(&self, renewed: &[Renewed]) -> Result<String, StudyError> {
        if self.plan.tool != Tool::ExecuTorch {
            let tool = self.plan.tool.name();
            return Err(PlanError::OnlyRead { tool }.into());
        }
        if let Some(memory) = self.unexplained().next() {
            let (file, memory) = (self.name.clone(), memory.name.clone());
            return Err(PlanError::Unexplained { file, memory }.into());
        }
        let offsets = renewed.iter();
        let offsets = offsets.map(|one| one.renewal.offsets(&one.planned.plan));
        let offsets: Vec<Vec<u64>> = offsets.collect();
        let is_safe = |(memory, offsets): (&Memory, &Vec<u64>)| {
            let plan = Plan {
                offsets: offsets.clone(),
            };
            plan.check(&memory.problem).is_empty()
        };
        let are_safe = self.plan.memories.iter().zip(&offsets).all(is_safe);
        let text = executorch::with_offsets(&self.text, &offsets).about(&self.name)?;
        let is_there = executorch::has_offsets(&text, &self.text, &offsets).about(&self.name)?;
        if !are_safe || !is_there {
            let problem = self.name.clone();
            return Err(PlanError::InvalidPlan { problem }.into());
        }
        Ok(text)
    }
}
