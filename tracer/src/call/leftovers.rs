//! What earlier code may have left where a function must not look: free stack and registers.

use super::STACK_BYTES;
use crate::mcu::machine::{Machine, MachineError};
use dmo_analysis::random::mixed;
use dmo_analysis::trace::Address;
use dmo_engine::features::{Features, FloatingPoint};
use std::sync::LazyLock;

/// Registers that a function finds as its caller happens to have left them: r0 to r3 may hold
/// arguments.
const REGISTERS: [usize; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const FLOAT_REGISTERS: usize = 32;
/// N, Z, C and V of the program status register.
const FLAGS: u32 = 0xf000_0000;
/// Q and GE.
const DSP_FLAGS: u32 = 0x080f_0000;

/// The stack, the registers and the flags.
const LEFT_BYTES: usize = STACK_BYTES as usize + (REGISTERS.len() + FLOAT_REGISTERS + 1) * 4;
/// How many different noises there are.
const NUMBERS: u64 = 512;

// Made once: a function is called thousands of times.
static ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| vec![0; LEFT_BYTES]);
static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let words = LEFT_BYTES.div_ceil(size_of::<u64>()) as u64 + NUMBERS;
    (1..=words)
        .flat_map(|index| noise(index).to_le_bytes())
        .collect()
});

/// What lies below the stack pointer and in registers when a function is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// What the calls before have left; after reset, zeros.
    Own,
    /// Zeros.
    Zeros,
    /// Bytes without a pattern, other ones for each number.
    Noise(u64),
}

impl Leftovers {
    /// Puts them in place, before the arguments.
    pub(super) fn leave(
        self,
        machine: &mut Machine,
        features: Features,
        stack_top: u64,
    ) -> Result<(), MachineError> {
        let bytes: &[u8] = match self {
            Self::Own => return Ok(()),
            Self::Zeros => &ZEROS,
            Self::Noise(number) => {
                let start = (number % NUMBERS) as usize * size_of::<u64>();
                &NOISE[start..start + LEFT_BYTES]
            }
        };
        let (stack, further) = bytes.split_at(STACK_BYTES as usize);
        let start = stack_top - u64::from(STACK_BYTES);
        machine.write(Address(start as u32), stack)?;
        let (words, _) = further.as_chunks::<4>();
        let mut further = words.iter().copied().map(u32::from_le_bytes);
        for (register, value) in REGISTERS.into_iter().zip(&mut further) {
            machine.set_register(register, value)?;
        }
        if features.floating_point != FloatingPoint::None {
            for (register, value) in (0..FLOAT_REGISTERS).zip(&mut further) {
                machine.set_float_register(register, value)?;
            }
        }
        let flags = if features.dsp {
            FLAGS | DSP_FLAGS
        } else {
            FLAGS
        };
        machine.set_flags(flags, further.next().unwrap_or_default())
    }
}

fn noise(index: u64) -> u64 {
    mixed(index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
