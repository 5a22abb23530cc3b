//! What a map has beside its buffers where its steps are the layers of a program that was run.

use serde::Serialize;
use std::collections::HashMap;

/// Layer n runs in step n.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerSteps {
    /// The address of the map's first byte.
    pub start: u64,
    /// For each of the map's buffers what the layers use it for, in words.
    pub uses: Vec<String>,
    /// The pairs of an input and an output, as far as both are in the map.
    pub pairs: Vec<PairInMap>,
}

/// An input and an output of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PairInMap {
    /// The buffers in the map: the input, then the output.
    pub buffers: [usize; 2],
    /// The position of the layer in the page's `traced`.
    pub layer: usize,
    /// The position of the pair in the layer's `pairs`.
    pub pair: usize,
}

impl LayerSteps {
    /// The same for these of its buffers, with at most `2 * most` pairs.
    pub(super) fn limited(&self, kept: &[usize], most: usize) -> Self {
        let place: HashMap<usize, usize> =
            kept.iter().enumerate().map(|(at, &of)| (of, at)).collect();
        let uses = kept.iter().filter_map(|&of| self.uses.get(of).cloned());
        let pairs = self.pairs.iter().filter_map(|pair| {
            let [input, output] = pair.buffers;
            Some(PairInMap {
                buffers: [*place.get(&input)?, *place.get(&output)?],
                ..*pair
            })
        });
        Self {
            start: self.start,
            uses: uses.collect(),
            pairs: pairs.take(2 * most).collect(),
        }
    }
}
