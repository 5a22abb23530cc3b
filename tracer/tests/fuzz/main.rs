//! Every reader on files that are nearly right: a bounded run of the fuzz targets of
//! `fuzz/`, on stable Rust and without libFuzzer.
//!
//! First all seeds, then inputs made of them, for so many seconds a target as
//! `DMO_TRACE_FUZZ_SECONDS` says (2 by default). Input number n is always the same, so that a
//! finding comes again. What is found is saved; it belongs into `fuzz/seeds/` once mended.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

mod allocations;
mod commands;
mod mutation;
#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use libtest_mimic::{Arguments, Failed, Trial};
use mutation::Mutator;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use targets::{TARGETS, Target};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// An input may not take longer, on however slow a machine.
const MOST_TIME: Duration = Duration::from_secs(20);

/// Files that are seeds too, next to those in the target's own folder.
const OTHER_SEEDS: &[(&str, &[&str])] = &[
    (
        "image",
        &[
            "traces/elf/cortex-m4/relu.elf",
            "traces/elf/cortex-m7/it_block.elf",
            "traces/elf/cortex-m3/reshape.elf",
        ],
    ),
    ("grid", &["traces/overlaps/cpus.toml"]),
];

fn main() {
    let arguments = Arguments::from_args();
    let targets = TARGETS.iter().map(|target| {
        let target = *target;
        Trial::test(target.name, move || fuzz(target))
    });
    let commands = commands::COMMANDS
        .iter()
        .map(|command| Trial::test(command.name, move || commands::fuzz(command)));
    libtest_mimic::run(&arguments, targets.chain(commands).collect()).exit();
}

/// The time for each target.
fn budget() -> Duration {
    let given = std::env::var("DMO_TRACE_FUZZ_SECONDS").ok();
    let seconds = given.map_or(2.0, |text| text.parse().expect("a number of seconds"));
    Duration::from_secs_f64(seconds)
}

/// The contents of a target's seeds.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let files = |folder: &str| -> Vec<PathBuf> {
        std::fs::read_dir(Path::new(ROOT).join(folder).join(name))
            .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default()
    };
    // Where libFuzzer has run, what it keeps are seeds too.
    let mut paths = [files("fuzz/seeds"), files("fuzz/corpus")].concat();
    paths.sort();
    let others = OTHER_SEEDS.iter().filter(|(target, _)| *target == name);
    let others = others.flat_map(|(_, paths)| *paths);
    paths.extend(others.map(|path| Path::new(ROOT).join(path)));
    assert!(!paths.is_empty(), "no seeds for {name}");
    let read = |path: &PathBuf| {
        std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// Saves what was found, and says where.
fn save(name: &str, input: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("found-{name}"));
    std::fs::write(&path, input).unwrap();
    path.display().to_string()
}

/// Runs the target on all seeds and then on what is made of them, on a thread that can be
/// left behind when it hangs.
fn fuzz(target: Target) -> Result<(), Failed> {
    let seeds = seeds(target.name);
    let budget = budget();
    let current = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&current);
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        // What a target makes once and keeps is not charged to an input.
        (target.run)(b"");
        let begin = Instant::now();
        let mut inputs = Mutator::new(target.name, seeds);
        let mut share = 0;
        for number in 0_u64.. {
            if inputs.made() && begin.elapsed() > budget {
                println!(
                    "{}: {number} inputs, at most {share} % of the memory that is allowed",
                    target.name
                );
                return;
            }
            let input = inputs.next();
            shown.lock().unwrap().clone_from(input);
            let checked = check(target, input);
            share = share.max(*checked.as_ref().unwrap_or(&0));
            if sender.send(checked.map(drop)).is_err() {
                return;
            }
        }
    });
    loop {
        let what = match receiver.recv_timeout(MOST_TIME) {
            Ok(Ok(())) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Err(what)) => what,
            Err(RecvTimeoutError::Timeout) => format!("it takes more than {MOST_TIME:?}"),
        };
        let input = current.lock().unwrap();
        return Err(format!("{what}; input: {}", save(target.name, &input)).into());
    }
}

/// Gives what percentage of the allowed memory the input took.
fn check(target: Target, input: &[u8]) -> Result<usize, String> {
    let (result, bytes) =
        allocations::most_at_once(|| catch_unwind(AssertUnwindSafe(|| (target.run)(input))));
    result.map_err(|_| "a panic".to_owned())?;
    let limit = (target.most_bytes)(input);
    if bytes > limit {
        Err(format!(
            "{bytes} bytes of memory for {} of input, the limit is {limit}",
            input.len()
        ))
    } else {
        Ok(100 * bytes / limit)
    }
}
