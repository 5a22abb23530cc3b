//! Kernels called by name on a shape: the measurement itself is checked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::operator::{Conv2d, Operator, Window};
use dmo_analysis::trace::ElementType;
use dmo_trace::call::{CallError, DEFAULT_RAM, Library};
use dmo_trace::kernels::Case;
use dmo_trace::measure::{MeasureError, Measurement, measure};
use support::LIMITS;

fn pointwise(extent: u32) -> Case {
    Case {
        operator: Operator::Conv2d(Conv2d {
            input: [1, extent, extent, 8],
            output: [1, extent, extent, 16],
            window: Window::default(),
            groups: 1,
            element_bytes: 1,
        }),
        kind: "conv2d",
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

fn measured(set: &str, case: &Case) -> Result<Measurement, MeasureError> {
    let path = format!(
        "{}/../traces/kernels/cortex-m4/kernels-{set}.elf",
        env!("CARGO_MANIFEST_DIR")
    );
    let elf = std::fs::read(path).expect("kernels");
    let library = Library::new(&elf, None, DEFAULT_RAM)?;
    measure(&library, case, 2, LIMITS)
}

/// The order of the loops decides: output channels outside leave a few bytes, pixels outside
/// keep the diagonal, at the cost of at most a tenth more instructions.
#[test]
fn loop_order_decides_the_overlap() {
    let case = pointwise(64);
    let reference = measured("reference", &case).expect("reference");
    let pixels = measured("dsp", &case).expect("dsp");
    let channels = measured("dsp-channels-outside", &case).expect("dsp-channels-outside");
    let overlap = |measurement: &Measurement| measurement.layer.pairs[0].safe_overlap_bytes;
    assert_eq!(overlap(&reference), 32_761);
    assert!(overlap(&pixels) >= 32_761, "{}", overlap(&pixels));
    assert!(overlap(&channels) < 16, "{}", overlap(&channels));
    for measurement in [&reference, &pixels, &channels] {
        assert!(
            measurement.proofs[0].equal_at_overlap,
            "{}",
            measurement.function
        );
        assert_ne!(measurement.proofs[0].differs_beyond, Some(false));
    }
    let instructions = |measurement: &Measurement| measurement.layer.instructions() as f64;
    assert!(instructions(&pixels) < 1.1 * instructions(&channels));
    assert!(instructions(&pixels) < instructions(&reference) / 10.0);
}

#[test]
fn what_cannot_be_measured() {
    let too_large = measured("reference", &pointwise(2048)).expect_err("no room");
    assert!(
        matches!(too_large, MeasureError::Call(CallError::NoRoom { .. })),
        "{too_large}"
    );
    let mut float = pointwise(4);
    (float.input_type, float.output_type) = (ElementType::Float32, ElementType::Float32);
    let missing = measured("dsp", &float).expect_err("no kernel");
    assert_eq!(
        missing.to_string(),
        "no kernel of the library computes this: it has no dmo_conv2d_f32"
    );
}
