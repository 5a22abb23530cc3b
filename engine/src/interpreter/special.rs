//! Special registers.

use super::{Execution, Outcome};
use crate::features::FloatingPoint;
use crate::operation::Operation;

const MAIN_STACK: u8 = 8;
const PROCESS_STACK: u8 = 9;
const MAIN_STACK_LIMIT: u8 = 10;
const PROCESS_STACK_LIMIT: u8 = 11;
const PRIMASK: u8 = 16;
const BASEPRI: u8 = 17;
const BASEPRI_MAX: u8 = 18;
const FAULTMASK: u8 = 19;
const CONTROL: u8 = 20;

/// The flags in a program status register; GE has bits 19 to 16.
const NZCVQ: u32 = 0xf800_0000;
const GE: u32 = 0x000f_0000;

impl Execution<'_> {
    pub(super) fn special(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::ReadSpecial { rd, special } => {
                let value = self.read_special(special);
                self.set_register(rd, value)
            }
            Operation::WriteSpecial { rn, special, mask } => {
                self.write_special(special, mask, self.register(rn));
                Ok(())
            }
            Operation::ChangeState {
                disable,
                primask,
                faultmask,
            } => {
                if primask {
                    self.core.primask = u32::from(disable);
                }
                if faultmask {
                    self.core.faultmask = u32::from(disable);
                }
                Ok(())
            }
            Operation::ClearRegisters { registers } => {
                for index in (0..15).filter(|index| registers >> index & 1 == 1) {
                    self.set_register(index, 0)?;
                }
                if registers >> 15 == 1 {
                    let it = self.core.it;
                    self.core.set_status(0);
                    self.core.it = it;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn process_stack_in_use(&self) -> bool {
        self.core.control >> 1 & 1 == 1
    }

    fn read_special(&self, special: u8) -> u32 {
        match special {
            // Those with the flags; of the others, IPSR is 0 outside exceptions, EPSR reads as 0.
            0..=3 => self.core.status() & (NZCVQ | if self.features.dsp { GE } else { 0 }),
            MAIN_STACK | PROCESS_STACK => {
                if self.process_stack_in_use() == (special == PROCESS_STACK) {
                    self.core.r[13]
                } else {
                    self.core.other_sp
                }
            }
            MAIN_STACK_LIMIT | PROCESS_STACK_LIMIT => {
                self.core.stack_limits[usize::from(special - MAIN_STACK_LIMIT)]
            }
            PRIMASK => self.core.primask,
            BASEPRI | BASEPRI_MAX => self.core.basepri,
            FAULTMASK => self.core.faultmask,
            CONTROL => self.core.control,
            _ => 0,
        }
    }

    fn write_special(&mut self, special: u8, mask: u8, value: u32) {
        match special {
            0..=3 => self.write_flags(mask, value),
            MAIN_STACK | PROCESS_STACK => {
                if self.process_stack_in_use() == (special == PROCESS_STACK) {
                    self.core.move_stack(value);
                } else {
                    self.core.other_sp = value & !3;
                }
            }
            MAIN_STACK_LIMIT | PROCESS_STACK_LIMIT => {
                let index = usize::from(special - MAIN_STACK_LIMIT);
                self.core.stack_limits[index] = value & !7;
            }
            PRIMASK => self.core.primask = value & 1,
            BASEPRI => self.core.basepri = value & 0xff,
            BASEPRI_MAX => {
                let (new, old) = (value & 0xff, self.core.basepri);
                if new != 0 && (new < old || old == 0) {
                    self.core.basepri = new;
                }
            }
            FAULTMASK => self.core.faultmask = value & 1,
            CONTROL => self.write_control(value),
            _ => {}
        }
    }

    fn write_flags(&mut self, mask: u8, value: u32) {
        if mask & 0b10 != 0 {
            self.core.set_flags(value);
            self.core.q = value >> 27 & 1;
        }
        if mask & 0b01 != 0 && self.features.dsp {
            self.core.ge = value >> 16 & 0xf;
        }
    }

    fn write_control(&mut self, value: u32) {
        if (self.core.control ^ value) >> 1 & 1 == 1 {
            self.core.switch_stacks();
        }
        let floating_point = self.features.floating_point != FloatingPoint::None;
        self.core.control = value & if floating_point { 0b111 } else { 0b011 };
    }
}
