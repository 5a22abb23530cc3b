//! A subgraph as a graph.

use super::draft::{Draft, tensor_name};
use super::ethos_u::Accelerated;
use super::lower::{self, FileNode};
use super::schema::{self, call, call_once, if_, operator, options, while_};
use super::view::Table;
use super::{Call, Contents, TfliteError, catalogue, used};
use crate::graph::{Graph, Kind, Node, OperatorId, Storage, TensorId};
use std::collections::BTreeSet;
use std::ops::Range;

/// A subgraph as it is read.
pub(super) struct Subgraph {
    pub graph: Graph,
    /// What its operators call.
    pub calls: Vec<Call>,
    /// Those that an accelerator runs.
    pub accelerated: Vec<Accelerated>,
}

/// Reads a subgraph.
pub(super) fn subgraph(
    file: &[u8],
    contents: &Contents,
    table: &Table,
    index: usize,
    subgraphs: usize,
) -> Result<Subgraph, TfliteError> {
    let draft = Draft::all(contents, table, index)?;
    let mut graph = Graph {
        name: table.text(schema::subgraph::NAME)?,
        tensors: draft.iter().map(Draft::tensor).collect(),
        ..Graph::default()
    };
    let ids = |field| {
        let place = || format!("subgraph {index}");
        tensor_ids(&table.integers(field)?, draft.len(), place)
    };
    graph.inputs = present(ids(schema::subgraph::INPUTS)?);
    graph.outputs = present(ids(schema::subgraph::OUTPUTS)?);
    let constant = graph
        .tensors
        .iter()
        .map(|tensor| tensor.storage != Storage::Arena);
    let mut written: Vec<bool> = constant.collect();
    for id in &graph.inputs {
        written[id.0] = true;
    }
    let (mut calls, mut accelerated) = (Vec::new(), Vec::new());
    for (number, entry) in table.tables(schema::subgraph::OPERATORS)?.enumerate() {
        let entry = entry?;
        let code = entry.number::<u32>(operator::OPCODE_INDEX, 0)?;
        let place = || format!("operator {number} of subgraph {index}");
        let kind = contents.code(code, place)?;
        // The name of a custom operator may be long, and shared by many.
        entry.charge(kind.name().len())?;
        let place = || format!("{} {kind}", place());
        let inputs = tensor_ids(&entry.integers(operator::INPUTS)?, draft.len(), place)?;
        let outputs = tensor_ids(&entry.integers(operator::OUTPUTS)?, draft.len(), place)?;
        accelerated.extend(Accelerated::of(kind.name(), OperatorId(number), &inputs));
        let (inputs, outputs) = if kind.is_custom() {
            working_memory(inputs, outputs, |id| written[id.0])
        } else {
            (inputs, outputs)
        };
        let options = options_of(&entry)?;
        let callees = callees(kind, options.as_ref(), subgraphs, place)?;
        if !callees.is_empty() {
            calls.push(Call {
                subgraph: index,
                operator: OperatorId(number),
                callees,
            });
        }
        if *kind == Kind::VarHandle {
            // TensorFlow Lite Micro points at the number in the operator's own data.
            for id in outputs.iter().flatten() {
                graph.tensors[id.0].storage = Storage::Variable;
            }
        }
        graph.operators.push(Node {
            kind: kind.clone(),
            inputs: present(inputs.clone()),
            outputs: present(outputs),
            kernel: None,
            scratch_bytes: Vec::new(),
        });
        let data = |id: TensorId| Some(&file[draft[id.0].data.clone()?]);
        let scales = |id: TensorId| draft[id.0].scales;
        let node = &graph.operators[number];
        let row = catalogue::row(kind);
        let file_node = FileNode {
            kind,
            tensors: &graph.tensors,
            inputs: &inputs,
            outputs: &node.outputs,
            scales: &scales,
            data: &data,
            options: options
                .filter(|&(number, _)| number == row.options)
                .map(|(_, table)| table),
            custom_options: custom_options_of(&entry)?.and_then(|range| file.get(range)),
        };
        let first = inputs.first().copied().flatten();
        let takes = first.is_none_or(|id| catalogue::takes(kind, graph.tensors[id.0].element_type));
        let lower = row.lower.filter(|_| takes);
        let kernel = lower.and_then(|find| lower::kernel(&file_node, find));
        let scratch_bytes = (row.scratch)(&file_node).unwrap_or_default();
        let node = &mut graph.operators[number];
        (node.kernel, node.scratch_bytes) = (kernel, scratch_bytes);
        for id in &node.outputs {
            written[id.0] = true;
        }
    }
    check_flow(&graph, index)?;
    let absent = |id: TensorId| accelerated.iter().any(|it| it.is_absent(id, &graph));
    used::check(&graph, &draft, absent, index)?;
    Ok(Subgraph {
        graph,
        calls,
        accelerated,
    })
}

