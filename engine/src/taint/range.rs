//! Between which numbers a register lies, whatever the data are.
//!
//! That a register depends on data says nothing of how far it can be off. An index that is loaded as a
//! byte reaches 256 entries of a table and no more, wherever the table is.

use super::places::{self, NZCV, Places};
use crate::core::Core;
use crate::interpreter::address::register;
use crate::operation::{
    Addressing, AluOperation, Comparison, Condition, Extension, Offset, Operation, Selection,
    ShiftKind, Shifted, Source, Width,
};

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

    /// As numbers without.
    fn unsigned(self) -> [i64; 2] {
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
    fn without_sign(self) -> Self {
        let [low, high] = self.signed();
        let least = low.max(-high - 1).max(0);
        Self::between(least, high.max(-low - 1))
    }

    fn plus(self, other: Self) -> Self {
        let zeros = self.zeros.min(other.zeros);
        Self::new(self.low + other.low, self.high + other.high, zeros)
    }

    fn negated(self) -> Self {
        Self::new(-self.high, -self.low, self.zeros)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }

    fn inverted(self) -> Self {
        Self::between(-self.high - 1, -self.low - 1)
    }

    fn times(self, other: Self) -> Self {
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
    fn shifted(self, kind: ShiftKind, amount: u32) -> Self {
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
    fn as_wide(self, other: Self) -> Self {
        let [[a, b], [c, d]] = [self.signed(), other.signed()];
        let (low, high) = (a.min(c), b.max(d));
        let fits = |bits: &u32| -(1 << bits) <= low && high < 1 << bits;
        let bits = (0..31).find(fits).unwrap_or(31);
        let least = if low < 0 { -(1 << bits) } else { 0 };
        Self::new(least, (1 << bits) - 1, self.zeros.min(other.zeros))
    }

    fn and(self, other: Self) -> Self {
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
    fn cut(self, low: i64, high: i64) -> Self {
        let [least, most] = self.signed();
        if low <= least && most <= high {
            self
        } else {
            Self::new(low, high, self.zeros)
        }
    }

    /// Those for which a condition fails that they were compared with another number for, as far as that is
    /// one of order with sign.
    fn without(self, condition: Condition, other: Self) -> Self {
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

    fn clamped(self, low: i64, high: i64) -> Self {
        let [least, most] = self.signed();
        Self::between(least.clamp(low, high), most.clamp(low, high))
    }
}

/// Whether an instruction is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happens {
    /// Whatever the data are.
    Always,
    /// Where this condition holds.
    If(Condition),
    /// On some ways.
    Perhaps,
}

/// What each register may hold that depends; what another holds is known.
#[derive(Debug, Clone)]
pub(super) struct Ranges {
    registers: [Range; 15],
    /// The flags are of this comparison, which was made whatever the data are.
    compared: Option<Compared>,
    /// What was written last under a condition, if flags are as they were.
    half: Option<Half>,
}

/// A register that holds this where a condition holds.
#[derive(Debug, Clone, Copy)]
struct Half {
    register: u8,
    condition: Condition,
    range: Range,
}

/// A register that still holds what was compared, and what it was compared with.
#[derive(Debug, Clone, Copy)]
struct Compared {
    register: u8,
    other: Range,
}

impl Ranges {
    /// Nothing is known.
    pub(super) fn any() -> Self {
        Self {
            registers: [Range::ANY; 15],
            compared: None,
            half: None,
        }
    }

    /// Nothing is known of these registers, and of what was compared.
    pub(super) fn forget(&mut self, places: Places) {
        (self.compared, self.half) = (None, None);
        for (index, range) in self.registers.iter_mut().enumerate() {
            if places >> index & 1 == 1 {
                *range = Range::ANY;
            }
        }
    }

    /// A register as a source, if `places` depend.
    pub(super) fn of(&self, core: &Core, places: Places, index: u8) -> Range {
        let depends = places & places::core(index) != 0;
        let range = self.registers.get(usize::from(index));
        let range = range.filter(|_| depends);
        range.map_or_else(|| Range::exact(register(core, index)), |range| *range)
    }

    /// Follows an instruction that is about to write `written`, from memory perhaps this word.
    pub(super) fn follow(
        &mut self,
        core: &Core,
        places: Places,
        operation: &Operation,
        written: Places,
        happens: Happens,
        word: Option<u32>,
    ) {
        let of = |index| self.of(core, places, index);
        let found = match (operation, word) {
            (Operation::Load { rt, .. }, Some(word)) => Some((*rt, Range::exact(word))),
            _ => result(operation, &of),
        };
        let compared = compared(operation, &of).filter(|_| happens == Happens::Always);
        let is_known = |register: u8| written & (NZCV | places::core(register)) == 0;
        let mut half = self.half.filter(|it| is_known(it.register));
        for index in (0..15).filter(|index| written & places::core(*index) != 0) {
            let range = found.filter(|(rd, _)| *rd == index && index != 13);
            let range = range.map_or(Range::ANY, |(_, range)| range);
            self.registers[usize::from(index)] = match happens {
                Happens::Always => range,
                Happens::If(condition) => {
                    half = Some(Half {
                        register: index,
                        condition,
                        range,
                    });
                    range.or(self.otherwise(core, places, index, condition))
                }
                Happens::Perhaps => range.or(self.of(core, places, index)),
            };
        }
        self.compared = compared.or(self.compared.filter(|it| is_known(it.register)));
        self.half = half;
    }

    /// What a register holds where a condition fails.
    fn otherwise(&self, core: &Core, places: Places, index: u8, condition: Condition) -> Range {
        let is_other = |it: &Half| it.register == index && it.condition == condition.opposite();
        if let Some(half) = self.half.filter(is_other) {
            return half.range;
        }
        let range = self.of(core, places, index);
        let compared = self.compared.filter(|it| it.register == index);
        compared.map_or(range, |compared| range.without(condition, compared.other))
    }

    /// The addresses at which an access of this many bytes may be, from the first to the last; `None` where
    /// it may be anywhere, or at no multiple of its size.
    pub(super) fn addresses(
        &self,
        core: &Core,
        places: Places,
        addressing: Addressing,
        size_bytes: u32,
    ) -> Option<[u32; 2]> {
        let Addressing {
            rn, offset, index, ..
        } = addressing;
        // Of the program counter the lowest bits are cut off.
        let base = (rn != 15).then(|| self.of(core, places, rn))?;
        let address = match offset {
            _ if !index => base,
            Offset::Immediate(offset) => base.plus(Range::exact(offset as u32)),
            Offset::Register { rm, shift } => {
                let offset = self.of(core, places, rm);
                base.plus(offset.shifted(ShiftKind::Lsl, shift.into()))
            }
        };
        let ends = address.unsigned().map(|it| it as u32);
        let is_known = ends != [0, u32::MAX] && 1 << address.zeros.min(31) >= size_bytes;
        is_known.then_some(ends)
    }

    /// Has a register lie there.
    #[cfg(test)]
    pub(super) fn set(&mut self, index: u8, range: Range) {
        self.registers[usize::from(index)] = range;
    }
}

/// What a register holds after an instruction: which, and between which numbers. `None` where nothing is
/// known of it.
fn result(operation: &Operation, of: &dyn Fn(u8) -> Range) -> Option<(u8, Range)> {
    use Operation as O;
    Some(match *operation {
        O::Alu {
            operation,
            rd,
            rn,
            source,
            ..
        } => {
            let value = of(rn);
            let found = if is_magnitude(operation, rn, source) {
                value.without_sign()
            } else {
                alu(operation, value, source_range(source, of))?
            };
            (rd, found)
        }
        O::Move {
            not, rd, source, ..
        } => {
            let value = source_range(source, of);
            (rd, if not { value.inverted() } else { value })
        }
        O::ShiftBy {
            kind, rd, rn, rm, ..
        } => {
            let [least, most] = of(rm).unsigned();
            let amount = (least == most).then_some(least as u32 & 0xff)?;
            (rd, of(rn).shifted(kind, amount))
        }
        O::Extend {
            extension,
            rd,
            rn,
            rm,
            rotation,
        } => {
            let value = if rotation == 0 { of(rm) } else { Range::ANY };
            let value = extended(extension, value)?;
            (rd, rn.map_or(value, |rn| of(rn).plus(value)))
        }
        O::CountLeadingZeros { rd, .. } => (rd, Range::between(0, 32)),
        O::BitFieldExtract {
            signed, rd, width, ..
        } if width < 32 => {
            let least = if signed { -(1 << (width - 1)) } else { 0 };
            (rd, Range::between(least, least + (1 << width) - 1))
        }
        O::ConditionalSelect {
            selection,
            rd,
            rn,
            rm,
            ..
        } => {
            let value = |index| {
                if index == 15 {
                    Range::exact(0)
                } else {
                    of(index)
                }
            };
            let other = match selection {
                Selection::Csel => value(rm),
                Selection::Csinc => value(rm).plus(Range::exact(1)),
                Selection::Csinv => value(rm).inverted(),
                Selection::Csneg => value(rm).negated(),
            };
            (rd, value(rn).or(other))
        }
        O::Multiply { rd, rn, rm, .. } => (rd, of(rn).times(of(rm))),
        O::MultiplyAdd {
            subtract,
            rd,
            rn,
            rm,
            ra,
        } => {
            let product = of(rn).times(of(rm));
            let product = if subtract { product.negated() } else { product };
            (rd, of(ra).plus(product))
        }
        O::Saturate {
            signed,
            bits,
            rd,
            source,
        } => {
            let value = shifted(source, of);
            let (low, high) = if signed {
                (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            } else {
                (0, (1 << bits) - 1)
            };
            (rd, value.clamped(low, high))
        }
        O::Load {
            width, signed, rt, ..
        } => (rt, loaded(width, signed)),
        _ => return None,
    })
}

/// `x ^ (x >> 31)`: half of the absolute value of x.
fn is_magnitude(operation: AluOperation, rn: u8, source: Source) -> bool {
    let sign = Shifted {
        rm: rn,
        kind: ShiftKind::Asr,
        amount: 31,
    };
    operation == AluOperation::Eor && source == Source::Register(sign)
}

fn loaded(width: Width, signed: bool) -> Range {
    match (width, signed) {
        (Width::Byte, false) => Range::between(0, 0xff),
        (Width::Byte, true) => Range::between(-0x80, 0x7f),
        (Width::Half, false) => Range::between(0, 0xffff),
        (Width::Half, true) => Range::between(-0x8000, 0x7fff),
        (Width::Word, _) => Range::ANY,
    }
}

fn extended(extension: Extension, value: Range) -> Option<Range> {
    Some(match extension {
        Extension::Sxtb => value.cut(-0x80, 0x7f),
        Extension::Sxth => value.cut(-0x8000, 0x7fff),
        Extension::Uxtb => value.cut(0, 0xff),
        Extension::Uxth => value.cut(0, 0xffff),
        Extension::Sxtb16 | Extension::Uxtb16 => return None,
    })
}

fn alu(operation: AluOperation, a: Range, b: Range) -> Option<Range> {
    Some(match operation {
        AluOperation::And => a.and(b),
        AluOperation::Bic => a.and(b.inverted()),
        AluOperation::Orr | AluOperation::Eor => a.as_wide(b),
        AluOperation::Orn => a.as_wide(b.inverted()),
        AluOperation::Add => a.plus(b),
        AluOperation::Sub => a.minus(b),
        AluOperation::Rsb => b.minus(a),
        AluOperation::Adc | AluOperation::Sbc => return None,
    })
}

fn compared(operation: &Operation, of: &dyn Fn(u8) -> Range) -> Option<Compared> {
    match *operation {
        Operation::Compare {
            comparison: Comparison::Cmp,
            rn,
            source,
        } => Some(Compared {
            register: rn,
            other: source_range(source, of),
        }),
        _ => None,
    }
}

fn source_range(source: Source, of: &dyn Fn(u8) -> Range) -> Range {
    match source {
        Source::Immediate { value, .. } => Range::exact(value),
        Source::Register(source) => shifted(source, of),
    }
}

fn shifted(source: Shifted, of: &dyn Fn(u8) -> Range) -> Range {
    of(source.rm).shifted(source.kind, source.amount.into())
}
