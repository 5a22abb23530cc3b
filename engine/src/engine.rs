//! Runs a program until something stops it.

mod code;

use crate::core::Core;
use crate::decode::decode;
use crate::fault::Fault;
use crate::features::{Features, Traps};
use crate::interpreter::{Flow, step};
use crate::memory::Memory;
use crate::taint::{Step, Taint};
use crate::timing::{Cost, Counter, Previous, Timing};
use crate::translator::{After, Effort, Entry, Last, Limits, Translator};
use code::Code;
use std::collections::BTreeMap;

/// Why a run has stopped. The program counter is at the instruction to be executed next, and the
/// run can go on from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At one of the addresses to stop at. A run that begins there stops at once.
    Address(u32),
    /// The time has come.
    Until,
    /// At BKPT with this number.
    Breakpoint(u8),
    /// After a hint that says something to others: YIELD or SEV.
    Hint,
    /// At WFI or WFE: asleep, with no interrupt to wake it.
    Sleep,
    /// At a loop that never ends, and does nothing.
    Loop,
    /// The instruction cannot be executed.
    Fault(Fault),
    /// Recorded accesses have to be taken.
    Events,
    /// The private peripherals asked for a stop.
    Attention,
}

/// How code is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// One instruction after the other.
    Interpreter,
    /// What is executed often is translated to the host's code.
    Translator,
}

/// How often an instruction is branched to before it is translated.
const HOT: u16 = 100;
/// The same where another machine has translated it.
const WARM: u16 = 4;
/// A core and its memory.
pub struct Engine {
    /// The registers.
    pub core: Core,
    /// The memory. What code may lie in is written by [`Engine::write`].
    pub memory: Memory,
    features: Features,
    code: Code,
    translator: Option<Translator>,
    /// Translated code has left an instruction to the interpreter.
    has_to_interpret: bool,
    /// The next instruction has been fetched, as far as cycles are counted.
    is_fetched: bool,
    /// Instructions that were interpreted and not yet told to the translator.
    interpreted: u64,
    /// Addresses to stop at, each with the lowest stack pointer to do so.
    stops: BTreeMap<u32, u32>,
    to_note: Vec<u32>,
    noted: Vec<u32>,
    floating_point_on: bool,
    floating_point_forced: bool,
    /// Where cycles are counted.
    counter: Option<Counter>,
    /// Code is translated before it is executed for the first time.
    at_once: bool,
    /// Instructions that translated code has executed.
    translated_instructions: u64,
    /// What depends on data, where that is followed.
    taint: Option<Box<Taint>>,
}

impl Engine {
    /// A core with all registers zero.
    pub fn new(features: Features, memory: Memory, execution: Execution) -> Self {
        let translator = match execution {
            Execution::Interpreter => None,
            Execution::Translator => Some(Translator::new()),
        };
        Self {
            // No stack has been used yet.
            core: Core {
                lowest_sp: u32::MAX,
                other_lowest_sp: u32::MAX,
                ..Core::default()
            },
            memory,
            features,
            code: Code::new(),
            translator,
            has_to_interpret: false,
            is_fetched: false,
            interpreted: 0,
            stops: BTreeMap::new(),
            to_note: Vec::new(),
            noted: Vec::new(),
            floating_point_on: false,
            floating_point_forced: false,
            counter: None,
            at_once: false,
            translated_instructions: 0,
            taint: None,
        }
    }

    /// Counts the cycles that a core takes, in [`Core::cycles`]. Before the first run, when all
    /// flash memory is there.
    pub fn count_cycles(&mut self, timing: Timing) {
        let counter = Counter::new(timing, &self.memory.flash());
        self.code = Code::new();
        if let Some(translator) = &mut self.translator {
            translator.count_cycles(&counter);
        }
        self.counter = Some(counter);
    }

    /// Records the loads and stores of instructions in IT blocks also where their conditions fail,
    /// at the addresses that they would access then, and says which these are
    /// ([`Event::condition`](crate::memory::Event::condition)). Before the first run; all code is
    /// interpreted.
    pub fn record_every_outcome(&mut self) {
        self.translator = None;
        self.at_once = false;
        self.memory.records_every_outcome = true;
    }

