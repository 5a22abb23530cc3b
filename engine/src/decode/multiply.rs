//! Multiplications, divisions, and the parallel and saturating arithmetic of the DSP extension.

use super::row::{Entry, Fields, entry};
use crate::features::Needs::{Baseline, Dsp, Mainline};
use crate::operation::{Accumulation, Lanes, Operation, ParallelOperation, SetFlags};

#[rustfmt::skip]
pub(super) const ENTRIES: &[Entry] = &[
    entry(Mainline, "MLA", "11111011 0000 nnnn aaaa dddd 0000 mmmm", |f| multiply_add(f, false))
        .bad("dnm").sp("a"),
    entry(Mainline, "MUL", "11111011 0000 nnnn 1111 dddd 0000 mmmm", |f| Operation::Multiply { flags: SetFlags::No, rd: f.reg('d'), rn: f.reg('n'), rm: f.reg('m') })
        .bad("dnm"),
    entry(Mainline, "MLS", "11111011 0000 nnnn aaaa dddd 0001 mmmm", |f| multiply_add(f, true))
        .bad("dnma"),
    entry(Mainline, "SMULL", "11111011 1000 nnnn llll hhhh 0000 mmmm", |f| long(f, true, Accumulation::None))
        .bad("lhnm").unpredictable(&[same_halves]),
    entry(Baseline, "SDIV", "11111011 1001 nnnn (1)(1)(1)(1) dddd 1111 mmmm", |f| Operation::Divide { signed: true, rd: f.reg('d'), rn: f.reg('n'), rm: f.reg('m') })
        .bad("dnm"),
    entry(Mainline, "UMULL", "11111011 1010 nnnn llll hhhh 0000 mmmm", |f| long(f, false, Accumulation::None))
        .bad("lhnm").unpredictable(&[same_halves]),
    entry(Baseline, "UDIV", "11111011 1011 nnnn (1)(1)(1)(1) dddd 1111 mmmm", |f| Operation::Divide { signed: false, rd: f.reg('d'), rn: f.reg('n'), rm: f.reg('m') })
        .bad("dnm"),
    entry(Mainline, "SMLAL", "11111011 1100 nnnn llll hhhh 0000 mmmm", |f| long(f, true, Accumulation::Long))
        .bad("lhnm").unpredictable(&[same_halves]),
    entry(Mainline, "UMLAL", "11111011 1110 nnnn llll hhhh 0000 mmmm", |f| long(f, false, Accumulation::Long))
        .bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "UMAAL", "11111011 1110 nnnn llll hhhh 0110 mmmm", |f| long(f, false, Accumulation::BothWords))
        .bad("lhnm").unpredictable(&[same_halves]),

    entry(Dsp, "SMLABB", "11111011 0001 nnnn aaaa dddd 00 00 mmmm", |f| halves(f, false, false, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMLABT", "11111011 0001 nnnn aaaa dddd 00 01 mmmm", |f| halves(f, false, true, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMLATB", "11111011 0001 nnnn aaaa dddd 00 10 mmmm", |f| halves(f, true, false, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMLATT", "11111011 0001 nnnn aaaa dddd 00 11 mmmm", |f| halves(f, true, true, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMULBB", "11111011 0001 nnnn 1111 dddd 00 00 mmmm", |f| halves(f, false, false, None)).bad("dnm"),
    entry(Dsp, "SMULBT", "11111011 0001 nnnn 1111 dddd 00 01 mmmm", |f| halves(f, false, true, None)).bad("dnm"),
    entry(Dsp, "SMULTB", "11111011 0001 nnnn 1111 dddd 00 10 mmmm", |f| halves(f, true, false, None)).bad("dnm"),
    entry(Dsp, "SMULTT", "11111011 0001 nnnn 1111 dddd 00 11 mmmm", |f| halves(f, true, true, None)).bad("dnm"),
    entry(Dsp, "SMLAD", "11111011 0010 nnnn aaaa dddd 000 0 mmmm", |f| dual(f, false, false, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMLADX", "11111011 0010 nnnn aaaa dddd 000 1 mmmm", |f| dual(f, false, true, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMUAD", "11111011 0010 nnnn 1111 dddd 000 0 mmmm", |f| dual(f, false, false, None)).bad("dnm"),
    entry(Dsp, "SMUADX", "11111011 0010 nnnn 1111 dddd 000 1 mmmm", |f| dual(f, false, true, None)).bad("dnm"),
    entry(Dsp, "SMLAWB", "11111011 0011 nnnn aaaa dddd 000 0 mmmm", |f| word_by_half(f, false, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMLAWT", "11111011 0011 nnnn aaaa dddd 000 1 mmmm", |f| word_by_half(f, true, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMULWB", "11111011 0011 nnnn 1111 dddd 000 0 mmmm", |f| word_by_half(f, false, None)).bad("dnm"),
    entry(Dsp, "SMULWT", "11111011 0011 nnnn 1111 dddd 000 1 mmmm", |f| word_by_half(f, true, None)).bad("dnm"),
    entry(Dsp, "SMLSD", "11111011 0100 nnnn aaaa dddd 000 0 mmmm", |f| dual(f, true, false, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMLSDX", "11111011 0100 nnnn aaaa dddd 000 1 mmmm", |f| dual(f, true, true, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMUSD", "11111011 0100 nnnn 1111 dddd 000 0 mmmm", |f| dual(f, true, false, None)).bad("dnm"),
    entry(Dsp, "SMUSDX", "11111011 0100 nnnn 1111 dddd 000 1 mmmm", |f| dual(f, true, true, None)).bad("dnm"),
    entry(Dsp, "SMMLA", "11111011 0101 nnnn aaaa dddd 000 0 mmmm", |f| top(f, false, false, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMMLAR", "11111011 0101 nnnn aaaa dddd 000 1 mmmm", |f| top(f, false, true, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "SMMUL", "11111011 0101 nnnn 1111 dddd 000 0 mmmm", |f| top(f, false, false, None)).bad("dnm"),
    entry(Dsp, "SMMULR", "11111011 0101 nnnn 1111 dddd 000 1 mmmm", |f| top(f, false, true, None)).bad("dnm"),
    entry(Dsp, "SMMLS", "11111011 0110 nnnn aaaa dddd 000 0 mmmm", |f| top(f, true, false, addend(f))).bad("dnma"),
    entry(Dsp, "SMMLSR", "11111011 0110 nnnn aaaa dddd 000 1 mmmm", |f| top(f, true, true, addend(f))).bad("dnma"),
    entry(Dsp, "USADA8", "11111011 0111 nnnn aaaa dddd 0000 mmmm", |f| differences(f, addend(f))).bad("dnm").sp("a"),
    entry(Dsp, "USAD8", "11111011 0111 nnnn 1111 dddd 0000 mmmm", |f| differences(f, None)).bad("dnm"),
    entry(Dsp, "SMLALBB", "11111011 1100 nnnn llll hhhh 10 00 mmmm", |f| halves_long(f, false, false)).bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "SMLALBT", "11111011 1100 nnnn llll hhhh 10 01 mmmm", |f| halves_long(f, false, true)).bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "SMLALTB", "11111011 1100 nnnn llll hhhh 10 10 mmmm", |f| halves_long(f, true, false)).bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "SMLALTT", "11111011 1100 nnnn llll hhhh 10 11 mmmm", |f| halves_long(f, true, true)).bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "SMLALD", "11111011 1100 nnnn llll hhhh 110 0 mmmm", |f| dual_long(f, false, false)).bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "SMLALDX", "11111011 1100 nnnn llll hhhh 110 1 mmmm", |f| dual_long(f, false, true)).bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "SMLSLD", "11111011 1101 nnnn llll hhhh 110 0 mmmm", |f| dual_long(f, true, false)).bad("lhnm").unpredictable(&[same_halves]),
    entry(Dsp, "SMLSLDX", "11111011 1101 nnnn llll hhhh 110 1 mmmm", |f| dual_long(f, true, true)).bad("lhnm").unpredictable(&[same_halves]),

    entry(Dsp, "QADD", "11111010 1000 nnnn 1111 dddd 1000 mmmm", |f| saturating(f, false, false)).bad("dnm"),
    entry(Dsp, "QDADD", "11111010 1000 nnnn 1111 dddd 1001 mmmm", |f| saturating(f, true, false)).bad("dnm"),
    entry(Dsp, "QSUB", "11111010 1000 nnnn 1111 dddd 1010 mmmm", |f| saturating(f, false, true)).bad("dnm"),
    entry(Dsp, "QDSUB", "11111010 1000 nnnn 1111 dddd 1011 mmmm", |f| saturating(f, true, true)).bad("dnm"),
    entry(Dsp, "SEL", "11111010 1010 nnnn 1111 dddd 1000 mmmm", |f| Operation::Select { rd: f.reg('d'), rn: f.reg('n'), rm: f.reg('m') })
        .bad("dnm"),
];

