//! Activation, factors and limits among an operator's options.

use super::error::{TfliteError, Unsupported};
use super::schema::{
    Field, batch_matmul, fully_connected, leaky_relu, softmax, svdf,
    unidirectional_sequence_lstm as lstm,
};
use super::view::Table;
use crate::graph::parameters::{Activation, Parameters};
use planus::TableRead;
use std::fmt::Display;

/// What is wrong, with one operator or with the file.
pub(super) enum Problem {
    Operator(Unsupported),
    File(TfliteError),
}

impl From<Unsupported> for Problem {
    fn from(problem: Unsupported) -> Self {
        Self::Operator(problem)
    }
}

impl From<TfliteError> for Problem {
    fn from(error: TfliteError) -> Self {
        Self::File(error)
    }
}

/// Where an operator's options say what is done to its result.
#[derive(Clone, Copy)]
pub(super) enum FusedActivation {
    /// Nowhere: nothing is done.
    Absent,
    /// In this field.
    At(Field),
    /// In options that are not read.
    NotRead,
}

/// `ActivationFunctionType`.
const TANH: i8 = 4;

pub(super) fn fully_connected(options: &ValueOptions, _: &mut Parameters) -> Result<(), Problem> {
    let format = options.number(fully_connected::WEIGHTS_FORMAT, 0i8)?;
    expect(
        format == 0,
        "weights format",
        &format,
        "DEFAULT, which is 0",
    )?;
    options.expect_symmetric(fully_connected::ASYMMETRIC_QUANTIZE_INPUTS)
}

pub(super) fn batch_matmul(options: &ValueOptions, _: &mut Parameters) -> Result<(), Problem> {
    options.expect_symmetric(batch_matmul::ASYMMETRIC_QUANTIZE_INPUTS)
}

pub(super) fn svdf(options: &ValueOptions, _: &mut Parameters) -> Result<(), Problem> {
    options.expect_symmetric(svdf::ASYMMETRIC_QUANTIZE_INPUTS)
}

pub(super) fn lstm(options: &ValueOptions, parameters: &mut Parameters) -> Result<(), Problem> {
    parameters.cell_clip = options.cell_clip()?;
    Ok(())
}

pub(super) fn softmax(options: &ValueOptions, parameters: &mut Parameters) -> Result<(), Problem> {
    let beta = options.number(softmax::BETA, 0.0f32)?;
    let is_factor = beta.is_finite() && beta > 0.0;
    expect(is_factor, "beta", &beta, "a positive number")?;
    parameters.beta = beta;
    Ok(())
}

pub(super) fn leaky_relu(
    options: &ValueOptions,
    parameters: &mut Parameters,
) -> Result<(), Problem> {
    let alpha = options.number(leaky_relu::ALPHA, 0.0f32)?;
    expect(alpha.is_finite(), "alpha", &alpha, "a number")?;
    parameters.alpha = alpha;
    Ok(())
}

fn expect(
    is_expected: bool,
    option: &'static str,
    given: &dyn Display,
    expected: &'static str,
) -> Result<(), Unsupported> {
    if is_expected {
        return Ok(());
    }
    Err(Unsupported::Option {
        option,
        given: given.to_string(),
        expected,
    })
}

/// Options that decide what an operator computes; defaults where it has none.
pub(super) struct ValueOptions<'a>(Option<Table<'a>>);

impl<'a> ValueOptions<'a> {
    pub(super) fn of(given: Option<(u8, Table<'a>)>, expected: u8) -> Result<Self, Unsupported> {
        match given {
            Some((given, _)) if given != expected => Err(Unsupported::Options { given, expected }),
            given => Ok(Self(given.map(|(_, table)| table))),
        }
    }

    fn number<T: TableRead<'a>>(&self, field: Field, default: T) -> Result<T, Problem> {
        match &self.0 {
            Some(table) => Ok(table.number(field, default)?),
            None => Ok(default),
        }
    }

    pub(super) fn activation(&self, field: Field) -> Result<Activation, Problem> {
        match self.number(field, 0i8)? {
            0 => Ok(Activation::None),
            1 => Ok(Activation::Relu),
            2 => Ok(Activation::ReluN1To1),
            3 => Ok(Activation::Relu6),
            given => Err(Unsupported::Option {
                option: "fused activation",
                given: given.to_string(),
                expected: "NONE, RELU, RELU_N1_TO_1 or RELU6, which are 0 to 3",
            }
            .into()),
        }
    }

    /// The tangent of its gates is the kernel's own, and none is left for the result.
    fn cell_clip(&self) -> Result<f32, Problem> {
        let tanh = self.number(lstm::ACTIVATION, 0i8)?;
        expect(tanh == TANH, "activation", &tanh, "TANH, which is 4")?;
        self.expect_symmetric(lstm::ASYMMETRIC_QUANTIZE_INPUTS)?;
        let diagonal = self.number(lstm::DIAGONAL_RECURRENT_TENSORS, false)?;
        expect(!diagonal, "diagonal recurrent tensors", &diagonal, "false")?;
        let clip = self.number(lstm::PROJ_CLIP, 0.0f32)?;
        expect(clip == 0.0, "projection clip", &clip, "0")?;
        let clip = self.number(lstm::CELL_CLIP, 0.0f32)?;
        let is_limit = clip.is_finite() && clip >= 0.0;
        expect(is_limit, "cell clip", &clip, "0 or above")?;
        Ok(clip)
    }

    fn expect_symmetric(&self, field: Field) -> Result<(), Problem> {
        let asymmetric = self.number(field, false)?;
        expect(
            !asymmetric,
            "asymmetric quantize inputs",
            &asymmetric,
            "false",
        )?;
        Ok(())
    }
}
