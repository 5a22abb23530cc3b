//! Data that index a table decide nothing where the whole table is read-only, or the program's own.

use super::super::Decision;
use super::{CODE, FEATURES, RAM, RAM_BYTES, Random, Twins};
use crate::engine::Stop;

/// Where the data are: in both programs something else.
const DATA: u32 = RAM + 0x800;
/// LDRB, LDRSB and LDR of r0 from r1.
const BYTE: [u16; 1] = [0x7808];
const SIGNED_BYTE: [u16; 2] = [0x2000, 0x5608];
const WORD: [u16; 1] = [0x6808];
/// LDRB, LDRH and LDR of r2 from r3 plus r0; STRB.
const TABLE_BYTE: u16 = 0x5c1a;
const TABLE_HALF: u16 = 0x5a1a;
const TABLE_WORD: u16 = 0x581a;
const STORE_BYTE: u16 = 0x541a;
/// UXTB, LSLS by 1 and 2, LSRS by 24, ASRS by 25, MOVS r4 and ANDS with it.
const UXTB: u16 = 0xb2c0;
const TWICE: u16 = 0x0040;
const FOUR_TIMES: u16 = 0x0080;
const HIGHEST_BYTE: u16 = 0x0e00;
const HIGHEST_BITS: u16 = 0x1640;
const MASKED: [u16; 2] = [0x247f, 0x4020];

/// What is decided where r3 points to this table.
fn decisions(code: &[u16], table: u32, prepare: impl Fn(&mut Twins)) -> Vec<Decision> {
    let mut twins = Twins::new(FEATURES[0]);
    let code = [code, &[0xbe00]].concat();
    twins.prepare(&mut Random(1 << 40), &code, 0);
    let data = [0x9c35_a2b1_u32, 0x17e0_4c05];
    for (engine, data) in [&mut twins.followed, &mut twins.other]
        .into_iter()
        .zip(data)
    {
        assert!(engine.write(DATA, &data.to_le_bytes()));
        (engine.core.r[1], engine.core.r[3]) = (DATA, table);
    }
    let taint = twins.followed.taint_mut().unwrap();
    taint.mark_memory(DATA..DATA + 4, true);
    prepare(&mut twins);
    let stops = [&mut twins.followed, &mut twins.other].map(|it| it.run(20));
    let taint = twins.taint();
    let found: Vec<Decision> = taint.decisions().values().copied().collect();
    if found.is_empty() {
        assert_eq!(stops, [Stop::Breakpoint(0), Stop::Breakpoint(0)]);
        assert!(taint.depends(2));
        twins.agree().unwrap();
    }
    found
}

#[test]
fn a_constant_table_decides_nothing() {
    let end = CODE + RAM_BYTES;
    // What is executed, and from where to where the table may begin.
    let programs: [(&[&[u16]], u32, u32); 8] = [
        (&[&BYTE, &[TABLE_BYTE]], CODE, end - 0x100),
        (&[&SIGNED_BYTE, &[TABLE_BYTE]], CODE + 0x80, end - 0x80),
        (&[&WORD, &[UXTB, TABLE_BYTE]], CODE, end - 0x100),
        (&[&WORD, &[HIGHEST_BYTE, TABLE_BYTE]], CODE, end - 0x100),
        (
            &[&WORD, &[HIGHEST_BITS, TABLE_BYTE]],
            CODE + 0x40,
            end - 0x40,
        ),
        (&[&WORD, &MASKED, &[TABLE_BYTE]], CODE, end - 0x80),
        (&[&BYTE, &[TWICE, TABLE_HALF]], CODE, end - 0x200),
        (&[&BYTE, &[FOUR_TIMES, TABLE_WORD]], CODE, end - 0x400),
    ];
    let mut seen = 0;
    for (code, first, last) in programs {
        let code = code.concat();
        let found = |table| decisions(&code, table, |_| ());
        for table in [first, CODE + 0x400, last] {
            assert_eq!(found(table), [], "{code:x?}, {table:#x}");
            seen += 1;
        }
        // Further on, it may reach memory that is none.
        assert_eq!(found(last + 4), [Decision::Address], "{code:x?}");
    }
    assert_eq!(seen, 24);
}

#[test]
fn any_other_table_does() {
    let address = [Decision::Address];
    let by_byte = [BYTE[0], TABLE_BYTE];
    let table = CODE + 0x400;
    let found = |code: &[u16]| decisions(code, table, |_| ());
    // Indexed by a word, at no multiple of the size, in a row by a store.
    assert_eq!(found(&[WORD[0], TABLE_BYTE]), address);
    assert_eq!(found(&[BYTE[0], TABLE_HALF]), address);
    assert_eq!(found(&[BYTE[0], TWICE, TABLE_WORD]), address);
    // In memory that others ask about, and in the program's own, to its last byte.
    assert_eq!(decisions(&by_byte, RAM, |_| ()), address);
    let owns = |bytes: u32| {
        move |twins: &mut Twins| {
            let taint = twins.followed.taint_mut().unwrap();
            taint.set_own_memory(RAM..RAM + bytes);
        }
    };
    assert_eq!(decisions(&by_byte, RAM, owns(0x100)), []);
    assert_eq!(decisions(&by_byte, RAM, owns(0xff)), address);
    let stored = [BYTE[0], STORE_BYTE];
    assert_eq!(decisions(&stored, RAM, owns(0x100)), address);
    // A byte of it depends.
    let marked = |twins: &mut Twins| {
        let taint = twins.followed.taint_mut().unwrap();
        taint.mark_memory(table + 0xff..table + 0x100, true);
    };
    assert_eq!(decisions(&by_byte, table, marked), address);
}
