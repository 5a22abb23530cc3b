//! A static archive of object files, linked into a program whose functions can be called.
//!
//! The cross linker of the system does it: all members are kept, what they need of the C
//! library comes from the compiler's own, and nothing starts. Code lies where no null pointer
//! reaches it.

mod members;

use crate::attributes::Attributes;
use crate::cpu::{self, Cpu, CpuError};
use goblin::elf::{Elf, SectionHeader, header};
use members::{MAGIC, Member};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::process::{Command, Output, Stdio};

/// Why an archive does not become a program.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArchiveError {
    #[error("a thin archive: its members are elsewhere\n  hint: ar rcs makes a whole one")]
    Thin,
    #[error("damaged or truncated archive ({length} bytes): {reason}")]
    Damaged { length: usize, reason: String },
    #[error("an archive without object files")]
    Empty,
    #[error("member {member} is {given}, not an object file for an Armv7-M or Armv8-M core{hint}")]
    Foreign {
        member: String,
        given: String,
        hint: &'static str,
    },
    #[error("member {member}: {error}")]
    Cpu { member: String, error: CpuError },
    #[error(
        "no linker for it is installed: there is no {}\n  hint: install one, or give a linked .elf",
        LINKERS.map(|linker| linker.program).join(", no ")
    )]
    NoLinker,
    #[error(
        "{linker} cannot link it: it has no {}{}",
        .symbols.join(", no "),
        missing_hint(.linker)
    )]
    Missing {
        linker: &'static str,
        symbols: Vec<String>,
    },
    #[error("{linker} cannot link it:\n{message}")]
    Link {
        linker: &'static str,
        message: String,
    },
    #[error("cannot link it: {0}")]
    Io(#[from] std::io::Error),
}

fn missing_hint(linker: &str) -> &'static str {
    match linker == LINKERS[0].program {
        true => "\n  hint: add the object files that define them (ar rs), or link it yourself",
        false => {
            "\n  hint: with arm-none-eabi-gcc what is of the C library is found, or link it yourself"
        }
    }
}

/// Whether a file is an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(THIN_MAGIC)
}

const THIN_MAGIC: &[u8] = b"!<thin>\n";

