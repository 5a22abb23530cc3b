//! Between which numbers a value lies, whatever the data are.

use crate::operation::{Condition, ShiftKind};

const WORD: i64 = 1 << 32;
const LEAST: i64 = i32::MIN as i64;
const MOST: i64 = i32::MAX as i64;

/// Numbers of 32 bits: each is one from `low` to `high`, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// A number with sign, of 32 bits.
    low: i64,
    /// Less than 2^32 above.
    high: i64,
    /// So many of the lowest bits are 0, at least.
    zeros: u32,
}

impl Range {
    pub(super) const ANY: Self = Self {
        low: LEAST,
        high: MOST,
        zeros: 0,
    };

    pub(super) fn exact(value: u32) -> Self {
        let number = i64::from(value as i32);
        Self::new(number, number, value.trailing_zeros())
    }

    /// From one number to another.
    pub(super) fn between(low: i64, high: i64) -> Self {
        Self::new(low, high, 0)
    }

    fn new(low: i64, high: i64, zeros: u32) -> Self {
        if high - low >= WORD {
            return Self { zeros, ..Self::ANY };
        }
        let beyond = (low - LEAST).div_euclid(WORD) * WORD;
        Self {
            low: low - beyond,
            high: high - beyond,
            zeros,
        }
    }

    /// Whether it is one of them.
    #[cfg(test)]
    pub(super) fn holds(self, value: u32) -> bool {
        let above = (i64::from(value) - self.low).rem_euclid(WORD);
        above <= self.high - self.low && value.trailing_zeros() >= self.zeros
    }

    /// Not every number is one of them.
    #[cfg(test)]
    pub(super) fn is_known(self) -> bool {
        self.high - self.low < WORD - 1 || self.zeros > 0
    }

    /// As numbers with sign.
    fn signed(self) -> [i64; 2] {
        if self.high <= MOST {
            [self.low, self.high]
        } else {
            [LEAST, MOST]
        }
    }

    /// Each is a multiple of this power of 2.
    pub(super) fn is_multiple_of(self, bytes: u32) -> bool {
        1 << self.zeros.min(31) >= bytes
    }

    /// As numbers without.
    pub(super) fn unsigned(self) -> [i64; 2] {
        match self {
            Self { low: 0.., high, .. } if high < WORD => [self.low, high],
            Self { high: ..0, .. } => [self.low + WORD, self.high + WORD],
            _ => [0, WORD - 1],
        }
    }

    /// The numbers of this range, or of another.
    pub(super) fn or(self, other: Self) -> Self {
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Self::new(low, high, self.zeros.min(other.zeros))
    }

    /// Numbers from 0 on as they are, others inverted.
    pub(super) fn without_sign(self) -> Self {
        let [low, high] = self.signed();
        let least = low.max(-high - 1).max(0);
        Self::between(least, high.max(-low - 1))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let zeros = self.zeros.min(other.zeros);
        Self::new(self.low + other.low, self.high + other.high, zeros)
    }

    pub(super) fn negated(self) -> Self {
        Self::new(-self.high, -self.low, self.zeros)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }

    pub(super) fn inverted(self) -> Self {
        Self::between(-self.high - 1, -self.low - 1)
    }

    pub(super) fn times(self, other: Self) -> Self {
        let zeros = (self.zeros + other.zeros).min(32);
        let [a, b] = self.signed();
        let corners = other.signed().map(|it| [it * a, it * b]);
        let corners = corners.as_flattened().iter().copied();
        let (low, high) = corners.fold((i64::MAX, i64::MIN), |(low, high), it| {
            (low.min(it), high.max(it))
        });
        Self::new(low, high, zeros)
    }

    /// Shifted by this many bits, 0 or more.
    pub(super) fn shifted(self, kind: ShiftKind, amount: u32) -> Self {
        match kind {
            _ if amount == 0 => self,
            ShiftKind::Lsl if amount < 32 => self.times(Self::exact(1 << amount)),
            ShiftKind::Lsr if amount < 32 => {
                let [low, high] = self.unsigned();
                Self::new(
                    low >> amount,
                    high >> amount,
                    self.zeros.saturating_sub(amount),
                )
            }
            ShiftKind::Asr => {
                let [low, high] = self.signed();
                let most = amount.min(31);
                Self::new(low >> most, high >> most, self.zeros.saturating_sub(amount))
            }
            ShiftKind::Lsl | ShiftKind::Lsr => Self::exact(0),
            ShiftKind::Ror | ShiftKind::Rrx => Self::ANY,
        }
    }

    /// Any numbers of as many bits as both have.
    pub(super) fn as_wide(self, other: Self) -> Self {
        let [[a, b], [c, d]] = [self.signed(), other.signed()];
        let (low, high) = (a.min(c), b.max(d));
        let fits = |bits: &u32| -(1 << bits) <= low && high < 1 << bits;
        let bits = (0..31).find(fits).unwrap_or(31);
        let least = if low < 0 { -(1 << bits) } else { 0 };
        Self::new(least, (1 << bits) - 1, self.zeros.min(other.zeros))
    }

    pub(super) fn and(self, other: Self) -> Self {
        let zeros = self.zeros.max(other.zeros);
        let most = self.unsigned()[1].min(other.unsigned()[1]);
        let wide = self.as_wide(other);
        if most <= wide.high - wide.low {
            Self::new(0, most, zeros)
        } else {
            Self { zeros, ..wide }
        }
    }

    /// The lowest bits as numbers from `low` to `high`.
    pub(super) fn cut(self, low: i64, high: i64) -> Self {
        let [least, most] = self.signed();
        if low <= least && most <= high {
            self
        } else {
            Self::new(low, high, self.zeros)
        }
    }

    /// Those for which a condition fails that they were compared with another number for, as far as that is
    /// one of order with sign.
    pub(super) fn without(self, condition: Condition, other: Self) -> Self {
        let ([low, high], [least, most]) = (self.signed(), other.signed());
        let (low, high) = match condition {
            Condition::Ge => (low, high.min(most - 1)),
            Condition::Gt => (low, high.min(most)),
            Condition::Lt => (low.max(least), high),
            Condition::Le => (low.max(least + 1), high),
            _ => return self,
        };
        // If it never fails there are none, and one is as good as another.
        Self::new(low, high.max(low), 0)
    }

    pub(super) fn clamped(self, low: i64, high: i64) -> Self {
        let [least, most] = self.signed();
        Self::between(least.clamp(low, high), most.clamp(low, high))
    }
}
