//! Ctrl-C and the console's end, where there are no signals.

/// The exit code of a process that Ctrl-C has ended, as a shell shows it.
const INTERRUPTED: i32 = 130;

/// Does this, once, when the console ends the process.
pub fn before_the_end(clean_up: fn()) {
    // Without the handler files are left behind, and nothing else is worse.
    let _ = ctrlc::set_handler(move || {
        clean_up();
        std::process::exit(INTERRUPTED);
    });
}
