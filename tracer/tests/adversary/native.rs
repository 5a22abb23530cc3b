//! Generated libraries, compiled for this machine.

use dmo_trace::codegen::library::GeneratedFile;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What every source has to pass. Loops that copy have to stay as they are written, as the library's
/// own build files say.
const FLAGS: [&str; 10] = [
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
    "-fPIC",
    "-fno-tree-loop-distribute-patterns",
    "-Isrc",
];

/// A compiler that remembers: libraries share their kernels.
pub struct NativeCompiler {
    folder: TempDir,
    /// Objects by flags and source.
    objects: HashMap<(Vec<&'static str>, String), PathBuf>,
}

/// A library whose sources are compiled.
pub struct NativeLibrary {
    /// Its files, and what is linked of them.
    folder: TempDir,
    objects: Vec<PathBuf>,
    flags: Vec<&'static str>,
}

impl NativeCompiler {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            objects: HashMap::new(),
        }
    }

    /// Compiles a library's sources.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn compile(
        &mut self,
        files: &[GeneratedFile],
        flags: &[&'static str],
    ) -> Result<NativeLibrary, String> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        let is_source =
            |file: &&GeneratedFile| file.path.starts_with("src/") && file.path.ends_with(".c");
        let objects = files.iter().filter(is_source).map(|file| {
            let is_kernel = file.path.starts_with("src/kernels/");
            let key = (flags.to_vec(), file.text.clone());
            if let Some(object) = self.objects.get(&key).filter(|_| is_kernel) {
                return Ok(object.clone());
            }
            let number = self.objects.len();
            let object = if is_kernel {
                self.folder.path().join(format!("{number}.o"))
            } else {
                let name = file.path.replace('/', "_");
                folder.path().join(format!("{name}.o"))
            };
            let output = object.to_str().unwrap();
            gcc(folder.path(), flags, &["-c", &file.path, "-o", output])?;
            if is_kernel {
                self.objects.insert(key, object.clone());
            }
            Ok(object)
        });
        Ok(NativeLibrary {
            objects: objects.collect::<Result<_, String>>()?,
            flags: flags.to_vec(),
            folder,
        })
    }
}

impl NativeLibrary {
    /// The library as a shared object.
    pub fn shared_object(&self) -> Result<PathBuf, String> {
        let path = self.folder.path().join("library.so");
        self.link(&["-shared", "-Wl,--no-undefined"], &path)?;
        Ok(path)
    }

    /// Runs the library's own test; gives what it says.
    ///
    /// # Errors
    /// When it fails, or is not compiled.
    pub fn test(&self, test: &str) -> Result<(), String> {
        let path = self.folder.path().join("test-program");
        self.link(&["-Itest", test], &path)?;
        let run = Command::new(&path).output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        if run.status.success() && said.contains(" recorded inferences, ") {
            return Ok(());
        }
        Err(format!("its own test: {} {said}", run.status))
    }

    fn link(&self, arguments: &[&str], path: &Path) -> Result<(), String> {
        let objects = self.objects.iter().map(|it| it.to_str().unwrap());
        let mut all = arguments.to_vec();
        all.extend(objects);
        all.extend(["-lm", "-o", path.to_str().unwrap()]);
        gcc(self.folder.path(), &self.flags, &all)
    }
}

fn gcc(folder: &Path, flags: &[&str], arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("gcc");
    command.current_dir(folder).args(FLAGS).args(flags);
    let output = command.args(arguments).output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}
