//! Completions and manual pages have all that the command line has.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn dmo_trace(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    let output = command.args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Name and help of all commands that are listed, and of those below them.
fn commands(command: &[&str]) -> Vec<(String, String)> {
    let help = dmo_trace(&[command, &["--help"]].concat());
    let lists = help.split("\n\n").filter(|part| {
        let heading = part.lines().next().unwrap_or_default();
        heading.ends_with("ommands:")
    });
    let names = lists
        .flat_map(str::lines)
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let mut found: Vec<_> = names
        .flat_map(|name| commands(&[command, &[name]].concat()))
        .collect();
    found.push(([&["dmo-trace"], command].concat().join("-"), help));
    found
}

/// The long options of a help: each has a line of its own, at the left.
fn options(help: &str) -> BTreeSet<&str> {
    let lines = help.lines().map(str::trim_start);
    let options = lines.filter_map(|line| {
        let line = line.strip_prefix("-h, ").unwrap_or(line);
        let line = line.strip_prefix("-V, ").unwrap_or(line);
        let name = line.strip_prefix("--")?;
        name.split(|end: char| !(end.is_ascii_alphanumeric() || end == '-'))
            .next()
    });
    options.collect()
}

#[test]
fn every_command_has_a_manual_page_with_its_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man1");
    dmo_trace(&["man", "--out", out.to_str().expect("a name")]);
    let commands = commands(&[]);
    assert!(commands.len() > 15, "{commands:?}");
    for (name, help) in &commands {
        let page = std::fs::read_to_string(out.join(format!("{name}.1"))).expect(name);
        assert!(page.contains(&format!("\n.TH {name} 1 ")), "{page}");
        // In the form that manual pages have: a hyphen is escaped.
        let page = page.replace("\\-", "-");
        let options = options(help);
        assert!(options.contains("help"), "{help}");
        for option in options {
            assert!(page.contains(&format!("--{option}")), "{name}: {option}");
        }
    }
    let pages = std::fs::read_dir(&out).expect("pages").count();
    assert_eq!(pages, commands.len(), "a page of no command");
}

#[test]
fn pages_are_written_anew_and_files_of_others_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let [page, other] = ["dmo-trace.1", "other.1"].map(|name| folder.path().join(name));
    for path in [&page, &other] {
        std::fs::write(path, "old").expect("a file");
    }
    dmo_trace(&["man", "--out", folder.path().to_str().expect("a name")]);
    assert_ne!(std::fs::read(page).expect("a page"), b"old");
    assert_eq!(std::fs::read(other).expect("a file"), b"old");
}

/// What a shell says to a script on its stdin.
fn bash(arguments: &[&str], script: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = command.spawn().expect("bash starts");
    let mut stdin = shell.stdin.take().expect("a pipe");
    stdin.write_all(script.as_bytes()).expect("bash reads");
    drop(stdin);
    shell.wait_with_output().expect("bash ends")
}

/// What bash completes of this command line, whose last word has been begun.
fn completed(words: &[&str]) -> BTreeSet<String> {
    let script = dmo_trace(&["completions", "bash"]);
    let (last, current) = (words.len() - 1, words.last().expect("a word"));
    let previous = words[last - 1];
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let call = format!(
        "COMP_WORDS=({}); COMP_CWORD={last}\n\
         completer=$(complete -p dmo-trace | sed 's/.* -F \\([^ ]*\\) .*/\\1/')\n\
         $completer dmo-trace '{current}' '{previous}'\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" ")
    );
    let output = bash(&["--norc", "-s"], &format!("{script}\n{call}\n"));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_and_options() {
    let script = dmo_trace(&["completions", "bash"]);
    let checked = bash(&["-n"], &script);
    assert!(checked.status.success(), "{checked:?}");
    let of = |words: &[&str]| completed(words);
    assert_eq!(of(&["dmo-trace", "ver"]), ["verify".to_owned()].into());
    let commands = commands(&[]);
    let top = of(&["dmo-trace", ""]);
    for (name, _) in &commands {
        let name = name.strip_prefix("dmo-trace-").unwrap_or_default();
        // Those of two words are completed after the first.
        if !name.is_empty() && !commands.iter().any(|(other, _)| is_below(name, other)) {
            assert!(top.contains(name), "{name} in {top:?}");
        }
    }
    for words in [&["plan"][..], &["explain", "overlap"]] {
        let name = [&["dmo-trace"], words].concat().join("-");
        let (_, help) = commands
            .iter()
            .find(|(other, _)| *other == name)
            .expect("it");
        let found = of(&[&["dmo-trace"], words, &["--"]].concat());
        for option in options(help) {
            assert!(
                found.contains(&format!("--{option}")),
                "{name} --{option} in {found:?}"
            );
        }
    }
}

/// Whether `name` is a command below `other`.
fn is_below(name: &str, other: &str) -> bool {
    let other = other.strip_prefix("dmo-trace-").unwrap_or_default();
    !other.is_empty() && name.starts_with(&format!("{other}-"))
}

#[test]
fn every_shell_has_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dmo_trace(&["completions", shell]);
        assert!(script.contains("verify"), "{shell}");
    }
}
