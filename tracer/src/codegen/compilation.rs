//! Compiling a generated library with the user's cross compiler.

use super::library::{GeneratedFile, flags_of};
use crate::call::archive::{self, ArchiveError};
use crate::elf::image::{Image, ImageError};
use dmo_analysis::wording::first_lines;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

/// A C compiler for the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// Its program.
    pub program: String,
    /// Flags after those for the CPU and the language; the last of several counts.
    pub flags: Vec<String>,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            program: "arm-none-eabi-gcc".to_owned(),
            flags: vec!["-O2".to_owned()],
        }
    }
}

impl Compiler {
    /// # Errors
    /// When there is no such program.
    pub fn ensure_installed(&self) -> Result<(), CompileError> {
        version(self, Path::new(".")).map(drop)
    }
}

/// A compiler without the headers of a C library.
fn header_hint(message: &str) -> &'static str {
    if message.contains("string.h") && message.contains("No such file") {
        "\n  hint: the compiler's C library is missing (Debian: libnewlib-arm-none-eabi)"
    } else {
        ""
    }
}

/// Why a library does not become a program.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CompileError {
    #[error(
        "there is no compiler {program}\n  hint: install it (Debian: gcc-arm-none-eabi and \
         libnewlib-arm-none-eabi), or name another one with --cc"
    )]
    NoCompiler { program: String },
    #[error(
        "{program} does not compile the library:\n{message}{}",
        header_hint(message)
    )]
    Compile { program: String, message: String },
    #[error(
        "{program} {end}, without a message:\n  {command}\n  hint: --cc names a C compiler that takes \
         GCC's options, such as arm-none-eabi-gcc"
    )]
    Silent {
        program: String,
        /// How it ended.
        end: String,
        command: String,
    },
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("the linked library: {0}")]
    Image(#[from] ImageError),
    #[error("cannot compile the library: {0}")]
    Io(#[from] std::io::Error),
}

/// A compiled library.
#[derive(Debug)]
pub struct Compiled {
    /// What the compiler calls itself.
    pub compiler: String,
    /// All of it, linked, to be called.
    pub elf: Vec<u8>,
    /// Code, constants and initialised data of what an inference needs, in bytes.
    pub flash_bytes: u64,
    /// Variables outside the arena, in bytes.
    pub data_bytes: u64,
}

/// Compiles the library's sources, and `further` ones that only the proof needs, for a CPU. An
/// inference begins at the functions of `entries`.
///
/// # Errors
/// When there is no such compiler, or it does not succeed.
pub fn compile(
    compiler: &Compiler,
    cpu: &str,
    files: &[GeneratedFile],
    further: &[GeneratedFile],
    entries: &[String],
) -> Result<Compiled, CompileError> {
    let folder = tempfile::Builder::new()
        .prefix(&crate::temporary::prefix())
        .tempdir()?;
    let folder = folder.path();
    let is_source = |file: &&GeneratedFile| file.path.starts_with("src/");
    for file in files.iter().filter(is_source).chain(further) {
        let path = folder.join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, &file.text)?;
    }
    let own = objects(compiler, cpu, folder, files)?;
    let for_proof = objects(compiler, cpu, folder, further)?;
    let needed = linked(compiler, cpu, folder, &own, entries)?;
    let read = |name: &String| Ok((name.clone(), std::fs::read(folder.join(name))?));
    let members = own.iter().chain(&for_proof).map(read);
    let members = members.collect::<Result<Vec<_>, std::io::Error>>()?;
    let elf = archive::link(&archive::of_objects(&members), Some(cpu))?;
    let sections = &Image::parse(&needed)?.segments;
    let in_ram = |address: u32| address >= 0x2000_0000;
    Ok(Compiled {
        compiler: version(compiler, folder)?,
        elf,
        flash_bytes: sections.iter().map(|it| it.content.len() as u64).sum(),
        data_bytes: sections
            .iter()
            .filter(|it| in_ram(it.run_address))
            .map(|it| u64::from(it.run_bytes))
            .sum(),
    })
}

