//! All subgraphs of a model as one graph, for planning them together.
//!
//! `IF`, `WHILE` and `CALL_ONCE` run other subgraphs. TensorFlow Lite Micro copies between the
//! operator's tensors and those of the subgraph (`kernels/if.cc`, `while.cc`, `call_once.cc`), and
//! lays out all subgraphs in one arena (`micro_allocation_info.cc`; tflite-micro 90b983c). Here such
//! an operator becomes several, which stand for the moments when bytes change hands:
//!
//! ```text
//! IF c, x -> y              begin  reads c, x     writes y
//!   then: a -> b            enter  reads c, x, y  writes a
//!                           ...    operators of the subgraph
//!                           leave  reads c, x, y and b
//!   else: d -> e            enter  reads c, x, y  writes d
//!                           ...
//!                           leave  reads c, x, y and e
//! ```
//!
//! So the operator's tensors are in use while its subgraphs run, those of one subgraph and those of
//! the next are not in use together, and none of these steps grants an overlap. Whatever an
//! inference runs is a part of this sequence or a repetition of parts between which nothing but the
//! operator's own tensors has to last.
//!
//! A subgraph that is run from several places is one step at each of them, at which all its tensors
//! are in use, and these stay in use from the first of these steps to the last.

use super::{Call, Model, TfliteError};
use crate::graph::{Graph, Kernel, Kind, Node, OperatorId, Storage, TensorId};
use std::collections::{BTreeMap, BTreeSet};

/// Subgraphs that run one another, at most.
const MOST_DEPTH: usize = 64;
/// Operands of all steps, at most.
const MOST_OPERANDS: usize = 1 << 22;

/// The subgraphs of a model as one graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Linked {
    /// The tensors of all subgraphs one after the other, as plans in model files count them, and
    /// the steps in an order in which they run.
    pub graph: Graph,
    /// What each of the graph's operators is in the file.
    pub steps: Vec<Step>,
    /// The first of each subgraph's tensors.
    pub first_tensors: Vec<usize>,
}

/// An operator of a [`Linked`] graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Step {
    /// Index of the subgraph.
    pub subgraph: usize,
    /// The operator in the subgraph.
    pub operator: OperatorId,
    /// What of the operator.
    pub part: Part,
}

/// What a step is of its operator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// Of one that runs subgraphs: bytes are copied from the first tensor of each pair to the
    /// second, and nothing else happens.
    Copy(Vec<(TensorId, TensorId)>),
    /// Of one that runs subgraphs: a subgraph that others run too, from its first operator to its
    /// last, with the scratch buffers of these; or what the operands do not say.
    Opaque(Vec<ScratchOf>),
}

/// A scratch buffer of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScratchOf {
    /// Index of the operator's subgraph.
    pub subgraph: usize,
    /// The operator.
    pub operator: OperatorId,
    /// Which of [`Node::scratch_bytes`].
    pub index: usize,
}

impl Model {
    /// All subgraphs as one graph.
    ///
    /// # Errors
    /// When they run one another without end or more than 64 deep, or from so many places that
    /// there are more than 4,194,304 operands in all.
    pub fn linked(&self) -> Result<Linked, TfliteError> {
        let callees = callees(self);
        let runs = runs(&callees)?;
        let mut first_tensors = Vec::new();
        let mut graph = Graph::default();
        for subgraph in &self.graphs {
            let first = graph.tensors.len();
            let shifted = |id: TensorId| TensorId(id.0 + first);
            first_tensors.push(first);
            graph.tensors.extend(subgraph.tensors.iter().cloned());
            let views = subgraph.views.iter().map(|(&id, view)| {
                let mut view = *view;
                view.of = shifted(view.of);
                (shifted(id), view)
            });
            graph.views.extend(views);
        }
        if let Some(main) = self.graphs.first() {
            graph.name.clone_from(&main.name);
            graph.inputs.clone_from(&main.inputs);
            graph.outputs.clone_from(&main.outputs);
        }
        let mut linker = Linker {
            model: self,
            calls: (self.calls.iter())
                .map(|call| ((call.subgraph, call.operator), call))
                .collect(),
            callees,
            runs,
            is_stored: vec![false; graph.tensors.len()],
            operands: 0,
            linked: Linked {
                graph,
                steps: Vec::new(),
                first_tensors,
            },
        };
        linker.run(0)?;
        Ok(linker.linked)
    }
}

