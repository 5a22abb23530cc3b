//! An ELF image: what to put where in memory, where to start, and the names of things.

use crate::elf::attributes::Attributes;
use crate::elf::debug::DebugInfo;
use crate::elf::lines::SourceLines;
use crate::elf::symbols::Symbols;
use dmo_analysis::trace::Address;
use dmo_analysis::wording::grouped;
use goblin::elf::{Elf, header, program_header, section_header};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::sync::Arc;

/// Larger files are refused: no microcontroller has room for them, even with
/// debug information.
pub const MAX_FILE_BYTES: usize = 256 << 20;

/// Why a file is not a program that can be traced.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ImageError {
    #[error("the file has {} bytes, the limit is {}", grouped(*given as u64), grouped(*limit as u64))]
    TooLarge { given: usize, limit: usize },
    #[error("not an ELF file: {}", what_else(start))]
    NotElf { start: Vec<u8> },
    #[error("damaged or truncated ELF file ({} bytes): {reason}", grouped(*length as u64))]
    Damaged { length: usize, reason: String },
    #[error("the file is for {given}, not for a 32-bit little-endian Arm")]
    WrongArchitecture { given: String },
    #[error("the file is {given}, not a linked program\n  hint: {hint}")]
    NotExecutable {
        given: &'static str,
        hint: &'static str,
    },
    #[error("segment {index} lies in bytes [{start}, {end}) of a file of {length} bytes")]
    SegmentBeyondFile {
        index: usize,
        start: u64,
        end: u64,
        length: usize,
    },
    #[error("segment {index} ends at {end:#x}, beyond the 32-bit address space")]
    SegmentBeyondMemory { index: usize, end: u64 },
    #[error("the segments have {} bytes in all, the limit is {}", grouped(*given as u64), grouped(*limit as u64))]
    SegmentsTooLarge { given: usize, limit: usize },
    #[error("the program has no segment to load")]
    NothingToLoad,
}

/// A loadable segment.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Where the loader puts its content (`p_paddr`): for `.data` an address in flash.
    pub load_address: u32,
    /// Where the program expects it (`p_vaddr`).
    pub run_address: u32,
    /// Its size when the program runs, `.bss` included, in bytes.
    pub run_bytes: u32,
    /// The bytes of it that are in the file.
    pub content: Vec<u8>,
    /// `true` if the linker marked it as writable. Linkers mark much of what lies in flash, too.
    pub writable: bool,
    /// `true` if it holds code.
    pub executable: bool,
}

impl Segment {
    /// Addresses of its content in the loaded image.
    pub fn load_range(&self) -> Range<u64> {
        let start = u64::from(self.load_address);
        start..start + self.content.len() as u64
    }

    /// Addresses of it in the running program.
    pub fn run_range(&self) -> Range<u64> {
        let start = u64::from(self.run_address);
        start..start + u64::from(self.run_bytes)
    }
}

/// A section that takes memory when the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub range: Range<u64>,
    /// Whether it has content in the file, as `.data` has and `.bss` has not.
    pub has_content: bool,
}

