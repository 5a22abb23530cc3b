//! Other engines that execute the same program side by side with the one that is checked.
//!
//! They follow it: at the end of each block, or of the first one after some instructions, each runs
//! up to the same time, and has to have the same registers, to have made the same accesses, byte
//! for byte, and to have stored the same values. What the private peripherals gave to the engine
//! that is checked is given to the others too, for their clocks may differ between instructions.

use super::{CheckError, CoreState, Reported, bytes_of, describe};
use crate::mcu::system;
use dmo_analysis::trace::{AccessKind, Address};
use std::ops::Range;

/// Flags N, Z, C, V, Q and GE in a status register.
const FLAGS: u32 = 0xf80f_0000;

/// The accesses of one execution of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// When, in executed instructions, its own included.
    pub time: u64,
    /// The instruction's address.
    pub pc: u32,
    /// What it accesses, in any order.
    pub accesses: Vec<Reported>,
}

impl Executed {
    fn is_as(&self, other: &Self) -> bool {
        (self.time, self.pc) == (other.time, other.pc)
            && bytes_of(&self.accesses) == bytes_of(&other.accesses)
    }
}

/// An engine that follows another.
pub trait Companion {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Goes on at this state, at this time. Accesses that were not taken are forgotten.
    fn take_over(&mut self, state: &CoreState, floats: Option<&[u32; 32]>, time: u64);
    /// Runs until this many instructions are executed in all.
    ///
    /// # Errors
    /// Why it has stopped before.
    fn advance(&mut self, time: u64) -> Result<(), String>;
    /// The accesses since the last call, without those to the private peripherals.
    fn take_accesses(&mut self) -> Vec<Executed>;
    /// Its registers.
    fn state(&self) -> CoreState;
    /// s0 to s31; `None` without a floating-point unit.
    fn floats(&self) -> Option<[u32; 32]>;
    /// What its next load from the private peripherals gives.
    fn answer(&mut self, value: u32);
    /// Its memory, by regions.
    fn regions(&self) -> Vec<Range<u64>>;
    /// Reads its memory from outside; `None` if there is none.
    fn read(&self, address: u32, size_bytes: usize) -> Option<Vec<u8>>;
    /// Writes its memory from outside, read-only memory too.
    fn write(&mut self, address: u32, bytes: &[u8]);
}

/// A companion, and how often it is compared.
pub(super) struct Follower {
    companion: Box<dyn Companion>,
    /// Compared at the end of the first block after this many instructions; 0 for each block.
    stride: u64,
    /// When it was compared last, or has taken over.
    compared: u64,
    /// What has been executed since.
    executed: Vec<Executed>,
}

impl Follower {
    pub(super) fn new(companion: Box<dyn Companion>, stride: u64) -> Self {
        Self {
            companion,
            stride,
            compared: 0,
            executed: Vec::new(),
        }
    }

    pub(super) fn take_over(&mut self, state: &CoreState, floats: Option<&[u32; 32]>, time: u64) {
        self.executed.clear();
        self.compared = time;
        self.companion.take_over(state, floats, time);
    }

    /// The engine that is checked has executed an instruction.
    pub(super) fn executed(&mut self, executed: &Executed) {
        if executed.time <= self.compared {
            return;
        }
        let mut executed = executed.clone();
        executed
            .accesses
            .retain(|access| u64::from(access.address) < system::START);
        if !executed.accesses.is_empty() {
            self.executed.push(executed);
        }
    }

    pub(super) fn answer(&mut self, value: u32) {
        self.companion.answer(value);
    }

    pub(super) fn write(&mut self, address: u32, bytes: &[u8]) {
        self.companion.write(address, bytes);
    }

    /// Whether it is to be compared at the end of a block at this time.
    pub(super) fn is_due(&self, time: u64) -> bool {
        time > self.compared + self.stride
    }

