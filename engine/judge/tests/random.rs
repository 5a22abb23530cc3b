//! Random instructions in random states: our interpreter and Unicorn must agree on each, and our
//! translator with our interpreter.
//!
//! `DMO_ENGINE_CASES` is how many cases there are of each row of the instruction set on each core,
//! and as many sequences; `DMO_ENGINE_SEED` makes others.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_engine::decode::rows;
use dmo_engine_judge::case::Kind;
use dmo_engine_judge::cpu::{CPUS, Cpu};
use dmo_engine_judge::random::Random;
use dmo_engine_judge::trial::{Tally, Trial};
use std::collections::BTreeSet;

/// Of each row on each core.
const CASES: u64 = 40;
/// The translator is judged on one in this many: translating takes longer than all else.
const TRANSLATE_ONE_IN: u64 = 6;
/// Reports of a failure.
const REPORTS: usize = 20;

/// What never leaves the same: UDF, which neither executes, and hints, after which Unicorn's program
/// counter is another (all else is compared).
const NEVER_THE_SAME: [&str; 5] = ["SEV", "UDF", "WFE", "WFI", "YIELD"];

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().unwrap())
}

/// What came of a core.
struct Outcome {
    singles: Tally,
    sequences: Tally,
    anything: Tally,
    /// Rows that the core has and of which no case left a state on both.
    never_the_same: BTreeSet<&'static str>,
}

fn judge(cpu: Cpu) -> Outcome {
    let cases = setting("DMO_ENGINE_CASES", CASES) as usize;
    let one_in = setting("DMO_ENGINE_TRANSLATE_ONE_IN", TRANSLATE_ONE_IN) as usize;
    let mut seeds = Random::new(setting("DMO_ENGINE_SEED", 1));
    let rows = rows();
    let mut trial = Trial::new(cpu).unwrap();
    let mut many = |kind, name: &str, cases| {
        trial
            .judge_many(kind, name, cases, one_in, seeds.bits())
            .unwrap()
    };
    let mut singles = Tally::default();
    let mut never_the_same = BTreeSet::new();
    for row in rows {
        let tally = many(Kind::Single(row), row.name(), cases);
        if tally.same == 0 && cpu.features.meet(row.needs()) {
            never_the_same.insert(row.name());
        }
        singles.add(tally);
    }
    Outcome {
        singles,
        sequences: many(Kind::Sequence(rows), "a sequence", cases * rows.len()),
        anything: many(Kind::Anything, "anything", cases * rows.len()),
        never_the_same,
    }
}

#[test]
fn unicorn_agrees() {
    let outcomes: Vec<(Cpu, Outcome)> = std::thread::scope(|scope| {
        let threads: Vec<_> = CPUS
            .iter()
            .map(|&cpu| scope.spawn(move || (cpu, judge(cpu))))
            .collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().unwrap());
        outcomes.collect()
    });
    let mut total = Tally::default();
    for (cpu, outcome) in outcomes {
        let known = BTreeSet::from(NEVER_THE_SAME);
        let never: Vec<_> = outcome.never_the_same.difference(&known).collect();
        assert!(never.is_empty(), "{}: never the same: {never:?}", cpu.name);
        for (name, tally) in [
            ("single", outcome.singles),
            ("sequence", outcome.sequences),
            ("anything", outcome.anything),
        ] {
            println!("{} {name}: {}", cpu.name, tally.summary());
            total.add(tally);
        }
    }
    println!("total: {}", total.summary());
    assert!(total.translated_instructions * 10 >= total.instructions * 8);
    assert!(total.same * 2 >= total.judged(), "few are the same");
    let reports = &total.differences[..total.differences.len().min(REPORTS)];
    println!("{}", reports.join("\n"));
    assert!(reports.is_empty(), "{} differ", total.differences.len());
}
