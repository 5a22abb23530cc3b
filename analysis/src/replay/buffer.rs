//! The buffers that can own bytes of the arena, and how they get their numbers.

use super::{ReplayError, ReplayStep, ViewPart};
use crate::graph::TensorId;
use crate::trace::Layer;
use crate::verify::Occupant;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// The owner of bytes that nobody has stored, and of what lies outside the arena. Others are
/// numbered from 1.
pub(super) const NO_OWNER: u16 = 0;

/// Which buffer it is: by the graph, and by the layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct BufferId {
    /// The tensor or scratch buffer of the graph; `None` for what lies outside the arena.
    pub occupant: Option<Occupant>,
    /// Position in the layer's tensors; `None` for a tensor that only waits for a later operator.
    pub layer_tensor: Option<usize>,
}

/// A buffer that can own bytes.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) subject: BufferId,
    pub(super) element_bytes: Option<u32>,
    /// Where it starts in the memory.
    pub(super) start: usize,
    pub(super) size: usize,
    /// The bytes that hold content when the operator begins.
    pub(super) before: Range<usize>,
    /// The bytes whose content has to be there when the operator has ended.
    pub(super) needed: Range<usize>,
    /// Which of its bytes the operator has stored; empty when all of its content was there
    /// before.
    pub(super) stored: Vec<bool>,
    /// One past the highest byte that has been stored.
    pub(super) stored_end: u32,
    /// The lowest byte that was loaded since a neighbour stored further up than before.
    pub(super) lowest_load: u32,
    /// Those that have bytes in common with it.
    pub(super) neighbours: Vec<Neighbour>,
}

impl Buffer {
    /// The buffer in a memory of `length` bytes, the first of which is at `offset` of the arena.
    pub(super) fn new(planned: &PlannedBuffer, offset: u64, length: usize) -> Self {
        let size = planned.size as usize;
        Self {
            subject: planned.subject,
            element_bytes: planned.element_bytes,
            // What is empty may lie anywhere.
            start: (planned.offset.saturating_sub(offset) as usize).min(length - size),
            size,
            stored: vec![false; if planned.is_whole_before() { 0 } else { size }],
            stored_end: planned.before.end as u32,
            before: planned.before.start as usize..planned.before.end as usize,
            needed: planned.needed.start as usize..planned.needed.end as usize,
            lowest_load: u32::MAX,
            neighbours: Vec::new(),
        }
    }

    /// The layer loads or stores it, rather than a later operator only.
    pub(super) fn acts(&self) -> bool {
        self.subject.layer_tensor.is_some()
    }

    pub(super) fn bytes(&self) -> Range<usize> {
        self.start..self.start + self.size
    }

    /// Where the content lies that is there when the operator begins.
    pub(super) fn bytes_before(&self) -> Range<usize> {
        self.start + self.before.start..self.start + self.before.end
    }

    /// All of its content is there when the operator begins.
    pub(super) fn is_whole_before(&self) -> bool {
        self.before == (0..self.size)
    }
}

/// Another buffer that has bytes in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) owner: u16,
    /// The least displacement from it that is safe with all larger ones, as far as is known.
    pub(super) needed_displacement: u32,
}

impl Neighbour {
    pub(super) fn new(owner: u16) -> Self {
        Self {
            owner,
            needed_displacement: 0,
        }
    }
}

/// A buffer as the plan has it.
pub(super) struct PlannedBuffer {
    subject: BufferId,
    element_bytes: Option<u32>,
    pub(super) offset: u64,
    pub(super) size: u64,
    before: Range<u64>,
    needed: Range<u64>,
}

/// The bytes of a buffer that one of the layer's tensors is.
#[derive(Debug, Clone)]
pub(super) struct TensorBytes {
    /// The buffer's number.
    pub(super) owner: u16,
    /// Where in the buffer it begins.
    pub(super) start: u32,
    /// Its own bytes, from the buffer's start.
    pub(super) own: Vec<Range<usize>>,
    /// It is not the whole buffer.
    pub(super) is_part: bool,
}