    /// Runs up to this time and compares. Accesses after it wait for the next time.
    pub(super) fn compare(
        &mut self,
        time: u64,
        expected: &CoreState,
        shadow: impl Fn(u32) -> Option<u8>,
    ) -> Result<(), CheckError> {
        let since = std::mem::replace(&mut self.compared, time);
        let advanced = self.companion.advance(time);
        let later = self.executed.partition_point(|one| one.time <= time);
        let later = self.executed.split_off(later);
        let executed = std::mem::replace(&mut self.executed, later);
        let taken = self.companion.take_accesses();
        let stopped = advanced.err().map(|why| (self.companion.state().pc, why));
        let difference = match (access_difference(&executed, &taken), stopped) {
            // It has stopped at the instruction that does not access what it should.
            (Some((pc, _)), Some(stopped)) if pc == stopped.0 => Some(stopped),
            (Some(accesses), _) => Some(accesses),
            (None, stopped) => stopped,
        };
        let difference = difference
            .or_else(|| {
                let difference = state_difference(expected, &self.companion.state());
                difference.map(|what| (expected.pc, what))
            })
            .or_else(|| {
                let difference = self.memory_difference(&executed, shadow);
                difference.map(|what| (expected.pc, what))
            });
        match difference {
            None => Ok(()),
            Some((pc, what)) => Err(CheckError::Differs {
                engine: self.companion.name(),
                since,
                time,
                pc: Address(pc),
                what,
            }),
        }
    }

    /// An error at a time at which it has been compared.
    pub(super) fn difference(&self, time: u64, pc: u32, what: String) -> CheckError {
        CheckError::Differs {
            engine: self.companion.name(),
            since: time,
            time,
            pc: Address(pc),
            what,
        }
    }

    /// Compares the floating-point registers, and all of memory.
    pub(super) fn compare_rest(
        &self,
        floats: Option<&[u32; 32]>,
        shadow: &[(u32, Vec<u8>)],
    ) -> Option<String> {
        let ours = self.companion.floats();
        if let (Some(expected), Some(found)) = (floats, &ours)
            && let Some(index) = (0..32).find(|&index| expected[index] != found[index])
        {
            let (expected, found) = (expected[index], found[index]);
            return Some(format!("s{index} is {found:#010x}, not {expected:#010x}"));
        }
        shadow.iter().find_map(|(start, bytes)| {
            let found = self.companion.read(*start, bytes.len())?;
            let at = found.iter().zip(bytes).position(|(a, b)| a != b)?;
            self.byte_difference(start + at as u32, bytes[at])
        })
    }

    fn memory_difference(
        &self,
        executed: &[Executed],
        shadow: impl Fn(u32) -> Option<u8>,
    ) -> Option<String> {
        let accesses = executed.iter().flat_map(|one| &one.accesses);
        let stores = accesses.filter(|access| access.kind == AccessKind::Store);
        let mut bytes = stores
            .flat_map(|store| (0..store.size_bytes).map(|byte| store.address.wrapping_add(byte)));
        bytes.find_map(|address| self.byte_difference(address, shadow(address)?))
    }

    fn byte_difference(&self, address: u32, expected: u8) -> Option<String> {
        let found = self.companion.read(address, 1)?.first().copied()?;
        (found != expected)
            .then(|| format!("the byte at {address:#010x} is {found:#04x}, not {expected:#04x}"))
    }
}

/// The first instruction that accesses something else, and what.
fn access_difference(expected: &[Executed], found: &[Executed]) -> Option<(u32, String)> {
    let count = expected.len().max(found.len());
    let at = (0..count).find(|&index| match (expected.get(index), found.get(index)) {
        (Some(expected), Some(found)) => !expected.is_as(found),
        _ => true,
    })?;
    let text = |executed: Option<&Executed>| match executed {
        Some(one) => {
            let (what, pc) = (describe(&one.accesses), one.pc);
            format!(
                "{what} by the instruction at {pc:#010x} at time {}",
                one.time
            )
        }
        None => "nothing".to_owned(),
    };
    let (expected, found) = (expected.get(at), found.get(at));
    let pc = expected.or(found).map_or(0, |one| one.pc);
    Some((pc, format!("{}, not {}", text(found), text(expected))))
}

/// The first register that differs.
fn state_difference(expected: &CoreState, found: &CoreState) -> Option<String> {
    if expected.pc != found.pc {
        let (expected, found) = (expected.pc, found.pc);
        return Some(format!("it is at {found:#010x}, not at {expected:#010x}"));
    }
    let mut registers = expected.registers.iter().zip(&found.registers).enumerate();
    if let Some((index, (expected, found))) = registers.find(|(_, (a, b))| a != b) {
        return Some(format!("r{index} is {found:#010x}, not {expected:#010x}"));
    }
    let [expected, found] = [expected, found].map(|state| state.status & FLAGS);
    (expected != found).then(|| format!("the flags are {found:#010x}, not {expected:#010x}"))
}
