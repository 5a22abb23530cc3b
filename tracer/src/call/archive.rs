//! A static archive of object files, linked into a program whose functions can be called.
//!
//! The cross linker of the system does it: all members are kept, what they need of the C
//! library comes from the compiler's own, and nothing starts. Code lies where no null pointer
//! reaches it.

mod members;
mod weak;

use crate::elf::attributes::Attributes;
use crate::elf::constructors::is_of_constructors;
use crate::elf::image::MAX_FILE_BYTES;
use crate::mcu::cpu::{self, Cpu, CpuError};
use dmo_analysis::wording::first_lines;
use dmo_analysis::wording::grouped;
use goblin::elf::section_header::{SHF_ALLOC, SHF_COMPRESSED, SHT_NOBITS};
use goblin::elf::{Elf, SectionHeader, header};
use members::{MAGIC, Member};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::process::{Command, Output, Stdio};
use weak::Names;

/// Why an archive does not become a program.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArchiveError {
    #[error("a thin archive: its members are elsewhere\n  hint: ar rcs makes a whole one")]
    Thin,
    #[error("damaged or truncated archive ({} bytes): {reason}", grouped(*length as u64))]
    Damaged { length: usize, reason: String },
    #[error("an archive without object files")]
    Empty,
    #[error("member {member} is {given}, not an object file for an Armv7-M or Armv8-M core{hint}")]
    Foreign {
        member: String,
        given: String,
        hint: &'static str,
    },
    #[error(
        "linked and with its debug information unpacked, it may have {} bytes, the limit is {}",
        grouped(*given),
        grouped(*limit)
    )]
    TooLarge { given: u64, limit: u64 },
    #[error(
        "member {member} has code that must run before all else ({section}); nothing of a library is started, and its kernels may do something else without\n  \
         hint: leave the member out (ar d), or make what it sets up constant"
    )]
    Constructors { member: String, section: String },
    #[error(
        "{symbol} is defined in member {} and in {}, once weakly: which of them a firmware gets depends on how it is linked\n  \
         hint: leave one of them out (ar d)",
        .members[0],
        .members[1]
    )]
    Ambiguous {
        symbol: String,
        members: [String; 2],
    },
    #[error(
        "member {member} uses {symbol} only in a firmware that has it (weak, and not in the archive); its kernels may do something else there\n  \
         hint: add the object file that defines it (ar rs), or leave the use out"
    )]
    Wanted { member: String, symbol: String },
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
    if linker == LINKERS[0].program {
        "\n  hint: add the object files that define them (ar rs), or link it yourself"
    } else {
        "\n  hint: arm-none-eabi-gcc finds what belongs to the C library; or link it yourself"
    }
}

/// Returns `true` if a file is a static library.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(THIN_MAGIC)
}

const THIN_MAGIC: &[u8] = b"!<thin>\n";

/// An archive of object files, each with its name.
pub fn of_objects(objects: &[(String, Vec<u8>)]) -> Vec<u8> {
    let members = objects.iter().map(|(name, content)| Member {
        name: name.clone(),
        content,
    });
    members::write(&members.collect::<Vec<_>>())
}

/// All that [`link`] looks at before it calls a linker.
///
/// # Errors
/// When a member is not for such a CPU, or all together are too large.
pub fn check(archive: &[u8], wanted: Option<&str>) -> Result<(), ArchiveError> {
    Build::of(&read(archive)?, wanted).map(drop)
}

