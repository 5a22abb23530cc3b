//! Which registers and bytes of memory depend on data, and where that decides what a program
//! accesses: dynamic taint analysis.
//!
//! What depends is marked before a run, such as a kernel's input. From there on each instruction's
//! results depend if any of its operands does. A run in which nothing that depends has decided an
//! address, a branch or whether an access is made executes, whatever the marked bytes hold, the same
//! loads and stores in the same order at the same addresses: by induction, all that does not depend is
//! equal in both runs. Nothing has to be tried for that, and no rare value is missed.
//!
//! A branch on data does no harm where its ways meet again before either has done anything but
//! compute, as in a minimum or maximum: all that any of the ways writes depends from there on, whichever
//! is taken. On such ways, and under conditions on data, memory that nobody asks about may be accessed
//! at known addresses: read-only memory is loaded, the program's own is loaded and stored to.
//!
//! Nor does an address do harm that data decide where all that may be loaded there is such memory: a table
//! of constants. For that, `ranges.rs` bounds what registers hold.
//!
//! The technique is that of tools which hold cryptographic code against timing, such as ctgrind
//! (A. Langley, 2010).

mod excursion;
mod footprint;
mod fork;
mod memory;
mod paths;
mod places;
mod range;
mod ranges;
mod results;
mod transfer;

use crate::arithmetic::condition_holds;
use crate::core::Core;
use crate::features::Features;
use crate::memory::Memory;
use crate::operation::{Condition, Operation};
use excursion::{Away, Excursion, excursion};
use footprint::{Footprint, footprint};
use fork::{Access, Aside, LongDetour};
use memory::TaintedMemory;
use paths::{Detour, End, detour, only_computes};
use places::{COMPARED, EXCEPTIONS, GE, NZCV, Places, Q, asked_by, core};
use ranges::{Happens, Ranges};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use transfer::{Kind, Moved, Transfer, transfer};

const LR: u8 = 14;

/// What data decide at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Whether a conditional instruction loads or stores.
    Access,
    /// Where it loads or stores.
    Address,
    /// Where the program goes on, or whether it stops.
    Branch,
    /// How the core works: FPSCR, stack pointers, masks, or what is stored to a device.
    Setting,
    /// Which instruction it is.
    Code,
    /// What a later call finds in a variable: data, or how often it was called.
    Variable,
}

/// What depends on data in a core and its memory.
pub struct Taint {
    /// Registers and flags that depend.
    places: Places,
    /// Between which numbers those are.
    ranges: Ranges,
    memory: TaintedMemory,
    /// By address of the instruction.
    decisions: BTreeMap<u32, Decision>,
    /// By address of a branch.
    detours: HashMap<u32, Option<Rc<Detour>>>,
    excursions: HashMap<u32, Option<Rc<Excursion>>>,
    /// The program's own memory, such as its stack.
    own: Range<u32>,
    /// What each call is given anew; what it stores elsewhere a later one may find.
    given: Range<u32>,
    /// The program is between branches on data and where their ways meet; the innermost last.
    underway: Vec<Underway>,
    /// Instructions are executed aside, to see what they do.
    aside: Option<Aside>,
    /// How many, and how many words they have stored.
    spent_aside: u64,
    /// When the run began, in executed instructions.
    begun: u64,
    /// Where nothing is executed aside: the program stops there.
    stops: BTreeSet<u32>,
}

/// A detour that the program is on.
enum Underway {
    /// All that is written until this address depends.
    Short(u32),
    /// What depends where the ways meet is known.
    Long(LongDetour),
    /// The same.
    Away(Away),
}

impl Underway {
    fn ends_at(&mut self, core: &Core) -> bool {
        match self {
            Self::Short(end) => *end == core.r[15] && core.it == 0,
            Self::Long(detour) => detour.ends_at(core),
            Self::Away(excursion) => excursion.ends_at(core),
        }
    }
}

/// An instruction about to be executed, with the core as it is before.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) core: &'a Core,
    pub(crate) features: &'a Features,
    pub(crate) operation: &'a Operation,
    pub(crate) bytes: u8,
}

impl Step<'_> {
    fn pc(&self) -> u32 {
        self.core.r[15]
    }
}

impl Taint {
    /// Nothing depends; `begun` is the time.
    pub(crate) fn new(begun: u64) -> Self {
        Self {
            places: 0,
            ranges: Ranges::any(),
            memory: TaintedMemory::new(),
            decisions: BTreeMap::new(),
            detours: HashMap::new(),
            excursions: HashMap::new(),
            own: 0..0,
            underway: Vec::new(),
            aside: None,
            spent_aside: 0,
            begun,
            given: 0..u32::MAX,
            stops: BTreeSet::new(),
        }
    }

