//! Resource variables as tensors that persist from one inference to the next.
//!
//! `VAR_HANDLE` names a variable, `READ_VARIABLE` copies from it, `ASSIGN_VARIABLE` to it, and a
//! subgraph that `CALL_ONCE` runs during the first inference stores what it begins with. TensorFlow
//! Lite Micro keeps variables of one name in one buffer of its own, which first holds the zero point
//! of what is assigned (`kernels/var_handle.cc`, `read_variable.cc`, `assign_variable.cc`,
//! `call_once.cc`, `micro_resource_variable.cc`; tflite-micro 90b983c). Here that buffer becomes a
//! tensor, and the subgraphs that only assign constants become what it begins with.

use super::read::options_of;
use super::schema::{model, options, quantization, subgraph, tensor, var_handle};
use super::view::{File, Table};
use super::{Contents, Model, TfliteError};
use crate::graph::{Graph, GraphTensor, Kernel, Kind, Node, Storage, TensorId};
use crate::operator::{Opaque, Operator};
use std::collections::BTreeMap;

/// A model whose resource variables are tensors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WithVariables {
    /// The first subgraph, with a tensor for each variable after its own. Operators that read or
    /// assign a variable name that tensor, not a handle. What is read and used before the variable
    /// is assigned again is not copied first: its users name the variable. `VAR_HANDLE`, `CALL_ONCE`
    /// and such a `READ_VARIABLE` have no tensors, and nothing is left for them to do.
    pub graph: Graph,
    /// The variables that stand for tensors to which they would have been copied.
    pub read_in_place: BTreeMap<TensorId, TensorId>,
    /// What each variable holds before the first inference.
    pub initial: BTreeMap<TensorId, Vec<u8>>,
}

/// What all variables have at most.
const MOST_BYTES: u64 = 32 << 20;

/// Why resource variables cannot be tensors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum VariableError {
    #[error(transparent)]
    Tflite(#[from] TfliteError),
    #[error(
        "{place} runs other subgraphs; of such operators only CALL_ONCE of the first subgraph is known"
    )]
    Control { place: String },
    #[error("nothing runs subgraph {subgraph}")]
    NotRun { subgraph: usize },
    #[error("{place} is run by CALL_ONCE, where only constants may be assigned to variables")]
    NotConstant { place: String },
    #[error("{place} assigns a constant in every inference, for which no code is made")]
    Constant { place: String },
    #[error(
        "{place} takes a handle that no VAR_HANDLE before it has given, or does more with it than read or assign a variable"
    )]
    Handle { place: String },
    #[error(
        "the variables have more than {MOST_BYTES} bytes in all, and no microcontroller has as many"
    )]
    TooLarge,
    #[error("{place} comes before CALL_ONCE, which stores what the variable begins with")]
    TooEarly { place: String },
    #[error("variable \"{name}\" is never assigned, so that nobody knows its size")]
    NotAssigned { name: String },
    #[error(
        "variable \"{name}\" has {expected} where it is assigned first, and {given} at {place}"
    )]
    Sizes {
        name: String,
        expected: String,
        given: String,
        place: String,
    },
    #[error(
        "variables of two containers have the name \"{name}\", which TensorFlow Lite Micro may take for one"
    )]
    Containers { name: String },
}

impl Model {
    /// The model as one graph in which resource variables are tensors that persist; `None` if it
    /// has none.
    ///
    /// # Errors
    /// When another subgraph does more than say what variables begin with, or it is not certain
    /// which variable an operator means, or how large it is.
    pub fn with_variables(&self, file: &[u8]) -> Result<Option<WithVariables>, VariableError> {
        let mut nodes = self.graphs.iter().flat_map(|graph| &graph.operators);
        if !nodes.any(|node| node.kind == Kind::VarHandle) {
            return Ok(None);
        }
        self.ensure_only_initialised()?;
        let view = File::new(file);
        let root = view.root()?;
        let contents = Contents::read(&root)?;
        let mut subgraphs = Vec::new();
        let tables = root.tables(model::SUBGRAPHS)?;
        for (index, (graph, table)) in self.graphs.iter().zip(tables).enumerate() {
            subgraphs.push(Subgraph::read(index, graph, &table?)?);
        }
        let mut variables = Variables::default();
        for subgraph in &subgraphs {
            variables.declare(subgraph)?;
        }
        let Some(main) = subgraphs.first() else {
            return Ok(None);
        };
        let mut graph = main.graph.clone();
        let first = graph.tensors.len();
        let mut initial = variables.defaults()?;
        for variable in &variables.all {
            graph.tensors.push(variable.value()?.tensor.clone());
        }
        graph.operators = variables.operators(main)?;
        let read_in_place = read_in_place(&graph);
        for node in &mut graph.operators {
            take_in_place(node, &read_in_place);
        }
        let callees = self.calls.iter().flat_map(|call| &call.callees);
        for subgraph in callees.filter_map(|&callee| subgraphs.get(callee)) {
            for (variable, data) in variables.assigned(subgraph, &contents)? {
                initial[variable] = file.get(data).unwrap_or_default().to_vec();
            }
        }
        let initial = (first..).map(TensorId).zip(initial).collect();
        Ok(Some(WithVariables {
            graph,
            read_in_place,
            initial,
        }))
    }

