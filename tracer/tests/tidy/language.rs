//! The language of README, docs and `--help`, and the order of the documents.

use crate::files::files;
use crate::{ROOT, assert_none};
use std::path::Path;
use std::process::{Command, Output};

/// Phrases that a reader stumbles over; `docs/style.md` has what to write instead.
const BANNED: &[&str] = &[
    "so many",
    "is told",
    "are told",
    "behind",
    "none where",
    "what is left out",
    "for ever",
    "is looked at",
    "was looked at",
    "not looked at",
];

/// The banned phrases of a text, in whatever case, as whole words.
fn banned(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let text = format!(" {} ", words.join(" "));
    let found = BANNED
        .iter()
        .filter(|phrase| text.contains(&format!(" {phrase} ")));
    found.map(|phrase| format!("'{phrase}'")).collect()
}

/// A Markdown text without what is printed by programs.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose += line;
            prose.push('\n');
        }
    }
    prose
}

/// Names of the Markdown files in `docs/`.
fn documents() -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(ROOT).join("docs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    names.sort();
    names
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

fn dmo_trace(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The help of a command, and that of all commands below it.
fn helps(command: &[&str]) -> Vec<(String, String)> {
    let output = dmo_trace(&[command, &["--help"]].concat(), Path::new(ROOT));
    let help = String::from_utf8(output.stdout).unwrap();
    let lists = help.split("\n\n").filter(|part| {
        part.lines()
            .next()
            .is_some_and(|heading| heading.ends_with("ommands:"))
    });
    let below = lists
        .flat_map(str::lines)
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let mut helps: Vec<_> = below
        .flat_map(|name| helps(&[command, &[name]].concat()))
        .collect();
    helps.push((command.join(" "), help));
    helps
}

#[test]
fn documents_are_in_plain_english() {
    let documents = documents().into_iter().map(|name| format!("docs/{name}"));
    let paths = documents
        .filter(|path| path != "docs/style.md")
        .chain(["README.md".to_owned()]);
    let complaints = paths.flat_map(|path| {
        let found = banned(&prose(&read(&path))).into_iter();
        found.map(move |phrase| format!("{path}: {phrase}"))
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

/// The texts in quotes of a source, line by line and without comments.
fn quoted(source: &str) -> Vec<&str> {
    let code = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect()
}

#[test]
fn messages_are_in_plain_english() {
    let sources: Vec<_> = files()
        .into_iter()
        .filter(|(path, _)| path.starts_with("tracer/src/") && path.ends_with(".rs"))
        .collect();
    assert!(sources.len() > 100);
    let complaints = sources.iter().flat_map(|(path, bytes)| {
        let source = std::str::from_utf8(bytes).unwrap();
        let texts = quoted(source).into_iter();
        texts.flat_map(move |text| {
            let found = banned(text).into_iter();
            found.map(move |phrase| format!("{path}: {phrase} in \"{text}\""))
        })
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn help_is_in_plain_english() {
    let helps = helps(&[]);
    assert!(helps.len() > 10, "{helps:?}");
    let complaints = helps.iter().flat_map(|(command, help)| {
        let found = banned(help).into_iter();
        found.map(move |phrase| format!("dmo-trace {command} --help: {phrase}"))
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

/// They fail for want of their files, but never as a misuse of the command line.
#[test]
fn examples_of_the_help_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let mut complaints = Vec::new();
    for (command, help) in helps(&[]) {
        let examples: Vec<&str> = help
            .lines()
            .filter_map(|line| line.strip_prefix("  dmo-trace "))
            .collect();
        if examples.is_empty() {
            complaints.push(format!("dmo-trace {command} --help has no example"));
        }
        for example in examples {
            // One argument may be quoted.
            let parts: Vec<&str> = example.split('\'').collect();
            let arguments = parts.iter().enumerate().flat_map(|(index, part)| {
                if index % 2 == 1 {
                    vec![*part]
                } else {
                    part.split_whitespace().collect()
                }
            });
            let output = dmo_trace(&arguments.collect::<Vec<_>>(), folder.path());
            let message = String::from_utf8(output.stderr).unwrap();
            if message.contains("try '--help'") {
                complaints.push(format!("dmo-trace {example}: {message}"));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn every_document_has_its_place_in_the_summary() {
    let summary = read("docs/SUMMARY.md");
    let missing = documents().into_iter().filter(|name| {
        name != "SUMMARY.md"
            && !summary
                .lines()
                .any(|line| line.ends_with(&format!("]({name})")))
    });
    assert_none(&missing.collect::<Vec<_>>());
}

/// A number with a comma between thousands.
fn with_commas(number: usize) -> String {
    match number / 1000 {
        0 => number.to_string(),
        thousands => format!("{thousands},{:03}", number % 1000),
    }
}

#[test]
fn the_page_counts_the_rows_of_the_tables() {
    let rows = |set: &str| {
        let table = read(&format!("traces/overlaps/{set}.csv"));
        with_commas(table.lines().count() - 1)
    };
    for set in ["dsp-packed", "dsp-channels-outside"] {
        assert_eq!(rows("dsp"), rows(set));
    }
    let told = format!(
        "{} pairs of input and output on the reference kernels and {} on each of the DSP sets",
        rows("reference"),
        rows("dsp")
    );
    assert!(read("docs/overlap.md").contains(&told), "{told}");
}

#[test]
fn phrases_are_found() {
    assert_eq!(banned("So\nmany bytes"), ["'so many'"]);
    assert!(banned("for every placement, beforehand").is_empty());
    assert_eq!(prose("a\n```\nb\n```\nc\n"), "a\nc\n");
}
