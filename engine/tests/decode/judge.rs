//! Capstone as the judge of what an instruction is.

use crate::text::{canonical, text};
use capstone::prelude::*;
use dmo_engine::decode::{decode, length, row_of};
use dmo_engine::fault::Fault;
use dmo_engine::features::{Features, Needs};
use dmo_engine::operation::{Instruction, Operation};
use std::collections::BTreeMap;

/// Compares with capstone, and counts.
pub struct Judge<'a> {
    capstone: Capstone,
    features: &'a Features,
    same: u64,
    undefined: u64,
    /// One example of each kind.
    wrong: BTreeMap<String, String>,
}

impl<'a> Judge<'a> {
    pub fn new(features: &'a Features) -> Self {
        let thumb = Capstone::new().arm().mode(arch::arm::ArchMode::Thumb);
        // With V8 it would have much that only the A profile has; without, it has Armv8-M's.
        let modes = [arch::arm::ArchExtraMode::MClass].into_iter();
        let capstone = thumb.extra_mode(modes).build().unwrap();
        Judge {
            capstone,
            features,
            same: 0,
            undefined: 0,
            wrong: BTreeMap::new(),
        }
    }

    /// Capstone knows few unpredictable cases and nothing of Armv8.1-M: those pass.
    pub fn compare(&mut self, first: u16, second: u16) {
        let bytes = [first.to_le_bytes(), second.to_le_bytes()].concat();
        let bytes = &bytes[..length(first).into()];
        let listed = self.capstone.disasm_count(bytes, 0, 1).unwrap();
        let listed = listed.first().filter(|one| one.bytes() == bytes);
        let listed = listed.map(|one| (one.mnemonic().unwrap(), one.op_str().unwrap()));
        let ours = decode(first, second, self.features);
        let agrees = match (&ours, listed) {
            (Ok(instruction), Some((mnemonic, operands))) => {
                self.same += 1;
                is_same(instruction, mnemonic, operands)
            }
            (Ok(instruction), None) => is_missing(instruction),
            (
                Err(
                    Fault::Undefined
                    | Fault::Lacks {
                        needs: Needs::Extension,
                        ..
                    },
                ),
                None,
            ) => {
                self.undefined += 1;
                true
            }
            (
                Err(
                    Fault::Undefined
                    | Fault::Lacks {
                        needs: Needs::Extension,
                        ..
                    },
                ),
                Some((mnemonic, _)),
            ) => is_elsewhere(first, second) || is_not_of_the_profile(mnemonic),
            (Err(Fault::Lacks { needs, .. }), _) => *needs == Needs::Armv81,
            (Err(fault), _) => matches!(fault, Fault::Unpredictable { .. }),
        };
        if !agrees {
            let mnemonic = listed.map(|(mnemonic, _)| mnemonic);
            let kind = format!("{:?} {mnemonic:?}", row_of(first, second));
            let ours = ours.map(|instruction| text(&instruction));
            let example = format!("{first:04x} {second:04x}: {ours:?}, capstone: {listed:?}");
            self.wrong.insert(kind, example);
        }
    }

    /// All narrow instructions, and for each first halfword of a wide one so many second ones.
    pub fn compare_all(&mut self, seconds: u32, mut random: impl FnMut() -> u32) {
        for first in 0..=u16::MAX {
            let seconds = if length(first) == 2 { 1 } else { seconds };
            for _ in 0..seconds {
                self.compare(first, random() as u16);
            }
        }
    }

    /// With at least so many instructions that both have, and that both have not.
    pub fn assert_same(&self, same: u64, undefined: u64) {
        let wrong: Vec<_> = self.wrong.values().map(String::as_str).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(self.same >= same, "{} are the same", self.same);
        assert!(self.undefined >= undefined, "{} undefined", self.undefined);
    }
}

fn is_same(instruction: &Instruction, mnemonic: &str, operands: &str) -> bool {
    let name = instruction.name.split(' ').next().unwrap().to_lowercase();
    let (ours, listed) = (text(instruction), canonical(mnemonic, operands));
    match instruction.operation {
        Operation::Nop => {
            // Hints without a name here have one in the A profile; DFB is one of the DSBs.
            let hints = [
                &*name, "hint", "sevl", "esb", "pld", "csdb", "dfb", "ssbb", "pssbb",
            ];
            hints.iter().any(|hint| mnemonic.starts_with(hint))
        }
        Operation::Hint | Operation::Sleep | Operation::ClearExclusive => listed == name,
        // One of them is the breakpoint of an operating system.
        Operation::PermanentlyUndefined => ["udf", "udf.w", "trap"].contains(&mnemonic),
        _ if ours == listed => true,
        // ADD (SP plus register), T1: the other way round, with the same sum.
        Operation::Alu { rd, .. } => {
            ours == format!("add r{rd}, r13") && listed == format!("add r{rd}, r13, r{rd}")
        }
        // ADR that subtracts nothing.
        Operation::Address { rd, offset: 0 } => listed == format!("sub r{rd}, r15, #0"),
        _ => false,
    }
}

/// What capstone does not have: a breakpoint of NaCl (UDF 249), and the hints in the
/// place of loads of halfwords to r15 (Armv7-M, A5.3.8).
fn is_missing(instruction: &Instruction) -> bool {
    use Operation::*;
    match instruction.operation {
        PermanentlyUndefined => true,
        Nop => instruction.name == "memory hint",
        _ => false,
    }
}

/// What capstone has of other profiles, and where it does not tell the architecture.
fn is_elsewhere(first: u16, second: u16) -> bool {
    let coprocessor = second >> 8 & 15;
    let is_coprocessor = first & 0xec00 == 0xec00;
    // Where the top bit of a double-precision register would be: there are 16 of them.
    let is_high = coprocessor == 11 && (first & 0x0040 | second & 0x00a0) != 0;
    let is_widened = first == 0xeef7 && second & 0x0fd0 == 0x0ac0;
    // Advanced SIMD.
    let is_advanced = first & 0xef00 == 0xef00 || first & 0xff10 == 0xf900;
    // Bit 15 of ORR and MOV should be 0 in Armv7-M; in Armv8.1-M the conditional selects are here.
    let is_select = first & 0xffe0 == 0xea40 && second >> 15 == 1;
    is_advanced
        || is_select
        || is_coprocessor && (!matches!(coprocessor, 10 | 11) || is_high || is_widened)
}

/// Instructions of the A profile, of the security extension, half precision, and coprocessors 10 and 11 as others.
fn is_not_of_the_profile(mnemonic: &str) -> bool {
    let mnemonic = mnemonic.trim_end_matches(".w");
    let is_special = ["vmsr", "vmrs", "hvc", "smc", "vdup.32"].contains(&mnemonic);
    let is_secure = ["vlstm", "vlldm"].contains(&mnemonic);
    let is_coprocessor = ["stc2", "ldc2", "stc2l", "ldc2l"].contains(&mnemonic);
    is_special || is_secure || is_coprocessor || mnemonic.ends_with(".f16")
}
