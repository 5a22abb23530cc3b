//! Models over a sliding window of time that compute only what is new.
//!
//! The application stores the newest rows, and the model keeps what later inferences need: in front
//! of an operator whose windows reach back in time, a circular buffer holds the last rows of its
//! input. From the inference on in which a whole window has been stored, the outputs are those of
//! the model on that window, bit for bit: every element is computed by the same operator from the
//! same elements.
//!
//! An operator is not changed where it needs the whole window, such as one that pads in time, whose
//! borders move with the window; a buffer keeps all of its input. What follows it is as it was.
//!
//! | file | what it holds |
//! |---|---|
//! | `stream/rows.rs` | which rows an operator computes anew |

mod rows;

use super::macs;
use crate::graph::parameters::Parameters;
use crate::graph::tflite::edit::{BufferEdit, Cut, Edits, TensorEdit, edited, names_shape};
use crate::graph::tflite::{self, TfliteError};
use crate::graph::{Graph, Kind, Node, OperatorId, Storage, TensorId, TensorType};
use crate::operator::Operator;
use crate::wording::{counted, grouped};
use rows::{Rows, Step};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A model that takes only the newest rows of its window.
#[derive(Debug, Clone)]
pub struct Streamed {
    /// The model's file.
    pub file: Vec<u8>,
    /// What was made of it.
    pub report: StreamReport,
}

/// What was made of a model.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct StreamReport {
    /// The model's input.
    pub input: TensorId,
    /// The axis of time in its shape.
    pub axis: usize,
    /// Rows of the window.
    pub window_rows: u32,
    /// Rows of it that each inference takes, the newest ones.
    pub new_rows: u32,
    /// Inferences after which the outputs are those of a whole window.
    pub warm_up: u32,
    /// What is kept from one inference to the next.
    pub buffers: Vec<BufferedRows>,
    /// Operators that take a whole window.
    pub whole: Vec<WholeOperator>,
    /// Multiply-accumulates of an inference, before.
    pub macs_before: u64,
    /// The same, after.
    pub macs_after: u64,
}

impl StreamReport {
    /// Bytes that are kept from one inference to the next.
    pub fn state_bytes(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.bytes).sum()
    }
}

/// The last rows of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct BufferedRows {
    /// The tensor's name.
    pub tensor: String,
    /// How many rows are kept.
    pub rows: u32,
    /// Their size.
    pub bytes: u64,
}

/// An operator that runs on the whole window, and why.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct WholeOperator {
    /// The operator.
    pub operator: OperatorId,
    /// Its kind.
    pub kind: Kind,
    /// Why.
    pub reason: &'static str,
}

/// More rows are no window of a microcontroller.
const MOST_ROWS: u32 = 1 << 20;

/// Why a model cannot take its input in rows.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StreamError {
    #[error("the model has {subgraphs} subgraphs, expected 1")]
    Subgraphs { subgraphs: usize },
    #[error("the model has {inputs} inputs, expected 1: the window over time")]
    Inputs { inputs: usize },
    #[error("the input is a single element, which is no window over time")]
    NoWindow,
    #[error("the input has {window} rows, at most {MOST_ROWS} are taken", window = grouped(u64::from(*window)))]
    LargeWindow { window: u32 },
    #[error(
        "--rows {given}: the input has shape {shape:?}, a window of {window} rows\n  hint: at least 1 and \
         at most {}",
        window - 1
    )]
    NewRows {
        given: u32,
        window: u32,
        shape: Vec<u32>,
    },
    #[error(
        "operator {} {kind} keeps something from one inference to the next, so that the model is no \
         function of its window",
        operator.0
    )]
    State { operator: OperatorId, kind: Kind },
    #[error(
        "{tensor} has elements of type {given}; rows of it cannot be kept: CIRCULAR_BUFFER takes INT8"
    )]
    ElementType { tensor: String, given: TensorType },
    #[error(
        "with {} nothing can be reused: {} multiply-accumulates as on a whole window{}\n  hint: a layer can take new \
         rows where it does not pad in time, as one that is trained with padding VALID there",
        counted((*new_rows).into(), "new row", "new rows"),
        grouped(*before),
        first(whole)
    )]
    Nothing {
        before: u64,
        new_rows: u32,
        whole: Vec<WholeOperator>,
    },
    #[error("operator {} {kind} is read as another one", operator.0)]
    ReadAnew { operator: OperatorId, kind: Kind },
    #[error(transparent)]
    Tflite(#[from] TfliteError),
}

fn first(whole: &[WholeOperator]) -> String {
    whole.first().map_or_else(String::new, |it| {
        let (operator, kind) = (it.operator.0, &it.kind);
        format!(
            "; operator {operator} {kind} needs the whole window: {}",
            it.reason
        )
    })
}

