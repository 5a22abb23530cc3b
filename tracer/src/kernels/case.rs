//! What is computed: an operator with its shapes and types.

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Operator, Shape};
use dmo_analysis::trace::ElementType;

/// An operator with its shapes, and the type of its activations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Case {
    /// What is computed.
    pub operator: Operator,
    /// Which of the operator's kinds, where it has several: the greatest or the mean of a
    /// pooling, a ReLU, a sum. One that has a [name of kernels](Kind::kernel_name).
    pub kind: Kind,
    /// Type of the input's elements.
    pub input_type: ElementType,
    /// Type of the output's elements.
    pub output_type: ElementType,
}

impl Case {
    /// What is computed, on parts of larger tensors or not.
    pub(crate) fn inner(&self) -> &Operator {
        match &self.operator {
            Operator::Pitched(pitched) => &pitched.operator,
            operator => operator,
        }
    }
}

/// Input and output are of this type.
pub(super) fn all(case: &Case, element_type: ElementType) -> bool {
    case.input_type == element_type && case.output_type == element_type
}

/// The case is of this kind, and input and output of this type.
#[expect(clippy::needless_pass_by_value, reason = "a row names its kind")]
pub(super) fn is(case: &Case, kind: Kind, element_type: ElementType) -> bool {
    case.kind == kind && all(case, element_type)
}

/// Shapes of the first input and the first output.
pub(super) fn shapes(case: &Case) -> Option<(Shape, Shape)> {
    let buffers = case.operator.buffers().ok()?;
    Some((
        buffers.inputs.first()?.shape,
        buffers.outputs.first()?.shape,
    ))
}

/// A shape as kernels are given it.
pub(super) fn words(shape: Shape) -> [i32; 4] {
    shape.map(|extent| extent as i32)
}
