//! A program of ExecuTorch as JSON, in the form of its schema (`flatc --json` of a .pte): tensors
//! with their memory and offset, and the instructions that use them.
//!
//! Lives are those of the instructions: step 0 stores the inputs, instruction `n`, counted from 0
//! through all chains, is step `n + 1`, and the outputs are read one step after the last one. What a
//! loop uses is in use as long as the loop runs, but for what a loop without jumps stores before it
//! reads it, and nothing else uses.
//!
//! ExecuTorch leaves out operators that only view. So a value is bound to the places of those that
//! the file's own plan says it reads (`flow`): together they are one buffer, each at its distance
//! from the others. The two sides of `et_view` and of a move are in use as long as each other.
//!
//! What is read and was not stored before keeps its content from one inference to the next, and so
//! does what has initial data or a name: it is in use at all steps. Which of a delegate's arguments
//! it stores is not said, but for the last one, nor which an operator does that is not of the `out`
//! kind: these may be read.
//!
//! Source: `schema/program.fbs` and `exir/emit/_emitter.py` of ExecuTorch 1.5.1.

mod flow;
mod lives;
mod program;
mod sets;
mod uses;

use super::error::number;
use super::{ForeignError, ForeignPlan, Memory, Tool};
use dmo_planner::plan::Plan;
use dmo_planner::problem::{Buffer, MAX_TOTAL_BYTES, Problem};
use lives::Lives;
use program::{Method, Program, Tensor};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What ExecuTorch aligns tensors to unless it is told otherwise.
const ALIGNMENT: u64 = 16;

/// What all offsets are multiples of was asked for, up to this.
const MOST_ALIGNMENT: u64 = 128;

/// Reads the plan: for each method each of its memories.
///
/// # Errors
/// When the text has another form, something refers to what is not there, or a number does not fit.
pub fn parse(text: &str) -> Result<ForeignPlan, ForeignError> {
    let program: Program = serde_json::from_str(&with_quoted_infinities(text))?;
    let memories: Vec<Memory> = placed(&program)?
        .into_iter()
        .map(|placed| placed.memory)
        .collect();
    if memories.is_empty() {
        return Err(ForeignError::NoPlan);
    }
    Ok(ForeignPlan {
        tool: Tool::ExecuTorch,
        memories,
    })
}

/// The program with other offsets: one list for each memory that [`parse`] gives, of an offset for
/// each of its buffers. Sizes of memories follow; all else stays.
///
/// # Errors
/// Those of [`parse`], and when there are more or fewer offsets than buffers.
pub fn with_offsets(text: &str, offsets: &[Vec<u64>]) -> Result<String, ForeignError> {
    let text = with_quoted_infinities(text);
    let program: Program = serde_json::from_str(&text)?;
    let mut json: Json = serde_json::from_str(&text)?;
    let mut offsets = offsets.iter();
    for placed in placed(&program)? {
        let new = offsets.next().map_or(&[][..], Vec::as_slice);
        placed.write(new, &mut json["execution_plan"][placed.method])?;
    }
    Ok(serde_json::to_string_pretty(&json)?)
}

/// Whether a program is another one with these offsets, as [`with_offsets`] writes it: every value
/// lies where the other program's buffers say.
///
/// # Errors
/// Those of [`parse`].
pub fn has_offsets(written: &str, text: &str, offsets: &[Vec<u64>]) -> Result<bool, ForeignError> {
    let text = with_quoted_infinities(text);
    let (program, written): (Program, Program) =
        (serde_json::from_str(&text)?, serde_json::from_str(written)?);
    let methods = written.execution_plan.iter();
    let written = methods.map(program::Method::tensors);
    let written = written.collect::<Result<Vec<_>, _>>()?;
    let placed = placed(&program)?;
    let is_there = |(placed, offsets): (&Placed, &Vec<u64>)| {
        let tensors = written.get(placed.method);
        let mut buffers = placed.values.iter().zip(offsets);
        placed.values.len() == offsets.len()
            && buffers.all(|(values, offset)| {
                values.iter().all(|&(value, distance)| {
                    let tensor = tensors.and_then(|tensors| tensors.get(value)?.as_ref());
                    tensor
                        .is_some_and(|it| it.memory == placed.id && it.offset == offset + distance)
                })
            })
    };
    Ok(placed.len() == offsets.len() && placed.iter().zip(offsets).all(is_there))
}

