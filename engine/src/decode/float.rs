//! Floating point, and the moves, loads and stores of its registers.

use super::row::{Entry, Fields, entry};
use crate::features::Needs::{Double, Fpv5, Single};
use crate::operation::{Condition, FloatBinary, FloatUnary, Operation, Precision, Rounding};

#[rustfmt::skip]
pub(super) const ENTRIES: &[Entry] = &[
    // Arithmetic.
    entry(Single, "VMLA", "11101110 0 D 00 nnnn dddd 101 z N 0 M 0 mmmm", |f| multiply_add(f, false, false)),
    entry(Single, "VMLS", "11101110 0 D 00 nnnn dddd 101 z N 1 M 0 mmmm", |f| multiply_add(f, true, false)),
    entry(Single, "VNMLS", "11101110 0 D 01 nnnn dddd 101 z N 0 M 0 mmmm", |f| multiply_add(f, false, true)),
    entry(Single, "VNMLA", "11101110 0 D 01 nnnn dddd 101 z N 1 M 0 mmmm", |f| multiply_add(f, true, true)),
    entry(Single, "VMUL", "11101110 0 D 10 nnnn dddd 101 z N 0 M 0 mmmm", |f| binary(f, FloatBinary::Mul)),
    entry(Single, "VNMUL", "11101110 0 D 10 nnnn dddd 101 z N 1 M 0 mmmm", |f| binary(f, FloatBinary::Nmul)),
    entry(Single, "VADD", "11101110 0 D 11 nnnn dddd 101 z N 0 M 0 mmmm", |f| binary(f, FloatBinary::Add)),
    entry(Single, "VSUB", "11101110 0 D 11 nnnn dddd 101 z N 1 M 0 mmmm", |f| binary(f, FloatBinary::Sub)),
    entry(Single, "VDIV", "11101110 1 D 00 nnnn dddd 101 z N 0 M 0 mmmm", |f| binary(f, FloatBinary::Div)),
    entry(Single, "VFNMS", "11101110 1 D 01 nnnn dddd 101 z N 0 M 0 mmmm", |f| fused(f, false, true)),
    entry(Single, "VFNMA", "11101110 1 D 01 nnnn dddd 101 z N 1 M 0 mmmm", |f| fused(f, true, true)),
    entry(Single, "VFMA", "11101110 1 D 10 nnnn dddd 101 z N 0 M 0 mmmm", |f| fused(f, false, false)),
    entry(Single, "VFMS", "11101110 1 D 10 nnnn dddd 101 z N 1 M 0 mmmm", |f| fused(f, true, false)),
    entry(Single, "VMOV (immediate)", "11101110 1 D 11 iiii dddd 101 z (0) 0 (0) 0 iiii", immediate),
    entry(Single, "VMOV (register)", "11101110 1 D 11 0000 dddd 101 z 01 M 0 mmmm", |f| unary(f, FloatUnary::Mov)),
    entry(Single, "VABS", "11101110 1 D 11 0000 dddd 101 z 11 M 0 mmmm", |f| unary(f, FloatUnary::Abs)),
    entry(Single, "VNEG", "11101110 1 D 11 0001 dddd 101 z 01 M 0 mmmm", |f| unary(f, FloatUnary::Neg)),
    entry(Single, "VSQRT", "11101110 1 D 11 0001 dddd 101 z 11 M 0 mmmm", |f| unary(f, FloatUnary::Sqrt)),
    entry(Single, "VCMP", "11101110 1 D 11 0100 dddd 101 z 01 M 0 mmmm", |f| compare(f, false, Some(m(f)))),
    entry(Single, "VCMPE", "11101110 1 D 11 0100 dddd 101 z 11 M 0 mmmm", |f| compare(f, true, Some(m(f)))),
    entry(Single, "VCMP", "11101110 1 D 11 0101 dddd 101 z 01 (0) 0 (0)(0)(0)(0)", |f| compare(f, false, None)),
    entry(Single, "VCMPE", "11101110 1 D 11 0101 dddd 101 z 11 (0) 0 (0)(0)(0)(0)", |f| compare(f, true, None)),
    entry(Fpv5, "VSEL", "11111110 0 D cc nnnn dddd 101 z N 0 M 0 mmmm", select),
    entry(Fpv5, "VMAXNM", "11111110 1 D 00 nnnn dddd 101 z N 0 M 0 mmmm", |f| binary(f, FloatBinary::MaxNm)),
    entry(Fpv5, "VMINNM", "11111110 1 D 00 nnnn dddd 101 z N 1 M 0 mmmm", |f| binary(f, FloatBinary::MinNm)),

    // Rounding and conversion. `e` and `l` are the lowest bits of registers that are single
    // precision, whatever the rest is.
    entry(Fpv5, "VRINTA", "11111110 1 D 11 1000 dddd 101 z 01 M 0 mmmm", |f| round(f, Rounding::TiesAway, false)),
    entry(Fpv5, "VRINTN", "11111110 1 D 11 1001 dddd 101 z 01 M 0 mmmm", |f| round(f, Rounding::TiesEven, false)),
    entry(Fpv5, "VRINTP", "11111110 1 D 11 1010 dddd 101 z 01 M 0 mmmm", |f| round(f, Rounding::Up, false)),
    entry(Fpv5, "VRINTM", "11111110 1 D 11 1011 dddd 101 z 01 M 0 mmmm", |f| round(f, Rounding::Down, false)),
    entry(Fpv5, "VRINTR", "11101110 1 D 11 0110 dddd 101 z 01 M 0 mmmm", |f| round(f, Rounding::Current, false)),
    entry(Fpv5, "VRINTZ", "11101110 1 D 11 0110 dddd 101 z 11 M 0 mmmm", |f| round(f, Rounding::Zero, false)),
    entry(Fpv5, "VRINTX", "11101110 1 D 11 0111 dddd 101 z 01 M 0 mmmm", |f| round(f, Rounding::Current, true)),
    entry(Fpv5, "VCVTA", "11111110 1 e 11 1100 dddd 101 z s 1 M 0 mmmm", |f| to_integer(f, f.bit('s'), Rounding::TiesAway)),
    entry(Fpv5, "VCVTN", "11111110 1 e 11 1101 dddd 101 z s 1 M 0 mmmm", |f| to_integer(f, f.bit('s'), Rounding::TiesEven)),
    entry(Fpv5, "VCVTP", "11111110 1 e 11 1110 dddd 101 z s 1 M 0 mmmm", |f| to_integer(f, f.bit('s'), Rounding::Up)),
    entry(Fpv5, "VCVTM", "11111110 1 e 11 1111 dddd 101 z s 1 M 0 mmmm", |f| to_integer(f, f.bit('s'), Rounding::Down)),
    entry(Single, "VCVTR", "11101110 1 e 11 110 s dddd 101 z 01 M 0 mmmm", |f| to_integer(f, f.bit('s'), Rounding::Current)),
    entry(Single, "VCVT", "11101110 1 e 11 110 s dddd 101 z 11 M 0 mmmm", |f| to_integer(f, f.bit('s'), Rounding::Zero)),
    entry(Single, "VCVT", "11101110 1 D 11 1000 dddd 101 z s 1 l 0 mmmm", |f| Operation::IntegerToFloat { signed: f.bit('s'), precision: f.precision(), d: d(f), m: single(f, 'm', 'l') }),
    entry(Single, "VCVT", "11101110 1 D 11 1 o 1 u dddd 101 z x 1 i 0 jjjj", fixed)
        .unpredictable(&[|f| fixed_bits(f) < fraction(f)]),
    entry(Double, "VCVT", "11101110 1 0 11 0111 dddd 1010 11 l 0 mmmm", |f| Operation::FloatConvert { to_double: true, d: f.reg('d'), m: single(f, 'm', 'l') }),
    entry(Double, "VCVT", "11101110 1 e 11 0111 dddd 1011 11 0 0 mmmm", |f| Operation::FloatConvert { to_double: false, d: single(f, 'd', 'e'), m: f.reg('m') }),
    entry(Single, "VCVTB", "11101110 1 D 11 0010 dddd 101 z 01 l 0 mmmm", |f| from_half(f, false)),
    entry(Single, "VCVTT", "11101110 1 D 11 0010 dddd 101 z 11 l 0 mmmm", |f| from_half(f, true)),
    entry(Single, "VCVTB", "11101110 1 e 11 0011 dddd 101 z 01 M 0 mmmm", |f| to_half(f, false)),
    entry(Single, "VCVTT", "11101110 1 e 11 0011 dddd 101 z 11 M 0 mmmm", |f| to_half(f, true)),

    // Moves to and from core registers. Units without double precision have the d registers.
    entry(Single, "VMOV (between core register and single)", "11101110 000 o dddd tttt 1010 e (0)(0) 1 (0)(0)(0)(0)", |f| Operation::MoveSingle { to_core: f.bit('o'), rt: f.reg('t'), s: single(f, 'd', 'e') })
        .bad("t"),
    entry(Single, "VMOV (between core register and scalar)", "11101110 00 h o dddd tttt 1011 0 00 1 (0)(0)(0)(0)", |f| Operation::MoveLane { to_core: f.bit('o'), rt: f.reg('t'), d: f.reg('d'), top: f.bit('h') })
        .bad("t"),
    entry(Single, "VMOV (between two core registers and two singles)", "11101100 010 o uuuu tttt 1010 00 l 1 mmmm", |f| Operation::MoveSingles { to_core: f.bit('o'), rt: f.reg('t'), rt2: f.reg('u'), s: single(f, 'm', 'l') })
        .bad("tu").unpredictable(&[moves_twice, |f| single(f, 'm', 'l') == 31]),
    entry(Single, "VMOV (between two core registers and double)", "11101100 010 o uuuu tttt 1011 00 0 1 mmmm", |f| Operation::MoveDouble { to_core: f.bit('o'), rt: f.reg('t'), rt2: f.reg('u'), d: f.reg('m') })
        .bad("tu").unpredictable(&[moves_twice]),
    entry(Single, "VMRS", "11101110 1111 0001 tttt 1010 (0)(0)(0) 1 (0)(0)(0)(0)", |f| Operation::ReadFloatStatus { rt: f.reg('t') })
        .sp("t"),
    entry(Single, "VMSR", "11101110 1110 0001 tttt 1010 (0)(0)(0) 1 (0)(0)(0)(0)", |f| Operation::WriteFloatStatus { rt: f.reg('t') })
        .bad("t"),

    // Loads and stores.
    entry(Single, "VSTR", "1110110 1 U e 00 nnnn dddd 1010 iiiiiiii", |f| Operation::FloatStore { precision: Precision::Single, d: single(f, 'd', 'e'), rn: f.reg('n'), offset: offset(f) })
        .pc("n"),
    entry(Single, "VSTR", "1110110 1 U 0 00 nnnn dddd 1011 iiiiiiii", |f| Operation::FloatStore { precision: Precision::Double, d: f.reg('d'), rn: f.reg('n'), offset: offset(f) })
        .pc("n"),
    entry(Single, "VLDR", "1110110 1 U e 01 nnnn dddd 1010 iiiiiiii", |f| Operation::FloatLoad { precision: Precision::Single, d: single(f, 'd', 'e'), rn: f.reg('n'), offset: offset(f) }),
    entry(Single, "VLDR", "1110110 1 U 0 01 nnnn dddd 1011 iiiiiiii", |f| Operation::FloatLoad { precision: Precision::Double, d: f.reg('d'), rn: f.reg('n'), offset: offset(f) }),
    entry(Single, "VSTM", "1110110 0 1 e W 0 nnnn dddd 1010 iiiiiiii", |f| store_singles(f, false))
        .pc("n").unpredictable(&[too_many_singles]),
    entry(Single, "VSTM", "1110110 0 1 e W 0 nnnn dddd 1011 iiiiiiii", |f| store_doubles(f, false))
        .pc("n").unpredictable(&[too_many_doubles]),
    entry(Single, "VSTMDB", "1110110 1 0 e 1 0 nnnn dddd 1010 iiiiiiii", |f| store_singles(f, true))
        .pc("n").unpredictable(&[too_many_singles]),
    entry(Single, "VSTMDB", "1110110 1 0 e 1 0 nnnn dddd 1011 iiiiiiii", |f| store_doubles(f, true))
        .pc("n").unpredictable(&[too_many_doubles]),
    entry(Single, "VPUSH", "1110110 1 0 e 1 0 1101 dddd 1010 iiiiiiii", |f| store_singles(f, true))
        .unpredictable(&[too_many_singles]),
    entry(Single, "VPUSH", "1110110 1 0 e 1 0 1101 dddd 1011 iiiiiiii", |f| store_doubles(f, true))
        .unpredictable(&[too_many_doubles]),
    entry(Single, "VLDM", "1110110 0 1 e W 1 nnnn dddd 1010 iiiiiiii", |f| load_singles(f, false))
        .pc("n").unpredictable(&[too_many_singles]),
    entry(Single, "VLDM", "1110110 0 1 e W 1 nnnn dddd 1011 iiiiiiii", |f| load_doubles(f, false))
        .pc("n").unpredictable(&[too_many_doubles]),
    entry(Single, "VPOP", "1110110 0 1 e 1 1 1101 dddd 1010 iiiiiiii", |f| load_singles(f, false))
        .unpredictable(&[too_many_singles]),
    entry(Single, "VPOP", "1110110 0 1 e 1 1 1101 dddd 1011 iiiiiiii", |f| load_doubles(f, false))
        .unpredictable(&[too_many_doubles]),
    entry(Single, "VLDMDB", "1110110 1 0 e 1 1 nnnn dddd 1010 iiiiiiii", |f| load_singles(f, true))
        .pc("n").unpredictable(&[too_many_singles]),
    entry(Single, "VLDMDB", "1110110 1 0 e 1 1 nnnn dddd 1011 iiiiiiii", |f| load_doubles(f, true))
        .pc("n").unpredictable(&[too_many_doubles]),
];