/// Indices as ids; none for -1, which stands for an optional tensor that is absent.
pub(super) fn tensor_ids(
    indices: &[i32],
    count: usize,
    place: impl Fn() -> String,
) -> Result<Vec<Option<TensorId>>, TfliteError> {
    let id = |&index: &i32| match usize::try_from(index) {
        Ok(index) if index < count => Ok(Some(TensorId(index))),
        _ if index == -1 => Ok(None),
        _ => Err(TfliteError::Index {
            place: place(),
            what: "tensor",
            given: i64::from(index),
            count,
        }),
    };
    indices.iter().map(id).collect()
}

fn present(ids: Vec<Option<TensorId>>) -> Vec<TensorId> {
    ids.into_iter().flatten().collect()
}

type Ids = Vec<Option<TensorId>>;

/// Operators of accelerators name memory to work in among their inputs, which nothing has
/// written: it counts as an output.
fn working_memory(
    inputs: Ids,
    mut outputs: Ids,
    is_written: impl Fn(TensorId) -> bool,
) -> (Ids, Ids) {
    let (memory, inputs): (Ids, Ids) = inputs
        .into_iter()
        .partition(|id| id.is_some_and(|id| !is_written(id)));
    let mut known: BTreeSet<Option<TensorId>> = outputs.iter().copied().collect();
    outputs.extend(memory.into_iter().filter(|&id| known.insert(id)));
    (inputs, outputs)
}

/// The options of an operator and their type.
pub(super) fn options_of<'a>(entry: &Table<'a>) -> Result<Option<(u8, Table<'a>)>, TfliteError> {
    let options_type = entry.number::<u8>(operator::OPTIONS_TYPE, 0)?;
    if options_type == 0 {
        return Ok(None);
    }
    let options = entry.table(operator::OPTIONS)?;
    Ok(options.map(|options| (options_type, options)))
}

/// Where the options of a custom operator are.
pub(super) fn custom_options_of(entry: &Table) -> Result<Option<Range<usize>>, TfliteError> {
    entry.bytes(operator::CUSTOM_OPTIONS)
}

/// The subgraphs that an operator runs.
fn callees(
    kind: &Kind,
    options: Option<&(u8, Table)>,
    subgraphs: usize,
    place: impl Fn() -> String,
) -> Result<Vec<usize>, TfliteError> {
    let (wanted, fields): (u8, &[schema::Field]) = match kind {
        Kind::Call => (options::CALL, &[call::SUBGRAPH]),
        Kind::If => (options::IF, &[if_::THEN_SUBGRAPH, if_::ELSE_SUBGRAPH]),
        Kind::While => (
            options::WHILE,
            &[while_::COND_SUBGRAPH, while_::BODY_SUBGRAPH],
        ),
        Kind::CallOnce => (options::CALL_ONCE, &[call_once::INIT_SUBGRAPH]),
        _ => return Ok(Vec::new()),
    };
    let Some((_, table)) = options.filter(|(given, _)| *given == wanted) else {
        return Err(TfliteError::damaged(format!(
            "{} does not say which subgraph it runs",
            place()
        )));
    };
    let callee = |&field| {
        let given = table.number::<i32>(field, 0)?;
        usize::try_from(given)
            .ok()
            .filter(|&index| index < subgraphs)
            .ok_or_else(|| TfliteError::Index {
                place: place(),
                what: "subgraph",
                given: i64::from(given),
                count: subgraphs,
            })
    };
    fields.iter().map(callee).collect()
}

/// Each tensor is written once, before it is read.
fn check_flow(graph: &Graph, subgraph: usize) -> Result<(), TfliteError> {
    let name = |id: TensorId| tensor_name(graph, id, subgraph);
    let mut writers: Vec<Option<String>> = graph
        .tensors
        .iter()
        .map(|tensor| match tensor.storage {
            Storage::Arena | Storage::Application => None,
            Storage::Constant => Some("is a constant".to_owned()),
            Storage::Variable => Some(String::new()),
        })
        .collect();
    for &id in &graph.inputs {
        writers[id.0].get_or_insert_with(|| "is an input of the subgraph".to_owned());
    }
    let read = |id: TensorId, writers: &[Option<String>], place: &dyn Fn() -> String| match writers
        [id.0]
    {
        Some(_) => Ok(()),
        None => Err(TfliteError::NotWritten {
            place: place(),
            tensor: name(id),
        }),
    };
    for (number, node) in graph.operators.iter().enumerate() {
        let place = || format!("operator {number} {} of subgraph {subgraph}", node.kind);
        for &id in &node.inputs {
            read(id, &writers, &place)?;
        }
        for &id in &node.outputs {
            let variable = graph.tensor(id).storage == Storage::Variable;
            if let Some(before) = writers[id.0].as_ref().filter(|_| !variable) {
                return Err(TfliteError::WrittenAgain {
                    place: place(),
                    tensor: name(id),
                    before: before.clone(),
                });
            }
            writers[id.0] = Some(format!("operator {number} has written"));
        }
    }
    let place = || format!("the caller of subgraph {subgraph}");
    let mut outputs = graph.outputs.iter();
    outputs.try_for_each(|&id| read(id, &writers, &place))
}