/// Compiles the C files among these; gives the objects' names.
fn objects(
    compiler: &Compiler,
    cpu: &str,
    folder: &Path,
    files: &[GeneratedFile],
) -> Result<Vec<String>, CompileError> {
    let sources = files.iter().map(|file| file.path.as_str());
    let sources = sources.filter(|path| path.starts_with("src/") && path.ends_with(".c"));
    let mut objects = Vec::new();
    for source in sources {
        let stem = source.trim_end_matches(".c");
        let object = format!("{}.o", stem.rsplit('/').next().unwrap_or(stem));
        let arguments = ["-Isrc", "-c", source, "-o", &object];
        run(compiler, cpu, folder, &object, arguments.map(str::to_owned))?;
        objects.push(object);
    }
    Ok(objects)
}

/// What remains of the objects where nothing is linked that the entries do not need.
fn linked(
    compiler: &Compiler,
    cpu: &str,
    folder: &Path,
    objects: &[String],
    entries: &[String],
) -> Result<Vec<u8>, CompileError> {
    const SCRIPT: &str = "SECTIONS { . = 0x8000; .text : { *(.text* .rodata*) } \
                          .ARM.exidx : { *(.ARM.exidx*) } \
                          . = 0x20000000; .data : { *(.data*) } .bss : { *(.bss* COMMON) } }\n";
    std::fs::write(folder.join("needed.ld"), SCRIPT)?;
    let mut arguments: Vec<String> = vec!["-nostartfiles".to_owned(), "-static".to_owned()];
    arguments.extend(["-Tneeded.ld", "-Wl,--gc-sections", "-o", "needed.elf"].map(str::to_owned));
    arguments.extend(entries.first().map(|entry| format!("-Wl,-e,{entry}")));
    arguments.extend(entries.iter().map(|entry| format!("-Wl,-u,{entry}")));
    arguments.extend(objects.iter().cloned());
    arguments.push("-lm".to_owned());
    run(compiler, cpu, folder, "needed.elf", arguments)?;
    Ok(std::fs::read(folder.join("needed.elf"))?)
}

/// Runs the compiler, which has to write this file.
fn run(
    compiler: &Compiler,
    cpu: &str,
    folder: &Path,
    written: &str,
    arguments: impl IntoIterator<Item = String>,
) -> Result<(), CompileError> {
    let flags = "-std=c99 -ffp-contract=off -ffunction-sections -fdata-sections";
    let of_target = flags_of(cpu).split(' ').chain(flags.split(' '));
    let all: Vec<String> = of_target
        .map(str::to_owned)
        .chain(compiler.flags.iter().cloned())
        .chain(arguments)
        .collect();
    let mut command = Command::new(&compiler.program);
    command.current_dir(folder).stdin(Stdio::null()).args(&all);
    let output = command.output().map_err(|error| missing(compiler, error))?;
    let is_written = folder.join(written).is_file();
    if output.status.success() && is_written {
        return Ok(());
    }
    let program = compiler.program.clone();
    let said = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    let said = said.iter().find(|text| !text.trim().is_empty());
    if let Some(said) = said.filter(|_| !output.status.success()) {
        let lines = said.lines().map(str::to_owned).collect();
        let message = first_lines(lines, 12).join("\n");
        return Err(CompileError::Compile { program, message });
    }
    let end = match output.status.code() {
        Some(0) => format!("ended with code 0 and has not written {written}"),
        Some(code) => format!("ended with code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    Err(CompileError::Silent {
        command: format!("{program} {}", all.join(" ")),
        program,
        end,
    })
}

fn version(compiler: &Compiler, folder: &Path) -> Result<String, CompileError> {
    let mut command = Command::new(&compiler.program);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .arg("--version");
    let output = command.output().map_err(|error| missing(compiler, error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn missing(compiler: &Compiler, error: std::io::Error) -> CompileError {
    if error.kind() == ErrorKind::NotFound {
        let program = compiler.program.clone();
        CompileError::NoCompiler { program }
    } else {
        error.into()
    }
}