/// A program for a microcontroller.
#[derive(Debug)]
pub struct Image {
    /// Loadable segments with at least one byte, in file order.
    pub segments: Vec<Segment>,
    /// `e_entry`, the Thumb bit included.
    pub entry: u32,
    /// Sections with an address, in file order; empty in a file that was stripped of them.
    pub sections: Vec<Section>,
    /// Start of the section that by its name holds the vector table.
    pub vector_section: Option<Address>,
    /// Functions and objects.
    pub symbols: Symbols,
    /// Source lines from DWARF.
    pub lines: SourceLines,
    /// Functions, variables and frames from DWARF.
    pub debug: Arc<DebugInfo>,
    /// The build attributes: the core that the compiler built for.
    pub attributes: Attributes,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// Names that vendors' linker scripts give to the section of the vector table.
const VECTOR_SECTIONS: [&str; 6] = [
    ".isr_vector",
    ".vectors",
    ".vector_table",
    ".interrupts",
    ".intvec",
    ".vector",
];

impl Image {
    /// Reads a linked bare-metal ELF program.
    ///
    /// # Errors
    /// When the bytes are not such a program; every offset in the file is checked.
    pub fn parse(bytes: &[u8]) -> Result<Self, ImageError> {
        if bytes.len() > MAX_FILE_BYTES {
            return Err(ImageError::TooLarge {
                given: bytes.len(),
                limit: MAX_FILE_BYTES,
            });
        }
        check_magic(bytes)?;
        let elf = Elf::parse(bytes).map_err(|error| ImageError::Damaged {
            length: bytes.len(),
            reason: error.to_string(),
        })?;
        check_header(&elf.header)?;
        let segments = segments(&elf, bytes)?;
        let section = |name: &str| {
            elf.section_headers
                .iter()
                .find(|section| elf.shdr_strtab.get_at(section.sh_name) == Some(name))
        };
        let content = |name: &str| -> &[u8] {
            section(name)
                .and_then(goblin::elf::SectionHeader::file_range)
                .and_then(|range| bytes.get(range))
                .unwrap_or(&[])
        };
        let vector_section = VECTOR_SECTIONS
            .iter()
            .find_map(|name| section(name))
            .map(|section| Address(section.sh_addr as u32));
        let symbols = Symbols::read(&elf, bytes.len());
        let code_at_zero = symbols.function_at(0).is_some();
        let debug = DebugInfo::read(&content, code_at_zero);
        Ok(Self {
            vector_section,
            symbols,
            lines: SourceLines::new(&debug),
            debug: Arc::new(debug),
            attributes: Attributes::read(content(".ARM.attributes")),
            entry: elf.header.e_entry as u32,
            sections: sections(&elf),
            segments,
            sha256: sha256(bytes),
        })
    }
}

impl Image {
    /// SHA-256 of all code and data that the program loads, and where, and of its functions'
    /// names and addresses, in hexadecimal. What else the file holds does not count.
    pub fn code_sha256(&self) -> String {
        let mut hash = Sha256::new();
        for segment in &self.segments {
            let place = [segment.load_address, segment.run_address, segment.run_bytes];
            for word in place {
                hash.update(word.to_le_bytes());
            }
            hash.update((segment.content.len() as u64).to_le_bytes());
            hash.update(&segment.content);
        }
        for function in self.symbols.functions() {
            hash.update((function.name.len() as u64).to_le_bytes());
            hash.update(&function.name);
            hash.update(function.address.to_le_bytes());
        }
        hexadecimal(&hash.finalize())
    }
}

/// SHA-256 of a file's content in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a file is that starts with these bytes.
fn what_else(start: &[u8]) -> String {
    match start {
        [] => "it is empty".to_owned(),
        [_, _, _, _, b'T', b'F', b'L', b'3'] => {
            "it is a TensorFlow Lite model, which `dmo-trace plan` and `verify` take".to_owned()
        }
        other => format!(
            "it starts with {:02x?}\n  hint: give the linked .elf, not the .bin or .hex made from it",
            &other[..other.len().min(4)]
        ),
    }
}

fn check_magic(bytes: &[u8]) -> Result<(), ImageError> {
    if bytes.starts_with(b"!<arch>\n") {
        return Err(ImageError::NotExecutable {
            given: "a static library",
            hint: "link it into a program; `--kernels` takes the library itself",
        });
    }
    if !bytes.starts_with(header::ELFMAG) {
        return Err(ImageError::NotElf {
            start: bytes.iter().copied().take(8).collect(),
        });
    }
    Ok(())
}

fn check_header(elf: &header::Header) -> Result<(), ImageError> {
    let wrong = |given: String| Err(ImageError::WrongArchitecture { given });
    if elf.e_machine != header::EM_ARM {
        return wrong(header::machine_to_str(elf.e_machine).to_owned());
    }
    if elf.e_ident[header::EI_CLASS] != header::ELFCLASS32 {
        return wrong("a 64-bit Arm".to_owned());
    }
    if elf.e_ident[header::EI_DATA] != header::ELFDATA2LSB {
        return wrong("a big-endian Arm".to_owned());
    }
    match elf.e_type {
        header::ET_EXEC => Ok(()),
        header::ET_REL => Err(ImageError::NotExecutable {
            given: "an object file",
            hint: "link it into a program",
        }),
        header::ET_DYN => Err(ImageError::NotExecutable {
            given: "a shared object or position-independent program",
            hint: "link for fixed addresses (-no-pie, -static)",
        }),
        _ => Err(ImageError::NotExecutable {
            given: "of an unknown ELF type",
            hint: "give a linked bare-metal program (ET_EXEC)",
        }),
    }
}

fn sections(elf: &Elf) -> Vec<Section> {
    let headers = elf.section_headers.iter();
    let allocated = headers.filter(|header| header.is_alloc() && header.sh_size > 0);
    allocated
        .map(|header| Section {
            name: elf
                .shdr_strtab
                .get_at(header.sh_name)
                .unwrap_or_default()
                .to_owned(),
            range: header.sh_addr..header.sh_addr.saturating_add(header.sh_size),
            has_content: header.sh_type != section_header::SHT_NOBITS,
        })
        .collect()
}

fn segments(elf: &Elf, bytes: &[u8]) -> Result<Vec<Segment>, ImageError> {
    let mut segments = Vec::new();
    let mut content_bytes = 0;
    for (index, program) in elf.program_headers.iter().enumerate() {
        if program.p_type != program_header::PT_LOAD || program.p_memsz == 0 {
            continue;
        }
        let (start, end) = (
            program.p_offset,
            program.p_offset.saturating_add(program.p_filesz),
        );
        let content =
            bytes
                .get(start as usize..end as usize)
                .ok_or(ImageError::SegmentBeyondFile {
                    index,
                    start,
                    end,
                    length: bytes.len(),
                })?;
        let run_bytes = program.p_memsz.max(program.p_filesz);
        let end = (program.p_vaddr + run_bytes).max(program.p_paddr + program.p_filesz);
        if end > 1 << 32 {
            return Err(ImageError::SegmentBeyondMemory { index, end });
        }
        content_bytes += content.len();
        // Segments may share bytes of the file, but not many times over.
        let limit = bytes.len().saturating_mul(2);
        if content_bytes > limit {
            return Err(ImageError::SegmentsTooLarge {
                given: content_bytes,
                limit,
            });
        }
        segments.push(Segment {
            load_address: program.p_paddr as u32,
            run_address: program.p_vaddr as u32,
            run_bytes: run_bytes as u32,
            content: content.to_vec(),
            writable: program.is_write(),
            executable: program.is_executable(),
        });
    }
    if segments.is_empty() {
        return Err(ImageError::NothingToLoad);
    }
    Ok(segments)
}