/// The s register of these fields, of which the second is the lowest bit.
fn single(f: &Fields, high: char, low: char) -> u8 {
    f.reg(high) << 1 | f.reg(low)
}

/// The register of these fields, s or d.
fn either(f: &Fields, field: char, bit: char) -> u8 {
    match f.precision() {
        Precision::Single => single(f, field, bit),
        Precision::Double => f.reg(field),
    }
}

fn d(f: &Fields) -> u8 {
    either(f, 'd', 'D')
}

fn n(f: &Fields) -> u8 {
    either(f, 'n', 'N')
}

fn m(f: &Fields) -> u8 {
    either(f, 'm', 'M')
}

fn binary(f: &Fields, operation: FloatBinary) -> Operation {
    Operation::FloatBinary {
        operation,
        precision: f.precision(),
        d: d(f),
        n: n(f),
        m: m(f),
    }
}

fn unary(f: &Fields, operation: FloatUnary) -> Operation {
    Operation::FloatUnary {
        operation,
        precision: f.precision(),
        d: d(f),
        m: m(f),
    }
}

fn multiply_add(f: &Fields, negate_product: bool, negate_addend: bool) -> Operation {
    let [d, n, m] = [d(f), n(f), m(f)];
    Operation::FloatMultiplyAdd {
        negate_product,
        negate_addend,
        precision: f.precision(),
        d,
        n,
        m,
    }
}

