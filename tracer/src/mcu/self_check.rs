//! The self-check: holds every load and store that the emulator reports against an
//! independent decode of the executed instructions, the final memory against a
//! replay of the reported stores, and all of it against other engines.

mod side_by_side;

pub use side_by_side::{Companion, Executed};

use crate::mcu::decode::{Instruction, Memory, decode};
use dmo_analysis::trace::{AccessKind, Address};
use side_by_side::Follower;
use std::collections::VecDeque;

/// A load or store as the emulator reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported {
    /// Load or store.
    pub kind: AccessKind,
    /// First byte.
    pub address: u32,
    /// Length, 1 to 8.
    pub size_bytes: u32,
    /// The value stored, little-endian; 0 for a load.
    pub value: u64,
}

/// The state of the core before an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreState {
    /// The instruction's address.
    pub pc: u32,
    /// r0 to r14.
    pub registers: [u32; 15],
    /// Flags N, Z, C, V in bits 31 to 28.
    pub status: u32,
}

/// A disagreement between the emulator and the self-check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CheckError {
    #[error("the instruction at {pc} accesses {expected}, the emulator reported {reported}")]
    Mismatch {
        pc: Address,
        expected: String,
        reported: String,
    },
    #[error("the instruction at {pc} accesses memory in a way that the self-check does not know")]
    Unknown { pc: Address },
    #[error("after the instruction at {from} the emulator went on at {to}, skipping {skipped}")]
    Skipped {
        from: Address,
        to: Address,
        skipped: Address,
    },
    #[error(
        "replaying the reported stores gives {replayed:#04x} at {address}, memory holds {actual:#04x}"
    )]
    Replay {
        address: Address,
        replayed: u8,
        actual: u8,
    },
    #[error(
        "the {engine} differs after {time} instructions, before or at the one at {pc}: {what}\n  both were the same after {since} instructions"
    )]
    Differs {
        engine: &'static str,
        since: u64,
        time: u64,
        pc: Address,
        what: String,
    },
    #[error("the clock says {clock} executed instructions, {counted} were counted one by one")]
    Clock { clock: u64, counted: u64 },
}

/// The self-check of one run.
pub struct Checker {
    /// The instruction being executed, and what it should access.
    current: Option<Current>,
    reported: Vec<Reported>,
    conditions: VecDeque<u8>,
    shadow: Vec<(u32, Vec<u8>)>,
    executed: u64,
    followers: Vec<Follower>,
    error: Option<CheckError>,
}

struct Current {
    /// The state before it.
    state: CoreState,
    pc: u32,
    instruction: Instruction,
    expected: Option<Reported>,
    may_fail: bool,
}

impl Checker {
    /// A check that starts from the given contents of the writable memory, as pairs of
    /// first address and bytes.
    pub fn new(memory: Vec<(u32, Vec<u8>)>) -> Self {
        Self {
            current: None,
            reported: Vec::new(),
            conditions: VecDeque::new(),
            shadow: memory,
            executed: 0,
            followers: Vec::new(),
            error: None,
        }
    }

    /// Has another engine execute the same side by side, and compares it at the ends of blocks: of
    /// each, or of the first one after `stride` instructions.
    /// Its memory becomes what `read` gives.
    pub fn follow_by(
        &mut self,
        mut companion: Box<dyn Companion>,
        stride: u64,
        read: impl Fn(u32, usize) -> Option<Vec<u8>>,
    ) {
        for region in companion.regions() {
            let start = region.start as u32;
            if let Some(bytes) = read(start, (region.end - region.start) as usize) {
                companion.write(start, &bytes);
            }
        }
        self.followers.push(Follower::new(companion, stride));
    }

    /// A run begins here: registers may have been changed from outside.
    pub fn begin(&mut self, state: &CoreState, floats: Option<&[u32; 32]>) {
        for follower in &mut self.followers {
            follower.take_over(state, floats, self.executed);
        }
    }

    /// A run has stopped with the program counter here: at the instruction that was about to
    /// execute, or after it. The state before that one is compared.
    pub fn pause(&mut self, pc: u32, floats: Option<&[u32; 32]>) {
        let Some(current) = &self.current else {
            return;
        };
        let state = current.state;
        let before = self.executed.saturating_sub(1);
        self.compare(&state, before, |_| true);
        // Of several loads, some may have been made.
        let floats = floats.filter(|_| pc == state.pc && self.reported.is_empty());
        let mut reported = self.reported.iter();
        let has_stored = reported.any(|access| access.kind == AccessKind::Store);
        let shadow = if has_stored { &[] } else { &self.shadow[..] };
        let mut followers = self.followers.iter();
        let difference = followers.find_map(|follower| {
            let what = follower.compare_rest(floats, shadow)?;
            Some(follower.difference(before, state.pc, what))
        });
        if let Some(error) = difference {
            self.fail(error);
        }
    }

