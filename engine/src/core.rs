//! The registers of a core.

use crate::cycles::Cycles;

/// The registers of a core. Flags are words of 0 or 1, so that translated code loads and stores
/// them as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Core {
    /// r0 to r15. r15 is the address of the instruction that executes next.
    pub r: [u32; 16],
    /// Negative, 0 or 1.
    pub n: u32,
    /// Zero, 0 or 1.
    pub z: u32,
    /// Carry, 0 or 1.
    pub c: u32,
    /// Overflow, 0 or 1.
    pub v: u32,
    /// Saturated, 0 or 1; sticky.
    pub q: u32,
    /// Greater-or-equal flags of the parallel additions, 4 bits.
    pub ge: u32,
    /// IT state, 8 bits: 0 outside IT blocks.
    pub it: u32,
    /// Floating-point status and control, with the flags of VCMP in bits 31 to 28.
    pub fpscr: u32,
    /// s0 to s31 as bits; d0 is s1:s0.
    pub s: [u32; 32],
    /// PRIMASK, 0 or 1.
    pub primask: u32,
    /// BASEPRI, 8 bits.
    pub basepri: u32,
    /// FAULTMASK, 0 or 1.
    pub faultmask: u32,
    /// CONTROL.
    pub control: u32,
    /// The stack pointer that is not in use: the process's, or with bit 1 of CONTROL the main one.
    pub other_sp: u32,
    /// The lowest value that r13 has had while instructions executed, since it was last noted
    /// ([`Core::take_lowest_sp`]).
    pub lowest_sp: u32,
    /// The same of the stack pointer that is not in use.
    pub other_lowest_sp: u32,
    /// Limits of the main and of the process stack, Armv8-M.
    pub stack_limits: [u32; 2],
    /// 1 after LDREX, until STREX or CLREX.
    pub exclusive: u32,
    /// Executed instructions.
    pub time: u64,
    /// Estimated cycles, where they are counted.
    pub cycles: Cycles,
}

impl Core {
    /// The lowest value that r13 has had since the last call; from here on it counts anew.
    pub fn take_lowest_sp(&mut self) -> u32 {
        std::mem::replace(&mut self.lowest_sp, self.r[13])
    }

    /// Sets r13 from outside, which counts as a new stack.
    pub fn start_stack(&mut self, stack_pointer: u32) {
        self.r[13] = stack_pointer & !3;
        self.lowest_sp = self.r[13];
    }

    /// Sets r13 as an instruction does.
    pub(crate) fn move_stack(&mut self, stack_pointer: u32) {
        self.r[13] = stack_pointer & !3;
        self.lowest_sp = self.lowest_sp.min(self.r[13]);
    }

    /// Goes on with the other stack.
    pub(crate) fn switch_stacks(&mut self) {
        std::mem::swap(&mut self.r[13], &mut self.other_sp);
        std::mem::swap(&mut self.lowest_sp, &mut self.other_lowest_sp);
        self.lowest_sp = self.lowest_sp.min(self.r[13]);
    }

    /// The program status register XPSR: flags, IT state and the Thumb bit.
    pub fn status(&self) -> u32 {
        let it = (self.it & 0b11) << 25 | (self.it >> 2) << 10;
        let flags = self.n << 31 | self.z << 30 | self.c << 29 | self.v << 28 | self.q << 27;
        flags | it | 1 << 24 | self.ge << 16
    }

    /// Sets flags and IT state from a program status register.
    pub fn set_status(&mut self, status: u32) {
        self.set_flags(status);
        self.q = status >> 27 & 1;
        self.ge = status >> 16 & 0xf;
        self.it = status >> 25 & 0b11 | status >> 8 & 0b1111_1100;
    }

    /// Sets N, Z, C and V from bits 31 to 28.
    pub fn set_flags(&mut self, bits: u32) {
        self.n = bits >> 31;
        self.z = bits >> 30 & 1;
        self.c = bits >> 29 & 1;
        self.v = bits >> 28 & 1;
    }

    /// The double-precision register d0 to d15, as bits.
    pub fn double(&self, index: u8) -> u64 {
        let low = usize::from(index & 0xf) * 2;
        u64::from(self.s[low]) | u64::from(self.s[low + 1]) << 32
    }

    /// Sets the double-precision register d0 to d15, as bits.
    pub fn set_double(&mut self, index: u8, bits: u64) {
        let low = usize::from(index & 0xf) * 2;
        self.s[low] = bits as u32;
        self.s[low + 1] = (bits >> 32) as u32;
    }
}