    /// Addresses of the executed conditional instructions of which [`Self::record_every_outcome`] does
    /// not know what they access with the other outcome: all but LDR, STR, LDRD and STRD without
    /// write-back that are the first in their IT block, before which nothing depends on its condition.
    pub fn unknown_outcomes(&self) -> impl Iterator<Item = u32> {
        self.memory.unknown_outcomes.iter().copied()
    }

    /// Follows from now on which registers and bytes of memory depend on data, and where that decides
    /// what is accessed; or no longer. At first nothing depends. All code is interpreted.
    pub fn follow_data(&mut self, follow: bool) {
        self.taint = follow.then(|| Box::new(Taint::new(self.core.time)));
        self.tell_stops();
    }

    /// What depends on data, where that is followed.
    pub fn taint(&self) -> Option<&Taint> {
        self.taint.as_deref()
    }

    /// The same, to mark what depends.
    pub fn taint_mut(&mut self) -> Option<&mut Taint> {
        self.taint.as_deref_mut()
    }

    /// Translates all code that can be before it is executed for the first time, not only what is
    /// executed often: slower by far, and how tests get at translated code.
    pub fn translate_at_once(&mut self) {
        self.at_once = self.translator.is_some();
    }

    /// How many instructions translated code has executed.
    pub fn translated_instructions(&self) -> u64 {
        self.translated_instructions
    }

    /// What the core has.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Switches the floating-point unit on, whatever CPACR says.
    pub fn enable_floating_point(&mut self) {
        self.floating_point_forced = true;
        self.floating_point_on = true;
    }

    /// Stops before the instructions at these addresses from now on, and before no others, where
    /// the stack pointer is at least the number that comes with the address.
    pub fn stop_at(&mut self, stops: &[(u32, u32)]) {
        let old = std::mem::take(&mut self.stops);
        self.stops = stops.iter().copied().collect();
        let addresses: Vec<u32> = old.keys().chain(self.stops.keys()).copied().collect();
        for address in addresses {
            self.mark(address);
        }
        self.tell_stops();
    }

    /// What is executed aside does not go on there either.
    fn tell_stops(&mut self) {
        if let Some(taint) = &mut self.taint {
            taint.set_stops(self.stops.keys().copied().collect());
        }
    }

    /// Notes when the instructions at these addresses are reached for the first time.
    pub fn note(&mut self, addresses: &[u32]) {
        self.to_note = addresses.to_vec();
        for &address in addresses {
            self.mark(address);
        }
    }

    /// Has the run look up at an address, or no longer.
    fn mark(&mut self, address: u32) {
        let marked = self.is_marked(address);
        self.code.look_up_at(address, marked);
        if marked && let Some(translator) = &mut self.translator {
            self.code.drop_entries(&translator.look_up_at(address));
        }
    }

    /// The addresses to be noted that were reached, in the order in which they were.
    pub fn noted(&self) -> &[u32] {
        &self.noted
    }

