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

    /// Whether it loads or stores where its inputs or what it keeps say, or is taken to: no number of
    /// inputs that are tried says where another one makes it do so.
    pub(crate) fn accesses_by_data(&self) -> bool {
        matches!(
            self.inner(),
            Operator::Gather(_) | Operator::UpdateSlice(_) | Operator::Apart(_)
        )
    }

    /// Type of the elements of an input.
    pub(crate) fn input_type_of(&self, input: usize) -> ElementType {
        let types = [self.input_type, self.output_type];
        input_type_of(&self.kind, &self.operator, input, types)
    }
}

/// The type of one of the inputs, where the first input and the output have these.
pub(crate) fn input_type_of(
    kind: &Kind,
    operator: &Operator,
    input: usize,
    [first, output]: [ElementType; 2],
) -> ElementType {
    match (kind, input) {
        // A condition comes first.
        (Kind::SelectV2, 1..) => output,
        // Slopes have 8 bits, as weights.
        (Kind::Prelu, 1) if first == ElementType::Int16 => ElementType::Int8,
        (Kind::Gather, 1) | (Kind::SignalFilterBankSquareRoot, 1) => ElementType::Int32,
        (Kind::DynamicUpdateSlice, 2) => match operator {
            Operator::UpdateSlice(update) if update.begin_bytes == 8 => ElementType::Int64,
            _ => ElementType::Int32,
        },
        _ => first,
    }
}

/// Both inputs have as many elements as the output.
pub(super) fn same_shapes(case: &Case) -> bool {
    matches!(&case.operator, Operator::ElementwiseBinary(binary)
        if binary.inputs.iter().all(|&shape| shape == binary.output))
}

/// A convolution that is not grouped.
pub(super) fn is_ungrouped(case: &Case) -> bool {
    matches!(case.inner(), Operator::Conv2d(conv) if conv.groups == 1)
}

/// A pooling that is not dilated.
pub(super) fn undilated_pool(case: &Case) -> bool {
    matches!(case.inner(), Operator::Pool2d(pool) if pool.window.dilation == [1, 1])
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