    /// Each subgraph but the first is run by a `CALL_ONCE` of the first.
    fn ensure_only_initialised(&self) -> Result<(), VariableError> {
        for call in &self.calls {
            let kind = &self.graphs[call.subgraph].operators[call.operator.0].kind;
            if *kind != Kind::CallOnce || call.subgraph != 0 {
                let place = place(call.subgraph, call.operator.0, kind);
                return Err(VariableError::Control { place });
            }
        }
        let is_run = |index: usize| self.calls.iter().any(|it| it.callees.contains(&index));
        match (1..self.graphs.len()).find(|&index| !is_run(index)) {
            Some(subgraph) => Err(VariableError::NotRun { subgraph }),
            None => Ok(()),
        }
    }
}

fn place(subgraph: usize, operator: usize, kind: &Kind) -> String {
    format!("operator {operator} {kind} of subgraph {subgraph}")
}

/// A subgraph, and its tables in the file.
struct Subgraph<'a> {
    index: usize,
    graph: &'a Graph,
    tensors: Vec<Table<'a>>,
    operators: Vec<Table<'a>>,
}

impl<'a> Subgraph<'a> {
    fn read(index: usize, graph: &'a Graph, table: &Table<'a>) -> Result<Self, TfliteError> {
        let tables = |field| table.tables(field)?.collect::<Result<Vec<_>, _>>();
        Ok(Self {
            index,
            graph,
            tensors: tables(subgraph::TENSORS)?,
            operators: tables(subgraph::OPERATORS)?,
        })
    }

    fn nodes(&self) -> impl Iterator<Item = (&'a Node, String)> {
        let index = self.index;
        let nodes = self.graph.operators.iter().enumerate();
        nodes.map(move |(number, node)| (node, place(index, number, &node.kind)))
    }
}

/// What is assigned to a variable first, which decides how large it is.
struct Value {
    /// The variable as a tensor.
    tensor: GraphTensor,
    /// The byte that fills it before anything is assigned.
    default: u8,
    /// The operator that assigns it.
    place: String,
}

/// A variable.
struct Variable {
    container: String,
    name: String,
    value: Option<Value>,
}

impl Variable {
    fn value(&self) -> Result<&Value, VariableError> {
        self.value
            .as_ref()
            .ok_or_else(|| VariableError::NotAssigned {
                name: self.name.escape_debug().to_string(),
            })
    }
}

/// The variables of a model.
#[derive(Default)]
struct Variables {
    all: Vec<Variable>,
    /// Which of them a handle stands for, by subgraph and tensor.
    handles: BTreeMap<(usize, TensorId), usize>,
}

