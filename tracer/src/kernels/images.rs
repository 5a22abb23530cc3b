//! The kernels that the tool brings along: `traces/kernels/`, built from `kernels-c/`.

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
            elf: include_bytes!(concat!(
                "../../../traces/kernels/",
                $cpu,
                "/kernels-",
                $set,
                ".elf"
            )),
        }
    };
}

/// All of them; the first of a set is for the CPU that is taken where none is named.
pub const IMAGES: [KernelImage; 7] = [
    image!("cortex-m4", "reference"),
    image!("cortex-m3", "reference"),
    image!("cortex-m7", "reference"),
    image!("cortex-m4", "dsp"),
    image!("cortex-m7", "dsp"),
    image!("cortex-m4", "dsp-channels-outside"),
    image!("cortex-m7", "dsp-channels-outside"),
];

/// The image of a set for a CPU, or for any; none when there is no such set. The CPU may be
/// one that runs the code of another.
pub fn find(set: &str, cpu: Option<&str>) -> Option<&'static KernelImage> {
    let of_set = || IMAGES.iter().filter(|image| image.set == set);
    of_set()
        .find(|image| cpu.is_none_or(|cpu| cpu.eq_ignore_ascii_case(image.cpu)))
        .or_else(|| of_set().next())
}

/// The CPUs that a set is built for, for messages; empty when there is no such set.
pub fn cpus_of(set: &str) -> String {
    let of_set = IMAGES.iter().filter(|image| image.set == set);
    let cpus: Vec<&str> = of_set.map(|image| image.cpu).collect();
    cpus.join(", ")
}
