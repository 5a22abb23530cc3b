//! Which operators are best left out.

use super::Hunt;
use crate::transform::{Recipe, apply};
use std::time::Instant;

impl Hunt<'_> {
    /// The recipe without the operators that only move data: without as many as go together, or
    /// without those that make the arena no larger, one after the other; what is planned smaller.
    pub(super) fn without_moves(&mut self, base: &Recipe, end: Instant) -> Recipe {
        let mut best = (self.bytes(base).unwrap_or(u64::MAX), base.clone());
        let all = self.without(base, end, &mut |_, _| true);
        let mut least = best.0;
        let fewer = self.without(base, end, &mut |hunt, recipe| {
            let bytes = hunt.bytes(recipe).unwrap_or(u64::MAX);
            let takes = bytes <= least;
            least = bytes.min(least);
            takes
        });
        for recipe in [fewer, all] {
            if recipe == *base {
                continue;
            }
            // Of equal ones that which does less work.
            let bytes = self
                .plan(recipe.clone())
                .map_or(u64::MAX, |planned| planned.2);
            if bytes <= best.0 {
                best = (bytes, recipe);
            }
        }
        best.1
    }

    /// The recipe with each further removal that is possible and taken.
    fn without(
        &self,
        base: &Recipe,
        end: Instant,
        takes: &mut dyn FnMut(&Self, &Recipe) -> bool,
    ) -> Recipe {
        let mut recipe = base.clone();
        for &operator in &self.search.remove {
            if Instant::now() > end {
                break;
            }
            recipe.removed.push(operator);
            if apply(self.search.graph, &recipe).is_err() || !takes(self, &recipe) {
                recipe.removed.pop();
            }
        }
        recipe
    }

    /// What no arena is smaller than, step by step.
    fn bytes(&self, recipe: &Recipe) -> Option<u64> {
        let transformed = apply(self.search.graph, recipe).ok()?;
        Some(self.arena(&transformed).ok()?.problem.lower_bound())
    }
}
