//! A state and the instructions to be executed in it.

mod draw;
mod prepare;

pub use draw::{Kind, draw, of_bytes};

use dmo_engine::operation::{Instruction, Operation};

/// An instruction of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// Its first halfword, and its second where it has one.
    pub halfwords: [u16; 2],
    /// Its length in bytes.
    pub bytes: u8,
    /// What it is; `None` if the core does not have it.
    pub instruction: Option<Instruction>,
}

impl Drawn {
    /// What it does; `None` if the core does not have it.
    pub fn operation(&self) -> Option<Operation> {
        self.instruction.map(|instruction| instruction.operation)
    }

    /// As in a listing.
    pub fn hex(&self) -> String {
        let [first, second] = self.halfwords;
        match self.bytes {
            2 => format!("{first:04x}"),
            _ => format!("{first:04x} {second:04x}"),
        }
    }
}

/// A state and the instructions to be executed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The random numbers that it was made of.
    pub seed: u64,
    /// Where the code is.
    pub address: u32,
    /// The instructions.
    pub instructions: Vec<Drawn>,
    /// r0 to r14.
    pub registers: [u32; 15],
    /// Flags, as in the program status register.
    pub status: u32,
    /// Floating-point status and control.
    pub float_status: u32,
    /// s0 to s31.
    pub floats: [u32; 32],
    /// What is in memory.
    pub ram: Ram,
}

/// What is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ram {
    /// Words of all kinds; beginning with this one of many.
    Words(u32),
    /// Addresses of code; beginning with this one of many.
    CodeAddresses(u32),
}

impl Case {
    /// The bytes of its code.
    pub fn code(&self) -> Vec<u8> {
        let halfwords = self.instructions.iter().flat_map(|drawn| {
            drawn
                .halfwords
                .into_iter()
                .take(usize::from(drawn.bytes / 2))
        });
        halfwords.flat_map(u16::to_le_bytes).collect()
    }

    /// Whether the core has all of its instructions.
    pub fn is_on_core(&self) -> bool {
        let mut instructions = self.instructions.iter();
        instructions.all(|drawn| drawn.instruction.is_some())
    }

    /// The same with its first instructions only.
    pub fn first(&self, count: usize) -> Self {
        let mut case = self.clone();
        case.instructions.truncate(count);
        case
    }

    /// Its instructions, as in a listing.
    pub fn listing(&self) -> String {
        let lines = self
            .instructions
            .iter()
            .map(|drawn| match drawn.operation() {
                Some(operation) => format!("  {:<10} {operation:?}", drawn.hex()),
                None => format!("  {:<10} not on this core", drawn.hex()),
            });
        lines.collect::<Vec<_>>().join("\n")
    }
}
