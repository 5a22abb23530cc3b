//! Branches on data whose ways are long: both are executed aside, up to where they meet.
//!
//! What a way does there it does whatever the data are, if nothing on it that depends decides anything.
//! Where both access the same memory in the same order, beside what nobody asks about, it cannot be told
//! which was taken. What both leave in the same state does not depend.

use super::memory::TaintedMemory;
use super::paths::{Node, fixed_instruction, ways};
use super::places::{C, COMPARED, EXCEPTIONS, GE, N, Places, Q, V, Z, core};
use super::transfer::Kind;
use super::{LR, Step, Taint, Underway};
use crate::core::Core;
use crate::cycles::Cycles;
use crate::decode::it_rule;
use crate::features::Features;
use crate::interpreter::{Flow, step};
use crate::memory::Memory;
use crate::operation::Instruction;
use std::collections::{BTreeMap, BTreeSet};

/// The most instructions of a way: short ones are tried first.
const MOST_INSTRUCTIONS: [u32; 3] = [64, 512, 4096];
/// Instructions, and words stored, that may be executed aside, and how many more for each instruction of
/// the program, so that it comes to an end.
const MOST_ASIDE: u64 = 1 << 22;
const MOST_ASIDE_EACH: u64 = 64;
/// Branches on data on the ways of branches on data, at most.
const MOST_DEEP: u32 = 3;

/// What is known of a branch whose ways were executed aside.
pub(super) struct LongDetour {
    /// Where each begins, and how many instructions it takes to where they meet.
    ways: [(u32, u64); 2],
    /// When the ways meet, in executed instructions; `None` before the first instruction of either.
    end: Option<u64>,
    /// Registers that depend there.
    pub(super) places: Places,
    /// Bytes that either way stores to: they depend there.
    stored: BTreeSet<u32>,
}

impl LongDetour {
    /// Whether the ways meet here; at its first instruction a way is known by its address.
    pub(super) fn ends_at(&mut self, here: &Core) -> bool {
        let end = *self.end.get_or_insert_with(|| {
            let taken = self.ways.iter().find(|(start, _)| *start == here.r[15]);
            let known = taken.map(|(_, instructions)| *instructions);
            if known.is_none() {
                // Of a way that is neither nothing is known.
                self.places = Places::MAX & !core(15);
            }
            here.time + known.unwrap_or(0)
        });
        here.time == end
    }
}

/// A place where ways meet: outside IT blocks, and with the same stack pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meeting {
    pc: u32,
    stack_pointer: u32,
}

impl Meeting {
    /// Where the core is, if it may be one.
    fn of(core: &Core) -> Option<Self> {
        (core.it == 0).then_some(Self {
            pc: core.r[15],
            stack_pointer: core.r[13],
        })
    }
}

/// What is executed aside.
#[derive(Default)]
pub(super) struct Aside {
    /// What was in memory before, and whether it depended, byte by byte.
    before: Vec<(u32, u8, bool)>,
    /// Data have decided something.
    pub(super) does_harm: bool,
    /// Accesses that others ask about, in order.
    pub(super) accesses: Vec<Access>,
    deep: u32,
}

/// An access: what kind, and of which bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) kind: Kind,
    pub(super) address: u32,
    pub(super) size_bytes: u32,
}

impl Aside {
    /// These bytes are about to be stored to.
    pub(super) fn log(
        &mut self,
        memory: &Memory,
        tainted: &TaintedMemory,
        address: u32,
        size_bytes: u32,
    ) {
        let bytes = memory
            .read(address, size_bytes as usize)
            .unwrap_or_default();
        for (address, byte) in (address..).zip(bytes) {
            self.before.push((address, byte, tainted.any(address, 1)));
        }
    }
}

/// A way, as far as it was executed.
struct Way {
    /// Where it came by first, and was not on a detour, after how many accesses.
    places: BTreeMap<Meeting, usize>,
    accesses: Vec<Access>,
    /// The core, and what depends in it, where the way was to end; `None` if it did not come there.
    end: Option<(Core, Places)>,
    stored: BTreeSet<u32>,
}

