//! Programs assembled by hand, and the ELF files around them.

use dmo_trace::mcu::machine::{Machine, Observation};
use dmo_trace::program::target::{Target, TargetOptions};

/// Where a [`Firmware`] has its parts. Flash: vector table, exception handler, marks,
/// code, data. RAM: 64 KiB, the stack at its end.
pub const HANDLER: u32 = 0x40;
const BEGIN_MARK: u32 = 0x50;
const END_MARK: u32 = 0x64;
pub const CODE: u32 = 0x80;
const DATA: u32 = 0x4000;
pub const RAM: u32 = 0x2000_0000;
pub const RAM_BYTES: u32 = 0x1_0000;
pub const STACK_TOP: u32 = RAM + RAM_BYTES;

/// Roles and types of a buffer, as `dmo_trace.h` numbers them.
pub const INPUT: u8 = 0;
pub const OUTPUT: u8 = 1;
pub const SCRATCH: u8 = 2;
pub const INT8: u8 = 0;

/// A buffer of a layer, as the program describes it.
#[derive(Debug, Clone, Copy)]
pub struct Buffer<'a> {
    pub name: &'a [u8],
    pub address: u32,
    pub size_bytes: u32,
    pub role: u8,
    pub element_type: u8,
}

impl<'a> Buffer<'a> {
    pub fn new(name: &'a str, role: u8, address: u32, size_bytes: u32) -> Self {
        Self {
            name: name.as_bytes(),
            address,
            size_bytes,
            role,
            element_type: INT8,
        }
    }
}

/// A program: instructions in the order in which they are added, from [`CODE`] on.
#[derive(Debug, Clone, Default)]
pub struct Firmware {
    code: Vec<u16>,
    data: Vec<u8>,
}

impl Firmware {
    pub fn new() -> Self {
        Self::default()
    }

    /// Address of the next instruction.
    pub fn here(&self) -> u32 {
        CODE + 2 * self.code.len() as u32
    }

    pub fn code(&mut self, halfwords: &[u16]) -> &mut Self {
        self.code.extend_from_slice(halfwords);
        assert!(self.here() <= DATA, "too much code");
        self
    }

    /// NOPs up to this address.
    pub fn pad_to(&mut self, address: u32) -> &mut Self {
        while self.here() < address {
            self.code(&[0xbf00]);
        }
        assert_eq!(self.here(), address);
        self
    }

    /// `movw`, `movt`: the register gets the value.
    pub fn set(&mut self, register: u16, value: u32) -> &mut Self {
        for (opcode, half) in [(0xf240, value as u16), (0xf2c0, (value >> 16) as u16)] {
            let first = opcode | (half >> 11 & 1) << 10 | half >> 12;
            let second = (half >> 8 & 7) << 12 | register << 8 | half & 0xff;
            self.code(&[first, second]);
        }
        self
    }

    /// Calls a function: `blx r12`.
    pub fn call(&mut self, address: u32) -> &mut Self {
        self.set(12, address | 1).code(&[0x47e0])
    }

    /// Puts bytes into flash; the address is a multiple of four.
    pub fn data(&mut self, bytes: &[u8]) -> u32 {
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        let address = DATA + self.data.len() as u32;
        self.data.extend_from_slice(bytes);
        address
    }

    fn text(&mut self, text: &[u8]) -> u32 {
        self.data(&[text, &[0]].concat())
    }

    /// The begin mark.
    pub fn begin(&mut self, name: &str, buffers: &[Buffer<'_>]) -> &mut Self {
        let descriptions: Vec<u8> = buffers
            .iter()
            .flat_map(|buffer| {
                let name = self.text(buffer.name);
                let words = [name, buffer.address, buffer.size_bytes];
                let kind = [buffer.role, buffer.element_type, 0, 0];
                words.into_iter().flat_map(u32::to_le_bytes).chain(kind)
            })
            .collect();
        let descriptions = self.data(&descriptions);
        let name = self.text(name.as_bytes());
        let operator = self.text(b"test");
        self.begin_raw([name, operator, descriptions, buffers.len() as u32])
    }

    /// The begin mark with these arguments.
    pub fn begin_raw(&mut self, arguments: [u32; 4]) -> &mut Self {
        for (register, argument) in (0..).zip(arguments) {
            self.set(register, argument);
        }
        self.call(BEGIN_MARK)
    }

    /// The end mark.
    pub fn end(&mut self) -> &mut Self {
        self.call(END_MARK)
    }

    /// Ends the program.
    pub fn exit(&mut self, status: u32) -> &mut Self {
        let block = [0x2_0026, status];
        let block = self.data(&block.map(u32::to_le_bytes).concat());
        // SYS_EXIT_EXTENDED
        self.set(0, 0x20).set(1, block).code(&[0xbeab])
    }

    pub fn elf_file(&self) -> ElfFile {
        let mut flash = Vec::new();
        let mut vectors = [HANDLER | 1; 16];
        vectors[0] = STACK_TOP;
        vectors[1] = CODE | 1;
        flash.extend(vectors.map(u32::to_le_bytes).concat());
        let mut put = |address: u32, bytes: &[u8]| {
            flash.resize(address as usize, 0);
            flash.extend_from_slice(bytes);
        };
        // b .
        put(HANDLER, &0xe7fe_u16.to_le_bytes());
        put(BEGIN_MARK, b"\x70\x47\x00\xbfDMO-TRACE-BEGIN1");
        put(END_MARK, b"\x70\x47\x00\xbfDMO-TRACE-END..1");
        let code: Vec<u8> = self
            .code
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        put(CODE, &code);
        put(DATA, &self.data);
        ElfFile {
            segments: vec![Segment::code(0, flash), Segment::ram(RAM, RAM_BYTES)],
            functions: vec![
                ("handler".to_owned(), HANDLER, 2),
                ("main".to_owned(), CODE, code.len() as u32),
            ],
            entry: CODE | 1,
            ..ElfFile::default()
        }
    }

    pub fn target(&self) -> Target {
        self.target_for("cortex-m4")
    }

    pub fn target_for(&self, cpu: &str) -> Target {
        let options = TargetOptions {
            cpu: Some(cpu.to_owned()),
            ..TargetOptions::default()
        };
        Target::new(&self.elf_file().bytes(), &options).expect("target")
    }

    /// A machine of its own, without marks and semihosting.
    pub fn machine(&self, observation: Observation) -> Machine<'static> {
        self.target()
            .machine(observation, super::LIMITS)
            .expect("machine")
    }
}

