//! Where a program starts: from its vector table, as the hardware does it, else from
//! the ELF entry.

use crate::elf::image::Image;
use dmo_analysis::trace::Address;

/// The values that the core loads from the vector table at reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boot {
    /// First instruction, without the Thumb bit.
    pub pc: u32,
    /// Initial stack pointer.
    pub stack_top: u32,
    /// The vector table, when there is one.
    pub vectors: Option<Address>,
}

/// Why the program cannot be started.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BootError {
    #[error(
        "no vector table at {address}: it holds stack pointer {stack_top:#010x} and reset vector {reset:#010x}\n  hint: --vectors with the table's address"
    )]
    NoTable {
        address: Address,
        stack_top: u32,
        reset: u32,
    },
    #[error("no vector table at {address}: the image holds nothing there")]
    NothingThere { address: Address },
    #[error(
        "no vector table found (looked at {looked_at}), and no symbol names the top of the stack\n  hint: --vectors with the table's address; a program without a table needs one of the symbols {}",
        STACK_TOPS.join(", ")
    )]
    NoStack { looked_at: String },
    #[error(
        "the entry point {entry:#010x} is not in the program's code\n  hint: --vectors with the vector table's address"
    )]
    BadEntry { entry: u32 },
    #[error(
        "the entry point {entry:#010x} is even: it is Arm code, which no M-profile core runs\n  hint: pass the compiler's -mcpu, -mthumb, -mfloat-abi and -mfpu to the linker, too, and check that it has a library for them (gcc -print-multi-directory); --vectors if the program has a vector table"
    )]
    ArmEntry { entry: u32 },
}

/// Names that linker scripts give to the top of the stack.
const STACK_TOPS: [&str; 8] = [
    "__StackTop",
    "_estack",
    "__stack",
    "__stack_top",
    "_stack_top",
    "__StackLimit_end",
    "__initial_sp",
    // The toolchain's own linker script, which has no vector table.
    "_stack",
];

/// Finds the start. `vectors` is where the user says that the table is.
///
/// # Errors
/// When neither a table nor an entry point makes sense.
pub fn find(image: &Image, vectors: Option<u32>) -> Result<Boot, BootError> {
    if let Some(address) = vectors {
        let address = Address(address);
        let (stack_top, reset) =
            table(image, address.0).ok_or(BootError::NothingThere { address })?;
        return plausible(image, address, stack_top, reset).ok_or(BootError::NoTable {
            address,
            stack_top,
            reset,
        });
    }
    let candidates = candidates(image);
    let found = candidates.iter().find_map(|&address| {
        let (stack_top, reset) = table(image, address)?;
        plausible(image, Address(address), stack_top, reset)
    });
    let found = found.or_else(|| starting_at_entry(image));
    found.map_or_else(|| from_entry(image, &candidates), Ok)
}

/// Vector tables lie at multiples of this many bytes, for they have at least 32 words.
const TABLE_ALIGNMENT: u64 = 128;

/// A table anywhere in the image, such as after a boot loader's header, whose reset vector is the
/// entry point.
fn starting_at_entry(image: &Image) -> Option<Boot> {
    image.segments.iter().find_map(|segment| {
        let range = segment.load_range();
        let first = range.start.next_multiple_of(TABLE_ALIGNMENT);
        let mut addresses = (first..range.end).step_by(TABLE_ALIGNMENT as usize);
        addresses.find_map(|address| {
            let address = address as u32;
            let (stack_top, reset) = table(image, address)?;
            let boot = plausible(image, Address(address), stack_top, reset)?;
            (reset | 1 == image.entry | 1).then_some(boot)
        })
    })
}

fn candidates(image: &Image) -> Vec<u32> {
    let mut addresses: Vec<u32> = image.vector_section.iter().map(|at| at.0).collect();
    addresses.extend([0, 0x0800_0000]);
    addresses.extend(image.segments.iter().map(|segment| segment.load_address));
    addresses
}

/// The first two words of a vector table, as loaded.
fn table(image: &Image, address: u32) -> Option<(u32, u32)> {
    image.segments.iter().find_map(|segment| {
        let start = address.checked_sub(segment.load_address)? as usize;
        let words = segment.content.get(start..start.checked_add(8)?)?;
        let word = |at: usize| Some(u32::from_le_bytes(words.get(at..at + 4)?.try_into().ok()?));
        Some((word(0)?, word(4)?))
    })
}

fn plausible(image: &Image, address: Address, stack_top: u32, reset: u32) -> Option<Boot> {
    let stack = stack_top.is_multiple_of(4) && (0x1000_0000..0xe000_0000).contains(&stack_top);
    let thumb = reset & 1 == 1;
    (stack && thumb && in_code(image, reset & !1)).then_some(Boot {
        pc: reset & !1,
        stack_top,
        vectors: Some(address),
    })
}

fn in_code(image: &Image, pc: u32) -> bool {
    image
        .segments
        .iter()
        .any(|segment| segment.executable && segment.run_range().contains(&u64::from(pc)))
}

fn from_entry(image: &Image, looked_at: &[u32]) -> Result<Boot, BootError> {
    let stack_top = STACK_TOPS
        .iter()
        .find_map(|name| image.symbols.named(name))
        .map(|symbol| symbol.address)
        .ok_or_else(|| BootError::NoStack {
            looked_at: looked_at
                .iter()
                .map(|&address| Address(address).to_string())
                .collect::<Vec<_>>()
                .join(", "),
        })?;
    let pc = image.entry & !1;
    if !in_code(image, pc) {
        return Err(BootError::BadEntry { entry: image.entry });
    }
    if image.entry & 1 == 0 {
        return Err(BootError::ArmEntry { entry: image.entry });
    }
    Ok(Boot {
        pc,
        stack_top,
        vectors: None,
    })
}
