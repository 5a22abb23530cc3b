//! What is said of findings, in tables, and to terminals.

use dmo_analysis::graph::Graph;
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::replay::{BufferId, Finding, FindingKind};
use dmo_analysis::trace::Address;
use dmo_trace::words::finding::{Instruction, Instructions, describe};
use dmo_trace::words::printable::Printable;
use dmo_trace::words::table;

/// A store outside every buffer by the only operator of a model.
#[test]
fn a_stray_store_is_called_a_store() {
    let access = Access {
        time: 5,
        pc: Address(0x1234),
        offset: 7,
        size_bytes: 1,
    };
    let finding = Finding {
        kind: FindingKind::StrayStore,
        subject: BufferId {
            occupant: None,
            layer_tensor: Some(2),
        },
        bytes: 7..8,
        arena_bytes: None,
        element: None,
        count: 1,
        access: Some(access),
        writer: None,
        displacement: None,
        needed_displacement: None,
    };
    let instructions = Instructions {
        access: Some(Instruction {
            pc: access.pc,
            time: None,
            location: None,
        }),
        ..Instructions::default()
    };
    let place = "inference 1, operator 0 RELU";
    assert_eq!(
        describe(place, &Graph::default(), &finding, instructions),
        "inference 1, operator 0 RELU: byte 7 of memory outside the arena is stored to\n  store \
         0x00001234"
    );
}

#[test]
fn orders_to_a_terminal_are_taken_away_and_text_stays() {
    let text = "1\t\u{b5}s \u{e9}\r\n".as_bytes();
    assert_eq!(Printable::default().for_terminal(true, text), text);
    let mut filter = Printable::default();
    let mut printed = |bytes: &[u8]| filter.for_terminal(true, bytes).into_owned();
    assert_eq!(printed(b"\x1b[2J\x07\x00\x7f"), b"?[2J???");
    // The single character that begins an order, in two pieces.
    assert_eq!(printed(b"\xc2"), b"\xc2");
    assert_eq!(printed(b"\x9b2J"), b"?2J");
    assert_eq!(
        Printable::default().for_terminal(false, b"\x1b"),
        &b"\x1b"[..]
    );
}

#[test]
fn numbers_end_where_the_header_ends() {
    let rows = [["a", "1"], ["long", "1,024"]].map(|row| row.map(str::to_owned));
    let text = table(["name", "bytes"], [1], rows);
    assert!(text.contains("| a    |     1 |"), "{text}");
}
