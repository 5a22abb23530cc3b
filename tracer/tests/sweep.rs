//! The regression grids: every kernel of every set on odd shapes. For the reference kernels
//! the closed form, the loops and the machine code agree; for all of them execution in
//! overlapped buffers proves the O_s. A kernel or a compiler that moves an O_s shows as a
//! difference to a committed table.
//!
//! After a change that is meant, on an absent file:
//! `dmo-trace sweep traces/overlaps/grid.toml --kernels SET --inputs 2 --out traces/overlaps/SET.csv`
//! and `dmo-trace sweep traces/overlaps/cpus.toml --inputs 2 --out traces/overlaps/cpus.csv`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn reference_kernels_on_the_grid() {
    let rows = check("grid.toml", "reference");
    assert!(rows > 2400, "the grid has shrunk to {rows} rows");
}

#[test]
fn dsp_kernels_on_the_grid() {
    let rows = check("grid.toml", "dsp");
    assert!(rows > 1200, "the grid has shrunk to {rows} rows");
}

#[test]
fn kernels_without_the_dsp_extension_on_the_grid() {
    let rows = check("grid.toml", "plain");
    assert!(rows > 1200, "the grid has shrunk to {rows} rows");
}

#[test]
fn dsp_kernels_with_packed_weights_on_the_grid() {
    let rows = check("grid.toml", "dsp-packed");
    assert!(rows > 1200, "the grid has shrunk to {rows} rows");
}

#[test]
fn dsp_kernels_with_channels_outside_on_the_grid() {
    let rows = check("grid.toml", "dsp-channels-outside");
    assert!(rows > 1200, "the grid has shrunk to {rows} rows");
}

#[test]
fn every_cpu() {
    check("cpus.toml", "cpus");
}

/// Sweeps the grid and compares with the table of this name; gives the number of rows.
fn check(grid: &str, table: &str) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let name = format!("{table}.csv");
    let out = folder.path().join(&name);
    let mut arguments = vec!["--inputs", "2"];
    if grid == "grid.toml" {
        arguments.extend(["--kernels", table]);
    }
    let output = sweep(&traces().join(grid), &out, &arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let found = std::fs::read_to_string(&out).expect("table");
    let expected = std::fs::read_to_string(traces().join(&name)).expect("table");
    let hint = "if that is meant, make the table anew: the top of sweep.rs says how";
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "{name}: {hint}");
    }
    let lengths = [&found, &expected].map(|table| table.lines().count());
    assert_eq!(lengths[0], lengths[1], "lines of {name}: {hint}");
    found.lines().count() - 1
}

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/overlaps")
}

fn sweep(grid: &Path, out: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .arg("sweep")
        .arg(grid)
        .arg("--out")
        .arg(out)
        .args(arguments)
        .output()
        .expect("dmo-trace")
}

