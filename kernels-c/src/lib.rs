//! Kernels in C for Arm Cortex-M, as data: their sources, and whole sets of them as built.
//!
//! Nothing here is compiled or linked into a program. `dmo-trace` emulates the [`IMAGES`], and
//! writes libraries that are made of the [`SOURCES`].

use std::io::{self, Read};
use std::ops::Range;
use std::sync::LazyLock;

/// Path below the crate's folder, and text, of each source, header and linker script that a written
/// library may need.
pub static SOURCES: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    const PLACES: &[(&str, Range<usize>)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));
    let compressed = include_bytes!(concat!(env!("OUT_DIR"), "/sources.zst"));
    let end = PLACES.last().map_or(0, |(_, place)| place.end);
    let texts: &'static str = built_in(String::from_utf8(part(compressed, 0..end))).leak();
    let text = |(path, place): &(&'static str, Range<usize>)| (*path, &texts[place.clone()]);
    PLACES.iter().map(text).collect()
});

/// A set of kernels for a CPU.
pub struct KernelImage {
    /// Name of the set, as on the command line.
    pub set: &'static str,
    /// CPU model.
    pub cpu: &'static str,
    /// Where its bytes are among those of all images.
    place: Range<usize>,
}

impl KernelImage {
    /// The ELF.
    #[must_use]
    pub fn elf(&self) -> Vec<u8> {
        part(
            include_bytes!(concat!(env!("OUT_DIR"), "/images.zst")),
            self.place.clone(),
        )
    }
}

/// All of them; of a set the first is for the CPU that is taken where none is named.
pub const IMAGES: &[KernelImage] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// Bytes of what is compressed here: all before them are decompressed too.
fn part(compressed: &'static [u8], place: Range<usize>) -> Vec<u8> {
    let read = || {
        let mut stream = zstd::Decoder::with_buffer(compressed)?;
        let mut before = stream.by_ref().take(place.start as u64);
        io::copy(&mut before, &mut io::sink())?;
        let mut bytes = vec![0; place.len()];
        stream.read_exact(&mut bytes)?;
        io::Result::Ok(bytes)
    };
    built_in(read())
}

/// What this crate has compressed itself.
fn built_in<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => unreachable!("the crate was built wrong: {error:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{IMAGES, SOURCES};
    use std::collections::BTreeSet;

    #[test]
    fn images_are_elf_files_of_different_names() {
        let names: BTreeSet<_> = IMAGES.iter().map(|image| (image.set, image.cpu)).collect();
        assert_eq!(names.len(), IMAGES.len());
        for image in IMAGES {
            assert!(
                image.elf().starts_with(b"\x7fELF"),
                "{} {}",
                image.set,
                image.cpu
            );
        }
    }

    #[test]
    fn every_local_header_that_a_source_includes_is_there() {
        let names: BTreeSet<&str> = SOURCES
            .iter()
            .filter_map(|(path, _)| path.rsplit('/').next())
            .collect();
        let included = SOURCES.iter().flat_map(|(path, text)| {
            let lines = text
                .lines()
                .filter_map(|line| line.strip_prefix("#include \""));
            lines.filter_map(move |line| Some((path, line.split('"').next()?)))
        });
        let included: Vec<_> = included.collect();
        assert!(included.len() > 100, "{}", included.len());
        for (path, header) in included {
            let name = header.rsplit('/').next().unwrap_or(header);
            assert!(names.contains(name), "{path} includes {header}");
        }
    }
}
