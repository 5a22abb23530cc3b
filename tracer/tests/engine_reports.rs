//! The commands give the same on every engine, byte for byte: saved traces of programs and of
//! firmware, tables of sweeps, reports on whole models.
//!
//! A sample runs each time. `DMO_TRACE_CASES=all` takes every row of the grids, and all firmware
//! and models in `$DMO_TRACE_FIRMWARE` and `$DMO_TRACE_MODELS`, else beside the repository.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the difference"
)]

mod support;

use dmo_trace::mcu::machine::EngineKind;
use dmo_trace::study::search_time::STOPPED;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One row in this many of a grid, unless all are asked for.
const ROWS_ONE_IN: usize = 60;
/// One golden model in this many, unless all are asked for: `engines.rs` compares every access.
const MODELS_ONE_IN: usize = 4;
/// Rows of all samples together, at least.
const ROWS: usize = 80;
/// Real firmware that runs each time, where it is there.
const QUICK_FIRMWARE: [&str; 2] = ["kws-cmsis-dmo", "lstm-ref-dmo"];
/// It never ends.
const ENDLESS: &str = "stock-person-cmsis";

fn main() {
    let mut trials = vec![
        Trial::test("sweeps", sweeps),
        Trial::test("models", || {
            let one_in = if support::tools::are_all_cases_wanted() {
                1
            } else {
                MODELS_ONE_IN
            };
            models(&here().join("tests/golden"), one_in, 6)
        }),
    ];
    // engines.rs has every access of all of them.
    let cpus = if support::tools::are_all_cases_wanted() {
        &support::CPUS[..]
    } else {
        &["cortex-m7"]
    };
    for cpu in cpus {
        trials.push(Trial::test(format!("programs for {cpu}"), move || {
            programs(cpu)
        }));
    }
    trials.push(Trial::ignorable_test("firmware", firmware));
    trials.push(Trial::ignorable_test("real models", real_models));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command on each engine, with a file of its own to write; gives the output, which has to
/// be the same.
fn compare(arguments: &[&str], file: Option<(&str, &str)>) -> Result<Vec<u8>, Failed> {
    let folder = tempfile::tempdir()?;
    let mut outputs = Vec::new();
    let engines = EngineKind::ALL.iter().copied();
    for engine in engines.filter(|engine| *engine != EngineKind::Auto) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
        command.args(arguments).args(["--engine", engine.name()]);
        // How far long work is at some time is not what is compared.
        command.env("DMO_TRACE_PROGRESS", "off");
        let here = folder.path().join(engine.name());
        std::fs::create_dir(&here)?;
        command.current_dir(&here);
        command.args(file.iter().flat_map(|(option, name)| [option, name]));
        let path = file.map(|(_, name)| here.join(name));
        let output = command.output()?;
        let written = path.map(std::fs::read).transpose().map_err(|error| {
            let message = String::from_utf8_lossy(&output.stderr);
            format!("{arguments:?} on {}: {error}: {message}", engine.name())
        })?;
        outputs.push((
            engine,
            output.status.code(),
            output.stdout,
            output.stderr,
            written,
        ));
    }
    assert!(outputs.len() >= 2, "one engine alone");
    let (first, status, stdout, stderr, written) = outputs.swap_remove(0);
    for (engine, other_status, other_stdout, other_stderr, other_written) in &outputs {
        let place = format!("{arguments:?} on {} and {}", first.name(), engine.name());
        for (text, other) in [(&stdout, other_stdout), (&stderr, other_stderr)] {
            let [text, other] = [text, other].map(|text| comparable(text, engine.name()));
            assert_eq!(text, other, "{place}");
        }
        assert_eq!(status, *other_status, "{place}");
        let differs = written.as_ref() != other_written.as_ref();
        assert!(!differs, "{place}: the files that they write differ");
    }
    Ok(written.unwrap_or(stdout))
}

/// What an engine with this name reports too: Unicorn counts neither cycles nor memory. Whether the clock
/// ended a search depends on what else the machine does.
fn comparable(output: &[u8], engine: &str) -> String {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().filter(|line| *line != STOPPED);
    let text = lines.collect::<Vec<_>>().join("\n");
    match serde_json::from_str(&text) {
        Ok(mut report) if engine == "unicorn" => {
            forget_what_unicorn_lacks(&mut report);
            report.to_string()
        }
        _ => text,
    }
}

