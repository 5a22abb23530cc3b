//! The operators of a model, as kernels know them.

use super::Reason;
use crate::kernels::{Case, input_type_of};
use dmo_analysis::graph::{Graph, Kernel, Kind, Node, TensorId};
use dmo_analysis::operator::{Operator, Reduce, Reduction, SpatialMean};
use dmo_analysis::trace::ElementType;

/// The operator as kernels know it.
pub(super) fn case(graph: &Graph, node: &Node) -> Result<Case, Reason> {
    let kernel = node.kernel.as_ref();
    let kernel = kernel.ok_or_else(|| Reason::without_loops(&node.kind))?;
    let type_of = |ids: &[TensorId]| {
        let given = ids.first().ok_or(Reason::Unknown)?;
        let given = graph.tensor(*given).element_type;
        given.element().ok_or(Reason::ElementType { given })
    };
    let output_type = type_of(&kernel.outputs)?;
    let input_type = if kernel.inputs.is_empty() {
        // What it loads nothing of has no say.
        output_type
    } else {
        type_of(&kernel.inputs)?
    };
    let kind = node.kind.computed_as(input_type).ok_or(Reason::Unknown)?;
    for (index, id) in kernel.inputs.iter().enumerate() {
        let types = [input_type, output_type];
        if type_of(&[*id])? != input_type_of(&kind, &kernel.operator, index, types) {
            let given = graph.tensor(*id).element_type;
            return Err(Reason::MixedTypes { given });
        }
    }
    Ok(Case {
        operator: operator(kernel, &kind, input_type),
        kind,
        input_type,
        output_type,
    })
}

/// A mean of integers sums in a register: over one axis, or several that follow each other, it
/// is a mean over the pixels of a row. Their sum sums in scratch memory.
fn operator(kernel: &Kernel, kind: &Kind, input_type: ElementType) -> Operator {
    match &kernel.operator {
        Operator::Reduce(reduce) if input_type != ElementType::Float32 => match kind {
            Kind::Mean => row_mean(reduce).map_or(Operator::Reduce(*reduce), Operator::SpatialMean),
            Kind::Sum => Operator::Reduce(Reduce {
                reduction: Reduction::Scratch,
                ..*reduce
            }),
            _ => Operator::Reduce(*reduce),
        },
        operator => operator.clone(),
    }
}

/// None where axes that stay lie between those that go.
fn row_mean(reduce: &Reduce) -> Option<SpatialMean> {
    // An axis of one element goes or stays as its neighbours do.
    let axes = (0..4).filter(|&axis| reduce.input[axis] > 1);
    let (mut outer, mut row, mut inner) = (1u32, 1u32, 1u32);
    for axis in axes {
        let extent = reduce.input[axis];
        let goes = reduce.axes[axis];
        let part = match (goes, row > 1) {
            (true, _) if inner > 1 => return None,
            (true, _) => &mut row,
            (false, true) => &mut inner,
            (false, false) => &mut outer,
        };
        *part = part.checked_mul(extent)?;
    }
    Some(SpatialMean {
        input: [outer, 1, row, inner],
        input_element_bytes: reduce.input_element_bytes,
        output_element_bytes: reduce.output_element_bytes,
    })
}
