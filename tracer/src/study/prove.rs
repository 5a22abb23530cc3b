//! A generated library as a user's compiler makes it: its kernels verified in the plan, and whole
//! inferences run, with every load and store held against the memory that the library may use.

use super::error::{About, BuildError, StudyError};
use super::kernel_request::{ModelKernels, NamedKernels};
use super::plan::Planned;
use super::plan_to_check::PlanToCheck;
use super::region_plan::{memories, region_uses};
use super::region_use::{RegionAccesses, RegionUse};
use super::session::Session;
use super::source::Source;
use super::verify::{Verified, VerifyRequest, verify};
use crate::call::{Argument, CallError, Caller, DEFAULT_RAM, Frame, Library};
use crate::codegen::compilation::{Compiled, Compiler, compile};
use crate::codegen::description::Description;
use crate::codegen::library::{CompiledSizes, GeneratedFile, RecordedInference};
use crate::codegen::memory::{Memory, Place};
use crate::codegen::network::Network;
use crate::elf::image::Segment;
use crate::kernels::KernelLibrary;
use crate::mcu::cpu::Cpu;
use crate::mcu::cycles::{Cycles, FlashTiming};
use crate::mcu::disassembly::Disassembler;
use crate::mcu::machine::{Observation, RawAccess, Watch};
use crate::model::Inference;
use dmo_analysis::trace::{AccessKind, Address};
use schemars::JsonSchema;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// What a compiled library was seen to do.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Proof {
    /// What the compiler calls itself.
    pub compiler: String,
    /// Its flags beside those for CPU and language.
    pub flags: Vec<String>,
    /// The three witnesses have no objection to the plan on the compiled kernels.
    pub kernels_are_safe: bool,
    /// Inferences load and store the same bytes of the arena, in the same order, as the calls that
    /// were verified.
    pub accesses_are_planned: bool,
    /// All outputs are those of the model.
    pub outputs_are_equal: bool,
    /// Loads and stores outside the arena, the context and the stack, the first few in words.
    pub stray: Vec<String>,
    /// Code and constants of an inference, in bytes.
    pub flash_bytes: u64,
    /// Variables outside the arena, in bytes.
    pub data_bytes: u64,
    /// The deepest stack of an inference; `None` if the engine does not measure it.
    pub stack_bytes: Option<u32>,
    /// What was counted of each memory of a plan of several, of an inference; none of one arena.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionUse>,
    /// Arena, variables and stack: what an inference takes of RAM.
    pub ram_bytes: Option<u64>,
    /// Instructions of an inference.
    pub instructions: u64,
    /// Estimated cycles of an inference; `None` if they are not known.
    pub cycles: Option<Cycles>,
}

impl Proof {
    /// What the library takes, for its README.
    pub(super) fn sizes(&self) -> CompiledSizes {
        let flags = self.flags.iter().map(String::as_str);
        let compiler: Vec<&str> = [&*self.compiler].into_iter().chain(flags).collect();
        CompiledSizes {
            compiler: compiler.join(" "),
            ram_bytes: self.ram_bytes,
            flash_bytes: self.flash_bytes,
            cycles: self.cycles.as_ref().map(|cycles| cycles.total),
        }
    }

    /// Nothing speaks against the library.
    pub fn holds(&self) -> bool {
        self.kernels_are_safe
            && self.accesses_are_planned
            && self.outputs_are_equal
            && self.stray.is_empty()
    }
}

/// A library to be proven.
pub(super) struct Provable<'a> {
    pub files: &'a [GeneratedFile],
    /// Sources that only the proof needs.
    pub files_for_proof: &'a [GeneratedFile],
    pub description: &'a Description,
    pub network: &'a Network,
    /// What it has to compute.
    pub recorded: &'a [RecordedInference],
    pub planned: &'a Planned,
}

