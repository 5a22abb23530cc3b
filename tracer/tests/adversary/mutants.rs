//! A plan with other offsets: tensors moved so that they share bytes, or overlap further.

use dmo_analysis::graph::overlaps::{Overlaps, SafeOverlap, Sharing};
use dmo_analysis::graph::{Graph, TensorId};
use dmo_analysis::random::SplitMix64;
use dmo_planner::plan::tflm::ALIGNMENT;

/// What is known of the plan that mutants are made of.
pub struct Origin<'a> {
    pub graph: &'a Graph,
    pub overlaps: &'a Overlaps,
    /// In bytes, -1 for what is left to the runtime.
    pub offsets: &'a [i32],
    pub arena_bytes: u64,
}

impl Origin<'_> {
    /// Other offsets, `None` where this attempt finds nothing to change.
    pub fn mutant(&self, random: &mut SplitMix64) -> Option<Vec<i32>> {
        let mut offsets = self.offsets.to_vec();
        let placed: Vec<usize> = (0..offsets.len()).filter(|&id| offsets[id] >= 0).collect();
        if placed.is_empty() {
            return None;
        }
        let pick = |random: &mut SplitMix64| placed[random.below(placed.len())];
        match random.below(8) {
            0 | 1 => self.pair_above_all(random, &mut offsets)?,
            2 => self.pair_nearer(random, &mut offsets)?,
            3 => {
                // Somewhere else, or a little way off.
                let moved = pick(random);
                let steps = (self.arena_bytes / ALIGNMENT + 8) as usize;
                offsets[moved] = (random.below(steps) as u64 * ALIGNMENT) as i32;
            }
            4 => {
                let moved = pick(random);
                let step = [-2, -1, 1, 2][random.below(4)] * ALIGNMENT as i32;
                offsets[moved] = offsets[moved].checked_add(step).filter(|&to| to >= 0)?;
            }
            5 => {
                let (one, other) = (pick(random), pick(random));
                offsets.swap(one, other);
            }
            6 => offsets[pick(random)] = -1,
            _ => {
                // All that lies above some tensor comes nearer.
                let edge = offsets[pick(random)];
                let above = offsets.iter_mut().filter(|offset| **offset >= edge.max(1));
                for offset in above {
                    *offset -= ALIGNMENT as i32;
                }
            }
        }
        (offsets != self.offsets).then_some(offsets)
    }

    /// A pair that an operator lets overlap.
    fn pair(&self, random: &mut SplitMix64) -> Option<(SafeOverlap, u64)> {
        let pairs = self.overlaps.iter().flatten();
        let pairs: Vec<_> = pairs
            .map(|pair| match pair.sharing {
                Sharing::Displaced(bytes) => (*pair, bytes),
                Sharing::Alias => (*pair, 0),
            })
            .filter(|(pair, bytes)| *bytes <= self.size(pair.output))
            .collect();
        (!pairs.is_empty()).then(|| pairs[random.below(pairs.len())])
    }

    fn size(&self, id: TensorId) -> u64 {
        self.graph.tensor(id).size_bytes
    }

    /// Around what is safe: as far apart as that, rounded, exactly, or nearer by an element.
    fn displacement(&self, random: &mut SplitMix64, pair: &SafeOverlap, bytes: u64) -> Option<u64> {
        let element = self.graph.tensor(pair.input).element_type.alignment();
        match random.below(5) {
            0 => Some(bytes.next_multiple_of(ALIGNMENT)),
            1 => Some(bytes / ALIGNMENT * ALIGNMENT),
            2 => Some(bytes.next_multiple_of(element)),
            3 => bytes.checked_sub(element),
            _ => bytes.checked_sub(element * (1 + random.below(16) as u64)),
        }
    }

    /// The pair above all else, as near as is safe or nearer.
    fn pair_above_all(&self, random: &mut SplitMix64, offsets: &mut [i32]) -> Option<()> {
        let (pair, bytes) = self.pair(random)?;
        let displacement = self.displacement(random, &pair, bytes)?;
        let base = self.arena_bytes.next_multiple_of(ALIGNMENT);
        offsets[pair.output.0] = i32::try_from(base).ok()?;
        offsets[pair.input.0] = i32::try_from(base + displacement).ok()?;
        Some(())
    }

    /// The pair's input as near to its output, where that is, as is safe or nearer.
    fn pair_nearer(&self, random: &mut SplitMix64, offsets: &mut [i32]) -> Option<()> {
        let (pair, bytes) = self.pair(random)?;
        let displacement = self.displacement(random, &pair, bytes)?;
        let output = u64::try_from(offsets[pair.output.0]).ok()?;
        offsets[pair.input.0] = i32::try_from(output + displacement).ok()?;
        Some(())
    }
}