/// Makes a model that takes only the `new_rows` newest rows of its window over time, the first axis
/// of its input that has more than one element.
///
/// # Errors
/// When the file is no model of one subgraph with one window, something of it cannot be written
/// anew, or nothing can be reused.
pub fn stream(file: &[u8], new_rows: u32) -> Result<Streamed, StreamError> {
    let old = tflite::read(file)?;
    let [graph] = &old.graphs[..] else {
        return Err(StreamError::Subgraphs {
            subgraphs: old.graphs.len(),
        });
    };
    let (input, rows) = window(graph, new_rows)?;
    ensure_stateless(graph)?;
    let plan = Plan::new(graph, input, rows);
    plan.ensure_int8()?;
    let edits = plan.edits(file)?;
    let new = edited(file, &edits)?;
    let read = tflite::read(&new)?;
    let after = read.graphs.first().ok_or(TfliteError::NoSubgraph)?;
    plan.ensure_read(after)?;
    let (macs_before, macs_after) = (macs::of_graph(graph), macs::of_graph(after));
    if macs_after >= macs_before {
        return Err(StreamError::Nothing {
            before: macs_before,
            new_rows,
            whole: plan.whole,
        });
    }
    let report = StreamReport {
        input,
        axis: rows.axis,
        window_rows: rows.window,
        new_rows,
        warm_up: rows.window.div_ceil(new_rows) - 1,
        buffers: plan.buffered(),
        whole: plan.whole,
        macs_before,
        macs_after,
    };
    Ok(Streamed { file: new, report })
}

fn window(graph: &Graph, new_rows: u32) -> Result<(TensorId, Rows), StreamError> {
    let mut inputs = graph.inputs.clone();
    inputs.retain(|&id| graph.in_arena(id));
    let [input] = inputs[..] else {
        let inputs = inputs.len();
        return Err(StreamError::Inputs { inputs });
    };
    let shape = &graph.tensor(input).shape;
    let rows = Rows::of_input(shape, new_rows).ok_or(StreamError::NoWindow)?;
    if rows.window > MOST_ROWS {
        return Err(StreamError::LargeWindow {
            window: rows.window,
        });
    }
    if new_rows == 0 || new_rows >= rows.window {
        return Err(StreamError::NewRows {
            given: new_rows,
            window: rows.window,
            shape: shape.clone(),
        });
    }
    Ok((input, rows))
}

fn ensure_stateless(graph: &Graph) -> Result<(), StreamError> {
    let keeps = |node: &Node| {
        let mut tensors = node.inputs.iter().chain(&node.outputs);
        let is_variable = |&id: &TensorId| graph.tensor(id).storage == Storage::Variable;
        node.kind.has_hidden_state() || node.kind.is_unknown() || tensors.any(is_variable)
    };
    match graph.operators.iter().position(keeps) {
        None => Ok(()),
        Some(index) => Err(StreamError::State {
            operator: OperatorId(index),
            kind: graph.operators[index].kind.clone(),
        }),
    }
}

/// What becomes of each tensor.
struct Plan<'g> {
    graph: &'g Graph,
    /// Tensors of which only new rows are computed.
    rows: BTreeMap<TensorId, Rows>,
    /// The rows that operators want of them, more than the new ones: by tensor and their number the
    /// operators.
    kept: BTreeMap<(TensorId, u32), Vec<OperatorId>>,
    whole: Vec<WholeOperator>,
}

impl<'g> Plan<'g> {
    fn new(graph: &'g Graph, input: TensorId, rows: Rows) -> Self {
        let mut plan = Self {
            graph,
            rows: BTreeMap::from([(input, rows)]),
            kept: BTreeMap::new(),
            whole: Vec::new(),
        };
        for (index, node) in graph.operators.iter().enumerate() {
            plan.add(OperatorId(index), node);
        }
        plan
    }

    fn add(&mut self, operator: OperatorId, node: &Node) {
        let inputs = node.inputs.iter().map(|id| self.rows.get(id).copied());
        let inputs: Vec<Option<Rows>> = inputs.collect();
        if inputs.iter().all(Option::is_none) {
            return;
        }
        let mut step = rows::step(self.graph, node, &inputs);
        if let (Step::New { stored, .. }, [output]) = (step, &node.outputs[..])
            && !stored.fits(&self.graph.tensor(*output).shape)
        {
            step = Step::Whole("its output has its rows elsewhere");
        }
        for (id, rows) in node.inputs.iter().zip(&inputs) {
            let Some(rows) = rows else { continue };
            let read = match step {
                Step::New { read, .. } => read,
                Step::Whole(_) | Step::Last => rows.window,
            };
            if read > rows.new {
                let operators = self.kept.entry((*id, read)).or_default();
                operators.push(operator);
            }
        }
        match step {
            Step::New { stored, .. } => {
                let outputs = node.outputs.iter().map(|&output| (output, stored));
                self.rows.extend(outputs);
            }
            Step::Whole(reason) => self.whole.push(WholeOperator {
                operator,
                kind: node.kind.clone(),
                reason,
            }),
            Step::Last => {}
        }
    }

    fn ensure_int8(&self) -> Result<(), StreamError> {
        let kept = self.kept.keys().map(|(id, _)| self.graph.tensor(*id));
        let mut others = kept.filter(|tensor| tensor.element_type != TensorType::Int8);
        match others.next() {
            None => Ok(()),
            Some(tensor) => Err(StreamError::ElementType {
                tensor: tensor.name.escape_debug().to_string(),
                given: tensor.element_type,
            }),
        }
    }

