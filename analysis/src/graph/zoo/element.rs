//! The type of a network's elements.

use serde::{Deserialize, Serialize};

/// Type of the activations and weights of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

    /// Type of activations and weights in the words of TensorFlow Lite's schema.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Float32 => "FLOAT32",
            Self::Int8 => "INT8",
        }
    }

    /// Type of biases.
    pub(super) fn bias_name(self) -> &'static str {
        match self {
            Self::Float32 => "FLOAT32",
            Self::Int8 => INTEGER,
        }
    }
}

/// Type of shapes, axes, paddings.
pub(super) const INTEGER: &str = "INT32";