/// `flatc` writes infinities and what is no number as they are, which is no JSON; it reads them as
/// text, too.
pub(super) fn with_quoted_infinities(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 5] = ["-inf", "inf", "-nan", "nan", "+inf"];
    let mut quoted = String::new();
    let (mut copied, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'+' | b'i' | b'n' => {
                let rest = &bytes[at..];
                let word = WORDS.iter().find(|word| rest.starts_with(word.as_bytes()));
                let Some(word) = word else {
                    at += 1;
                    continue;
                };
                quoted += &text[copied..at];
                quoted += &format!("{word:?}");
                at += word.len();
                copied = at;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    quoted += &text[copied..];
    Cow::Owned(quoted)
}

/// A memory of a method, and which values its buffers are.
struct Placed {
    memory: Memory,
    /// Which method it is.
    method: usize,
    id: u64,
    /// For each buffer the values that are it, and how far above its start each of them lies.
    values: Vec<Vec<(usize, u64)>>,
    /// Values without bytes, which have a place nevertheless.
    empty: Vec<usize>,
    /// A value in it may keep its content from one inference to the next.
    keeps_some: bool,
}

/// The memories of all methods, those of each ordered by number.
fn placed(program: &Program) -> Result<Vec<Placed>, ForeignError> {
    let mut all: Vec<Placed> = Vec::new();
    for (index, method) in program.execution_plan.iter().enumerate() {
        let tensors = method.tensors()?;
        let lives = Lives::of(method, &tensors)?;
        let mut values_in: BTreeMap<u64, Vec<(usize, &Tensor)>> = BTreeMap::new();
        for (value, tensor) in tensors.iter().enumerate() {
            if let Some(tensor) = tensor {
                let values = values_in.entry(tensor.memory).or_default();
                values.push((value, tensor));
            }
        }
        for (id, values) in values_in {
            all.push(Placed::new(method, index, &lives, id, &values)?);
        }
    }
    // Methods may share what they keep, each at the place that it has in all of them.
    let mut alike: BTreeMap<u64, (usize, bool)> = BTreeMap::new();
    for placed in &all {
        let (count, keeps_some) = alike.entry(placed.id).or_default();
        *count += 1;
        *keeps_some |= placed.keeps_some;
    }
    for placed in &mut all {
        if let Some((2.., true)) = alike.get(&placed.id) {
            placed.stay()?;
        }
    }
    Ok(all)
}

impl Placed {
    fn new(
        method: &Method,
        index: usize,
        lives: &Lives,
        id: u64,
        tensors: &[(usize, &Tensor)],
    ) -> Result<Self, ForeignError> {
        let offsets = tensors.iter().map(|(_, tensor)| tensor.offset);
        let alignment = asked_alignment(offsets);
        let mut members: BTreeMap<usize, Vec<(usize, &Tensor)>> = BTreeMap::new();
        for &(value, tensor) in tensors {
            let bound = members.entry(lives.root(value)).or_default();
            bound.push((value, tensor));
        }
        let (mut values, mut buffers, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        for bound in members.into_values() {
            let ends = bound.iter().map(|(_, tensor)| tensor.end());
            let end = ends.max().unwrap_or(0);
            let starts = bound.iter().map(|(_, tensor)| tensor.offset);
            let lowest = starts.clone().min().unwrap_or(0);
            let elements = bound.iter().map(|(_, tensor)| tensor.element_bytes);
            let element_bytes = elements.max().unwrap_or(1);
            // Where the lowest is not aligned, the others would not be at their distances from it.
            let start = if starts.max() == Some(lowest) {
                lowest
            } else {
                lowest - lowest % alignment.max(element_bytes)
            };
            let lives = bound.iter().map(|&(value, _)| lives.life(value));
            let alive = lives.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
            buffers.push(Buffer {
                name: method.value_name(bound[0].0),
                size_bytes: end - start,
                alive: alive.unwrap_or(0..1),
                alignment: element_bytes,
                fixed_offset: None,
            });
            offsets.push(start);
            let distances = bound.iter();
            let distances = distances.map(|&(value, tensor)| (value, tensor.offset - start));
            values.push(distances.collect());
        }
        let name = format!("{} memory {id}", method.name);
        let size_bytes = method.memory_bytes(id)?;
        Ok(Self {
            memory: Memory {
                problem: problem(&name, buffers)?,
                size_bytes: Some(size_bytes),
                plan: Plan { offsets },
                shared: Vec::new(),
                alignment,
                name,
            },
            method: index,
            id,
            values,
            empty: method.empty_values(id)?,
            keeps_some: tensors.iter().any(|&(value, _)| lives.is_kept(value)),
        })
    }

    /// Leaves all where it is, if it can be.
    fn stay(&mut self) -> Result<(), ForeignError> {
        let memory = &mut self.memory;
        if !memory.faults().is_empty() {
            return Ok(());
        }
        let buffers = memory.problem.buffers().iter().zip(&memory.plan.offsets);
        let buffers = buffers.map(|(buffer, &offset)| Buffer {
            fixed_offset: Some(offset),
            ..buffer.clone()
        });
        memory.problem = problem(&memory.name, buffers.collect())?;
        memory.alignment = 1;
        Ok(())
    }

    /// Writes these offsets into the method.
    fn write(&self, offsets: &[u64], method: &mut Json) -> Result<(), ForeignError> {
        if offsets.len() != self.values.len() {
            return Err(ForeignError::OffsetCount {
                memory: self.memory.name.clone(),
                given: offsets.len(),
                expected: self.values.len(),
            });
        }
        let mut put = |value: usize, offset: u64| {
            let place = || self.memory.name.clone();
            number(offset.into(), MAX_TOTAL_BYTES, "offset", place)?;
            let place = &mut method["values"][value]["val"]["allocation_info"];
            place["memory_offset_low"] = (offset & u64::from(u32::MAX)).into();
            place["memory_offset_high"] = (offset >> 32).into();
            Ok::<_, ForeignError>(())
        };
        for (&offset, values) in offsets.iter().zip(&self.values) {
            for &(value, distance) in values {
                put(value, offset.saturating_add(distance))?;
            }
        }
        // The runtime wants their places within the memory, too.
        for &value in &self.empty {
            put(value, 0)?;
        }
        let plan = Plan {
            offsets: offsets.to_vec(),
        };
        let bytes = plan.arena_bytes(&self.memory.problem) + self.padding_bytes();
        let sizes = method.get_mut("non_const_buffer_sizes");
        let sizes = sizes.and_then(Json::as_array_mut);
        if let Some(size) = sizes.and_then(|sizes| sizes.get_mut(self.id as usize)) {
            *size = bytes.next_multiple_of(ALIGNMENT).into();
        }
        Ok(())
    }

    /// What the memory has above all buffers: delegates may want to load beyond the last one.
    fn padding_bytes(&self) -> u64 {
        let size = self.memory.size_bytes.unwrap_or(0);
        size.saturating_sub(self.memory.used_bytes())
    }
}

fn problem(memory: &str, buffers: Vec<Buffer>) -> Result<Problem, ForeignError> {
    Problem::new(buffers, &[]).map_err(|error| ForeignError::Problem {
        memory: memory.to_owned(),
        error,
    })
}

/// The largest alignment that may have been asked for, where these offsets are what came of it.
fn asked_alignment(offsets: impl Iterator<Item = u64>) -> u64 {
    let bits = offsets.fold(MOST_ALIGNMENT, |bits, offset| bits | offset);
    (bits & bits.wrapping_neg()).max(ALIGNMENT)
}