/// The subgraphs that each subgraph runs, one for each time that it does.
fn callees(model: &Model) -> Vec<Vec<usize>> {
    let mut callees = vec![Vec::new(); model.graphs.len()];
    for call in &model.calls {
        if let Some(of_caller) = callees.get_mut(call.subgraph) {
            of_caller.extend(call.callees.iter().copied());
        }
    }
    callees
}

/// From how many places each subgraph is run; places that are never reached do not count.
fn runs(callees: &[Vec<usize>]) -> Result<Vec<u64>, TfliteError> {
    let mut order = Vec::new();
    let mut state = vec![Visit::New; callees.len()];
    visit(0, 0, callees, &mut state, &mut order)?;
    let mut runs = vec![0u64; callees.len()];
    if let Some(first) = runs.first_mut() {
        *first = 1;
    }
    for &caller in order.iter().rev() {
        for &callee in &callees[caller] {
            runs[callee] = runs[callee].saturating_add(runs[caller]);
        }
    }
    Ok(runs)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Callees before their callers.
fn visit(
    subgraph: usize,
    depth: usize,
    callees: &[Vec<usize>],
    state: &mut [Visit],
    order: &mut Vec<usize>,
) -> Result<(), TfliteError> {
    let endless = || TfliteError::Calls { depth: MOST_DEPTH };
    match state.get(subgraph) {
        None | Some(Visit::Done) => return Ok(()),
        Some(Visit::Open) => return Err(endless()),
        Some(Visit::New) if depth >= MOST_DEPTH => return Err(endless()),
        Some(Visit::New) => state[subgraph] = Visit::Open,
    }
    for &callee in &callees[subgraph] {
        visit(callee, depth + 1, callees, state, order)?;
    }
    state[subgraph] = Visit::Done;
    order.push(subgraph);
    Ok(())
}

struct Linker<'a> {
    model: &'a Model,
    /// What each operator runs, by its subgraph and itself.
    calls: BTreeMap<(usize, OperatorId), &'a Call>,
    /// What each subgraph runs.
    callees: Vec<Vec<usize>>,
    /// From how many places each subgraph is run.
    runs: Vec<u64>,
    /// Of each tensor, whether a step has stored it.
    is_stored: Vec<bool>,
    operands: usize,
    linked: Linked,
}

/// An operator that runs subgraphs, with tensors of the linked graph.
struct Caller<'a> {
    subgraph: usize,
    operator: OperatorId,
    kind: &'a Kind,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
}

impl Caller<'_> {
    /// What is in use while its subgraphs run.
    fn held(&self) -> Vec<TensorId> {
        self.inputs.iter().chain(&self.outputs).copied().collect()
    }

    /// What it passes to the subgraph at this position among those that it runs.
    fn passed(&self, position: usize) -> &[TensorId] {
        match self.kind {
            Kind::If => self.inputs.get(1..).unwrap_or_default(),
            Kind::While if position > 0 => &self.outputs,
            _ => &self.inputs,
        }
    }

    /// What it takes from it: of a loop's condition, nothing that is copied.
    fn taken(&self, position: usize) -> &[TensorId] {
        match self.kind {
            Kind::While if position == 0 => &[],
            _ => &self.outputs,
        }
    }
}

impl<'a> Linker<'a> {
    fn shifted(&self, subgraph: usize, ids: &[TensorId]) -> Vec<TensorId> {
        let first = self.linked.first_tensors[subgraph];
        ids.iter().map(|id| TensorId(first + id.0)).collect()
    }

