//! What an operator computes with beside its activations: quantisation, weights, options.
//!
//! Where the loops decide which bytes a kernel touches ([`Kernel`](super::Kernel)), these
//! decide what it stores there.

mod detection;
mod packed;
mod signal;

pub use detection::Detection;
pub use packed::{Channels, Packed, PackedError, Packing};
pub use signal::{Noise, Signal};

use super::{TensorId, TensorType};
use std::borrow::Cow;

/// The numbers that quantised ones stand for: `scale * (quantised - zero_point)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// Above 0; 1 for a tensor that is not quantised.
    pub scale: f32,
    /// What stands for 0; 0 for a tensor that is not quantised.
    pub zero_point: i32,
}

impl Affine {
    /// Of a tensor that is not quantised.
    pub const PLAIN: Self = Self {
        scale: 1.0,
        zero_point: 0,
    };
}

/// An operand that is the same in every inference: weights, a bias, a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant<'a> {
    /// Little-endian elements, in row-major order; of 4 bits two in a byte, the first in the lower
    /// half.
    pub bytes: Cow<'a, [u8]>,
    /// Type of its elements: one that kernels compute with, or `Int4`.
    pub element_type: TensorType,
    /// Elements on each axis; empty for a scalar.
    pub shape: Vec<u32>,
    /// How its elements are quantised: once for all of them, or once for each index of
    /// `channel_axis`. Empty where they are not.
    pub quantisation: Vec<Affine>,
    /// The axis whose indices are quantised each in its own way, where there are several.
    pub channel_axis: usize,
}

/// What is done to a result before it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Activation {
    #[default]
    None,
    Relu,
    ReluN1To1,
    Relu6,
}

impl Activation {
    /// The least and the greatest real number that pass; infinite where there is no limit.
    pub const fn limits(self) -> (f32, f32) {
        match self {
            Self::None => (f32::NEG_INFINITY, f32::INFINITY),
            Self::Relu => (0.0, f32::INFINITY),
            Self::ReluN1To1 => (-1.0, 1.0),
            Self::Relu6 => (0.0, 6.0),
        }
    }
}

/// What an operator computes with.
///
/// Operands are numbered as TensorFlow Lite numbers the operator's inputs: a convolution
/// has its filter at 1 and its bias at 2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters<'a> {
    /// The tensor that each of the operands is; `None` if an optional one is absent. Empty
    /// where the parameters are of no model.
    pub tensors: Vec<Option<TensorId>>,
    /// How each of the operands is quantised; [`Affine::PLAIN`] for those that are not, or
    /// are absent, the first channel's where each has its own.
    pub operands: Vec<Affine>,
    /// How each of the outputs is quantised.
    pub outputs: Vec<Affine>,
    /// Those operands that are constants.
    pub constants: Vec<Option<Constant<'a>>>,
    /// What is done to the result.
    pub activation: Activation,
    /// The factor of a softmax's exponents; 0 for other operators.
    pub beta: f32,
    /// Greatest magnitude of an LSTM's cell state as a real number; 0 for no limit, and for
    /// other operators.
    pub cell_clip: f32,
    /// Slope of a leaky ReLU below 0; 0 for other operators.
    pub alpha: f32,
    /// Options of an operator of the signal library; `None` for other operators, and for those of the
    /// library that have none.
    pub signal: Option<Signal>,
    /// Options of a detection; `None` for other operators.
    pub detection: Option<Detection>,
    /// How each of the outputs of `TFLM_DECODE` is packed; empty for other operators.
    pub packed: Vec<Packed>,
}

impl Constant<'_> {
    /// Whether these are floats, none of them infinite or no number.
    pub fn has_finite_floats(&self) -> bool {
        let (floats, []) = self.bytes.as_chunks() else {
            return false;
        };
        let is_finite = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes).is_finite();
        self.element_type == TensorType::Float32 && floats.iter().all(is_finite)
    }
}

impl<'a> Parameters<'a> {
    /// The operand, where it is a constant.
    pub fn constant(&self, operand: usize) -> Option<&Constant<'a>> {
        self.constants.get(operand)?.as_ref()
    }

    /// What `TFLM_DECODE` stores as each of its outputs.
    ///
    /// # Errors
    /// When the packed data are damaged.
    pub fn unpacked(&self) -> Result<Vec<Vec<u8>>, PackedError> {
        let data = |operand: usize| self.constant(operand).map_or(&[][..], |it| &it.bytes);
        let outputs = self.packed.iter().enumerate();
        outputs
            .map(|(index, packed)| packed.unpacked(data(2 * index), data(2 * index + 1)))
            .collect()
    }

    /// How the operand is quantised.
    pub fn operand(&self, operand: usize) -> Affine {
        self.operands.get(operand).copied().unwrap_or(Affine::PLAIN)
    }

    /// How the output is quantised.
    pub fn output(&self, output: usize) -> Affine {
        self.outputs.get(output).copied().unwrap_or(Affine::PLAIN)
    }
}
