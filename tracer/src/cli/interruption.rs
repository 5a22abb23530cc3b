//! What remains of a process that a signal ends: nothing that it has not finished.

#[cfg_attr(not(unix), path = "interruption/console.rs")]
mod signals;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files beside their place, to be renamed to it when they are complete.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// This file is to vanish if a signal ends the process. One that has been renamed by then stays.
pub fn vanishes(path: &Path) {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished.push(path.to_owned());
}

/// From now on a signal that ends the process removes its unfinished and temporary files first. One
/// that is ignored, as under `nohup`, stays so.
pub fn clean_up_on_signals() {
    signals::before_the_end(remove_files);
}

fn remove_files() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        let _ = std::fs::remove_file(path);
    }
    let prefix = dmo_trace::temporary::prefix();
    let entries = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten();
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = std::fs::remove_dir_all(entry.path());
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