fn fused(f: &Fields, negate_product: bool, negate_addend: bool) -> Operation {
    let [d, n, m] = [d(f), n(f), m(f)];
    Operation::FloatFused {
        negate_product,
        negate_addend,
        precision: f.precision(),
        d,
        n,
        m,
    }
}

/// The constant of sign, three bits of exponent and four of fraction.
fn immediate(f: &Fields) -> Operation {
    let byte = u64::from(f.get('i'));
    let (fraction_bits, exponent_bits) = match f.precision() {
        Precision::Single => (23, 8),
        Precision::Double => (52, 11),
    };
    let middle = ((1 << (exponent_bits - 3)) - 1) * (byte >> 6 & 1);
    let exponent = (!byte >> 6 & 1) << (exponent_bits - 1) | middle << 2 | byte >> 4 & 3;
    let sign = (byte >> 7) << (fraction_bits + exponent_bits);
    let bits = sign | exponent << fraction_bits | (byte & 15) << (fraction_bits - 4);
    Operation::FloatImmediate {
        precision: f.precision(),
        d: d(f),
        bits,
    }
}

fn compare(f: &Fields, signal: bool, m: Option<u8>) -> Operation {
    Operation::FloatCompare {
        signal,
        precision: f.precision(),
        d: d(f),
        m,
    }
}

