//! Numbers of the quantised element-wise kernels and of softmax.

use super::Job;
use super::quantisation::{Multiplier, radius, scale};
use super::tables::interpolated;
use crate::call::{CallError, Frame, inexpressible};
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::trace::{Address, ElementType};

/// Offsets of two inputs and the output.
fn offsets(a: Affine, b: Affine, output: Affine) -> [i32; 3] {
    [-a.zero_point, -b.zero_point, output.zero_point]
}

/// A sum, or a difference: both inputs are brought to twice the larger of their scales, in
/// which they have more bits.
pub(super) struct Sum {
    pub offsets: [i32; 3],
    /// Of both inputs and the output.
    pub ratios: [Multiplier; 3],
    pub activation: [i32; 2],
    pub left_shift: i32,
}

impl Sum {
    pub fn of(job: &Job) -> Result<Self, CallError> {
        let (a, b, output) = (job.input(0)?, job.input(1)?, job.output()?);
        let left_shift = match job.case.input_type {
            ElementType::Int16 => 15,
            _ => 20,
        };
        let common = 2.0 * f64::from(a.scale.max(b.scale));
        let ratio = |what, ratio| Multiplier::with_shift(what, ratio, -31..=0);
        let fine = f64::from(left_shift).exp2() * scale(output);
        Ok(Self {
            offsets: offsets(a, b, output),
            ratios: [
                ratio("ratio of the first input's scale", scale(a) / common)?,
                ratio("ratio of the second input's scale", scale(b) / common)?,
                ratio("ratio of the output's scale", common / fine)?,
            ],
            activation: job.activation()?,
            left_shift,
        })
    }

    /// As the reference kernels have them.
    pub fn params(&self) -> Vec<i32> {
        let ratios = self.ratios.map(Multiplier::words).concat();
        [&self.offsets[..], &ratios, &self.activation].concat()
    }
}

/// A product.
pub(super) struct Product {
    pub offsets: [i32; 3],
    pub ratio: Multiplier,
    pub activation: [i32; 2],
}

impl Product {
    pub fn of(job: &Job) -> Result<Self, CallError> {
        let (a, b, output) = (job.input(0)?, job.input(1)?, job.output()?);
        let what = "ratio of scales";
        // A product of two 8-bit numbers and their offsets has 17 bits, with its sign.
        let greatest = match job.case.input_type {
            ElementType::Int16 => 0,
            _ => 15,
        };
        let ratio = scale(a) * scale(b) / scale(output);
        Ok(Self {
            offsets: offsets(a, b, output),
            ratio: Multiplier::with_shift(what, ratio, -31..=greatest)?,
            activation: job.activation()?,
        })
    }

    /// As the reference kernels have them.
    pub fn params(&self) -> Vec<i32> {
        [&self.offsets[..], &self.ratio.words(), &self.activation].concat()
    }
}

/// Multiplier, shift and least difference of a softmax of 8 bits, whose exponents are
/// Q5.26.
pub(super) fn softmax_numbers(job: &Job, beta: f32) -> Result<[i32; 3], CallError> {
    const INTEGER_BITS: u32 = 5;
    let what = "input's scale times beta";
    let beta = f64::from(beta) * scale(job.input(0)?);
    let greatest = f64::from(31).exp2() - 1.0;
    let ratio = (beta * f64::from(31 - INTEGER_BITS).exp2()).min(greatest);
    if ratio <= 1.0 {
        return Err(inexpressible(what, beta, "numbers above 2^-26"));
    }
    let [multiplier, shift] = Multiplier::with_shift(what, ratio, 0..=31)?.words();
    Ok([multiplier, shift, -radius(INTEGER_BITS, shift)])
}

/// Numbers and tables of a softmax of 16 bits.
pub(super) struct SoftmaxInt16 {
    /// From 10 steps of 1 to 65535 steps of the table.
    pub ratio: Multiplier,
    /// Of numbers from -10 to 0.
    pub exponentials: Address,
    /// Of 1 + x, where x is from 0 to 1.
    pub reciprocals: Address,
}

impl SoftmaxInt16 {
    /// Places the tables.
    pub fn place(job: &Job, frame: &mut Frame) -> Result<Self, CallError> {
        job.output_is(1.0 / 32768.0, 0)?;
        let beta = f64::from(job.parameters.beta);
        let ratio = scale(job.input(0)?) * beta / (10.0 / 65535.0);
        let exponentials = interpolated(-10.0..=0.0, f32::exp);
        let reciprocals = interpolated(0.0..=1.0, |x| 1.0 / (1.0 + x));
        Ok(Self {
            ratio: Multiplier::with_shift("input's scale times beta", ratio, -31..=14)?,
            exponentials: frame.place("exponentials", exponentials)?,
            reciprocals: frame.place("reciprocals", reciprocals)?,
        })
    }
}
