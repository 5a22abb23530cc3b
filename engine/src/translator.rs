//! Translates hot code to the host's: whole units, with guest registers in host registers across
//! loops, and with recording in line. What it does not translate, and every access that is not to
//! plain memory, it leaves to the interpreter.

mod context;
mod control;
mod cycles;
mod data;
mod emit;
mod float;
mod memory;
mod multiply;
mod unit;

use crate::core::Core;
use crate::features::Features;
use crate::interpreter;
use crate::memory::{Memory, Tables};
use crate::operation::Operation;
use crate::timing::{Counter, Flash};
use context::{Code, Context, Exit};
use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError, default_libcall_names};
use cycles::Counted;
use emit::Emitter;
use std::collections::{BTreeMap, BTreeSet, HashMap};
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

/// What was translated.
#[derive(Default)]
pub(crate) struct Translated {
    /// How many instructions.
    pub(crate) instructions: u64,
    /// Where it can be entered.
    pub(crate) entries: Vec<(u32, Entry)>,
}

/// A translated unit.
struct Translation {
    code: Code,
    /// Keeps the code. Dropped by hand: see [`Translation::drop`].
    module: Option<JITModule>,
    /// What the code refers to.
    _unit: Unit,
    pages: BTreeSet<u32>,
    entries: Vec<u32>,
    uses_floating_point: bool,
}

impl Drop for Translation {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: code of a unit runs only within `Translator::run`, which borrows it.
            #[expect(unsafe_code, reason = "Cranelift's way to free code")]
            unsafe {
                module.free_memory();
            }
        }
    }
}

/// Translates code and keeps it.
pub(crate) struct Translator {
    isa: Option<OwnedTargetIsa>,
    units: BTreeMap<u32, Translation>,
    next_unit: u32,
    /// The entries of all units.
    entries: HashMap<u32, Entry>,
    /// Where the translated code takes memory to be.
    tables: Option<Tables>,
    /// Where the run has once looked up: no unit goes beyond them.
    looked_up: BTreeSet<u32>,
    /// Where cycles are counted.
    counted: Option<Counted>,
}

impl Translator {
    /// Without code. On a host that Cranelift does not know it never translates.
    pub(crate) fn new() -> Self {
        Self {
            isa: host(),
            units: BTreeMap::new(),
            next_unit: 0,
            entries: HashMap::new(),
            tables: None,
            looked_up: BTreeSet::new(),
            counted: None,
        }
    }

    /// Counts cycles, as this counter does. Forgets all code.
    pub(crate) fn count_cycles(&mut self, counter: &Counter) {
        self.counted = Some(Counted::of(counter));
        self.forget();
    }

    /// The entry at an address.
    pub(crate) fn entry(&self, address: u32) -> Option<Entry> {
        self.entries.get(&address).copied()
    }

    /// Forgets all code if memory lies elsewhere than it did.
    pub(crate) fn check_memory(&mut self, memory: &mut Memory) -> bool {
        let tables = memory.tables();
        let moved = self.tables.is_some_and(|known| known != tables);
        if moved {
            self.forget();
        }
        self.tables = Some(tables);
        moved
    }

    /// Forgets all code.
    pub(crate) fn forget(&mut self) {
        self.units.clear();
        self.entries.clear();
    }

    /// Forgets the units that have code in a page. Gives their entries.
    pub(crate) fn forget_page(&mut self, page: u32) -> Vec<u32> {
        self.forget_units(|unit| unit.pages.contains(&page))
    }

    /// From now on no unit goes beyond this address. Gives the entries of those forgotten.
    pub(crate) fn look_up_at(&mut self, address: u32) -> Vec<u32> {
        if !self.looked_up.insert(address) {
            return Vec::new();
        }
        self.forget_units(|unit| unit.pages.contains(&(address >> 12)))
    }

    fn forget_units(&mut self, wanted: impl Fn(&Translation) -> bool) -> Vec<u32> {
        let wanted: Vec<u32> = self
            .units
            .iter()
            .filter(|(_, unit)| wanted(unit))
            .map(|(&number, _)| number)
            .collect();
        let mut gone = Vec::new();
        for number in wanted {
            if let Some(unit) = self.units.remove(&number) {
                gone.extend(&unit.entries);
            }
        }
        for address in &gone {
            self.entries.remove(address);
        }
        gone
    }

