//! Quantisation and random data.
//!
//! All activations of a type have the same quantisation, that of a softmax, since many
//! kernels want input and output to agree.

use crate::graph::{GraphTensor, TensorType};
use crate::random::SplitMix64;

/// `real = scale * (stored - zero_point)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quantization {
    pub scale: f32,
    pub zero_point: i64,
}

pub(super) fn of_activation(tensor: &GraphTensor) -> Option<Quantization> {
    let (scale, zero_point) = match tensor.element_type {
        TensorType::Int8 => (1.0 / 256.0, -128),
        TensorType::Uint8 => (1.0 / 256.0, 0),
        TensorType::Int16 => (1.0 / 32_768.0, 0),
        _ => return None,
    };
    Some(Quantization { scale, zero_point })
}

/// The kernel wants its output from -1 to 1.
pub(super) fn of_tanh(tensor: &GraphTensor) -> Option<Quantization> {
    let (scale, zero_point) = match tensor.element_type {
        TensorType::Int8 => (1.0 / 128.0, 0),
        TensorType::Uint8 => (1.0 / 128.0, 128),
        _ => return of_activation(tensor),
    };
    Some(Quantization { scale, zero_point })
}

/// Weights symmetric around 0, the smaller the more of them are summed up.
pub(super) fn of_filter(tensor: &GraphTensor, fan_in: u32) -> Option<Quantization> {
    let zero_point = match tensor.element_type {
        TensorType::Int4 | TensorType::Int8 => 0,
        TensorType::Uint8 => 128,
        _ => return None,
    };
    let scale = 1.0 / (64.0 * (fan_in.max(1) as f32).sqrt());
    Some(Quantization { scale, zero_point })
}

/// The scale of the sums of products.
pub(super) fn of_bias(factors: [Option<Quantization>; 2]) -> Option<Quantization> {
    let [input, filter] = factors;
    Some(Quantization {
        scale: input?.scale * filter?.scale,
        zero_point: 0,
    })
}

/// Type of the weights to activations of a type.
pub(super) fn filter_type(activation: TensorType) -> TensorType {
    match activation {
        TensorType::Int16 => TensorType::Int8,
        other => other,
    }
}

/// Type of the bias to activations of a type.
pub(super) fn bias_type(activation: TensorType) -> TensorType {
    match activation {
        TensorType::Int8 | TensorType::Uint8 => TensorType::Int32,
        TensorType::Int16 => TensorType::Int64,
        other => other,
    }
}

/// Data of constants.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// From -1 to 1.
    fn fraction(&mut self) -> f32 {
        let bits = (self.0.next_u64() >> 40) as f32;
        bits / (1u32 << 23) as f32 - 1.0
    }

    /// The data of a constant; none for types of which nothing is known.
    pub(super) fn data(&mut self, tensor: &GraphTensor, fan_in: u32) -> Option<Vec<u8>> {
        let size = usize::try_from(tensor.size_bytes).ok()?;
        let mut data = Vec::with_capacity(size);
        while data.len() < size {
            match tensor.element_type {
                TensorType::Float32 => {
                    let weight = self.fraction() / (fan_in.max(1) as f32).sqrt();
                    data.extend(weight.to_le_bytes());
                }
                // A sign, an exponent that gives less than 1, a fraction.
                TensorType::Float16 => {
                    let word = self.0.next_u64() as u16;
                    data.extend((word & 0xb3ff | 0x2000).to_le_bytes());
                }
                TensorType::Int8 | TensorType::Uint8 | TensorType::Int4 => {
                    data.push(self.0.next_u64() as u8);
                }
                TensorType::Bool => data.push((self.0.next_u64() & 1) as u8),
                TensorType::Int16 => {
                    data.extend(((self.0.next_u64() % 512) as i16 - 256).to_le_bytes());
                }
                TensorType::Int32 => {
                    data.extend(((self.0.next_u64() % 512) as i32 - 256).to_le_bytes());
                }
                TensorType::Int64 => {
                    data.extend(((self.0.next_u64() % 512) as i64 - 256).to_le_bytes());
                }
                _ => return None,
            }
        }
        (data.len() == size).then_some(data)
    }
}
