//! The kernels that the tool brings along: `kernels-c/images/`, built from `kernels-c/`.

use crate::mcu::cpu;
pub use dmo_kernels::{IMAGES, KernelImage};

/// The image of a set for a CPU, or for any; none when there is no such set. For a CPU without an image
/// of its own it is the first whose code it runs, and where there is none, one that it does not run.
pub fn find(set: &str, cpu: Option<&str>) -> Option<&'static KernelImage> {
    let of_set = || IMAGES.iter().filter(|image| image.set == set);
    let is_for = |image: &&KernelImage| cpu.is_none_or(|cpu| cpu.eq_ignore_ascii_case(image.cpu));
    let runs = |image: &&KernelImage| {
        let cpus = cpu.and_then(cpu::named).zip(cpu::named(image.cpu));
        cpus.is_some_and(|(cpu, other)| cpu.features.run_code_of(&other.features))
    };
    let found = of_set().find(is_for).or_else(|| of_set().find(runs));
    found.or_else(|| of_set().next())
}

/// The CPUs that a set is built for, for messages; empty when there is no such set.
pub fn cpus_of(set: &str) -> String {
    let of_set = IMAGES.iter().filter(|image| image.set == set);
    let cpus: Vec<&str> = of_set.map(|image| image.cpu).collect();
    cpus.join(", ")
}
