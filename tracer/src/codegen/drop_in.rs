//! The kernels for a CPU as a C library that takes the place of CMSIS-NN's functions of the same names.

use super::kernel_sources::{Family, closure, interface};
use super::library::{GeneratedFile, flags_of};
use super::template::Values;
use crate::mcu::cpu::Cpu;
use std::collections::BTreeMap;

mod pack;

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("templates/drop_in/", $name))
    };
}

/// What names of sizes begin with whose functions lie in one source of CMSIS-NN.
///
/// Source: CMSIS-NN 99f736a, `Source/`.
const FAMILIES_OF_SIZES: [&str; 6] = [
    "arm_avgpool",
    "arm_convolve",
    "arm_depthwise_conv",
    "arm_fully_connected",
    "arm_svdf",
    "arm_transpose_conv",
];

/// The files of the library for a CPU, in a folder that the texts call `folder`.
///
/// # Errors
/// The name of a function of the interface that no source of ours defines.
pub fn files(folder: &str, cpu: &Cpu) -> Result<Vec<GeneratedFile>, String> {
    let interface = interface();
    let names = interface.function_names();
    let functions: Vec<&str> = names.filter(|name| name.starts_with("arm_")).collect();
    let family = Family::of_cpu(cpu);
    let replaced = replaced_sources(&functions);
    let values = Values::default()
        .with("cpu_flags", flags_of(cpu.name))
        .with("set", family.set())
        .with("cpu", cpu.name)
        .with("cores", cores_of(family))
        .with("line", line())
        .with("spdx", "// SPDX-License-Identifier: MIT OR Apache-2.0")
        .with("folder", folder)
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("url", env!("CARGO_PKG_REPOSITORY"))
        .with("functions", functions.len())
        .with("table", table(&replaced))
        .with("sources", listed(&replaced))
        .with("accepted", pack::accepted(family));
    let mut files: Vec<GeneratedFile> = closure(functions, family, "")?
        .into_iter()
        .map(|file| GeneratedFile {
            path: format!("src/kernels/{}", file.name),
            text: file.text,
        })
        .collect();
    files.push(GeneratedFile {
        path: "src/dmo_nn.h".to_owned(),
        text: values.fill(template!("dmo_nn.h")),
    });
    let values = values.with("files", pack::entries(&files));
    let templates = [
        ("Makefile", template!("Makefile")),
        ("CMakeLists.txt", template!("CMakeLists.txt")),
        ("README.md", template!("README.md")),
        ("library.json", template!("library.json")),
        ("library.properties", template!("library.properties")),
        ("zephyr/module.yml", template!("zephyr_module.yml")),
        ("zephyr/CMakeLists.txt", template!("zephyr_CMakeLists.txt")),
        ("zephyr/Kconfig", template!("zephyr_Kconfig")),
        (pack::FILE, template!("pack.pdsc")),
    ];
    files.extend(templates.map(|(path, text)| GeneratedFile {
        path: path.to_owned(),
        text: values.fill(text),
    }));
    Ok(files)
}

fn cores_of(family: Family) -> &'static str {
    match family {
        Family::Dsp => "Arm cores with the DSP extension (Cortex-M4, M7, M33)",
        Family::Plain => "Arm cores without the DSP extension (Cortex-M0, M0+, M3, M23)",
    }
}

fn line() -> String {
    format!("Written by dmo-trace {}.", env!("CARGO_PKG_VERSION"))
}

/// The source of CMSIS-NN that defines a function.
fn vendor_source(function: &str) -> String {
    if !function.contains("_buffer_size") {
        return function.to_owned();
    }
    let elements = ["s4", "s16"];
    let mut elements = elements.into_iter();
    let element = elements.find(|element| function.contains(&format!("_{element}")));
    let element = element.unwrap_or("s8");
    let mut families = FAMILIES_OF_SIZES.iter();
    let family = families.find(|family| function.starts_with(**family));
    family.map_or_else(
        || function.to_owned(),
        |family| format!("{family}_get_buffer_sizes_{element}"),
    )
}

/// The sources of CMSIS-NN that define these functions, each with its own.
fn replaced_sources<'a>(functions: &[&'a str]) -> BTreeMap<String, Vec<&'a str>> {
    let mut sources: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for &function in functions {
        let source = format!("{}.c", vendor_source(function));
        sources.entry(source).or_default().push(function);
    }
    sources
}

/// Rows of sources and their functions.
fn table(sources: &BTreeMap<String, Vec<&str>>) -> String {
    let rows = sources
        .iter()
        .map(|(source, functions)| format!("| `{source}` | `{}` |", functions.join("`, `")));
    rows.collect::<Vec<_>>().join("\n")
}

/// Sources as a list of CMake.
fn listed(sources: &BTreeMap<String, Vec<&str>>) -> String {
    let lines = sources.keys().map(|source| format!("    {source}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::{files, vendor_source};
    use crate::mcu::cpu;

    #[test]
    fn sizes_lie_in_the_sources_of_their_families() {
        let cases = [
            ("arm_convolve_s8", "arm_convolve_s8"),
            (
                "arm_convolve_1_x_n_s8_get_buffer_size",
                "arm_convolve_get_buffer_sizes_s8",
            ),
            (
                "arm_depthwise_conv_wrapper_s16_get_buffer_size_dsp",
                "arm_depthwise_conv_get_buffer_sizes_s16",
            ),
            (
                "arm_convolve_1x1_s4_fast_get_buffer_size",
                "arm_convolve_get_buffer_sizes_s4",
            ),
            (
                "arm_transpose_conv_s8_get_reverse_conv_buffer_size",
                "arm_transpose_conv_get_buffer_sizes_s8",
            ),
        ];
        for (function, source) in cases {
            assert_eq!(vendor_source(function), source);
        }
    }

    #[test]
    fn names_stay_as_they_are() {
        let files = files("dmo-nn", &cpu::named("cortex-m4").unwrap()).unwrap();
        let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap().text;
        assert!(
            text("src/kernels/arm_convolve_wrapper_s8.c")
                .contains("status arm_convolve_wrapper_s8(")
        );
        assert!(text("README.md").contains("| `arm_svdf_s8.c` | `arm_svdf_s8` |"));
        for file in files.iter().filter(|file| !file.path.ends_with("Makefile")) {
            assert!(
                !file.text.contains('@'),
                "{}: a place is not filled",
                file.path
            );
        }
        let sources = files
            .iter()
            .filter(|file| file.path.ends_with(".c"))
            .count();
        assert!(sources > 30, "{sources}");
    }

    #[test]
    fn the_sources_are_those_for_the_cpu() {
        for (name, set) in [
            ("cortex-m33", "dsp"),
            ("cortex-m3", "plain"),
            ("cortex-m0", "plain"),
        ] {
            let files = files("dmo-nn", &cpu::named(name).unwrap()).unwrap();
            let is_plain = files
                .iter()
                .any(|file| file.path == "src/kernels/plain_pairs.c");
            assert_eq!(is_plain, set == "plain", "{name}");
            let readme = &files.iter().find(|file| file.path == "README.md").unwrap();
            assert!(
                readme
                    .text
                    .contains(&format!("--kernels {set} --cpu {name} ")),
                "{name}"
            );
            assert!(readme.text.contains(&format!("-mcpu={name} ")), "{name}");
        }
    }
}
