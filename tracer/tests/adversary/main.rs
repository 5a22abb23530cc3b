//! An adversary: random models of all operators, types, shapes and options are planned, emitted
//! and run in TensorFlow Lite Micro, several times; so are mutants of each plan. What the tool
//! calls SAFE must compute what the model computes without a plan, bit for bit.
//!
//! In a test run it is bounded, with fixed seeds; docs/verification.md says what it holds. As long as
//! one likes:
//!
//! ```text
//! cargo test --release -p dmo-trace --test adversary -- campaign --seed 1 --models 20000
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `draft.rs` | a model under construction, and its file |
//! | `operators.rs` | random operators |
//! | `generate.rs` | random models |
//! | `mutants.rs` | other offsets for a plan |
//! | `judge.rs`, `judge.py` | TensorFlow Lite Micro |
//! | `trial.rs` | one model, its plans and their mutants |
//! | `emulated.rs` | plans that only emulated kernels can run |
//! | `built.rs` | models as C libraries |
//! | `native.rs` | such libraries, compiled for this machine |
//! | `tally.rs` | what came out |

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panic, with the seed"
)]

mod built;
mod draft;
mod emulated;
mod generate;
mod judge;
mod mutants;
mod native;
mod operators;
mod tally;
#[path = "../support/tools.rs"]
#[allow(dead_code, reason = "each test program uses its part of it")]
mod tools;
#[path = "../../../analysis/tests/tflite/tree.rs"]
#[allow(dead_code, reason = "it writes more than such models have")]
mod tree;
mod trial;

use built::Builder;
use clap::Parser;
use dmo_trace::study::kernel_request::KernelRequest;
use judge::{Judge, PACKAGE};
use libtest_mimic::Failed;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tally::Tally;

/// Runs random models and mutated plans in TensorFlow Lite Micro.
#[derive(Parser)]
struct Campaign {
    /// Seed of the first model; each further one has the next
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of models
    #[arg(long, default_value_t = 20_000)]
    models: u64,
    /// Mutants of each plan, of which a model has two
    #[arg(long, default_value_t = 6)]
    mutants: usize,
    /// Verify one in this many models on emulated kernels too, with operators left out or in place
    #[arg(long, default_value_t = 4)]
    verify: u64,
    /// Build one in this many models as a C library, and run it; 0: none
    #[arg(long, default_value_t = 4)]
    build: u64,
    /// Build only: no plans, no mutants
    #[arg(long)]
    only_build: bool,
    /// Write the files of what does not agree into this folder
    #[arg(long)]
    save: Option<PathBuf>,
}

/// What a test run tries.
const BOUNDED: Campaign = Campaign {
    seed: 1,
    models: 300,
    mutants: 6,
    verify: 4,
    build: 8,
    only_build: false,
    save: None,
};

/// Seeds of models whose libraries were wrong once: their own test failed where the C library rounds
/// `expf` in another way (2), a float out of range was converted (1038), nothing was called (1746), `ARG_MIN`
/// passed NaN over (40412), a ratio of scales was of single precision (40993).
const ONCE_WRONG: [u64; 5] = [2, 1038, 1746, 40_412, 40_993];

/// How often a campaign says how far it is.
const PROGRESS: Duration = Duration::from_secs(60);

fn main() {
    let installed = tools::python_package(PACKAGE);
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.peek().is_some_and(|first| first == "campaign") {
        if let Err(missing) = &installed {
            eprintln!("{missing}");
            std::process::exit(2);
        }
        let campaign = Campaign::parse_from(arguments);
        let tally = campaign.run();
        print!("{tally}");
        std::process::exit(i32::from(!tally.disagreements.is_empty()));
    }
    let trials = vec![tools::trial("no disagreement", &installed, bounded)];
    tools::main(&installed, trials);
}

impl Campaign {
    fn run(&self) -> Tally {
        let mut tally = Tally {
            folder: self.save.clone(),
            ..Tally::default()
        };
        let mut judge = Judge::start();
        let kernels = KernelRequest::default().load().unwrap();
        let mut builder = Builder::new();
        let mut last = Instant::now();
        for seed in self.seed..self.seed + self.models {
            if !self.only_build {
                trial::attempt(seed, self.mutants, &mut judge, &mut tally);
                if seed.is_multiple_of(self.verify.max(1)) {
                    emulated::attempt(seed, &generate::model(seed).file, &kernels, &mut tally);
                }
            }
            if self.build > 0 && seed.is_multiple_of(self.build) {
                builder.attempt(seed, &mut judge, &mut tally);
            }
            if last.elapsed() >= PROGRESS {
                last = Instant::now();
                eprintln!(
                    "seed {seed}: {} models, {} mutants, {} libraries, {} disagreements",
                    tally.models,
                    tally.mutants(),
                    tally.built,
                    tally.disagreements.len()
                );
            }
        }
        tally
    }
}

/// Nothing disagrees, and enough was tried for that to mean something.
fn bounded() -> Result<(), Failed> {
    let mut tally = BOUNDED.run();
    let (mut builder, mut judge) = (Builder::new(), Judge::start());
    for seed in ONCE_WRONG {
        builder.attempt(seed, &mut judge, &mut tally);
    }
    println!("{tally}");
    if let Some(first) = tally.disagreements.first() {
        return Err(first.clone().into());
    }
    let tried = [
        ("models", tally.models, BOUNDED.models * 9 / 10),
        ("kinds of operators", tally.kinds.len() as u64, 80),
        ("plans", tally.plans, BOUNDED.models * 17 / 10),
        ("plans verified", tally.verified, BOUNDED.models / 60),
        ("libraries", tally.built, 30),
        (
            "kinds of operators in libraries",
            tally.built_kinds.len() as u64,
            25,
        ),
        ("options", tally.options.len() as u64, 11),
        (
            "overlaps called SAFE",
            tally.safe_overlapping,
            BOUNDED.models * 2,
        ),
        (
            "mutants called UNSAFE",
            tally.unsafe_mutants,
            BOUNDED.models * 4,
        ),
        (
            "differences seen",
            tally.unsafe_seen,
            tally.unsafe_mutants * 2 / 3,
        ),
    ];
    match tried.iter().find(|(_, found, least)| found < least) {
        Some((what, found, least)) => Err(format!("{found} {what}, expected {least}").into()),
        None => Ok(()),
    }
}
