//! The instructions around another.

use super::Snapshot;
use crate::mcu::decode::is_wide;
use crate::mcu::disassembly::Disassembler;
use dmo_analysis::trace::Address;
use schemars::JsonSchema;
use serde::Serialize;

/// An instruction in assembly language.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Instruction {
    /// Where it is.
    pub address: Address,
    /// The instruction, disassembled.
    pub text: String,
    /// `true` for the instruction that limits the overlap.
    pub binds: bool,
}

/// Instructions that are shown on each side.
const AROUND: usize = 3;

/// Decoding that starts this many bytes before an instruction has found the true boundaries when it
/// gets there.
const SETTLED_BYTES: u32 = 40;

/// The instruction of the snapshot, with three before and three after it. The ones before it are
/// found by decoding from the start of its function, or else from every halfword before it.
pub(super) fn around(
    snapshot: &Snapshot,
    function: Option<u32>,
    disassembler: &Disassembler,
) -> Vec<Instruction> {
    let (start, code) = (snapshot.code.0, &snapshot.code.1[..]);
    let pc = snapshot.point.pc.0;
    let instruction = |address: u32| {
        let bytes = code.get((address - start) as usize..)?;
        let text = disassembler.at(address, bytes.get(..length(bytes)?)?)?;
        Some(Instruction {
            address: Address(address),
            text,
            binds: address == pc,
        })
    };
    let mut addresses = before(start, code, pc, function);
    let mut next = Some(pc);
    for _ in 0..=AROUND {
        let Some(address) = next else { break };
        addresses.push(address);
        next = code
            .get((address - start) as usize..)
            .and_then(length)
            .map(|length| address + length as u32);
    }
    addresses.into_iter().filter_map(instruction).collect()
}

/// Bytes of the instruction that starts here.
fn length(code: &[u8]) -> Option<usize> {
    let first = u16::from_le_bytes([*code.first()?, *code.get(1)?]);
    let length = if is_wide(first) { 4 } else { 2 };
    (code.len() >= length).then_some(length)
}

/// Addresses of the instructions just before `pc`, as far as they are certain.
fn before(start: u32, code: &[u8], pc: u32, function: Option<u32>) -> Vec<u32> {
    let walk = |from: u32| {
        let mut starts = Vec::new();
        let mut at = from;
        while at < pc {
            starts.push(at);
            at += length(code.get((at - start) as usize..)?)? as u32;
        }
        (at == pc).then_some(starts)
    };
    let last = |starts: &[u32]| starts[starts.len().saturating_sub(AROUND)..].to_vec();
    if let Some(function) = function.filter(|&function| function >= start && function <= pc) {
        return walk(function).map_or(Vec::new(), |starts| last(&starts));
    }
    let settled = pc.saturating_sub(SETTLED_BYTES);
    let mut walks = (start..settled).step_by(2).filter_map(walk);
    let Some(first) = walks.next() else {
        return Vec::new();
    };
    let first = last(&first);
    if walks.all(|other| last(&other) == first) {
        first
    } else {
        Vec::new()
    }
}
