//! MiniMalloc's table: written and read again, and plans of buffers with gaps against the bytes that
//! are in use at each step.

use dmo_planner::minimalloc::{Gap, Table, table_with_gaps};
use dmo_planner::plan::Plan;
use dmo_planner::problem::{Buffer, Problem};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::ops::Range;

const STEPS: u32 = 8;

/// A buffer, its gaps, and an offset that is a multiple of its alignment.
fn row() -> impl Strategy<Value = (Buffer, Vec<Gap>, u64)> {
    let bounds = prop::collection::btree_set(0..=STEPS, 2..=6);
    let windows = prop::collection::vec(prop::option::of((0..6_u64, 1..6_u64)), 2);
    let alignment = prop::sample::select(vec![1_u64, 1, 2, 4]);
    (bounds, windows, 6..12_u64, alignment, 0..12_u64).prop_map(
        |(bounds, windows, size_bytes, alignment, multiple)| {
            let bounds: Vec<u32> = bounds.into_iter().collect();
            let inner = &bounds[1..bounds.len() - 1];
            let gaps = inner.chunks_exact(2).zip(windows);
            let gaps = gaps.map(|(steps, window)| Gap {
                steps: steps[0]..steps[1],
                window: window.map(|(low, bytes)| low..(low + bytes).min(size_bytes)),
            });
            let buffer = Buffer {
                name: "b".to_owned(),
                size_bytes,
                alive: bounds[0]..bounds[bounds.len() - 1],
                alignment,
                fixed_offset: None,
            };
            (buffer, gaps.collect(), multiple * alignment)
        },
    )
}

fn table() -> impl Strategy<Value = Table> {
    prop::collection::vec(row(), 2..4).prop_map(|rows| {
        let mut table = Table {
            problem: Problem::new(Vec::new(), &[]).unwrap(),
            gaps: Vec::new(),
            offsets: Some(Vec::new()),
        };
        let mut buffers = Vec::new();
        for (index, (mut buffer, gaps, offset)) in rows.into_iter().enumerate() {
            buffer.name = format!("b{index}");
            buffers.push(buffer);
            table.gaps.push(gaps);
            table.offsets.as_mut().unwrap().push(offset);
        }
        table.problem = Problem::new(buffers, &[]).unwrap();
        table
    })
}

/// What a buffer has in use at a step, from its start.
fn in_use(buffer: &Buffer, gaps: &[Gap], step: u32) -> Range<u64> {
    if !buffer.alive.contains(&step) {
        return 0..0;
    }
    match gaps.iter().find(|gap| gap.steps.contains(&step)) {
        Some(gap) => gap.window.clone().unwrap_or(0..0),
        None => 0..buffer.size_bytes,
    }
}

/// Whether no byte is in use by two at any step.
fn is_free_of_clashes(table: &Table, plan: &Plan) -> bool {
    (0..STEPS).all(|step| {
        let mut owners: BTreeMap<u64, usize> = BTreeMap::new();
        let buffers = table.problem.buffers().iter().zip(&table.gaps);
        let mut buffers = buffers.zip(&plan.offsets).enumerate();
        buffers.all(|(index, ((buffer, gaps), offset))| {
            let mut bytes = in_use(buffer, gaps, step);
            bytes.all(|byte| *owners.entry(offset + byte).or_insert(index) == index)
        })
    })
}

#[test]
fn tables_are_read_as_written_and_checked_byte_by_byte() {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 5000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let seen = std::cell::Cell::new([0; 2]);
    let checked = runner.run(&table(), |table| {
        let plan = Plan {
            offsets: table.offsets.clone().unwrap(),
        };
        let text = table_with_gaps(&table.problem, &table.gaps, Some(&plan)).unwrap();
        prop_assert_eq!(&Table::parse(&text).unwrap(), &table);
        let holds = is_free_of_clashes(&table, &plan);
        prop_assert_eq!(table.check(&plan).unwrap().is_empty(), holds, "{}", text);
        // A plan that keeps whole lives apart is one with gaps as well.
        let is_strict = plan.check(&table.problem).is_empty();
        prop_assert!(holds || !is_strict);
        if holds {
            let bound = table.pieces().unwrap().lower_bound();
            prop_assert!(plan.arena_bytes(&table.problem) >= bound);
        }
        let [clashing, only_with_gaps] = seen.get();
        seen.set([
            clashing + u32::from(!holds),
            only_with_gaps + u32::from(holds && !is_strict),
        ]);
        Ok(())
    });
    checked.unwrap();
    assert!(seen.get().iter().all(|&count| count > 30), "{seen:?}");
}

#[test]
fn older_names_of_columns() {
    let now = "id,lower,upper,size,gaps\na,0,4,8,1-3@0:2\nb,2,5,8,\n";
    let now = Table::parse(now).unwrap();
    for header in ["buffer,start,end", "buffer_id,begin,end"] {
        let older = format!("{header},size,gaps,hint\na,0,3,8,1-2@0:2,-1\nb,2,4,8,,7\n");
        assert_eq!(Table::parse(&older).unwrap(), now, "{header}");
    }
}

#[test]
fn what_is_wrong_with_a_gap_is_said() {
    let cases = [
        ("1", "is expected"),
        ("1-2@3", "is expected"),
        ("1-2@3:18446744073709551616", "is expected"),
        ("2-2", "no step"),
        ("1-9", "buffer's life"),
        ("1-3 2-4", "after the gap"),
        ("1-2@4:4", "at least one"),
        ("1-2@0:9", "bytes of its buffer"),
    ];
    for (gaps, expected) in cases {
        let text = format!("id,lower,upper,size,gaps\na,0,5,8,{gaps}\n");
        let error = Table::parse(&text).unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains(expected),
            "{error}"
        );
    }
    for (text, expected) in [
        ("id,buffer,lower,upper,size\n", "twice"),
        ("id,lower,upper,size,colour\n", "\"colour\" is not known"),
        (
            "id,lower,end,size\na,0,4294967295,1\n",
            "from 0 to 4294967294",
        ),
    ] {
        let error = Table::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// MiniMalloc splits lines at commas, whatever quotes there are.
#[test]
fn names_are_written_without_what_separates() {
    let buffer = Buffer {
        name: "a,\"b\"\n".to_owned(),
        size_bytes: 1,
        alive: 0..1,
        alignment: 1,
        fixed_offset: None,
    };
    let problem = Problem::new(vec![buffer], &[]).unwrap();
    let text = dmo_planner::minimalloc::table(&problem, None).unwrap();
    assert_eq!(text, "id,lower,upper,size\na__b_,0,1,1\n");
}
