//! Snapshots of the machine just before an instruction executes.

use crate::elf::debug::{DebugInfo, Frame, State};
use crate::elf::image::Image;
use crate::mcu::decode::{Memory, decode};
use crate::mcu::machine::{CoreState, ExecutionPoint, Inspector, Limits, Machine, Observation};
use crate::program::execution::{LayerSource, Program, ProgramEvent, RunError};
use crate::program::semihosting::Host;
use crate::program::target::Target;
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::trace::{AccessKind, Address, Tensor, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The state of a program at one execution point, as far as explanations need it.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// When and where.
    pub point: ExecutionPoint,
    /// The calls that lead there, innermost first.
    pub frames: Vec<Frame>,
    /// How many of the frames, counted from the innermost, are of calls within the layer.
    pub in_layer: usize,
    /// Address and content of the code around it.
    pub code: (u32, Vec<u8>),
    /// The access of the instruction, decoded independently of the emulator.
    pub access: Option<(AccessKind, Range<u64>)>,
}

/// Bytes of code that are kept before an instruction, and from it on.
const CODE_BYTES: [u32; 2] = [64, 24];

impl Snapshot {
    /// `outside`: the calls that were under way as the layer began.
    fn new(sight: &CoreState<'_>, debug: &DebugInfo, outside: &[Frame]) -> Self {
        let read = |address: u32, size_bytes: usize| sight.read(Address(address), size_bytes);
        let state = State {
            registers: sight.registers(),
            floats: sight.float_registers(),
            read: &read,
        };
        let pc = sight.point.pc.0;
        let halfword = |address: Option<u32>| read(address?, 2);
        let mut before: Vec<Vec<u8>> = (1..=CODE_BYTES[0] / 2)
            .map_while(|count| halfword(pc.checked_sub(2 * count)))
            .collect();
        before.reverse();
        let start = pc - 2 * before.len() as u32;
        let from = (0..CODE_BYTES[1] / 2).map_while(|count| halfword(pc.checked_add(2 * count)));
        let code: Vec<u8> = before.into_iter().chain(from).flatten().collect();
        let frames = debug.frames(&state);
        let is_outside = |frame: &Frame| outside.iter().any(|it| it.is_same_call(frame));
        Self {
            point: sight.point,
            in_layer: frames.iter().position(is_outside).unwrap_or(frames.len()),
            frames,
            access: access(&code, pc - start, pc, &state.registers),
            code: (start, code),
        }
    }

    /// Returns `true` if the instruction makes this access.
    pub(super) fn makes(&self, access: &Access, kind: AccessKind, tensor: &Tensor) -> bool {
        let start = u64::from(tensor.address.0) + u64::from(access.offset);
        let end = start + u64::from(access.size_bytes);
        self.access
            .as_ref()
            .is_some_and(|(made, range)| *made == kind && range.start <= start && end <= range.end)
    }
}

/// What the instruction `at` bytes into the code accesses.
fn access(
    code: &[u8],
    at: u32,
    pc: u32,
    registers: &[u32; 16],
) -> Option<(AccessKind, Range<u64>)> {
    let halfword = |at: usize| {
        let bytes = code.get(at..at + 2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    };
    let at = at as usize;
    let instruction = decode(halfword(at)?, halfword(at + 2).unwrap_or(0));
    let Memory::Access(access) = instruction.memory else {
        return None;
    };
    let registers = std::array::from_fn(|index| registers[index]);
    let start = u64::from(access.address(pc, &registers));
    Some((access.kind, start..start + u64::from(access.bytes)))
}

/// Collects snapshots while a program runs.
pub struct SnapshotCollector {
    debug: Arc<DebugInfo>,
    seen: Rc<RefCell<BTreeMap<ExecutionPoint, Snapshot>>>,
    outside: Rc<RefCell<Vec<Frame>>>,
}

impl SnapshotCollector {
    /// An empty collector.
    pub fn new(image: &Image) -> Self {
        Self {
            debug: Arc::clone(&image.debug),
            seen: Rc::default(),
            outside: Rc::default(),
        }
    }

    /// The callback for [`Machine::inspect_at`].
    pub fn look(&self) -> Inspector {
        let debug = Arc::clone(&self.debug);
        let (seen, outside) = (Rc::clone(&self.seen), Rc::clone(&self.outside));
        Box::new(move |sight| {
            let now = Snapshot::new(sight, &debug, &outside.borrow());
            seen.borrow_mut().insert(sight.point, now);
        })
    }

    /// A layer begins; the first `of_layer` of the calls under way are part of it.
    fn layer_begins(&self, machine: &Machine, of_layer: usize) {
        let read = |address: u32, size_bytes: usize| machine.read(Address(address), size_bytes);
        let state = State {
            registers: std::array::from_fn(|index| machine.register(index)),
            floats: std::array::from_fn(|index| machine.float_register(index as i32)),
            read: &read,
        };
        let frames = self.debug.frames(&state);
        self.outside
            .replace(frames.into_iter().skip(of_layer).collect());
    }

    /// The snapshots, by execution point.
    pub fn finish(self) -> BTreeMap<ExecutionPoint, Snapshot> {
        self.seen.take()
    }
}

/// Runs a program to the end of the layer with the last of these points, with a snapshot at each.
///
/// # Errors
/// When the program cannot go on.
pub fn snapshot_program(
    target: &Target,
    limits: Limits,
    points: &[ExecutionPoint],
) -> Result<BTreeMap<ExecutionPoint, Snapshot>, RunError> {
    let collector = SnapshotCollector::new(&target.image);
    let last: Time = points.iter().map(|point| point.time).max().unwrap_or(0);
    let layers = LayerSource::find(target, limits)?;
    let silent = Host::console(Box::new(|_| ()));
    let mut program = Program::load(target, &layers, Observation::Watch, limits, silent)?;
    program
        .process
        .machine
        .inspect_at(points, collector.look())?;
    // A hooked function is its layer, a mark is called from around it.
    let of_layer = usize::from(target.hooks.is_some());
    while program.now() < last {
        match program.advance()? {
            ProgramEvent::Begin(_) => collector.layer_begins(&program.process.machine, of_layer),
            ProgramEvent::End => {}
            ProgramEvent::Exited(_) => break,
        }
    }
    Ok(collector.finish())
}
