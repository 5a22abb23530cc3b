//! Temporary folders and files, in the system's folder for them.

/// How their names begin; no other process has such.
pub fn prefix() -> String {
    format!("dmo-trace-{}-", std::process::id())
}
