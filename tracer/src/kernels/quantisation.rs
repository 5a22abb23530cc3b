//! The numbers of quantised kernels, computed from scales and zero points bit for bit as
//! TensorFlow Lite Micro does when it prepares an operator (there `quantization_util.cc`,
//! `kernel_util.cc` and the `_common.cc` of each kernel, with two roundings).

use super::{Job, State};
use crate::call::{CallError, inexpressible};
use dmo_analysis::graph::parameters::{Activation, Affine};
use dmo_analysis::trace::ElementType;
use std::ops::RangeInclusive;

/// A ratio as `multiplier / 2^31 * 2^shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiplier {
    /// In `[2^30, 2^31)`, or 0; where it was [divided](Self::divided), from 2^29.
    pub multiplier: i32,
    /// In `[-31, 31]`; 0 where the multiplier is 0.
    pub shift: i32,
}

/// Shifts that every kernel takes.
const SHIFTS: RangeInclusive<i32> = -31..=30;

impl Multiplier {
    /// To nearest, halves up; 0 for what is less than about 2^-32.
    ///
    /// # Errors
    /// When the ratio is below 0, not finite, or too large.
    pub fn new(what: &str, ratio: f64) -> Result<Self, CallError> {
        Self::with_shift(what, ratio, SHIFTS)
    }

    /// As [`Self::new`], for a kernel that takes other shifts.
    ///
    /// # Errors
    /// When the ratio is below 0 or not finite, or its shift another.
    pub fn with_shift(
        what: &str,
        ratio: f64,
        shifts: RangeInclusive<i32>,
    ) -> Result<Self, CallError> {
        if !(ratio.is_finite() && ratio >= 0.0) {
            return Err(inexpressible(what, ratio, "a finite ratio, at least 0"));
        }
        let (fraction, mut shift) = fraction_and_exponent(ratio);
        let mut multiplier = (fraction * f64::from(31).exp2()).round() as i64;
        if multiplier == 1 << 31 {
            multiplier /= 2;
            shift += 1;
        }
        if shift < *SHIFTS.start() {
            (multiplier, shift) = (0, 0);
        }
        Self {
            multiplier: multiplier as i32,
            shift,
        }
        .within(what, shifts)
    }

    /// The same, for a kernel that takes these shifts only.
    ///
    /// # Errors
    /// When the shift is another.
    pub fn within(self, what: &str, shifts: RangeInclusive<i32>) -> Result<Self, CallError> {
        if shifts.contains(&self.shift) {
            return Ok(self);
        }
        let limit = format!("shifts from {} to {}", shifts.start(), shifts.end());
        Err(inexpressible(
            format!("the shift of the {what}"),
            self.shift,
            limit,
        ))
    }

    /// The ratio of a mean of this many numbers to their sum, in the same scales: down to the
    /// next number that the multiplier can stand for.
    pub fn divided(self, count: u32) -> Self {
        let count = count.max(1);
        // As many bits as the shift has left.
        let bits = (count.ilog2() as i32).min(self.shift - SHIFTS.start());
        Self {
            multiplier: ((i64::from(self.multiplier) << bits) / i64::from(count)) as i32,
            shift: self.shift - bits,
        }
    }

    /// Multiplier and shift, as structures of the kernels have them.
    pub const fn words(self) -> [i32; 2] {
        [self.multiplier, self.shift]
    }

    /// With the multiplier's 15 leading bits only, to nearest, halves up.
    pub fn words_of_15_bits(self) -> [i32; 2] {
        let leading = (i64::from(self.multiplier) + (1 << 15)) >> 16;
        [leading.min(0x7fff) as i32, self.shift]
    }
}

/// `value` as a fraction in `[0.5, 1)`, or 0, times a power of two. Numbers too small to be
/// normal count as 0.
fn fraction_and_exponent(value: f64) -> (f64, i32) {
    const EXPONENT: u64 = 0x7ff << 52;
    const OF_HALF: u64 = 1022;
    let bits = value.to_bits();
    let exponent = (bits & EXPONENT) >> 52;
    if exponent == 0 {
        return (0.0, 0);
    }
    let fraction = f64::from_bits(bits & !EXPONENT | OF_HALF << 52);
    (fraction, exponent as i32 - OF_HALF as i32)
}

