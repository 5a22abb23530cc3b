//! Inspections at points that are yet to come.

use super::OwnEngine;
use crate::mcu::machine::inspection::{CoreState, ExecutionPoint, Inspector};
use dmo_analysis::trace::Time;

/// The points, and who looks there.
#[derive(Default)]
pub(super) struct Inspections {
    inspectors: Vec<Inspector>,
    /// Each with its inspector; the next one is the last.
    points: Vec<(ExecutionPoint, usize)>,
}

impl Inspections {
    pub(super) fn add(&mut self, points: &[ExecutionPoint], look: Inspector) {
        let inspector = self.inspectors.len();
        self.inspectors.push(look);
        self.points
            .extend(points.iter().map(|&point| (point, inspector)));
        self.points.sort_unstable();
        self.points.reverse();
    }

    /// How many instructions have been executed just before the next point.
    pub(super) fn next(&self) -> Time {
        let next = self.points.last();
        next.map_or(Time::MAX, |(point, _)| point.time.saturating_sub(1))
    }
}

impl OwnEngine<'_> {
    /// Inspects where it is time; forgets points that were passed by.
    pub(super) fn inspect(&mut self) {
        let executed = self.core().time;
        while self.inspections.next() <= executed {
            let Some((point, inspector)) = self.inspections.points.pop() else {
                return;
            };
            if (point.time, point.pc.0) != (executed + 1, self.pc()) {
                continue;
            }
            let mut inspectors = std::mem::take(&mut self.inspections.inspectors);
            if let Some(look) = inspectors.get_mut(inspector) {
                look(&CoreState { sight: self, point });
            }
            self.inspections.inspectors = inspectors;
        }
    }
}
