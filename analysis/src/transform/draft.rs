//! A graph while it is rewritten.

use super::in_place::{in_place, is_int8};
use super::pitch;
use super::region::Region;
use super::remove::Remaining;
use super::{Origin, TransformError, Transformed};
use crate::graph::{
    Graph, GraphTensor, Kernel, Kind, Node, OperatorId, Storage, TensorId, TensorView,
};
use crate::operator::{InputRows, KeptRows, Operator, Shape};
use std::collections::{HashMap, HashSet};

/// The new graph as far as it is known, beside the original one.
pub(super) struct Draft<'a> {
    /// The graph as it was read.
    read: &'a Graph,
    /// The same without the operators that are left out.
    pub(super) original: &'a Graph,
    graph: Graph,
    /// None for an operator that is none of the original's.
    origins: Vec<Option<Origin>>,
    views: HashMap<(TensorId, Region), TensorId>,
}

impl<'a> Draft<'a> {
    /// All tensors of the original, and no operator.
    pub(super) fn new(read: &'a Graph, original: &'a Graph) -> Self {
        Self {
            read,
            original,
            graph: Graph {
                operators: Vec::new(),
                ..original.clone()
            },
            origins: Vec::new(),
            views: HashMap::new(),
        }
    }

    /// # Errors
    /// When an operator has no kernel for tensors in pieces, or reads what nothing stores.
    pub(super) fn finish(
        mut self,
        remaining: &Remaining,
        removed: &[OperatorId],
    ) -> Result<Transformed, TransformError> {
        let mut origins: Vec<Origin> = self.origins.drain(..).flatten().collect();
        for origin in &mut origins {
            let renamed = remaining.renamed.get(&origin.operator);
            for (&old, &new) in renamed.into_iter().flatten() {
                let new = origin.renamed.get(&new).copied().unwrap_or(new);
                origin.renamed.insert(old, new);
            }
        }
        for (index, origin) in origins.iter().enumerate() {
            let pitched = pitch::pitched(&self.graph, &self.graph.operators[index]);
            let reason = "would touch a tensor in pieces, and no kernel of it can";
            let operator = origin.operator;
            let pitched = pitched.map_err(|()| TransformError::Operator { operator, reason })?;
            let kernel = self.graph.operators[index].kernel.as_mut();
            if let (Some(kernel), Some(pitched)) = (kernel, pitched) {
                kernel.operator = pitched;
            }
        }
        self.ensure_stored()?;
        Ok(Transformed {
            graph: self.graph,
            origins,
            removed: removed.to_vec(),
        })
    }