/// The greatest distance from the zero point at which a number brought to this many integer
/// bits by a left shift still fits in 32 bits.
pub fn radius(integer_bits: u32, shift: i32) -> i32 {
    let greatest = f64::from((1 << integer_bits) - 1) * f64::from(31 - integer_bits).exp2();
    (greatest / f64::from(shift).exp2()).floor() as i32
}

/// Least and greatest number of a quantised type.
///
/// # Errors
/// When no quantised tensor has this type.
pub fn limits(element_type: ElementType) -> Result<[i32; 2], CallError> {
    match element_type {
        ElementType::Int8 => Ok([i8::MIN.into(), i8::MAX.into()]),
        ElementType::Uint8 => Ok([0, u8::MAX.into()]),
        ElementType::Int16 => Ok([i16::MIN.into(), i16::MAX.into()]),
        ElementType::Int32 => Ok([i32::MIN, i32::MAX]),
        _ => Err(inexpressible(
            "the type of a quantised tensor",
            format!("{element_type:?}"),
            "integers of 8, 16 and 32 bits",
        )),
    }
}

/// The least and the greatest number that an activation lets pass, in the output's scale.
///
/// # Errors
/// When the scale is so small that the limits do not fit in 32 bits.
pub fn activation_range(
    activation: Activation,
    output: Affine,
    element_type: ElementType,
) -> Result<[i32; 2], CallError> {
    let [least, greatest] = limits(element_type)?;
    let quantised = |limit: f32| {
        let steps = (limit / output.scale).round();
        if steps.abs() >= 2e9 || steps.is_nan() {
            let what = "the scale of the output";
            return Err(inexpressible(what, output.scale, "one for its activation"));
        }
        Ok((steps as i32).saturating_add(output.zero_point))
    };
    let (low, high) = activation.limits();
    Ok([
        if low.is_finite() {
            quantised(low)?.max(least)
        } else {
            least
        },
        if high.is_finite() {
            quantised(high)?.min(greatest)
        } else {
            greatest
        },
    ])
}

/// A quantisation whose numbers the kernels' offsets can hold.
fn checked(what: &str, affine: Affine, element_type: ElementType) -> Result<Affine, CallError> {
    let [least, greatest] = limits(element_type)?;
    if !(affine.scale.is_finite() && affine.scale > 0.0) {
        let what = format!("the scale of the {what}");
        return Err(inexpressible(what, affine.scale, "numbers above 0"));
    }
    if !(least..=greatest).contains(&affine.zero_point) {
        return Err(inexpressible(
            format!("the zero point of the {what}"),
            affine.zero_point,
            format!("numbers from {least} to {greatest}"),
        ));
    }
    Ok(affine)
}

/// What a kernel adds to the weights.
///
/// # Errors
/// When their zero point is not a number of their type.
pub(super) fn offset(
    what: &str,
    affine: Affine,
    element_type: ElementType,
) -> Result<i32, CallError> {
    Ok(-checked(what, affine, element_type)?.zero_point)
}

/// A tensor that the kernel knows no zero point of.
///
/// # Errors
/// When it has one.
pub(super) fn symmetric(what: &str, affine: Affine) -> Result<Affine, CallError> {
    match affine.zero_point {
        0 => Ok(affine),
        other => {
            let what = format!("the zero point of the {what}");
            Err(inexpressible(what, other, "0"))
        }
    }
}

/// Activations of 16 bits have no zero point but in the kernels that change scales.
fn of_kernel(what: &str, affine: Affine, element_type: ElementType) -> Result<Affine, CallError> {
    match element_type {
        ElementType::Int16 => symmetric(what, affine),
        _ => Ok(affine),
    }
}