fn forget_what_unicorn_lacks(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for lacking in ["cycles", "ram", "stack_bytes"] {
                fields.remove(lacking);
            }
            fields.values_mut().for_each(forget_what_unicorn_lacks);
        }
        serde_json::Value::Array(values) => {
            values.iter_mut().for_each(forget_what_unicorn_lacks);
        }
        _ => {}
    }
}

/// The saved trace has every event.
fn programs(cpu: &str) -> Result<(), Failed> {
    let programs = support::small_programs();
    for program in &programs {
        let path = support::traces_elf()
            .join(cpu)
            .join(program)
            .with_extension("elf");
        let trace = compare(
            &["run", &path.to_string_lossy(), "--json"],
            Some(("--save", "trace")),
        )?;
        assert!(trace.len() > 100, "{program}");
    }
    assert!(programs.len() >= 18);
    Ok(())
}

fn sweeps() -> Result<(), Failed> {
    let folder = here().join("../traces/overlaps");
    let one_in = if support::tools::are_all_cases_wanted() {
        1
    } else {
        ROWS_ONE_IN
    };
    let shard = format!("1/{one_in}");
    let mut rows = 0;
    for (grid, kernels) in [
        ("grid.toml", Some("reference")),
        ("grid.toml", Some("dsp")),
        ("grid.toml", Some("dsp-channels-outside")),
        ("cpus.toml", None),
    ] {
        let grid = folder.join(grid);
        let grid = grid.to_string_lossy();
        let mut arguments = vec!["sweep", &grid, "--inputs", "1", "--shard", &shard];
        arguments.extend(kernels.into_iter().flat_map(|set| ["--kernels", set]));
        let table = compare(&arguments, Some(("--out", "table.csv")))?;
        rows += String::from_utf8_lossy(&table).lines().count() - 1;
    }
    assert!(rows >= ROWS, "{rows} rows");
    Ok(())
}

/// Models with so many outputs that the clock may stop the search for their plans: what is found then
/// is not for engines to answer for.
const MANY_OUTPUTS: [&str; 2] = ["further_axes", "further_pairs"];

/// One in so many of a folder's models, planned, and executed in the plan.
fn models(folder: &Path, one_in: usize, at_least: usize) -> Result<(), Failed> {
    let models = files(folder, "tflite")?.into_iter();
    let mut models: Vec<PathBuf> = models.step_by(one_in).collect();
    models.retain(|model| {
        let name = model.file_name().unwrap_or_default().to_string_lossy();
        !MANY_OUTPUTS.iter().any(|many| name.starts_with(many))
    });
    for model in &models {
        let model = model.to_string_lossy();
        let report = compare(&["verify", &model, "--inputs", "1", "--json"], None)?;
        assert!(report.len() > 100 || report.is_empty(), "{model}");
    }
    assert!(models.len() >= at_least, "{} models", models.len());
    Ok(())
}

fn firmware() -> Result<Completion, Failed> {
    let folder = beside("DMO_TRACE_FIRMWARE", "firmware");
    if !folder.is_dir() {
        return Ok(Completion::ignored_with(
            "there is no firmware beside the repository",
        ));
    }
    let mut files = files(&folder, "elf")?;
    if !support::tools::are_all_cases_wanted() {
        files.retain(|file| {
            let mut quick = QUICK_FIRMWARE.iter();
            quick.any(|name| file.file_stem().is_some_and(|stem| stem == *name))
        });
    }
    assert!(!files.is_empty(), "no firmware in {}", folder.display());
    for file in files {
        let path = file.to_string_lossy();
        let mut arguments = vec!["run", &path, "--json"];
        if path.contains(ENDLESS) {
            arguments.extend(["--stop-after", "31"]);
        }
        compare(&arguments, Some(("--save", "trace")))?;
    }
    Ok(Completion::Completed)
}

fn real_models() -> Result<Completion, Failed> {
    let folder = beside("DMO_TRACE_MODELS", "models");
    if !folder.is_dir() {
        return Ok(Completion::ignored_with(
            "there are no models beside the repository",
        ));
    }
    if !support::tools::are_all_cases_wanted() {
        return Ok(Completion::ignored_with("DMO_TRACE_CASES=all is not set"));
    }
    let mut count = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            count += files(&entry.path(), "tflite")?.len();
            models(&entry.path(), 1, 0)?;
        }
    }
    assert!(count > 0, "no model");
    Ok(Completion::Completed)
}

fn beside(variable: &str, name: &str) -> PathBuf {
    let given = std::env::var_os(variable).map(PathBuf::from);
    given.unwrap_or_else(|| here().join("../../shared").join(name))
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failed> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
