//! The console examples of the documents are what the program prints, and README lists what there is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use dmo_trace::kernels::images::IMAGES;
use dmo_trace::mcu::cpu::CPUS;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// The repository's folder, where readers are.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn console_examples() {
    std::env::set_current_dir(REPOSITORY).expect("the repository's folder");
    let cache = tempfile::tempdir().expect("a folder");
    trycmd::TestCases::new()
        // How long a command takes is not what is compared.
        .env("DMO_TRACE_PROGRESS", "off")
        .env("XDG_CACHE_HOME", cache.path().to_str().expect("a name"))
        .register_bin("dmo-trace", trycmd::cargo::cargo_bin!("dmo-trace"))
        .case("README.md")
        .case("docs/arena.md")
        .case("docs/build.md")
        .case("docs/ci.md")
        .case("docs/cycles.md")
        .case("docs/explain.md")
        .case("docs/hooks.md")
        .case("docs/in-place.md")
        .case("docs/interchange.md")
        .case("docs/overlap.md")
        .case("docs/planning.md")
        .case("docs/pruning.md")
        .case("docs/run.md")
        .case("docs/streaming.md")
        .case("docs/verification.md")
        .case("tracer/tests/console/*.md");
}

fn dmo_trace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.args(arguments).current_dir(REPOSITORY);
    command.output().expect("it starts")
}

/// The help of a command, with single spaces.
fn help(arguments: &[&str]) -> String {
    let output = dmo_trace(&[arguments, &["--help"]].concat());
    let help = String::from_utf8(output.stdout).expect("text");
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(REPOSITORY).join("README.md")).expect("README.md")
}

/// The rows of the table below this heading, without its header.
fn table(heading: &str) -> Vec<String> {
    let text = readme();
    let lines = text.lines().skip_while(|line| *line != heading);
    let lines = lines.skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.skip(2).map(str::to_owned).collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The names in README's table of what is supported, in the row of this name.
fn supported(row: &str) -> BTreeSet<String> {
    let rows = table("## What is supported");
    let start = format!("| {row} | ");
    let row = rows.iter().find(|line| line.starts_with(&start));
    let names = quoted(row.expect("a row"));
    assert!(!names.is_empty());
    names.into_iter().map(str::to_owned).collect()
}

/// The names of a list in a text, from after `start` to before `end`.
fn listed(text: &str, start: &str, end: &str) -> BTreeSet<String> {
    let (_, list) = text.split_once(start).expect("its start");
    let (list, _) = list.split_once(end).expect("its end");
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_readme_is_short() {
    assert!(readme().lines().count() <= 130);
}

#[test]
fn the_readme_lists_the_commands() {
    let output = dmo_trace(&["--help"]);
    let help = String::from_utf8(output.stdout).expect("text");
    let commands: BTreeSet<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| !["help", "dmo-trace"].contains(name))
        .collect();
    assert!(commands.len() > 10, "{help}");
    let rows = table("## Which command do I need?");
    let cells = rows.iter().filter_map(|row| row.rsplit(" | ").next());
    assert_eq!(cells.flat_map(quoted).collect::<BTreeSet<_>>(), commands);
}

#[test]
fn the_readme_lists_what_is_supported() {
    let cpus = CPUS.iter().map(|cpu| cpu.name.to_owned());
    assert_eq!(supported("CPUs"), cpus.collect());
    let sets = IMAGES.iter().map(|image| image.set.to_owned());
    assert_eq!(supported("Kernels"), sets.collect());
    let help = help(&["overlap"]);
    let page = std::fs::read_to_string(Path::new(REPOSITORY).join("docs/operators.md"));
    let page = page.expect("docs/operators.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let all = rows.clone().count();
    let by_formula = rows
        .filter(|line| line.contains(" | by formula | "))
        .count();
    assert!(all > 100 && by_formula > 50);
    let said = format!(
        "| Operators | all {all} that TensorFlow Lite Micro registers, {by_formula} of them with overlaps by formula"
    );
    assert!(readme().contains(&said), "{said}");
    let types = listed(&help, "Element type of the activations: ", " [default");
    assert_eq!(supported("Element types"), types);
}

#[test]
fn models_and_plans_of_every_form_in_the_readme_are_taken() {
    let model = "tracer/tests/golden/activations_int8.tflite";
    let plan = |model: &str, options: &[&str]| {
        let output = dmo_trace(&[&["plan", model], options].concat());
        assert!(output.status.success(), "{output:?}");
    };
    let forms = supported("Models");
    assert_eq!(forms.len(), 4);
    for form in forms {
        let example = match &*form {
            ".tflite" => model,
            "zoo:" => "zoo:liberis_lane_figure_1:int8",
            ".csv" => "fuzz/seeds/minimalloc/turned_columns.csv",
            ".json" => "fuzz/seeds/foreign/executorch.json",
            other => panic!("no example of {other}"),
        };
        plan(example, &[]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let written = supported("Plans");
    assert_eq!(written.len(), 3);
    for extension in written {
        let file = folder.path().join(format!("plan{extension}"));
        plan(model, &["--out", file.to_str().expect("a name")]);
        assert!(file.exists());
    }
}
