//! What operators compute with, as the file has it.
//!
//! | file | what it holds |
//! |---|---|
//! | `parameters/packed.rs` | constants that an operator unpacks |
//! | `parameters/tensor.rs` | type and quantisation of a tensor |

mod packed;
mod tensor;

use super::draft::find_empty_constants;
use super::error::Unsupported;
use super::read::{custom_options_of, options_of, tensor_ids};
use super::schema::{model, operator, subgraph as fields};
use super::value_options::{FusedActivation, Problem, ValueOptions};
use super::view::{File, Table};
use super::{Contents, TfliteError, catalogue, detection_options, signal_options};
use crate::graph::parameters::{Affine, Constant, Packed, Parameters};
use crate::graph::{Kind, Storage, TensorId, TensorType};
use std::borrow::Cow;
use tensor::{Meaning, Tensor};

/// What each operator of a subgraph computes with, in the file's order, or why that is not
/// known. Constants stay in the file.
///
/// Whether the operators make a graph is what [`read`](super::read()) says. Whether there
/// is a kernel that computes with these is for the caller to know.
///
/// # Errors
/// When the bytes are not a model, when there is no such subgraph, or when a constant that
/// an operator reads has another size than its shape and type say.
pub fn parameters(
    file: &[u8],
    subgraph: usize,
) -> Result<Vec<Result<Parameters<'_>, Unsupported>>, TfliteError> {
    let view = File::new(file);
    let root = view.root()?;
    let contents = Contents::read(&root)?;
    let mut subgraphs = root.tables(model::SUBGRAPHS)?;
    let count = subgraphs.len();
    let table = subgraphs.nth(subgraph).ok_or_else(|| TfliteError::Index {
        place: "parameters of operators".to_owned(),
        what: "subgraph",
        given: i64::try_from(subgraph).unwrap_or(i64::MAX),
        count,
    })??;
    let tensors = table.tables(fields::TENSORS)?.enumerate();
    let tensors = tensors.map(|(index, entry)| {
        let place = || format!("tensor {index} of subgraph {subgraph}");
        Tensor::read(&contents, &entry?, place)
    });
    let mut tensors = tensors.collect::<Result<Vec<_>, _>>()?;
    find_empty_constants(tensors.iter_mut().map(|tensor| &mut tensor.draft), &table)?;
    let reader = Reader {
        file,
        tensors,
        contents,
        subgraph,
    };
    let operators = table.tables(fields::OPERATORS)?.enumerate();
    operators
        .map(|(index, entry)| match reader.operator(index, &entry?) {
            Ok(parameters) => Ok(Ok(parameters)),
            Err(Problem::Operator(problem)) => Ok(Err(problem)),
            Err(Problem::File(error)) => Err(error),
        })
        .collect()
}

/// A subgraph.
struct Reader<'a> {
    file: &'a [u8],
    contents: Contents,
    tensors: Vec<Tensor>,
    subgraph: usize,
}