/// An ELF file, right or wrong.
#[derive(Debug, Clone)]
pub struct ElfFile {
    pub class: u8,
    pub big_endian: bool,
    pub file_type: u16,
    pub machine: u16,
    pub entry: u32,
    pub segments: Vec<Segment>,
    /// Name, address, size in bytes.
    pub functions: Vec<(String, u32, u32)>,
}

/// A loadable segment; its header says what these fields say, true or not.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    pub content: Vec<u8>,
    pub virtual_address: u32,
    pub physical_address: u32,
    pub memory_bytes: u32,
    /// By default where the content is.
    pub offset: Option<u32>,
    /// By default the length of the content.
    pub file_bytes: Option<u32>,
    pub flags: u32,
}

const EXECUTE: u32 = 1;
const WRITE: u32 = 2;
const READ: u32 = 4;

impl Segment {
    pub fn code(address: u32, content: Vec<u8>) -> Self {
        Self {
            virtual_address: address,
            physical_address: address,
            memory_bytes: content.len() as u32,
            content,
            flags: READ | EXECUTE,
            ..Self::default()
        }
    }

    pub fn ram(address: u32, memory_bytes: u32) -> Self {
        Self {
            virtual_address: address,
            physical_address: address,
            memory_bytes,
            flags: READ | WRITE,
            ..Self::default()
        }
    }
}

pub const ET_REL: u16 = 1;
pub const ET_EXEC: u16 = 2;
pub const ET_DYN: u16 = 3;
pub const EM_ARM: u16 = 40;
pub const EM_AARCH64: u16 = 183;

impl Default for ElfFile {
    fn default() -> Self {
        Self {
            class: 1,
            big_endian: false,
            file_type: ET_EXEC,
            machine: EM_ARM,
            entry: 0,
            segments: Vec::new(),
            functions: Vec::new(),
        }
    }
}

const HEADER_BYTES: u32 = 52;
const PROGRAM_HEADER_BYTES: u32 = 32;
const SECTION_HEADER_BYTES: u32 = 40;
const PT_LOAD: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const STT_FUNC: u8 = 2;

/// Words of a file in its byte order.
struct Writer {
    bytes: Vec<u8>,
    big_endian: bool,
}

impl Writer {
    fn half(&mut self, value: u16) {
        self.bytes.extend(if self.big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
    }

    fn words(&mut self, values: &[u32]) {
        for value in values {
            self.bytes.extend(if self.big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        }
    }
}

impl ElfFile {
    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let writer = |bytes| Writer {
            bytes,
            big_endian: self.big_endian,
        };
        let mut at = HEADER_BYTES + PROGRAM_HEADER_BYTES * self.segments.len() as u32;
        let mut program_headers = writer(Vec::new());
        for segment in &self.segments {
            let length = segment.content.len() as u32;
            program_headers.words(&[
                PT_LOAD,
                segment.offset.unwrap_or(at),
                segment.virtual_address,
                segment.physical_address,
                segment.file_bytes.unwrap_or(length),
                segment.memory_bytes,
                segment.flags,
                4,
            ]);
            at += length;
        }
        let mut names = vec![0];
        let mut symbols = writer(vec![0; 16]);
        for (name, address, size_bytes) in &self.functions {
            symbols.words(&[names.len() as u32, address | 1, *size_bytes]);
            // Global, in the first section.
            symbols.bytes.extend([1 << 4 | STT_FUNC, 0]);
            symbols.half(1);
            names.extend_from_slice(name.as_bytes());
            names.push(0);
        }
        let (symbol_bytes, name_bytes) = (symbols.bytes.len() as u32, names.len() as u32);
        let sections = at + symbol_bytes + name_bytes;

        let mut file = writer(b"\x7fELF".to_vec());
        file.bytes
            .extend([self.class, 1 + u8::from(self.big_endian), 1]);
        file.bytes.resize(16, 0);
        file.half(self.file_type);
        file.half(self.machine);
        // Version, entry, program headers, section headers, flags (EABI 5).
        file.words(&[1, self.entry, HEADER_BYTES, sections, 0x0500_0000]);
        for half in [
            HEADER_BYTES,
            PROGRAM_HEADER_BYTES,
            self.segments.len() as u32,
            SECTION_HEADER_BYTES,
            3,
            2,
        ] {
            file.half(half as u16);
        }
        file.bytes.extend(program_headers.bytes);
        for segment in &self.segments {
            file.bytes.extend_from_slice(&segment.content);
        }
        file.bytes.extend(symbols.bytes);
        file.bytes.extend(names);
        file.words(&[0; 10]);
        file.words(&[0, SHT_SYMTAB, 0, 0, at, symbol_bytes, 2, 1, 4, 16]);
        file.words(&[
            0,
            SHT_STRTAB,
            0,
            0,
            at + symbol_bytes,
            name_bytes,
            0,
            0,
            1,
            0,
        ]);
        file.bytes
    }
}