    /// The steps of a subgraph.
    fn run(&mut self, index: usize) -> Result<(), TfliteError> {
        let model = self.model;
        let Some(subgraph) = model.graphs.get(index) else {
            return Ok(());
        };
        for (number, node) in subgraph.operators.iter().enumerate() {
            let operator = OperatorId(number);
            let (inputs, outputs) = (
                self.shifted(index, &node.inputs),
                self.shifted(index, &node.outputs),
            );
            let caller = Caller {
                subgraph: index,
                operator,
                kind: &node.kind,
                inputs,
                outputs,
            };
            if let Some(&call) = self.calls.get(&(index, operator)) {
                self.call(&caller, &call.callees)?;
                continue;
            }
            let kernel = node.kernel.as_ref().map(|kernel| Kernel {
                operator: kernel.operator.clone(),
                inputs: self.shifted(index, &kernel.inputs),
                outputs: self.shifted(index, &kernel.outputs),
            });
            let whole = Node {
                kind: node.kind.clone(),
                inputs: caller.inputs.clone(),
                outputs: caller.outputs.clone(),
                kernel,
                scratch_bytes: node.scratch_bytes.clone(),
            };
            self.push(&caller, Part::Whole, whole)?;
        }
        Ok(())
    }

    /// The steps of an operator that runs subgraphs, and theirs.
    fn call(&mut self, caller: &Caller, callees: &[usize]) -> Result<(), TfliteError> {
        let is_shared = |callee: &usize| self.runs.get(*callee).is_none_or(|&runs| runs > 1);
        let begin = match caller.kind {
            // The loop's values, from which its body goes on.
            Kind::While => self.copies(&caller.inputs, &caller.outputs),
            // What a branch gives that is one step is not seen.
            _ if callees.iter().any(is_shared) => Part::Opaque(Vec::new()),
            _ => Part::Copy(Vec::new()),
        };
        let held = caller.held();
        self.step(caller, begin, caller.inputs.clone(), caller.outputs.clone())?;
        for (position, &callee) in callees.iter().enumerate() {
            if self.runs.get(callee).is_none_or(|&runs| runs > 1) {
                self.run_opaque(caller, callee)?;
                continue;
            }
            let model = self.model;
            let inputs = self.shifted(callee, &model.graphs[callee].inputs);
            let outputs = self.shifted(callee, &model.graphs[callee].outputs);
            let enter = match caller.kind {
                Kind::CallOnce => Part::Copy(Vec::new()),
                _ => self.copies(caller.passed(position), &inputs),
            };
            self.step(caller, enter, held.clone(), inputs)?;
            self.run(callee)?;
            let taken = caller.taken(position);
            let leave = match caller.kind {
                Kind::CallOnce => Part::Copy(Vec::new()),
                // What a subgraph does not give is not copied.
                _ if outputs.is_empty() || taken.is_empty() => Part::Copy(Vec::new()),
                _ => self.copies(&outputs, taken),
            };
            let reads = held.iter().chain(&outputs).copied().collect();
            self.step(caller, leave, reads, Vec::new())?;
        }
        Ok(())
    }

    /// A subgraph that is run from several places, and all that it runs.
    fn run_opaque(&mut self, caller: &Caller, callee: usize) -> Result<(), TfliteError> {
        let mut reached = BTreeSet::new();
        let mut open = vec![callee];
        while let Some(index) = open.pop() {
            if index < self.model.graphs.len() && reached.insert(index) {
                self.charge(self.callees[index].len())?;
                open.extend(&self.callees[index]);
            }
        }
        let (mut inputs, mut outputs) = (caller.held(), Vec::new());
        let (mut scratch, mut scratch_bytes) = (Vec::new(), Vec::new());
        for index in reached {
            let model = self.model;
            let subgraph = &model.graphs[index];
            let nodes = subgraph.operators.iter();
            self.charge(nodes.len())?;
            for (number, node) in nodes.clone().enumerate() {
                scratch_bytes.extend(&node.scratch_bytes);
                scratch.extend((0..node.scratch_bytes.len()).map(|position| ScratchOf {
                    subgraph: index,
                    operator: OperatorId(number),
                    index: position,
                }));
            }
            let used = nodes.flat_map(|node| node.inputs.iter().chain(&node.outputs));
            let used = used.chain(&subgraph.inputs).chain(&subgraph.outputs);
            let used: BTreeSet<TensorId> = used.copied().collect();
            for id in self.shifted(index, &used.into_iter().collect::<Vec<_>>()) {
                if self.linked.graph.tensor(id).storage != Storage::Arena || self.is_stored[id.0] {
                    inputs.push(id);
                } else {
                    outputs.push(id);
                }
            }
        }
        let node = Node {
            kind: caller.kind.clone(),
            inputs,
            outputs,
            kernel: None,
            scratch_bytes,
        };
        self.push(caller, Part::Opaque(scratch), node)
    }