fn select(f: &Fields) -> Operation {
    use Condition::{Eq, Ge, Gt, Vs};
    let condition = [Eq, Vs, Ge, Gt][f.get('c') as usize];
    Operation::FloatSelect {
        condition,
        precision: f.precision(),
        d: d(f),
        n: n(f),
        m: m(f),
    }
}

fn round(f: &Fields, rounding: Rounding, exact: bool) -> Operation {
    Operation::FloatRound {
        rounding,
        exact,
        precision: f.precision(),
        d: d(f),
        m: m(f),
    }
}

fn to_integer(f: &Fields, signed: bool, rounding: Rounding) -> Operation {
    let d = single(f, 'd', 'e');
    Operation::FloatToInteger {
        signed,
        rounding,
        precision: f.precision(),
        d,
        m: m(f),
    }
}

fn fixed_bits(f: &Fields) -> u8 {
    if f.bit('x') { 32 } else { 16 }
}

fn fraction(f: &Fields) -> u8 {
    f.reg('j') << 1 | f.reg('i')
}

fn fixed(f: &Fields) -> Operation {
    let bits = fixed_bits(f);
    Operation::FloatFixed {
        to_fixed: f.bit('o'),
        signed: !f.bit('u'),
        bits,
        fraction: bits - fraction(f),
        precision: f.precision(),
        d: d(f),
    }
}