impl Taint {
    /// Executes both ways of a branch aside. Where they meet, and decide nothing, the program is on a
    /// detour from here on.
    pub(super) fn fork(&mut self, step: Step, memory: &mut Memory) -> bool {
        let is_outermost = self.aside.is_none();
        let spent = self.spent_aside > self.may_spend(step.core.time);
        let aside = self.aside.get_or_insert_default();
        let may_fork = aside.deep < MOST_DEEP && !aside.does_harm && !spent;
        aside.deep += 1;
        memory.is_aside = true;
        let mut limits = MOST_INSTRUCTIONS.into_iter().filter(|_| may_fork);
        let found = limits.find_map(|most| self.meeting(step, memory, most));
        memory.is_aside = !is_outermost;
        if let Some(aside) = &mut self.aside {
            aside.deep -= 1;
        }
        if is_outermost {
            self.aside = None;
        }
        let Some((detour, accesses)) = found else {
            return false;
        };
        // Of an outer way that is executed aside these are undone with it.
        for &address in &detour.stored {
            self.set_memory(memory, address, 1, true);
        }
        if let Some(aside) = &mut self.aside {
            aside.accesses.extend(accesses);
        }
        self.underway.push(Underway::Long(detour));
        true
    }

    /// Where both ways meet, what depends there, and what both access.
    fn meeting(
        &mut self,
        step: Step,
        memory: &mut Memory,
        most: u32,
    ) -> Option<(LongDetour, Vec<Access>)> {
        let starts = ways(step.pc(), step.core.it, step.operation, step.bytes)?;
        let starts = starts.into_iter().map(|node| self.start(step.core, node));
        let starts: Vec<Core> = starts.collect::<Option<_>>()?;
        let starts = <[Core; 2]>::try_from(starts).ok()?;
        let mut walk = |start: &Core, end: &dyn Fn(Meeting, &[Access]) -> bool| {
            self.walk(start.clone(), memory, (step.features, most), end)
        };
        let passed = walk(&starts[0], &|_, _| false);
        let second = walk(&starts[1], &|here, accesses| {
            let known = passed.places.get(&here);
            known.is_some_and(|&count| passed.accesses[..count] == *accesses)
        });
        let (second_core, second_places) = second.end?;
        let meeting = Meeting::of(&second_core)?;
        let first = walk(&starts[0], &|here, _| here == meeting);
        let (first_core, first_places) = first.end?;
        let instructions = |end: &Core| end.time - step.core.time;
        let detour = LongDetour {
            ways: [
                (starts[0].r[15], instructions(&first_core)),
                (starts[1].r[15], instructions(&second_core)),
            ],
            end: None,
            places: first_places | second_places | differences(&first_core, &second_core),
            stored: first.stored.union(&second.stored).copied().collect(),
        };
        let alike = unfollowed(&first_core) == unfollowed(&second_core);
        alike.then_some((detour, second.accesses))
    }

    /// What may be executed aside until this time.
    fn may_spend(&self, time: u64) -> u64 {
        let executed = time.saturating_sub(self.begun);
        MOST_ASIDE.saturating_add(MOST_ASIDE_EACH.saturating_mul(executed))
    }

    /// The core where a way begins.
    fn start(&self, before: &Core, node: Node) -> Option<Core> {
        let (pc, it) = match node {
            Node::At(pc, it) => (pc, it),
            Node::Return if self.places & core(LR) != 0 => return None,
            Node::Return => (before.r[usize::from(LR)] & !1, 0),
        };
        let mut core = before.clone();
        (core.r[15], core.it) = (pc, it);
        Some(core)
    }

