//! Types of tensors.

use crate::trace::ElementType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! types {
    ($($variant:ident $name:literal $bits:literal,)*) => {
        /// Type of a tensor's elements as TensorFlow Lite's schema has it, whose name is its
        /// text. Those that kernels compute with are an [`ElementType`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum TensorType {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
            /// One that is newer than this list, by its code.
            Unknown(u8),
        }

        impl TensorType {
            /// By their codes, with their names and bits an element.
            const KNOWN: &[(Self, &str, u64)] = &[$((Self::$variant, $name, $bits),)*];
        }

        impl fmt::Display for TensorType {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.pad($name),)*
                    Self::Unknown(code) => write!(f, "TYPE:{code}"),
                }
            }
        }
    };
}

types! {
    Float32 "FLOAT32" 32,
    Float16 "FLOAT16" 16,
    Int32 "INT32" 32,
    Uint8 "UINT8" 8,
    Int64 "INT64" 64,
    String "STRING" 0,
    Bool "BOOL" 8,
    Int16 "INT16" 16,
    Complex64 "COMPLEX64" 64,
    Int8 "INT8" 8,
    Float64 "FLOAT64" 64,
    Complex128 "COMPLEX128" 128,
    Uint64 "UINT64" 64,
    Resource "RESOURCE" 32,
    Variant "VARIANT" 0,
    Uint32 "UINT32" 32,
    Uint16 "UINT16" 16,
    Int4 "INT4" 4,
    Bfloat16 "BFLOAT16" 16,
    Int2 "INT2" 2,
}

impl TensorType {
    /// The type of a code in TensorFlow Lite's schema.
    pub fn of_code(code: u8) -> Self {
        let known = Self::KNOWN.get(usize::from(code));
        known.map_or(Self::Unknown(code), |&(known, ..)| known)
    }

    /// Its code in TensorFlow Lite's schema; `None` if it has no name there.
    pub fn code(self) -> Option<u8> {
        let code = Self::KNOWN.iter().position(|&(known, ..)| known == self);
        code.map(|code| code as u8)
    }

    /// Size of an element in bits; `None` if elements have no fixed size. A resource is its number,
    /// as in TensorFlow Lite Micro (`memory_helpers.cc`).
    pub fn bits(self) -> Option<u64> {
        let known = Self::KNOWN.iter().find(|&&(known, ..)| known == self);
        known.map(|&(_, _, bits)| bits).filter(|&bits| bits > 0)
    }

    /// What the address of an element is a multiple of, in bytes, where a core loads it at once:
    /// a float at an odd address is a fault.
    pub fn alignment(self) -> u64 {
        match self {
            Self::Int16 | Self::Float16 | Self::Uint16 => 2,
            Self::Float32 | Self::Int32 | Self::Uint32 | Self::Resource => 4,
            Self::Int64 | Self::Uint64 | Self::Float64 => 4,
            _ => 1,
        }
    }

    /// What kernels know it as; `None` if no kernel computes with it.
    pub fn element(self) -> Option<ElementType> {
        Some(match self {
            Self::Int8 => ElementType::Int8,
            Self::Uint8 => ElementType::Uint8,
            Self::Int16 => ElementType::Int16,
            Self::Int32 => ElementType::Int32,
            Self::Uint32 => ElementType::Uint32,
            Self::Int64 => ElementType::Int64,
            Self::Uint64 => ElementType::Uint64,
            Self::Float32 => ElementType::Float32,
            Self::Bool => ElementType::Bool,
            _ => return None,
        })
    }
}

impl From<ElementType> for TensorType {
    fn from(element_type: ElementType) -> Self {
        match element_type {
            ElementType::Int8 => Self::Int8,
            ElementType::Uint8 => Self::Uint8,
            ElementType::Int16 => Self::Int16,
            ElementType::Int32 => Self::Int32,
            ElementType::Uint32 => Self::Uint32,
            ElementType::Int64 => Self::Int64,
            ElementType::Uint64 => Self::Uint64,
            ElementType::Float32 => Self::Float32,
            ElementType::Bool => Self::Bool,
        }
    }
}

impl From<TensorType> for String {
    fn from(element_type: TensorType) -> Self {
        element_type.to_string()
    }
}

impl TryFrom<String> for TensorType {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let named = Self::KNOWN.iter().find(|(_, name, _)| *name == text);
        let of_code = || Some(Self::of_code(text.strip_prefix("TYPE:")?.parse().ok()?));
        named
            .map(|&(known, ..)| known)
            .or_else(of_code)
            .ok_or_else(|| format!("{text} is no element type, expected for instance INT8"))
    }
}
