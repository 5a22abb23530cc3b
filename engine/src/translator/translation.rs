//! A translated unit: the host's code, and what belongs to it.

use super::context::Code;
use super::cycles::Counted;
use super::emit::Emitter;
use super::unit::Unit;
use crate::features::Features;
use crate::memory::Memory;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Function, Signature, Type, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use memmap2::{Mmap, MmapMut};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

/// Consecutive instructions of the guest.
pub(super) struct Stretch {
    pub(super) start: u32,
    pub(super) bytes: Vec<u8>,
}

impl Stretch {
    pub(super) fn range(&self) -> Range<u32> {
        self.start..self.start.wrapping_add(self.bytes.len() as u32)
    }
}

/// A translated unit.
pub(super) struct Translation {
    /// The host's code. It lies in `memory`, and refers to operations of `unit`.
    pub(super) code: Code,
    _memory: Mmap,
    unit: Unit,
    pub(super) features: Features,
    /// How it counts cycles.
    pub(super) counted: Option<Counted>,
    /// The guest's code.
    pub(super) stretches: Vec<Stretch>,
    pub(super) pages: BTreeSet<u32>,
    pub(super) entries: Vec<u32>,
    pub(super) uses_floating_point: bool,
    quality: Quality,
    instructions: u64,
    /// A good one of the same unit, once it was worth it.
    better: OnceLock<Option<Arc<Self>>>,
}

/// A quick translation becomes a good one when it has executed so many instructions for each that
/// it has: by then what could have been saved is about what the good one costs.
const EXECUTED_FOR_ONE: u64 = 1_000_000;

/// How good the host's code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quality {
    /// Translated in two thirds of the time.
    Quick,
    /// A tenth faster.
    Good,
}

/// The host, where tests have executed translated code. Other processors have to be told of new code,
/// and other systems have calls and memory of other kinds: there the interpreter does all.
struct Hosts {
    quick: OwnedTargetIsa,
    good: OwnedTargetIsa,
}

static HOSTS: LazyLock<Option<Hosts>> = LazyLock::new(|| {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return None;
    }
    let host = |level| {
        let mut flags = settings::builder();
        flags.set("opt_level", level).ok()?;
        flags.set("enable_verifier", "false").ok()?;
        flags.set("is_pic", "false").ok()?;
        let isa = cranelift_native::builder().ok()?;
        isa.finish(settings::Flags::new(flags)).ok()
    };
    Some(Hosts {
        quick: host("none")?,
        good: host("speed")?,
    })
});

fn host(quality: Quality) -> Option<&'static dyn TargetIsa> {
    let hosts = HOSTS.as_ref()?;
    Some(match quality {
        Quality::Quick => &*hosts.quick,
        Quality::Good => &*hosts.good,
    })
}

/// Whether the host has an instruction that multiplies and adds, and rounds once.
pub(super) fn host_multiplies_and_adds() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has_it = std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let has_it = cfg!(target_arch = "aarch64");
    has_it
}

impl Translation {
    /// Whether it has the instruction at an address.
    pub(super) fn has(&self, address: u32) -> bool {
        let mut stretches = self.stretches.iter();
        stretches.any(|stretch| stretch.range().contains(&address))
    }

    /// Whether a better one is worth it once a machine has executed this many instructions of it.
    pub(super) fn is_worth_improving(&self, executed: u64) -> bool {
        self.quality == Quality::Quick && executed >= self.instructions * EXECUTED_FOR_ONE
    }

    /// The better one of the same unit, which is translated if need be.
    pub(super) fn improved(&self, memory: &Memory) -> Option<&Arc<Self>> {
        let better = || {
            let (features, counted) = (&self.features, self.counted.as_ref());
            let good = Self::of(self.unit.clone(), features, counted, memory, Quality::Good);
            good.map(Arc::new)
        };
        self.better.get_or_init(better).as_ref()
    }

    /// The better one, if it is there.
    pub(super) fn better(&self) -> Option<&Arc<Self>> {
        self.better.get()?.as_ref()
    }

    /// Translates a unit of the code in this memory; `None` where the host cannot execute it.
    pub(super) fn of(
        unit: Unit,
        features: &Features,
        counted: Option<&Counted>,
        memory: &Memory,
        quality: Quality,
    ) -> Option<Self> {
        let host = host(quality)?;
        let mut context = Context::for_function(function(&unit, features, counted, host));
        let compiled = context.compile(host, &mut ControlPlane::default());
        debug_assert!(compiled.is_ok(), "{:?}", compiled.err());
        let buffer = &compiled.ok()?.buffer;
        // It calls nothing by name, but for arithmetic that the host does not have.
        if !buffer.relocs().is_empty() {
            return None;
        }
        let mut host_memory = MmapMut::map_anon(buffer.data().len()).ok()?;
        host_memory.copy_from_slice(buffer.data());
        let host_memory = host_memory.make_exec().ok()?;
        // SAFETY: what lies there is a function with this signature.
        #[expect(unsafe_code, reason = "a pointer to code becomes a function")]
        let code = unsafe { std::mem::transmute::<*const u8, Code>(host_memory.as_ptr()) };
        let mut instructions = unit.blocks.values().flat_map(|block| &block.instructions);
        let uses_floating_point =
            instructions.any(|instruction| instruction.operation.is_floating_point());
        Some(Self {
            code,
            _memory: host_memory,
            features: *features,
            counted: counted.cloned(),
            stretches: stretches(&unit, memory)?,
            pages: unit.pages(),
            entries: unit.entries.iter().copied().collect(),
            uses_floating_point,
            quality,
            instructions: unit.instructions(),
            better: OnceLock::new(),
            unit,
        })
    }
}

/// The guest's code of a unit.
fn stretches(unit: &Unit, memory: &Memory) -> Option<Vec<Stretch>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for block in unit.blocks.values() {
        let (first, last) = (block.instructions.first()?, block.instructions.last()?);
        match ranges.last_mut().filter(|range| range.end == first.pc) {
            Some(range) => range.end = last.next(),
            None => ranges.push(first.pc..last.next()),
        }
    }
    let stretch = |range: Range<u32>| {
        Some(Stretch {
            start: range.start,
            bytes: memory.read(range.start, range.end.checked_sub(range.start)? as usize)?,
        })
    };
    ranges.into_iter().map(stretch).collect()
}

/// What the unit does, for Cranelift.
fn function(
    unit: &Unit,
    features: &Features,
    counted: Option<&Counted>,
    host: &dyn TargetIsa,
) -> Function {
    let convention = host.default_call_conv();
    let name = UserFuncName::user(0, 0);
    let parameters = [types::I64, types::I32];
    let signature_of_code = signature(convention, &parameters, &[types::I32]);
    let mut function = Function::with_name_signature(name, signature_of_code);
    let mut builders = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut function, &mut builders);
    let helper = signature(convention, &[types::I64, types::I64], &[]);
    let helper = builder.import_signature(helper);
    Emitter::emit(&mut builder, helper, unit, features, counted);
    builder.finalize();
    function
}

fn signature(convention: CallConv, parameters: &[Type], returns: &[Type]) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params = parameters.iter().copied().map(AbiParam::new).collect();
    signature.returns = returns.iter().copied().map(AbiParam::new).collect();
    signature
}