/// Compiles a library for the CPU of the kernels that it was planned on, and watches it.
///
/// # Errors
/// When it cannot be compiled, or does not come back from a call.
pub(super) fn prove(
    source: &Source,
    library: &Provable,
    compiler: &Compiler,
    (cpu, flash): (Cpu, Option<FlashTiming>),
    session: &Session,
) -> Result<Proof, StudyError> {
    let prefix = &library.description.prefix;
    let outputs = &library.description.outputs;
    let endpoints = library.description.inputs.iter().chain(outputs);
    let accessors = endpoints.map(|endpoint| endpoint.name.as_str());
    let entries = ["invoke", "init"].into_iter().chain(accessors);
    let entries: Vec<String> = entries.map(|name| format!("{prefix}{name}")).collect();
    let compiled = compile(
        compiler,
        cpu.name,
        library.files,
        library.files_for_proof,
        &entries,
    )?;
    let image = || {
        let image = Library::new(&compiled.elf, Some(cpu.name), DEFAULT_RAM)?;
        Ok::<_, StudyError>(image.with_prefix(prefix))
    };
    let kernels = ModelKernels {
        libraries: vec![NamedKernels {
            name: compiler.program.clone(),
            library: KernelLibrary::of_library(image()?)
                .built_in()
                .exact()
                .of_version(OUR_CMSIS_NN_VERSION)
                .about(&compiler.program)?,
        }],
        has_fallback: false,
    };
    let plan = PlanToCheck {
        kernels: None,
        ..PlanToCheck::of_planned(library.planned, source)?
    };
    let request = VerifyRequest {
        inputs: library.recorded.len() as u64,
        // The library has the kernels of what was made of the model only.
        compares_original: false,
        ..VerifyRequest::default()
    };
    let verified = verify(source, Some(plan), &kernels, request, session)?;
    let run = run(library, &image()?.with_flash(flash)).about(&source.name)?;
    let planned = planned_accesses(&verified, library)?;
    let seen = Seen {
        kernels_are_safe: verified.is_safe(),
        accesses_are_planned: planned == run.accesses,
        run,
    };
    Ok(proof(library, compiler, &compiled, seen))
}

/// The version of the CMSIS-NN interface that kernels of ours have. What a small library has of them
/// does not tell it.
const OUR_CMSIS_NN_VERSION: u8 = 7;

/// What was seen of a compiled library.
struct Seen {
    kernels_are_safe: bool,
    accesses_are_planned: bool,
    run: Run,
}

fn proof(library: &Provable, compiler: &Compiler, compiled: &Compiled, seen: Seen) -> Proof {
    let run = seen.run;
    let inferences = library.recorded.len() as u64;
    let outside_stack = u64::from(library.network.ram_bytes()) + compiled.data_bytes;
    let regions = region_uses(library.planned, &run.region_accesses, inferences);
    let waits = regions.iter().map(RegionUse::wait_cycles).sum();
    Proof {
        compiler: compiled.compiler.clone(),
        flags: compiler.flags.clone(),
        kernels_are_safe: seen.kernels_are_safe,
        accesses_are_planned: seen.accesses_are_planned,
        outputs_are_equal: run.outputs_are_equal,
        stray: run.stray,
        flash_bytes: compiled.flash_bytes,
        data_bytes: compiled.data_bytes,
        stack_bytes: run.stack_bytes,
        ram_bytes: run
            .stack_bytes
            .map(|bytes| outside_stack + u64::from(bytes)),
        instructions: run.instructions / inferences.max(1),
        cycles: (run.cycles).map(|cycles| cycles.of_each(inferences).waiting(waits)),
        regions,
    }
}

/// A sequence of accesses: how many, and a hash of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct AccessDigest {
    count: u64,
    hash: u64,
}