/// The parallel additions and subtractions: a line for each prefix, its bits and its lanes.
macro_rules! parallel {
    ($($prefix:literal $bits:literal $lanes:ident)*) => { &[$(
        parallel!(concat!($prefix, "ADD8"), "1000", $bits, $lanes, Add8),
        parallel!(concat!($prefix, "ADD16"), "1001", $bits, $lanes, Add16),
        parallel!(concat!($prefix, "ASX"), "1010", $bits, $lanes, Asx),
        parallel!(concat!($prefix, "SUB8"), "1100", $bits, $lanes, Sub8),
        parallel!(concat!($prefix, "SUB16"), "1101", $bits, $lanes, Sub16),
        parallel!(concat!($prefix, "SAX"), "1110", $bits, $lanes, Sax),
    )*] };
    ($name:expr, $operation_bits:literal, $lanes_bits:literal, $lanes:ident, $operation:ident) => {
        entry(
            Dsp,
            $name,
            concat!("11111010 ", $operation_bits, " nnnn 1111 dddd ", $lanes_bits, " mmmm"),
            |f| Operation::Parallel {
                lanes: Lanes::$lanes,
                operation: ParallelOperation::$operation,
                rd: f.reg('d'),
                rn: f.reg('n'),
                rm: f.reg('m'),
            },
        )
        .bad("dnm")
    };
}

