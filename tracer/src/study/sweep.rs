//! A grid of operators, shapes, kernels and CPUs over all cores: one row for each pair of an input
//! and an output.

mod grid;

pub use grid::{Entry, Grid};

use super::compare::{LIMITS, Pair, compare};
use super::error::{About, StudyError};
use crate::mcu::machine::Limits;
use crate::measure::{Measurement, measure_following_data, measure_kernel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// What is known of one pair of a case on a set of kernels.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Row {
    /// The case, as arguments of `dmo-trace overlap`.
    pub case: String,
    /// The set of kernels, empty where only the formulas are evaluated, as the next two.
    pub kernels: String,
    /// The CPU.
    pub cpu: String,
    /// The function that was run.
    pub kernel: String,
    /// Input and output counted from 1.
    #[serde(flatten)]
    pub pair: Pair,
    /// Executed instructions; `None` if no kernel was run.
    pub instructions: Option<u64>,
    /// What is wrong, empty if nothing is.
    pub finding: String,
}

/// How the cases of a grid are measured.
#[derive(Debug, Clone, Copy)]
pub struct SweepRequest {
    /// On how many different inputs each kernel runs.
    pub inputs: u64,
    /// What a case may take: the operator's loops, or one run of a kernel.
    pub timeout: Duration,
    /// What data decide in each kernel is found, which takes longer: what is granted then holds on every
    /// input.
    pub every_input: bool,
    /// On how many threads; `None`: as many as the machine has cores.
    pub threads: Option<NonZeroUsize>,
}

impl Default for SweepRequest {
    fn default() -> Self {
        Self {
            inputs: super::compare::INPUTS,
            timeout: LIMITS.timeout,
            every_input: false,
            threads: None,
        }
    }
}

/// Every `shards`-th entry of a grid, from number `shard` on, which counts from 1.
pub fn shard(grid: &Grid, shard: usize, shards: usize) -> Vec<&Entry> {
    let entries = grid.entries.iter().skip(shard.saturating_sub(1));
    entries.step_by(shards.max(1)).collect()
}

/// Measures the entries on several threads, and hands over the rows of each in their order.
///
/// # Errors
/// When a case cannot be measured in time, or its rows are not taken.
pub fn sweep<E: From<StudyError> + Send>(
    entries: &[&Entry],
    request: SweepRequest,
    take: impl FnMut(Vec<Row>) -> Result<(), E>,
) -> Result<(), E> {
    on_threads(
        request.threads,
        entries,
        |entry| Ok(rows(entry, request)?),
        take,
    )
}

fn rows(entry: &Entry, request: SweepRequest) -> Result<Vec<Row>, StudyError> {
    let SweepRequest {
        inputs, timeout, ..
    } = request;
    let measured = entry.kernel.as_ref().map(|(library, kernel)| {
        let limits = Limits { timeout, ..LIMITS };
        let measure = if request.every_input {
            measure_following_data
        } else {
            measure_kernel
        };
        measure(&library.library, &entry.case, kernel, inputs, limits)
    });
    let (measured, failure) = match measured {
        Some(Ok(measured)) => (Some(measured), None),
        // The first line is enough for a row.
        Some(Err(error)) => (None, error.to_string().lines().next().map(str::to_owned)),
        None => (None, None),
    };
    let decisions = measured.as_ref().and_then(|it| it.decisions.as_ref());
    let decided = decisions.and_then(|it| Some(it.first()?.clause()));
    let compared = compare(&entry.case.operator, measured.as_ref(), timeout).about(&entry.line)?;
    Ok(compared
        .into_iter()
        .map(|compared| Row {
            case: entry.line.clone(),
            kernels: entry.kernels().to_owned(),
            cpu: entry.cpu().to_owned(),
            kernel: measured.as_ref().map_or("", function).to_owned(),
            pair: Pair {
                input: compared.pair.input + 1,
                output: compared.pair.output + 1,
                ..compared.pair
            },
            instructions: measured
                .as_ref()
                .map(|measured| measured.layer.instructions()),
            finding: match failure.as_ref().or(decided.as_ref()) {
                Some(reason) => reason.clone(),
                None => compared.findings.join("; "),
            },
        })
        .collect())
}

fn function(measured: &Measurement) -> &'static str {
    measured.function
}

/// Does `work` for each item on several threads, and hands the results over in the items' order.
fn on_threads<T: Sync, R: Send, E: Send>(
    threads: Option<NonZeroUsize>,
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let cores = || std::thread::available_parallelism().ok();
    let threads = threads.or_else(cores).map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = sync_channel(4 * threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((index, item)) =
                    items.get(next.load(Ordering::Relaxed)).and_then(|_| {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        items.get(index).map(|item| (index, item))
                    })
                {
                    // Nobody listens when an earlier item has failed.
                    if sender.send((index, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&wanted) {
                take(result?)?;
                wanted += 1;
            }
        }
        Ok(())
    })
}
