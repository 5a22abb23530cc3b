//! The operators of an interpreter as layers: by its own loop over them, by the calls of their
//! functions, or by the events that it tells its profiler of. TensorFlow Lite Micro calls `BeginEvent(tag)` before and
//! `EndEvent(handle)` after each, where the tag is the operator's kind. Source of these facts:
//! tensorflow/tflite-micro, `micro_profiler_interface.h` and `micro_interpreter_graph.cc`.
//!
//! `kernels-c/marks/dmo_trace_tflm.h` makes marks of them. Without it, the functions of whatever
//! profiler the firmware has are found by their names.

use crate::elf::image::Image;
use crate::mcu::machine::Machine;
use crate::program::marks::{Mark, MarkError, Marks, read_tag};
use dmo_analysis::firmware::Placed;
use dmo_analysis::trace::{Address, Layer};

/// Why an interpreter's events do not fit the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EventError {
    #[error(
        "nothing tells when an operator begins and ends: the program has neither layer marks nor functions BeginEvent(char const*) and EndEvent\n  hint: give the interpreter a DmoTraceProfiler (kernels-c/marks/dmo_trace_tflm.h, docs/firmware.md)"
    )]
    NoEvents,
    #[error(
        "operator {} of the model is {expected}, and the firmware begins '{given}'{}\n  hint: is it the model that the firmware runs?",
        .index, in_inference(*.inference)
    )]
    OtherOperator {
        index: usize,
        inference: usize,
        expected: String,
        given: String,
    },
    #[error(
        "an inference ended before operator {operator} of {operators}, and another began: does Invoke return an error?"
    )]
    Interrupted { operator: usize, operators: usize },
    #[error(
        "the firmware runs operator {given} of the model where operator {expected} is the next"
    )]
    OutOfOrder { expected: usize, given: usize },
    #[error(
        "operator {index} of the model: its mark has {count} buffers of its own, which --model does not expect"
    )]
    Buffers { index: usize, count: u32 },
    #[error(
        "the program ended ({how}) without running an operator\n  hint: has the interpreter been given its profiler?"
    )]
    NoOperators { how: String },
}

fn in_inference(number: usize) -> String {
    match number {
        0 => String::new(),
        number => format!(" in inference {}", number + 1),
    }
}

/// A model that a firmware's interpreter runs.
#[derive(Debug, Clone)]
pub struct Interpreted {
    /// The model in the firmware's arena.
    pub placed: Placed,
    /// Where its operators begin and end.
    pub events: Events,
}

/// How operators are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// By marks, which return at once.
    Marks,
    /// By a profiler's functions, which do something.
    Profiler,
    /// By the interpreter's own loop over the operators of a model.
    Loop {
        /// The object that stands for the model: the first argument of the loop's function.
        graph: u32,
        /// Inferences after which the run ends, where it is bounded.
        inferences: Option<usize>,
    },
    /// By the calls of the operators' functions, which receive the operators' entries.
    Nodes {
        /// Address of the first operator's entry.
        first: u32,
        /// Inferences after which the run ends, where it is bounded.
        inferences: Option<usize>,
    },
}

/// Bytes of an operator's entry in the runtime's list of them: a `TfLiteNode`, and a pointer to its
/// registration.
pub(super) const NODE_BYTES: u32 = 32;

/// The operator whose entry, of `count` from `first` on, this is.
pub(super) fn node_index(first: u32, count: usize, node: u32) -> Option<usize> {
    let distance = node.checked_sub(first)?;
    let index = (distance / NODE_BYTES) as usize;
    (distance.is_multiple_of(NODE_BYTES) && index < count).then_some(index)
}

/// Where operators begin and end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events {
    /// The functions at which one happens.
    pub marks: Marks,
    /// What these functions are.
    pub kind: EventKind,
}

impl Events {
    /// By the calls of these functions.
    pub fn of_nodes(functions: &[u32], first: u32, inferences: Option<usize>) -> Self {
        Self {
            marks: Marks::of_begins(functions),
            kind: EventKind::Nodes { first, inferences },
        }
    }

    /// The marks of a program, else the functions of its profilers.
    ///
    /// # Errors
    /// When there is neither.
    pub fn find(image: &Image) -> Result<Self, EventError> {
        if let Ok(marks) = Marks::find(image) {
            return Ok(Self {
                marks,
                kind: EventKind::Marks,
            });
        }
        let mut by_address: Vec<(u32, Mark)> = Vec::new();
        for symbol in image.symbols.functions() {
            let mark = match method(&symbol.name) {
                Some("BeginEvent(char const*)") => Mark::Begin,
                Some("EndEvent(unsigned long)" | "EndEvent(unsigned int)") => Mark::End,
                _ => continue,
            };
            if !by_address.contains(&(symbol.address, mark)) {
                by_address.push((symbol.address, mark));
            }
        }
        Ok(Self {
            marks: Marks::of(by_address).ok_or(EventError::NoEvents)?,
            kind: EventKind::Profiler,
        })
    }

    /// Where one may happen.
    pub fn addresses(&self) -> Vec<u32> {
        self.marks.addresses()
    }

    /// Returns `true` if the events are marks, which only return.
    pub fn are_marks(&self) -> bool {
        self.kind == EventKind::Marks
    }

    /// The operator that begins, at the entry of a begin. `begun` counts the operators that have
    /// begun before it.
    ///
    /// # Errors
    /// When its kind is not that of the model's operator.
    pub fn read(
        &self,
        machine: &Machine,
        placed: &Placed,
        begun: usize,
    ) -> Result<Layer, ReadError> {
        let operator = placed.operator(begun);
        let index = operator.0;
        // A method's first argument is the object.
        let tag = if self.are_marks() { 0 } else { 1 };
        let given = read_tag(machine, Address(machine.register(tag)), begun)?;
        let layer = &placed.layer(operator).layer;
        let expected = layer.operator.strip_prefix("CUSTOM:");
        let expected = expected.unwrap_or(&layer.operator);
        if given != expected {
            return Err(EventError::OtherOperator {
                index,
                inference: begun / placed.layers.len(),
                expected: expected.to_owned(),
                given,
            }
            .into());
        }
        let count = machine.register(3);
        if self.are_marks() && count > 0 {
            return Err(EventError::Buffers { index, count }.into());
        }
        Ok(layer.clone())
    }
}

/// Why the operator that begins cannot be told.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ReadError {
    #[error(transparent)]
    Event(#[from] EventError),
    #[error(transparent)]
    Mark(#[from] MarkError),
}

/// `BeginEvent(char const*)` of `tflite::MicroProfiler::BeginEvent(char const*)`. A thunk only
/// leads to the method.
fn method(name: &str) -> Option<&str> {
    let thunk = name.starts_with("non-virtual thunk") || name.starts_with("virtual thunk");
    let (_, method) = name.rsplit_once("::")?;
    (!thunk).then_some(method)
}
