//! Plans in model files: the metadata `OfflineMemoryAllocation`, which TensorFlow Lite
//! Micro obeys (`tensorflow/lite/micro/docs/memory_management.md`), and another order of
//! the operators.
//!
//! A plan is added without writing the model anew. References in a flatbuffer lead
//! forwards, so that a new root, new vectors of buffers and metadata, and the plan itself
//! go in front of the old file, whose parts are referred to where they are:
//!
//! ```text
//! | new root | buffers | metadata | plan | 0.. | old file, its operators permuted |
//!      |          |          |                    ^      ^
//!      +----------+----------+--------------------+------+
//! ```
//!
//! Nothing of the old file is lost, of what is known of it or not. The result is read
//! again and compared before it is given out.

use super::layout::{self, Layout, ROOT, Value};
use super::schema::{Field, buffer, metadata, model, operator, subgraph};
use super::view::{File, Table, integers};
use super::{Contents, Metadata, Model, TfliteError, read};
use crate::graph::{Graph, OperatorId, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Name of the metadata.
pub(super) const NAME: &str = "OfflineMemoryAllocation";
/// Version of their format.
const VERSION: i32 = 1;
/// The old file's data stay aligned if the new part is a multiple of this.
pub(crate) const ALIGNMENT: usize = 64;
/// Left to the runtime.
const UNPLANNED: i32 = -1;
/// The most bytes that are changed at one place.
const CHANGED_BYTES: usize = 8;

/// A plan that a model carries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OfflinePlan {
    /// Version of its format.
    pub version: i32,
    /// Number of subgraphs, according to the plan.
    pub subgraphs: i32,
    /// Offset of each tensor in the arena in bytes, those of all subgraphs one after the
    /// other, constants included; -1 where it is left to the runtime.
    pub offsets: Vec<i32>,
}

/// The plan that a model carries, if it does. Whether its offsets fit the model's tensors
/// is for the caller to see.
///
/// # Errors
/// When the file is no model, or its plan is shorter than it says.
pub fn offline_plan(file: &[u8]) -> Result<Option<OfflinePlan>, TfliteError> {
    read(file)?.offline_plan(file)
}

impl Model {
    /// The plan that the model carries, if it does, as [`offline_plan`] gives it; `file` is what
    /// the model was read from.
    ///
    /// # Errors
    /// When the plan is shorter than it says.
    pub fn offline_plan(&self, file: &[u8]) -> Result<Option<OfflinePlan>, TfliteError> {
        let Some(entry) = self.metadata(NAME) else {
            return Ok(None);
        };
        let bytes = file.get(entry.bytes.clone()).unwrap_or_default();
        of_words(&integers(bytes), entry).map(Some)
    }
}

/// The plan in the metadata.
fn of_words(words: &[i32], entry: &Metadata) -> Result<OfflinePlan, TfliteError> {
    let &[version, subgraphs, count, ref offsets @ ..] = words else {
        return Err(TfliteError::Plan(format!(
            "metadata {NAME} has {} bytes, expected at least 12: version, number of subgraphs, \
             number of offsets",
            entry.bytes.len()
        )));
    };
    let given = offsets.len();
    let offsets = usize::try_from(count)
        .ok()
        .and_then(|count| offsets.get(..count))
        .ok_or_else(|| {
            TfliteError::Plan(format!(
                "metadata {NAME} announces {count} offsets and has {given}"
            ))
        })?;
    Ok(OfflinePlan {
        version,
        subgraphs,
        offsets: offsets.to_vec(),
    })
}

/// The same model with the operators of its first subgraph in another order and with a
/// plan: the offset in the arena of each tensor in bytes, those of all subgraphs one
/// after the other, constants included; -1 where it is left to the runtime. A plan that
/// the model carries already is replaced, its bytes stay behind unused.
///
/// # Errors
/// When the file is no model or has root fields that are not known; when the order does
/// not name each operator once, has an operator read what is not written yet, or moves
/// operators past one another that keep state; when there are not as many offsets as
/// tensors, or other negative ones than -1; when another subgraph shares the operators,
/// or references would be longer than 32 bits.
pub fn with_plan(
    file: &[u8],
    order: Option<&[OperatorId]>,
    offsets: &[i32],
) -> Result<Vec<u8>, TfliteError> {
    let old = read(file)?;
    check_offsets(&old, offsets)?;
    let graph = old.graphs.first().ok_or(TfliteError::NoSubgraph)?;
    let order = match order {
        Some(order) => {
            check_order(graph, order)?;
            order.to_vec()
        }
        None => graph.file_order(),
    };
    let view = File::new(file);
    let root = view.root()?;
    let mut bytes = front(file, &root, &old, offsets)?;
    let shift = bytes.len();
    bytes.extend_from_slice(file);
    let mut changed = permute(&mut bytes, &root, shift, &order)?;
    changed.extend(shift_outside(&mut bytes, &root, shift)?);
    changed.sort_unstable();
    check_same(file, &bytes, old, &order, &changed)?;
    Ok(bytes)
}

