//! The signals that end a process.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Does this, once, when a signal ends the process. One that is ignored stays so.
pub fn before_the_end(clean_up: fn()) {
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
            clean_up();
            // No signal ends the first process of a container by default.
            if std::process::id() == 1 {
                std::process::exit(128 + signal);
            }
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
