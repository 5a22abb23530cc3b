//! The type of a network's elements.

use crate::graph::TensorType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Type of the activations and weights of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// 32-bit floating point, biases too.
    Float32,
    /// 8-bit integers, with 32-bit biases.
    Int8,
}

impl Element {
    /// Bytes of an activation or weight.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Float32 => 4,
            Self::Int8 => 1,
        }
    }

    /// Type of activations and weights.
    pub(super) fn type_of_weights(self) -> TensorType {
        match self {
            Self::Float32 => TensorType::Float32,
            Self::Int8 => TensorType::Int8,
        }
    }

    /// Type of biases.
    pub(super) fn type_of_biases(self) -> TensorType {
        match self {
            Self::Float32 => TensorType::Float32,
            Self::Int8 => TensorType::Int32,
        }
    }
}
