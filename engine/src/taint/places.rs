//! Sets of what holds values in a core, by bit: registers, flags, floating-point registers.

use crate::operation::{Condition, Precision};

/// A set of registers and flags.
pub(super) type Places = u64;

pub(super) const N: Places = 1 << 16;
pub(super) const Z: Places = 1 << 17;
pub(super) const C: Places = 1 << 18;
pub(super) const V: Places = 1 << 19;
pub(super) const Q: Places = 1 << 20;
/// GE\[3:0\].
pub(super) const GE: Places = 1 << 21;
/// The flags in FPSCR.
pub(super) const COMPARED: Places = 1 << 22;
/// What FPSCR cumulates: exceptions.
pub(super) const EXCEPTIONS: Places = 1 << 23;

pub(super) const NZ: Places = N | Z;
pub(super) const NZCV: Places = NZ | C | V;

/// r0 to r15.
pub(super) fn core(register: u8) -> Places {
    1 << (register & 15)
}

/// All of these registers.
pub(super) fn cores<const COUNT: usize>(registers: [u8; COUNT]) -> Places {
    registers.into_iter().fold(0, |set, it| set | core(it))
}

/// s0 to s31.
pub(super) fn single(register: u8) -> Places {
    1 << (32 + (register & 31))
}

/// The floating-point register of this precision.
pub(super) fn float(precision: Precision, register: u8) -> Places {
    match precision {
        Precision::Single => single(register),
        Precision::Double => 0b11 << (32 + 2 * (register & 15)),
    }
}

/// The flags that a condition asks for.
pub(super) fn asked_by(condition: Condition) -> Places {
    use Condition::{Al, Cc, Cs, Eq, Ge, Gt, Hi, Le, Ls, Lt, Mi, Ne, Pl, Vc, Vs};
    match condition {
        Eq | Ne => Z,
        Cs | Cc => C,
        Mi | Pl => N,
        Vs | Vc => V,
        Hi | Ls => C | Z,
        Ge | Lt => N | V,
        Gt | Le => N | V | Z,
        Al => 0,
    }
}
