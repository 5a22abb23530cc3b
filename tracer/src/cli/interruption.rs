//! What remains of a process that a signal ends: nothing that it has not finished.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
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
    let ended_by: Vec<i32> = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|&signal| !is_ignored(signal))
        .collect();
    // Without the handler files are left behind, and nothing else is worse.
    let Ok(mut signals) = Signals::new(ended_by) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_files();
            // The shell sees a process that the signal has ended.
            let _ = emulate_default_handler(signal);
        }
    });
}

/// Whether the process was started with this signal ignored; where that is not known, only
/// SIGHUP is.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match line.map(|mask| u64::from_str_radix(mask.trim(), 16)) {
        Some(Ok(mask)) => mask >> (signal - 1) & 1 == 1,
        _ => signal == SIGHUP,
    }
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
