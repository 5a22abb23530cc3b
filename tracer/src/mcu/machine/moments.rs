//! Looks at a program at given moments, without stopping it.

use super::callbacks::{REGISTERS, Session};
use super::{Machine, MachineError, refused};
use dmo_analysis::trace::{Address, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use unicorn_engine::{RegisterARM, Unicorn};

/// An instruction, and when it executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// When, in executed instructions, this one included.
    pub time: Time,
    /// Which.
    pub pc: Address,
}

/// The microcontroller just before an instruction executes.
pub struct Sight<'a, 'm> {
    core: &'a Unicorn<'m, Session>,
    /// The instruction.
    pub moment: Moment,
}

impl Sight<'_, '_> {
    /// r0 to r15, the last the address of the instruction.
    pub fn registers(&self) -> [u32; 16] {
        std::array::from_fn(|index| match REGISTERS.get(index) {
            Some(&id) => self.core.reg_read(id).unwrap_or(0) as u32,
            None => self.moment.pc.0,
        })
    }

    /// s0 to s31 as bits, each none without a floating-point unit.
    pub fn float_registers(&self) -> [Option<u32>; 32] {
        std::array::from_fn(|index| {
            self.core
                .reg_read(RegisterARM::S0 as i32 + index as i32)
                .ok()
                .map(|value| value as u32)
        })
    }

    /// Memory; none where there is none.
    pub fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.core
            .mem_read_as_vec(u64::from(address.0), size_bytes)
            .ok()
    }
}

/// Looks at the microcontroller.
pub type Look = Box<dyn FnMut(&Sight<'_, '_>)>;

impl Machine {
    /// Calls `look` at each of these moments, in the order in which they come. The program goes
    /// on behind them: one that is stopped inside an IT block could not be resumed.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn look_at(&mut self, moments: &[Moment], look: Look) -> Result<(), MachineError> {
        let look = Rc::new(RefCell::new(look));
        let mut times: BTreeMap<Address, Vec<Time>> = BTreeMap::new();
        for moment in moments {
            times.entry(moment.pc).or_default().push(moment.time);
        }
        for (pc, times) in times {
            let look = Rc::clone(&look);
            let at = u64::from(pc.0);
            self.core
                .add_code_hook(at, at, move |core, _, _| {
                    let time = core.get_data().clock.at(pc.0);
                    if times.contains(&time) {
                        let moment = Moment { time, pc };
                        look.borrow_mut()(&Sight { core, moment });
                    }
                })
                .map_err(refused("add a hook"))?;
        }
        self.core
            .ctl_flush_tb()
            .map_err(refused("drop translations"))
    }
}
