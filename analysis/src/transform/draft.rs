//! A graph while it is rewritten.

use super::in_place::in_place;
use super::region::Region;
use super::{Origin, TransformError, Transformed};
use crate::graph::{Graph, GraphTensor, Kernel, Node, OperatorId, TensorId, View};
use crate::operator::{Operator, Shape};
use std::collections::HashMap;

/// The new graph as far as it is known, beside the original one.
pub(super) struct Draft<'a> {
    pub(super) original: &'a Graph,
    graph: Graph,
    /// None for an operator that is none of the original's.
    origins: Vec<Option<Origin>>,
    views: HashMap<(TensorId, Region), TensorId>,
}

impl<'a> Draft<'a> {
    /// All tensors of the original, and no operator.
    pub(super) fn new(original: &'a Graph) -> Self {
        Self {
            original,
            graph: Graph {
                operators: Vec::new(),
                ..original.clone()
            },
            origins: Vec::new(),
            views: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> Transformed {
        Transformed {
            graph: self.graph,
            origins: self.origins.into_iter().flatten().collect(),
        }
    }

    /// The graph, and where each operator comes from; none for one that is new.
    pub(super) fn into_parts(self) -> (Graph, Vec<Option<Origin>>) {
        (self.graph, self.origins)
    }

    pub(super) fn operators(&self) -> usize {
        self.graph.operators.len()
    }

    /// An operator as it is.
    pub(super) fn keep(&mut self, operator: OperatorId) {
        let node = self.original.operators[operator.0].clone();
        let same = node.inputs.iter().chain(&node.outputs);
        let renamed = same.map(|&id| (id, id)).collect();
        self.origins.push(Some(Origin { operator, renamed }));
        self.graph.operators.push(node);
    }

    /// A depthwise convolution by the kernel that works in place.
    pub(super) fn work_in_place(&mut self, operator: OperatorId) -> Result<(), TransformError> {
        let kernel = self.original.operators[operator.0].kernel.as_ref();
        let found = kernel.and_then(|kernel| in_place(&kernel.operator));
        let reason = "cannot work in place";
        let (loops, plane) = found.ok_or(TransformError::Operator { operator, reason })?;
        self.replace(operator, loops, HashMap::new());
        if let Some(node) = self.graph.operators.last_mut() {
            node.scratch_bytes = vec![plane];
        }
        Ok(())
    }

    /// An operator with other loops, on the tensors that stand for its own: those of `renamed`.
    pub(super) fn replace(
        &mut self,
        operator: OperatorId,
        loops: Operator,
        renamed: HashMap<TensorId, TensorId>,
    ) {
        let node = &self.original.operators[operator.0];
        let of = |ids: &[TensorId]| -> Vec<TensorId> {
            let new = ids.iter().map(|id| renamed.get(id).copied().unwrap_or(*id));
            new.collect()
        };
        let kernel = node.kernel.as_ref().map(|kernel| Kernel {
            operator: loops,
            inputs: of(&kernel.inputs),
            outputs: of(&kernel.outputs),
        });
        let node = Node {
            kind: node.kind.clone(),
            inputs: of(&node.inputs),
            outputs: of(&node.outputs),
            kernel,
            scratch_bytes: node.scratch_bytes.clone(),
        };
        self.graph.operators.push(node);
        self.origins.push(Some(Origin { operator, renamed }));
    }

    /// An operator that is none of the original's.
    pub(super) fn insert(&mut self, node: Node) {
        self.graph.operators.push(node);
        self.origins.push(None);
    }

    pub(super) fn known(&self, id: TensorId) -> &GraphTensor {
        self.graph.tensor(id)
    }

    /// A new tensor of the kind of `like`, of another shape.
    pub(super) fn tensor(&mut self, like: TensorId, name: String, shape: Shape) -> TensorId {
        let like = self.graph.tensor(like);
        let elements: u64 = like.shape.iter().copied().map(u64::from).product();
        let element_bytes = like.size_bytes.checked_div(elements).unwrap_or(1);
        let tensor = GraphTensor {
            name,
            shape: shape.to_vec(),
            size_bytes: shape.into_iter().map(u64::from).product::<u64>() * element_bytes,
            ..like.clone()
        };
        self.add(tensor)
    }

    pub(super) fn add(&mut self, tensor: GraphTensor) -> TensorId {
        self.graph.tensors.push(tensor);
        TensorId(self.graph.tensors.len() - 1)
    }

    /// A region of a tensor, whose rows and columns are numbered from 0: the tensor itself where
    /// the region is all of it. Of batch 1, as its shape says.
    pub(super) fn view(&mut self, id: TensorId, shape: Shape, region: &Region) -> TensorId {
        if *region == Region::whole(shape) {
            return id;
        }
        let key = (id, region.clone());
        if let Some(&known) = self.views.get(&key) {
            return known;
        }
        let tensor = self.graph.tensor(id);
        let [_, _, width, depth] = shape.map(u64::from);
        let outer = self.graph.views.get(&id).copied();
        let elements: u64 = shape.into_iter().map(u64::from).product();
        // Of a view with gaps the size says nothing.
        let element_bytes = match self.original.tensors.get(id.0) {
            Some(original) => original.size_bytes / elements.max(1),
            None => tensor.size_bytes / elements.max(1),
        };
        let pixel_bytes = depth * element_bytes;
        let pitch = outer.and_then(|view| view.pitch_bytes);
        let [row, pixel] = pitch.unwrap_or([width * pixel_bytes, pixel_bytes]);
        let cut = region.shape(shape);
        let [_, rows, columns, _] = cut.map(u64::from);
        let [top, left] = [region.rows.start, region.columns.start].map(u64::from);
        let follows = pixel == pixel_bytes && (rows == 1 || row == columns * pixel_bytes);
        let view = View {
            of: outer.map_or(id, |view| view.of),
            offset_bytes: outer.map_or(0, |view| view.offset_bytes) + top * row + left * pixel,
            pitch_bytes: (!follows).then_some([row, pixel]),
        };
        let part = GraphTensor {
            name: format!(
                "{}[{}..{}, {}..{}]",
                tensor.name,
                region.rows.start,
                region.rows.end,
                region.columns.start,
                region.columns.end
            ),
            shape: cut.to_vec(),
            size_bytes: (rows - 1) * row + (columns - 1) * pixel + pixel_bytes,
            ..tensor.clone()
        };
        let added = self.add(part);
        self.graph.views.insert(added, view);
        self.views.insert(key, added);
        added
    }
}
