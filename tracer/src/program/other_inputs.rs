//! Other inputs for a layer, to see whether its accesses depend on the data.

use dmo_analysis::random::SplitMix64;
use dmo_analysis::trace::{ElementType, Tensor};

/// One way to fill inputs. Reproducible: the same number gives the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variation(pub u64);

impl Variation {
    /// Content for a tensor. Number 2 is all zero, 3 the least value, 4 the greatest; the others
    /// are a mixture of random values with those, of floats of all magnitudes too but for number 0. `layer` and `position` tell tensors apart; where the
    /// tensor lies does not matter.
    pub fn content(self, layer: usize, position: usize, tensor: &Tensor) -> Vec<u8> {
        let mut random = SplitMix64::new(
            self.0
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .wrapping_add((layer as u64) << 32)
                .wrapping_add(position as u64),
        );
        let length = tensor.size_bytes as usize;
        let element_bytes = tensor.element_type.size_bytes() as usize;
        let mut bytes = Vec::with_capacity(length + element_bytes);
        while bytes.len() < length {
            let value = random.next_u64();
            let special = match self.0 {
                2 => ZERO,
                3 => LEAST,
                4 => GREATEST,
                // The first input is an ordinary one.
                0 if value >> 61 == WIDE => ORDINARY,
                _ => value >> 61,
            };
            let element = match tensor.element_type {
                ElementType::Float32 => u64::from(float(special, value).to_bits()),
                ElementType::Bool => value & 1,
                _ => integer(special, value, element_bytes),
            };
            bytes.extend_from_slice(&element.to_le_bytes()[..element_bytes]);
        }
        bytes.truncate(length);
        bytes
    }
}

const ZERO: u64 = 0;
const LEAST: u64 = 2;
const GREATEST: u64 = 3;
/// Floats only: of a wide range of magnitudes.
const WIDE: u64 = 4;
const ORDINARY: u64 = 5;

fn integer(special: u64, value: u64, element_bytes: usize) -> u64 {
    let sign = 1 << (8 * element_bytes - 1);
    match special {
        ZERO | 1 => 0,
        LEAST => sign,
        GREATEST => sign - 1,
        _ => value,
    }
}

fn float(special: u64, value: u64) -> f32 {
    // 24 bits in [-8, 8).
    let uniform = (value & 0xff_ffff) as f32 / f32::from(1u8 << 7) / 8192.0 - 8.0;
    match special {
        ZERO | 1 => 0.0,
        LEAST => -1.0e6,
        GREATEST => 1.0e6,
        WIDE => wide(value),
        _ => uniform,
    }
}

/// A float of either sign from 2^-100 to 2^101, all powers of two equally likely.
fn wide(value: u64) -> f32 {
    let fraction = (value & 0x7f_ffff) as u32;
    let exponent = 27 + (value >> 23 & 0xffff) as u32 % 201;
    let sign = (value >> 39 & 1) as u32;
    f32::from_bits(sign << 31 | exponent << 23 | fraction)
}
