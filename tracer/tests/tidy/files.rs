//! What the files hold.

use crate::{ROOT, assert_none};
use std::path::Path;

/// What holds no sources, at any depth.
const GENERATED: &[&str] = &[".git", "build", "pictures", "target"];
const MAX_LINES: usize = 600;
/// The only module that may name the emulator, and its folder.
const MACHINE: [&str; 3] = [
    "tracer/src/mcu/machine.rs",
    "tracer/src/mcu/machine/",
    "engine/judge/",
];

/// The path below the root, with `/`, and the bytes of all files.
pub(crate) fn files() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![String::new()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(Path::new(ROOT).join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = format!("{folder}{name}");
            if GENERATED.contains(&name.as_str()) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                pending.push(path + "/");
            } else {
                found.push((path, std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    found
}

/// Holds a rule against every file that is text.
fn assert_every_text(rule: fn(&str, &str) -> Vec<String>) {
    let complaints = files().into_iter().flat_map(|(path, bytes)| {
        let complaints = std::str::from_utf8(&bytes).map_or(Vec::new(), |text| rule(&path, text));
        complaints
            .into_iter()
            .map(move |complaint| format!("{path}: {complaint}"))
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// C files name their licence in the first line, scripts in the second.
fn licence_line(path: &str, text: &str) -> Vec<String> {
    let line = match extension(path) {
        "c" | "h" | "ld" => 0,
        _ if text.starts_with("#!") => 1,
        _ => return Vec::new(),
    };
    let named = text
        .lines()
        .nth(line)
        .is_some_and(|line| line.contains("SPDX-License-Identifier: "));
    complain(!named, || format!("no SPDX licence in line {}", line + 1))
}

fn length(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let long = extension(path) == "rs" && path.contains("/src/") && lines > MAX_LINES;
    complain(long, || format!("{lines} lines, more than {MAX_LINES}"))
}

fn unfinished(_: &str, text: &str) -> Vec<String> {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("db", "g!("),
        concat!("to", "do!("),
    ];
    let found = marks.into_iter().filter(|mark| text.contains(mark));
    found.map(str::to_owned).collect()
}

fn emulator(path: &str, text: &str) -> Vec<String> {
    let name = concat!("unicorn", "_engine");
    let machine = MACHINE.iter().any(|machine| path.starts_with(machine));
    let named = extension(path) == "rs" && !machine && text.contains(name);
    complain(named, || format!("names {name}"))
}

/// The analysis has no files, no environment, no network.
fn pure(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("analysis/") || !path.contains("/src/") {
        return Vec::new();
    }
    // One name, or the names of a `use` with braces.
    let modules = text.split("std::").skip(1).flat_map(|rest| {
        let group = rest
            .strip_prefix('{')
            .and_then(|rest| rest.split(';').next());
        group.map_or(vec![rest], |group| group.split(['{', ',']).collect())
    });
    modules
        .filter_map(|module| {
            let name: String = module
                .trim_start()
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            ["env", "fs", "net", "process"]
                .contains(&name.as_str())
                .then(|| format!("uses std::{name}"))
        })
        .collect()
}

/// Where Debian built newlib: the C library of recorded programs says so.
const NEWLIB: &str = concat!("/ho", "me/pere/src/newlib-salsa/");

/// Folders of the machine on which something was made.
fn own_folders(bytes: &[u8]) -> Vec<String> {
    let folders = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
        concat!("/wo", "rk/"),
    ];
    let found = folders.into_iter().filter(|folder| {
        let folder = folder.as_bytes();
        (0..bytes.len()).any(|at| {
            // Not as a later part of a path or of an address.
            let starts = at == 0
                || !(bytes[at - 1].is_ascii_alphanumeric() || b"._-~/}>)".contains(&bytes[at - 1]));
            let rest = &bytes[at..];
            starts && rest.starts_with(folder) && !rest.starts_with(NEWLIB.as_bytes())
        })
    });
    found.map(str::to_owned).collect()
}

/// Links of a Markdown text to files, without their anchors. Code is left out.
fn links(text: &str) -> Vec<String> {
    let mut prose = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // What is between backticks has odd places.
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    let inline = prose.split("](").skip(1).map(|rest| rest.split(')').next());
    let named = prose.lines().map(|line| {
        let (name, target) = line.split_once("]: ")?;
        name.starts_with('[').then_some(target)
    });
    inline
        .chain(named)
        .flatten()
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']))
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty())
        .map(str::to_owned)
        .collect()
}

fn broken_links(path: &str, text: &str) -> Vec<String> {
    if extension(path) != "md" {
        return Vec::new();
    }
    let folder = Path::new(ROOT).join(path);
    let folder = folder.parent().unwrap();
    let broken = links(text).into_iter();
    broken
        .filter(|target| !folder.join(target).exists())
        .collect()
}

fn complain(wrong: bool, complaint: impl FnOnce() -> String) -> Vec<String> {
    wrong.then(complaint).into_iter().collect()
}

#[test]
fn files_name_their_licence() {
    assert_every_text(licence_line);
}

#[test]
fn no_source_is_long() {
    assert_every_text(length);
}

#[test]
fn nothing_is_left_unfinished() {
    assert_every_text(unfinished);
}

#[test]
fn one_module_knows_the_emulator() {
    assert_every_text(emulator);
}

#[test]
fn the_analysis_is_pure() {
    assert_every_text(pure);
}

#[test]
fn links_lead_to_files() {
    assert_every_text(broken_links);
}

/// In recorded programs and pictures, too.
#[test]
fn nothing_names_a_folder_of_its_maker() {
    let complaints = files().into_iter().flat_map(|(path, bytes)| {
        let found = own_folders(&bytes).into_iter();
        found.map(move |folder| format!("{path}: {folder}"))
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

mod made_up {
    use super::*;

    #[test]
    fn texts() {
        let wrong = |rule: fn(&str, &str) -> Vec<String>, path, text: &str| rule(path, text).len();
        let spdx = "/* SPDX-License-Identifier: MIT */\n";
        assert_eq!(
            wrong(
                licence_line,
                "a/b.c",
                "\n/* SPDX-License-Identifier: MIT */"
            ),
            1
        );
        assert_eq!(wrong(licence_line, "a/b.h", spdx), 0);
        assert_eq!(wrong(licence_line, "run", "#!/bin/sh\necho\n"), 1);
        assert_eq!(
            wrong(
                licence_line,
                "run",
                "#!/bin/sh\n# SPDX-License-Identifier: MIT"
            ),
            0
        );

        assert_eq!(wrong(length, "a/src/b.rs", &"\n".repeat(MAX_LINES + 1)), 1);
        assert_eq!(wrong(length, "a/src/b.rs", &"\n".repeat(MAX_LINES)), 0);
        assert_eq!(
            wrong(length, "a/tests/b.rs", &"\n".repeat(MAX_LINES + 1)),
            0
        );

        let both = concat!("FIX", "ME: to", "do!()");
        assert_eq!(wrong(unfinished, "a.md", both), 2);
        assert_eq!(wrong(unfinished, "a.md", "todo = \"warn\""), 0);

        let import = concat!("use unicorn", "_engine::Unicorn;");
        assert_eq!(wrong(emulator, "tracer/src/program/run.rs", import), 1);
        assert_eq!(wrong(emulator, "tracer/src/mcu/machine.rs", import), 0);
        assert_eq!(
            wrong(emulator, "tracer/src/mcu/machine/callbacks.rs", import),
            0
        );

        for (text, complaints) in [
            ("std::env::var(name)", 1),
            ("use std::fs;", 1),
            ("use std::{io, process::exit, fs::{self, File}};", 2),
            ("use std::{\n    fmt::{self, Write},\n    fs,\n};", 1),
            (
                "use std::io::Read; use std::fmt::{self, Write}; f(a, fs)",
                0,
            ),
        ] {
            assert_eq!(wrong(pure, "analysis/src/a.rs", text), complaints, "{text}");
            assert_eq!(wrong(pure, "tracer/src/a.rs", text), 0, "{text}");
        }
    }

    #[test]
    fn folders_of_the_maker() {
        let folder = concat!("/ho", "me/someone/a.c");
        assert!(own_folders(NEWLIB.as_bytes()).is_empty());
        for before in ["", "\0", " ", "\"", "(", "="] {
            let path = format!("{before}{folder}");
            assert_eq!(own_folders(path.as_bytes()).len(), 1, "{path:?}");
        }
        for before in ["https://example.org", "$a_folder", "${folder}", ".."] {
            let path = format!("{before}{folder}");
            assert!(own_folders(path.as_bytes()).is_empty(), "{path:?}");
        }
    }

    #[test]
    fn dead_links() {
        let text = "See [a](b.md#c \"d\"), ![e](f.png), [g](https://example.org/h.md), [i](#j), `[k](l)`.\n\
                    [m]: <../n.md>\n```c\n[o](p)\n```\n";
        assert_eq!(links(text), ["b.md", "f.png", "../n.md"]);
        assert_eq!(
            broken_links("docs/a.md", "[b](no-such.md) [c](../Cargo.toml)"),
            ["no-such.md"]
        );
        assert!(broken_links("docs/a.rs", "[b](no-such.md)").is_empty());
    }
}