const SMALL: &str = "
[[grid]]
operator = \"concat\"
input = [\"1x2x2x3,1x2x2x5\", \"1x1x4x4,1x1x4x4,1x1x4x8\", \"2x3x5x2,2x3x5x2\"]
axis = [\"3\"]
[[grid]]
operator = \"matmul\"
input = [\"4x6,6x5\"]
";

/// However many bytes an interrupt has left, the same call completes the table, and keeps
/// what was complete.
#[test]
fn an_interrupted_sweep_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let grid = folder.path().join("grid.toml");
    std::fs::write(&grid, SMALL).expect("grid");
    for name in ["table.csv", "table.jsonl"] {
        let out = folder.path().join(name);
        let whole = complete(&grid, &out);
        for length in (0..whole.len()).step_by(41) {
            std::fs::write(&out, &whole[..length]).expect("table");
            assert_eq!(complete(&grid, &out), whole, "{name} cut at {length}");
        }
    }
}

/// A case that is complete is not run again, also if it is the last one.
#[test]
fn complete_cases_are_not_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (grid, out) = (
        folder.path().join("grid.toml"),
        folder.path().join("table.csv"),
    );
    std::fs::write(&grid, SMALL).expect("grid");
    let whole = complete(&grid, &out);
    // A mark that a second run of the case would not make.
    let marked = whole.replace(",dmo_matmul_s8,", ",kept,");
    assert_ne!(marked, whole);
    std::fs::write(&out, &marked).expect("table");
    assert_eq!(complete(&grid, &out), marked);
}

#[test]
fn shards_are_the_whole_grid() {
    let folder = tempfile::tempdir().expect("a folder");
    let grid = folder.path().join("grid.toml");
    std::fs::write(&grid, SMALL).expect("grid");
    let whole = complete(&grid, &folder.path().join("whole.csv"));
    let mut rows = Vec::new();
    for shard in 1..=3 {
        let out = folder.path().join(format!("{shard}.csv"));
        let output = sweep(&grid, &out, &["--shard", &format!("{shard}/3")]);
        assert!(output.status.success());
        let text = std::fs::read_to_string(&out).expect("table");
        rows.extend(text.lines().skip(1).map(str::to_owned));
    }
    let mut expected: Vec<&str> = whole.lines().skip(1).collect();
    expected.sort_unstable();
    rows.sort_unstable();
    assert_eq!(rows, expected);
    let output = sweep(&grid, &folder.path().join("9.csv"), &["--shard", "9/9"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    assert!(
        message.contains("shard 9/9 is empty: the grid has 4 cases"),
        "{message}"
    );
}

/// What is no table of this grid is left as it is.
#[test]
fn other_files_are_not_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let grid = folder.path().join("grid.toml");
    std::fs::write(&grid, SMALL).expect("grid");
    let whole = complete(&grid, &folder.path().join("whole.csv"));
    let (head, rows) = whole.split_once('\n').expect("rows");
    let swapped: Vec<&str> = rows.lines().rev().collect();
    for (name, content) in [
        ("notes.csv", "milk,eggs\n".to_owned()),
        ("notes.csv", "milk,eggs".to_owned()),
        ("notes.jsonl", "{\"milk\": 2}\n".to_owned()),
        ("notes.jsonl", "{\"milk\": 2}".to_owned()),
        ("other.csv", format!("{head}\n{}\n", swapped.join("\n"))),
        ("longer.csv", format!("{whole}{rows}")),
        ("noise.csv", format!("{whole}noise\n")),
    ] {
        let out = folder.path().join(name);
        std::fs::write(&out, &content).expect("file");
        let output = sweep(&grid, &out, &[]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(name), "{message}");
        assert_eq!(std::fs::read_to_string(&out).expect("file"), content);
    }
}

fn complete(grid: &Path, out: &Path) -> String {
    let output = sweep(grid, out, &[]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    std::fs::read_to_string(out).expect("table")
}

/// A grid that says what it does not mean: the message names file, table and key.
#[test]
fn wrong_grids() {
    let relu = "[[grid]]\noperator = \"relu\"\ninput = [\"1x10\"]\n";
    for (text, expected) in [
        (String::new(), "missing field `grid`"),
        ("grid = []".to_owned(), "no case is left"),
        (
            "[[gird]]\noperator = \"relu\"".to_owned(),
            "unknown field `gird`",
        ),
        (
            "[[grid]]\ninput = [\"8\"]".to_owned(),
            "missing field `operator`",
        ),
        (
            relu.replace("relu", "rely"),
            "[[grid]] 1 (rely): unknown operator 'rely'",
        ),
        (
            relu.replace("input", "imput"),
            "[[grid]] 1 (relu): unknown key 'imput'",
        ),
        (
            relu.replace("[\"1x10\"]", "[]"),
            "key 'input' has no values",
        ),
        (
            relu.replace("[\"1x10\"]", "\"1x10\""),
            "key 'input': its value is a string, expected a list",
        ),
        (
            relu.replace("\"1x10\"", "\"1x10\", true"),
            "key 'input': one of its values is a boolean",
        ),
        (relu.replace("1x10", "1xten"), "'ten' is not a whole number"),
        (relu.replace("1x10", "+1x10"), "'+1' is not a whole number"),
        (
            format!("{relu}dtype = [\"int8\", \"int9\"]"),
            "--dtype int9",
        ),
        (format!("{relu}stride = [2]"), "relu: it takes no --stride"),
        (
            format!("{relu}kernels = [\"nosuch\"]"),
            "cannot read nosuch",
        ),
        (
            format!("{relu}cpu = [\"cortex-m5\"]"),
            "unknown CPU 'cortex-m5'",
        ),
        (
            format!("{relu}kernels = [\"dsp\"]\ncpu = [\"cortex-m3\"]"),
            "it is built in for cortex-m4, cortex-m7, and cortex-m3 does not run their code",
        ),
        (format!("{relu}kernels = [\"dsp\"]"), "dsp has no kernel"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let (grid, out) = (folder.path().join("grid.toml"), folder.path().join("t.csv"));
        std::fs::write(&grid, &text).expect("grid");
        let output = sweep(&grid, &out, &[]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}: {message}");
        assert!(message.contains("grid.toml: "), "{text}: {message}");
        assert!(message.contains(expected), "{text}: {message}");
        assert!(!out.exists(), "{text}");
    }
}

/// A set that has no kernel for a case, or is not for a CPU, is named and left out.
#[test]
fn cases_without_a_kernel_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (grid, out) = (folder.path().join("grid.toml"), folder.path().join("t.csv"));
    let text =
        "[[grid]]\noperator = \"softmax\"\ninput = [\"3x5\"]\ndtype = [\"int8\", \"float32\"]
        kernels = [\"reference\", \"dsp\"]\ncpu = [\"cortex-m3\", \"cortex-m4\"]";
    std::fs::write(&grid, text).expect("grid");
    let table = complete(&grid, &out);
    let columns = |line: &str| {
        line.split(',')
            .skip(1)
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let rows: Vec<String> = table.lines().skip(1).map(columns).collect();
    assert_eq!(
        rows,
        [
            "reference cortex-m3 dmo_softmax_s8",
            "reference cortex-m4 dmo_softmax_s8",
            "dsp cortex-m4 arm_softmax_s8",
            "reference cortex-m3 dmo_softmax_f32",
            "reference cortex-m4 dmo_softmax_f32",
        ]
    );
    let message = sweep(&grid, &out, &[]).stderr;
    let message = String::from_utf8_lossy(&message);
    for note in ["leave dsp on cortex-m3 out", "dsp has no kernel"] {
        assert!(message.contains(note), "{message}");
    }
}

/// Rows hold for the kernels and inputs that they come from, and are not added to with others.
#[test]
fn rows_of_other_kernels_or_inputs_are_not_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (grid, out, elf) = (path("grid.toml"), path("table.csv"), path("lib.elf"));
    std::fs::write(&grid, SMALL).expect("grid");
    let elves = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/elf/cortex-m4");
    std::fs::copy(elves.join("concat.elf"), &elf).expect("kernels");
    let kernels = ["--kernels", elf.to_str().expect("a path")];
    let output = sweep(&grid, &out, &kernels);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let table = std::fs::read_to_string(&out).expect("table");
    assert!(sweep(&grid, &out, &kernels).status.success());
    let inputs = [&kernels[..], &["--inputs", "3"]].concat();
    refused(
        &grid,
        &out,
        &inputs,
        "they are of --inputs 5, this is --inputs 3",
    );
    let mut changed = std::fs::read(&elf).expect("kernels");
    changed.push(0);
    std::fs::write(&elf, changed).expect("kernels");
    refused(&grid, &out, &kernels, "have changed");
    assert_eq!(std::fs::read_to_string(&out).expect("table"), table);
    let key = path("table.csv.key");
    std::fs::write(&key, "{}").expect("key");
    refused(&grid, &out, &kernels, "is not the key of a sweep");
    std::fs::remove_file(&key).expect("key");
    refused(
        &grid,
        &out,
        &kernels,
        "what its rows depend on is not known",
    );
    std::fs::remove_file(&out).expect("table");
    assert!(sweep(&grid, &out, &kernels).status.success());
}

/// Exit code 2 and a message with this in it; the table stays as it is.
fn refused(grid: &Path, out: &Path, arguments: &[&str], expected: &str) {
    let before = std::fs::metadata(out).map(|metadata| metadata.len()).ok();
    let output = sweep(grid, out, arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(expected), "{expected}: {message}");
    let after = std::fs::metadata(out).map(|metadata| metadata.len()).ok();
    assert_eq!(before, after, "{expected}");
}

/// Devices and pipes are neither waited for nor read without an end; a link to a file is one.
#[cfg(unix)]
#[test]
fn only_plain_files() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let grid = path("grid.toml");
    std::fs::write(&grid, SMALL).expect("grid");
    let pipe = path("pipe.csv");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let not_plain = "it is not a plain file";
    for device in ["/dev/full", "/dev/zero", "/dev/null"] {
        let link = path(&format!("{}.csv", device.replace('/', "-")));
        symlink(device, &link).expect("link");
        refused(&grid, &link, &[], not_plain);
        refused(Path::new(device), &path("t.csv"), &[], not_plain);
        refused(&grid, &path("t.csv"), &["--kernels", device], not_plain);
    }
    refused(&grid, &pipe, &[], not_plain);
    refused(&pipe, &path("t.csv"), &[], not_plain);
    symlink(path("real.csv"), path("link.csv")).expect("link");
    let whole = complete(&grid, &path("link.csv"));
    assert_eq!(
        std::fs::read_to_string(path("real.csv")).expect("table"),
        whole
    );
    assert!(path("link.csv").is_symlink());
}

/// Of a line of zeros without an end only so much is read as a row may have.
#[test]
fn a_line_without_end_is_no_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let (grid, out) = (folder.path().join("grid.toml"), folder.path().join("t.csv"));
    std::fs::write(&grid, SMALL).expect("grid");
    let file = std::fs::File::create(&out).expect("table");
    file.set_len(1 << 40).expect("a sparse file");
    refused(&grid, &out, &[], "line 1 is not a row");
}

/// The second sweep on a table is refused as long as the first writes to it.
#[cfg(unix)]
#[test]
fn one_sweep_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let (grid, out) = (folder.path().join("grid.toml"), folder.path().join("t.csv"));
    std::fs::write(&grid, SMALL).expect("grid");
    let file = std::fs::File::create(&out).expect("table");
    file.lock().expect("lock");
    refused(&grid, &out, &[], "another sweep is writing to it");
    drop(file);
    complete(&grid, &out);
}

/// A message that cannot be written is no reason to panic.
#[cfg(target_os = "linux")]
#[test]
fn a_full_stderr_is_no_panic() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    let status = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .args(["sweep", "no-such-grid.toml", "--out", "unused.csv"])
        .stderr(full)
        .status()
        .expect("dmo-trace");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_grid_that_is_too_large() {
    let folder = tempfile::tempdir().expect("a folder");
    let (grid, out) = (folder.path().join("grid.toml"), folder.path().join("t.csv"));
    let list = |count: usize| {
        let shapes: Vec<String> = (1..=count)
            .map(|extent| format!("\"1x{extent}\""))
            .collect();
        shapes.join(", ")
    };
    let text = format!(
        "[[grid]]\noperator = \"add\"\ninput = [{}]\noutput = [{}]\n",
        list(1001),
        list(1000)
    );
    std::fs::write(&grid, text).expect("grid");
    refused(
        &grid,
        &out,
        &[],
        "more than 1000000 combinations, the limit",
    );
}

/// A path may have commas and quotes, also where the sweep goes on, but no lines.
#[test]
fn names_of_kernels_in_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let (grid, out) = (folder.path().join("grid.toml"), folder.path().join("t.csv"));
    let relu = "[[grid]]\noperator = \"concat\"\ninput = [\"1x2x2x3,1x2x2x5\"]\naxis = [-1, 3]";
    std::fs::write(&grid, relu).expect("grid");
    let elf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/elf/cortex-m4/concat.elf");
    let named = folder.path().join("a,\"b\".elf");
    std::fs::copy(&elf, &named).expect("kernels");
    let named = named.to_str().expect("a path");
    let output = sweep(&grid, &out, &["--kernels", named]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let whole = std::fs::read_to_string(&out).expect("table");
    let quoted = format!(",\"{}\",cortex-m4,", named.replace('"', "\"\""));
    assert_eq!(whole.matches(&quoted).count(), 4, "{whole}");
    for length in (0..whole.len()).step_by(37) {
        std::fs::write(&out, &whole[..length]).expect("table");
        assert!(sweep(&grid, &out, &["--kernels", named]).status.success());
        assert_eq!(std::fs::read_to_string(&out).expect("table"), whole);
    }
    let lines = folder.path().join("a\nb.elf");
    std::fs::copy(&elf, &lines).expect("kernels");
    let lines = lines.to_str().expect("a path");
    let other = folder.path().join("other.csv");
    refused(&grid, &other, &["--kernels", lines], "control characters");
}

/// What is cut off is the start of a row that comes there, and nothing else.
#[test]
fn a_last_line_that_is_no_row_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let grid = folder.path().join("grid.toml");
    std::fs::write(&grid, SMALL).expect("grid");
    for name in ["t.csv", "t.jsonl"] {
        let out = folder.path().join(name);
        let whole = complete(&grid, &out);
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for kept in [lines.len() - 1, lines.len()] {
            let text = lines[..kept].concat() + "my notes";
            std::fs::write(&out, &text).expect("table");
            refused(&grid, &out, &[], "is not a row of this sweep");
            assert_eq!(std::fs::read_to_string(&out).expect("table"), text);
        }
    }
}
