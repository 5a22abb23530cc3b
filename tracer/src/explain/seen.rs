//! What the machine shows just before an instruction.

use crate::elf::debug::{DebugInfo, Frame, State};
use crate::elf::image::Image;
use crate::mcu::decode::{Memory, decode};
use crate::mcu::machine::{Limits, Look, Machine, Moment, Observation, Sight};
use crate::program::execution::{Layers, Program, RunError, Step};
use crate::program::semihosting::Host;
use crate::program::target::Target;
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::trace::{AccessKind, Address, Tensor, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The program at a moment.
#[derive(Debug, Clone)]
pub struct Seen {
    /// When and where.
    pub moment: Moment,
    /// The calls that lead there, innermost first.
    pub frames: Vec<Frame>,
    /// How many of the frames, counted from the innermost, are of calls within the layer.
    pub in_layer: usize,
    /// Address and content of the code around it.
    pub code: (u32, Vec<u8>),
    /// What the instruction accesses, as it is decoded by itself and not told by the emulator.
    pub access: Option<(AccessKind, Range<u64>)>,
}

/// Bytes of code that are kept before an instruction, and from it on.
const CODE_BYTES: [u32; 2] = [64, 24];

impl Seen {
    /// `outside`: the calls that were under way as the layer began.
    fn new(sight: &Sight<'_, '_>, debug: &DebugInfo, outside: &[Frame]) -> Self {
        let read = |address: u32, size_bytes: usize| sight.read(Address(address), size_bytes);
        let state = State {
            registers: sight.registers(),
            floats: sight.float_registers(),
            read: &read,
        };
        let pc = sight.moment.pc.0;
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
            moment: sight.moment,
            in_layer: frames.iter().position(is_outside).unwrap_or(frames.len()),
            frames,
            access: access(&code, pc - start, pc, &state.registers),
            code: (start, code),
        }
    }

    /// Whether the instruction makes this access.
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

/// Keeps what is seen.
pub struct Witness {
    debug: Arc<DebugInfo>,
    seen: Rc<RefCell<BTreeMap<Moment, Seen>>>,
    outside: Rc<RefCell<Vec<Frame>>>,
}

impl Witness {
    /// One that has seen nothing yet.
    pub fn new(image: &Image) -> Self {
        Self {
            debug: Arc::clone(&image.debug),
            seen: Rc::default(),
            outside: Rc::default(),
        }
    }

    /// What a machine is to call.
    pub fn look(&self) -> Look {
        let debug = Arc::clone(&self.debug);
        let (seen, outside) = (Rc::clone(&self.seen), Rc::clone(&self.outside));
        Box::new(move |sight| {
            let now = Seen::new(sight, &debug, &outside.borrow());
            seen.borrow_mut().insert(sight.moment, now);
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

    /// All that has been seen.
    pub fn finish(self) -> BTreeMap<Moment, Seen> {
        self.seen.take()
    }
}

/// Runs a program to the end of the layer with the last of these moments, and looks at each.
///
/// # Errors
/// When the program cannot go on.
pub fn see_program(
    target: &Target,
    limits: Limits,
    moments: &[Moment],
) -> Result<BTreeMap<Moment, Seen>, RunError> {
    let witness = Witness::new(&target.image);
    let last: Time = moments.iter().map(|moment| moment.time).max().unwrap_or(0);
    let layers = Layers::find(target, limits)?;
    let silent = Host::console(Box::new(|_| ()));
    let mut program = Program::load(target, &layers, Observation::Watch, limits, silent)?;
    program.machine.look_at(moments, witness.look())?;
    // A hooked function is its layer, a mark is called from around it.
    let of_layer = usize::from(target.hooks.is_some());
    while program.now() < last {
        match program.advance()? {
            Step::Begin(_) => witness.layer_begins(&program.machine, of_layer),
            Step::End => {}
            Step::Exited(_) => break,
        }
    }
    Ok(witness.finish())
}
