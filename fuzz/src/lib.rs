//! What is fuzzed: every reader of a file that somebody else may have made, and what a
//! guest describes in its memory.
//!
//! Each target takes any bytes and must return: a panic, an abort, more memory than it is
//! allowed or more time than a moment is a finding. Two drivers share them: libFuzzer
//! (`fuzz_targets/`), and the bounded run in the test `tracer/tests/fuzz/`, which needs
//! nothing but stable Rust.

mod guest;
mod model;
mod problem;
mod saved;

pub use guest::marks;
pub use model::{plan, tflite};
pub use problem::{foreign, minimalloc};
pub use saved::{chunks, trace};

use dmo_trace::call::archive;
use dmo_trace::call::{DEFAULT_RAM, Library};
use dmo_trace::elf::attributes::Attributes;
use dmo_trace::elf::image::Image;
use dmo_trace::mcu::boot;
use dmo_trace::mcu::memory::{MemoryMap, MemoryOptions};
use dmo_trace::program::hooks::{LayerHook, parse_file};
use dmo_trace::program::marks::Marks;
use dmo_trace::program::target::{Target as Program, TargetOptions};
use std::str::FromStr;

/// Something to be fuzzed.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, that of its seeds' folder, and that of its libFuzzer binary.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
    /// How much memory may be allocated for an input at the same time, in bytes.
    pub most_bytes: fn(&[u8]) -> usize,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "image",
        run: image,
        most_bytes: |input| (256 << 10) + 32 * input.len(),
    },
    Target {
        name: "attributes",
        run: attributes,
        most_bytes: |input| 1024 + 4 * input.len(),
    },
    Target {
        name: "archive",
        run: archive,
        most_bytes: |input| (64 << 10) + 64 * input.len(),
    },
    Target {
        name: "hooks",
        run: hooks,
        most_bytes: |input| (64 << 10) + 256 * input.len(),
    },
    Target {
        name: "marks",
        run: marks,
        most_bytes: |input| (16 << 10) + 4 * input.len(),
    },
    Target {
        name: "trace",
        run: trace,
        most_bytes: |input| saved::most_bytes(saved::unfolded_bytes(input)),
    },
    Target {
        name: "chunks",
        run: chunks,
        most_bytes: |input| saved::most_bytes(input.len()),
    },
    Target {
        name: "tflite",
        run: tflite,
        most_bytes: |input| (128 << 10) + 32 * input.len(),
    },
    Target {
        name: "plan",
        run: plan,
        most_bytes: |input| (128 << 10) + 32 * input.len(),
    },
    Target {
        name: "minimalloc",
        run: minimalloc,
        most_bytes: problem::most_bytes,
    },
    Target {
        name: "foreign",
        run: foreign,
        most_bytes: problem::most_bytes,
    },
];

/// An ELF file: segments, symbols, source lines, memory map, start, and as a library.
pub fn image(bytes: &[u8]) {
    if let Ok(image) = Image::parse(bytes) {
        let map = MemoryMap::new(&image, &MemoryOptions::default(), None);
        // The messages too are made of the file.
        let _ = map.map_err(|error| error.to_string());
        let _ = boot::find(&image, Some(image.entry)).map_err(|error| error.to_string());
        let _ = Marks::find(&image);
        let _ = image.symbols.similar("arm_convolve_s8");
        for segment in image.segments.iter().take(4) {
            for address in (0..64).map(|step| segment.run_address.saturating_add(2 * step)) {
                let _ = image.lines.at(address);
                let _ = image.symbols.function_at(address);
            }
        }
    }
    let _ = Program::new(bytes, &TargetOptions::default()).map_err(|error| error.to_string());
    let _ = Library::new(bytes, None, DEFAULT_RAM).map_err(|error| error.to_string());
}

/// The section `.ARM.attributes`.
pub fn attributes(bytes: &[u8]) {
    let _ = Attributes::read(bytes);
}

/// A static library, as far as it is read before the linker is called.
pub fn archive(bytes: &[u8]) {
    let _ = archive::check(bytes, None).map_err(|error| error.to_string());
    let _ = archive::check(bytes, Some("cortex-m3")).map_err(|error| error.to_string());
}

/// Hooks, as TOML and each line as one of the command line.
pub fn hooks(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = parse_file(&text).map_err(|error| error.to_string());
    for line in text.lines() {
        let _ = LayerHook::from_str(line).map_err(|error| error.to_string());
    }
}