    fn edits(&self, file: &[u8]) -> Result<Edits, TfliteError> {
        let mut edits = Edits::default();
        for (&id, rows) in &self.rows {
            let cuts = vec![first_rows(rows.axis, rows.new)];
            let edit = TensorEdit { cuts, data: None };
            edits.tensors.insert(id, edit);
        }
        let parameters = tflite::parameters(file, 0)?;
        let nodes = self.graph.operators.iter().zip(&parameters).enumerate();
        for (index, (node, known)) in nodes.filter(|(_, (node, _))| node.kind == Kind::Reshape) {
            self.reshape(&mut edits, OperatorId(index), node, known.as_ref().ok())?;
        }
        edits.settle(&self.graph.uses());
        for ((of, read), operators) in &self.kept {
            let Some(&before) = operators.first() else {
                continue;
            };
            edits.buffers.push(BufferEdit {
                of: *of,
                cut: first_rows(self.rows[of].axis, *read),
                before,
                readers: operators.clone(),
            });
        }
        edits.buffers.sort_by_key(|buffer| buffer.before);
        Ok(edits)
    }

    /// An operator whose output has new rows names its shape.
    fn reshape(
        &self,
        edits: &mut Edits,
        operator: OperatorId,
        node: &Node,
        parameters: Option<&Parameters>,
    ) -> Result<(), TfliteError> {
        const SHAPE: usize = 1;
        let of_rows = |output: &TensorId| Some((*output, self.rows.get(output)?));
        let Some((output, rows)) = node.outputs.first().and_then(of_rows) else {
            return Ok(());
        };
        let mut shape = self.graph.tensor(output).shape.clone();
        shape[rows.axis] = rows.new;
        let named = match node.inputs.get(SHAPE) {
            None => None,
            Some(&tensor) => {
                let constant = parameters.and_then(|known| known.constant(SHAPE));
                let constant = constant.filter(|it| names_shape(it, shape.len()));
                let unknown = || {
                    let operator = operator.0;
                    TfliteError::Plan(format!(
                        "operator {operator} RESHAPE names its shape in a way that is not known"
                    ))
                };
                Some((SHAPE, tensor, constant.ok_or_else(unknown)?))
            }
        };
        let shape = shape.into_iter().map(|extent| extent as i32);
        edits.reshape(operator, shape.collect(), named);
        Ok(())
    }

    fn buffered(&self) -> Vec<BufferedRows> {
        let kept = self.kept.keys().map(|(id, rows)| {
            let tensor = self.graph.tensor(*id);
            let row_bytes = tensor.size_bytes / u64::from(self.rows[id].window);
            BufferedRows {
                tensor: tensor.name.clone(),
                rows: *rows,
                bytes: row_bytes * u64::from(*rows),
            }
        });
        kept.collect()
    }

    /// Windows have no padding in time, and the same taps, as the file is read anew.
    fn ensure_read(&self, after: &Graph) -> Result<(), StreamError> {
        let nodes = after.operators.iter();
        let nodes = nodes.filter(|node| node.kind != Kind::CircularBuffer);
        for (index, (old, new)) in self.graph.operators.iter().zip(nodes).enumerate() {
            let rows = old.outputs.first().and_then(|output| self.rows.get(output));
            let is_same = match rows {
                None => {
                    old.kernel.as_ref().map(|it| &it.operator)
                        == new.kernel.as_ref().map(|it| &it.operator)
                }
                Some(rows) => keeps_window(old, new, rows.axis),
            };
            if !is_same {
                return Err(StreamError::ReadAnew {
                    operator: OperatorId(index),
                    kind: old.kind.clone(),
                });
            }
        }
        Ok(())
    }
}

/// Which rows does not matter where there are no data.
fn first_rows(axis: usize, rows: u32) -> Cut {
    Cut {
        axis,
        kept: (0..rows).collect(),
    }
}

fn keeps_window(old: &Node, new: &Node, axis: usize) -> bool {
    let window = |node: &Node| {
        let operator = &node.kernel.as_ref()?.operator;
        operator.windowed()
    };
    match (window(old), window(new)) {
        (None, None) => {
            let discriminant = |node: &Node| {
                let kernel = node.kernel.as_ref();
                kernel.map(|kernel| std::mem::discriminant::<Operator>(&kernel.operator))
            };
            discriminant(old) == discriminant(new)
        }
        (Some((old, ..)), Some((new, input, output))) => {
            let over = axis.wrapping_sub(1);
            let [taps, stride, dilation] =
                [new.kernel, new.stride, new.dilation].map(|of| of.get(over).copied().unwrap_or(0));
            let reach = u64::from(output[axis].saturating_sub(1)) * u64::from(stride)
                + u64::from(taps.saturating_sub(1)) * u64::from(dilation);
            old == new && over < 2 && reach < u64::from(input[axis])
        }
        _ => false,
    }
}
