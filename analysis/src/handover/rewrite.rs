//! Models with other operators, on the same weights.
//!
//! As a plan is added (`plan.rs`), so are operators: a new root, the subgraph anew, and what it
//! needs beyond the old file's tensors, operators and buffers go in front of the old file, whose
//! parts are referred to where they are. No weights are copied.
//!
//! | file | what it holds |
//! |---|---|
//! | `rewrite/constants.rs` | data of new constants |
//! | `rewrite/padding.rs` | options with another padding |

mod constants;
mod padding;

use crate::graph::tflite::layout::{Layout, ROOT, Value};
use crate::graph::tflite::plan::{
    ALIGNMENT, REFERENCES, check_root_fields, shift_outside, target_of, targets,
};
use crate::graph::tflite::schema::{
    Field, buffer, concatenation, model, operator, options, subgraph, tensor,
};
use crate::graph::tflite::view::{File, Table};
use crate::graph::tflite::{TfliteError, read};
use crate::graph::{Graph, Kind, Node, TensorId, TensorType};
use crate::operator::Operator;
use crate::transform::Origin;
use crate::transform::standard::{Standard, TensorSource};
use constants::data;
use padding::other_padding;

/// The model with the operators and tensors of its first subgraph replaced. A plan that it
/// carries is for other tensors, and has to be replaced too ([`with_plan`](crate::graph::tflite::with_plan)).
///
/// # Errors
/// When the file is no model of one subgraph, or has fields that are not known and would be
/// lost; when what is written is not read again as it was meant, for instance since `standard`
/// is not of this model.
pub fn rewrite(file: &[u8], standard: &Standard) -> Result<Vec<u8>, TfliteError> {
    let old = read(file)?;
    if old.graphs.len() != 1 {
        return Err(TfliteError::Plan(format!(
            "the model has {} subgraphs, expected 1: what other subgraphs do while its operators \
             run is not known",
            old.graphs.len()
        )));
    }
    let view = File::new(file);
    let root = view.root()?;
    let mut bytes = Writer::new(file, &root, standard)?.write()?;
    let shift = bytes.len();
    bytes.extend_from_slice(file);
    shift_outside(&mut bytes, &root, shift)?;
    let new = read(&bytes)?;
    if new.graphs != [standard.graph.clone()] || new.description != old.description {
        let differs = new.graphs.first().and_then(|new| {
            let pairs = new.operators.iter().zip(&standard.graph.operators);
            pairs.enumerate().find(|(_, (one, other))| one != other)
        });
        return Err(TfliteError::Plan(match differs {
            Some((index, (_, node))) => format!(
                "operator {index} {} of the new model cannot be said in a model file: it is read \
                 as another one",
                node.kind
            ),
            None => "the new model is not read as it was meant".to_owned(),
        }));
    }
    Ok(bytes)
}

/// What goes in front of the old file.
struct Writer<'a> {
    file: &'a [u8],
    root: &'a Table<'a>,
    graph: Table<'a>,
    standard: &'a Standard,
    layout: Layout,
    /// References to parts of the old file, and what begins where they lead there.
    outward: Vec<(usize, usize)>,
    old_codes: usize,
    /// Kind and version of the operator codes after the old ones.
    codes: Vec<(usize, u32)>,
    old_buffers: usize,
}

impl<'a> Writer<'a> {
    fn new(
        file: &'a [u8],
        root: &'a Table<'a>,
        standard: &'a Standard,
    ) -> Result<Self, TfliteError> {
        check_root_fields(root)?;
        let graph = root.tables(model::SUBGRAPHS)?.next();
        let graph = graph.ok_or(TfliteError::NoSubgraph)??;
        let mut codes = Vec::new();
        for (node, origin) in standard.graph.operators.iter().zip(&standard.origins) {
            if origin.is_none() {
                let code = new_code(&standard.graph, node)?;
                if !codes.contains(&code) {
                    codes.push(code);
                }
            }
        }
        Ok(Self {
            file,
            root,
            graph,
            standard,
            layout: Layout::new(),
            outward: Vec::new(),
            old_codes: targets(file, root, model::OPERATOR_CODES)?.len(),
            codes,
            old_buffers: targets(file, root, model::BUFFERS)?.len(),
        })
    }