    /// Translates the unit at an address if it has no more than so many instructions.
    pub(crate) fn translate(
        &mut self,
        address: u32,
        features: &Features,
        memory: &mut Memory,
        most_instructions: u64,
    ) -> Translated {
        let nothing = Translated::default();
        let looked_up = &self.looked_up;
        let pipeline = self.counted.as_ref().map(|counted| counted.pipeline);
        let looks_up = |pc| looked_up.contains(&pc);
        let unit = Unit::at(address, features, memory, pipeline, looks_up);
        let instructions = unit.instructions();
        if !unit.entries.contains(&address) || instructions > most_instructions {
            return nothing;
        }
        let Some(translation) = self.compile(unit, features) else {
            return nothing;
        };
        for &page in &translation.pages {
            memory.holds_code(page);
        }
        let number = self.next_unit;
        self.next_unit += 1;
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
        self.units.insert(number, translation);
        Translated {
            instructions,
            entries,
        }
    }

    fn compile(&self, unit: Unit, features: &Features) -> Option<Translation> {
        let isa = self.isa.clone()?;
        let tables = self.tables?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let code = match define(&mut module, &unit, features, tables, self.counted.as_ref()) {
            Ok(code) => code,
            Err(error) => {
                debug_assert!(false, "{error:?}");
                return None;
            }
        };
        let mut instructions = unit.blocks.values().flat_map(|block| &block.instructions);
        let uses_floating_point =
            instructions.any(|instruction| instruction.operation.is_floating_point());
        Some(Translation {
            code,
            module: Some(module),
            pages: unit.pages(),
            entries: unit.entries.iter().copied().collect(),
            uses_floating_point,
            _unit: unit,
        })
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
        let unit = self.units.get(&entry.unit);
        let Some(unit) = unit.filter(|unit| limits.floating_point_on || !unit.uses_floating_point)
        else {
            return Left {
                after: After::Interpret,
                last: Last::Nothing,
            };
        };
        let events = memory.event_places();
        let mut context = Context {
            core,
            event: events.start,
            events_end: events.end,
            until: limits.until,
            previous: cycles::NOTHING,
            flash: flash.map_or(std::ptr::null_mut(), std::ptr::from_mut),
        };
        // SAFETY: the code accesses what `context` points to, the tables and the bytes of
        // `memory`, and what it finds there to be guest memory. All of it is borrowed here, and
        // lies where it did when the code was translated (`check_memory`).
        #[expect(unsafe_code, reason = "the call of translated code")]
        let exit = unsafe { (unit.code)(&raw mut context, entry.index) };
        memory.set_next_event(context.event);
        let after = match exit {
            exit if exit == Exit::Branch as u32 => After::Anything,
            exit if exit == Exit::InterpretFetched as u32 => After::InterpretFetched,
            _ => After::Interpret,
        };
        let last = cycles::last(context.previous);
        Left { after, last }
    }
}

fn host() -> Option<OwnedTargetIsa> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").ok()?;
    flags.set("enable_verifier", "false").ok()?;
    flags.set("is_pic", "false").ok()?;
    flags.set("use_colocated_libcalls", "false").ok()?;
    let isa = cranelift_native::builder().ok()?;
    isa.finish(settings::Flags::new(flags)).ok()
}

fn define(
    module: &mut JITModule,
    unit: &Unit,
    features: &Features,
    tables: Tables,
    counted: Option<&Counted>,
) -> Result<Code, Box<ModuleError>> {
    let mut context = module.make_context();
    let signature = |parameters: &[types::Type], returns: &[types::Type]| {
        let mut signature = Signature::new(module.isa().default_call_conv());
        signature.params = parameters.iter().copied().map(AbiParam::new).collect();
        signature.returns = returns.iter().copied().map(AbiParam::new).collect();
        signature
    };
    context.func.signature = signature(&[types::I64, types::I32], &[types::I32]);
    context.func.name = UserFuncName::user(0, 0);
    let helper = signature(&[types::I64, types::I64], &[]);
    let mut builders = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut builders);
    let helper = builder.import_signature(helper);
    Emitter::emit(&mut builder, helper, unit, features, tables, counted);
    builder.finalize();
    let id = module.declare_anonymous_function(&context.func.signature)?;
    module.define_function(id, &mut context)?;
    module.finalize_definitions()?;
    let code = module.get_finalized_function(id);
    // SAFETY: it is a function with this signature.
    #[expect(unsafe_code, reason = "a pointer to code becomes a function")]
    let code = unsafe { std::mem::transmute::<*const u8, Code>(code) };
    Ok(code)
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