impl AccessDigest {
    /// Adds an access to bytes of the arena, given from its start.
    fn add(&mut self, access: &RawAccess) {
        let kind = u64::from(access.kind == AccessKind::Store);
        let word = u64::from(access.address) << 8 | u64::from(access.size_bytes) << 1 | kind;
        self.count += 1;
        self.hash = (self.hash ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }
}

/// What the verified calls do to the arena on the recorded inputs.
fn planned_accesses(verified: &Verified, library: &Provable) -> Result<AccessDigest, StudyError> {
    let deployment = verified.deployed.model();
    let subject = verified.subject();
    let (observation, limits) = (Observation::Watch, super::KERNEL_LIMITS);
    let mut inference = Inference::new(deployment, subject.placement, 0, observation, limits)?;
    let digest = Rc::new(Cell::new(AccessDigest::default()));
    let into = digest.clone();
    inference.watch_arena(move |access| {
        let mut digest = into.get();
        digest.add(&access);
        into.set(digest);
    })?;
    for recorded in library.recorded {
        let inputs = deployment.graph.inputs.iter().copied();
        let content: Vec<_> = inputs.zip(recorded.inputs.iter().cloned()).collect();
        inference.infer(&content, subject.order)?;
    }
    Ok(digest.get())
}

/// What whole inferences did.
struct Run {
    /// Of the part of the arena that is planned.
    accesses: AccessDigest,
    outputs_are_equal: bool,
    stray: Vec<String>,
    stack_bytes: Option<u32>,
    instructions: u64,
    cycles: Option<Cycles>,
    /// Accesses to each memory of a plan of several, those to states too.
    region_accesses: Vec<u64>,
}

/// At most this many stray accesses are reported.
const MOST_STRAY: usize = 8;

/// Calls the library as an application does, on the recorded inputs.
fn run(library: &Provable, image: &Library) -> Result<Run, StudyError> {
    // A pointer to each array.
    let context_bytes = 4 * library.network.memories.len() as u64;
    let mut frame = image.frame();
    let context = frame.reserve_guarded("the context", context_bytes)?;
    let arrays = Arrays::new(library.network, &mut frame)?;
    let source = RowsInMemory::new(library, image, &mut frame)?;
    let mut caller = Caller::within(image, &frame, Observation::Watch, super::KERNEL_LIMITS)?;
    caller.machine.count_cycles();
    caller.fill(&frame)?;
    let range = |start: Address, bytes: u64| u64::from(start.0)..u64::from(start.0) + bytes;
    let mut own = vec![range(context, context_bytes), frame.stack()];
    own.extend(arrays.ranges());
    own.extend(source.iter().flat_map(RowsInMemory::ranges));
    // Variables of the C library.
    own.extend(image.image().segments.iter().map(Segment::run_range));
    let stray = Rc::new(RefCell::new(Vec::<RawAccess>::new()));
    let found = stray.clone();
    let accesses = Rc::new(Cell::new(AccessDigest::default()));
    let counted = RegionAccesses::of(&memories(library.planned).regions);
    let (digest, states) = (accesses.clone(), library.network.state_bytes.clone());
    let (offset_of, counts) = (arrays.clone(), counted.clone());
    caller.machine.deliver_to(Box::new(move |batch| {
        for access in batch.iter() {
            note_stray(&access, &own, &mut found.borrow_mut());
            let Some(address) = offset_of.in_arena(&access) else {
                continue;
            };
            counts.add(address);
            if !states.contains(&address) {
                let mut so_far = digest.get();
                so_far.add(&RawAccess { address, ..access });
                digest.set(so_far);
            }
        }
        true
    }));
    caller.machine.watch(vec![Watch {
        range: DEFAULT_RAM,
        loads: true,
    }])?;
    let arguments = [vec![context.into()], arrays.arguments()].concat();
    succeed(&mut caller, &frame, "init", &arguments)?;
    // What initialisation stores is no part of the plan.
    accesses.set(AccessDigest::default());
    let initial = counted.counts();
    let (begun, cycles_begun) = (caller.machine.now(), caller.machine.cycles());
    let mut outputs_are_equal = true;
    for inference in library.recorded {
        for (input, bytes) in library.network.inputs.iter().zip(&inference.inputs) {
            let at = arrays.address(input.place);
            caller.machine.write(at, bytes)?;
        }
        let mut arguments = vec![context.into()];
        if let Some(source) = &source {
            let bytes = inference.inputs.first().map_or(&[][..], |bytes| bytes);
            caller.machine.write(source.rows, bytes)?;
            arguments.extend([source.read, source.user.into()]);
        }
        succeed(&mut caller, &frame, "invoke", &arguments)?;
        for (output, bytes) in library.network.outputs.iter().zip(&inference.outputs) {
            let at = arrays.address(output.place);
            let found = caller.machine.read(at, bytes.len());
            outputs_are_equal &= found.as_ref() == Some(bytes);
        }
    }
    outputs_are_equal &= caller.changed_guard(&frame).is_none();
    let disassembler = Disassembler::default();
    let in_words = |access: &RawAccess| {
        let kind = match access.kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
        };
        let at = image.location(Address(access.pc), &disassembler);
        format!(
            "{kind} of {} bytes at {} by {at}",
            access.size_bytes,
            Address(access.address)
        )
    };
    let stray = stray.borrow().iter().map(in_words).collect();
    Ok(Run {
        accesses: accesses.get(),
        outputs_are_equal,
        stray,
        stack_bytes: caller.deepest_stack_bytes(),
        instructions: caller.machine.now() - begun,
        region_accesses: (counted.counts().iter().zip(initial))
            .map(|(all, initial)| all - initial)
            .collect(),
        cycles: cycles_begun.and_then(|begun| caller.machine.cycles_since(Some(begun))),
    })
}

