//! The private peripherals of the core, as the engine calls them and the machine asks about them.

use crate::mcu::machine::FaultCause;
use crate::mcu::self_check::Reported;
use crate::mcu::system::{Exception, Request, SystemControl};
use dmo_analysis::trace::AccessKind;
use dmo_engine::features::Traps;
use dmo_engine::memory::{Attention, Moment, Peripherals};
use std::cell::RefCell;
use std::rc::Rc;

/// The private peripherals, and what a program wants of them.
pub(super) struct System {
    pub(super) control: SystemControl,
    /// An exception that the program requests is a fault, not only noted.
    pub(super) exceptions_are_faults: bool,
    /// The first exception that the program has requested where that is no fault.
    pub(super) requested_exception: Option<Exception>,
    /// Why the program cannot go on, and the instruction that says so, until it is taken.
    pub(super) fault: Option<(FaultCause, u32)>,
    /// The accesses since they were taken, for the self-check.
    accesses: Option<Vec<Reported>>,
}

impl System {
    pub(super) fn new(cpu_id: u32) -> Self {
        Self {
            control: SystemControl::new(cpu_id),
            exceptions_are_faults: true,
            requested_exception: None,
            fault: None,
            accesses: None,
        }
    }

    /// From now on accesses are kept for [`Self::take_accesses`].
    pub(super) fn keep_accesses(&mut self) {
        self.accesses = Some(Vec::new());
    }

    pub(super) fn take_accesses(&mut self) -> Vec<Reported> {
        self.accesses
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    fn keep(&mut self, kind: AccessKind, address: u32, size_bytes: u32, value: u32) {
        if let Some(accesses) = &mut self.accesses {
            accesses.push(Reported {
                kind,
                address,
                size_bytes,
                value: value.into(),
            });
        }
    }
}

/// What the engine has of it.
pub(super) struct SharedSystem(pub(super) Rc<RefCell<System>>);

/// The instructions before the one that is executed at this time.
fn before(time: u64) -> u64 {
    time.saturating_sub(1)
}

impl Peripherals for SharedSystem {
    fn load(&mut self, moment: Moment, address: u32, size_bytes: u32) -> u32 {
        let mut system = self.0.borrow_mut();
        let before = before(moment.time);
        let value = system.control.load(address, size_bytes as usize, before) as u32;
        system.keep(AccessKind::Load, address, size_bytes, value);
        value
    }

    fn store(&mut self, moment: Moment, address: u32, size_bytes: u32, value: u32) -> Attention {
        let mut system = self.0.borrow_mut();
        system.keep(AccessKind::Store, address, size_bytes, value);
        let (size_bytes, value) = (size_bytes as usize, value.into());
        let request = system
            .control
            .store(address, size_bytes, value, before(moment.time));
        let fault = match request {
            Request::Nothing => return Attention::Continue,
            Request::Reset => FaultCause::Reset,
            Request::Exception(exception) if system.exceptions_are_faults => {
                FaultCause::ExceptionRequested { exception }
            }
            Request::Exception(exception) => {
                system.requested_exception.get_or_insert(exception);
                return Attention::Continue;
            }
        };
        system.fault.get_or_insert((fault, moment.pc));
        Attention::Stop
    }

    fn floating_point_enabled(&self) -> bool {
        self.0.borrow().control.floating_point_enabled()
    }

    fn traps(&self) -> Traps {
        let [division, unaligned] = self.0.borrow().control.traps();
        Traps {
            unaligned,
            division,
        }
    }
}
