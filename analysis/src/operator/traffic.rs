//! How often a reference kernel accesses its inputs and outputs.

use super::window::Window;
use super::{Accumulation, Operator, Shape, ShapeError};
use crate::trace::AccessKind;

/// Loads of each input and stores to each output, as the loops of the reference kernels do them,
/// one for each element: what [`Operator::accesses`] goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traffic {
    /// One for each input.
    pub loads: Vec<u64>,
    /// One for each output.
    pub stores: Vec<u64>,
}

impl Operator {
    /// The number of accesses to each buffer. Operators that load an element many times are
    /// counted by formula, all others one access after the other.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn traffic(&self) -> Result<Traffic, ShapeError> {
        let buffers = self.buffers()?;
        let stored = buffers.outputs.first().map_or(0, |it| elements(it.shape));
        if let Some((loads, stores)) = self.counted(stored) {
            return Ok(Traffic { loads, stores });
        }
        let mut traffic = Traffic {
            loads: vec![0; buffers.inputs.len()],
            stores: vec![0; buffers.outputs.len()],
        };
        self.accesses(|kind, buffer, _| match kind {
            AccessKind::Load => traffic.loads[buffer] += 1,
            AccessKind::Store => traffic.stores[buffer] += 1,
        })?;
        Ok(traffic)
    }

    /// Loads and stores by formula, where there is one; the first output has `stored` elements.
    fn counted(&self, stored: u64) -> Option<(Vec<u64>, Vec<u64>)> {
        let one = |loads: u64, stores: u64| Some((vec![loads], vec![stores]));
        match self {
            Self::Conv2d(conv) => {
                let inputs = conv.input[3] / conv.groups;
                let taps = taps(&conv.window, conv.input, conv.output);
                one(product([taps, inputs.into()]), stored)
            }
            Self::DepthwiseConv2d(conv) => one(taps(&conv.window, conv.input, conv.output), stored),
            Self::Pool2d(pool) => one(taps(&pool.window, pool.input, pool.output), stored),
            Self::TransposeConv2d(conv) => {
                let loaded = elements(conv.input);
                let stores = match conv.accumulation {
                    Accumulation::Scratch => stored,
                    // Set to zero, then added to.
                    Accumulation::Output => {
                        // The same taps, seen from the output.
                        let pairs = conv.window.taps_inside(conv.output, conv.input);
                        let depths = [conv.input[0], conv.input[3], conv.output[3]];
                        let [batches, inputs, outputs] = depths.map(u64::from);
                        product([pairs, batches, inputs, outputs]).saturating_add(stored)
                    }
                };
                one(loaded, stores)
            }
            Self::FullyConnected(known) => {
                let factors = [known.batches, known.output_depth, known.input_depth];
                one(product(factors.map(u64::from)), stored)
            }
            Self::BatchedMatmul(known) => {
                let [rows, columns, inner] =
                    [known.rows, known.columns, known.inner].map(u64::from);
                let loads = product([known.all_batches(), rows, columns, inner]);
                Some((vec![loads; 2], vec![stored]))
            }
            Self::Matmul(known) => {
                let loads = product([known.rows, known.columns, known.inner].map(u64::from));
                // Set to zero, then added to.
                let stores = loads.saturating_add(stored);
                Some((vec![loads; 2], vec![stores]))
            }
            Self::Svdf(known) => {
                let filters = product([known.units, known.rank].map(u64::from));
                let loads = product([known.batches, known.input_depth].map(u64::from));
                one(product([filters, loads]), stored)
            }
            Self::Lstm(known) => {
                let factors = [known.times, known.batches, known.output_depth];
                let units = product(factors.map(u64::from));
                one(product([4, units, known.input_depth.into()]), stored)
            }
            Self::Opaque(known) => {
                let all = |sizes: &[u32]| sizes.iter().map(|&size| size.into()).collect();
                Some((all(&known.inputs), all(&known.outputs)))
            }
            Self::Pitched(known) => known.operator.counted(stored),
            _ => None,
        }
    }
}

/// Loads of a window's input for one input channel of each output element.
fn taps(window: &Window, input: Shape, output: Shape) -> u64 {
    let inside = window.taps_inside(input, output);
    product([inside, output[0].into(), output[3].into()])
}

fn elements(shape: Shape) -> u64 {
    product(shape.map(u64::from))
}

fn product<const N: usize>(factors: [u64; N]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}
