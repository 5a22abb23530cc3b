//! Weights and quantisation parameters for calls: reproducible, and such that the outputs
//! use their whole range, so that a wrong input byte shows.

/// Pseudo-random bytes; the same `seed` gives the same bytes.
pub fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// 8-bit weights in [-127, 127], none of them 0: a weight of 0 would hide its input.
pub fn weights_s8(count: usize) -> Vec<u8> {
    let nonzero = |byte: u8| match byte as i8 {
        0 | i8::MIN => 1,
        _ => byte,
    };
    bytes(1, count).into_iter().map(nonzero).collect()
}

/// Single-precision weights in [-1, 1], as bytes.
pub fn weights_f32(count: usize) -> Vec<u8> {
    bytes(2, count)
        .into_iter()
        .flat_map(|byte| ((f32::from(byte as i8) + 0.5) / 128.0).to_le_bytes())
        .collect()
}

/// Multiplier and shift that bring a sum of `taps` products of 8-bit numbers to the range
/// of 8 bits.
pub fn requantize(taps: u64) -> (i32, i32) {
    // Products of uniform 8-bit numbers deviate by about 2^12.4, their sum by sqrt(taps)
    // times that; 2^5.3 is wanted. The multiplier is a half.
    let exponent = 7.1 + 0.5 * (taps.max(1) as f64).log2();
    (1 << 30, -(exponent.round() as i32 - 1))
}
