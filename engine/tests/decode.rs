//! The table of instructions, by itself and against the disassembler capstone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

#[path = "decode/judge.rs"]
mod judge;
#[path = "decode/text.rs"]
#[rustfmt::skip]
mod text;

use dmo_engine::decode::{ItRule, Row, decode, it_rule, length, row_of, rows};
use dmo_engine::fault::Fault;
use dmo_engine::features::{Architecture, Features, FloatingPoint, Needs, Traps};
use dmo_engine::operation::Instruction;
use judge::Judge;
use std::collections::BTreeSet;

/// A core that has everything.
const ALL: Features = Features {
    architecture: Architecture::Armv81MMainline,
    dsp: true,
    floating_point: FloatingPoint::Fpv5Double,
    traps: Traps::NONE,
};

/// What capstone has.
const CAPSTONES: Features = Features {
    architecture: Architecture::Armv8MMainline,
    ..ALL
};

/// A core of this architecture without extensions.
fn plain(architecture: Architecture) -> Features {
    Features {
        architecture,
        dsp: false,
        floating_point: FloatingPoint::None,
        traps: Traps::NONE,
    }
}

const ROWS: usize = 462;
const OVERLAPS: usize = 131;
const OPERATIONS: usize = 81;

/// The halfwords of an encoding of this length.
fn halfwords(encoding: u32, bytes: u8) -> (u16, u16) {
    match bytes {
        2 => (encoding as u16, 0),
        _ => ((encoding >> 16) as u16, encoding as u16),
    }
}

fn decoded(encoding: u32) -> Instruction {
    let bytes = if encoding >> 16 == 0 { 2 } else { 4 };
    let (first, second) = halfwords(encoding, bytes);
    decode(first, second, &ALL).unwrap()
}

/// Numbers without a pattern.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u32 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        let mixed = self.0 >> 29 ^ self.0 >> 47;
        mixed as u32
    }
}

/// Encodings of a row, with what decides about each.
fn encodings(row: &Row, count: usize) -> impl Iterator<Item = (u16, u16, &'static Row)> {
    let mut random = Random(2);
    (0..count).map(move |_| {
        let (first, second) = halfwords(row.encoding(random.bits()), row.bytes());
        (first, second, row_of(first, second).unwrap())
    })
}

fn is_more_specific(one: &Row, other: &Row) -> bool {
    let ((one_mask, one_value), (mask, value)) = (one.fixed(), other.fixed());
    one_mask & mask == mask && one_mask != mask && one_value & mask == value
}

#[test]
fn diagrams_are_complete() {
    for row in rows() {
        let bits = row.pattern().replace([' ', '(', ')'], "");
        assert!([16, 32].contains(&bits.len()), "{row:?}");
        assert_eq!(bits.len(), usize::from(row.bytes()) * 8, "{row:?}");
        let start = (row.fixed().1 >> 16) as u16;
        assert_eq!(length(start), row.bytes(), "{row:?}");
    }
    assert_eq!(rows().len(), ROWS);
}

/// Of two rows that an instruction can be, one is more specific, or a third one is.
#[test]
fn one_row_decides() {
    let mut overlaps = 0;
    for (at, one) in rows().iter().enumerate() {
        for other in rows()[at + 1..].iter().filter(|other| one.overlaps(other)) {
            overlaps += 1;
            let fixed = (
                one.fixed().0 | other.fixed().0,
                one.fixed().1 | other.fixed().1,
            );
            let decided = rows().iter().any(|third| third.fixed() == fixed);
            assert!(
                is_more_specific(one, other) || decided,
                "{one:?} and {other:?}"
            );
        }
    }
    assert_eq!(overlaps, OVERLAPS);
}

