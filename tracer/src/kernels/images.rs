//! The kernels that the tool brings along: `kernels-c/images/`, built from `kernels-c/`.

pub use dmo_kernels::{IMAGES, KernelImage};

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
