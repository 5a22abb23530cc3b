//! O_s of each pair of an input and an output.

use super::published::ReadBound;
use super::{Buffers, Operator, ShapeError};
use crate::profile::overlap::overlap_bytes;
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an O_s was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// By formula; exact.
    Closed,
    /// From the accesses one by one; exact.
    Algorithmic,
    /// Nothing is known of the operator, so nothing is granted.
    Unknown,
}

/// O_s of one pair.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Overlap {
    /// Index of the input.
    pub input: usize,
    /// Index of the output.
    pub output: usize,
    /// O_s in bytes, at most the size of either buffer; 0 when the kernel never loads
    /// the input, for then something is wrong with the shape.
    pub bytes: u32,
    /// How `bytes` was found.
    pub method: Method,
    /// What the published formula gives in bytes, equation (11) of Blacker et al. exactly as
    /// printed: neither rounded nor kept within the buffers, and not safe on every shape.
    /// `None` for operators that the paper has no formula for.
    pub published_bytes: Option<f64>,
    /// The published formula exceeds the exact value and would clobber the input. It
    /// may be larger than `bytes` without harm where the input is loaded so early that
    /// even a place wholly inside the output is safe, for O_s ends at the input's size.
    pub published_is_unsafe: bool,
}

impl Operator {
    /// O_s of each pair, by formula, ordered by input, then output. Safe together: an
    /// output may overlap several inputs at once, as long as these lie apart from one
    /// another, and so may an input several outputs.
    ///
    /// ```
    /// use dmo_analysis::operator::{Concat, Operator};
    ///
    /// let concat = Operator::Concat(Concat {
    ///     inputs: vec![[1, 8, 8, 16], [1, 8, 8, 48]],
    ///     axis: 3,
    ///     element_bytes: 1,
    /// });
    /// let bytes: Vec<u32> = concat.overlaps()?.iter().map(|pair| pair.bytes).collect();
    /// assert_eq!(bytes, [1024, 3072]);
    /// # Ok::<(), dmo_analysis::operator::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn overlaps(&self) -> Result<Vec<Overlap>, ShapeError> {
        let buffers = self.buffers()?;
        Ok(pairs(&buffers)
            .map(|(input, output)| self.closed_overlap(&buffers, input, output))
            .collect())
    }

    /// O_s of one pair, by formula.
    ///
    /// ```
    /// use dmo_analysis::operator::{DepthwiseConv2d, Operator, Window};
    ///
    /// // MobileNet v2, second depthwise convolution, float32.
    /// let depthwise = Operator::DepthwiseConv2d(DepthwiseConv2d {
    ///     input: [1, 112, 112, 96],
    ///     output: [1, 56, 56, 96],
    ///     window: Window { kernel: [3, 3], stride: [2, 2], ..Window::default() },
    ///     multiplier: 1,
    ///     element_bytes: 4,
    /// });
    /// assert_eq!(depthwise.overlap(0, 0)?.bytes, 1_204_224);
    /// # Ok::<(), dmo_analysis::operator::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// When the shape makes no sense, or there is no such pair.
    pub fn overlap(&self, input: usize, output: usize) -> Result<Overlap, ShapeError> {
        let buffers = self.buffers_of(input, output)?;
        Ok(self.closed_overlap(&buffers, input, output))
    }

    /// The least displacement `input_start - output_start` in bytes that is safe together
    /// with all larger ones, by formula; none when the kernel never loads the input.
    ///
    /// # Errors
    /// When the shape makes no sense, or there is no such pair.
    pub fn displacement_of(&self, input: usize, output: usize) -> Result<Option<u32>, ShapeError> {
        self.buffers_of(input, output)?;
        Ok(self.closed_displacement(input, output))
    }

    /// [`overlaps`](Self::overlaps) from the accesses one by one: slow, and independent
    /// of every formula.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn traced_overlaps(&self) -> Result<Vec<Overlap>, ShapeError> {
        let buffers = self.buffers()?;
        Ok(pairs(&buffers)
            .zip(self.trace(&buffers)?)
            .map(|((input, output), displacement)| {
                let method = Method::Algorithmic;
                self.result(&buffers, input, output, displacement, method)
            })
            .collect())
    }

    /// The displacement of each pair from the accesses one by one, ordered by input,
    /// then output; none when the kernel never loads the input.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn traced_displacements(&self) -> Result<Vec<Option<u32>>, ShapeError> {
        self.trace(&self.buffers()?)
    }

    fn closed_overlap(&self, buffers: &Buffers, input: usize, output: usize) -> Overlap {
        let displacement = self.closed_displacement(input, output);
        let method = match self {
            Self::Opaque(_) => Method::Unknown,
            _ => Method::Closed,
        };
        self.result(buffers, input, output, displacement, method)
    }

    fn result(
        &self,
        buffers: &Buffers,
        input: usize,
        output: usize,
        displacement: Option<u32>,
        method: Method,
    ) -> Overlap {
        let input_bytes = buffers.inputs[input].size_bytes();
        let output_bytes = buffers.outputs[output].size_bytes();
        let published = self.read_bound();
        let most = displacement.map_or(0, |displacement| output_bytes - displacement);
        Overlap {
            input,
            output,
            bytes: displacement.map_or(0, |displacement| {
                overlap_bytes(displacement, input_bytes, output_bytes)
            }),
            method,
            published_bytes: published.as_ref().map(ReadBound::overlap_bytes),
            published_is_unsafe: published.is_some_and(|bound| bound.exceeds(most)),
        }
    }

    fn buffers_of(&self, input: usize, output: usize) -> Result<Buffers, ShapeError> {
        let buffers = self.buffers()?;
        for (what, index, count) in [
            ("input", input, buffers.inputs.len()),
            ("output", output, buffers.outputs.len()),
        ] {
            if index >= count {
                return Err(ShapeError::NoSuchBuffer { what, index, count });
            }
        }
        Ok(buffers)
    }

    fn trace(&self, buffers: &Buffers) -> Result<Vec<Option<u32>>, ShapeError> {
        if let ([input], [output]) = (&buffers.inputs[..], &buffers.outputs[..]) {
            // The usual case, kept in registers.
            let (stored_bytes, loaded_bytes) = (output.element_bytes, input.element_bytes);
            let (mut end, mut lead, mut loaded) = (0_u32, 0_u32, false);
            self.accesses(|kind, _, element| match kind {
                AccessKind::Store => end = end.max(element * stored_bytes + stored_bytes),
                AccessKind::Load => {
                    loaded = true;
                    lead = lead.max(end.saturating_sub(element * loaded_bytes));
                }
            })?;
            return Ok(vec![loaded.then_some(lead)]);
        }
        let count = buffers.outputs.len();
        let mut ends = vec![0_u32; count];
        let mut leads = vec![None; buffers.inputs.len() * count];
        self.accesses(|kind, buffer, element| match kind {
            AccessKind::Store => {
                let bytes = buffers.outputs[buffer].element_bytes;
                ends[buffer] = ends[buffer].max(element * bytes + bytes);
            }
            AccessKind::Load => {
                let offset = element * buffers.inputs[buffer].element_bytes;
                let leads = &mut leads[buffer * count..(buffer + 1) * count];
                for (lead, end) in leads.iter_mut().zip(&ends) {
                    // None is less than any number.
                    *lead = (*lead).max(Some(end.saturating_sub(offset)));
                }
            }
        })?;
        Ok(leads)
    }
}

/// Each input with each output.
fn pairs(buffers: &Buffers) -> impl Iterator<Item = (usize, usize)> + use<> {
    let (inputs, outputs) = (buffers.inputs.len(), buffers.outputs.len());
    (0..inputs).flat_map(move |input| (0..outputs).map(move |output| (input, output)))
}
