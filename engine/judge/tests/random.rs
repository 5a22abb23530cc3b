//! Random instructions in random states: our engine and Unicorn must agree on each.
//!
//! `DMO_ENGINE_CASES` is how many cases there are of each row of the instruction set on each core,
//! and as many sequences; `DMO_ENGINE_SEED` makes others.

use dmo_engine::decode::rows;
use dmo_engine_judge::case::Kind;
use dmo_engine_judge::cpu::{self, CPUS, Cpu};
use dmo_engine_judge::random::Random;
use dmo_engine_judge::trial::{Tally, Trial};

/// Of each row on each core.
const CASES: u64 = 40;
/// Reports of a failure.
const REPORTS: usize = 20;

/// What never leaves a state that can be compared: calls, hints, what is undefined.
const NEVER_THE_SAME: [&str; 0] = [];

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().unwrap())
}

/// What came of a core.
struct Outcome {
    singles: Tally,
    sequences: Tally,
    anything: Tally,
    /// Rows of which no case left a state on both.
    never_the_same: Vec<String>,
}

fn judge(cpu: Cpu, cases: usize, seed: u64) -> Outcome {
    let rows = rows();
    let mut seeds = Random::new(seed);
    let mut trial = Trial::new(cpu).unwrap();
    let mut singles = Tally::default();
    let mut never_the_same = Vec::new();
    for row in rows {
        let tally = trial
            .judge_many(Kind::Single(row), row.name(), cases, seeds.bits())
            .unwrap();
        if tally.same == 0 && tally.both_lack < tally.judged() {
            never_the_same.push(row.name().to_owned());
        }
        singles.add(tally);
    }
    let mut many = |kind, name| {
        let count = cases * rows.len();
        trial.judge_many(kind, name, count, seeds.bits()).unwrap()
    };
    Outcome {
        singles,
        sequences: many(Kind::Sequence(rows), "a sequence"),
        anything: many(Kind::Anything, "anything"),
        never_the_same,
    }
}

#[test]
fn unicorn_agrees() {
    let cases = setting("DMO_ENGINE_CASES", CASES) as usize;
    let seed = setting("DMO_ENGINE_SEED", 1);
    let outcomes: Vec<(Cpu, Outcome)> = std::thread::scope(|scope| {
        let threads: Vec<_> = CPUS
            .iter()
            .map(|&cpu| scope.spawn(move || (cpu, judge(cpu, cases, seed))))
            .collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().unwrap());
        outcomes.collect()
    });
    let mut total = Tally::default();
    for (cpu, outcome) in outcomes {
        let Outcome {
            singles,
            sequences,
            anything,
            never_the_same,
        } = outcome;
        let mut never = never_the_same;
        never.sort();
        never.dedup();
        println!("{}: never the same {never:?}", cpu.name);
        for (name, tally) in [
            ("single", singles),
            ("sequence", sequences),
            ("anything", anything),
        ] {
            println!("{} {name}: {}", cpu.name, tally.summary());
            total.add(tally);
        }
    }
    let mut by_name = std::collections::BTreeMap::<String, usize>::new();
    for d in &total.differences {
        *by_name
            .entry(d.split(" on Cortex").next().unwrap().to_owned())
            .or_default() += 1;
    }
    println!("BYNAME {by_name:#?}");
    std::fs::write("/tmp/w/judge.diffs", total.differences.join("\n")).unwrap();
    let reports: Vec<&str> = total
        .differences
        .iter()
        .take(REPORTS)
        .map(String::as_str)
        .collect();
    println!("{}", reports.join("\n"));
    assert!(reports.is_empty(), "{} differ", total.differences.len());
}
