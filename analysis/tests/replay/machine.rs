//! Runs an operator's loads and stores on real values, once with all buffers apart and once in
//! the arena, and says where the two differ.

use dmo_analysis::graph::TensorId;
use dmo_analysis::replay::{BufferPlace, FindingKind, Needed, ReplayStep, Resident};
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Role, Span, Tensor, Time,
};
use dmo_analysis::verify::Occupant;
use std::collections::BTreeMap;
use std::ops::Range;

/// A buffer with its place in the arena. Its tensor is its position among all buffers.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    /// None for a tensor that is none of the operator's.
    pub role: Option<Role>,
    pub size: u32,
    pub offset: u64,
    pub needed: bool,
}

impl Buffer {
    fn before(&self) -> bool {
        matches!(self.role, None | Some(Role::Input))
    }
}

/// An operator on a layout. Those of its layer come first in `buffers`.
#[derive(Debug, Clone)]
pub struct Case {
    pub buffers: Vec<Buffer>,
    pub events: Vec<Event>,
}

impl Case {
    pub fn layer(&self) -> Layer {
        let mut address = 0x2000_0000;
        let own = self.buffers.iter().zip(0..);
        let own = own.filter_map(|(buffer, index)| {
            let tensor = Tensor {
                name: format!("t{index}"),
                role: buffer.role?,
                address: Address(address),
                size_bytes: buffer.size,
                element_type: ElementType::Int8,
            };
            address += buffer.size;
            Some(tensor)
        });
        Layer {
            span: Span::Layer,
            name: "case".into(),
            operator: "case".into(),
            tensors: own.collect(),
        }
    }

    pub fn occupant(&self, index: usize) -> Occupant {
        match self.buffers[index].role {
            Some(Role::Scratch) => Occupant::Scratch(dmo_analysis::graph::OperatorId(0)),
            _ => Occupant::Tensor(TensorId(index)),
        }
    }

    pub fn with_step<T>(&self, then: impl FnOnce(&ReplayStep<'_>) -> T) -> T {
        let own = (0..self.buffers.len()).filter(|&index| self.buffers[index].role.is_some());
        let places: Vec<Option<BufferPlace>> = own
            .map(|index| {
                let offset = self.buffers[index].offset;
                Some(BufferPlace::whole(self.occupant(index), offset))
            })
            .collect();
        let all = || self.buffers.iter().enumerate();
        let before: Vec<Resident> = all()
            .filter(|(_, buffer)| buffer.before())
            .map(|(index, buffer)| {
                Resident::whole(TensorId(index), buffer.offset, buffer.size.into())
            })
            .collect();
        let after: Vec<Needed> = all()
            .filter(|(_, buffer)| buffer.needed)
            .map(|(index, buffer)| Needed::whole(TensorId(index), buffer.size.into()))
            .collect();
        then(&ReplayStep {
            places: &places,
            before: &before,
            after: &after,
        })
    }
}

/// What one byte of memory holds: no two stores of a byte give the same.
#[derive(Debug, Clone, Copy)]
struct Value {
    number: u32,
    buffer: usize,
    store: Option<(Address, Time)>,
}

/// What goes wrong in the same way: kind, buffer, the reader's instruction, whose value is found
/// and what instruction stored it.
pub type Wrong = (
    FindingKind,
    usize,
    Option<Address>,
    Option<usize>,
    Option<Address>,
);

/// The bytes of one wrong: how many, their span, the first one's access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes {
    pub count: u64,
    pub span: Range<u64>,
    pub first: Option<Time>,
}

/// All that goes wrong while the operator runs, and each byte that is wrong in the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub running: BTreeMap<String, (Wrong, Bytes)>,
    pub ended: Vec<(FindingKind, usize, u64, Option<usize>)>,
}

impl Verdict {
    pub fn is_clean(&self) -> bool {
        self.running.is_empty() && self.ended.is_empty()
    }

