//! Between which numbers the result of an instruction lies.

use super::range::Range;
use crate::operation::{
    AluOperation, Extension, Operation, Selection, ShiftKind, Shifted, Source, Width,
};

/// What a register holds after an instruction: which, and between which numbers. `None` where nothing is
/// known of it.
pub(super) fn result(operation: &Operation, of: &dyn Fn(u8) -> Range) -> Option<(u8, Range)> {
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
        _ => return product(operation, of),
    })
}

fn product(operation: &Operation, of: &dyn Fn(u8) -> Range) -> Option<(u8, Range)> {
    use Operation as O;
    Some(match *operation {
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

/// What a flexible operand holds.
pub(super) fn source_range(source: Source, of: &dyn Fn(u8) -> Range) -> Range {
    match source {
        Source::Immediate { value, .. } => Range::exact(value),
        Source::Register(source) => shifted(source, of),
    }
}

fn shifted(source: Shifted, of: &dyn Fn(u8) -> Range) -> Range {
    of(source.rm).shifted(source.kind, source.amount.into())
}