    /// These bytes depend on data, or do not.
    pub fn mark_memory(&mut self, range: Range<u32>, depend: bool) {
        self.memory
            .set(range.start, range.end - range.start, depend);
    }

    /// Memory of which nobody asks when it is accessed: the program's own, such as its stack.
    pub fn set_own_memory(&mut self, range: Range<u32>) {
        self.own = range;
    }

    /// Memory that each call is given anew: what it stores elsewhere a later one may find
    /// ([`Decision::Variable`]).
    pub fn set_given_memory(&mut self, range: Range<u32>) {
        self.given = range;
    }

    /// Of r0 to r14 and of s0 to s31 these depend on data, by bit, and so do all flags.
    pub fn mark_registers(&mut self, registers: u16, singles: u32) {
        let flags = NZCV | Q | GE | COMPARED | EXCEPTIONS;
        self.places = Places::from(registers & 0x7fff) | flags | Places::from(singles) << 32;
        self.ranges = Ranges::any();
    }

    /// Whether r0 to r14 depends.
    pub fn depends(&self, register: u8) -> bool {
        self.places & core(register) != 0
    }

    /// Whether any of these bytes depends.
    pub fn memory_depends(&self, address: u32, size_bytes: u32) -> bool {
        self.memory.any(address, size_bytes)
    }

    /// What data have decided, by address of the instruction.
    pub fn decisions(&self) -> &BTreeMap<u32, Decision> {
        &self.decisions
    }

    /// The run stops at these addresses.
    pub(crate) fn set_stops(&mut self, stops: BTreeSet<u32>) {
        self.stops = stops;
    }

    /// Code may have changed.
    pub(crate) fn forget_code(&mut self) {
        self.detours.clear();
        self.excursions.clear();
    }

    /// Follows an instruction that is about to be executed.
    pub(crate) fn follow(&mut self, step: Step, memory: &mut Memory) {
        let pc = step.pc();
        self.end_detours(step.core);
        // All that happens on it is known.
        if let Some(Underway::Long(_) | Underway::Away(_)) = self.underway.last() {
            return;
        }
        if self.memory.any(pc, step.bytes.into()) {
            self.note(pc, Decision::Code);
        }
        let it = step.core.it;
        let footprint = footprint(step.operation, it != 0);
        let asks = asked_by(Condition::from_bits(it >> 4));
        let is_asked = it != 0 && self.places & asks != 0;
        if is_asked {
            self.follow_conditional(step, memory, &footprint);
            return;
        }
        let Core { n, z, c, v, .. } = *step.core;
        if it == 0 || condition_holds(it >> 4, [n, z, c, v]) {
            let depends = self.is_on_short_detour();
            self.follow_executed(step, memory, &footprint, depends);
        }
    }

    fn is_on_short_detour(&self) -> bool {
        matches!(self.underway.last(), Some(Underway::Short(_)))
    }

    /// Ends the detours whose ways meet here.
    fn end_detours(&mut self, core: &Core) {
        while self.underway.last_mut().is_some_and(|it| it.ends_at(core)) {
            match self.underway.pop() {
                Some(Underway::Long(detour)) => {
                    self.places = detour.places;
                    self.ranges = Ranges::any();
                }
                Some(Underway::Away(excursion)) => self.places = excursion.places,
                _ => {}
            }
        }
    }

    /// One whose condition depends on data: what it writes depends, executed or not.
    fn follow_conditional(&mut self, step: Step, memory: &mut Memory, footprint: &Footprint) {
        let pc = step.pc();
        let Core { n, z, c, v, .. } = *step.core;
        let executed = condition_holds(step.core.it >> 4, [n, z, c, v]);
        if only_computes(step.operation, footprint, step.features) {
            let results = footprint.writes | footprint.changes;
            let happens = self.happens(step.core);
            self.ranges.follow(
                step.core,
                self.places,
                step.operation,
                results,
                happens,
                None,
            );
            self.places |= results;
            return;
        }
        let transfer = transfer(step.core, step.operation)
            .filter(|transfer| transfer.moved.list().all(|place| place != core(15)));
        let is_access = transfer.is_some();
        let is_exclusive = matches!(
            step.operation,
            Operation::LoadExclusive { .. } | Operation::StoreExclusive { .. }
        );
        if let Some(transfer) = transfer {
            if is_exclusive {
                self.note(pc, Decision::Setting);
            }
            if !self.is_free(step.core, memory, &transfer) || footprint.writes != 0 {
                self.note(pc, Decision::Access);
            }
        } else {
            self.branch(step, memory);
        }
        if is_access || executed {
            self.follow_executed(step, memory, footprint, true);
        }
    }

