//! Translates hot code to the host's: whole units, with guest registers in host registers across
//! loops, and with recording in line. What it does not translate, and every access that is not to
//! plain memory, it leaves to the interpreter.

mod context;
mod control;
mod cycles;
mod data;
mod emit;
mod flags;
mod float;
mod float_arithmetic;
mod memory;
mod multiply;
mod shared;
mod translation;
mod unit;

use crate::core::Core;
use crate::features::Features;
use crate::interpreter;
use crate::memory::{Memory, TIME_BITS};
use crate::operation::Operation;
use crate::timing::{Counter, Flash};
use context::{Context, Exit, PLACE};
use cycles::Counted;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use translation::{Quality, Translation};
use unit::Unit;

/// Where an instruction is an entry of translated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    unit: u32,
    index: u32,
}

/// How far translated code runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Until so many instructions have been executed in all.
    pub(crate) until: u64,
    /// No floating-point instruction executes while this is false.
    pub(crate) floating_point_on: bool,
}

/// Where translated code has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) after: After,
    /// What was executed last, where cycles are counted.
    pub(crate) last: Last,
}

/// What translated code has executed last, as far as the next instruction's time depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// Nothing that matters, or it has been counted already.
    Nothing,
    /// A branch that was taken.
    Branch,
    /// The instruction at this address.
    Instruction(u32),
}

/// What the engine does after translated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// It looks for translated code where the program is now.
    Anything,
    /// It interprets the next instruction.
    Interpret,
    /// The same, and the instruction has been fetched.
    InterpretFetched,
}

/// What to do for a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Only to look whether there is one.
    Find,
    /// To translate too, if enough has been interpreted to be worth it.
    Translate,
    /// To translate too.
    TranslateAtAnyCost,
}

/// A unit that a machine knows.
struct Known {
    translation: Arc<Translation>,
    /// Instructions that it has executed here.
    executed: u64,
}

/// Translates code and keeps it.
pub(crate) struct Translator {
    /// By number; `None` where one is forgotten.
    units: Vec<Option<Known>>,
    /// The entries of all units.
    entries: HashMap<u32, Entry>,
    /// Where the run has once looked up: no unit goes beyond them.
    looked_up: BTreeSet<u32>,
    /// Where cycles are counted.
    counted: Option<Counted>,
    /// How many instructions there were to translate where that was not yet worth it.
    expected: HashMap<u32, u64>,
}

impl Translator {
    /// Without code. On a host that Cranelift does not know it never translates.
    pub(crate) fn new() -> Self {
        Self {
            units: Vec::new(),
            entries: HashMap::new(),
            looked_up: BTreeSet::new(),
            counted: None,
            expected: HashMap::new(),
        }
    }

    /// Counts cycles, as this counter does. Before anything is translated.
    pub(crate) fn count_cycles(&mut self, counter: &Counter) {
        self.counted = Some(Counted::of(counter));
    }

    /// The entry at an address.
    pub(crate) fn entry(&self, address: u32) -> Option<Entry> {
        self.entries.get(&address).copied()
    }

    /// Forgets the units that have code in a page. Gives their entries.
    pub(crate) fn forget_page(&mut self, page: u32) -> Vec<u32> {
        self.forget_units(|unit| unit.pages.contains(&page))
    }

    /// Forgets all units.
    pub(crate) fn forget_all(&mut self) {
        self.forget_units(|_| true);
    }

    /// From now on no unit goes beyond this address. Gives the entries of those forgotten.
    pub(crate) fn look_up_at(&mut self, address: u32) -> Vec<u32> {
        if !self.looked_up.insert(address) {
            return Vec::new();
        }
        self.forget_units(|unit| unit.pages.contains(&(address >> 12)))
    }

    fn forget_units(&mut self, wanted: impl Fn(&Translation) -> bool) -> Vec<u32> {
        let mut gone = Vec::new();
        for unit in &mut self.units {
            if let Some(forgotten) = unit.take_if(|unit| wanted(&unit.translation)) {
                gone.extend(&forgotten.translation.entries);
            }
        }
        for address in &gone {
            self.entries.remove(address);
        }
        gone
    }

    /// This many instructions were interpreted.
    pub(crate) fn add_interpreted(&self, instructions: u64) {
        shared::add_interpreted(instructions);
    }

    /// Finds a translation that can be entered at an address, or translates: of the code that is
    /// reached from there what `is_hot`, unless all is wanted. Gives where it can be entered.
    pub(crate) fn translate(
        &mut self,
        address: u32,
        features: &Features,
        memory: &mut Memory,
        effort: Effort,
        is_hot: impl Fn(u32) -> bool,
    ) -> Vec<(u32, Entry)> {
        let looked_up = &self.looked_up;
        let excluded = |range| looked_up.range(range).next().is_some();
        let counted = self.counted.as_ref();
        let known = shared::find(address, features, counted, memory, excluded);
        let otherwise = || shared::find_otherwise(address, features, counted, memory);
        let translation = match (known, effort) {
            (Some(known), _) => Some(known),
            (None, Effort::Find) => otherwise().and_then(|other| {
                let unit = self.unit(address, features, memory, |pc| other.has(pc))?;
                self.compile(unit, features, memory, Quality::Quick)
            }),
            (None, Effort::Translate) => {
                let unit = self.worthwhile_unit(address, features, memory, is_hot);
                unit.and_then(|unit| self.compile(unit, features, memory, Quality::Quick))
            }
            (None, Effort::TranslateAtAnyCost) => {
                let unit = self.unit(address, features, memory, |_| true);
                // Both are tried where all code is translated, for the sake of tests.
                let quality = match address & 2 {
                    0 => Quality::Quick,
                    _ => Quality::Good,
                };
                unit.and_then(|unit| self.compile(unit, features, memory, quality))
            }
        };
        let Some(translation) = translation else {
            return Vec::new();
        };
        for stretch in &translation.stretches {
            memory.holds_code(stretch.range());
        }
        let place = self.units.iter().position(Option::is_none);
        let number = place.unwrap_or(self.units.len()) as u32;
        let mut entries = Vec::new();
        for (index, &address) in (0..).zip(&translation.entries) {
            let entry = Entry {
                unit: number,
                index,
            };
            // Where units overlap, the one that was asked for first stays.
            if let std::collections::hash_map::Entry::Vacant(place) = self.entries.entry(address) {
                place.insert(entry);
                entries.push((address, entry));
            }
        }
        let unit = Some(Known {
            translation,
            executed: 0,
        });
        match place {
            // Code that is written anew again and again takes no more places.
            Some(place) => self.units[place] = unit,
            None => self.units.push(unit),
        }
        entries
    }

