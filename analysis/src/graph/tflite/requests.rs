//! Which scratch buffers the kernels that TensorFlow Lite Micro was built with ask for.

use super::lower::FileNode;
use super::nodes::{RawSubgraph, with_subgraphs};
use super::{TfliteError, catalogue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With which kernels TensorFlow Lite Micro was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeKernels {
    /// Its reference kernels.
    #[default]
    Reference,
    /// CMSIS-NN's where its glue calls them (`OPTIMIZED_KERNEL_DIR=cmsis_nn`), on a core with the
    /// DSP extension; the reference kernels elsewhere.
    CmsisNn,
}

/// Sizes in bytes of the scratch buffers that the kernels ask for, of each operator of each
/// subgraph, in the file's order; `None` where the size of one is not known.
///
/// # Errors
/// When the bytes are not a model, as [`read`](super::read).
pub fn scratch(
    file: &[u8],
    kernels: RuntimeKernels,
) -> Result<Vec<Vec<Option<Vec<u64>>>>, TfliteError> {
    with_subgraphs(file, |subgraphs| {
        let of_subgraph = |subgraph: &RawSubgraph| {
            let operators = subgraph.operators.iter();
            let sizes = operators.map(|it| subgraph.node(it, |node| of_node(node, kernels)));
            sizes.collect()
        };
        subgraphs.iter().map(of_subgraph).collect()
    })
}

/// Sizes in bytes of an operator's scratch buffers; `None` where the size of one is not known.
pub(crate) fn of_node(node: &FileNode, kernels: RuntimeKernels) -> Option<Vec<u64>> {
    let row = catalogue::row(node.kind);
    match (kernels, row.cmsis_nn_scratch) {
        (RuntimeKernels::CmsisNn, Some(sizes)) => sizes(node),
        _ => Some((row.scratch)(node).unwrap_or_default()),
    }
}
