//! Where TensorFlow Lite Micro looks for the offset of a state.

use super::source::Source;
use dmo_analysis::graph::{Storage, TensorId};

/// Tensors whose offsets TensorFlow Lite Micro takes for those of states. It looks a state of any
/// subgraph up by its index there, as if it were one of the first subgraph, and where it finds an
/// offset it allocates nothing for the state (`AllocateVariables` in `micro_allocator.cc`, commit
/// 90b983c). Empty if there is one subgraph.
pub(super) fn taken_for_states(source: &Source) -> Vec<TensorId> {
    let graphs = source
        .linked()
        .map_or(&[][..], |_| &source.model.graphs[..]);
    let mut tensors = Vec::new();
    for graph in graphs.iter().skip(1) {
        let all = graph.tensors.iter().enumerate();
        let states = all.filter(|(_, tensor)| tensor.storage == Storage::Variable);
        tensors.extend(states.map(|(index, _)| TensorId(index)));
    }
    tensors
}
