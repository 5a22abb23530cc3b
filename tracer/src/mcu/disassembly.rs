//! Instructions in assembly language.

use capstone::prelude::*;

/// Disassembles single Thumb instructions.
pub struct Disassembler(Option<Capstone>);

impl Default for Disassembler {
    fn default() -> Self {
        let capstone = Capstone::new()
            .arm()
            .mode(arch::arm::ArchMode::Thumb)
            .extra_mode([arch::arm::ArchExtraMode::MClass].into_iter())
            .build();
        Self(capstone.ok())
    }
}

impl Disassembler {
    /// The instruction that starts with these bytes at `pc`.
    pub fn at(&self, pc: u32, code: &[u8]) -> Option<String> {
        let instructions = self.0.as_ref()?.disasm_count(code, pc.into(), 1).ok()?;
        let instruction = instructions.first()?;
        let mnemonic = instruction.mnemonic()?;
        Some(match instruction.op_str() {
            Some(operands) if !operands.is_empty() => format!("{mnemonic} {operands}"),
            _ => mnemonic.to_owned(),
        })
    }
}
