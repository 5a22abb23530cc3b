//! Where a machine stops: at every entry of some functions, or where one of them returns.

use super::callbacks::{self, IT_BITS, Session};
use super::{Machine, MachineError, Pause, refused};
use dmo_analysis::trace::Address;
use unicorn_engine::{RegisterARM, Unicorn};

impl Machine {
    /// Stops before the instructions at these addresses from now on, and before no others.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn set_breakpoints(&mut self, addresses: &[u32]) -> Result<(), MachineError> {
        self.stop_on_return(addresses, 0)
    }

    /// Stops before the instructions at these addresses from now on, and before no others,
    /// but only where the stack pointer is at `stack_pointer` or above: a function that was
    /// entered with it there has then returned, and the calls inside it have long done so.
    ///
    /// # Errors
    /// When the emulator refuses a hook.
    pub fn stop_on_return(
        &mut self,
        addresses: &[u32],
        stack_pointer: u32,
    ) -> Result<(), MachineError> {
        for hook in self.breakpoints.drain(..) {
            self.core
                .remove_hook(hook)
                .map_err(refused("remove a breakpoint"))?;
        }
        for &address in addresses {
            let address = u64::from(address);
            let hook = self
                .core
                .add_code_hook(address, address, move |core, address, _| {
                    on_breakpoint(core, address as u32, stack_pointer);
                })
                .map_err(refused("add a breakpoint"))?;
            self.breakpoints.push(hook);
        }
        self.drop_translations()
    }

    /// Code is translated anew, with the hooks that there are now.
    pub(super) fn drop_translations(&mut self) -> Result<(), MachineError> {
        self.core
            .ctl_flush_tb()
            .map_err(refused("drop translations"))
    }

    /// After a pause at a breakpoint: the instruction there does not count as executed, and
    /// is the first of the next run.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn stay_at(&mut self, breakpoint: Address) -> Result<(), MachineError> {
        let executed = self.now().saturating_sub(1);
        let session = self.core.get_data_mut();
        session.clock.stop_at(executed);
        if let Some(checker) = &mut session.checker {
            checker.withdraw();
        }
        self.set_register(15, breakpoint.0)
    }

    /// After [`Pause::SoftwareBreakpoint`]: goes on with the instruction after BKPT.
    ///
    /// The emulator stops there with the IT state of BKPT itself (at a hint it is that of the next
    /// instruction). The next one has the state after that: the condition's last bit and the mask
    /// move up by one, and when nothing of the mask is left, the block ends.
    ///
    /// # Errors
    /// When the emulator refuses.
    pub fn pass_software_breakpoint(&mut self) -> Result<(), MachineError> {
        self.skip_to(self.register(15).wrapping_add(2))?;
        let status = u64::from(self.status());
        // Bits 1 and 0 of the IT state, then 7 to 2.
        let state = status >> 25 & 0b11 | status >> 8 & 0b1111_1100;
        let next = match state & 0b111 {
            0 => 0,
            _ => state & 0b1110_0000 | state << 1 & 0b0001_1111,
        };
        let status = status & !IT_BITS | (next & 0b11) << 25 | (next & 0b1111_1100) << 8;
        self.core
            .reg_write(RegisterARM::XPSR, status)
            .map_err(refused("end an instruction of an IT block"))
    }
}

/// `stack_pointer`: it lets the program pass while its stack reaches further down.
fn on_breakpoint(core: &mut Unicorn<Session>, address: u32, stack_pointer: u32) {
    let stack = core.reg_read(RegisterARM::SP).unwrap_or(0) as u32;
    if stack >= stack_pointer {
        callbacks::pause(core, Pause::Breakpoint(Address(address)));
    }
}