    fn write(mut self) -> Result<Vec<u8>, TfliteError> {
        let version = self.root.number(model::VERSION, 0)?;
        let mut fields = vec![(model::VERSION, Value::Word(version))];
        let written = [model::OPERATOR_CODES, model::SUBGRAPHS, model::BUFFERS];
        let is_written = |field: &Field| written.iter().any(|known| known.number == field.number);
        for field in REFERENCES {
            if is_written(&field) || self.root.place(field)?.is_some() {
                fields.push((field, Value::Reference));
            }
        }
        let places = self.layout.table(ROOT, &fields)?;
        for ((field, _), place) in fields.iter().zip(places).skip(1) {
            match field.number {
                number if number == model::OPERATOR_CODES.number => self.codes(place)?,
                number if number == model::SUBGRAPHS.number => {
                    let graphs = self.layout.references(place, 1)?;
                    self.subgraph(graphs[0])?;
                }
                number if number == model::BUFFERS.number => self.buffers(place)?,
                _ => self.old(place, self.root, *field)?,
            }
        }
        self.layout.align(ALIGNMENT);
        let shift = self.layout.bytes.len();
        for (place, target) in std::mem::take(&mut self.outward) {
            self.layout.link(place, shift + target)?;
        }
        Ok(self.layout.bytes)
    }

    /// Lets a reference lead to where a field of an old table does.
    fn old(&mut self, place: usize, table: &Table, field: Field) -> Result<(), TfliteError> {
        if let Some(target) = table.place(field)? {
            self.outward.push((place, target_of(self.file, target)));
        }
        Ok(())
    }

    /// Writes a vector: what the old one refers to, then this many new ones, whose places it gives.
    fn extended(
        &mut self,
        place: usize,
        field: Field,
        more: usize,
    ) -> Result<Vec<usize>, TfliteError> {
        let old = targets(self.file, self.root, field)?;
        let mut places = self.layout.references(place, old.len() + more)?;
        let new = places.split_off(old.len());
        self.outward.extend(places.into_iter().zip(old));
        Ok(new)
    }

    fn codes(&mut self, place: usize) -> Result<(), TfliteError> {
        let places = self.extended(place, model::OPERATOR_CODES, self.codes.len())?;
        for (place, &(code, version)) in places.into_iter().zip(&self.codes) {
            self.layout.operator_code(place, code, version)?;
        }
        Ok(())
    }

    /// The old ones, one without data, and the constants.
    fn buffers(&mut self, place: usize) -> Result<(), TfliteError> {
        let standard = self.standard;
        let tensors = standard.graph.tensors.iter().zip(&standard.tensors);
        let constants = tensors.map(|(tensor, source)| data(tensor.element_type, source));
        let constants: Vec<Vec<u8>> = constants
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        let places = self.extended(place, model::BUFFERS, 1 + constants.len())?;
        self.layout.table(places[0], &[])?;
        for (&place, bytes) in places[1..].iter().zip(constants) {
            let place = self
                .layout
                .table(place, &[(buffer::DATA, Value::Reference)])?;
            self.layout.data(place[0], &bytes)?;
        }
        Ok(())
    }

