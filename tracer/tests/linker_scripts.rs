//! Firmware laid out by linker scripts in the styles of several vendors: it runs without a word of
//! the user's about its memory, and flash is what the start-up code never writes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the script's name"
)]

mod support;

use dmo_trace::mcu::memory::{MemoryOptions, RegionKind};
use dmo_trace::program::target::{Target, TargetOptions};
use libtest_mimic::Failed;
use serde_json::Value;
use std::process::Command;
use support::cross::{compiler, firmware, kernels, link};
use support::{target, tools};

/// A script, and the memory that a program by it needs: kind, first address, an address in it.
struct Script {
    name: &'static str,
    memory: &'static [(RegionKind, u64, u64)],
}

use RegionKind::{Flash, Ram};

const SCRIPTS: [Script; 7] = [
    Script {
        name: "arm",
        memory: &[(Flash, 0, 0x2000), (Ram, 0x2000_0000, 0x2003_fff8)],
    },
    Script {
        name: "st",
        memory: &[
            (Flash, 0x0800_0000, 0x0801_0000),
            (Ram, 0x1000_0000, 0x1000_0000),
            (Ram, 0x2000_0000, 0x2001_fff8),
        ],
    },
    Script {
        name: "nordic",
        memory: &[
            (Flash, 0x0002_6000, 0x0002_8000),
            (Ram, 0x0080_0000, 0x0080_0000),
            (Ram, 0x2000_2000, 0x2003_3ff8),
        ],
    },
    Script {
        name: "nxp_imxrt",
        memory: &[
            (Ram, 0, 0),
            (Ram, 0x2000_0000, 0x2020_0000),
            (Flash, 0x6000_0000, 0x6000_4000),
        ],
    },
    Script {
        name: "nxp_kinetis",
        memory: &[(Flash, 0, 0x2000), (Ram, 0x1fff_0000, 0x2002_fff8)],
    },
    Script {
        name: "zephyr",
        memory: &[(Flash, 0xc000, 0xe000), (Ram, 0x2000_0000, 0x2000_2000)],
    },
    Script {
        name: "in_ram",
        memory: &[(Ram, 0x1000_0000, 0x1000_fff8)],
    },
];

fn main() {
    let compiler = compiler();
    let mut trials = Vec::new();
    for script in &SCRIPTS {
        for vectors in ["constant", "writable"] {
            let name = format!("{}_with_{vectors}_vectors", script.name);
            trials.push(tools::trial(name, &compiler, move || {
                runs(script, vectors == "writable", &[])
            }));
        }
        let name = format!("{}_stripped", script.name);
        trials.push(tools::trial(name, &compiler, move || {
            runs(script, false, &["-s"])
        }));
    }
    trials.push(tools::trial(
        "named_flash_is_no_ram",
        &compiler,
        named_flash,
    ));
    tools::main(&compiler, trials)
}

fn build(script: &Script, writable_vectors: bool, flags: &[&str]) -> Result<Vec<u8>, Failed> {
    let sources = [
        firmware("scripts/sections.c"),
        kernels("board/semihost.c"),
        kernels("marks/dmo_trace.c"),
    ];
    let mut all = vec!["-nostartfiles", "-O2", "-ffreestanding"];
    all.extend(flags);
    if writable_vectors {
        all.push("-DWRITABLE_VECTORS");
    }
    let path = firmware("scripts").join(script.name).with_extension("ld");
    link("cortex-m4", &all, &path, &sources)
}

/// Code that is marked as writable lies in the flash that the user names, and makes no RAM of it.
fn named_flash() -> Result<(), Failed> {
    let elf = build(&SCRIPTS[0], true, &[])?;
    let megabyte = 0..1 << 20;
    let options = TargetOptions {
        memory: MemoryOptions {
            flash: vec![megabyte.clone()],
            ..MemoryOptions::default()
        },
        ..TargetOptions::default()
    };
    let map = Target::new(&elf, &options)?.map;
    let [flash, ram] = map.regions() else {
        return Err(format!("two regions, not {map}").into());
    };
    assert_eq!((flash.kind, flash.range.clone()), (Flash, megabyte));
    assert_eq!((ram.kind, ram.range.start), (Ram, 0x2000_0000));
    Ok(())
}

fn runs(script: &Script, writable_vectors: bool, flags: &[&str]) -> Result<(), Failed> {
    let elf = build(script, writable_vectors, flags)?;
    let map = target(&elf).map;
    let kinds: Vec<(RegionKind, u64)> = map
        .regions()
        .iter()
        .map(|region| (region.kind, region.range.start))
        .collect();
    let expected: Vec<(RegionKind, u64)> = script
        .memory
        .iter()
        .map(|&(kind, start, _)| (kind, start))
        .collect();
    assert_eq!(kinds, expected, "{map}");
    for (region, (_, _, inside)) in map.regions().iter().zip(script.memory) {
        assert!(region.range.contains(inside), "{inside:#x} in {map}");
    }
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), elf)?;
    let output = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .arg("run")
        .arg(file.path())
        .args(["--json", "--inputs", "2"])
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let layers = report["layers"].as_array().expect("layers");
    assert_eq!(layers.len(), 1);
    // Element by element: the output may lie where the input lies.
    assert_eq!(layers[0]["pairs"][0]["safe_overlap_bytes"], 64);
    Ok(())
}
