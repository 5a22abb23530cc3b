//! Constants of a model: checked against what the kernel takes, and placed in flash.

use super::Job;
use crate::call::{CallError, Frame, inexpressible};
use dmo_analysis::graph::TensorType;
use dmo_analysis::graph::parameters::{Affine, Constant};
use dmo_analysis::trace::{Address, ElementType};

/// Type of the biases of the kernels whose activations have this one.
pub(super) const fn bias_type(activations: ElementType) -> ElementType {
    match activations {
        ElementType::Int16 => ElementType::Int64,
        ElementType::Float32 => ElementType::Float32,
        _ => ElementType::Int32,
    }
}

impl Job<'_> {
    /// The operand, which must be a constant.
    pub fn constant(&self, operand: usize, what: &str) -> Result<&Constant<'_>, CallError> {
        let missing = || CallError::NoConstant {
            what: what.to_owned(),
            operand,
        };
        self.parameters.constant(operand).ok_or_else(missing)
    }

    /// Places a constant of this many elements of this type.
    pub fn place(
        &self,
        operand: usize,
        what: &str,
        element_type: impl Into<TensorType>,
        elements: u64,
        frame: &mut Frame,
    ) -> Result<Address, CallError> {
        let bytes = self.checked_constant(operand, what, element_type, elements)?;
        frame.place_made(what, bytes.len() as u64, || bytes.to_vec())
    }

    /// The bytes of a constant of this many elements of this type.
    pub fn checked_constant(
        &self,
        operand: usize,
        what: &str,
        element_type: impl Into<TensorType>,
        elements: u64,
    ) -> Result<&[u8], CallError> {
        let element_type = element_type.into();
        let constant = self.constant(operand, what)?;
        if constant.element_type != element_type {
            return Err(inexpressible(
                format!("the type of {what}"),
                format!("{:?}", constant.element_type),
                format!("{element_type:?}"),
            ));
        }
        let bits = element_type.bits().unwrap_or(u64::MAX);
        let size_bytes = elements.saturating_mul(bits).div_ceil(8);
        if constant.bytes.len() as u64 != size_bytes {
            return Err(inexpressible(
                format!("the size of {what}"),
                format!("{} bytes", constant.bytes.len()),
                format!("{size_bytes}"),
            ));
        }
        Ok(&constant.bytes)
    }

    /// Biases, integers of this type; zeros where there are none.
    pub fn biases(
        &self,
        operand: usize,
        element_type: ElementType,
        count: usize,
    ) -> Result<Vec<i64>, CallError> {
        if self.parameters.constant(operand).is_none() {
            return Ok(vec![0; count]);
        }
        let bytes = self.checked_constant(operand, "bias", element_type, count as u64)?;
        let bias = |bytes: &[u8]| match bytes.try_into() {
            Ok(word) => i32::from_le_bytes(word).into(),
            Err(_) => bytes.try_into().map_or(0, i64::from_le_bytes),
        };
        let biases = bytes.chunks_exact(element_type.size_bytes() as usize);
        Ok(biases.map(bias).collect())
    }

    /// Places a bias; null where there is none.
    pub fn place_bias(
        &self,
        operand: usize,
        element_type: ElementType,
        elements: u64,
        frame: &mut Frame,
    ) -> Result<Address, CallError> {
        match self.parameters.constant(operand) {
            None => Ok(Address(0)),
            Some(_) => self.place(operand, "bias", element_type, elements, frame),
        }
    }

    /// How a constant is quantised, all of it in the same way.
    pub fn per_tensor(&self, operand: usize, what: &str) -> Result<Affine, CallError> {
        match self.constant(operand, what)?.quantisation[..] {
            [affine] => Ok(affine),
            ref several => Err(inexpressible(
                format!("the number of scales of {what}"),
                several.len(),
                "1",
            )),
        }
    }
}