impl Job<'_> {
    /// How an activation of the input's type is quantised.
    pub fn input(&self, operand: usize) -> Result<Affine, CallError> {
        of_kernel("input", self.any_input(operand)?, self.case.input_type)
    }

    /// How the output is quantised.
    pub fn output(&self) -> Result<Affine, CallError> {
        of_kernel("output", self.any_output()?, self.case.output_type)
    }

    /// As [`Self::input`]; with a zero point of 16 bits, too.
    pub fn any_input(&self, operand: usize) -> Result<Affine, CallError> {
        let affine = self.parameters.operand(operand);
        checked("input", affine, self.case.input_type)
    }

    /// As [`Self::output`]; with a zero point of 16 bits, too.
    pub fn any_output(&self) -> Result<Affine, CallError> {
        checked("output", self.parameters.output(0), self.case.output_type)
    }

    /// How a state is quantised; without a zero point where it has 16 bits.
    pub fn state(&self, state: State) -> Result<Affine, CallError> {
        let affine = state.affine(self.parameters);
        let affine = checked(state.name, affine, state.element_type)?;
        of_kernel(state.name, affine, state.element_type)
    }

    /// The range of the fused activation, as quantised numbers of the output.
    pub fn activation(&self) -> Result<[i32; 2], CallError> {
        let activation = self.parameters.activation;
        activation_range(activation, self.output()?, self.case.output_type)
    }

    /// The range of the fused activation; the greatest floats where it has no limit.
    pub fn activation_f32(&self) -> [f32; 2] {
        let (low, high) = self.parameters.activation.limits();
        [low.max(f32::MIN), high.min(f32::MAX)]
    }

    /// The kernel gives its output in this scale only.
    pub fn output_is(&self, scale: f32, zero_point: i32) -> Result<(), CallError> {
        let affine = self.parameters.output(0);
        // As near as TensorFlow Lite Micro wants a 16-bit scale to be.
        let near = (affine.scale - scale).abs() <= 0.001 * scale;
        if near && affine.zero_point == zero_point {
            return Ok(());
        }
        Err(inexpressible(
            "the quantisation of the output",
            in_words(affine),
            in_words(Affine { scale, zero_point }),
        ))
    }

    /// The kernel takes one quantisation for these operands.
    pub fn same_inputs(&self, operands: usize) -> Result<(), CallError> {
        let first = self.parameters.operand(0);
        for operand in 1..operands {
            let input = self.parameters.operand(operand);
            if input != first {
                return Err(inexpressible(
                    format!("the quantisation of input {operand}"),
                    in_words(input),
                    format!("that of the first input, {}", in_words(first)),
                ));
            }
        }
        Ok(())
    }

    /// The kernel changes no scale: these operands must be quantised as the output is, with
    /// scales at most `tolerance` apart.
    pub fn same_scales(&self, operands: usize, tolerance: f32) -> Result<(), CallError> {
        let output = self.parameters.output(0);
        for operand in 0..operands {
            let input = self.parameters.operand(operand);
            let near = (input.scale - output.scale).abs() <= tolerance;
            if !near || input.zero_point != output.zero_point {
                return Err(inexpressible(
                    format!("the quantisation of input {operand}"),
                    in_words(input),
                    format!("that of the output, {}", in_words(output)),
                ));
            }
        }
        Ok(())
    }
}

/// How far apart the scales of input and output of a pooling may be.
pub(super) const POOL_TOLERANCE: f32 = 1e-6;

fn in_words(affine: Affine) -> String {
    format!(
        "scale {} with zero point {}",
        affine.scale, affine.zero_point
    )
}

/// In double precision.
pub(super) fn scale(affine: Affine) -> f64 {
    affine.scale.into()
}

/// What a sum of products is multiplied by, where the product of the scales is rounded to
/// single precision: fully connected layers and products of matrices.
pub(super) fn product_ratio(a: Affine, b: Affine, output: Affine) -> Result<Multiplier, CallError> {
    let product = a.scale * b.scale;
    Multiplier::new("ratio of scales", f64::from(product) / scale(output))
}

/// What numbers are multiplied by that change from one scale to another.
pub(super) fn scale_ratio(input: Affine, output: Affine) -> Result<Multiplier, CallError> {
    Multiplier::new("ratio of scales", scale(input) / scale(output))
}
