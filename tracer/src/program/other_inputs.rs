//! Other inputs for a layer, to see whether its accesses depend on the data.

use dmo_analysis::random::{SplitMix64, mixed};
use dmo_analysis::trace::{ElementType, Tensor, Time};

/// One way to fill inputs. Reproducible: the same number gives the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variation(pub u64);

/// Inputs of a short layer at least, where others are tried at all: a condition that holds on every
/// second input must not seem to be one that always holds.
const INPUTS_OF_SHORT: u64 = 16;

/// Fewer where the layer would execute more instructions than that on them.
const MOST_INSTRUCTIONS: u64 = 2_000_000;

/// On how many inputs a layer of so many instructions is executed where a user asks for `inputs`: at
/// least as many; more if it is short.
pub fn inputs_of(instructions: Time, inputs: u64) -> u64 {
    match inputs {
        0 | 1 => inputs,
        _ => inputs.max(INPUTS_OF_SHORT.min(MOST_INSTRUCTIONS / instructions.max(1))),
    }
}

impl Variation {
    /// Content for a tensor. Number 2 is all zero, 3 the least finite value, 4 the greatest. The
    /// others are a mixture of random values with extremes; for floats, but for number 0, also of
    /// all magnitudes, and with a few NaN, infinities and greatest finite values. These are few
    /// because a NaN hides in sums what depends on other values. `layer` and `position` tell
    /// tensors apart; where the tensor lies does not matter.
    pub fn content(self, layer: usize, position: usize, tensor: &Tensor) -> Vec<u8> {
        self.generate(layer, position, tensor, true)
    }

    /// The same where outputs are compared: floats are numbers, and small enough that sums of them
    /// are. What is not would spread and hide what depends on other values.
    pub fn ordinary(self, position: usize, tensor: &Tensor) -> Vec<u8> {
        self.generate(0, position, tensor, false)
    }

    fn generate(
        self,
        layer: usize,
        position: usize,
        tensor: &Tensor,
        has_extremes: bool,
    ) -> Vec<u8> {
        let mut random = SplitMix64::new(
            mixed(self.0)
                .wrapping_add((layer as u64) << 32)
                .wrapping_add(position as u64),
        );
        let has_unusual = has_extremes && self.has_unusual();
        let length = tensor.size_bytes as usize;
        let element_bytes = tensor.element_type.size_bytes() as usize;
        let mut bytes = Vec::with_capacity(length + element_bytes);
        let elements = length.div_ceil(element_bytes) as u64;
        // At least one, however small the tensor is.
        let nan = random.clone().next_u64() % elements.max(1);
        for index in 0..elements {
            let value = random.next_u64();
            let special = match self.0 {
                2 => ZERO,
                3 if has_extremes => ALL_LEAST,
                4 if has_extremes => ALL_GREATEST,
                3 => LEAST,
                4 => GREATEST,
                // The first input is an ordinary one.
                0 if value >> 61 == WIDE => ORDINARY,
                _ => value >> 61,
            };
            let element = match tensor.element_type {
                ElementType::Float32 if has_unusual && (index == nan || value >> 55 & 63 == 0) => {
                    let unusual = if index == nan {
                        f32::NAN
                    } else {
                        unusual(value)
                    };
                    u64::from(unusual.to_bits())
                }
                ElementType::Float32 => u64::from(float(special, value).to_bits()),
                ElementType::Bool => value & 1,
                _ => integer(special, value, element_bytes),
            };
            bytes.extend_from_slice(&element.to_le_bytes()[..element_bytes]);
        }
        bytes.truncate(length);
        bytes
    }

    /// Whether there are floats that are no numbers, not finite or near the end of their range.
    fn has_unusual(self) -> bool {
        !matches!(self.0, 0 | 2..=4)
    }
}

const ZERO: u64 = 0;
const LEAST: u64 = 2;
const GREATEST: u64 = 3;
/// Floats only: of a wide range of magnitudes.
const WIDE: u64 = 4;
const ORDINARY: u64 = 5;
/// Every element: of floats the end of their range.
const ALL_LEAST: u64 = 8;
const ALL_GREATEST: u64 = 9;

fn integer(special: u64, value: u64, element_bytes: usize) -> u64 {
    let sign = 1 << (8 * element_bytes - 1);
    match special {
        ZERO | 1 => 0,
        LEAST | ALL_LEAST => sign,
        GREATEST | ALL_GREATEST => sign - 1,
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
        ALL_LEAST => f32::MIN,
        ALL_GREATEST => f32::MAX,
        WIDE => wide(value),
        _ => uniform,
    }
}

fn unusual(value: u64) -> f32 {
    const UNUSUAL: [f32; 8] = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        -0.0,
        // The least denormal.
        f32::from_bits(1),
    ];
    UNUSUAL[(value >> 40 & 7) as usize]
}

/// A float of either sign from 2^-100 to 2^101, all powers of two equally likely.
fn wide(value: u64) -> f32 {
    let fraction = (value & 0x7f_ffff) as u32;
    let exponent = 27 + (value >> 23 & 0xffff) as u32 % 201;
    let sign = (value >> 39 & 1) as u32;
    f32::from_bits(sign << 31 | exponent << 23 | fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmo_analysis::trace::{Address, Role};

    fn floats(number: u64, elements: u32) -> Vec<f32> {
        let tensor = Tensor {
            name: String::new(),
            role: Role::Input,
            address: Address(0),
            size_bytes: 4 * elements,
            element_type: ElementType::Float32,
        };
        let bytes = Variation(number).content(1, 0, &tensor);
        let words = bytes.as_chunks().0.iter();
        words.map(|&word| f32::from_le_bytes(word)).collect()
    }

    /// Inputs that are shifts of one another have nearly the same sums, extremes and balances.
    #[test]
    fn inputs_have_nothing_in_common() {
        let tensor = Tensor {
            name: String::new(),
            role: Role::Input,
            address: Address(0),
            size_bytes: 4096,
            element_type: ElementType::Int8,
        };
        let numbers = [0, 1, 5, 6, 7, 400];
        let inputs = numbers.map(|number| Variation(number).content(1, 0, &tensor));
        let mut compared = 0;
        for (index, one) in inputs.iter().enumerate() {
            for other in &inputs[..index] {
                for shift in 0..512 {
                    let shifted = one.iter().zip(&other[shift..]);
                    let same = shifted.filter(|(a, b)| a == b).count();
                    // A few values are frequent.
                    assert!(same < one.len() / 3, "{index}, {shift}: {same}");
                    let shifted = other.iter().zip(&one[shift..]);
                    let same = shifted.filter(|(a, b)| a == b).count();
                    assert!(same < one.len() / 3, "{index}, -{shift}: {same}");
                    compared += 2;
                }
            }
        }
        assert_eq!(compared, 15 * 1024);
    }

    #[test]
    fn unusual_floats_are_few_and_there() {
        for number in [1, 5, 6] {
            for elements in [1, 2, 7, 100] {
                let found = floats(number, elements);
                assert!(found.iter().any(|value| value.is_nan()), "{number}");
            }
            let found = floats(number, 4096);
            for unusual in [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN] {
                assert!(found.contains(&unusual), "{number}: no {unusual}");
            }
            let usual = found.iter().filter(|value| value.abs() < 1.0e38).count();
            assert!(usual > 4096 * 9 / 10, "{number}: {usual}");
        }
        for number in [0, 2, 3, 4] {
            assert!(floats(number, 4096).iter().all(|value| value.is_finite()));
        }
        assert_eq!(floats(3, 2), [f32::MIN; 2]);
        assert_eq!(floats(4, 2), [f32::MAX; 2]);
    }
}