#[test]
fn rows_decode_as_themselves() {
    let mut own = 0;
    for row in rows() {
        let mut is_reached = false;
        for (first, second, found) in encodings(row, 2000) {
            assert!(
                std::ptr::eq(found, row) || is_more_specific(found, row),
                "{row:?} {found:?}"
            );
            let ours = decode(first, second, &ALL);
            if std::ptr::eq(found, row)
                && let Ok(instruction) = ours
            {
                assert_eq!(
                    (instruction.name, instruction.bytes),
                    (row.name(), row.bytes())
                );
                is_reached = true;
            }
        }
        assert!(is_reached, "{row:?}");
        own += 1;
    }
    assert_eq!(own, ROWS);
}

#[test]
fn every_operation_has_a_row() {
    let mut operations = BTreeSet::new();
    for row in rows() {
        for (first, second, _) in encodings(row, 2000) {
            if let Ok(instruction) = decode(first, second, &ALL) {
                let text = format!("{:?}", instruction.operation);
                operations.insert(text.split(' ').next().unwrap().to_owned());
            }
        }
    }
    assert_eq!(operations.len(), OPERATIONS, "{operations:?}");
}

/// The names of the rows of this length that need no more than this.
fn names(bytes: u8, needs: &[Needs]) -> Vec<&'static str> {
    let matching = rows()
        .iter()
        .filter(|row| row.bytes() == bytes && needs.contains(&row.needs()));
    let names: BTreeSet<_> = matching.map(Row::name).collect();
    names.into_iter().collect()
}

#[test]
fn small_cores_have_few_wide_instructions() {
    let base = ["BL", "DMB", "DSB", "ISB", "MRS", "MSR", "UDF"];
    assert_eq!(names(4, &[Needs::Base]), base);
    let baseline = [
        "B",
        "CLREX",
        "LDREX",
        "LDREXB",
        "LDREXH",
        "MOV (immediate)",
        "MOVT",
        "SDIV",
        "STREX",
        "STREXB",
        "STREXH",
        "UDIV",
    ];
    assert_eq!(names(4, &[Needs::Baseline]), baseline);
    assert_eq!(names(2, &[Needs::Baseline]), ["CBNZ", "CBZ"]);
    assert_eq!(names(2, &[Needs::Mainline]), ["CPS", "IT"]);
    let armv8 = [
        "LDA", "LDAB", "LDAEX", "LDAEXB", "LDAEXH", "LDAH", "SG", "STL", "STLB", "STLEX", "STLEXB",
        "STLEXH", "STLH",
    ];
    assert_eq!(names(4, &[Needs::Armv8]), armv8);
    let armv81 = [
        "CLRM", "CSEL", "CSINC", "CSINV", "CSNEG", "DLS", "LE", "WLS",
    ];
    assert_eq!(names(4, &[Needs::Armv81]), armv81);
}

#[test]
fn cores_lack_what_they_lack() {
    use Architecture::*;
    let cases = [
        (0xb108, Armv6M, "CBZ", Needs::Baseline),
        (0xbf08, Armv6M, "IT", Needs::Mainline),
        (0xbf08, Armv8MBaseline, "IT", Needs::Mainline),
        (0xb671, Armv6M, "CPS", Needs::Mainline),
        (
            0xe9d0_1200,
            Armv8MBaseline,
            "LDRD (immediate)",
            Needs::Mainline,
        ),
        (0xfb80_1203, Armv8MBaseline, "SMULL", Needs::Mainline),
        (0xf000_b800, Armv6M, "B", Needs::Baseline),
        (0xfa81_f082, Armv7M, "QADD", Needs::Dsp),
        (0xe8d1_0faf, Armv7EM, "LDA", Needs::Armv8),
        (0xea52_8113, Armv8MMainline, "CSEL", Needs::Armv81),
        (0xee30_0a00, Armv7M, "VADD", Needs::Single),
        (0xee30_0b00, Armv7M, "VADD", Needs::Double),
        (0xfe00_0a00, Armv7M, "VSEL", Needs::Fpv5),
    ];
    for (encoding, architecture, name, needs) in cases {
        let (first, second) = halfwords(encoding, if encoding >> 16 == 0 { 2 } else { 4 });
        let fault = decode(first, second, &plain(architecture));
        assert_eq!(fault, Err(Fault::Lacks { name, needs }), "{encoding:#x}");
        assert_eq!(decoded(encoding).name, name);
    }
}