/// The arrays of a library in the emulated memory, each for itself.
#[derive(Clone)]
struct Arrays {
    memories: Vec<Memory>,
    starts: Vec<Address>,
}

impl Arrays {
    /// Filled with garbage.
    fn new(network: &Network, frame: &mut Frame) -> Result<Self, CallError> {
        let memories = network.memories.clone();
        let mut starts = Vec::with_capacity(memories.len());
        for memory in &memories {
            let bytes = memory.bytes();
            // As much more as the frame's own alignment may fall short.
            let room = u64::from(bytes) + u64::from(memory.alignment);
            let start = frame.reserve_guarded(&memory.name, room)?;
            frame.fill(start, vec![0xb7; room as usize]);
            starts.push(Address(start.0.next_multiple_of(memory.alignment)));
        }
        Ok(Self { memories, starts })
    }

    fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let arrays = self.memories.iter().zip(&self.starts);
        arrays.map(|(memory, start)| {
            let start = u64::from(start.0);
            start..start + u64::from(memory.bytes())
        })
    }

    /// Pointer and size of each, as `init` takes them.
    fn arguments(&self) -> Vec<Argument> {
        let arrays = self.memories.iter().zip(&self.starts);
        arrays
            .flat_map(|(memory, &start)| [start.into(), Argument::Word(memory.bytes())])
            .collect()
    }

    fn address(&self, place: Place) -> Address {
        Address(self.starts[place.memory].0 + place.offset_bytes)
    }

    /// Where in the plan's arena an access to one of them goes; `None` if it is not to one of them.
    fn in_arena(&self, access: &RawAccess) -> Option<u32> {
        let mut ranges = self.ranges();
        let array = ranges.position(|range| is_within(access, &[range]))?;
        Some(self.memories[array].extent.start + (access.address - self.starts[array].0))
    }
}

/// An input that is handed over in rows, in memory outside of the arena.
struct RowsInMemory {
    /// The function that hands them over.
    read: Argument,
    /// Its first parameter.
    user: Address,
    rows: Address,
    bytes: u64,
}

impl RowsInMemory {
    /// Bytes of what the function knows of the input: where it lies, and the size of a row.
    const USER_BYTES: u64 = 8;

    /// `None` if the inputs lie in the arena.
    fn new(
        library: &Provable,
        image: &Library,
        frame: &mut Frame,
    ) -> Result<Option<Self>, StudyError> {
        let Some(rows) = &library.description.rows else {
            return Ok(None);
        };
        let name = "rows_of_memory";
        let read = image
            .address_of(name)
            .ok_or_else(|| CallError::NoFunction {
                name: name.to_owned(),
                similar: Vec::new(),
            })?;
        let bytes = u64::from(rows.rows()) * rows.row_bytes();
        let source = Self {
            read: Argument::Word(read | 1),
            user: frame.reserve_guarded("what is known of the input", Self::USER_BYTES)?,
            rows: frame.reserve_guarded("the input", bytes)?,
            bytes,
        };
        let words = [source.rows.0, rows.row_bytes() as u32];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        frame.fill(source.user, words.collect());
        Ok(Some(source))
    }

    fn ranges(&self) -> [Range<u64>; 2] {
        [(self.user, Self::USER_BYTES), (self.rows, self.bytes)]
            .map(|(start, bytes)| u64::from(start.0)..u64::from(start.0) + bytes)
    }
}

/// Keeps an access that is none of the library's, once for each instruction.
fn note_stray(access: &RawAccess, own: &[Range<u64>], found: &mut Vec<RawAccess>) {
    let is_known = |known: &RawAccess| known.pc == access.pc;
    if found.len() < MOST_STRAY && !is_within(access, own) && !found.iter().any(is_known) {
        found.push(*access);
    }
}

fn is_within(access: &RawAccess, own: &[Range<u64>]) -> bool {
    let start = u64::from(access.address);
    let end = start + u64::from(access.size_bytes);
    own.iter()
        .any(|range| range.start <= start && end <= range.end)
}

/// Calls a function that returns 0.
fn succeed(
    caller: &mut Caller,
    frame: &Frame,
    function: &str,
    arguments: &[Argument],
) -> Result<(), StudyError> {
    let status = caller.call_on(function, frame, arguments)? as i32;
    if status == 0 {
        return Ok(());
    }
    let function = function.to_owned();
    Err(BuildError::Status { function, status }.into())
}