    /// Writes memory from outside, read-only memory and code too; false where there is none, and
    /// nothing is written.
    #[must_use]
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        let written = self.memory.write(address, bytes);
        if written && !bytes.is_empty() {
            let last = address.wrapping_add(bytes.len() as u32 - 1);
            for page in address >> 12..=last >> 12 {
                self.forget_page(page);
            }
        }
        written
    }

    fn forget_page(&mut self, page: u32) {
        self.code.forget_page(page);
        if let Some(taint) = &mut self.taint {
            taint.forget_code();
        }
        if let Some(translator) = &mut self.translator {
            self.code.drop_entries(&translator.forget_page(page));
        }
    }

    /// Runs until something stops it, or until so many instructions have been executed in all.
    pub fn run(&mut self, until: u64) -> Stop {
        let stop = self.run_to_stop(until);
        self.settle_cycles();
        stop
    }

    fn run_to_stop(&mut self, until: u64) -> Stop {
        self.memory.attention = true;
        loop {
            if self.memory.attention
                && let Some(stop) = self.attend()
            {
                return stop;
            }
            if self.core.time >= until {
                return Stop::Until;
            }
            if let Err(stop) = self.execute(until) {
                return stop;
            }
        }
    }

    /// One instruction, or translated code.
    #[inline]
    fn execute(&mut self, until: u64) -> Result<(), Stop> {
        let pc = self.core.r[15];
        let Some(slot) = self.code.at(pc) else {
            return self.decode(pc).map_err(Stop::Fault);
        };
        let may_be_translated = self.taint.is_none() && self.core.it == 0 && !self.has_to_interpret;
        if may_be_translated && self.at_once && slot.entry.is_none() && !slot.is_untranslatable {
            self.translate_here(pc);
            return Ok(());
        }
        if slot.look_up {
            let endless = slot.endless;
            self.look_up(pc, endless)?;
        } else if let Some(entry) = slot.entry
            && may_be_translated
        {
            let cost = slot.cost;
            self.run_translated(entry, until, cost);
            return Ok(());
        }
        self.interpret(pc)
    }

    /// One instruction, which is decoded.
    #[inline]
    fn interpret(&mut self, pc: u32) -> Result<(), Stop> {
        let Some(slot) = self.code.at(pc) else {
            return Ok(());
        };
        if slot.floating_point && !self.floating_point_on {
            return Err(Stop::Fault(Fault::FloatingPointOff));
        }
        if self.core.it != 0 && !slot.it_rule.allows(self.core.it) {
            return Err(Stop::Fault(self.unpredictable(pc)));
        }
        self.has_to_interpret = false;
        self.interpreted += 1;
        if let Some(taint) = &mut self.taint {
            let step = Step {
                core: &self.core,
                features: &self.features,
                operation: &slot.operation,
                bytes: slot.bytes,
            };
            taint.follow(step, &mut self.memory);
        }
        let (core, memory) = (&mut self.core, &mut self.memory);
        let counting = match (&mut self.counter, &slot.cost) {
            (Some(counter), Some(cost)) => {
                counter.arrive(core, cost);
                if !self.is_fetched {
                    counter.fetch(core, slot.bytes);
                }
                let expected = counter.expect(core, &slot.operation, cost);
                Some((counter, cost, expected))
            }
            _ => None,
        };
        self.is_fetched = false;
        let next = pc.wrapping_add(slot.bytes.into());
        let flow = step(core, memory, &self.features, &slot.operation, slot.bytes);
        if let (Ok(Flow::Next | Flow::Hint), Some((counter, cost, expected))) = (flow, counting) {
            counter.executed(core, expected, cost, next);
        }
        match flow {
            Ok(Flow::Next) => {
                if self.core.r[15] != next {
                    self.arrive();
                }
                Ok(())
            }
            Ok(Flow::Hint) => Err(Stop::Hint),
            Ok(Flow::Sleep) => Err(Stop::Sleep),
            Ok(Flow::Breakpoint(number)) => Err(Stop::Breakpoint(number)),
            Ok(Flow::Loop) => Err(Stop::Loop),
            Err(fault) => Err(Stop::Fault(fault)),
        }
    }

    /// Runs translated code.
    fn run_translated(&mut self, entry: Entry, until: u64, cost: Option<Cost>) {
        let Some(translator) = &mut self.translator else {
            return;
        };
        let (core, memory) = (&mut self.core, &mut self.memory);
        if let (Some(counter), Some(cost)) = (&mut self.counter, cost) {
            counter.arrive(core, &cost);
        }
        let flash = self.counter.as_mut().and_then(|it| it.flash.as_deref_mut());
        let limits = Limits {
            until,
            floating_point_on: self.floating_point_on,
        };
        let before = core.time;
        let left = translator.run(entry, core, memory, flash, limits);
        let executed = core.time - before;
        self.translated_instructions += executed;
        translator.note_executed(entry, executed, memory);
        self.has_to_interpret = left.after != After::Anything;
        self.is_fetched = left.after == After::InterpretFetched;
        if left.after == After::Anything {
            self.arrive();
        }
        if self.counter.is_some() {
            self.note_last(left.last);
        }
    }

    /// What translated code has executed last.
    fn note_last(&mut self, last: Last) {
        let previous = match last {
            Last::Nothing => Previous::Nothing,
            Last::Branch => Previous::Branch,
            Last::Instruction(address) => self
                .cost_at(address)
                .map_or(Previous::Nothing, Previous::Instruction),
        };
        if let Some(counter) = &mut self.counter {
            counter.previous = previous;
        }
    }

    fn cost_at(&mut self, address: u32) -> Option<Cost> {
        if self.code.at(address).is_none() {
            self.decode(address).ok()?;
        }
        self.code.at(address)?.cost
    }

    /// Counts what the next instruction takes for what was executed before it, so that the count
    /// does not depend on how the code was executed.
    fn settle_cycles(&mut self) {
        let is_open = |counter: &Counter| counter.previous != Previous::Nothing;
        if self.counter.as_ref().is_some_and(is_open) {
            let cost = self.cost_at(self.core.r[15]);
            if let (Some(counter), Some(cost)) = (&mut self.counter, cost) {
                counter.arrive(&mut self.core, &cost);
            }
        }
    }

    /// A branch has gone somewhere: what is often gone to is translated.
    #[inline]
    fn arrive(&mut self) {
        let address = self.core.r[15];
        if self.translator.is_some() && self.taint.is_none() {
            match self.code.count(address) {
                WARM => self.translate(Effort::Find),
                HOT => {
                    self.translate(Effort::Translate);
                    self.code.forget_arrivals(address);
                }
                _ => {}
            }
        }
    }

    /// Translates what begins here, and remembers if it cannot be.
    #[cold]
    fn translate_here(&mut self, pc: u32) {
        self.translate(Effort::TranslateAtAnyCost);
        self.code.tried_to_translate(pc);
    }

    /// Takes a translation that can be entered here, if there is one or it is worth it.
    #[cold]
    fn translate(&mut self, effort: Effort) {
        if let Some(translator) = &mut self.translator {
            translator.add_interpreted(std::mem::take(&mut self.interpreted));
            let address = self.core.r[15];
            let (features, memory) = (&self.features, &mut self.memory);
            // What has been interpreted before is as hot as the code that leads to it, or was.
            let is_hot = |pc| self.code.at(pc).is_some();
            let entries = translator.translate(address, features, memory, effort, is_hot);
            for (address, entry) in entries {
                self.code.enter(address, entry);
            }
        }
    }

    #[cold]
    fn decode(&mut self, pc: u32) -> Result<(), Fault> {
        let look_up = self.is_marked(pc);
        let (features, memory) = (&self.features, &mut self.memory);
        let entry = self.translator.as_ref().and_then(|known| known.entry(pc));
        let pipeline = self.counter.as_ref().map(|counter| counter.pipeline);
        let marks = code::Marks {
            look_up,
            entry,
            pipeline,
        };
        self.code.decode(pc, features, memory, marks)
    }

    /// The instruction must not be where it is in an IT block.
    #[cold]
    fn unpredictable(&self, pc: u32) -> Fault {
        let halfword = |address| self.memory.fetch(address).unwrap_or_default();
        let (first, second) = (halfword(pc), halfword(pc.wrapping_add(2)));
        match decode(first, second, &self.features) {
            Ok(instruction) => Fault::Unpredictable {
                name: instruction.name,
            },
            Err(fault) => fault,
        }
    }

    fn is_marked(&self, address: u32) -> bool {
        self.stops.contains_key(&address) || self.to_note.contains(&address)
    }

    /// An address that is marked has been reached.
    #[cold]
    fn look_up(&mut self, pc: u32, endless: bool) -> Result<(), Stop> {
        if let Some(&stack_pointer) = self.stops.get(&pc)
            && self.core.r[13] >= stack_pointer
        {
            return Err(Stop::Address(pc));
        }
        if let Some(index) = self.to_note.iter().position(|&address| address == pc) {
            self.to_note.swap_remove(index);
            self.noted.push(pc);
            self.code.look_up_at(pc, self.is_marked(pc));
        }
        if endless {
            return Err(Stop::Loop);
        }
        Ok(())
    }

    /// What is decoded and translated holds for the traps that there were.
    fn set_traps(&mut self, traps: Traps) {
        if self.features.traps == traps {
            return;
        }
        self.features.traps = traps;
        self.code = Code::new();
        if let Some(translator) = &mut self.translator {
            translator.forget_all();
        }
    }

    #[cold]
    fn attend(&mut self) -> Option<Stop> {
        self.memory.attention = false;
        self.floating_point_on = self.floating_point_forced || self.memory.floating_point_enabled();
        for page in self.memory.take_changed_code() {
            self.forget_page(page);
        }
        self.set_traps(self.memory.traps());
        if std::mem::take(&mut self.memory.stop_requested) {
            return Some(Stop::Attention);
        }
        self.memory.events_are_full().then_some(Stop::Events)
    }
}
