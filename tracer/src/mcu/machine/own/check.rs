//! The self-check: instruction by instruction.

use super::OwnEngine;
use crate::mcu::machine::engine::Engine as _;
use crate::mcu::machine::{FaultCause, MachineError, RawAccess};
use crate::mcu::self_check::{Checker, CoreState, Reported};
use dmo_analysis::trace::AccessKind;
use dmo_engine::engine::Stop;

impl OwnEngine<'_> {
    /// A run begins.
    pub(super) fn begin_check(&mut self) -> Result<(), MachineError> {
        if self.checker.is_none() {
            let mut checker = Checker::new(self.writable_memory()?);
            for (companion, stride) in std::mem::take(&mut self.companions) {
                checker.follow_by(companion, stride, |address, size_bytes| {
                    self.engine.memory.read(address, size_bytes)
                });
            }
            self.checker = Some(checker);
        }
        let (state, floats) = (self.core_state(), self.core().s);
        if let Some(checker) = &mut self.checker {
            checker.begin(&state, Some(&floats));
        }
        Ok(())
    }

    /// A run has stopped. Gives what the check has found.
    pub(super) fn pause_check(&mut self) -> Option<FaultCause> {
        let (pc, floats) = (self.core().r[15], self.core().s);
        self.checker.as_mut()?.pause(pc, Some(&floats));
        self.check_error()
    }

    fn core_state(&self) -> CoreState {
        let core = self.core();
        CoreState {
            pc: core.r[15],
            registers: std::array::from_fn(|index| core.r[index]),
            status: core.status(),
        }
    }

    /// Executes one instruction, if it can be, with the check told before what it should do and
    /// after what it did.
    pub(super) fn step_checked(&mut self) -> Stop {
        let state = self.core_state();
        if let Some(mut checker) = self.checker.take() {
            checker.execute(&state, |address| {
                [
                    self.halfword(address),
                    self.halfword(address.wrapping_add(2)),
                ]
            });
            self.checker = Some(checker);
        }
        let stop = self.engine.run(self.core().time + 1);
        if stop == Stop::Loop {
            // It does not count as executed.
            self.withdraw_instruction();
        }
        stop
    }

    /// A halfword of code; after the end of memory nothing is executed either.
    fn halfword(&self, address: u32) -> u16 {
        self.engine.memory.fetch(address).unwrap_or(0)
    }

    /// Tells the check of the accesses of an instruction.
    pub(super) fn report_to_check(&mut self, accesses: &[RawAccess]) {
        let Some(mut checker) = self.checker.take() else {
            return;
        };
        for access in accesses {
            let size_bytes = usize::from(access.size_bytes);
            let mut value = [0; 8];
            if access.kind == AccessKind::Store
                && let Some(bytes) = self.engine.memory.read(access.address, size_bytes)
                && let Some(place) = value.get_mut(..size_bytes)
            {
                place.copy_from_slice(&bytes);
            }
            checker.report(Reported {
                kind: access.kind,
                address: access.address,
                size_bytes: access.size_bytes.into(),
                value: u64::from_le_bytes(value),
            });
        }
        for access in self.system.borrow_mut().take_accesses() {
            if access.kind == AccessKind::Load {
                checker.answer(access.value as u32);
            }
            checker.report(access);
        }
        self.checker = Some(checker);
    }

    /// What the check has found.
    pub(super) fn check_error(&self) -> Option<FaultCause> {
        let error = self.checker.as_ref()?.error()?;
        Some(FaultCause::SelfCheck(error.clone()))
    }
}