    pub fn add(&mut self, wrong: Wrong, byte: u64, first: Option<Time>) {
        let entry = self.running.entry(format!("{wrong:?}"));
        let (_, bytes) = entry.or_insert((
            wrong,
            Bytes {
                count: 0,
                span: byte..byte + 1,
                first,
            },
        ));
        bytes.count += 1;
        bytes.span = bytes.span.start.min(byte)..bytes.span.end.max(byte + 1);
    }
}

/// Runs the case both ways.
pub fn judge(case: &Case) -> Verdict {
    let mut verdict = Verdict::default();
    let mut number = 0;
    let mut fresh = |buffer: usize, store: Option<(Address, Time)>| {
        number += 1;
        Some(Value {
            number,
            buffer,
            store,
        })
    };
    let end = case
        .buffers
        .iter()
        .map(|b| b.offset as usize + b.size as usize);
    let mut arena: Vec<Option<Value>> = vec![None; end.max().unwrap_or(0)];
    let sizes = case
        .buffers
        .iter()
        .map(|buffer| vec![None; buffer.size as usize]);
    let mut apart: Vec<Vec<Option<Value>>> = sizes.collect();
    for (index, buffer) in case.buffers.iter().enumerate() {
        for byte in (0..buffer.size as usize).filter(|_| buffer.before()) {
            let value = fresh(index, None);
            apart[index][byte] = value;
            arena[buffer.offset as usize + byte] = value;
        }
    }
    for event in &case.events {
        let index = usize::from(event.tensor);
        let buffer = case.buffers[index];
        for byte in (event.offset..event.end()).map(|byte| byte as usize) {
            let at = buffer.offset as usize + byte;
            if event.kind == AccessKind::Store {
                let value = fresh(index, Some((event.pc, event.time)));
                apart[index][byte] = value;
                arena[at] = value;
                if buffer.role == Some(Role::Input) {
                    let wrong = (FindingKind::StoreToInput, index, Some(event.pc), None, None);
                    verdict.add(wrong, byte as u64, Some(event.time));
                }
                continue;
            }
            let wrong = match (apart[index][byte], arena[at]) {
                (None, _) => (
                    FindingKind::UninitialisedRead,
                    index,
                    Some(event.pc),
                    None,
                    None,
                ),
                (Some(right), Some(found)) if right.number != found.number => (
                    FindingKind::Clobber,
                    index,
                    Some(event.pc),
                    Some(found.buffer),
                    found.store.map(|(pc, _)| pc),
                ),
                _ => continue,
            };
            verdict.add(wrong, byte as u64, Some(event.time));
        }
    }
    for (index, buffer) in case.buffers.iter().enumerate() {
        for (byte, right) in apart[index].iter().enumerate() {
            let found = arena[buffer.offset as usize + byte];
            let wrong = match right {
                None if buffer.role == Some(Role::Output) => Some((FindingKind::NotStored, None)),
                Some(right) if buffer.needed && found.is_none_or(|f| f.number != right.number) => {
                    Some((FindingKind::Destroyed, found.map(|value| value.buffer)))
                }
                _ => None,
            };
            if let Some((kind, writer)) = wrong {
                verdict.ended.push((kind, index, byte as u64, writer));
            }
        }
    }
    verdict.ended.sort_unstable();
    verdict
}

/// How far the victim has to start above the writer for all of its loads to be safe, and for
/// what is needed in the end; by going through all events.
pub fn needed_displacement(case: &Case, victim: usize, writer: usize) -> u64 {
    let before = case.buffers[writer].before();
    let mut stored_end = if before { case.buffers[writer].size } else { 0 };
    let mut needed = 0;
    for event in &case.events {
        match event.kind {
            AccessKind::Load if usize::from(event.tensor) == victim => {
                needed = needed.max(stored_end.saturating_sub(event.offset));
            }
            AccessKind::Store if usize::from(event.tensor) == writer => {
                stored_end = stored_end.max(event.end());
            }
            _ => {}
        }
    }
    if case.buffers[victim].needed {
        needed = needed.max(stored_end);
    }
    u64::from(needed)
}
