//! Why an input overlaps an output no further: the store and the later load that forbid it, as
//! the machine executes them.
//!
//! The profile knows which accesses they are and when. The same thing runs again, and the
//! machine is inspected just before each of them.

mod code;
mod reasons;
mod snapshot;

pub use code::Instruction;
pub use snapshot::{Snapshot, SnapshotCollector, snapshot_program};

use crate::elf::debug::{Frame, Function, Value, Variable};
use crate::elf::image::Image;
use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::ExecutionPoint;
use dmo_analysis::operator::Shape;
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::profile::{LayerProfile, Pair, Refusal};
use dmo_analysis::trace::{AccessKind, Address, ElementType, Tensor, Time};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Why an input overlaps an output no further.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Explanation {
    /// Number of the layer among those of the program, from 0.
    pub layer: usize,
    /// Name.
    pub name: String,
    /// Its operator.
    pub operator: String,
    /// Number of the pair among those of the layer, from 1.
    pub pair: usize,
    /// The input.
    pub input: Buffer,
    /// The output.
    pub output: Buffer,
    /// O_s in bytes: what may be relied on.
    pub safe_overlap_bytes: u32,
    /// The overlap that the trace alone would allow, in bytes.
    pub observed_overlap_bytes: u32,
    /// The least `input_start - output_start` that the trace allows together with all larger
    /// ones.
    pub displacement_bytes: u32,
    /// Why no overlap is granted.
    pub refusals: Vec<Refusal>,
    /// The store that forbids a smaller displacement; `None` if nothing does.
    pub store: Option<Bound>,
    /// The later load.
    pub load: Option<Bound>,
    /// The explanation in sentences.
    pub why: Vec<String>,
}

/// A buffer of the pair.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Buffer {
    /// Name.
    pub name: String,
    /// Length in bytes.
    pub size_bytes: u32,
    /// Type of its elements.
    pub element_type: ElementType,
    /// Shape, if it is known.
    pub shape: Option<Shape>,
}

/// One of the two accesses.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Bound {
    /// When, in executed instructions.
    pub time: Time,
    /// Address of the instruction.
    pub pc: Address,
    /// First byte, counted from the start of the buffer.
    pub offset: u32,
    /// Number of bytes.
    pub size_bytes: u32,
    /// The byte that the two accesses would share: the store's last, the load's first.
    pub byte: u32,
    /// The element that this byte belongs to.
    pub element: u32,
    /// The element's place in the buffer's shape.
    pub coordinates: Option<Shape>,
    /// The instructions around it.
    pub code: Vec<Instruction>,
    /// The lines around its own in the source file; `None` until a caller, who may read files,
    /// fills it in.
    pub source: Option<Vec<SourceLine>>,
    /// The calls that lead to it, innermost first.
    pub calls: Vec<CallInProgress>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct SourceLine {
    /// Line number, from 1.
    pub number: u32,
    /// Text of the line.
    pub text: String,
    /// `true` for the line of the instruction.
    pub binds: bool,
}

/// A call that has not returned.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct CallInProgress {
    /// An address in the instruction, or in the call that leads to it.
    pub pc: Address,
    /// First the function that is inlined most deeply there, last the one whose code it is.
    pub functions: Vec<Function>,
    /// `true` if the call began within the layer.
    pub in_layer: bool,
    /// The variables, those of the loop nest first.
    pub variables: Vec<Local>,
}

/// A variable, and what it is to the loop nest.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Local {
    /// The variable.
    #[serde(flatten)]
    pub variable: Variable,
    /// `true` if it has another value at the other access; `None` if one of the values is unknown.
    pub changes: Option<bool>,
    /// It changes, or belongs to a block within its function.
    pub in_loop_nest: bool,
}

/// Why there is no explanation.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ExplainError {
    #[error("there is no pair {given}\n  hint: the layer '{layer}' has {count}")]
    NoPair {
        given: usize,
        layer: String,
        count: usize,
    },
    #[error(
        "the program did something else when it ran again: the {what} at {pc}, time {time}, is not made"
    )]
    NotSeen {
        what: &'static str,
        pc: Address,
        time: Time,
    },
}

/// A pair of a layer that is to be explained.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Number of the layer, from 0.
    pub number: usize,
    /// The layer.
    pub layer: &'a LayerProfile,
    /// Number of its pair, from 1.
    pub pair: usize,
    /// Extents of input and output, where they are known.
    pub shapes: Option<[Shape; 2]>,
}

impl Bound {
    /// File and line of the instruction, where the program has debug information.
    pub fn place(&self) -> Option<(&str, u32)> {
        let innermost = self.calls.first()?.functions.first()?;
        Some((innermost.file.as_deref()?, innermost.line?))
    }
}

