//! What a layer keeps from one call to the next.

use super::{Case, Job};
use crate::call::{CallError, fits_into_flash};
use dmo_analysis::graph::TensorId;
use dmo_analysis::graph::parameters::{Affine, Parameters};
use dmo_analysis::trace::ElementType;

/// A buffer that persists. It overlaps nothing; among an operator's states either all are tensors of
/// the model or none is.
#[derive(Clone, Copy)]
pub struct State {
    /// What the kernel's interface calls it.
    pub name: &'static str,
    /// Type of its elements.
    pub element_type: ElementType,
    /// Which of the operator's tensors it is, if any.
    pub place: StatePlace,
    pub(super) elements: fn(&Job) -> Result<u64, CallError>,
    pub(super) invented: fn(usize) -> Vec<u8>,
}

/// Which of an operator's tensors a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatePlace {
    /// This operand.
    Operand(usize),
    /// This output, which later operators read.
    Output(usize),
    /// None: memory that the operator has for itself.
    Own,
}

impl State {
    /// The tensor, where the operator has these outputs.
    pub(crate) fn tensor(&self, parameters: &Parameters, outputs: &[TensorId]) -> Option<TensorId> {
        match self.place {
            StatePlace::Operand(operand) => *parameters.tensors.get(operand)?,
            StatePlace::Output(output) => outputs.get(output).copied(),
            StatePlace::Own => None,
        }
    }

    /// How it is quantised.
    pub(super) fn affine(&self, parameters: &Parameters) -> Affine {
        match self.place {
            StatePlace::Operand(operand) => parameters.operand(operand),
            StatePlace::Output(output) => parameters.output(output),
            StatePlace::Own => Affine::PLAIN,
        }
    }

    /// Its size.
    ///
    /// # Errors
    /// When the parameters do not tell.
    pub fn size_bytes(&self, case: &Case, parameters: &Parameters) -> Result<u64, CallError> {
        let elements = (self.elements)(&Job { case, parameters })?;
        Ok(elements.saturating_mul(self.element_type.size_bytes().into()))
    }

    /// What it holds before the first inference: the model's constant, if there is one for this
    /// operand; else what stands for 0 in 8 bits, and 0 in others, as TensorFlow Lite Micro resets
    /// variables.
    ///
    /// # Errors
    /// When the parameters do not tell its size, or flash and RAM could not hold it.
    pub fn initial(&self, case: &Case, parameters: &Parameters) -> Result<Vec<u8>, CallError> {
        let size_bytes = self.size_bytes(case, parameters)?;
        fits_into_flash(self.name, size_bytes)?;
        if let StatePlace::Operand(operand) = self.place
            && let Some(given) = parameters.constant(operand)
        {
            return Ok(given.bytes.to_vec());
        }
        let zero = match self.element_type {
            ElementType::Int8 => self.affine(parameters).zero_point as u8,
            _ => 0,
        };
        Ok(vec![zero; size_bytes as usize])
    }

    /// Reproducible bytes to start a call with, where no earlier one has left any.
    pub fn invented(&self, size_bytes: u64) -> Vec<u8> {
        (self.invented)(size_bytes as usize / self.element_type.size_bytes() as usize)
    }
}
