//! The papers' tables: what reproduces, and what comes out where it does not.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_papers::reading::READINGS;
use dmo_papers::tables::{COMPARISONS, Comparison, Line};
use dmo_planner::plan::STRATEGIES;
use std::fmt::Write;
use std::sync::OnceLock;
use std::time::Duration;

/// Searches end by themselves much earlier, but for two networks.
const TIME: Duration = Duration::from_secs(1);

/// Of all tables, computed once.
fn tables() -> &'static [(&'static Comparison, Vec<Line>)] {
    static TABLES: OnceLock<Vec<(&Comparison, Vec<Line>)>> = OnceLock::new();
    let lines = |table: &'static Comparison| table.lines(TIME, &mut |_| {}).unwrap();
    TABLES.get_or_init(|| {
        let tables = COMPARISONS.iter();
        tables.map(|table| (table, lines(table))).collect()
    })
}

fn lines(name: &str) -> &'static [Line] {
    let mut tables = tables().iter();
    &tables.find(|(table, _)| table.name == name).unwrap().1
}

fn find<'a>(lines: &'a [Line], row: &str, quantity: &str) -> &'a Line {
    let mut lines = lines.iter();
    lines
        .find(|line| line.row == row && line.quantity == quantity)
        .unwrap()
}

/// The lines that are not what is printed. All others round to the printed figure.
fn differences(table: &Comparison, lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|line| line.agrees == Some(false)) {
        // What a search finds is tested below.
        if !line.quantity.contains("best plan") {
            let printed = line.published.as_deref().unwrap();
            writeln!(
                text,
                "{}; {}; {}; {printed}; {}; {}",
                table.name, line.row, line.quantity, line.bytes, line.remark
            )
            .unwrap();
        }
    }
    text
}

/// `UPDATE_EXPECTED=1` writes what is found over what is expected.
#[test]
fn what_differs_is_what_is_expected_to_differ() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables/differences.txt");
    let mut found = String::new();
    for table in COMPARISONS {
        // Enough for all but the search for plans, which is tested below.
        let lines = table
            .lines(Duration::from_millis(500), &mut |_| {})
            .unwrap();
        found += &differences(table, &lines);
    }
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "UPDATE_EXPECTED=1 accepts it");
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// Table III: at most what an independent prototype needed, in KB, and without overlap the
/// bound.
#[test]
fn best_plans_of_table_3() {
    let lines = lines("dmo-3");
    for (row, without, with) in [
        ("MobileNet v1 1.0 224", 4704.0, 3136.13),
        ("MobileNet v1 1.0 224 (8 bit)", 1176.0, 784.04),
        ("MobileNet v1 0.25 224", 1176.0, 784.03),
        ("MobileNet v1 0.25 128 (8 bit)", 96.0, 64.008),
        ("MobileNet v2 0.35 224", 2940.0, 2352.03),
        ("MobileNet v2 1.0 224", 5880.0, 4704.06),
        ("Inception v4", 8732.9, 7561.5),
        ("Inception ResNet v2", 8103.4, 5476.25),
        ("Nasnet Mobile", 3984.0, 3984.0),
        ("DenseNet 121", 8232.0, 6272.0),
        ("ResNet 50 v2", 9408.0, 6272.25),
    ] {
        for (quantity, most) in [("original", without), ("optimised", with)] {
            let best = find(lines, row, &format!("{quantity}: best plan"));
            let kibibytes = best.bytes as f64 / 1024.0;
            assert!(kibibytes <= most, "{row}, {quantity}: {kibibytes}");
            let printed: f64 = best.published.as_deref().unwrap().parse().unwrap();
            assert!(kibibytes <= printed + 0.5, "{row}: {kibibytes}");
        }
    }
}

/// The figures of Table III that are a heap's, in one of its ways.
#[test]
fn heaps_of_table_3() {
    let lines = lines("dmo-3");
    for (row, quantity, way) in [
        (
            "Inception v4",
            "original: heap",
            "10879 is forwards, eager, without graph inputs and outputs",
        ),
        (
            "Inception ResNet v2",
            "original: heap",
            "as printed, truncated",
        ),
        (
            "Inception ResNet v2",
            "optimised: heap, published O_s",
            "as printed, truncated",
        ),
        (
            "ResNet 50 v2",
            "original: heap",
            "10976 is backwards, eager",
        ),
    ] {
        let line = find(lines, row, quantity);
        assert!(line.remark.ends_with(way), "{row}: {}", line.remark);
    }
    for (row, quantity) in [
        ("DenseNet 121", "original: heap"),
        ("MobileNet v1 0.25 224", "original: heap"),
        ("MobileNet v1 0.25 128 (8 bit)", "original: heap"),
        ("MobileNet v2 0.35 224", "optimised: heap, exact O_s"),
        ("MobileNet v2 1.0 224", "optimised: heap, exact O_s"),
    ] {
        assert_eq!(find(lines, row, quantity).agrees, Some(true), "{row}");
    }
}

/// No figure of ours is below its bound, and the exact plan is the bound where one is reached.
#[test]
fn exact_plans_of_offsets() {
    let lines = lines("pisarchyk-lee-2");
    for exact in lines.iter().filter(|line| line.quantity == "Exact") {
        let row = lines.iter().filter(|line| line.row == exact.row);
        assert!(
            row.clone()
                .all(|line| line.quantity == "Lower Bound" || line.bytes >= exact.bytes)
        );
        let bound = find(lines, exact.row, "Lower Bound").bytes;
        assert_eq!(exact.bytes, bound, "{}", exact.row);
    }
}

/// Each reading is of a planner that exists, and is not that planner.
#[test]
fn readings_are_of_planners() {
    for reading in READINGS {
        assert!(
            STRATEGIES
                .iter()
                .any(|strategy| strategy.name == reading.strategy)
        );
    }
}
