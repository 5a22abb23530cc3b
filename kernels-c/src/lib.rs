//! Kernels in C for Arm Cortex-M, as data: their sources, and whole sets of them as built.
//!
//! Nothing here is compiled or linked into a program. `dmo-trace` emulates the [`IMAGES`], and
//! writes libraries that are made of the [`SOURCES`].

use miniz_oxide::inflate::decompress_slice_iter_to_slice;

/// Path below the crate's folder, and text, of each source, header and linker script that a written
/// library may need.
pub const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// A set of kernels for a CPU.
pub struct KernelImage {
    /// Name of the set, as on the command line.
    pub set: &'static str,
    /// CPU model.
    pub cpu: &'static str,
    /// How many the ELF has.
    bytes: usize,
    /// The ELF, as a raw deflate stream.
    compressed: &'static [u8],
}

impl KernelImage {
    /// The ELF.
    #[must_use]
    pub fn elf(&self) -> Vec<u8> {
        let mut elf = vec![0; self.bytes];
        match decompress_slice_iter_to_slice(
            &mut elf,
            std::iter::once(self.compressed),
            false,
            true,
        ) {
            Ok(length) if length == self.bytes => elf,
            result => unreachable!("{} for {}: {result:?}", self.set, self.cpu),
        }
    }
}

/// All of them; of a set the first is for the CPU that is taken where none is named.
pub const IMAGES: &[KernelImage] = include!(concat!(env!("OUT_DIR"), "/images.rs"));

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
