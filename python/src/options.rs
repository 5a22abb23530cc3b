//! Options that several functions have, in the words of the command line.

use crate::error::wrong;
use dmo_trace::study::session::{Cache, Session};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

/// The value of this name among those of an option.
pub fn one_of<T: Copy>(
    option: &str,
    given: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> PyResult<T> {
    let found = all.iter().copied().find(|&value| name(value) == given);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&value| name(value)).collect();
        wrong(format!(
            "{option} '{given}': expected one of {}",
            names.join(", ")
        ))
    })
}

/// Seconds of a user.
pub fn seconds(option: &str, given: f64) -> PyResult<Duration> {
    if (0.0..=1e9).contains(&given) {
        Ok(Duration::from_secs_f64(given))
    } else {
        Err(wrong(format!(
            "{option} {given}: expected 0 to 1e9 seconds"
        )))
    }
}

/// On how many different inputs something runs.
pub fn inputs(given: u64) -> PyResult<u64> {
    if (1..=1000).contains(&given) {
        Ok(given)
    } else {
        Err(wrong(format!("inputs {given}: expected 1 to 1000")))
    }
}

/// Where measurements are kept: `False` nowhere, `None` in the user's folder.
#[derive(FromPyObject)]
pub enum CacheChoice {
    /// Whether anything is kept.
    Kept(bool),
    /// A folder.
    Folder(PathBuf),
}

impl CacheChoice {
    /// The session that keeps them there.
    pub fn session(choice: Option<Self>) -> Session {
        let cache = match choice {
            None | Some(Self::Kept(true)) => Cache::of_user(),
            Some(Self::Kept(false)) => Cache::default(),
            Some(Self::Folder(folder)) => Cache {
                folder: Some(folder),
            },
        };
        Session {
            cache,
            ..Session::default()
        }
    }
}