impl<'a> Reader<'a> {
    fn operator(&self, index: usize, entry: &Table) -> Result<Parameters<'a>, Problem> {
        let place = || format!("operator {index} of subgraph {}", self.subgraph);
        let code = entry.number::<u32>(operator::OPCODE_INDEX, 0)?;
        let kind = self.contents.code(code, place)?;
        let ids = |field| tensor_ids(&entry.integers(field)?, self.tensors.len(), place);
        let inputs = ids(operator::INPUTS)?;
        let outputs = ids(operator::OUTPUTS)?;
        // Operators may share these lists, but what is made of them is each one's own.
        let slots = inputs.len().saturating_add(outputs.len());
        let slot_bytes =
            size_of::<Option<Constant>>() + size_of::<Affine>() + size_of::<Option<TensorId>>();
        entry.charge(slot_bytes.saturating_mul(slots))?;
        entry.charge(size_of::<Result<Parameters, Unsupported>>())?;
        if matches!(kind, Kind::Other(_)) {
            return Err(Unsupported::Kind.into());
        }
        let mut parameters = without_operands(kind, options_of(entry)?)?;
        let custom = custom_options_of(entry)?.and_then(|range| self.file.get(range));
        let first = inputs.first().copied().flatten();
        let shape = first.and_then(|id| self.tensors.get(id.0)?.draft.extents());
        parameters.signal = signal_options::read(kind, custom, &shape.unwrap_or_default())?;
        parameters.detection = detection_options::read(kind, custom)?;
        parameters.tensors.clone_from(&inputs);
        let inputs = self.known(&inputs)?;
        if is_hybrid(&inputs) {
            return Err(Unsupported::Hybrid.into());
        }
        for input in &inputs {
            parameters.operands.push(affine(input));
            let constant = input.map(|slot| self.constant(slot, entry));
            parameters.constants.push(constant.transpose()?.flatten());
        }
        if *kind == Kind::Decode {
            parameters.packed = self.packed(&parameters.constants, &outputs, entry)?;
            return Ok(parameters);
        }
        let outputs = self.known(&outputs)?;
        parameters.outputs = outputs.iter().map(affine).collect();
        Ok(parameters)
    }

    /// How each of the outputs is packed, two constants each.
    fn packed(
        &self,
        constants: &[Option<Constant>],
        outputs: &[Option<TensorId>],
        entry: &Table,
    ) -> Result<Vec<Packed>, Problem> {
        entry.charge(size_of::<Packed>().saturating_mul(outputs.len()))?;
        let packed = outputs.iter().enumerate().map(|(index, output)| {
            let constant = |operand: usize| constants.get(operand).and_then(Option::as_ref);
            let data = (constant(2 * index), constant(2 * index + 1), output);
            let (Some(_), Some(ancillary), &Some(TensorId(output))) = data else {
                return Err(Unsupported::NotRead.into());
            };
            let Tensor { draft, record, .. } = &self.tensors[output];
            entry.charge(record.zero_points.len())?;
            Ok(packed::read(&ancillary.bytes, draft, record)?)
        });
        packed.collect()
    }

    /// The tensors, all of which must make sense; `None` if an optional one is absent.
    fn known(&self, ids: &[Option<TensorId>]) -> Result<Vec<Option<Slot<'_>>>, Unsupported> {
        let known = |id: &Option<TensorId>| {
            let Some(TensorId(index)) = *id else {
                return Ok(None);
            };
            let tensor = &self.tensors[index];
            match &tensor.meaning {
                Ok(meaning) => Ok(Some(Slot {
                    index,
                    tensor,
                    meaning,
                })),
                Err(problem) => Err(Unsupported::Tensor {
                    tensor: index,
                    problem: problem.clone(),
                }),
            }
        };
        ids.iter().map(known).collect()
    }

    /// The tensor, where it is a constant.
    fn constant(&self, slot: Slot, entry: &Table) -> Result<Option<Constant<'a>>, TfliteError> {
        let Slot {
            index,
            tensor: Tensor { draft, .. },
            meaning,
        } = slot;
        let Some(data) = draft.data.clone() else {
            return Ok(None);
        };
        if draft.storage != Storage::Constant {
            return Ok(None);
        }
        let bytes = &self.file[data];
        let expected = draft.size_bytes();
        let shape = draft.extents();
        let Some(shape) = shape.filter(|_| expected == Some(bytes.len() as u64)) else {
            return Err(TfliteError::damaged(format!(
                "tensor {index} of subgraph {} has {} bytes of data, expected {}",
                self.subgraph,
                bytes.len(),
                expected.map_or("a shape that has a size".to_owned(), |size| size
                    .to_string())
            )));
        };
        // Operators may share the constant, but what is made of it is each one's own.
        entry.charge(size_of_val(shape.as_slice()))?;
        entry.charge(size_of_val(meaning.quantisation.as_slice()))?;
        Ok(Some(Constant {
            bytes: Cow::Borrowed(bytes),
            element_type: meaning.element_type,
            shape,
            quantisation: meaning.quantisation.clone(),
            channel_axis: meaning.channel_axis,
        }))
    }
}

/// Parameters without operands, as the options say.
fn without_operands(
    kind: &Kind,
    given: Option<(u8, Table)>,
) -> Result<Parameters<'static>, Problem> {
    let row = catalogue::row(kind);
    let of_kind = || ValueOptions::of(given, row.options);
    let mut parameters = Parameters::default();
    match row.activation {
        FusedActivation::Absent => {}
        FusedActivation::At(field) => parameters.activation = of_kind()?.activation(field)?,
        FusedActivation::NotRead => return Err(Unsupported::NotRead.into()),
    }
    if let Some(read) = row.values {
        read(&of_kind()?, &mut parameters)?;
    }
    Ok(parameters)
}

/// A tensor where an operator names it.
#[derive(Clone, Copy)]
struct Slot<'a> {
    index: usize,
    tensor: &'a Tensor,
    meaning: &'a Meaning,
}

fn affine(slot: &Option<Slot>) -> Affine {
    let first = slot
        .as_ref()
        .and_then(|slot| slot.meaning.quantisation.first());
    first.copied().unwrap_or(Affine::PLAIN)
}

/// Floating point by integers: such kernels quantise their input as they go.
fn is_hybrid(inputs: &[Option<Slot>]) -> bool {
    let types = || {
        inputs
            .iter()
            .flatten()
            .map(|slot| slot.meaning.element_type)
    };
    let is_narrow = |element_type| {
        use TensorType::{Int4, Int8, Int16, Uint8};
        matches!(element_type, Int4 | Int8 | Uint8 | Int16)
    };
    types().any(|element_type| element_type == TensorType::Float32) && types().any(is_narrow)
}
