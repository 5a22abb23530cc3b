//! Constants are unpacked just before they are read.
//!
//! An application may give TensorFlow Lite Micro other memory for what `TFLM_DECODE` unpacks
//! (`MicroInterpreter::SetDecompressionMemory`). Each of these operators takes it from its beginning,
//! so that what it unpacks is there until the next one runs.

use crate::graph::{Graph, Kind, OperatorId, TensorId};
use std::collections::{BTreeSet, HashMap};

/// What such memory asks of an order.
pub(super) struct Unpacked<'a> {
    graph: &'a Graph,
    /// Which of these operators unpacks a tensor.
    unpacks: HashMap<TensorId, OperatorId>,
    /// Those whose constants are read before the next one runs, in the file's order.
    intact: BTreeSet<OperatorId>,
}

impl<'a> Unpacked<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let nodes = graph.operators.iter().enumerate();
        let decodes = nodes.filter(|(_, node)| node.kind == Kind::Decode);
        let unpacks = decodes.flat_map(|(index, node)| {
            let outputs = node.outputs.iter();
            outputs.map(move |&output| (output, OperatorId(index)))
        });
        let mut unpacked = Self {
            graph,
            unpacks: unpacks.collect(),
            intact: BTreeSet::new(),
        };
        unpacked.intact = unpacked.intact_in(&graph.file_order());
        unpacked
    }

    /// The order in which each of these operators comes directly before the first that reads what it
    /// unpacks; `None` if constants would not be there that are in the file's order.
    pub(super) fn settled(&self, order: Vec<OperatorId>) -> Option<Vec<OperatorId>> {
        if self.intact.is_empty() {
            return Some(order);
        }
        let order = self.just_in_time(&order);
        let is_kept = self.intact.is_subset(&self.intact_in(&order));
        is_kept.then_some(order)
    }

    fn is_decode(&self, operator: OperatorId) -> bool {
        self.graph.operators[operator.0].kind == Kind::Decode
    }

    /// Those that unpack what the operator reads.
    fn read_by(&self, operator: OperatorId) -> impl Iterator<Item = OperatorId> {
        let inputs = self.graph.operators[operator.0].inputs.iter();
        inputs.filter_map(|input| self.unpacks.get(input).copied())
    }

    /// Those of which no reader runs after the next one.
    fn intact_in(&self, order: &[OperatorId]) -> BTreeSet<OperatorId> {
        let (mut intact, mut last) = (BTreeSet::new(), None);
        for &operator in order {
            for decode in self.read_by(operator).filter(|it| Some(*it) != last) {
                intact.remove(&decode);
            }
            if self.is_decode(operator) {
                intact.insert(operator);
                last = Some(operator);
            }
        }
        intact
    }

    fn just_in_time(&self, order: &[OperatorId]) -> Vec<OperatorId> {
        let mut settled = Vec::with_capacity(order.len());
        let mut waiting: BTreeSet<OperatorId> = BTreeSet::new();
        let decodes = order.iter().filter(|it| self.is_decode(**it));
        waiting.extend(decodes);
        for &operator in order.iter().filter(|it| !self.is_decode(**it)) {
            settled.extend(self.read_by(operator).filter(|it| waiting.remove(it)));
            settled.push(operator);
        }
        settled.extend(waiting);
        settled
    }
}