fn check_offsets(model: &Model, offsets: &[i32]) -> Result<(), TfliteError> {
    let tensors: usize = model.graphs.iter().map(|graph| graph.tensors.len()).sum();
    if offsets.len() != tensors {
        return Err(TfliteError::Plan(format!(
            "the plan has {} offsets, but the model has {tensors} tensors in all its subgraphs",
            offsets.len()
        )));
    }
    let wrong = offsets.iter().position(|&offset| offset < UNPLANNED);
    wrong.map_or(Ok(()), |index| {
        Err(TfliteError::Plan(format!(
            "the plan gives tensor {index} the offset {}, expected -1 or at least 0",
            offsets[index]
        )))
    })
}

/// Each operator once, and those that keep state as they were. That nothing is read
/// before it is written is seen when the result is read.
fn check_order(graph: &Graph, order: &[OperatorId]) -> Result<(), TfliteError> {
    let named: BTreeSet<OperatorId> = order.iter().copied().collect();
    let all: BTreeSet<OperatorId> = graph.file_order().into_iter().collect();
    if order.len() != all.len() || named != all {
        return Err(TfliteError::Plan(format!(
            "the order has {} entries, expected each of the {} operators once",
            order.len(),
            all.len()
        )));
    }
    let mut last: BTreeMap<State, OperatorId> = BTreeMap::new();
    for &id in order {
        for state in states(graph, id) {
            if let Some(before) = last.insert(state, id).filter(|&before| before > id) {
                let name = |id: OperatorId| format!("{} {}", id.0, graph.operators[id.0].kind);
                return Err(TfliteError::Plan(format!(
                    "the order has operator {} before operator {}, but both keep state, so that \
                     they have to stay in the model's order",
                    name(before),
                    name(id)
                )));
            }
        }
    }
    Ok(())
}

/// What operators change besides their outputs.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// A variable.
    Tensor(usize),
    /// What is not seen in its tensors.
    Hidden,
}

fn states(graph: &Graph, id: OperatorId) -> Vec<State> {
    let node = &graph.operators[id.0];
    let mut states: Vec<State> = node
        .inputs
        .iter()
        .chain(&node.outputs)
        .filter(|&&tensor| graph.tensor(tensor).storage == Storage::Variable)
        .map(|tensor| State::Tensor(tensor.0))
        .collect();
    states.sort();
    states.dedup();
    if node.kind.has_hidden_state() {
        states.push(State::Hidden);
    }
    states
}

/// The root's fields that are references. The version is a number.
pub(crate) const REFERENCES: [Field; 7] = [
    model::OPERATOR_CODES,
    model::SUBGRAPHS,
    model::DESCRIPTION,
    model::BUFFERS,
    model::METADATA_BUFFER,
    model::METADATA,
    model::SIGNATURE_DEFS,
];

