//! Registers that a function gives back as it finds them.

use crate::mcu::machine::Machine;

/// The general ones: r4 to r11 and the stack pointer (AAPCS32, 6.1.1).
const GENERAL: [(usize, &str); 9] = [
    (4, "r4"),
    (5, "r5"),
    (6, "r6"),
    (7, "r7"),
    (8, "r8"),
    (9, "r9"),
    (10, "r10"),
    (11, "r11"),
    (13, "sp"),
];

/// Those of floating point, where the core has them (AAPCS32, 6.1.2.1).
const FLOAT: [(i32, &str); 16] = [
    (16, "s16"),
    (17, "s17"),
    (18, "s18"),
    (19, "s19"),
    (20, "s20"),
    (21, "s21"),
    (22, "s22"),
    (23, "s23"),
    (24, "s24"),
    (25, "s25"),
    (26, "s26"),
    (27, "s27"),
    (28, "s28"),
    (29, "s29"),
    (30, "s30"),
    (31, "s31"),
];

/// What these registers hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preserved {
    general: [u32; GENERAL.len()],
    float: [Option<u32>; FLOAT.len()],
}

impl Preserved {
    /// Of a machine as it is.
    pub fn of(machine: &Machine) -> Self {
        Self {
            general: GENERAL.map(|(index, _)| machine.register(index)),
            float: FLOAT.map(|(index, _)| machine.float_register(index)),
        }
    }

    /// The first register in which another machine differs.
    pub fn changed(&self, other: &Self) -> Option<&'static str> {
        let general = self.general.iter().zip(&other.general).zip(GENERAL);
        let general = general.filter(|((before, after), _)| before != after);
        let float = self.float.iter().zip(&other.float).zip(FLOAT);
        let float = float.filter(|((before, after), _)| before != after);
        let general = general.map(|(_, (_, name))| name);
        general.chain(float.map(|(_, (_, name))| name)).next()
    }
}
