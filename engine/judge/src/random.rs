//! Reproducible random numbers, and words and floats that are apt to go wrong.

use crate::layout;

/// A generator of random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator that yields the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number below a bound, which is not 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn pick<T: Copy, const N: usize>(&mut self, of: [T; N]) -> T {
        of[self.below(N as u32) as usize]
    }

    /// A word: an edge of a word, of its halves or of its bytes, a small number, an address, or
    /// anything.
    pub fn word(&mut self) -> u32 {
        const EDGES: [u32; 8] = [
            0,
            1,
            2,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            u32::MAX - 1,
            u32::MAX,
        ];
        const HALVES: [u32; 6] = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
        const BYTES: [u32; 6] = [0, 1, 0x7f, 0x80, 0x81, 0xff];
        match self.below(9) {
            0 | 1 => self.pick(EDGES),
            2 => self.pick(HALVES) | self.pick(HALVES) << 16,
            3 => (0..4).fold(0, |word, _| word << 8 | self.pick(BYTES)),
            4 => self.below(65),
            5 => self.ram_address(),
            6 => self.code_address(),
            _ => self.bits() as u32,
        }
    }

    /// An address well within the data, mostly a multiple of 4.
    pub fn ram_address(&mut self) -> u32 {
        let middle = layout::RAM.start as u32 + layout::REACH;
        let room = layout::RAM_BYTES - 2 * layout::REACH;
        let address = middle + (self.below(room) & !3);
        match self.below(6) {
            0 => address + self.below(4),
            _ => address,
        }
    }

    /// An address within the code, mostly with the Thumb bit.
    pub fn code_address(&mut self) -> u32 {
        let address = layout::CODE.start as u32 + self.below(layout::CODE_BYTES);
        match self.below(6) {
            0 => address,
            _ => address | 1,
        }
    }

    /// The bits of a single-precision number: not a number, infinite, denormal, half-way between
    /// integers, at the edge of integers, or anything.
    pub fn single(&mut self) -> u32 {
        let sign = (self.bits() as u32) & 0x8000_0000;
        sign | match self.below(10) {
            0 => self.pick([0, 1, 0x007f_ffff, 0x0080_0000, 0x7f7f_ffff, 0x7f80_0000]),
            1 => 0x7f80_0001 + self.below(0x7f_ffff),
            2 => self.below(0x0080_0000),
            3 => (self.below(200) as f32 * 0.5).to_bits(),
            4 => self.edge().to_bits(),
            5 | 6 => self.pick([96, 110, 126, 127, 128, 140, 150, 158]) << 23 | self.mantissa(),
            7 => self.below(48) << 23 | self.mantissa(),
            8 => (254 - self.below(32)) << 23 | self.mantissa(),
            _ => self.bits() as u32 & 0x7fff_ffff,
        }
    }

    fn mantissa(&mut self) -> u32 {
        let mantissa = self.bits() as u32 & 0x7f_ffff;
        match self.below(4) {
            0 => mantissa & 0x7f_f000,
            1 => mantissa | 0x0fff,
            _ => mantissa,
        }
    }

    fn edge(&mut self) -> f32 {
        let power = 2_f32.powi(self.pick([7, 8, 15, 16, 23, 24, 30, 31, 32, 33]));
        power + self.pick([-256.0, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 256.0])
    }

    /// The bits of a double-precision number, as of [`Random::single`].
    pub fn double(&mut self) -> u64 {
        let bits = self.bits();
        let sign = bits & 1 << 63;
        let mantissa = bits & ((1 << 52) - 1);
        sign | match self.below(9) {
            0 => self.pick([0, 1, (1 << 52) - 1, 1 << 52, (0x7ff << 52) - 1, 0x7ff << 52]),
            1 => 0x7ff << 52 | mantissa.max(1),
            2 => mantissa,
            // What single precision has, and numbers beside those.
            3 | 4 => {
                let single = self.single() & 0x7fff_ffff;
                let below = self.pick([0, 0, 1, 1 << 28, (1 << 28) + 1, (1 << 29) - 1]);
                f64::from(f32::from_bits(single))
                    .to_bits()
                    .wrapping_add(below)
                    & !(1 << 63)
            }
            // At and beyond the ends of single and half precision.
            5 => {
                u64::from(self.pick([872_u32, 895, 896, 897, 998, 1008, 1009, 1150, 1151])) << 52
                    | mantissa
            }
            6 => u64::from(1000 + self.below(100)) << 52 | mantissa,
            7 => (f64::from(self.edge()) + f64::from(self.below(5)) * 0.25).to_bits(),
            _ => bits & !(1 << 63),
        }
    }

    /// Floating-point status and control: any rounding, flushing, default NaNs, flags.
    pub fn float_status(&mut self) -> u32 {
        let bits = self.bits() as u32;
        let control = self.pick([0, 1 << 24, 1 << 25, 3 << 24, 1 << 26, 7 << 24, 0, 0]);
        let rounding = bits & 3 << 22;
        let flags = bits & 0xf000_0000;
        let cumulative = if self.one_in(8) { bits & 0x9f } else { 0 };
        control | rounding | flags | cumulative
    }
}