    /// What an operator reads is stored by another one, or was there before in the graph as it
    /// was read.
    fn ensure_stored(&self) -> Result<(), TransformError> {
        let stores = |graph: &Graph| -> HashSet<TensorId> {
            let outputs = graph.operators.iter().flat_map(|node| &node.outputs);
            outputs.map(|&id| graph.root(id)).collect()
        };
        let (stored, before) = (stores(&self.graph), stores(self.read));
        let lost = |id: &&TensorId| {
            let root = self.graph.root(**id);
            let was_given = root.0 < self.read.tensors.len() && !before.contains(&root);
            self.graph.in_arena(root) && !stored.contains(&root) && !was_given
        };
        let loads = self.graph.operators.iter().flat_map(|node| &node.inputs);
        match loads.chain(&self.graph.outputs).find(lost) {
            None => Ok(()),
            Some(_) => Err(TransformError::Run {
                reason: "computes less than others read of it",
            }),
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
        let is_int8 = is_int8(self.original, operator.0);
        let found = kernel.and_then(|kernel| in_place(&kernel.operator));
        let found = found.filter(|_| is_int8);
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

    /// From now on the input is not in the arena, and neither are its views.
    pub(super) fn leave_with_application(&mut self, input: TensorId) {
        self.graph.tensors[input.0].storage = Storage::Application;
    }

    /// Rows of an input that the application hands over, after those that are there already: an
    /// operator that copies what is kept and what is new, given with their numbers of rows, one after the
    /// other. Gives the tensor of all of them, of this name; `reader` is the operator that asks for them.
    pub(super) fn hand_over(
        &mut self,
        reader: OperatorId,
        (input, shape): (TensorId, Shape),
        name: String,
        kept: Option<(TensorId, u32)>,
        new: (TensorId, u32),
    ) -> TensorId {
        let of_rows = |rows: u32| [shape[0], rows, shape[2], shape[3]];
        let rows = kept.map_or(0, |(_, rows)| rows) + new.1;
        let output = self.tensor(input, name, of_rows(rows));
        self.graph.tensors[output.0].storage = Storage::Arena;
        let parts = kept.into_iter().chain([new]);
        let inputs: Vec<TensorId> = parts.map(|(part, _)| part).collect();
        let loops = InputRows {
            kept: kept.map(|(_, rows)| of_rows(rows)),
            new: of_rows(new.1),
            element_bytes: self.element_bytes(input) as u32,
        };
        self.graph.operators.push(Node {
            kind: Kind::InputRows,
            inputs: inputs.clone(),
            outputs: vec![output],
            kernel: Some(Kernel {
                operator: Operator::InputRows(loops),
                inputs,
                outputs: vec![output],
            }),
            scratch_bytes: Vec::new(),
        });
        self.origins.push(Some(Origin {
            operator: reader,
            renamed: HashMap::new(),
        }));
        output
    }

    /// A copy of rows that are there already, a tensor of this shape, for the next part of the operator
    /// that computed them.
    pub(super) fn keep_rows(
        &mut self,
        operator: OperatorId,
        from: TensorId,
        to: TensorId,
        shape: Shape,
    ) {
        let loops = KeptRows {
            elements: shape.into_iter().product(),
            element_bytes: self.element_bytes(from) as u32,
        };
        self.graph.operators.push(Node {
            kind: Kind::KeptRows,
            inputs: vec![from],
            outputs: vec![to],
            kernel: Some(Kernel {
                operator: Operator::KeptRows(loops),
                inputs: vec![from],
                outputs: vec![to],
            }),
            scratch_bytes: Vec::new(),
        });
        self.origins.push(Some(Origin {
            operator,
            renamed: HashMap::new(),
        }));
    }

    /// An operator that is none of the original's.
    pub(super) fn insert(&mut self, node: Node) {
        self.graph.operators.push(node);
        self.origins.push(None);
    }

    /// A new tensor of the kind of `like`, of another shape.
    pub(super) fn tensor(&mut self, like: TensorId, name: String, shape: Shape) -> TensorId {
        let element_bytes = self.element_bytes(like);
        let like = self.graph.tensor(like);
        let tensor = GraphTensor {
            name,
            shape: shape.to_vec(),
            size_bytes: shape.into_iter().map(u64::from).product::<u64>() * element_bytes,
            ..like.clone()
        };
        self.add(tensor)
    }

    /// Of a view with gaps the size says nothing; the draft's own tensors have none.
    pub(super) fn element_bytes(&self, id: TensorId) -> u64 {
        let tensor = self.read.tensors.get(id.0);
        let tensor = tensor.unwrap_or_else(|| self.graph.tensor(id));
        let elements: u64 = tensor.shape.iter().copied().map(u64::from).product();
        tensor.size_bytes.checked_div(elements).unwrap_or(1)
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
        let pixel_bytes = depth * self.element_bytes(id);
        let pitch = outer.and_then(|view| view.pitch_bytes);
        let [row, pixel] = pitch.unwrap_or([width * pixel_bytes, pixel_bytes]);
        let cut = region.shape(shape);
        let [_, rows, columns, _] = cut.map(u64::from);
        let [top, left] = [region.rows.start, region.columns.start].map(u64::from);
        let follows = pixel == pixel_bytes && (rows == 1 || row == columns * pixel_bytes);
        let view = TensorView {
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