    /// The unit that can be entered at an address, of code that `is_hot`.
    fn unit(
        &self,
        address: u32,
        features: &Features,
        memory: &Memory,
        is_hot: impl Fn(u32) -> bool,
    ) -> Option<Unit> {
        let is_within = |pc| !self.looked_up.contains(&pc) && is_hot(pc);
        let pipeline = self.counted.as_ref().map(|counted| counted.pipeline);
        let unit = Unit::at(address, features, memory, pipeline, is_within);
        unit.entries.contains(&address).then_some(unit)
    }

    /// The same, if so much has been interpreted that translating it is worth it.
    fn worthwhile_unit(
        &mut self,
        address: u32,
        features: &Features,
        memory: &Memory,
        is_hot: impl Fn(u32) -> bool,
    ) -> Option<Unit> {
        let expected = self.expected.get(&address).copied().unwrap_or(1);
        if !shared::affords(expected) {
            return None;
        }
        let unit = self.unit(address, features, memory, is_hot)?;
        let instructions = unit.instructions();
        if !shared::spend(instructions) {
            self.expected.insert(address, instructions.max(1));
            return None;
        }
        Some(unit)
    }

    /// Translates a unit, for all machines.
    fn compile(
        &self,
        unit: Unit,
        features: &Features,
        memory: &Memory,
        quality: Quality,
    ) -> Option<Arc<Translation>> {
        let counted = self.counted.as_ref();
        let translation = Translation::of(unit, features, counted, memory, quality)?;
        let translation = Arc::new(translation);
        shared::keep(&translation);
        Some(translation)
    }

    /// Runs translated code from one of its entries.
    pub(crate) fn run(
        &self,
        entry: Entry,
        core: &mut Core,
        memory: &mut Memory,
        flash: Option<&mut Flash>,
        limits: Limits,
    ) -> Left {
        let unit = self.units.get(entry.unit as usize).and_then(Option::as_ref);
        let unit = unit.map(|unit| &unit.translation);
        let Some(unit) = unit.filter(|unit| limits.floating_point_on || !unit.uses_floating_point)
        else {
            return Left {
                after: After::Interpret,
                last: Last::Nothing,
            };
        };
        let events = memory.event_places();
        let context = Context {
            core,
            event: events.start,
            events_end: events.end,
            until: limits.until.min(u64::MAX >> TIME_BITS) << TIME_BITS,
            previous: cycles::NOTHING,
            flash: flash.map_or(std::ptr::null_mut(), std::ptr::from_mut),
        };
        let host_memory = memory.host_memory();
        // SAFETY: before the host's memory for that of the guest is a page for the context. The code
        // accesses what the context points to, and the tables and the bytes of `memory`. All of it is
        // borrowed here.
        #[expect(unsafe_code, reason = "the call of translated code")]
        let (exit, context) = unsafe {
            let place = host_memory.offset(PLACE as isize).cast::<Context>();
            place.write(context);
            let exit = (unit.code)(host_memory, entry.index);
            (exit, place.read())
        };
        memory.set_next_event(context.event);
        let after = match exit {
            exit if exit == Exit::Branch as u32 => After::Anything,
            exit if exit == Exit::InterpretFetched as u32 => After::InterpretFetched,
            _ => After::Interpret,
        };
        let last = cycles::last(context.previous);
        Left { after, last }
    }

    /// The unit of an entry has executed so many instructions. After many there is better code for it.
    pub(crate) fn note_executed(&mut self, entry: Entry, instructions: u64, memory: &Memory) {
        let Some(Some(unit)) = self.units.get_mut(entry.unit as usize) else {
            return;
        };
        unit.executed += instructions;
        if unit.translation.is_worth_improving(unit.executed)
            && let Some(better) = unit.translation.improved(memory).map(Arc::clone)
        {
            unit.translation = better;
        }
    }
}

/// What translated code calls for arithmetic that it leaves to the interpreter.
///
/// # Safety
/// Both have to be valid, and nothing else may use the core.
#[expect(unsafe_code, reason = "translated code knows pointers only")]
unsafe extern "C" fn compute(core: *mut Core, operation: *const Operation) {
    // SAFETY: by contract.
    let (core, operation) = unsafe { (&mut *core, &*operation) };
    interpreter::compute(core, operation);
}

/// Where [`compute`] is.
fn compute_address() -> usize {
    let compute: unsafe extern "C" fn(*mut Core, *const Operation) = compute;
    compute as usize
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests;
