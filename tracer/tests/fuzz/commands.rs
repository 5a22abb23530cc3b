//! Readers that only the command line has: the program itself on files that are nearly
//! right. It may refuse them; it may not panic, hang, or write anything beside its output.

use crate::mutation::Mutator;
use crate::{MOST_TIME, budget, save, seeds};
use libtest_mimic::Failed;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A command on one file.
pub struct Subcommand {
    /// Of the target and its seeds' folder.
    pub name: &'static str,
    /// The file's name.
    file: &'static str,
    /// All arguments.
    arguments: &'static [&'static str],
    /// The files it may write.
    output: &'static [&'static str],
}

/// All of them.
pub const COMMANDS: &[Subcommand] = &[
    // The grid is read and nothing of it done: no grid has so many cases.
    Subcommand {
        name: "grid",
        file: "grid.toml",
        arguments: &[
            "sweep",
            "grid.toml",
            "--formulas",
            "--shard",
            "2000000/2000000",
            "--out",
            "out.csv",
        ],
        output: &["out.csv", "out.csv.key"],
    },
    Subcommand {
        name: "audit",
        file: "plan.json",
        arguments: &[
            "audit",
            "zoo:liberis_lane_figure_1:int8",
            "--plan",
            "plan.json",
        ],
        output: &[],
    },
    // The baseline is read and none of its models looked at: none has this name.
    Subcommand {
        name: "baseline",
        file: "baseline.toml",
        arguments: &["check", "--baseline", "baseline.toml", "--only", "\u{1}"],
        output: &[],
    },
];

/// Runs the command on all seeds and then on what is made of them.
pub fn fuzz(command: &Subcommand) -> Result<(), Failed> {
    let begin = Instant::now();
    let budget = budget();
    let folder = tempfile::tempdir()?;
    let mut inputs = Mutator::new(command.name, seeds(command.name));
    let mut number = 0;
    while !inputs.made() || begin.elapsed() < budget {
        number += 1;
        let input = inputs.next();
        std::fs::write(folder.path().join(command.file), input)?;
        check(command, folder.path())
            .map_err(|what| format!("{what}; input: {}", save(command.name, input)))?;
    }
    println!("{}: {number} inputs", command.name);
    Ok(())
}

fn check(command: &Subcommand, folder: &Path) -> Result<(), String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .args(command.arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if begin.elapsed() > MOST_TIME => {
                let _ = child.kill();
                return Err(format!("it takes more than {MOST_TIME:?}"));
            }
            None => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    };
    if !matches!(status.code(), Some(0..=2)) {
        return Err(format!("it ends with {status}"));
    }
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
        let name = entry.map_err(|error| error.to_string())?.file_name();
        let name = name.to_string_lossy();
        if command.output.contains(&&*name) {
            let _ = std::fs::remove_file(folder.join(&*name));
        } else if name != command.file {
            return Err(format!("it wrote {name}"));
        }
    }
    Ok(())
}