    fn subgraph(&mut self, reference: usize) -> Result<(), TfliteError> {
        if let Some(number) = self.graph.unknown_field(DEBUG_METADATA + 1)? {
            return Err(TfliteError::Plan(format!(
                "the subgraph has a field {number}, which is not known and would be lost"
            )));
        }
        let fields = [
            (subgraph::TENSORS, Value::Reference),
            (subgraph::INPUTS, Value::Reference),
            (subgraph::OUTPUTS, Value::Reference),
            (subgraph::OPERATORS, Value::Reference),
            (subgraph::NAME, Value::Reference),
        ];
        let graph = self.graph;
        let has_name = graph.place(subgraph::NAME)?.is_some();
        let fields = &fields[..fields.len() - usize::from(!has_name)];
        let places = self.layout.table(reference, fields)?;
        self.old(places[1], &graph, subgraph::INPUTS)?;
        self.old(places[2], &graph, subgraph::OUTPUTS)?;
        if has_name {
            self.old(places[4], &graph, subgraph::NAME)?;
        }
        self.tensors(places[0])?;
        self.operators(places[3])
    }

    fn tensors(&mut self, place: usize) -> Result<(), TfliteError> {
        let standard = self.standard;
        let old = targets(self.file, &self.graph, subgraph::TENSORS)?;
        let tables: Vec<Table> = self
            .graph
            .tables(subgraph::TENSORS)?
            .collect::<Result<_, _>>()?;
        let places = self.layout.references(place, standard.tensors.len())?;
        // After the old buffers and the one without data.
        let mut constants = self.old_buffers + 1;
        for (index, (place, source)) in places.into_iter().zip(&standard.tensors).enumerate() {
            match source {
                TensorSource::Original => {
                    let &target = old.get(index).ok_or_else(other_model)?;
                    self.outward.push((place, target));
                }
                TensorSource::Piece(of) => {
                    self.like(place, index, tables.get(of.0), self.old_buffers)?;
                }
                TensorSource::Lowest(of) => {
                    self.like(place, index, tables.get(of.0), constants)?;
                    constants += 1;
                }
                TensorSource::Integers(_) => {
                    self.tensor(place, index, INT32, constants, false)?;
                    constants += 1;
                }
            }
        }
        Ok(())
    }

    /// A tensor of the type and quantisation of an old one.
    fn like(
        &mut self,
        place: usize,
        index: usize,
        like: Option<&Table>,
        buffer: usize,
    ) -> Result<(), TfliteError> {
        let like = like.ok_or_else(other_model)?;
        let quantized = like.place(tensor::QUANTIZATION)?.is_some();
        let kind = like.number::<u8>(tensor::TYPE, 0)?;
        let places = self.tensor(place, index, kind, buffer, quantized)?;
        if quantized {
            self.old(places[4], like, tensor::QUANTIZATION)
        } else {
            Ok(())
        }
    }

    fn tensor(
        &mut self,
        place: usize,
        index: usize,
        kind: u8,
        buffer: usize,
        quantized: bool,
    ) -> Result<Vec<usize>, TfliteError> {
        let tensor = &self.standard.graph.tensors[index];
        let mut fields = vec![
            (tensor::SHAPE, Value::Reference),
            (tensor::TYPE, Value::Byte(kind)),
            (tensor::BUFFER, Value::Word(buffer as u32)),
            (tensor::NAME, Value::Reference),
        ];
        if quantized {
            fields.push((tensor::QUANTIZATION, Value::Reference));
        }
        let places = self.layout.table(place, &fields)?;
        let shape: Vec<i32> = tensor.shape.iter().map(|&extent| extent as i32).collect();
        self.layout.integers(places[0], &shape)?;
        self.layout.text(places[3], &tensor.name)?;
        Ok(places)
    }

