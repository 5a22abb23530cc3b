//! Which operators are best left out.

use super::{BUILT, FrontPlanner};
use crate::transform::remove::remove;
use crate::transform::{Recipe, apply};
use dmo_planner::budget::Budget;

impl FrontPlanner<'_> {
    /// The recipe without the operators that only move data: without as many as go together, or
    /// without those that make the arena no larger, one after the other; what is planned smaller. Where
    /// only convolutions take over padding it may need more than with all operators: in tiles it can need
    /// less.
    pub(super) fn without_moves(&mut self, base: &Recipe, budget: &mut Budget<'_>) -> Recipe {
        let all = self.without(base, budget, &mut |_, _, _| true);
        let most = self.bytes(base, budget).unwrap_or(u64::MAX);
        let mut least = most;
        let fewer = self.without(base, budget, &mut |planner, recipe, budget| {
            let bytes = planner.bytes(recipe, budget).unwrap_or(u64::MAX);
            let takes = bytes <= least;
            least = bytes.min(least);
            takes
        });
        let mut best: Option<(u64, Recipe)> = None;
        for recipe in [fewer, all] {
            if recipe == *base {
                continue;
            }
            let Some(bytes) = self.plan(recipe.clone(), budget) else {
                continue;
            };
            // Of equal ones that which does less work.
            let is_best = best.as_ref().is_none_or(|(known, _)| bytes <= *known);
            if is_best && (bytes <= most || self.only_pads(&recipe)) {
                best = Some((bytes, recipe));
            }
        }
        best.map_or_else(|| base.clone(), |(_, recipe)| recipe)
    }

    /// Nothing lies in another tensor in place of what the recipe leaves out.
    fn only_pads(&self, recipe: &Recipe) -> bool {
        remove(self.search.graph, &recipe.removed)
            .is_ok_and(|remaining| remaining.graph.views.is_empty())
    }

    /// The recipe with each further removal that is possible and taken.
    fn without(
        &self,
        base: &Recipe,
        budget: &mut Budget<'_>,
        takes: &mut dyn FnMut(&Self, &Recipe, &mut Budget<'_>) -> bool,
    ) -> Recipe {
        let mut recipe = base.clone();
        for &operator in &self.search.remove {
            if budget.spend(BUILT * self.search.order.len() as u64) {
                break;
            }
            recipe.removed.push(operator);
            if apply(self.search.graph, &recipe).is_err() || !takes(self, &recipe, budget) {
                recipe.removed.pop();
            }
        }
        recipe
    }

    /// What no arena is smaller than, step by step.
    fn bytes(&self, recipe: &Recipe, budget: &mut Budget<'_>) -> Option<u64> {
        let transformed = apply(self.search.graph, recipe).ok()?;
        let problem = self.arena(&transformed).ok()?.problem;
        let sections = problem.sections().len() as u64;
        budget.spend((BUILT + sections) * problem.buffers().len() as u64);
        Some(problem.lower_bound())
    }
}