/// As GNU as assembles them; not even Armv8.1-M has them without Helium.
#[test]
fn helium_is_refused_as_such() {
    let cases = [
        0xed90_1f00, // vldrw.u32 q0, [r0]
        0xef22_0844, // vadd.i32 q0, q1, q2
        0xfe32_0f45, // vadd.f16 q0, q1, r5
        0xf001_e001, // dlstp.8 lr, r1
        0xf021_c003, // wlstp.32 lr, r1, ...
        0xf01f_c007, // letp lr, ...
        0xeed0_0b30, // vmov.u8 r0, q0[1]
        0xeee0_1b10, // vdup.8 q0, r1
        0xf000_e801, // vctp.8 r0
        0xf00f_e001, // lctp
        0xfe71_0f4d, // vpst
        0xed90_1e00, // vldrb.u8 q0, [r0]
        0xec12_0f01, // vmov q0[2], q0[0], r1, r2
        0xec81_0f44, // vstrw.32 q0, [r1, q2]
        0xfe01_0f02, // vcmp.i8 eq, q0, q1
        0xfee2_0f02, // vmaxv.u8 r0, q1
    ];
    for encoding in cases {
        let (first, second) = halfwords(encoding, 4);
        let fault = decode(first, second, &ALL);
        let name = "the instruction";
        let needs = Needs::Extension;
        assert_eq!(fault, Err(Fault::Lacks { name, needs }), "{encoding:#x}");
    }
    // asrl r0, r1, #3; vmsr p0, r0: among instructions that other cores have.
    for encoding in [0xea50_01ef, 0xeeed_0a10] {
        let (first, second) = halfwords(encoding, 4);
        let fault = decode(first, second, &ALL);
        assert!(fault.is_err(), "{encoding:#x}: {fault:?}");
    }
}

/// As LLVM assembles and lists them; the addresses are those of an instruction at 0.
#[test]
fn armv81_instructions() {
    let cases = [
        (0xea52_8113, "csel r1, r2, r3, ne"),
        (0xea52_91b3, "csinc r1, r2, r3, lt"),
        (0xea52_a103, "csinv r1, r2, r3, eq"),
        (0xea5f_a49f, "csinv r4, r15, r15, ls"),
        (0xea52_b1c3, "csneg r1, r2, r3, gt"),
        (0xf043_e001, "dls r14, r3"),
        (0xf045_c005, "wls r14, r5, #12"),
        (0xf00f_c007, "le r14, #-8"),
        (0xf02f_c807, "le #-10"),
        (0xe89f_d009, "clrm {r0, r3, r12, r14, r15}"),
    ];
    for (encoding, expected) in cases {
        assert_eq!(text::text(&decoded(encoding)), expected);
    }
}

#[test]
fn unpredictable_operands() {
    let cases = [
        (0x44ff, "ADD (register): both r15"),
        (0x4508, "CMP (register): two low registers"),
        (0x47f8, "BLX of r15"),
        (0xb400, "PUSH of nothing"),
        (0xc000, "STM of nothing"),
        (0xbfe6, "IT, always or else"),
        (0xb660, "CPS of nothing"),
    ];
    for (encoding, what) in cases {
        let fault = decode(encoding, 0, &ALL);
        assert!(
            matches!(fault, Err(Fault::Unpredictable { .. })),
            "{what}: {fault:?}"
        );
    }
    let cases = [
        (0xe890_0001, "LDM of one register"),
        (0xe8b0_0003, "LDM of the base that is written back"),
        (0xe890_c001, "LDM of r14 and r15"),
        (0xe9d0_1100, "LDRD of one register twice"),
        (0xe9f1_1200, "LDRD of the base that is written back"),
        (0xe840_1000, "STREX of the base"),
        (0xf851_1b04, "LDR of the base that is written back"),
        (0xf841_1b04, "STR of the base that is written back"),
        (0xf880_d000, "STRB of the stack pointer"),
        (0xf100_0d01, "ADD that makes a stack pointer of r0"),
        (0xf000_1000, "AND with a repeated zero"),
        (0xfb80_1103, "SMULL to one register"),
        (0xfab1_f082, "CLZ of two registers"),
        (0xf360_1f04, "BFI into r15"),
        (0xf360_1003, "BFI that ends before it starts"),
        (0xf380_8004, "MSR of a register that there is not"),
        (0xea41_000d, "ORR of the stack pointer"),
        (0xec9f_0a01, "VLDM from r15"),
        (0xecd0_fa02, "VLDM past s31"),
        (0xec51_1b10, "VMOV to one register twice"),
    ];
    for (encoding, what) in cases {
        let (first, second) = halfwords(encoding, 4);
        let fault = decode(first, second, &ALL);
        assert!(
            matches!(fault, Err(Fault::Unpredictable { .. })),
            "{what}: {fault:?}"
        );
    }
}

