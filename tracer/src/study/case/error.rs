//! Why an operator and shapes, as somebody has written them, make no case.

use dmo_analysis::graph::{GraphTensor, TensorType};
use dmo_analysis::operator::ShapeError;
use dmo_analysis::trace::ElementType;

/// What is wrong with an operator and its shapes, in the words of the options that give them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CaseError {
    message: String,
    is_misfit: bool,
}

impl CaseError {
    pub(super) fn new(message: String) -> Self {
        Self {
            message,
            is_misfit: false,
        }
    }

    /// Shapes that do not fit together, each of them possible by itself.
    pub(super) fn misfit(message: String) -> Self {
        Self {
            message,
            is_misfit: true,
        }
    }

    /// A tensor whose elements are of another type than those of the operator.
    pub(in crate::study) fn of_types(tensor: &GraphTensor, expected: ElementType) -> Self {
        let GraphTensor {
            name, element_type, ..
        } = tensor;
        Self::new(format!(
            "tensor {name:?} is of {element_type}, expected {}",
            TensorType::from(expected)
        ))
    }

    /// The same, and where.
    pub(super) fn about(self, place: &str) -> Self {
        Self {
            message: format!("{place}: {}", self.message),
            ..self
        }
    }

    /// Whether shapes that do not fit together are all that is wrong: a grid leaves such
    /// combinations out.
    pub fn is_misfit(&self) -> bool {
        self.is_misfit
    }
}

impl From<ShapeError> for CaseError {
    fn from(error: ShapeError) -> Self {
        Self::misfit(error.to_string())
    }
}

pub(super) type Result<T> = std::result::Result<T, CaseError>;

/// What is wrong where a value is missing.
pub(super) trait Context<T> {
    fn context(self, message: &str) -> Result<T>;
    fn with_context(self, message: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for Option<T> {
    fn context(self, message: &str) -> Result<T> {
        self.with_context(|| message.to_owned())
    }

    fn with_context(self, message: impl FnOnce() -> String) -> Result<T> {
        self.ok_or_else(|| CaseError::new(message()))
    }
}

/// Returns with an error: a text, or a misfit with its text.
macro_rules! bail {
    (Misfit($text:expr)) => {
        return Err($crate::study::case::error::CaseError::misfit($text))
    };
    ($($text:tt)+) => {
        return Err($crate::study::case::error::CaseError::new(format!($($text)+)))
    };
}

/// Returns with an error where the condition does not hold.
macro_rules! ensure {
    ($condition:expr, Misfit($text:expr) $(,)?) => {
        if !$condition {
            return Err($crate::study::case::error::CaseError::misfit($text));
        }
    };
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::study::case::error::CaseError::new(format!($($text)+)));
        }
    };
}

pub(super) use {bail, ensure};