    /// Executes so many instructions, until a place that is an end after these accesses, or until data
    /// decide something. Nothing of it has happened afterwards.
    fn walk(
        &mut self,
        mut core: Core,
        memory: &mut Memory,
        (features, most): (&Features, u32),
        is_end: &dyn Fn(Meeting, &[Access]) -> bool,
    ) -> Way {
        let logged = self.aside.as_ref().map_or(0, |it| it.before.len());
        let accessed = self.aside.as_ref().map_or(0, |it| it.accesses.len());
        let (places, underway) = (self.places, std::mem::take(&mut self.underway));
        let ranges = self.ranges.clone();
        let mut way = Way {
            places: BTreeMap::new(),
            accesses: Vec::new(),
            end: None,
            stored: BTreeSet::new(),
        };
        for _ in 0..most {
            self.spent_aside += 1;
            self.end_detours(&core);
            // On a detour it need not come by here.
            if self.underway.is_empty()
                && let Some(here) = Meeting::of(&core)
            {
                let accesses = self.aside.as_ref().map_or(&[][..], |it| &it.accesses);
                let accesses = &accesses[accessed..];
                if is_end(here, accesses) {
                    way.end = Some((core.clone(), self.places));
                    break;
                }
                way.places.entry(here).or_insert(accesses.len());
            }
            if !self.walk_on(&mut core, memory, features) {
                break;
            }
        }
        let undone = self.aside.as_mut().map(|aside| {
            aside.does_harm = false;
            way.accesses = aside.accesses.split_off(accessed);
            aside.before.split_off(logged)
        });
        for (address, byte, depended) in undone.into_iter().flatten().rev() {
            way.stored.insert(address);
            self.memory.set(address, 1, depended);
            // What could be stored to can be written.
            let _ = memory.write(address, &[byte]);
        }
        (self.places, self.ranges, self.underway) = (places, ranges, underway);
        way
    }

    /// Executes an instruction aside; false if the way ends there.
    fn walk_on(&mut self, core: &mut Core, memory: &mut Memory, features: &Features) -> bool {
        if self.stops.contains(&core.r[15]) {
            return false;
        }
        let Some(instruction) = fixed_instruction(core.r[15], features, memory) else {
            return false;
        };
        if core.it != 0 && !it_rule(&instruction).allows(core.it) {
            return false;
        }
        let Instruction {
            operation, bytes, ..
        } = &instruction;
        let followed = Step {
            core,
            features,
            operation,
            bytes: *bytes,
        };
        self.follow(followed, memory);
        let does_harm = self.aside.as_ref().is_none_or(|aside| aside.does_harm);
        !does_harm && step(core, memory, features, operation, *bytes) == Ok(Flow::Next)
    }
}

/// What of FPSCR is cumulated, and what is neither that nor a flag: modes.
const CUMULATED: u32 = 0x9f;
const MODES: u32 = !CUMULATED & 0x0fff_ffff;

/// The places that hold something else.
pub(super) fn differences(a: &Core, b: &Core) -> Places {
    let registers = (0..15).map(|index| Places::from(a.r[index] != b.r[index]) << index);
    let singles = (0..32).map(|index| Places::from(a.s[index] != b.s[index]) << (32 + index));
    let status = a.fpscr ^ b.fpscr;
    let flags = [
        (N, a.n != b.n),
        (Z, a.z != b.z),
        (C, a.c != b.c),
        (V, a.v != b.v),
        (Q, a.q != b.q),
        (GE, a.ge != b.ge),
        (COMPARED, status >> 28 != 0),
        (EXCEPTIONS, status & CUMULATED != 0),
    ];
    let flags = flags
        .into_iter()
        .map(|(place, differs)| if differs { place } else { 0 });
    registers
        .chain(singles)
        .chain(flags)
        .fold(0, |set, it| set | it)
}

/// What of a core is not followed: all but registers, flags, and what is counted.
pub(super) fn unfollowed(core: &Core) -> Core {
    Core {
        r: [0; 16],
        s: [0; 32],
        n: 0,
        z: 0,
        c: 0,
        v: 0,
        q: 0,
        ge: 0,
        fpscr: core.fpscr & MODES,
        lowest_sp: 0,
        other_lowest_sp: 0,
        time: 0,
        cycles: Cycles::default(),
        ..core.clone()
    }
}