    /// The private peripherals have given this to a load.
    pub fn answer(&mut self, value: u32) {
        for follower in &mut self.followers {
            follower.answer(value);
        }
    }

    /// Compares the followers that are due, at a state and the time of it.
    fn compare(&mut self, state: &CoreState, time: u64, is_due: impl Fn(&Follower) -> bool) {
        if self.error.is_some() {
            return;
        }
        let (shadow, reported) = (&self.shadow, &self.reported);
        // The instruction that is under way may have stored something already.
        let is_under_way = |address: u32| {
            let mut stores = reported.iter().filter(|it| it.kind == AccessKind::Store);
            stores.any(|it| address.wrapping_sub(it.address) < it.size_bytes)
        };
        let known = |address| byte_of(shadow, address).filter(|_| !is_under_way(address));
        let mut followers = self
            .followers
            .iter_mut()
            .filter(|follower| is_due(follower));
        let error = followers.find_map(|follower| {
            let compared = follower.compare(time, state, known);
            compared.err()
        });
        if let Some(error) = error {
            self.fail(error);
        }
    }

    /// The first thing that went wrong.
    pub fn error(&self) -> Option<&CheckError> {
        self.error.as_ref()
    }

    /// An instruction is about to execute. `fetch` reads two halfwords of code.
    pub fn execute(&mut self, core: &CoreState, fetch: impl Fn(u32) -> [u16; 2]) {
        self.settle();
        let block_ends = self
            .current
            .as_ref()
            .is_some_and(|current| current.instruction.may_branch);
        self.follow(core, &fetch);
        if block_ends {
            let time = self.executed;
            self.compare(core, time, |follower| follower.is_due(time));
        }
        let instruction = decode_at(core.pc, &fetch);
        self.executed += 1;
        let condition = self.conditions.pop_front();
        let passes = condition.is_none_or(|condition| holds(condition, core.status));
        if let Some(it) = instruction.it {
            self.conditions = it_conditions(it);
        }
        let mut current = Current {
            state: *core,
            pc: core.pc,
            instruction,
            expected: None,
            may_fail: false,
        };
        match instruction.memory {
            _ if !passes => {}
            Memory::Untouched => {}
            Memory::Unknown => self.fail(CheckError::Unknown {
                pc: Address(core.pc),
            }),
            Memory::Access(access) => {
                current.may_fail = access.may_fail;
                current.expected = Some(Reported {
                    kind: access.kind,
                    address: access.address(core.pc, &core.registers),
                    size_bytes: access.bytes,
                    value: 0,
                });
            }
        }
        self.current = Some(current);
    }

    /// The instruction that was about to execute does not, for now. It stands outside IT
    /// blocks.
    pub fn withdraw(&mut self) {
        self.current = None;
        self.conditions.clear();
        self.executed = self.executed.saturating_sub(1);
    }

    /// The current instruction accesses memory.
    pub fn report(&mut self, access: Reported) {
        if access.kind == AccessKind::Store {
            let bytes = access.value.to_le_bytes();
            self.replay(access.address, &bytes[..access.size_bytes.min(8) as usize]);
        }
        self.reported.push(access);
    }

    /// Memory changes for another reason than an instruction.
    pub fn write(&mut self, address: u32, bytes: &[u8]) {
        for follower in &mut self.followers {
            follower.write(address, bytes);
        }
        self.replay(address, bytes);
    }

    fn replay(&mut self, address: u32, bytes: &[u8]) {
        for (start, shadow) in &mut self.shadow {
            let Some(offset) = address.checked_sub(*start) else {
                continue;
            };
            let offset = offset as usize;
            if let Some(target) = shadow.get_mut(offset..offset + bytes.len()) {
                target.copy_from_slice(bytes);
            }
        }
    }