fn from_half(f: &Fields, top: bool) -> Operation {
    let m = single(f, 'm', 'l');
    Operation::FloatHalf {
        to_half: false,
        top,
        precision: f.precision(),
        d: d(f),
        m,
    }
}

fn to_half(f: &Fields, top: bool) -> Operation {
    let d = single(f, 'd', 'e');
    Operation::FloatHalf {
        to_half: true,
        top,
        precision: f.precision(),
        d,
        m: m(f),
    }
}

/// Whether two values go to one core register.
fn moves_twice(f: &Fields) -> bool {
    f.bit('o') && f.get('t') == f.get('u')
}

fn offset(f: &Fields) -> i32 {
    let offset = f.get('i') as i32 * 4;
    if f.bit('U') { offset } else { -offset }
}

fn too_many_singles(f: &Fields) -> bool {
    let count = f.get('i');
    count == 0 || u32::from(single(f, 'd', 'e')) + count > 32
}

/// Or none, or a word more, which is FLDMX or FSTMX.
fn too_many_doubles(f: &Fields) -> bool {
    let words = f.get('i');
    let first = f.get('e') << 4 | f.get('d');
    words == 0 || words % 2 == 1 || first + words / 2 > 16
}

/// The base register: without a field the stack pointer.
fn base(f: &Fields) -> u8 {
    if f.has('n') { f.reg('n') } else { 13 }
}

/// Whether it writes back: without a field it does.
fn writeback(f: &Fields) -> bool {
    !f.has('W') || f.bit('W')
}

fn load_singles(f: &Fields, decrement: bool) -> Operation {
    let [d, count] = [single(f, 'd', 'e'), f.reg('i')];
    Operation::FloatLoadMultiple {
        precision: Precision::Single,
        d,
        count,
        rn: base(f),
        decrement,
        writeback: writeback(f),
    }
}

fn load_doubles(f: &Fields, decrement: bool) -> Operation {
    let [d, count] = [f.reg('d'), f.reg('i') / 2];
    Operation::FloatLoadMultiple {
        precision: Precision::Double,
        d,
        count,
        rn: base(f),
        decrement,
        writeback: writeback(f),
    }
}

fn store_singles(f: &Fields, decrement: bool) -> Operation {
    let [d, count] = [single(f, 'd', 'e'), f.reg('i')];
    Operation::FloatStoreMultiple {
        precision: Precision::Single,
        d,
        count,
        rn: base(f),
        decrement,
        writeback: writeback(f),
    }
}

fn store_doubles(f: &Fields, decrement: bool) -> Operation {
    let [d, count] = [f.reg('d'), f.reg('i') / 2];
    Operation::FloatStoreMultiple {
        precision: Precision::Double,
        d,
        count,
        rn: base(f),
        decrement,
        writeback: writeback(f),
    }
}