    fn operators(&mut self, place: usize) -> Result<(), TfliteError> {
        let standard = self.standard;
        let old = targets(self.file, &self.graph, subgraph::OPERATORS)?;
        let tables: Vec<Table> = self
            .graph
            .tables(subgraph::OPERATORS)?
            .collect::<Result<_, _>>()?;
        let nodes = &standard.graph.operators;
        let places = self.layout.references(place, nodes.len())?;
        for ((place, node), origin) in places.into_iter().zip(nodes).zip(&standard.origins) {
            let Some(origin) = origin else {
                self.new_operator(place, node)?;
                continue;
            };
            let (Some(&target), Some(table)) =
                (old.get(origin.operator.0), tables.get(origin.operator.0))
            else {
                return Err(other_model());
            };
            // A piece may have the index of the tensor that it is a piece of.
            let same = |(old, new): (&TensorId, &TensorId)| {
                old == new && standard.tensors.get(new.0) == Some(&TensorSource::Original)
            };
            if origin.renamed.iter().all(same) {
                self.outward.push((place, target));
            } else {
                self.part(place, node, origin, table)?;
            }
        }
        Ok(())
    }

    /// An operator that only moves elements.
    fn new_operator(&mut self, place: usize, node: &Node) -> Result<(), TfliteError> {
        let code = new_code(&self.standard.graph, node)?;
        let index = self.codes.iter().position(|known| *known == code);
        let index = self.old_codes + index.unwrap_or(0);
        let (number, fields) = match node.kernel.as_ref().map(|kernel| &kernel.operator) {
            Some(Operator::Concat(concat)) => {
                let fields = vec![(concatenation::AXIS, Value::Word(concat.axis))];
                (options::CONCATENATION, fields)
            }
            Some(Operator::Pad(_)) if node.kind == Kind::Padv2 => (options::PAD_V2, Vec::new()),
            Some(Operator::Pad(_)) => (options::PAD, Vec::new()),
            _ => (options::SLICE, Vec::new()),
        };
        let places = self.layout.operator(place, index as u32, number)?;
        self.layout.ids(places[1], &node.inputs)?;
        self.layout.ids(places[2], &node.outputs)?;
        self.layout.table(places[4], &fields)?;
        Ok(())
    }

    /// An operator on a part of its tensors: its options are the old ones, but for the padding.
    fn part(
        &mut self,
        place: usize,
        node: &Node,
        origin: &Origin,
        old: &Table,
    ) -> Result<(), TfliteError> {
        let number = old.number::<u8>(operator::OPTIONS_TYPE, 0)?;
        let places = self
            .layout
            .operator(place, old.number(operator::OPCODE_INDEX, 0)?, number)?;
        for (place, field) in [
            (places[1], operator::INPUTS),
            (places[2], operator::OUTPUTS),
        ] {
            let renamed = |index: i32| {
                let id = usize::try_from(index).ok().map(TensorId);
                let new = id.and_then(|id| origin.renamed.get(&id));
                new.map_or(index, |new| new.0 as i32)
            };
            let ids: Vec<i32> = old.integers(field)?.into_iter().map(renamed).collect();
            self.layout.integers(place, &ids)?;
        }
        let Some(table) = old.table(operator::OPTIONS)?.filter(|_| number != 0) else {
            return Ok(());
        };
        match other_padding(&table, node, number)? {
            None => self.old(places[4], old, operator::OPTIONS),
            Some(fields) => self.layout.table(places[4], &fields).map(|_| ()),
        }
    }
}

/// Number of the subgraph's last field: it says where the model comes from, which is of no use
/// to what runs it, and is left out.
const DEBUG_METADATA: usize = 5;
/// Number of the type.
const INT32: u8 = 2;

/// Number of the operator and its version, which grew with the types it takes
/// (`tensorflow/lite/tools/versioning/op_version.cc`).
fn new_code(graph: &Graph, node: &Node) -> Result<(usize, u32), TfliteError> {
    let code = node.kind.code();
    let output = node.outputs.first();
    let (Some(code), Some(&output)) = (code, output) else {
        return Err(other_model());
    };
    let version = match (&node.kind, graph.tensor(output).element_type) {
        (_, TensorType::Int8) => 2,
        (Kind::Slice, TensorType::Int16) => 4,
        (_, TensorType::Int16) => 3,
        _ => 1,
    };
    Ok((code, version))
}

fn other_model() -> TfliteError {
    TfliteError::Plan("the operators are not those of this model".to_owned())
}
