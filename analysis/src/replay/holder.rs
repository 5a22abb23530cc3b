//! What can own bytes of the arena, and how it gets its number.

use super::finding::Subject;
use super::{Part, ReplayError, Step};
use crate::graph::TensorId;
use crate::trace::Layer;
use crate::verify::Occupant;
use std::collections::HashMap;
use std::ops::Range;

/// The owner of bytes that nobody has stored, and of what lies outside the arena. Others are
/// numbered from 1.
pub(super) const NOBODY: u16 = 0;

/// A buffer that can own bytes.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) subject: Subject,
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
    /// The lowest byte that was loaded since a rival stored further up than before.
    pub(super) lowest_load: u32,
    /// Those that have bytes in common with it.
    pub(super) rivals: Vec<Rival>,
}

impl Holder {
    /// In a memory of so many bytes, whose first one is at `offset` of the arena.
    pub(super) fn new(claim: &Claim, offset: u64, length: usize) -> Self {
        let size = claim.size as usize;
        Self {
            subject: claim.subject,
            element_bytes: claim.element_bytes,
            // What is empty may lie anywhere.
            start: (claim.offset.saturating_sub(offset) as usize).min(length - size),
            size,
            stored: vec![false; if claim.is_whole_before() { 0 } else { size }],
            stored_end: claim.before.end as u32,
            before: claim.before.start as usize..claim.before.end as usize,
            needed: claim.needed.start as usize..claim.needed.end as usize,
            lowest_load: u32::MAX,
            rivals: Vec::new(),
        }
    }

    /// It is a buffer of the layer.
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

/// Another holder of the same bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rival {
    pub(super) owner: u16,
    /// The least displacement from it that is safe with all larger ones, as far as is known.
    pub(super) needed_displacement: u32,
}

impl Rival {
    pub(super) fn new(owner: u16) -> Self {
        Self {
            owner,
            needed_displacement: 0,
        }
    }
}

/// A holder to be.
pub(super) struct Claim {
    subject: Subject,
    element_bytes: Option<u32>,
    pub(super) offset: u64,
    pub(super) size: u64,
    before: Range<u64>,
    needed: Range<u64>,
}

/// What one of the layer's tensors is of a holder.
#[derive(Debug, Clone)]
pub(super) struct Share {
    /// The holder's number.
    pub(super) owner: u16,
    /// Where in the holder it begins.
    pub(super) start: u32,
    /// Its own bytes, from the holder's start.
    pub(super) own: Vec<Range<usize>>,
    /// It is not the whole holder.
    pub(super) is_part: bool,
}

/// All that can own bytes, and what each of the layer's tensors is of them.
pub(super) fn claims(
    layer: &Layer,
    step: &Step<'_>,
) -> Result<(Vec<Claim>, Vec<Share>), ReplayError> {
    let mut claims: Vec<Claim> = Vec::new();
    let mut number_of: HashMap<TensorId, usize> = HashMap::new();
    for resident in step.before {
        let claim = Claim {
            subject: Subject {
                occupant: Some(Occupant::Tensor(resident.tensor)),
                layer_tensor: None,
            },
            element_bytes: None,
            offset: resident.offset,
            size: resident.size_bytes,
            before: within(&resident.held, resident.size_bytes),
            needed: 0..0,
        };
        claim.enter(Some(resident.tensor), &mut claims, &mut number_of)?;
    }
    let mut shares = Vec::new();
    for (index, (tensor, place)) in layer.tensors.iter().zip(step.places).enumerate() {
        let size = u64::from(tensor.size_bytes);
        let Some(place) = place else {
            shares.push(Share::of_nobody());
            continue;
        };
        let part = place.part.as_ref();
        let claim = Claim {
            subject: Subject {
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
        let number = claim.enter(same, &mut claims, &mut number_of)? + 1;
        shares.push(Share::new(number, size, part));
    }
    let limit = usize::from(u16::MAX);
    if claims.len() > limit {
        let given = claims.len();
        return Err(ReplayError::Buffers { given, limit });
    }
    for needed in step.after {
        let number = number_of.get(&needed.tensor);
        let number = number.ok_or(ReplayError::Unknown(needed.tensor))?;
        let claim = &mut claims[*number];
        claim.needed = within(&needed.bytes, claim.size);
    }
    Ok((claims, shares))
}

/// What of a range lies in a buffer of this size.
fn within(bytes: &Range<u64>, size: u64) -> Range<u64> {
    bytes.start.min(size)..bytes.end.min(size)
}

impl Share {
    fn of_nobody() -> Self {
        Self {
            owner: NOBODY,
            start: 0,
            own: Vec::new(),
            is_part: false,
        }
    }

    /// Of a holder that is known to have room for it; its number is checked later.
    fn new(number: usize, size: u64, part: Option<&Part>) -> Self {
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

impl Claim {
    /// Its number, which is that of an equal one if there is one.
    fn enter(
        self,
        same: Option<TensorId>,
        claims: &mut Vec<Self>,
        number_of: &mut HashMap<TensorId, usize>,
    ) -> Result<usize, ReplayError> {
        let known = same.and_then(|tensor| Some((tensor, *number_of.get(&tensor)?)));
        if let Some((tensor, number)) = known {
            let first = &mut claims[number];
            let (one, other) = ((first.offset, first.size), (self.offset, self.size));
            if one != other {
                return Err(ReplayError::TwoPlaces { tensor, one, other });
            }
            first.element_bytes = first.element_bytes.or(self.element_bytes);
            first.subject.layer_tensor = first.subject.layer_tensor.or(self.subject.layer_tensor);
            return Ok(number);
        }
        number_of.extend(same.map(|tensor| (tensor, claims.len())));
        claims.push(self);
        Ok(claims.len() - 1)
    }

    fn is_whole_before(&self) -> bool {
        self.before == (0..self.size)
    }

    /// 128 bits, so that no offset makes it empty.
    pub(super) fn end(&self) -> u128 {
        u128::from(self.offset) + u128::from(self.size)
    }
}
