//! How far tensors keep from each other that are stored and loaded piece by piece, through
//! views.

use crate::graph::overlaps::{Overlaps, Sharing};
use crate::graph::{Graph, OperatorId, TensorId};
use crate::schedule::uses::{Use, Uses};
use crate::trace::AccessKind;

/// What is known of the pieces and of what operators allow.
pub(super) struct Pieces<'a> {
    pub(super) graph: &'a Graph,
    pub(super) order: &'a [OperatorId],
    pub(super) overlaps: &'a Overlaps,
    pub(super) uses: &'a Uses,
}

impl Pieces<'_> {
    /// The least displacement of `upper` above `lower`, in bytes, that is safe together with all
    /// larger ones: no store to one of them reaches bytes that the other still holds. Neither is
    /// a view. At most the lower one's size.
    ///
    /// Each step counts as a whole: what it loads it loads after all that it stores, except where
    /// the operator's own overlap says more.
    pub(super) fn displacement(&self, lower: TensorId, upper: TensorId) -> u64 {
        let size = self.graph.tensor(lower).size_bytes;
        let (below, above) = (self.uses.of(lower), self.uses.of(upper));
        let up = stores(below).filter_map(|store| self.keeps_above(store, above));
        let down = stores(above).filter_map(|store| keeps_below(store, below));
        up.chain(down).max().unwrap_or(0).min(size)
    }

    /// For a store to the lower one, how far the upper one has to keep what it holds above it.
    fn keeps_above(&self, store: &Use, above: &[Use]) -> Option<u64> {
        stores(above).find(|other| other.step <= store.step)?;
        let later = loads(above).filter(|load| load.step >= store.step);
        let later = later.map(|load| self.distance(store, load));
        // In which order a step stores is not known, whether or not anyone loads it.
        let together = stores(above).filter(|other| other.step == store.step);
        let together = together.map(|other| apart(store, other));
        later.chain(together).max()
    }

    fn distance(&self, store: &Use, load: &Use) -> u64 {
        let apart = apart(store, load);
        if store.step != load.step {
            return apart;
        }
        let operator = store.step.checked_sub(1).and_then(|at| self.order.get(at));
        let pairs = operator.and_then(|operator| self.overlaps.get(operator.0));
        let pair = pairs.into_iter().flatten();
        let pair = pair
            .filter(|pair| (pair.input, pair.output) == (load.tensor, store.tensor))
            .find_map(|pair| match pair.sharing {
                Sharing::Displaced(bytes) => Some(bytes),
                Sharing::Alias => None,
            });
        match pair {
            Some(bytes) => store
                .bytes
                .start
                .saturating_add(bytes)
                .saturating_sub(load.bytes.start)
                .min(apart),
            None => apart,
        }
    }
}

/// How far the upper one has to lie above the lower one for these bytes to be apart.
fn apart(below: &Use, above: &Use) -> u64 {
    below.bytes.end.saturating_sub(above.bytes.start)
}

/// For a store to the upper one, how far it has to lie above what the lower one holds then.
fn keeps_below(store: &Use, below: &[Use]) -> Option<u64> {
    let before = stores(below).filter(|other| other.step <= store.step);
    let held = before.map(|other| other.bytes.end).max()?;
    let later = loads(below).filter(|load| load.step >= store.step);
    let needed = later.filter(|load| load.bytes.start < held);
    let end = needed.map(|load| load.bytes.end.min(held)).max()?;
    Some(end.saturating_sub(store.bytes.start))
}

fn stores(uses: &[Use]) -> impl Iterator<Item = &Use> {
    uses.iter().filter(|known| known.kind == AccessKind::Store)
}

fn loads(uses: &[Use]) -> impl Iterator<Item = &Use> {
    uses.iter().filter(|known| known.kind == AccessKind::Load)
}