impl Variables {
    /// The variables of a subgraph, as the runtime finds them while it prepares the operators one
    /// after the other.
    fn declare(&mut self, subgraph: &Subgraph) -> Result<(), VariableError> {
        for ((node, place), table) in subgraph.nodes().zip(&subgraph.operators) {
            match node.kind {
                Kind::VarHandle => {
                    let [handle] = node.outputs[..] else {
                        return Err(VariableError::Handle { place });
                    };
                    let variable = self.named(table, &place)?;
                    let before = self.handles.insert((subgraph.index, handle), variable);
                    if before.is_some_and(|before| before != variable) {
                        return Err(VariableError::Handle { place });
                    }
                }
                Kind::AssignVariable => {
                    let (variable, value) = self.assignment(subgraph, node, &place)?;
                    let variable = &mut self.all[variable];
                    if variable.value.is_none() {
                        variable.value = Some(value_of(subgraph, value, &variable.name, place)?);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What each variable holds before anything is assigned.
    fn defaults(&self) -> Result<Vec<Vec<u8>>, VariableError> {
        let values = self.all.iter().map(Variable::value);
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let sizes = values.iter().map(|value| value.tensor.size_bytes);
        if sizes.fold(0, u64::saturating_add) > MOST_BYTES {
            return Err(VariableError::TooLarge);
        }
        let filled = |value: &&Value| vec![value.default; value.tensor.size_bytes as usize];
        Ok(values.iter().map(filled).collect())
    }

    /// The variable that a `VAR_HANDLE` names.
    fn named(&mut self, operator: &Table, place: &str) -> Result<usize, VariableError> {
        let options = options_of(operator)?;
        let Some((options::VAR_HANDLE, table)) = options else {
            return Err(TfliteError::damaged(format!("{place} names no variable")).into());
        };
        let container = table.text(var_handle::CONTAINER)?;
        let name = table.text(var_handle::SHARED_NAME)?;
        match self.all.iter().position(|known| known.name == name) {
            Some(known) if self.all[known].container != container => {
                let name = name.escape_debug().to_string();
                Err(VariableError::Containers { name })
            }
            Some(known) => Ok(known),
            None => {
                self.all.push(Variable {
                    container,
                    name,
                    value: None,
                });
                Ok(self.all.len() - 1)
            }
        }
    }

    /// The variable of a handle, which the operator may do nothing else with.
    fn of(
        &self,
        subgraph: &Subgraph,
        handle: TensorId,
        place: &str,
    ) -> Result<usize, VariableError> {
        let variable = self.handles.get(&(subgraph.index, handle)).copied();
        variable.ok_or_else(|| VariableError::Handle {
            place: place.to_owned(),
        })
    }

    /// The variable that an `ASSIGN_VARIABLE` assigns, and the tensor.
    fn assignment(
        &self,
        subgraph: &Subgraph,
        node: &Node,
        place: &str,
    ) -> Result<(usize, TensorId), VariableError> {
        match node.inputs[..] {
            [handle, value] if node.outputs.is_empty() => {
                Ok((self.of(subgraph, handle, place)?, value))
            }
            _ => Err(VariableError::Handle {
                place: place.to_owned(),
            }),
        }
    }

    /// The operators of the first subgraph, with tensors instead of handles.
    fn operators(&self, main: &Subgraph) -> Result<Vec<Node>, VariableError> {
        let mut first_use = None;
        let is_handle = |id: &TensorId| self.handles.contains_key(&(main.index, *id));
        let mut ends = main.graph.inputs.iter().chain(&main.graph.outputs);
        if ends.any(is_handle) {
            let place = "an input or output of the model".to_owned();
            return Err(VariableError::Handle { place });
        }
        let operators = main.nodes().map(|(node, place)| {
            let (variable, value, is_read) = match (&node.kind, &node.inputs[..], &node.outputs[..])
            {
                (Kind::VarHandle, _, _) => {
                    return Ok(Node {
                        outputs: Vec::new(),
                        ..node.clone()
                    });
                }
                (Kind::CallOnce, ..) => {
                    return match first_use.take() {
                        Some(place) => Err(VariableError::TooEarly { place }),
                        None => Ok(node.clone()),
                    };
                }
                (Kind::ReadVariable, &[handle], &[value]) => {
                    (self.of(main, handle, &place)?, value, true)
                }
                (Kind::AssignVariable, ..) => {
                    let (variable, value) = self.assignment(main, node, &place)?;
                    (variable, value, false)
                }
                (_, inputs, outputs) if inputs.iter().chain(outputs).any(is_handle) => {
                    return Err(VariableError::Handle { place });
                }
                _ => return Ok(node.clone()),
            };
            if main.graph.tensor(value).storage == Storage::Constant {
                return Err(VariableError::Constant { place });
            }
            self.ensure_alike(variable, main.graph.tensor(value), &place)?;
            first_use.get_or_insert(place);
            let tensor = TensorId(main.graph.tensors.len() + variable);
            let (from, to) = if is_read {
                (tensor, value)
            } else {
                (value, tensor)
            };
            Ok(copy(node, main.graph.tensor(value).size_bytes, from, to))
        });
        operators.collect()
    }

    /// What a subgraph that is run once assigns to which variables, as bytes of the file.
    fn assigned(
        &self,
        subgraph: &Subgraph,
        contents: &Contents,
    ) -> Result<Vec<(usize, std::ops::Range<usize>)>, VariableError> {
        let mut assigned = Vec::new();
        for (node, place) in subgraph.nodes() {
            match node.kind {
                Kind::VarHandle => continue,
                Kind::AssignVariable => {}
                _ => return Err(VariableError::NotConstant { place }),
            }
            let (variable, value) = self.assignment(subgraph, node, &place)?;
            let known = subgraph.graph.tensor(value);
            self.ensure_alike(variable, known, &place)?;
            let buffer = subgraph.tensors[value.0].number::<u32>(tensor::BUFFER, 0)?;
            let data = contents.buffer(buffer, || place.clone())?;
            let data = data.filter(|data| {
                known.storage == Storage::Constant && data.len() as u64 == known.size_bytes
            });
            let data = data.ok_or(VariableError::NotConstant { place })?;
            assigned.push((variable, data));
        }
        Ok(assigned)
    }

    /// What is copied from or to a variable has its size and type.
    fn ensure_alike(
        &self,
        variable: usize,
        given: &GraphTensor,
        place: &str,
    ) -> Result<(), VariableError> {
        let variable = &self.all[variable];
        let value = variable.value()?;
        let known = (&value.tensor.element_type, value.tensor.size_bytes);
        if known == (&given.element_type, given.size_bytes) {
            return Ok(());
        }
        let said =
            |tensor: &GraphTensor| format!("{} of {}", tensor.extents(), tensor.element_type);
        Err(VariableError::Sizes {
            name: variable.name.escape_debug().to_string(),
            expected: said(&value.tensor),
            given: said(given),
            place: format!("{place} ({} is the first)", value.place),
        })
    }
}

fn value_of(
    subgraph: &Subgraph,
    value: TensorId,
    name: &str,
    place: String,
) -> Result<Value, TfliteError> {
    let known = subgraph.graph.tensor(value);
    let quantised = subgraph.tensors[value.0].table(tensor::QUANTIZATION)?;
    let mut zero_point = 0;
    if let Some(table) = quantised
        && table
            .span(quantization::SCALE, 4)?
            .is_some_and(|it| it.count > 0)
    {
        let zero_points = table.long_integers(quantization::ZERO_POINT)?;
        zero_point = zero_points.first().copied().unwrap_or(0);
    }
    Ok(Value {
        tensor: GraphTensor {
            name: name.to_owned(),
            storage: Storage::Variable,
            ..known.clone()
        },
        // The runtime fills it with this byte, whatever the type.
        default: zero_point as u8,
        place,
    })
}

/// A variable is read or assigned by copying all of it.
fn copy(node: &Node, size_bytes: u64, from: TensorId, to: TensorId) -> Node {
    let bytes = u32::try_from(size_bytes).ok();
    let kernel = bytes.map(|bytes| Kernel {
        operator: Operator::Opaque(Opaque {
            inputs: vec![bytes],
            outputs: vec![bytes],
        }),
        inputs: vec![from],
        outputs: vec![to],
    });
    Node {
        kind: node.kind.clone(),
        inputs: vec![from],
        outputs: vec![to],
        kernel,
        scratch_bytes: Vec::new(),
    }
}

/// The tensors that only hold what a variable holds as long as they are used, each with the variable.
fn read_in_place(graph: &Graph) -> BTreeMap<TensorId, TensorId> {
    let nodes = || graph.operators.iter().enumerate();
    let reads = nodes().filter(|(_, node)| node.kind == Kind::ReadVariable);
    let pairs = reads.filter_map(|(index, node)| {
        let (&[variable], &[value]) = (&node.inputs[..], &node.outputs[..]) else {
            return None;
        };
        let later = || nodes().skip(index + 1);
        let assigned = later().find(|(_, node)| node.outputs.contains(&variable));
        let mut used = later().filter(|(_, node)| node.inputs.contains(&value));
        // Where the operator that assigns it reads it too, it may store before it loads.
        let is_used_before = used
            .next_back()
            .is_none_or(|(last, _)| assigned.is_none_or(|(assigned, _)| last < assigned));
        // An operator has to know it as its state.
        let is_state = nodes().any(|(_, node)| node.outputs.contains(&variable));
        (is_used_before && is_state && !graph.outputs.contains(&value)).then_some((value, variable))
    });
    pairs.collect()
}

/// Names variables in place of the tensors that would be copies of them.
fn take_in_place(node: &mut Node, read_in_place: &BTreeMap<TensorId, TensorId>) {
    if node.kind == Kind::ReadVariable
        && node
            .outputs
            .iter()
            .all(|value| read_in_place.contains_key(value))
    {
        (node.inputs, node.outputs, node.kernel) = (Vec::new(), Vec::new(), None);
        return;
    }
    let inputs = node.kernel.iter_mut().flat_map(|kernel| &mut kernel.inputs);
    for input in node.inputs.iter_mut().chain(inputs) {
        *input = read_in_place.get(input).copied().unwrap_or(*input);
    }
}
