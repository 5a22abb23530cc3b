//! Firmware that a test builds with the cross compiler.

use super::tools::{self, Availability};
use dmo_trace::program::target::Target;
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
    for include in ["include", "include/cmsis_nn", "marks", "board", "dsp"] {
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
