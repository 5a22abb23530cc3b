//! A graph, checked: who produces and who reads each tensor, and what has to run before
//! what.

use super::{CountedEnds, ScheduleError};
use crate::graph::{Graph, OperatorId, Storage, TensorId};

/// A tensor's part in the flow of data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TensorFlow {
    /// What it takes of the arena, in bytes: 0 when it lies elsewhere or is not counted.
    pub bytes: u64,
    /// The operator that writes it.
    pub producer: Option<OperatorId>,
    /// The operators that read it, each once, in the file's order.
    pub readers: Vec<OperatorId>,
    /// Whether it is there before the first step: an input of the graph, or a tensor that
    /// no operator writes though it is read or is an output of the graph.
    pub given: bool,
    /// Whether the application reads it after the last step.
    pub kept: bool,
}

impl TensorFlow {
    /// Whether anything needs it after the step that produces it.
    pub fn needed(&self) -> bool {
        self.kept || !self.readers.is_empty()
    }
}

/// An operator's part in the flow of data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OperatorFlow {
    /// Tensors of the arena that it reads, each once ([`Graph::arena_inputs`]).
    pub inputs: Vec<TensorId>,
    /// Tensors of the arena that it writes, each once ([`Graph::arena_outputs`]).
    pub outputs: Vec<TensorId>,
    /// Its scratch buffers together, in bytes.
    pub scratch_bytes: u64,
    /// Operators that have to run before it, each once: those that write its inputs, and
    /// the last that touched the same variable or hidden state. All are earlier in the
    /// file.
    pub predecessors: Vec<OperatorId>,
    /// The operators that it is a predecessor of.
    pub successors: Vec<OperatorId>,
}

/// The flow of data through a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataflow {
    /// One for each of the graph's tensors.
    pub tensors: Vec<TensorFlow>,
    /// One for each of the graph's operators.
    pub operators: Vec<OperatorFlow>,
}

impl Dataflow {
    /// Checks the graph.
    ///
    /// # Errors
    /// When a tensor does not exist or has two producers, when the file's order is not one
    /// in which the operators can run, and when the sizes exceed 64 bits.
    pub fn new(graph: &Graph, ends: CountedEnds) -> Result<Self, ScheduleError> {
        check_tensors(graph)?;
        check_sizes(graph)?;
        let mut flow = Self {
            tensors: vec![TensorFlow::default(); graph.tensors.len()],
            operators: graph
                .operators
                .iter()
                .map(|node| OperatorFlow {
                    inputs: graph.arena_inputs(node),
                    outputs: graph.arena_outputs(node),
                    scratch_bytes: node.scratch_bytes.iter().sum(),
                    ..OperatorFlow::default()
                })
                .collect(),
        };
        flow.link_tensors(graph)?;
        flow.count(graph, ends);
        flow.link_operators(graph);
        Ok(flow)
    }

    /// The tensor.
    pub fn tensor(&self, id: TensorId) -> &TensorFlow {
        &self.tensors[id.0]
    }

    /// The operator.
    pub fn operator(&self, id: OperatorId) -> &OperatorFlow {
        &self.operators[id.0]
    }

    /// Given tensors that nothing needs: they are in memory in the first step only.
    pub fn unneeded_given_bytes(&self) -> u64 {
        let unneeded = |tensor: &&TensorFlow| tensor.given && !tensor.needed();
        self.tensors
            .iter()
            .filter(unneeded)
            .map(|tensor| tensor.bytes)
            .sum()
    }

    /// The step of each operator.
    ///
    /// # Errors
    /// When the order is not a permutation of the operators, or one runs before another
    /// that it depends on.
    pub fn steps(&self, order: &[OperatorId]) -> Result<Vec<usize>, ScheduleError> {
        let expected = self.operators.len();
        let mut steps = vec![None; expected];
        for (step, &operator) in order.iter().enumerate() {
            match steps.get_mut(operator.0) {
                None => {
                    return Err(ScheduleError::NoSuchOperator {
                        step,
                        operator,
                        limit: expected,
                    });
                }
                Some(&mut Some(first)) => {
                    return Err(ScheduleError::Repeated {
                        operator,
                        first,
                        second: step,
                    });
                }
                Some(free) => *free = Some(step),
            }
            let early = |needs: &&OperatorId| steps.get(needs.0).is_none_or(Option::is_none);
            if let Some(&needs) = self.operator(operator).predecessors.iter().find(early) {
                return Err(ScheduleError::TooEarly {
                    operator,
                    step,
                    needs,
                });
            }
        }
        let steps: Vec<usize> = steps.into_iter().flatten().collect();
        if steps.len() == expected {
            Ok(steps)
        } else {
            Err(ScheduleError::OrderLength {
                given: order.len(),
                expected,
            })
        }
    }

