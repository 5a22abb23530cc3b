//! Pseudo-random numbers, the same on every machine: the same seed gives the same numbers.

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator that starts with this state. One that starts a multiple of its increment
    /// further on gives the same numbers, shifted: seeds that are counted have to be
    /// [`mixed`] first.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A number from 0 to `limit - 1`, each about as likely; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next_u64()) * limit as u128) >> 64) as usize
    }
}

/// A word that has nothing in common with those of other numbers; 0 of 0. SplitMix64's finaliser.
pub fn mixed(number: u64) -> u64 {
    let word = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Bytes of a xorshift generator whose state is multiplied (Marsaglia: Xorshift RNGs). Weights
/// that are made of them are part of what committed tables were measured with.
pub fn xorshift_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}
