//! A program of ExecuTorch as JSON, in the form of its schema (`flatc --json` of a .pte): tensors
//! with their memory and offset, and the instructions that use them.
//!
//! Lives are those of the instructions: step 0 stores the inputs, instruction `n`, counted from 0
//! through all chains, is step `n + 1`, and the outputs are read one step after the last one.
//!
//! * What a loop uses is in use as long as the loop runs, but for what a loop without jumps stores
//!   before it reads it, and nothing else uses.
//! * A value that no instruction stores shares the place of another: ExecuTorch leaves out
//!   operators that only view. Both are one buffer. So are the two sides of `et_view` and of a
//!   move.
//! * One that no instruction stores and that shares nothing keeps its content from one inference to
//!   the next, and so does one with initial data or a name: it is in use at all steps.
//! * Which of a delegate's arguments it stores is not said. The last one it does; another that is
//!   used there first is its output unless it has the very place and size of a tensor before it.

mod lives;
mod program;

use super::error::number;
use super::{ForeignError, ForeignPlan, Memory, Tool};
use dmo_planner::plan::Plan;
use dmo_planner::problem::{Buffer, MAX_TOTAL_BYTES, Problem};
use lives::Lives;
use program::{Method, Program, Tensor};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What ExecuTorch aligns tensors to unless it is told otherwise.
const ALIGNMENT: u64 = 16;

/// Reads the plan: for each method each of its memories.
///
/// # Errors
/// When the text has another form, something refers to what is not there, or a number does not fit.
pub fn parse(text: &str) -> Result<ForeignPlan, ForeignError> {
    let program: Program = serde_json::from_str(text)?;
    let mut memories = Vec::new();
    for method in &program.execution_plan {
        memories.extend(placed(method)?.into_iter().map(|placed| placed.memory));
    }
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
    let program: Program = serde_json::from_str(text)?;
    let mut json: Json = serde_json::from_str(text)?;
    let mut offsets = offsets.iter();
    for (index, method) in program.execution_plan.iter().enumerate() {
        for placed in placed(method)? {
            let new = offsets.next().map_or(&[][..], Vec::as_slice);
            placed.write(new, &mut json["execution_plan"][index])?;
        }
    }
    Ok(serde_json::to_string_pretty(&json)?)
}

/// A memory of a method, and which values its buffers are.
struct Placed {
    memory: Memory,
    id: u64,
    /// For each buffer the values that are it.
    values: Vec<Vec<usize>>,
}

/// The memories of a method, ordered by number.
fn placed(method: &Method) -> Result<Vec<Placed>, ForeignError> {
    let tensors = method.tensors()?;
    let lives = Lives::of(method, &tensors)?;
    let mut values_in: BTreeMap<u64, Vec<(usize, &Tensor)>> = BTreeMap::new();
    for (value, tensor) in tensors.iter().enumerate() {
        if let Some(tensor) = tensor {
            values_in
                .entry(tensor.memory)
                .or_default()
                .push((value, tensor));
        }
    }
    let memories = values_in.into_iter();
    memories
        .map(|(id, values)| Placed::new(method, &lives, id, &values))
        .collect()
}

impl Placed {
    fn new(
        method: &Method,
        lives: &Lives,
        id: u64,
        tensors: &[(usize, &Tensor)],
    ) -> Result<Self, ForeignError> {
        let mut values: Vec<Vec<usize>> = Vec::new();
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut offsets = Vec::new();
        let mut buffer_at = BTreeMap::new();
        for &(value, tensor) in tensors {
            // Of values that are one, those that lie at the same place are one buffer.
            let key = (lives.root(value), tensor.offset, tensor.size_bytes);
            let buffer = *buffer_at.entry(key).or_insert(buffers.len());
            if buffer < buffers.len() {
                let alignment = &mut buffers[buffer].alignment;
                *alignment = tensor.element_bytes.max(*alignment);
                values[buffer].push(value);
                continue;
            }
            values.push(vec![value]);
            offsets.push(tensor.offset);
            buffers.push(Buffer {
                name: method.value_name(value),
                size_bytes: tensor.size_bytes,
                alive: lives.life(value),
                alignment: tensor.element_bytes,
                fixed_offset: None,
            });
        }
        let name = format!("{} memory {id}", method.name);
        let problem = Problem::new(buffers, &[]).map_err(|error| ForeignError::Problem {
            memory: name.clone(),
            error,
        })?;
        Ok(Self {
            memory: Memory {
                size_bytes: method.memory_bytes(id)?,
                problem,
                plan: Plan { offsets },
                shared: Vec::new(),
                alignment: ALIGNMENT,
                name,
            },
            id,
            values,
        })
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
        for (&offset, values) in offsets.iter().zip(&self.values) {
            let place = || self.memory.name.clone();
            number(offset.into(), MAX_TOTAL_BYTES, "offset", place)?;
            for &value in values {
                let place = &mut method["values"][value]["val"]["allocation_info"];
                place["memory_offset_low"] = (offset & u64::from(u32::MAX)).into();
                place["memory_offset_high"] = (offset >> 32).into();
            }
        }
        let plan = Plan {
            offsets: offsets.to_vec(),
        };
        let bytes = plan.arena_bytes(&self.memory.problem);
        let sizes = method.get_mut("non_const_buffer_sizes");
        let sizes = sizes.and_then(Json::as_array_mut);
        if let Some(size) = sizes.and_then(|sizes| sizes.get_mut(self.id as usize)) {
            *size = bytes.next_multiple_of(ALIGNMENT).into();
        }
        Ok(())
    }
}
