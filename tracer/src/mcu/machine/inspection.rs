//! Inspects a program at given execution points, without stopping it.

use super::callbacks::{REGISTERS, Session};
use super::{Machine, MachineError, refused};
use dmo_analysis::trace::{Address, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use unicorn_engine::{RegisterARM, Unicorn};

/// One execution of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionPoint {
    /// Time in executed instructions, this one included.
    pub time: Time,
    /// Address of the instruction.
    pub pc: Address,
}

/// The core and its memory, just before an instruction executes.
pub struct CoreState<'a, 'm> {
    core: &'a Unicorn<'m, Session>,
    /// The execution that is about to happen.
    pub point: ExecutionPoint,
}

impl CoreState<'_, '_> {
    /// r0 to r15, the last the address of the instruction.
    pub fn registers(&self) -> [u32; 16] {
        std::array::from_fn(|index| match REGISTERS.get(index) {
            Some(&id) => self.core.reg_read(id).unwrap_or(0) as u32,
            None => self.point.pc.0,
        })
    }

    /// s0 to s31 as bits; each `None` without a floating-point unit.
    pub fn float_registers(&self) -> [Option<u32>; 32] {
        std::array::from_fn(|index| {
            self.core
                .reg_read(RegisterARM::S0 as i32 + index as i32)
                .ok()
                .map(|value| value as u32)
        })
    }

    /// Reads memory; `None` if none is mapped there.
    pub fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.core
            .mem_read_as_vec(u64::from(address.0), size_bytes)
            .ok()
    }
}

/// Called with the state at an execution point.
pub type Inspector = Box<dyn FnMut(&CoreState<'_, '_>)>;

impl Machine {
    /// Calls `look` at each of these points, in the order in which they are reached. The program is
    /// not stopped: it could not be resumed inside an IT block.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn inspect_at(
        &mut self,
        points: &[ExecutionPoint],
        look: Inspector,
    ) -> Result<(), MachineError> {
        let look = Rc::new(RefCell::new(look));
        let mut times: BTreeMap<Address, Vec<Time>> = BTreeMap::new();
        for point in points {
            times.entry(point.pc).or_default().push(point.time);
        }
        for (pc, times) in times {
            let look = Rc::clone(&look);
            let at = u64::from(pc.0);
            self.core
                .add_code_hook(at, at, move |core, _, _| {
                    let time = core.get_data().clock.at(pc.0);
                    if times.contains(&time) {
                        let point = ExecutionPoint { time, pc };
                        look.borrow_mut()(&CoreState { core, point });
                    }
                })
                .map_err(refused("add a hook"))?;
        }
        self.drop_translations()
    }
}
