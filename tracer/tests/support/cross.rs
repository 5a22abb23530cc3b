//! Firmware that a test builds with the cross compiler.

use super::tools::{self, Availability};
use dmo_trace::program::target::{Target, TargetOptions};
use libtest_mimic::Failed;
use std::path::{Path, PathBuf};
use std::process::Command;

const GCC: &str = "arm-none-eabi-gcc";

/// Name and flags of each CPU.
pub const CPUS: [(&str, &[&str]); 4] = [
    ("cortex-m3", &["-mfloat-abi=soft"]),
    ("cortex-m4", &["-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]),
    ("cortex-m7", &["-mfloat-abi=softfp", "-mfpu=fpv5-d16"]),
    ("cortex-m33", &["-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"]),
];

/// A CPU without recorded programs, and how programs are built for it.
#[derive(Debug, Clone, Copy)]
pub struct Core {
    /// As for `--cpu`.
    pub name: &'static str,
    /// As for the compiler's `-mcpu`.
    pub built_for: &'static str,
    pub flags: &'static [&'static str],
    pub board: Board,
}

/// Where QEMU's board of this name has memory; without a name, any board's.
#[derive(Debug, Clone, Copy)]
pub struct Board {
    pub qemu: Option<&'static str>,
    /// Start and length, as in a linker script.
    pub flash: [&'static str; 2],
    pub ram: [&'static str; 2],
}

const ANY_BOARD: Board = Board {
    qemu: None,
    flash: ["0x00000000", "256K"],
    ram: ["0x20000000", "16K"],
};

/// Each has one board at most. GCC 12 knows no Cortex-M85: it runs what is built for a Cortex-M55.
pub const CORES: [Core; 6] = [
    Core {
        name: "cortex-m0",
        built_for: "cortex-m0",
        flags: &["-mfloat-abi=soft"],
        board: ANY_BOARD,
    },
    Core {
        name: "cortex-m0plus",
        built_for: "cortex-m0plus",
        flags: &["-mfloat-abi=soft"],
        board: Board {
            qemu: Some("microbit"),
            ..ANY_BOARD
        },
    },
    Core {
        name: "cortex-m23",
        built_for: "cortex-m23",
        flags: &["-mfloat-abi=soft"],
        board: ANY_BOARD,
    },
    Core {
        name: "cortex-m33",
        built_for: "cortex-m33",
        flags: &["-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        board: Board {
            qemu: Some("mps2-an505"),
            flash: ["0x10000000", "4M"],
            ram: ["0x38000000", "4M"],
        },
    },
    Core {
        name: "cortex-m55",
        built_for: "cortex-m55+nomve",
        flags: &["-mfloat-abi=hard"],
        board: Board {
            qemu: Some("mps3-an547"),
            flash: ["0x00000000", "512K"],
            ram: ["0x20000000", "512K"],
        },
    },
    Core {
        name: "cortex-m85",
        built_for: "cortex-m55+nomve",
        flags: &["-mfloat-abi=hard"],
        board: ANY_BOARD,
    },
];

/// The examples that fit into 16 KiB of RAM and are short.
pub const SMALL_EXAMPLES: [&str; 3] = ["it_block", "pad", "reshape"];

impl Core {
    /// An example program for this core, in the memory of its board.
    pub fn example(&self, name: &str) -> Result<Vec<u8>, Failed> {
        let examples = kernels("examples");
        let mut sources = vec![examples.join(name).with_extension("c")];
        sources.push(examples.join("example.c"));
        let needed = [
            "marks/dmo_trace.c",
            "oracle/oracle.c",
            "oracle/oracle_layout.c",
        ];
        sources.extend(needed.map(kernels));
        let own = format!("dmo_{name}_");
        let file_name = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
        let of_kernels = sources_in(&kernels("reference"))?;
        let is_own = |path: &PathBuf| file_name(path).is_some_and(|it| it.starts_with(&own));
        sources.extend(of_kernels.into_iter().filter(is_own));
        self.build(&sources)
    }

    /// A program of these sources and the board's start-up code.
    pub fn build(&self, sources: &[PathBuf]) -> Result<Vec<u8>, Failed> {
        let Board { flash, ram, .. } = self.board;
        let folder = tempfile::tempdir()?;
        let script = folder.path().join("board.ld");
        let text = std::fs::read_to_string(kernels("board/link.ld"))?;
        let memory = |[start, length]: [&str; 2]| format!("ORIGIN = {start}, LENGTH = {length}");
        let boards = text
            .replace(&memory(["0x00000000", "4M"]), &memory(flash))
            .replace(&memory(["0x20000000", "4M"]), &memory(ram))
            .replace("stack_top - 16K", "stack_top - 4K");
        std::fs::write(&script, boards)?;
        let mut sources = sources.to_vec();
        sources.extend([kernels("board/startup.c"), kernels("board/semihost.c")]);
        let common = ["-nostartfiles", "-O2", "-fdata-sections"];
        let flags = [&common, self.flags].concat();
        link(self.built_for, &flags, &script, &sources)
    }

    /// The program on this core.
    pub fn target(&self, elf: &[u8]) -> Target {
        let options = TargetOptions {
            cpu: Some(self.name.to_owned()),
            ..TargetOptions::default()
        };
        Target::new(elf, &options).expect("a target")
    }
}

/// Whether C and C++ can be compiled.
pub fn compiler() -> Availability {
    let found = tools::version(GCC).and_then(|_| tools::version("arm-none-eabi-g++"));
    found.map(|_| ())
}

/// A source of the tests' own.
pub fn firmware(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware");
    folder.join(name)
}

/// A file of the C kernels.
pub fn kernels(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-c");
    folder.join(name)
}

/// The C sources in a folder, in order.
pub fn sources_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?;
    let paths: std::io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut sources: Vec<PathBuf> = paths?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    sources.sort();
    Ok(sources)
}

/// An ELF file of these sources and the board's start-up code.
pub fn compile(cpu: &str, flags: &[&str], sources: &[PathBuf]) -> Result<Vec<u8>, Failed> {
    let script = kernels("board/link.ld");
    let mut sources = sources.to_vec();
    sources.extend([kernels("board/startup.c"), kernels("board/semihost.c")]);
    let mut all = vec!["-nostartfiles"];
    all.extend(flags);
    link(cpu, &all, &script, &sources)
}

/// An ELF file of these sources, laid out by the script.
pub fn link(
    cpu: &str,
    flags: &[&str],
    script: &Path,
    sources: &[PathBuf],
) -> Result<Vec<u8>, Failed> {
    let script = format!("-Wl,-T,{}", script.display());
    let flags = [flags, &[script.as_str()]].concat();
    link_by_default(cpu, &flags, sources)
}

/// An ELF file of these sources, laid out by the toolchain's own script.
pub fn link_by_default(cpu: &str, flags: &[&str], sources: &[PathBuf]) -> Result<Vec<u8>, Failed> {
    let folder = tempfile::tempdir()?;
    let elf = folder.path().join("firmware.elf");
    let mut command = Command::new(GCC);
    command.arg(format!("-mcpu={cpu}"));
    command.args(["-mthumb", "-g", "-ffp-contract=off", "-fno-exceptions"]);
    command.args(["-static", "-ffunction-sections", "-Wl,--gc-sections"]);
    command.arg("-Wl,--no-warn-rwx-segments");
    command.args(flags);
    let includes = ["include", "include/cmsis_nn", "marks", "board", "dsp"];
    for include in includes.into_iter().chain(["examples", "oracle"]) {
        command.arg("-I").arg(kernels(include));
    }
    command.arg("-I").arg(firmware(""));
    command.args(sources).arg("-lm").arg("-o").arg(&elf);
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{command:?}: {message}").into());
    }
    Ok(std::fs::read(&elf)?)
}

/// [`compile`]d, and read.
pub fn built(cpu: &str, flags: &[&str], sources: &[PathBuf]) -> Result<Target, Failed> {
    let target = super::target(&compile(cpu, flags, sources)?);
    assert_eq!(target.cpu.name, cpu);
    Ok(target)
}
