//! What a run says of the recorded programs: the overlaps of layers without a closed
//! form, the places of their instructions, and that neither the self-check nor a
//! stripped file changes anything. (`formula.rs` has the layers with a closed form,
//! `hooks.rs` every program under the self-check.)

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the program's name"
)]

mod support;

use dmo_analysis::trace::{Exit, Location};
use dmo_trace::program::target::{Target, TargetOptions};
use support::{CPUS, LIMITS, elf, profile, recorded, run_options};

/// The layers of `it_block`: O_s in bytes, and why.
const IT_BLOCK: [(&str, u32); 10] = [
    // Each element is stored behind its load.
    ("conditional_load", 203),
    // One pass over the output comes before the last loads: all of it, or all but a byte.
    ("conditional_store", 0),
    ("maximum", 1),
    ("memcpy_tails", 202),
    // Backwards, by records of 36 bytes.
    ("struct_copy", 36),
    ("double_word", 272),
    ("float_blocks", 160),
    ("float_neighbours", 148),
    ("unaligned", 120),
    // Backwards, by bytes.
    ("recursion", 0),
];

#[test]
fn layers_without_a_closed_form() {
    for cpu in CPUS {
        let target = recorded(cpu, "it_block");
        let (profile, _) = profile(&target, run_options(false, LIMITS)).expect("run");
        let measured: Vec<(&str, u32)> = profile
            .layers
            .iter()
            .flat_map(|layer| {
                let pairs = layer.pairs.iter();
                pairs.map(|pair| (layer.name.as_str(), pair.safe_overlap_bytes))
            })
            .collect();
        assert_eq!(measured, IT_BLOCK, "{cpu}");
    }
}

#[test]
fn self_check_changes_nothing() {
    for cpu in CPUS {
        let target = recorded(cpu, "it_block");
        let plain = profile(&target, run_options(false, LIMITS)).expect("run");
        let checked = profile(&target, run_options(true, LIMITS)).expect("self-check");
        assert_eq!(plain, checked, "{cpu}");
        assert_eq!(plain.1.exit, Exit::Status(0), "{cpu}");
    }
}

#[test]
fn places_of_instructions() {
    for cpu in CPUS {
        let target = recorded(cpu, "conv2d");
        let (_, outcome) = profile(&target, run_options(false, LIMITS)).expect("run");
        let mut in_kernel = 0;
        // Code between layers touches the buffers too.
        let of_kernel = |location: &Location| location.function.as_deref() != Some("main");
        let kernel = outcome
            .locations
            .iter()
            .filter(|(_, location)| of_kernel(location));
        assert!(kernel.clone().count() > 2, "{cpu}");
        for (pc, location) in kernel {
            let case = format!("{cpu} {pc}: {location:?}");
            assert!(location.function.is_some(), "{case}");
            assert!(location.line.is_some(), "{case}");
            let code = location.disassembly.as_deref().unwrap_or_default();
            assert!(code.starts_with("ldr") || code.starts_with("str"), "{case}");
            let file = location.file.as_deref().unwrap_or_default();
            if location.function.as_deref() == Some("dmo_conv2d_s8") {
                assert!(file.ends_with("reference/dmo_conv2d_s8.c"), "{case}");
                in_kernel += 1;
            }
        }
        assert!(in_kernel >= 2, "{cpu}: a load and a store of the kernel");
    }
}

/// Marks are found, and programs run, without sections: no symbols, no lines, no build
/// attributes.
#[test]
fn stripped_file() {
    for cpu in CPUS {
        let whole = recorded(cpu, "network");
        let mut bytes = elf(cpu, "network");
        // e_shoff; e_shnum and e_shstrndx
        bytes[32..36].fill(0);
        bytes[48..52].fill(0);
        let options = TargetOptions {
            cpu: Some(cpu.to_owned()),
            ..TargetOptions::default()
        };
        let stripped = Target::new(&bytes, &options).expect("target");
        let options = run_options(false, LIMITS);
        let (expected, _) = profile(&whole, options).expect("run");
        let (actual, outcome) = profile(&stripped, options).expect("run");
        assert_eq!(actual, expected, "{cpu}");
        for location in outcome.locations.values() {
            assert!(location.function.is_none() && location.disassembly.is_some());
        }
    }
}
