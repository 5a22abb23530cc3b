//! The recorded ELFs are those that `provenance.toml` names, and its compiler makes them
//! again from `kernels-c`, byte for byte.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the file's name"
)]

mod support;

use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::tools::{self, Availability, Process};
use support::{CPUS, programs, traces_elf};

const CROSS: &str = "arm-none-eabi-";

fn main() {
    let provenance = provenance();
    let tool = same_tools(&provenance);
    let trials = vec![
        Trial::test("recorded_files_are_those_of_provenance", recorded_files),
        tools::trial("rebuilt_files_are_identical", &tool, rebuilt_files),
    ];
    tools::main(&tool, trials)
}

/// `traces/elf/provenance.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Provenance {
    compiler: String,
    linker: String,
    newlib: String,
    compiler_flags: String,
    linker_flags: String,
    cpu: BTreeMap<String, Cpu>,
    elf: Vec<Elf>,
}

#[derive(Deserialize)]
struct Cpu {
    flags: String,
}

#[derive(Deserialize)]
struct Elf {
    file: String,
    size_bytes: usize,
    sha256: String,
}

fn provenance() -> Provenance {
    let path = traces_elf().join("provenance.toml");
    let text = std::fs::read_to_string(path).expect("provenance.toml");
    toml::from_str(&text).expect("provenance.toml")
}

fn recorded_files() -> Result<(), Failed> {
    let provenance = provenance();
    let named: BTreeSet<&str> = provenance.elf.iter().map(|elf| elf.file.as_str()).collect();
    let existing: BTreeSet<String> = CPUS
        .into_iter()
        .flat_map(|cpu| {
            programs()
                .into_iter()
                .map(move |name| format!("{cpu}/{name}.elf"))
        })
        .collect();
    assert_eq!(named, existing.iter().map(String::as_str).collect());
    assert!(provenance.cpu.keys().eq(&CPUS), "CPUs");
    for text in [&provenance.compiler_flags, &provenance.linker_flags]
        .into_iter()
        .chain(provenance.cpu.values().map(|cpu| &cpu.flags))
    {
        assert!(!text.is_empty());
    }
    for elf in &provenance.elf {
        let bytes = std::fs::read(traces_elf().join(&elf.file)).expect("ELF");
        let sha256: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let actual = (bytes.len(), sha256.as_str());
        assert_eq!(
            actual,
            (elf.size_bytes, elf.sha256.as_str()),
            "{}",
            elf.file
        );
    }
    Ok(())
}

/// Whether the installed tools are those that made the recorded files.
fn same_tools(provenance: &Provenance) -> Availability {
    let make = tools::version("make").map(|_| ());
    make.and_then(|()| {
        let compiler = tools::version(&format!("{CROSS}gcc"))?;
        let linker = tools::version(&format!("{CROSS}ld"))?;
        let newlib = newlib()?;
        for (what, installed, recorded) in [
            ("compiler", compiler, &provenance.compiler),
            ("linker", linker, &provenance.linker),
            ("newlib", newlib, &provenance.newlib),
        ] {
            if installed != *recorded {
                return Err(format!(
                    "the installed {what} is '{installed}', the recorded files were made by '{recorded}'"
                ));
            }
        }
        Ok(())
    })
}

fn newlib() -> Result<String, String> {
    let missing = || "newlib is not installed".to_owned();
    let macros = Command::new(format!("{CROSS}gcc"))
        .args(["-E", "-dM", "-include", "newlib.h", "-x", "c", "/dev/null"])
        .output()
        .map_err(|_| missing())?;
    let macros = String::from_utf8_lossy(&macros.stdout).into_owned();
    let version = macros
        .lines()
        .find_map(|line| line.strip_prefix("#define _NEWLIB_VERSION "));
    version
        .map(|version| version.trim_matches('"').to_owned())
        .ok_or_else(missing)
}

fn rebuilt_files() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    // A copy, so that neither build disturbs the other.
    let copy = folder.path().join("kernels");
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-c");
    copy_sources(&kernels, &copy)?;
    let log = folder.path().join("log");
    let output = std::fs::File::create(&log)?;
    let mut make = Command::new("make");
    make.args(["-s", "-j2", "all", &format!("CROSS={CROSS}")])
        .current_dir(&copy)
        // Where this test itself is run by make.
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .env_remove("MAKELEVEL")
        .stdout(Stdio::from(output.try_clone()?))
        .stderr(Stdio::from(output));
    let finished = Process::start(&mut make)?.finish(Duration::from_secs(300))?;
    if !finished.status.success() {
        let log = std::fs::read_to_string(&log)?;
        return Err(format!("make: {}\n{log}", finished.status).into());
    }
    for elf in provenance().elf {
        let rebuilt = std::fs::read(copy.join("build").join(&elf.file))?;
        let recorded = std::fs::read(traces_elf().join(&elf.file))?;
        if rebuilt != recorded {
            let at = rebuilt.iter().zip(&recorded).position(|(a, b)| a != b);
            let at = at.unwrap_or(rebuilt.len().min(recorded.len()));
            return Err(format!("{} differs from byte {at} on", elf.file).into());
        }
    }
    Ok(())
}

/// Everything but what make has built there.
fn copy_sources(from: &PathBuf, to: &PathBuf) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "build" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_sources(&from, &to)?;
        } else {
            std::fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
