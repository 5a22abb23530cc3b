//! O_s of compiled machine code against O_s by formula: every layer of the recorded
//! programs whose operator has a closed form, on every CPU.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the layer's name"
)]

mod support;

use dmo_analysis::operator::Overlap;
use dmo_analysis::profile::LayerProfile;
use dmo_analysis::trace::{Exit, Role};
use support::expected::{ExpectedLayer, layers, layers_of};
use support::{LIMITS, profile, programs, recorded, run_options};

#[test]
fn cortex_m3() {
    check_cpu("cortex-m3");
}

#[test]
fn cortex_m4() {
    check_cpu("cortex-m4");
}

#[test]
fn cortex_m7() {
    check_cpu("cortex-m7");
}

fn check_cpu(cpu: &str) {
    for program in programs() {
        let target = recorded(cpu, &program);
        let (profile, outcome) = profile(&target, run_options(false, LIMITS))
            .unwrap_or_else(|error| panic!("{cpu} {program}: {error}"));
        assert_eq!(outcome.exit, Exit::Status(0), "{cpu} {program}");
        let expected = layers_of(&program);
        assert_eq!(
            profile.layers.len(),
            expected.len(),
            "{cpu} {program}: layers"
        );
        for (position, (layer, expected)) in profile.layers.iter().zip(&expected).enumerate() {
            assert_eq!(position, expected.index, "{cpu} {}", expected.name);
            check_layer(cpu, layer, expected);
        }
    }
}

fn check_layer(cpu: &str, layer: &LayerProfile, expected: &ExpectedLayer) {
    let name = &expected.name;
    assert_eq!((&layer.name, &layer.operator), (name, &expected.operator));
    let sizes = |role| -> Vec<u32> {
        let tensors = layer.tensors.iter().map(|tensor| &tensor.tensor);
        tensors
            .filter(|tensor| tensor.role == role)
            .map(|tensor| tensor.size_bytes)
            .collect()
    };
    assert_eq!(sizes(Role::Input), expected.input_bytes(), "{cpu} {name}");
    assert_eq!(
        sizes(Role::Output),
        [expected.output_bytes()],
        "{cpu} {name}"
    );
    let Some(operator) = expected.closed_form() else {
        return;
    };
    let bytes = |overlaps: Vec<Overlap>| -> Vec<u32> {
        overlaps.into_iter().map(|overlap| overlap.bytes).collect()
    };
    let by_formula = bytes(operator.overlaps().expect("shape"));
    let step_by_step = bytes(operator.traced_overlaps().expect("shape"));
    let measured: Vec<u32> = layer
        .pairs
        .iter()
        .map(|pair| pair.safe_overlap_bytes)
        .collect();
    assert_eq!(by_formula, step_by_step, "{name}: by formula, by its loops");
    assert_eq!(measured, by_formula, "{cpu} {name}: traced, by formula");
    for pair in &layer.pairs {
        assert_eq!(pair.refusals, [], "{cpu} {name}");
    }
}

/// Nobody adds a layer that is silently left unchecked: only the loops of `it_block` are
/// no operator.
#[test]
fn operators_without_a_closed_form() {
    for layer in layers() {
        let own_loops = layer.elf == "it_block";
        assert_eq!(layer.closed_form().is_none(), own_loops, "{}", layer.name);
    }
}
