//! A case made of any bytes, for fuzzing: the first chooses the core, eight are the seed of the
//! state, the rest is code.

use crate::cpu::CPUS;
use crate::trial::{Trial, TrialError};
use std::cell::RefCell;

thread_local! {
    /// Made when they are needed first: each has tens of megabytes.
    static TRIALS: RefCell<[Option<Trial>; CPUS.len()]> = const { RefCell::new([const { None }; CPUS.len()]) };
}

/// Executes the code on all engines; gives a report if they do not agree.
///
/// # Errors
/// When an engine refuses its memory, or Unicorn something else.
pub fn difference(bytes: &[u8]) -> Result<Option<String>, TrialError> {
    let Some((&core, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    let index = usize::from(core) % CPUS.len();
    TRIALS.with_borrow_mut(|trials| {
        let trial = match &mut trials[index] {
            Some(trial) => trial,
            none => none.insert(Trial::new(CPUS[index])?),
        };
        trial.judge_bytes(rest)
    })
}