    fn step(
        &mut self,
        caller: &Caller,
        part: Part,
        inputs: Vec<TensorId>,
        outputs: Vec<TensorId>,
    ) -> Result<(), TfliteError> {
        let node = Node {
            kind: caller.kind.clone(),
            inputs,
            outputs,
            kernel: None,
            scratch_bytes: Vec::new(),
        };
        self.push(caller, part, node)
    }

    fn push(&mut self, caller: &Caller, part: Part, node: Node) -> Result<(), TfliteError> {
        self.charge(node.inputs.len() + node.outputs.len() + node.scratch_bytes.len())?;
        for id in &node.outputs {
            self.is_stored[id.0] = true;
        }
        self.linked.graph.operators.push(node);
        self.linked.steps.push(Step {
            subgraph: caller.subgraph,
            operator: caller.operator,
            part,
        });
        Ok(())
    }

    /// Counts what is listed at a step.
    fn charge(&mut self, operands: usize) -> Result<(), TfliteError> {
        self.operands = self.operands.saturating_add(operands);
        if self.operands > MOST_OPERANDS {
            return Err(TfliteError::Operands {
                limit: MOST_OPERANDS,
            });
        }
        Ok(())
    }

    /// Each of the one to each of the other, if they are of the same types and sizes.
    fn copies(&self, from: &[TensorId], to: &[TensorId]) -> Part {
        let graph = &self.linked.graph;
        let alike = |(&from, &to): (&TensorId, &TensorId)| {
            let (from, to) = (graph.tensor(from), graph.tensor(to));
            from.size_bytes == to.size_bytes
                && from.element_type == to.element_type
                && to.storage == Storage::Arena
        };
        if from.len() == to.len() && from.iter().zip(to).all(alike) {
            Part::Copy(from.iter().copied().zip(to.iter().copied()).collect())
        } else {
            Part::Opaque(Vec::new())
        }
    }
}

impl Linked {
    /// The scratch buffers of each operator of each subgraph: those of the model, of operators that
    /// are steps of their own those that they have in `graph`, which is the linked graph with other
    /// scratch buffers.
    pub fn scratch_bytes(&self, model: &Model, graph: &Graph) -> Vec<Vec<Vec<u64>>> {
        let of_subgraph = |subgraph: &Graph| {
            let nodes = subgraph.operators.iter();
            nodes.map(|node| node.scratch_bytes.clone()).collect()
        };
        let mut scratch: Vec<Vec<Vec<u64>>> = model.graphs.iter().map(of_subgraph).collect();
        for (step, node) in self.steps.iter().zip(&graph.operators) {
            if step.part == Part::Whole {
                scratch[step.subgraph][step.operator.0].clone_from(&node.scratch_bytes);
            }
        }
        scratch
    }

    /// The scratch buffer of the file that a step's is; `None` if the step has no such buffer.
    pub fn scratch_of(&self, step: OperatorId, index: usize) -> Option<ScratchOf> {
        let step = self.steps.get(step.0)?;
        match &step.part {
            Part::Whole => Some(ScratchOf {
                subgraph: step.subgraph,
                operator: step.operator,
                index,
            }),
            Part::Copy(_) => None,
            Part::Opaque(scratch) => scratch.get(index).copied(),
        }
    }
}
