//! Static libraries, built as a user builds them.

use dmo_trace::call::{DEFAULT_RAM, archive};
use dmo_trace::kernels::KernelLibrary;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the C code.
pub fn kernels_c() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-c")
}

/// For a Cortex-M4 with floats in registers.
pub const HARD: [&str; 4] = [
    "-mcpu=cortex-m4",
    "-mthumb",
    "-mfloat-abi=hard",
    "-mfpu=fpv4-sp-d16",
];

/// A folder in which libraries are built.
pub struct Workshop {
    pub folder: tempfile::TempDir,
    flags: Vec<String>,
}

impl Workshop {
    pub fn new(flags: &[&str]) -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a file with macros.
    pub fn compile(&self, source: &Path, macros: &[String]) -> PathBuf {
        let stem = source
            .file_stem()
            .and_then(|it| it.to_str())
            .expect("a name");
        let object = self.path(&format!("{stem}.o"));
        let mut command = Command::new("arm-none-eabi-gcc");
        command.args(&self.flags).args(["-std=c11", "-O2", "-c"]);
        for folder in ["include", "include/cmsis_nn", "dsp", "reference"] {
            command.arg("-I").arg(kernels_c().join(folder));
        }
        command.args(macros).arg(source).arg("-o").arg(&object);
        run(&mut command);
        object
    }

    pub fn archive(&self, name: &str, objects: &[PathBuf]) -> PathBuf {
        let path = self.path(name);
        run(Command::new("arm-none-eabi-ar")
            .arg("rcsD")
            .arg(&path)
            .args(objects));
        path
    }
}

/// Runs a tool, which has to succeed.
pub fn run(command: &mut Command) {
    let output = command.output().expect("a tool");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{errors}");
}

/// The library that a static one is linked to.
pub fn linked(path: &Path) -> KernelLibrary {
    let archive = std::fs::read(path).expect("a library");
    let elf = archive::link(&archive, None).expect("linked");
    KernelLibrary::new(&elf, None, DEFAULT_RAM).expect("a library")
}