impl<'a> Question<'a> {
    fn pair(&self) -> Result<&'a Pair, ExplainError> {
        self.pair
            .checked_sub(1)
            .and_then(|index| self.layer.pairs.get(index))
            .ok_or_else(|| ExplainError::NoPair {
                given: self.pair,
                layer: self.layer.name.clone(),
                count: self.layer.pairs.len(),
            })
    }

    /// When to look at the machine; nothing where nothing binds.
    ///
    /// # Errors
    /// When the layer has no such pair.
    pub fn points(&self) -> Result<Vec<ExecutionPoint>, ExplainError> {
        let binding = self.pair()?.binding.into_iter();
        Ok(binding
            .flat_map(|binding| [binding.store, binding.load])
            .map(|access| point(&access))
            .collect())
    }

    /// The explanation, given what was seen at these points.
    ///
    /// # Errors
    /// When there is no such pair, or an access was not seen.
    pub fn answer(
        &self,
        seen: &BTreeMap<ExecutionPoint, Snapshot>,
        image: &Image,
    ) -> Result<Explanation, ExplainError> {
        let pair = self.pair()?;
        let [input, output] =
            [pair.input, pair.output].map(|index| &self.layer.tensors[index].tensor);
        let shapes = self.shapes.map_or([None, None], |shapes| shapes.map(Some));
        let mut explanation = Explanation {
            layer: self.number,
            name: self.layer.name.clone(),
            operator: self.layer.operator.clone(),
            pair: self.pair,
            input: buffer(input, shapes[0]),
            output: buffer(output, shapes[1]),
            safe_overlap_bytes: pair.safe_overlap_bytes,
            observed_overlap_bytes: pair.observed_overlap_bytes,
            displacement_bytes: pair.displacement_bytes,
            refusals: pair.refusals.clone(),
            store: None,
            load: None,
            why: Vec::new(),
        };
        if let Some(binding) = &pair.binding {
            let (store, load) = (binding.store, binding.load);
            let find = |access: &Access, kind: AccessKind, tensor: &Tensor| {
                seen.get(&point(access))
                    .filter(|seen| seen.makes(access, kind, tensor))
                    .ok_or(ExplainError::NotSeen {
                        what: kind.name(),
                        pc: access.pc,
                        time: access.time,
                    })
            };
            let at_store = find(&store, AccessKind::Store, output)?;
            let at_load = find(&load, AccessKind::Load, input)?;
            let last = store.offset + store.size_bytes - 1;
            let of_output = (&store, last, &explanation.output);
            let of_input = (&load, load.offset, &explanation.input);
            let store = bound(of_output, at_store, at_load, image);
            let load = bound(of_input, at_load, at_store, image);
            (explanation.store, explanation.load) = (Some(store), Some(load));
        }
        explanation.why = reasons::why(&explanation);
        Ok(explanation)
    }
}

fn point(access: &Access) -> ExecutionPoint {
    ExecutionPoint {
        time: access.time,
        pc: access.pc,
    }
}

fn buffer(tensor: &Tensor, shape: Option<Shape>) -> Buffer {
    let elements = tensor.size_bytes / tensor.element_type.size_bytes();
    let fits = |shape: &Shape| {
        shape
            .iter()
            .map(|&extent| u64::from(extent))
            .product::<u64>()
            == u64::from(elements)
    };
    Buffer {
        name: tensor.name.clone(),
        size_bytes: tensor.size_bytes,
        element_type: tensor.element_type,
        shape: shape.filter(fits),
    }
}

/// Indices of an element, outermost first.
fn coordinates(element: u32, shape: Shape) -> Shape {
    let mut rest = element;
    let mut indices = shape;
    for (index, extent) in indices.iter_mut().zip(shape).rev() {
        let extent = extent.max(1);
        *index = rest % extent;
        rest /= extent;
    }
    indices
}

fn bound(
    (access, byte, buffer): (&Access, u32, &Buffer),
    seen: &Snapshot,
    other: &Snapshot,
    image: &Image,
) -> Bound {
    let element = byte / buffer.element_type.size_bytes();
    let function = image.symbols.function_at(access.pc.0);
    Bound {
        time: access.time,
        pc: access.pc,
        offset: access.offset,
        size_bytes: access.size_bytes,
        byte,
        element,
        coordinates: buffer.shape.map(|shape| coordinates(element, shape)),
        code: code::around(
            seen,
            function.map(|(symbol, _)| symbol.address),
            &Disassembler::default(),
        ),
        source: None,
        calls: calls(seen, other, image),
    }
}

/// The calls as far as their functions are known.
fn calls(seen: &Snapshot, other: &Snapshot, image: &Image) -> Vec<CallInProgress> {
    let call = |(index, frame): (usize, &Frame)| {
        let in_layer = index < seen.in_layer;
        let variables = if index == 0 || in_layer {
            locals(frame, &other.frames)
        } else {
            Vec::new()
        };
        let call = CallInProgress {
            pc: frame.pc,
            functions: functions(frame, image),
            in_layer,
            variables,
        };
        (index == 0 || !call.functions.is_empty()).then_some(call)
    };
    seen.frames.iter().enumerate().map_while(call).collect()
}

fn functions(frame: &Frame, image: &Image) -> Vec<Function> {
    let mut functions = frame.functions.clone();
    if let Some((symbol, _)) = image.symbols.function_at(frame.pc.0) {
        // It has the parameters of a C++ function, which the debug information's name lacks.
        let name = Some(symbol.name.clone());
        match functions.last_mut() {
            Some(outermost) => outermost.name = name,
            None => functions.push(Function {
                name,
                file: None,
                line: None,
            }),
        }
    }
    if let Some(innermost) = functions.first_mut()
        && let Some((file, line)) = image.lines.at(frame.pc.0)
    {
        (innermost.file, innermost.line) = (Some(file), line);
    }
    functions
}

/// First what changes or belongs to a block, from the outermost function and block inwards,
/// then the rest.
fn locals(frame: &Frame, others: &[Frame]) -> Vec<Local> {
    let other = others.iter().find(|other| other.is_same_call(frame));
    let changes = |variable: &Variable| {
        let others = &other?.variables;
        let other = others.iter().find(|it| it.identity == variable.identity)?;
        (is_known(&variable.value) && is_known(&other.value)).then(|| other.value != variable.value)
    };
    let local = |variable: &Variable| {
        let changes = changes(variable);
        Local {
            variable: variable.clone(),
            changes,
            in_loop_nest: changes == Some(true) || variable.block > 0,
        }
    };
    let mut locals: Vec<Local> = frame.variables.iter().map(local).collect();
    locals.sort_by_key(|local| !local.in_loop_nest);
    locals
}

fn is_known(value: &Value) -> bool {
    !matches!(value, Value::OptimisedOut | Value::Unknown)
}
