//! The formats of floating-point numbers, seen as words.

/// A floating-point number as its bits: half, single or double precision.
pub trait Float: Copy + PartialEq + Into<u64> {
    /// How many bits the exponent has.
    const EXPONENT_BITS: u32;
    /// How many bits the fraction has.
    const FRACTION_BITS: u32;

    /// The bit of the sign.
    const SIGN: u64 = 1 << (Self::EXPONENT_BITS + Self::FRACTION_BITS);
    /// The bits of the fraction.
    const FRACTION: u64 = (1 << Self::FRACTION_BITS) - 1;
    /// The bits of the exponent; alone, infinity.
    const EXPONENT: u64 = Self::SIGN - 1 - Self::FRACTION;
    /// The bit that makes a NaN a quiet one.
    const QUIET: u64 = 1 << (Self::FRACTION_BITS - 1);
    /// The NaN that invalid operations give.
    const NAN: u64 = Self::EXPONENT | Self::QUIET;
    /// The exponent of the smallest normal number.
    const SMALLEST_EXPONENT: i32 = 2 - (1 << (Self::EXPONENT_BITS - 1));
    /// Whether this is half precision.
    const IS_HALF: bool = Self::EXPONENT_BITS == 5;

    /// The number with these bits, of which the lowest count.
    fn from_bits(bits: u64) -> Self;

    /// The number in the host's double precision, where the host has this format.
    fn to_host(self) -> Option<f64>;

    /// The host's number rounded to nearest, where the host has this format.
    fn from_host(number: f64) -> Option<Self>;

    /// The bits without the sign.
    fn magnitude(self) -> u64 {
        self.into() & !Self::SIGN
    }

    /// Whether the sign is set.
    fn is_negative(self) -> bool {
        self.into() & Self::SIGN != 0
    }

    /// Whether it is no number.
    fn is_nan(self) -> bool {
        self.magnitude() > Self::EXPONENT
    }

    /// Whether it is a signalling NaN.
    fn is_signalling(self) -> bool {
        self.is_nan() && self.into() & Self::QUIET == 0
    }

    /// Whether it is too small to be normal, and not zero.
    fn is_denormal(self) -> bool {
        (1..=Self::FRACTION).contains(&self.magnitude())
    }

    /// Whether it is zero, or so far from the smallest and largest normal numbers that sums of it
    /// and of their rounding errors neither overflow nor are tiny before they are rounded.
    fn is_ordinary(self) -> bool {
        let smallest = 2 << Self::FRACTION_BITS;
        let largest = Self::EXPONENT - smallest;
        (smallest..largest).contains(&self.magnitude()) || self.magnitude() == 0
    }

    /// The number with this sign and magnitude.
    fn new(negative: bool, magnitude: u64) -> Self {
        Self::from_bits(if negative { Self::SIGN } else { 0 } | magnitude)
    }
}

macro_rules! float {
    ($bits:ty, $exponent:literal, $fraction:literal, $to_host:expr, $from_host:expr) => {
        impl Float for $bits {
            const EXPONENT_BITS: u32 = $exponent;
            const FRACTION_BITS: u32 = $fraction;

            fn from_bits(bits: u64) -> Self {
                bits as Self
            }

            fn to_host(self) -> Option<f64> {
                $to_host(self)
            }

            fn from_host(number: f64) -> Option<Self> {
                $from_host(number)
            }
        }
    };
}

float!(u16, 5, 10, |_| None, |_| None);
float!(
    u32,
    8,
    23,
    |bits| Some(f32::from_bits(bits).into()),
    |number| Some((number as f32).to_bits())
);
float!(
    u64,
    11,
    52,
    |bits| Some(f64::from_bits(bits)),
    |number: f64| Some(number.to_bits())
);