/// Links all members into an ELF program for the CPU that `wanted` names, by default for the
/// least that they were built for.
///
/// # Errors
/// When a member is not for such a CPU, no linker is installed, or it does not succeed.
pub fn link(archive: &[u8], wanted: Option<&str>) -> Result<Vec<u8>, ArchiveError> {
    let build = Build::of(archive, wanted)?;
    let folder = tempfile::Builder::new().prefix("dmo-trace").tempdir()?;
    let folder = folder.path();
    std::fs::write(folder.join("library.a"), archive)?;
    std::fs::write(folder.join("script.ld"), SCRIPT)?;
    for linker in &LINKERS {
        let mut command = Command::new(linker.program);
        command.current_dir(folder).stdin(Stdio::null());
        command.args(linker.arguments(&build));
        match command.output() {
            Ok(output) => {
                succeeded(linker.program, &output)?;
                return Ok(std::fs::read(folder.join("library.elf"))?);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            Err(error) => return Err(error.into()),
        }
    }
    Err(ArchiveError::NoLinker)
}

/// What the members were built for.
#[derive(Debug, Clone, Copy)]
struct Build {
    cpu: Cpu,
    float_abi: &'static str,
}

impl Build {
    fn of(archive: &[u8], wanted: Option<&str>) -> Result<Self, ArchiveError> {
        let members = members(archive)?;
        let mut cpus = Vec::new();
        for (member, attributes) in &members {
            let cpu = cpu::choose(wanted, attributes).map_err(|error| ArchiveError::Cpu {
                member: member.clone(),
                error,
            })?;
            cpus.push(cpu);
        }
        let most = |cpu: &Cpu| (cpu.architecture, cpu.floating_point);
        let cpu = cpus
            .into_iter()
            .max_by_key(most)
            .ok_or(ArchiveError::Empty)?;
        let any = |has: fn(&Attributes) -> bool| members.iter().any(|(_, it)| has(it));
        let float_abi = if any(|it| it.float_arguments_in_registers) {
            "hard"
        } else if any(|it| it.floating_point.is_some_and(|version| version > 0)) {
            "softfp"
        } else {
            "soft"
        };
        Ok(Self { cpu, float_abi })
    }
}

/// The object files, and what they were built for.
fn members(archive: &[u8]) -> Result<Vec<(String, Attributes)>, ArchiveError> {
    if archive.starts_with(THIN_MAGIC) {
        return Err(ArchiveError::Thin);
    }
    let members = members::read(archive).map_err(|reason| ArchiveError::Damaged {
        length: archive.len(),
        reason,
    })?;
    let of_member = |member: Member| {
        let name = member.name.escape_debug().to_string();
        let attributes = attributes(&name, member.content)?;
        Ok((name, attributes))
    };
    members.into_iter().map(of_member).collect()
}

fn attributes(member: &str, bytes: &[u8]) -> Result<Attributes, ArchiveError> {
    let foreign = |given: String, hint| ArchiveError::Foreign {
        member: member.to_owned(),
        given,
        hint,
    };
    if !bytes.starts_with(header::ELFMAG) {
        let hint = match bytes.starts_with(b"BC\xc0\xde") {
            true => "\n  hint: it is LLVM bitcode: build without -flto",
            false => "",
        };
        return Err(foreign("no ELF file".to_owned(), hint));
    }
    let elf = Elf::parse(bytes).map_err(|error| foreign(format!("damaged ({error})"), ""))?;
    let header = elf.header;
    if header.e_machine != header::EM_ARM {
        let given = header::machine_to_str(header.e_machine);
        return Err(foreign(format!("for {given}"), BUILD_HINT));
    }
    if header.e_ident[header::EI_CLASS] != header::ELFCLASS32
        || header.e_ident[header::EI_DATA] != header::ELFDATA2LSB
    {
        return Err(foreign(
            "not for 32-bit little-endian Arm".to_owned(),
            BUILD_HINT,
        ));
    }
    if header.e_type != header::ET_REL {
        return Err(foreign("already linked".to_owned(), ""));
    }
    if is_unfinished(&elf) {
        let hint = "\n  hint: build without -flto, or with -ffat-lto-objects";
        return Err(foreign("link-time optimisation code only".to_owned(), hint));
    }
    let sections = elf.section_headers.iter();
    let mut named = sections
        .filter(|section| elf.shdr_strtab.get_at(section.sh_name) == Some(".ARM.attributes"));
    let content = named
        .next()
        .and_then(SectionHeader::file_range)
        .and_then(|range| bytes.get(range));
    Ok(Attributes::read(content.unwrap_or_default()))
}

/// Whether GCC has left the code to the linker, which takes of it only what somebody calls: here
/// nobody does.
fn is_unfinished(elf: &Elf) -> bool {
    let mut sections = elf.section_headers.iter();
    let is_left = |section: &SectionHeader| {
        let name = elf.shdr_strtab.get_at(section.sh_name);
        name.is_some_and(|name| name.starts_with(".gnu.lto_"))
    };
    sections.clone().any(is_left)
        && !sections.any(|section| section.is_executable() && section.sh_size > 0)
}

const BUILD_HINT: &str = "\n  hint: build it with a cross compiler, -mcpu=cortex-m4 for instance";

/// A program that links.
#[derive(Debug, Clone, Copy)]
struct Linker {
    program: &'static str,
    /// It drives a linker and knows the C library.
    is_compiler: bool,
}

/// The first that is installed is taken.
const LINKERS: [Linker; 3] = [
    Linker {
        program: "arm-none-eabi-gcc",
        is_compiler: true,
    },
    Linker {
        program: "arm-none-eabi-ld",
        is_compiler: false,
    },
    Linker {
        program: "ld.lld",
        is_compiler: false,
    },
];

impl Linker {
    fn arguments(&self, build: &Build) -> Vec<String> {
        let mut arguments = Vec::new();
        let options = ["-e", "0", "--build-id=none", "--no-demangle"];
        if self.is_compiler {
            arguments.push(format!("-mcpu={}", build.cpu.name));
            arguments.push("-mthumb".to_owned());
            arguments.push(format!("-mfloat-abi={}", build.float_abi));
            // Of objects with both, the code as the compiler left it.
            let plain = ["-nostartfiles", "-static", "-fno-lto"];
            arguments.extend(plain.map(str::to_owned));
            arguments.push(format!("-Wl,{}", options.join(",")));
            arguments.extend(ALL_MEMBERS.map(|option| match option.starts_with("--") {
                true => format!("-Wl,{option}"),
                false => option.to_owned(),
            }));
            arguments.push("-lm".to_owned());
        } else {
            arguments.extend(options.map(str::to_owned));
            arguments.extend(ALL_MEMBERS.map(str::to_owned));
        }
        arguments.extend(["-T", "script.ld", "-o", "library.elf"].map(str::to_owned));
        arguments
    }
}

const ALL_MEMBERS: [&str; 3] = ["--whole-archive", "library.a", "--no-whole-archive"];

/// Flash away from address 0, so that a null pointer is a fault; RAM where calls expect it.
const SCRIPT: &str = "\
MEMORY {
  FLASH (rx)  : ORIGIN = 0x08000000, LENGTH = 64M
  RAM   (rwx) : ORIGIN = 0x20000000, LENGTH = 32M
}
SECTIONS {
  .text : { *(.text .text.*) *(.rodata .rodata.*) } > FLASH
  .ARM.extab : { *(.ARM.extab* .gnu.linkonce.armextab.*) } > FLASH
  .ARM.exidx : {
    PROVIDE_HIDDEN(__exidx_start = .);
    *(.ARM.exidx* .gnu.linkonce.armexidx.*)
    PROVIDE_HIDDEN(__exidx_end = .);
  } > FLASH
  .data : ALIGN(8) { *(.data .data.*) } > RAM AT > FLASH
  .bss (NOLOAD) : ALIGN(8) { *(.bss .bss.* COMMON) } > RAM
  .ARM.attributes 0 : { *(.ARM.attributes) }
}
";

fn succeeded(linker: &'static str, output: &Output) -> Result<(), ArchiveError> {
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let symbols: BTreeSet<&str> = text.lines().filter_map(undefined).collect();
    if symbols.is_empty() {
        let message = some_of(text.lines().map(printable).collect());
        return Err(ArchiveError::Link {
            linker,
            message: message.join("\n"),
        });
    }
    Err(ArchiveError::Missing {
        linker,
        symbols: some_of(symbols.into_iter().map(printable).collect()),
    })
}

/// The symbol of a complaint: of GNU's linker between a backquote and a quote, of LLVM's behind
/// a colon.
fn undefined(line: &str) -> Option<&str> {
    if let Some((_, rest)) = line.split_once("undefined reference to `") {
        return rest.split('\'').next();
    }
    Some(line.split_once("undefined symbol: ")?.1.trim())
}

/// Without what a terminal would obey.
fn printable(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).collect()
}

/// So many are told.
const MOST: usize = 12;

fn some_of(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}
