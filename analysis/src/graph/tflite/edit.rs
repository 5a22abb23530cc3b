//! Models written anew, with some tensors changed: fewer channels, other data.
//!
//! A plan or other operators go in front of the old file (`plan.rs`), which stays whole. Here
//! data are left out, so that all of the model is written: what is known of the schema, table by
//! table. A model with anything else is refused, and nothing is lost unnoticed.
//!
//! | file | what it holds |
//! |---|---|
//! | `edit/operators.rs` | operators and their options |
//! | `edit/tensors.rs` | tensors, and how they are cut |
//! | `edit/root.rs` | operator codes, metadata, signatures |

mod operators;
mod root;
mod tensors;

use super::layout::{Layout, ROOT, Value};
use super::plan::{REFERENCES, check_root_fields};
use super::schema::{buffer, model, subgraph};
use super::view::{self, File, Table};
use super::{Contents, TfliteError, read};
use crate::graph::parameters::Constant;
use crate::graph::{Graph, GraphTensor, Kind, Node, OperatorId, TensorId, TensorType};
use std::collections::{BTreeMap, BTreeSet};

/// What stays of a tensor along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub axis: usize,
    /// Indices, ascending.
    pub kept: Vec<u32>,
}

/// What becomes of a tensor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TensorEdit {
    pub cuts: Vec<Cut>,
    /// Its data before it is cut, where they are others.
    pub data: Option<Vec<u8>>,
}

impl TensorEdit {
    /// Of a tensor that nothing uses any more, one element stays; `None` if it has no more.
    pub(crate) fn to_one_element(tensor: &GraphTensor) -> Option<Self> {
        let axes = tensor.shape.iter().enumerate();
        let longer = axes.filter(|(_, extent)| **extent > 1);
        let cuts = longer.map(|(axis, _)| Cut {
            axis,
            kept: vec![0],
        });
        let cuts: Vec<Cut> = cuts.collect();
        (!cuts.is_empty()).then_some(Self { cuts, data: None })
    }
}

/// Whether a constant names a shape of so many axes, and could name another.
pub(crate) fn names_shape(constant: &Constant, rank: usize) -> bool {
    constant.element_type == TensorType::Int32 && constant.shape == [rank as u32]
}

/// A circular buffer of the last rows of a tensor, a new tensor which an operator stores that stands
/// in front of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BufferEdit {
    /// The tensor whose new rows go into it.
    pub of: TensorId,
    /// Which of its rows the buffer holds, of the tensor as it was.
    pub cut: Cut,
    /// The operator that it stands in front of.
    pub before: OperatorId,
    /// The operators that read it instead of the tensor.
    pub readers: Vec<OperatorId>,
}

/// What becomes of a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edits {
    /// Tensors that keep their index.
    pub tensors: BTreeMap<TensorId, TensorEdit>,
    /// Operands that become tensors of their own, since others use the old one: those of this
    /// operator at this place.
    pub operands: BTreeMap<(OperatorId, usize), (TensorId, TensorEdit)>,
    /// Shapes among the options of operators that reshape.
    pub new_shapes: BTreeMap<OperatorId, Vec<i32>>,
    /// Circular buffers, in the order of the operators that they stand in front of.
    pub buffers: Vec<BufferEdit>,
    /// Operators that are left out.
    pub left_out: BTreeSet<OperatorId>,
    /// Which tensor is an input or output of the model instead of which.
    pub ends: BTreeMap<TensorId, TensorId>,
}

impl Edits {
    /// The operators that stay, each with its own of `of`, which has one for each.
    pub(crate) fn remaining<'a, T>(
        &'a self,
        graph: &'a Graph,
        of: &'a [T],
    ) -> impl Iterator<Item = (&'a Node, &'a T)> {
        let operators = graph.operators.iter().zip(of).enumerate();
        let stays = |(index, _): &(usize, _)| !self.left_out.contains(&OperatorId(*index));
        operators.filter(stays).map(|(_, operator)| operator)
    }

    /// Whether it reads what is stored in an inference and becomes a constant: that may be all that
    /// was missing for its loops to be known.
    fn completes(&self, node: &Node) -> bool {
        let mut inputs = node.inputs.iter().filter_map(|id| self.tensors.get(id));
        inputs.any(|edit| edit.data.is_some())
    }

    /// The tensor that is an input or output of the model instead of this one.
    fn end(&self, tensor: TensorId) -> TensorId {
        self.ends.get(&tensor).copied().unwrap_or(tensor)
    }

    /// Gives an operator that reshapes another shape: among its options, and as the operand that
    /// names it, where the model has it as a constant.
    pub(crate) fn reshape(
        &mut self,
        operator: OperatorId,
        shape: Vec<i32>,
        named: Option<(usize, TensorId, &Constant)>,
    ) {
        if let Some((operand, tensor, constant)) = named {
            let mut values = view::integers(&constant.bytes);
            // An extent of -1 is what remains.
            for (value, &extent) in values.iter_mut().zip(&shape) {
                *value = if *value < 0 { *value } else { extent };
            }
            let edit = TensorEdit {
                cuts: Vec::new(),
                data: Some(values.into_iter().flat_map(i32::to_le_bytes).collect()),
            };
            self.operands.insert((operator, operand), (tensor, edit));
        }
        self.new_shapes.insert(operator, shape);
    }

    /// Edits tensors in their place where nothing needs them as they were. `uses` says how many
    /// operands each tensor is.
    pub(crate) fn settle(&mut self, uses: &[usize]) {
        let mut edited: BTreeMap<TensorId, Vec<(OperatorId, usize)>> = BTreeMap::new();
        for (&place, (tensor, _)) in &self.operands {
            edited.entry(*tensor).or_default().push(place);
        }
        for (tensor, places) in edited {
            if uses.get(tensor.0) != Some(&places.len()) {
                continue;
            }
            let first = self.operands.get(&places[0]).cloned();
            if let Some((_, edit)) = &first {
                self.tensors.insert(tensor, edit.clone());
            }
            self.operands
                .retain(|place, own| !places.contains(place) || Some(&*own) != first.as_ref());
        }
    }
}

