//! Inspects a program at given execution points, without stopping it.

use dmo_analysis::trace::{Address, Time};

/// One execution of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionPoint {
    /// Time in executed instructions, this one included.
    pub time: Time,
    /// Address of the instruction.
    pub pc: Address,
}

/// What an inspection sees.
pub(super) trait Sight {
    fn register(&self, index: usize) -> u32;
    fn float_register(&self, index: i32) -> Option<u32>;
    fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>>;
}

/// The core and its memory, just before an instruction executes.
pub struct CoreState<'a> {
    pub(super) sight: &'a dyn Sight,
    /// The execution that is about to happen.
    pub point: ExecutionPoint,
}

impl CoreState<'_> {
    /// r0 to r15, the last the address of the instruction.
    pub fn registers(&self) -> [u32; 16] {
        std::array::from_fn(|index| match index {
            15 => self.point.pc.0,
            _ => self.sight.register(index),
        })
    }

    /// s0 to s31 as bits; each `None` without a floating-point unit.
    pub fn float_registers(&self) -> [Option<u32>; 32] {
        std::array::from_fn(|index| self.sight.float_register(index as i32))
    }

    /// Reads memory; `None` if none is mapped there.
    pub fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.sight.read(address, size_bytes)
    }
}

/// Called with the state at an execution point.
pub type Inspector = Box<dyn FnMut(&CoreState<'_>)>;
