//! Kernels in C for Arm Cortex-M, as data: their sources, and whole sets of them as built.
//!
//! Nothing here is compiled or linked into a program. `dmo-trace` emulates the [`IMAGES`], and
//! writes libraries that are made of the [`SOURCES`].

/// Path below the crate's folder, and text, of each source, header and linker script that a written
/// library may need.
pub const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// A set of kernels for a CPU.
pub struct KernelImage {
    /// Name of the set, as on the command line.
    pub set: &'static str,
    /// CPU model.
    pub cpu: &'static str,
    /// The ELF.
    pub elf: &'static [u8],
}

macro_rules! image {
    ($cpu:literal, $set:literal) => {
        KernelImage {
            set: $set,
            cpu: $cpu,
            elf: include_bytes!(concat!("../images/", $cpu, "/kernels-", $set, ".elf")),
        }
    };
}

/// All of them; the first of a set is for the CPU that is taken where none is named.
pub const IMAGES: [KernelImage; 9] = [
    image!("cortex-m4", "reference"),
    image!("cortex-m3", "reference"),
    image!("cortex-m7", "reference"),
    image!("cortex-m4", "dsp"),
    image!("cortex-m7", "dsp"),
    image!("cortex-m4", "dsp-packed"),
    image!("cortex-m7", "dsp-packed"),
    image!("cortex-m4", "dsp-channels-outside"),
    image!("cortex-m7", "dsp-channels-outside"),
];

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
                image.elf.starts_with(b"\x7fELF"),
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