    /// One that is executed; `depends` where whether it is depends on data.
    fn follow_executed(
        &mut self,
        step: Step,
        memory: &mut Memory,
        footprint: &Footprint,
        depends: bool,
    ) {
        let pc = step.pc();
        let traps = step.features.traps.division;
        let decides = match *step.operation {
            Operation::Divide { rm, .. } if traps => core(rm),
            _ => footprint.decides,
        };
        if self.places & decides != 0 {
            self.branch(step, memory);
        }
        if self.places & footprint.sets_up != 0 || uses_what_lasts(step.operation) {
            self.note(pc, Decision::Setting);
        }
        let transfer = transfer(step.core, step.operation);
        let moved = transfer.map(|transfer| self.transfer(step.core, memory, &transfer, depends));
        let results = footprint.writes | footprint.changes;
        let loaded = moved.map_or(0, |[dependent, independent]| dependent | independent);
        let (happens, word) = if depends {
            let word = transfer.and_then(|transfer| self.known_word(memory, &transfer));
            (self.happens(step.core), word)
        } else {
            (Happens::Always, None)
        };
        self.ranges.follow(
            step.core,
            self.places,
            step.operation,
            results | loaded,
            happens,
            word,
        );
        if depends || self.places & footprint.reads != 0 {
            self.places |= results;
        } else {
            self.places &= !footprint.writes;
        }
        if let Some([dependent, independent]) = moved {
            self.places = self.places & !independent | dependent;
        }
        if self.places & core(15) != 0 {
            // What was loaded into the program counter.
            self.places &= !core(15);
            self.note(pc, Decision::Branch);
        }
    }

    /// Of an instruction about which data decide.
    fn happens(&self, core: &Core) -> Happens {
        if core.it == 0 || self.is_on_short_detour() {
            Happens::Perhaps
        } else {
            Happens::If(Condition::from_bits(core.it >> 4))
        }
    }