/// Links all members, and nothing else of the archive, into an ELF program for the CPU that `wanted` names, by default for the
/// least that they were built for.
///
/// # Errors
/// When a member is not for such a CPU, no linker is installed, or it does not succeed.
pub fn link(archive: &[u8], wanted: Option<&str>) -> Result<Vec<u8>, ArchiveError> {
    let members = read(archive)?;
    let build = Build::of(&members, wanted)?;
    let folder = tempfile::Builder::new()
        .prefix(&crate::temporary::prefix())
        .tempdir()?;
    let folder = folder.path();
    // Written anew: whatever the linker might read into the one given, it sees these members.
    std::fs::write(folder.join("library.a"), members::write(&members))?;
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

/// The core that the members were built for.
#[derive(Debug, Clone, Copy)]
struct Build {
    cpu: Cpu,
    float_abi: &'static str,
}

impl Build {
    fn of(members: &[Member], wanted: Option<&str>) -> Result<Self, ArchiveError> {
        let mut built_for = Vec::new();
        let mut cpus = Vec::new();
        let mut linked_bytes = 0_u64;
        let mut names = Names::default();
        for member in members {
            let name = member.name.escape_debug().to_string();
            let object = Object::read(&name, member.content, &mut names)?;
            let cpu = cpu::choose(wanted, &object.attributes);
            cpus.push(cpu.map_err(|error| ArchiveError::Cpu {
                member: name,
                error,
            })?);
            built_for.push(object.attributes);
            linked_bytes = linked_bytes.saturating_add(object.linked_bytes);
        }
        if linked_bytes > MAX_FILE_BYTES as u64 {
            return Err(ArchiveError::TooLarge {
                given: linked_bytes,
                limit: MAX_FILE_BYTES as u64,
            });
        }
        names.check()?;
        let cpu = cpu::that_runs_code_of(&cpus).ok_or(ArchiveError::Empty)?;
        let any = |has: fn(&Attributes) -> bool| built_for.iter().any(has);
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

/// The object files.
fn read(archive: &[u8]) -> Result<Vec<Member<'_>>, ArchiveError> {
    if archive.starts_with(THIN_MAGIC) {
        return Err(ArchiveError::Thin);
    }
    members::read(archive).map_err(|reason| ArchiveError::Damaged {
        length: archive.len(),
        reason,
    })
}

/// What an object file is like.
struct Object {
    /// The core that it was built for.
    attributes: Attributes,
    /// The most that it takes of a linked program's file.
    linked_bytes: u64,
}

impl Object {
    fn read(member: &str, bytes: &[u8], names: &mut Names) -> Result<Self, ArchiveError> {
        let foreign = |given: String, hint| ArchiveError::Foreign {
            member: member.to_owned(),
            given,
            hint,
        };
        if !bytes.starts_with(header::ELFMAG) {
            let hint = if bytes.starts_with(b"BC\xc0\xde") {
                "\n  hint: it is LLVM bitcode: build without -flto"
            } else {
                ""
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
        let symbols = &mut elf.syms.iter();
        if symbols.any(|symbol| elf.strtab.get_at(symbol.st_name) == Some(SLIM)) {
            return Err(foreign(
                "nothing but link-time optimisation code".to_owned(),
                "\n  hint: build without -flto, or with -ffat-lto-objects",
            ));
        }
        let content = |section: &SectionHeader| bytes.get(section.file_range()?);
        let sections = elf.section_headers.iter();
        let name = |section: &SectionHeader| {
            let name = elf.shdr_strtab.get_at(section.sh_name);
            name.unwrap_or_default()
        };
        let mut kept = sections.clone().filter(|section| section.sh_size > 0);
        if let Some(section) = kept.find(|section| is_of_constructors(name(section))) {
            return Err(ArchiveError::Constructors {
                member: printable(member),
                section: printable(name(section)),
            });
        }
        names.add(member, &elf)?;
        let linked_bytes = sections.clone().map(|section| {
            let content = content(section).unwrap_or_default();
            linked_bytes(section, name(section), content)
        });
        let mut named = sections.filter(|section| name(section) == ".ARM.attributes");
        let attributes = named.next().and_then(content);
        Ok(Self {
            attributes: Attributes::read(attributes.unwrap_or_default()),
            linked_bytes: linked_bytes.fold(0, u64::saturating_add),
        })
    }
}

/// The symbol with which GCC says that an object has no machine code.
const SLIM: &str = "__gnu_lto_slim";

/// What a section takes of a linked file, aligned and unpacked, where it is not memory that
/// starts as zeros: for that there is RAM.
fn linked_bytes(section: &SectionHeader, name: &str, content: &[u8]) -> u64 {
    let has = |flag: u32| section.sh_flags & u64::from(flag) != 0;
    if section.sh_type == SHT_NOBITS && has(SHF_ALLOC) {
        return 0;
    }
    let number = |range: std::ops::Range<usize>| content.get(range);
    // `Elf32_Chdr`: type, size, alignment. Before there was such a flag: "ZLIB" and the size.
    let unpacked = match (number(4..8), number(4..12)) {
        (Some(&[a, b, c, d]), _) if has(SHF_COMPRESSED) => u32::from_le_bytes([a, b, c, d]).into(),
        (_, Some(&[a, b, c, d, e, f, g, h])) if name.starts_with(".zdebug") => {
            u64::from_be_bytes([a, b, c, d, e, f, g, h])
        }
        _ => 0,
    };
    let size_bytes = section.sh_size.max(unpacked);
    size_bytes.saturating_add(section.sh_addralign)
}

const BUILD_HINT: &str = "\n  hint: build it with a cross compiler, -mcpu=cortex-m4 for instance";

/// A program that links.
#[derive(Debug, Clone, Copy)]
struct Linker {
    program: &'static str,
    /// It drives a linker and knows the C library.
    is_compiler: bool,
    /// With this option members name no other files to be linked.
    refused: Option<&'static str>,
}

/// The first that is installed is taken.
const LINKERS: [Linker; 3] = [
    Linker {
        program: "arm-none-eabi-gcc",
        is_compiler: true,
        refused: None,
    },
    Linker {
        program: "arm-none-eabi-ld",
        is_compiler: false,
        refused: None,
    },
    Linker {
        program: "ld.lld",
        is_compiler: false,
        refused: Some("--no-dependent-libraries"),
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
            arguments.extend(["-nostartfiles", "-static"].map(str::to_owned));
            // Members may hold options for a compiler and an assembler that the linker would start.
            arguments.extend(["-fno-lto", "-fno-use-linker-plugin"].map(str::to_owned));
            arguments.push(format!("-Wl,{}", options.join(",")));
            arguments.extend(ALL_MEMBERS.map(|option| {
                if option.starts_with("--") {
                    format!("-Wl,{option}")
                } else {
                    option.to_owned()
                }
            }));
            arguments.push("-lm".to_owned());
        } else {
            arguments.extend(options.map(str::to_owned));
            arguments.extend(self.refused.map(str::to_owned));
            arguments.extend(ALL_MEMBERS.map(str::to_owned));
        }
        arguments.extend(["-T", "script.ld", "-o", "library.elf"].map(str::to_owned));
        arguments
    }
}

const ALL_MEMBERS: [&str; 3] = ["--whole-archive", "library.a", "--no-whole-archive"];

/// Flash away from address 0, so that a null pointer is a fault; RAM where calls expect it. What
/// newlib wants of an operating system, which a kernel has no use for, is an undefined instruction.
const SCRIPT: &str = "\
MEMORY {
  FLASH (rx)  : ORIGIN = 0x08000000, LENGTH = 64M
  RAM   (rwx) : ORIGIN = 0x20000000, LENGTH = 32M
}
SECTIONS {
  .text : {
    *(.text .text.*) *(.rodata .rodata.*)
    . = ALIGN(4);
    PROVIDE(_close = .); PROVIDE(_exit = .); PROVIDE(_fstat = .); PROVIDE(_getpid = .);
    PROVIDE(_isatty = .); PROVIDE(_kill = .); PROVIDE(_lseek = .); PROVIDE(_open = .);
    PROVIDE(_read = .); PROVIDE(_sbrk = .); PROVIDE(_write = .);
    SHORT(0xde00)
  } > FLASH
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
        let message = first_lines(text.lines().map(printable).collect(), MOST);
        return Err(ArchiveError::Link {
            linker,
            message: message.join("\n"),
        });
    }
    Err(ArchiveError::Missing {
        linker,
        symbols: first_lines(symbols.into_iter().map(printable).collect(), MOST),
    })
}

/// The symbol of a complaint: of GNU's linker between a backquote and a quote, of LLVM's after
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

/// At most this many lines and symbols of a linker are reported.
const MOST: usize = 12;
