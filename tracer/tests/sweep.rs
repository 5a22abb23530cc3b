//! The regression grid: every kernel of the reference set on odd shapes. The closed form,
//! the loops and the machine code agree, and execution in overlapped buffers proves it. A
//! kernel or a compiler that moves an O_s shows as a difference to the committed table.
//!
//! After a change that is meant:
//! `dmo-trace sweep traces/overlaps/grid.toml --out traces/overlaps/reference.csv` on an
//! absent file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use std::path::Path;
use std::process::Command;

#[test]
fn reference_kernels_on_the_grid() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let folder = tempfile::tempdir().expect("a folder");
    let table = folder.path().join("reference.csv");
    let output = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .arg("sweep")
        .arg(traces.join("overlaps/grid.toml"))
        .arg("--out")
        .arg(&table)
        .output()
        .expect("dmo-trace");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let found = std::fs::read_to_string(&table).expect("table");
    let expected = std::fs::read_to_string(traces.join("overlaps/reference.csv")).expect("table");
    assert!(expected.lines().count() > 2000, "the grid has shrunk");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}