/// The model with these edits. A plan that it carries is left out: it is for other sizes.
///
/// # Errors
/// When the file is no model of one subgraph, or has what is not known here; when an edit does not
/// fit its tensor.
pub(crate) fn edited(file: &[u8], edits: &Edits) -> Result<Vec<u8>, TfliteError> {
    let view = File::new(file);
    let root = view.root()?;
    check_root_fields(&root)?;
    let contents = Contents::read(&root)?;
    let mut subgraphs = root.tables(model::SUBGRAPHS)?;
    let graph = subgraphs.next().ok_or(TfliteError::NoSubgraph)??;
    if subgraphs.next().is_some() {
        return Err(TfliteError::Plan(
            "the model has several subgraphs, expected 1".to_owned(),
        ));
    }
    let writer = Writer {
        file,
        root,
        tensors: graph.tables(subgraph::TENSORS)?.len(),
        graph,
        contents,
        edits,
        layout: Layout::sharing(),
        data: Vec::new(),
        used: BTreeSet::new(),
    };
    let bytes = writer.write()?;
    ensure_same(file, &bytes, edits)?;
    Ok(bytes)
}

/// Number of the subgraph's last field: it says where the model comes from, which is of no use
/// to what runs it, and is left out.
const DEBUG_METADATA: usize = 5;

struct Writer<'a> {
    file: &'a [u8],
    root: Table<'a>,
    graph: Table<'a>,
    /// How many old ones there are.
    tensors: usize,
    contents: Contents,
    edits: &'a Edits,
    layout: Layout,
    /// Data of further buffers, after the old ones.
    data: Vec<Vec<u8>>,
    /// Old buffers that are still of use.
    used: BTreeSet<usize>,
}

