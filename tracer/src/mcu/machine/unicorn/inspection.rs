//! Inspects a program at given execution points, without stopping it: it could not be resumed inside
//! an IT block.

use super::Core;
use super::session::{REGISTERS, Session};
use crate::mcu::machine::inspection::{CoreState, ExecutionPoint, Inspector, Sight};
use dmo_analysis::trace::{Address, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use unicorn_engine::{RegisterARM, Unicorn, uc_error};

impl Sight for Unicorn<'_, Session<'_>> {
    fn register(&self, index: usize) -> u32 {
        let id = REGISTERS.get(index).copied().unwrap_or(RegisterARM::PC);
        self.reg_read(id).unwrap_or(0) as u32
    }

    fn float_register(&self, index: i32) -> Option<u32> {
        self.reg_read(RegisterARM::S0 as i32 + index)
            .ok()
            .map(|value| value as u32)
    }

    fn read(&self, address: Address, size_bytes: usize) -> Option<Vec<u8>> {
        self.mem_read_as_vec(u64::from(address.0), size_bytes).ok()
    }
}

/// Calls `look` at each of these points.
pub(super) fn add_hooks(
    core: &mut Core,
    points: &[ExecutionPoint],
    look: Inspector,
) -> Result<(), uc_error> {
    let look = Rc::new(RefCell::new(look));
    let mut times: BTreeMap<Address, Vec<Time>> = BTreeMap::new();
    for point in points {
        times.entry(point.pc).or_default().push(point.time);
    }
    for (pc, times) in times {
        let look = Rc::clone(&look);
        let at = u64::from(pc.0);
        core.add_code_hook(at, at, move |core, _, _| {
            let time = core.get_data().clock.at(pc.0);
            if times.contains(&time) {
                let point = ExecutionPoint { time, pc };
                look.borrow_mut()(&CoreState { sight: core, point });
            }
        })?;
    }
    Ok(())
}