pub(super) const PARALLEL: &[Entry] = parallel! {
    "S" "0000" Signed
    "Q" "0001" SignedSaturating
    "SH" "0010" SignedHalving
    "U" "0100" Unsigned
    "UQ" "0101" UnsignedSaturating
    "UH" "0110" UnsignedHalving
};

fn same_halves(f: &Fields) -> bool {
    f.get('l') == f.get('h')
}

fn addend(f: &Fields) -> Option<u8> {
    Some(f.reg('a'))
}

fn multiply_add(f: &Fields, subtract: bool) -> Operation {
    let [rd, rn, rm, ra] = ['d', 'n', 'm', 'a'].map(|letter| f.reg(letter));
    Operation::MultiplyAdd {
        subtract,
        rd,
        rn,
        rm,
        ra,
    }
}

fn long(f: &Fields, signed: bool, accumulation: Accumulation) -> Operation {
    let [lo, hi, rn, rm] = ['l', 'h', 'n', 'm'].map(|letter| f.reg(letter));
    Operation::MultiplyLong {
        signed,
        accumulation,
        lo,
        hi,
        rn,
        rm,
    }
}

fn halves(f: &Fields, n_top: bool, m_top: bool, ra: Option<u8>) -> Operation {
    let [rd, rn, rm] = ['d', 'n', 'm'].map(|letter| f.reg(letter));
    Operation::MultiplyHalves {
        rd,
        rn,
        rm,
        ra,
        n_top,
        m_top,
    }
}

fn word_by_half(f: &Fields, m_top: bool, ra: Option<u8>) -> Operation {
    let [rd, rn, rm] = ['d', 'n', 'm'].map(|letter| f.reg(letter));
    Operation::MultiplyWordByHalf {
        rd,
        rn,
        rm,
        ra,
        m_top,
    }
}

fn dual(f: &Fields, subtract: bool, exchange: bool, ra: Option<u8>) -> Operation {
    let [rd, rn, rm] = ['d', 'n', 'm'].map(|letter| f.reg(letter));
    Operation::MultiplyDual {
        subtract,
        exchange,
        rd,
        rn,
        rm,
        ra,
    }
}

fn top(f: &Fields, subtract: bool, round: bool, ra: Option<u8>) -> Operation {
    let [rd, rn, rm] = ['d', 'n', 'm'].map(|letter| f.reg(letter));
    Operation::MultiplyTop {
        subtract,
        round,
        rd,
        rn,
        rm,
        ra,
    }
}

fn differences(f: &Fields, ra: Option<u8>) -> Operation {
    Operation::SumOfDifferences {
        rd: f.reg('d'),
        rn: f.reg('n'),
        rm: f.reg('m'),
        ra,
    }
}

fn halves_long(f: &Fields, n_top: bool, m_top: bool) -> Operation {
    let [lo, hi, rn, rm] = ['l', 'h', 'n', 'm'].map(|letter| f.reg(letter));
    Operation::MultiplyHalvesLong {
        lo,
        hi,
        rn,
        rm,
        n_top,
        m_top,
    }
}

fn dual_long(f: &Fields, subtract: bool, exchange: bool) -> Operation {
    let [lo, hi, rn, rm] = ['l', 'h', 'n', 'm'].map(|letter| f.reg(letter));
    Operation::MultiplyDualLong {
        subtract,
        exchange,
        lo,
        hi,
        rn,
        rm,
    }
}

fn saturating(f: &Fields, double: bool, subtract: bool) -> Operation {
    Operation::SaturatingAdd {
        double,
        subtract,
        rd: f.reg('d'),
        rm: f.reg('m'),
        rn: f.reg('n'),
    }
}