#[test]
fn places_in_it_blocks() {
    let cases = [
        (0x4408, ItRule::Any, "add r0, r1"),
        (0x4487, ItRule::Last, "add pc, r0"),
        (0x46f7, ItRule::Last, "mov pc, lr"),
        (0x0008, ItRule::Outside, "movs r0, r1"),
        (0x0048, ItRule::Any, "lsls r0, r1, #1"),
        (0x4770, ItRule::Last, "bx lr"),
        (0xbd10, ItRule::Last, "pop {r4, pc}"),
        (0xbc10, ItRule::Any, "pop {r4}"),
        (0xd000, ItRule::Outside, "beq"),
        (0xe000, ItRule::Last, "b"),
        (0xb108, ItRule::Outside, "cbz"),
        (0xbf08, ItRule::Outside, "it"),
        (0xb672, ItRule::Outside, "cpsid i"),
        (0xdf00, ItRule::Any, "svc"),
        (0xf85d_fb04, ItRule::Last, "ldr pc, [sp], #4"),
        (0xf000_f800, ItRule::Last, "bl"),
        (0xe8d0_f001, ItRule::Last, "tbb"),
        (0xfe00_0a00, ItRule::Outside, "vseleq.f32"),
        (0xfeb8_0a40, ItRule::Outside, "vrinta.f32"),
        (0xeeb6_0a40, ItRule::Any, "vrintr.f32"),
        (0xea52_8113, ItRule::Outside, "csel"),
    ];
    for (encoding, rule, what) in cases {
        let instruction = decoded(encoding);
        assert_eq!(it_rule(&instruction), rule, "{what}");
        let allowed = [0x00, 0x08, 0x04].map(|state| it_rule(&instruction).allows(state));
        let expected = [true, rule != ItRule::Outside, rule == ItRule::Any];
        assert_eq!(allowed, expected, "{what}");
    }
}

#[test]
fn capstone_reads_the_same() {
    let mut judge = Judge::new(&CAPSTONES);
    let mut random = Random(1);
    judge.compare_all(600, || random.bits());
    for row in rows() {
        for (first, second, _) in encodings(row, 500) {
            judge.compare(first, second);
        }
    }
    judge.assert_same(1_000_000, 1_000_000);
}

/// `DMO_ENGINE_ENCODINGS` wide instructions, or a hundred million.
#[test]
#[ignore = "takes minutes; DMO_ENGINE_ENCODINGS says how many encodings"]
fn capstone_reads_many_the_same() {
    let encodings = std::env::var("DMO_ENGINE_ENCODINGS");
    let encodings: u32 = encodings.map_or(100_000_000, |number| number.parse().unwrap());
    let mut judge = Judge::new(&CAPSTONES);
    let mut random = Random(3);
    let firsts = u32::from(u16::MAX) + 1 - 0xe800;
    judge.compare_all(encodings.div_ceil(firsts), || random.bits());
    judge.assert_same(u64::from(encodings / 5), u64::from(encodings / 5));
}