    /// The word that a load gives if it is executed, where neither it nor its place depends.
    fn known_word(&self, memory: &Memory, transfer: &Transfer) -> Option<u32> {
        let Transfer {
            kind,
            base,
            address,
            size_bytes,
            moved,
            ..
        } = *transfer;
        let is_one = matches!(moved, Moved::One(_)) && kind == Kind::Load && size_bytes == 4;
        let is_known = self.places & base == 0 && !self.memory.any(address, size_bytes);
        let is_memory = memory.is_code(address) && memory.is_code(address.wrapping_add(3));
        if !(is_one && is_known && is_memory) {
            return None;
        }
        let bytes = memory.read(address, 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Follows loads and stores; gives what was loaded: what depends, and what does not.
    fn transfer(
        &mut self,
        core: &Core,
        memory: &Memory,
        transfer: &Transfer,
        depends: bool,
    ) -> [Places; 2] {
        let pc = core.r[15];
        let has_unknown_address = self.places & transfer.base != 0;
        if has_unknown_address && !self.is_free(core, memory, transfer) {
            self.note(pc, Decision::Address);
        }
        self.note_aside(core, memory, transfer);
        let depends = depends || has_unknown_address;
        let mut loaded = [0; 2];
        for (address, place) in transfer.parts() {
            let is_memory = memory.is_code(address);
            match transfer.kind {
                Kind::Load => {
                    let from_memory = self.memory.any(address, transfer.size_bytes);
                    // What a device answers may depend on the time, or on what it was sent.
                    let depends = depends || from_memory || !is_memory;
                    loaded[usize::from(!depends)] |= place;
                }
                Kind::Store => {
                    let depends = depends || self.places & place != 0;
                    if is_memory && !self.given.contains(&address) {
                        self.note(pc, Decision::Variable);
                    }
                    if depends && !is_memory {
                        self.note(pc, Decision::Setting);
                    }
                    self.set_memory(memory, address, transfer.size_bytes, depends);
                }
            }
        }
        loaded
    }

    /// What is executed aside accesses what others ask about, and no device.
    fn note_aside(&mut self, core: &Core, memory: &Memory, transfer: &Transfer) {
        if self.aside.is_none() || self.is_free(core, memory, transfer) {
            return;
        }
        for (address, _) in transfer.parts() {
            let last = address.wrapping_add(transfer.size_bytes - 1);
            if !memory.is_code(address) || !memory.is_code(last) {
                return self.note(core.r[15], Decision::Access);
            }
            if let Some(aside) = &mut self.aside {
                aside.accesses.push(Access {
                    kind: transfer.kind,
                    address,
                    size_bytes: transfer.size_bytes,
                });
            }
        }
    }

    /// A branch on data. One whose ways meet again soon decides nothing, nor does one on such a way.
    fn branch(&mut self, step: Step, memory: &mut Memory) {
        let pc = step.pc();
        if self.is_on_short_detour() {
            return;
        }
        if self.decisions.contains_key(&pc) {
            return self.note(pc, Decision::Branch);
        }
        let found = self.detours.entry(pc).or_insert_with(|| {
            let instruction = (step.operation, step.bytes);
            detour(pc, step.core.it, instruction, step.features, memory).map(Rc::new)
        });
        let found = found.clone();
        let taken = found.is_some_and(|detour| self.take(step, memory, &detour));
        if !taken && !self.go_away(step, memory) && !self.fork(step, memory) {
            self.note(pc, Decision::Branch);
        }
    }

    /// Begins the excursion of a branch, if it has one.
    fn go_away(&mut self, step: Step, memory: &Memory) -> bool {
        let found = self.excursions.entry(step.pc()).or_insert_with(|| {
            let instruction = (step.operation, step.bytes);
            excursion(step.pc(), step.core.it, instruction, step.features, memory).map(Rc::new)
        });
        let found = found.clone();
        found.is_some_and(|excursion| self.depart(step, memory, &excursion))
    }

    /// Begins a detour, unless it accesses what others ask about.
    fn take(&mut self, step: Step, memory: &Memory, detour: &Detour) -> bool {
        let end = match detour.end {
            End::At(address) => address,
            End::Return if self.depends(LR) => return false,
            End::Return => step.core.r[usize::from(LR)] & !1,
        };
        let transfers = detour.accesses.iter();
        let transfers: Vec<Transfer> = transfers
            .filter_map(|operation| transfer(step.core, operation))
            .collect();
        if !(transfers.iter()).all(|it| self.is_free(step.core, memory, it)) {
            return false;
        }
        for transfer in transfers.iter().filter(|it| it.kind == Kind::Store) {
            for (address, _) in transfer.parts() {
                self.set_memory(memory, address, transfer.size_bytes, true);
            }
        }
        self.places |= detour.writes;
        self.ranges.forget(detour.writes);
        self.underway.push(Underway::Short(end));
        true
    }

    /// Nobody asks whether these accesses are made, or which of such addresses they are at.
    fn is_free(&self, core: &Core, memory: &Memory, transfer: &Transfer) -> bool {
        if self.places & transfer.base != 0 {
            let bytes = self.reach(core, transfer);
            return bytes.is_some_and(|bytes| {
                self.owns(&bytes)
                    || memory.is_all_read_only(&bytes) && !self.memory.may_be_in(&bytes)
            });
        }
        let is_own = |address: u32| {
            let start = u64::from(address);
            self.owns(&(start..start + u64::from(transfer.size_bytes)))
        };
        let is_constant = |address| {
            transfer.kind == Kind::Load && memory.is_read_only(address, transfer.size_bytes)
        };
        let mut parts = transfer.parts();
        parts.all(|(address, _)| is_own(address) || is_constant(address))
    }

    /// The bytes that a load may be of whose address depends, as far as they are known.
    fn reach(&self, core: &Core, transfer: &Transfer) -> Option<Range<u64>> {
        let addressing = transfer.addressing?;
        let size_bytes = transfer.size_bytes;
        let ends = self
            .ranges
            .addresses(core, self.places, addressing, size_bytes)?;
        let [first, last] = ends.map(u64::from);
        let count = transfer.moved.list().count() as u64;
        Some(first..last + count * u64::from(size_bytes))
    }

    fn owns(&self, bytes: &Range<u64>) -> bool {
        u64::from(self.own.start) <= bytes.start && bytes.end <= u64::from(self.own.end)
    }

    /// Says whether bytes depend, which is undone where instructions are executed aside.
    fn set_memory(&mut self, memory: &Memory, address: u32, size_bytes: u32, depend: bool) {
        if let Some(aside) = &mut self.aside {
            aside.log(memory, &self.memory, address, size_bytes);
            self.spent_aside += u64::from(size_bytes.div_ceil(4));
        }
        self.memory.set(address, size_bytes, depend);
    }

    fn note(&mut self, pc: u32, decision: Decision) {
        if let Some(aside) = &mut self.aside {
            aside.does_harm = true;
            return;
        }
        let noted = self.decisions.entry(pc).or_insert(decision);
        *noted = (*noted).max(decision);
    }
}

/// Whether it depends on, or changes, what a core keeps beside registers and memory from one call to the
/// next: the exclusive monitor, CONTROL.FPCA, and the stack pointer and limits that are not in use.
fn uses_what_lasts(operation: &Operation) -> bool {
    const STACKS: RangeInclusive<u8> = 8..=11;
    const CONTROL: u8 = 20;
    match *operation {
        Operation::StoreExclusive { .. } => true,
        Operation::WriteSpecial { special, .. } => STACKS.contains(&special),
        Operation::ReadSpecial { special, .. } => special == CONTROL,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