/// All buffers, and the bytes of them that each of the layer's tensors is.
pub(super) fn planned(
    layer: &Layer,
    step: &ReplayStep<'_>,
) -> Result<(Vec<PlannedBuffer>, Vec<TensorBytes>), ReplayError> {
    let mut planned: Vec<PlannedBuffer> = Vec::new();
    let mut number_of: HashMap<TensorId, usize> = HashMap::new();
    for resident in step.before {
        let buffer = PlannedBuffer {
            subject: BufferId {
                occupant: Some(Occupant::Tensor(resident.tensor)),
                layer_tensor: None,
            },
            element_bytes: None,
            offset: resident.offset,
            size: resident.size_bytes,
            before: within(&resident.held, resident.size_bytes),
            needed: 0..0,
        };
        buffer.enter(Some(resident.tensor), &mut planned, &mut number_of)?;
    }
    let mut tensor_bytes = Vec::new();
    for (index, (tensor, place)) in layer.tensors.iter().zip(step.places).enumerate() {
        let size = u64::from(tensor.size_bytes);
        let Some(place) = place else {
            tensor_bytes.push(TensorBytes::without_owner());
            continue;
        };
        let part = place.part.as_ref();
        let buffer = PlannedBuffer {
            subject: BufferId {
                occupant: Some(place.occupant),
                layer_tensor: Some(index),
            },
            element_bytes: Some(tensor.element_type.size_bytes()),
            offset: place.offset,
            size: part.map_or(size, |part| part.whole_bytes),
            before: 0..0,
            needed: 0..0,
        };
        if let Some(part) = part
            && part.start.saturating_add(size) > part.whole_bytes
        {
            return Err(ReplayError::Part {
                index,
                end: part.start.saturating_add(size),
                limit: part.whole_bytes,
            });
        }
        // Two scratch buffers of an operator are never one.
        let same = match place.occupant {
            Occupant::Tensor(id) => Some(id),
            Occupant::Scratch(_) => None,
        };
        let number = buffer.enter(same, &mut planned, &mut number_of)? + 1;
        tensor_bytes.push(TensorBytes::new(number, size, part));
    }
    let limit = usize::from(u16::MAX);
    if planned.len() > limit {
        let given = planned.len();
        return Err(ReplayError::Buffers { given, limit });
    }
    for needed in step.after {
        let number = number_of.get(&needed.tensor);
        let number = number.ok_or(ReplayError::Unknown(needed.tensor))?;
        let buffer = &mut planned[*number];
        buffer.needed = within(&needed.bytes, buffer.size);
    }
    Ok((planned, tensor_bytes))
}

/// What of a range lies in a buffer of this size.
fn within(bytes: &Range<u64>, size: u64) -> Range<u64> {
    bytes.start.min(size)..bytes.end.min(size)
}

impl TensorBytes {
    fn without_owner() -> Self {
        Self {
            owner: NO_OWNER,
            start: 0,
            own: Vec::new(),
            is_part: false,
        }
    }

    /// Of a buffer that is known to have room for it; its number is checked later.
    fn new(number: usize, size: u64, part: Option<&ViewPart>) -> Self {
        let (start, own) = match part {
            None => (0, std::iter::once(0..size).collect()),
            Some(part) => (part.start, part.own.clone()),
        };
        let own = own.iter().map(|run| within(run, size));
        let own = own.map(|run| (start + run.start) as usize..(start + run.end) as usize);
        Self {
            owner: number as u16,
            start: start as u32,
            own: own.collect(),
            is_part: part.is_some(),
        }
    }
}

impl PlannedBuffer {
    /// Its number, which is that of an equal one if there is one.
    fn enter(
        self,
        same: Option<TensorId>,
        planned: &mut Vec<Self>,
        number_of: &mut HashMap<TensorId, usize>,
    ) -> Result<usize, ReplayError> {
        let known = same.and_then(|tensor| Some((tensor, *number_of.get(&tensor)?)));
        if let Some((tensor, number)) = known {
            let first = &mut planned[number];
            let (one, other) = ((first.offset, first.size), (self.offset, self.size));
            if one != other {
                return Err(ReplayError::TwoPlaces { tensor, one, other });
            }
            first.element_bytes = first.element_bytes.or(self.element_bytes);
            first.subject.layer_tensor = first.subject.layer_tensor.or(self.subject.layer_tensor);
            return Ok(number);
        }
        number_of.extend(same.map(|tensor| (tensor, planned.len())));
        planned.push(self);
        Ok(planned.len() - 1)
    }

    fn is_whole_before(&self) -> bool {
        self.before == (0..self.size)
    }

    /// 128 bits, so that no offset makes it empty.
    pub(super) fn end(&self) -> u128 {
        u128::from(self.offset) + u128::from(self.size)
    }
}