impl Writer<'_> {
    fn write(mut self) -> Result<Vec<u8>, TfliteError> {
        let mut fields = vec![(
            model::VERSION,
            Value::Word(self.root.number(model::VERSION, 0)?),
        )];
        for field in REFERENCES {
            if field.number == model::BUFFERS.number || self.root.place(field)?.is_some() {
                fields.push((field, Value::Reference));
            }
        }
        let places = self.layout.table(ROOT, &fields)?;
        let mut buffers = 0;
        for ((field, _), place) in fields.iter().zip(places).skip(1) {
            match field.number {
                number if number == model::OPERATOR_CODES.number => self.codes(place)?,
                number if number == model::SUBGRAPHS.number => {
                    let graphs = self.layout.references(place, 1)?;
                    self.subgraph(graphs[0])?;
                }
                number if number == model::BUFFERS.number => buffers = place,
                number if number == model::METADATA.number => self.metadata(place)?,
                number if number == model::SIGNATURE_DEFS.number => self.signatures(place)?,
                number if number == model::METADATA_BUFFER.number => {
                    let indices = self.root.integers(*field)?;
                    let known = indices
                        .iter()
                        .filter_map(|&index| usize::try_from(index).ok());
                    self.used.extend(known);
                    self.layout.integers(place, &indices)?;
                }
                _ => self.text(place, self.root, *field)?,
            }
        }
        // Which of them are of use is known when all else is written.
        self.buffers(buffers)?;
        Ok(self.layout.bytes)
    }

    /// The tensor that this circular buffer is, after the old ones and those of single operands.
    fn buffer_tensor(&self, index: usize) -> Result<usize, TfliteError> {
        Ok(self.tensors + self.edits.operands.len() + index)
    }

    /// A string as the old table has it.
    fn text(
        &mut self,
        place: usize,
        table: Table<'_>,
        field: super::schema::Field,
    ) -> Result<(), TfliteError> {
        let bytes = &self.file[table.bytes(field)?.unwrap_or_default()];
        self.layout.vector(place, bytes.len(), bytes, 4)?;
        self.layout.bytes.push(0);
        Ok(())
    }

    fn subgraph(&mut self, reference: usize) -> Result<(), TfliteError> {
        if let Some(number) = self.graph.unknown_field(DEBUG_METADATA + 1)? {
            return Err(unknown("the subgraph", number));
        }
        let wanted = [
            subgraph::TENSORS,
            subgraph::INPUTS,
            subgraph::OUTPUTS,
            subgraph::OPERATORS,
            subgraph::NAME,
        ];
        let mut fields = Vec::new();
        for field in wanted {
            if self.graph.place(field)?.is_some() {
                fields.push((field, Value::Reference));
            }
        }
        let places = self.layout.table(reference, &fields)?;
        for ((field, _), place) in fields.into_iter().zip(places) {
            match field.number {
                number if number == subgraph::TENSORS.number => self.tensors(place)?,
                number if number == subgraph::OPERATORS.number => self.operators(place)?,
                number if number == subgraph::NAME.number => {
                    self.text(place, self.graph, field)?;
                }
                _ => {
                    let ids = self.graph.integers(field)?;
                    let ids: Vec<i32> = ids.into_iter().map(|id| self.end(id)).collect();
                    self.layout.integers(place, &ids)?;
                }
            }
        }
        Ok(())
    }

    /// The tensor that is an input or output of the model instead of this one.
    fn end(&self, id: i32) -> i32 {
        usize::try_from(id).map_or(id, |tensor| self.edits.end(TensorId(tensor)).0 as i32)
    }

    /// The old ones that are still of use, with their indices, and the further ones.
    fn buffers(&mut self, place: usize) -> Result<(), TfliteError> {
        let old = std::mem::take(&mut self.contents.buffers);
        let first = old.len().max(1);
        let places = self.layout.references(place, first + self.data.len())?;
        for (index, &place) in places[..first].iter().enumerate() {
            let range = old.get(index).cloned().flatten();
            match range.filter(|_| self.used.contains(&index)) {
                None => drop(self.layout.table(place, &[])?),
                Some(range) => self.buffer(place, &self.file[range])?,
            }
        }
        for (place, data) in places
            .into_iter()
            .skip(first)
            .zip(std::mem::take(&mut self.data))
        {
            self.buffer(place, &data)?;
        }
        Ok(())
    }

    fn buffer(&mut self, place: usize, data: &[u8]) -> Result<(), TfliteError> {
        let fields = [(buffer::DATA, Value::Reference)];
        let places = self.layout.table(place, &fields)?;
        self.layout.data(places[0], data)
    }

    /// Index of a further buffer.
    fn further(&mut self, data: Vec<u8>) -> u32 {
        self.data.push(data);
        // Buffer 0 stands for no data.
        (self.contents.buffers.len().max(1) + self.data.len() - 1) as u32
    }
}

/// The result is read as the operators that stay and the new ones, on as many tensors or more.
fn ensure_same(old: &[u8], new: &[u8], edits: &Edits) -> Result<(), TfliteError> {
    let [old, new] = [read(old)?, read(new)?];
    let same = match (&old.graphs[..], &new.graphs[..]) {
        ([old], [new]) => {
            let mut expected: Vec<_> = old.operators.iter().map(described).collect();
            for operator in edits.left_out.iter().rev() {
                expected.remove(operator.0);
            }
            let buffers = edits.buffers.iter().enumerate();
            for (index, buffer) in buffers {
                let output = TensorId(old.tensors.len() + edits.operands.len() + index);
                let place = (buffer.before.0 + index).min(expected.len());
                expected.insert(place, (Kind::CircularBuffer, vec![output], true));
            }
            let is_expected = |(node, (kind, outputs, known)): (&Node, _)| {
                let read = described(node);
                read == (kind, outputs, known || read.2 && edits.completes(node))
            };
            new.operators.len() == expected.len()
                && new.operators.iter().zip(expected).all(is_expected)
                && ends(old, edits) == ends(new, edits)
        }
        _ => false,
    };
    if same {
        return Ok(());
    }
    Err(TfliteError::Plan(
        "the new model is not read as it was meant".to_owned(),
    ))
}

/// An operator's kind, its outputs, and whether its loops are known.
fn described(node: &Node) -> (Kind, Vec<TensorId>, bool) {
    let is_known = node.kernel.is_some();
    (node.kind.clone(), node.outputs.clone(), is_known)
}

/// Inputs and outputs, without the extents of those that are cut.
fn ends(graph: &Graph, edits: &Edits) -> Vec<(TensorId, GraphTensor)> {
    let ends = graph.inputs.iter().chain(&graph.outputs);
    let ends = ends.map(|&id| {
        let id = edits.end(id);
        let mut tensor = graph.tensor(id).clone();
        if edits.tensors.contains_key(&id) {
            (tensor.shape, tensor.size_bytes) = (Vec::new(), 0);
        }
        (id, tensor)
    });
    ends.collect()
}

fn unknown(place: &str, number: usize) -> TfliteError {
    TfliteError::Plan(format!(
        "{place} has a field {number}, which is not known and would be lost"
    ))
}