    fn link_tensors(&mut self, graph: &Graph) -> Result<(), ScheduleError> {
        for (index, operator) in self.operators.iter().enumerate() {
            let operator_id = OperatorId(index);
            for &tensor in &operator.outputs {
                let producer = &mut self.tensors[tensor.0].producer;
                if let Some(first) = *producer {
                    return Err(ScheduleError::TwoProducers {
                        tensor,
                        first,
                        second: operator_id,
                    });
                }
                *producer = Some(operator_id);
            }
            for &tensor in &operator.inputs {
                self.tensors[tensor.0].readers.push(operator_id);
            }
        }
        let mut is_input = vec![false; graph.tensors.len()];
        for input in &graph.inputs {
            is_input[input.0] = true;
        }
        for (index, flow) in self.tensors.iter().enumerate() {
            let tensor = TensorId(index);
            let Some(producer) = flow.producer else {
                continue;
            };
            if is_input[index] {
                return Err(ScheduleError::InputWritten {
                    operator: producer,
                    tensor,
                });
            }
            if let Some(&operator) = flow.readers.first()
                && operator <= producer
            {
                return Err(ScheduleError::ReadBeforeWritten {
                    operator,
                    tensor,
                    producer,
                });
            }
        }
        Ok(())
    }

    fn count(&mut self, graph: &Graph, ends: CountedEnds) {
        for (flow, tensor) in self.tensors.iter_mut().zip(&graph.tensors) {
            if tensor.storage == Storage::Arena {
                flow.bytes = tensor.size_bytes;
                flow.given = flow.producer.is_none() && !flow.readers.is_empty();
            }
        }
        let in_arena = |id: &&TensorId| graph.in_arena(**id);
        for id in graph.outputs.iter().filter(in_arena) {
            let flow = &mut self.tensors[id.0];
            flow.kept = true;
            flow.given = flow.producer.is_none();
            if !ends.count_graph_outputs {
                flow.bytes = 0;
            }
        }
        for id in graph.inputs.iter().filter(in_arena) {
            let flow = &mut self.tensors[id.0];
            flow.given = true;
            if !ends.count_graph_inputs {
                flow.bytes = 0;
            }
        }
    }

    fn link_operators(&mut self, graph: &Graph) {
        let mut last_touched: Vec<Option<usize>> = vec![None; graph.tensors.len()];
        let mut last_hidden: Option<usize> = None;
        for (index, node) in graph.operators.iter().enumerate() {
            let tensors = &self.tensors;
            let mut predecessors: Vec<usize> = self.operators[index]
                .inputs
                .iter()
                .filter_map(|input| tensors[input.0].producer)
                .map(|producer| producer.0)
                .collect();
            for tensor in node.inputs.iter().chain(&node.outputs) {
                if graph.tensor(*tensor).storage == Storage::Variable {
                    let last = last_touched[tensor.0].replace(index);
                    predecessors.extend(last.filter(|&last| last != index));
                }
            }
            if node.kind.has_hidden_state() {
                predecessors.extend(last_hidden.replace(index));
            }
            predecessors.sort_unstable();
            predecessors.dedup();
            for &predecessor in &predecessors {
                self.operators[predecessor]
                    .successors
                    .push(OperatorId(index));
            }
            self.operators[index].predecessors = predecessors.into_iter().map(OperatorId).collect();
        }
    }
}

fn check_tensors(graph: &Graph) -> Result<(), ScheduleError> {
    let limit = graph.tensors.len();
    let check =
        |ids: &[TensorId], place: &dyn Fn() -> String| match ids.iter().find(|id| id.0 >= limit) {
            None => Ok(()),
            Some(&tensor) => Err(ScheduleError::NoSuchTensor {
                place: place(),
                tensor,
                limit,
            }),
        };
    for (index, node) in graph.operators.iter().enumerate() {
        check(&node.inputs, &|| format!("an input of operator {index}"))?;
        check(&node.outputs, &|| format!("an output of operator {index}"))?;
    }
    check(&graph.inputs, &|| "an input of the graph".into())?;
    check(&graph.outputs, &|| "an output of the graph".into())
}

/// From here on sums of sizes do not overflow.
fn check_sizes(graph: &Graph) -> Result<(), ScheduleError> {
    let tensors = graph.tensors.iter().map(|tensor| tensor.size_bytes);
    let scratch = graph.operators.iter().flat_map(|node| &node.scratch_bytes);
    tensors
        .chain(scratch.copied())
        .try_fold(0, u64::checked_add)
        .map(|_| ())
        .ok_or(ScheduleError::TooLarge)
}