/// What goes in front of the old file.
fn front(file: &[u8], root: &Table, old: &Model, offsets: &[i32]) -> Result<Vec<u8>, TfliteError> {
    check_root_fields(root)?;
    let mut fields = vec![(model::VERSION, Value::Word(root.number(model::VERSION, 0)?))];
    for field in REFERENCES {
        let added = [model::BUFFERS.number, model::METADATA.number].contains(&field.number);
        if added || root.place(field)?.is_some() {
            fields.push((field, Value::Reference));
        }
    }
    let mut front = Layout::new();
    let places = front.table(ROOT, &fields)?;
    // References to parts of the old file, and what begins where they lead there.
    let mut outward = Vec::new();
    let (mut buffers_place, mut metadata_place) = (0, 0);
    for ((field, value), place) in fields.iter().zip(places) {
        match (field.number, value) {
            (number, _) if number == model::BUFFERS.number => buffers_place = place,
            (number, _) if number == model::METADATA.number => metadata_place = place,
            (_, Value::Reference) => {
                if let Some(target) = root.place(*field)? {
                    outward.push((place, target_of(file, target)));
                }
            }
            _ => {}
        }
    }
    let mut buffers = targets(file, root, model::BUFFERS)?;
    let first = usize::from(buffers.is_empty());
    let places = front.references(buffers_place, first + buffers.len() + 1)?;
    if first == 1 {
        // Tensors without data name buffer 0.
        front.table(places[0], &[])?;
    }
    let number = places.len() - 1;
    outward.extend(places[first..number].iter().copied().zip(buffers.drain(..)));
    let data = front.table(places[number], &[(buffer::DATA, Value::Reference)])?;
    front.data(data[0], &contents(old.graphs.len(), offsets))?;

    let kept = targets(file, root, model::METADATA)?;
    let names = old.metadata.iter().map(|entry| entry.name != NAME);
    let kept: Vec<usize> = kept
        .into_iter()
        .zip(names)
        .filter_map(|(target, kept)| kept.then_some(target))
        .collect();
    let places = front.references(metadata_place, kept.len() + 1)?;
    let entry = front.table(
        places[kept.len()],
        &[
            (metadata::NAME, Value::Reference),
            (metadata::BUFFER, Value::Word(number as u32)),
        ],
    )?;
    outward.extend(places.into_iter().zip(kept));
    front.text(entry[0], NAME)?;
    front.align(ALIGNMENT);
    let shift = front.bytes.len();
    for (place, target) in outward {
        front.link(place, shift + target)?;
    }
    Ok(front.bytes)
}

/// The plan's bytes.
fn contents(subgraphs: usize, offsets: &[i32]) -> Vec<u8> {
    // Both are counts of what a file of 32-bit references holds.
    let head = [VERSION, subgraphs as i32, offsets.len() as i32];
    let words = head.iter().chain(offsets);
    words.flat_map(|word| word.to_le_bytes()).collect()
}

/// The root has no fields but those that are carried over.
pub(crate) fn check_root_fields(root: &Table) -> Result<(), TfliteError> {
    let first = model::SIGNATURE_DEFS.number + 1;
    match root.unknown_field(first)? {
        None => Ok(()),
        Some(number) => Err(TfliteError::Plan(format!(
            "the model's root has a field {number}, which is not known and would be lost; known \
             are those below {first}"
        ))),
    }
}

/// Where each reference of a vector leads to.
pub(crate) fn targets(file: &[u8], table: &Table, field: Field) -> Result<Vec<usize>, TfliteError> {
    let span = table.span(field, 4)?;
    let places = span.map_or(0..0, |span| 0..span.count);
    let start = span.map_or(0, |span| span.start);
    Ok(places
        .map(|index| target_of(file, start + 4 * index))
        .collect())
}

/// Where the reference at a place of the file leads to. What leads outside the file was
/// found when the model was read.
pub(crate) fn target_of(file: &[u8], place: usize) -> usize {
    let offset = file.get(place..).and_then(|rest| rest.first_chunk());
    place + offset.map_or(0, |&offset| u32::from_le_bytes(offset) as usize)
}

/// Permutes the references to the first subgraph's operators, and gives their places.
fn permute(
    bytes: &mut [u8],
    root: &Table,
    shift: usize,
    order: &[OperatorId],
) -> Result<Vec<usize>, TfliteError> {
    let mut spans = Vec::new();
    for table in root.tables(model::SUBGRAPHS)? {
        let span = table?.span(subgraph::OPERATORS, 4)?;
        spans.push(span.map_or(0..0, |span| span.start..span.start + 4 * span.count));
    }
    let Some((own, others)) = spans.split_first() else {
        return Ok(Vec::new());
    };
    if order.is_sorted() {
        return Ok(Vec::new());
    }
    if others
        .iter()
        .any(|other| other.start < own.end && own.start < other.end)
    {
        return Err(TfliteError::Plan(
            "two subgraphs share their operators, so that the order of one cannot be changed"
                .to_owned(),
        ));
    }
    let places: Vec<usize> = own.clone().step_by(4).map(|place| shift + place).collect();
    let targets: Vec<usize> = places
        .iter()
        .map(|&place| target_of(bytes, place))
        .collect();
    for (&place, id) in places.iter().zip(order) {
        layout::link(bytes, place, targets[id.0])?;
    }
    Ok(places)
}