    /// The program has stopped: settles the last instruction, compares the count with
    /// the clock's and the shadow with the memory that `read` gives.
    ///
    /// # Errors
    /// The first mismatch of the whole run.
    pub fn finish(
        &mut self,
        clock: u64,
        mut read: impl FnMut(u32, usize) -> Vec<u8>,
    ) -> Result<(), CheckError> {
        self.settle();
        self.current = None;
        for (start, shadow) in std::mem::take(&mut self.shadow) {
            let actual = read(start, shadow.len());
            // Memory that cannot be read differs too.
            let missing = (actual.len() < shadow.len()).then_some(actual.len());
            let differs = shadow.iter().zip(&actual).position(|(a, b)| a != b);
            let differs = differs.or(missing);
            if let Some(at) = differs {
                self.fail(CheckError::Replay {
                    address: Address(start + at as u32),
                    replayed: shadow[at],
                    actual: actual.get(at).copied().unwrap_or_default(),
                });
            }
        }
        if clock != self.executed {
            self.fail(CheckError::Clock {
                clock,
                counted: self.executed,
            });
        }
        self.error.take().map_or(Ok(()), Err)
    }

    fn fail(&mut self, error: CheckError) {
        self.error.get_or_insert(error);
    }

    /// Compares what the previous instruction should have accessed with the reports.
    fn settle(&mut self) {
        let reported = std::mem::take(&mut self.reported);
        let Some(current) = self.current.take() else {
            return;
        };
        let expected: Vec<Reported> = current.expected.into_iter().collect();
        let agrees =
            bytes_of(&expected) == bytes_of(&reported) || (current.may_fail && reported.is_empty());
        if !agrees {
            self.fail(CheckError::Mismatch {
                pc: Address(current.pc),
                expected: describe(&expected),
                reported: describe(&reported),
            });
        }
        if !self.followers.is_empty() {
            let executed = Executed {
                time: self.executed,
                pc: current.pc,
                accesses: reported,
            };
            for follower in &mut self.followers {
                follower.executed(&executed);
            }
        }
        self.current = Some(current);
    }

    /// From the previous instruction to this one: no instruction may be left out but
    /// those that an IT block skips.
    fn follow(&mut self, core: &CoreState, fetch: &impl Fn(u32) -> [u16; 2]) {
        let Some(previous) = self.current.take() else {
            return;
        };
        let mut next = previous.pc + previous.instruction.length_bytes;
        // A branch inside an IT block is its last instruction; BKPT, which counts as one, need not be.
        if previous.instruction.may_branch && self.conditions.is_empty() {
            return;
        }
        while next != core.pc {
            let skippable = self
                .conditions
                .pop_front()
                .is_some_and(|condition| !holds(condition, core.status));
            if !skippable {
                return self.fail(CheckError::Skipped {
                    from: Address(previous.pc),
                    to: Address(core.pc),
                    skipped: Address(next),
                });
            }
            self.executed += 1;
            next += decode_at(next, fetch).length_bytes;
        }
    }
}

/// A byte of the memory that the reported stores give.
fn byte_of(shadow: &[(u32, Vec<u8>)], address: u32) -> Option<u8> {
    shadow.iter().find_map(|(start, bytes)| {
        let offset = address.checked_sub(*start)?;
        bytes.get(offset as usize).copied()
    })
}

/// Decoded each time: code in RAM may change.
fn decode_at(pc: u32, fetch: &impl Fn(u32) -> [u16; 2]) -> Instruction {
    let [first, second] = fetch(pc);
    decode(first, second)
}

/// The conditions of the instructions that follow an IT.
fn it_conditions(it: u8) -> VecDeque<u8> {
    let (base, mask) = (it >> 4, it & 0xf);
    let count = 4 - mask.trailing_zeros();
    (0..count)
        .map(|index| match index {
            0 => base,
            _ => base & 0xe | mask >> (4 - index) & 1,
        })
        .collect()
}

/// Returns `true` if a condition holds for the flags (Armv7-M manual, table A7-1).
fn holds(condition: u8, status: u32) -> bool {
    let flag = |index: u32| status >> index & 1 == 1;
    let (n, z, c, v) = (flag(31), flag(30), flag(29), flag(28));
    let result = match condition >> 1 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c && !z,
        5 => n == v,
        6 => n == v && !z,
        _ => return true,
    };
    result != (condition & 1 == 1)
}

fn bytes_of(accesses: &[Reported]) -> Vec<(bool, u32)> {
    let mut bytes: Vec<_> = accesses
        .iter()
        .flat_map(|access| {
            (0..access.size_bytes).map(|byte| {
                (
                    access.kind == AccessKind::Store,
                    access.address.wrapping_add(byte),
                )
            })
        })
        .collect();
    bytes.sort_unstable();
    bytes
}

fn describe(accesses: &[Reported]) -> String {
    if accesses.is_empty() {
        return "nothing".to_owned();
    }
    let one = |access: &Reported| {
        format!(
            "{} of {} bytes at {:#010x}",
            access.kind.name(),
            access.size_bytes,
            access.address
        )
    };
    accesses.iter().map(one).collect::<Vec<_>>().join(", ")
}