/// Data after the flatbuffer are found by their place in the file, which has moved.
/// Gives the places of the fields that say so.
pub(crate) fn shift_outside(
    bytes: &mut [u8],
    root: &Table,
    shift: usize,
) -> Result<BTreeSet<usize>, TfliteError> {
    let mut places = BTreeSet::new();
    for table in root.tables(model::BUFFERS)? {
        let table = table?;
        if table.number::<u64>(buffer::OFFSET, 0)? > 1 {
            places.extend(table.place(buffer::OFFSET)?);
        }
    }
    for subgraph in root.tables(model::SUBGRAPHS)? {
        for table in subgraph?.tables(subgraph::OPERATORS)? {
            let table = table?;
            if table.number::<u64>(operator::LARGE_CUSTOM_OPTIONS_OFFSET, 0)? > 1 {
                places.extend(table.place(operator::LARGE_CUSTOM_OPTIONS_OFFSET)?);
            }
        }
    }
    let places: BTreeSet<usize> = places.into_iter().map(|place| shift + place).collect();
    for &place in &places {
        let field = bytes
            .get_mut(place..)
            .and_then(|rest| rest.first_chunk_mut());
        if let Some(field) = field {
            *field = u64::from_le_bytes(*field)
                .saturating_add(shift as u64)
                .to_le_bytes();
        }
    }
    Ok(places)
}

/// The new file holds what the old one does, but for the order and the plan: the same
/// graphs, and data that are the same bytes, none of which was changed.
fn check_same(
    old_file: &[u8],
    new_file: &[u8],
    old: Model,
    order: &[OperatorId],
    changed: &[usize],
) -> Result<(), TfliteError> {
    let shift = new_file.len() - old_file.len();
    let shifted = |range: &Range<usize>| {
        if range.is_empty() {
            range.clone()
        } else {
            range.start + shift..range.end + shift
        }
    };
    let expected = reordered(old, order);
    let new = read(new_file)?;
    let others = |model: &Model| -> Vec<Metadata> {
        let entries = model.metadata.iter().filter(|entry| entry.name != NAME);
        entries.cloned().collect()
    };
    let mut metadata = others(&expected);
    for entry in &mut metadata {
        entry.bytes = shifted(&entry.bytes);
    }
    let old_view = File::new(old_file);
    let new_view = File::new(new_file);
    let old_contents = Contents::read(&old_view.root()?)?;
    let mut new_contents = Contents::read(&new_view.root()?)?;
    new_contents.buffers.pop();
    let mut buffers: Vec<_> = old_contents
        .buffers
        .iter()
        .map(|range| range.as_ref().map(shifted))
        .collect();
    if buffers.is_empty() {
        buffers.push(None);
    }
    let untouched = |range: &Range<usize>| {
        let next = changed.partition_point(|&place| place + CHANGED_BYTES <= range.start);
        changed.get(next).is_none_or(|&place| place >= range.end)
    };
    let same = new.graphs == expected.graphs
        && new.calls == expected.calls
        && new.description == expected.description
        && others(&new) == metadata
        && new_contents.codes == old_contents.codes
        && new_contents.buffers == buffers
        && buffers.iter().flatten().all(untouched);
    same.then_some(()).ok_or_else(|| {
        TfliteError::Plan(
            "parts of the model overlap one another, so that a plan cannot be added without \
             changing it"
                .to_owned(),
        )
    })
}

/// The model with the first subgraph's operators in another order.
fn reordered(mut model: Model, order: &[OperatorId]) -> Model {
    if let Some(graph) = model.graphs.first_mut() {
        let operators = std::mem::take(&mut graph.operators);
        graph.operators = order.iter().map(|id| operators[id.0].clone()).collect();
    }
    let mut position = vec![OperatorId(0); order.len()];
    for (index, id) in order.iter().enumerate() {
        position[id.0] = OperatorId(index);
    }
    for call in model.calls.iter_mut().filter(|call| call.subgraph == 0) {
        call.operator = position[call.operator.0];
    }
    model
        .calls
        .sort_by_key(|call| (call.subgraph, call.operator));
    model
}
