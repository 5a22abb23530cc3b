//! Kernels called by name on a shape: the measurement itself is checked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Conv2d, FullyConnected, Operator, Reshape, Window};
use dmo_analysis::profile::Refusal;
use dmo_analysis::trace::ElementType;
use dmo_trace::call::{CallError, DEFAULT_RAM};
use dmo_trace::kernels::{Case, KernelLibrary};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::measure::{MeasureError, Measurement, choose, measure_in_detail};
use support::LIMITS;
use support::firmware::{ElfFile, RAM, RAM_BYTES, Segment};
use support::placed::measure;

fn pointwise(extent: u32) -> Case {
    Case {
        operator: Operator::Conv2d(Conv2d {
            input: [1, extent, extent, 8],
            output: [1, extent, extent, 16],
            window: Window::default(),
            groups: 1,
            element_bytes: 1,
        }),
        kind: Kind::of_kernels("conv2d").unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

fn measured(set: &str, case: &Case) -> Result<Measurement, MeasureError> {
    let path = format!(
        "{}/../kernels-c/images/cortex-m4/kernels-{set}.elf",
        env!("CARGO_MANIFEST_DIR")
    );
    let elf = std::fs::read(path).expect("kernels");
    let library = KernelLibrary::new(&elf, None, DEFAULT_RAM)?;
    let kernel = choose(&library, case, None)?;
    measure_in_detail(&library, case, kernel, 2, LIMITS)
}

/// The order of the loops decides: output channels outside leave a few bytes, pixels outside
/// keep the diagonal, at the cost of at most a tenth more estimated cycles.
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
    let cycles = |measurement: &Measurement| measurement.cycles.expect("a Cortex-M4").total as f64;
    assert!(cycles(&pixels) < 1.1 * cycles(&channels));
    assert!(cycles(&pixels) < cycles(&reference) / 9.0);
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

/// Copies from the first byte to the last; r0 input, r1 output, r2 bytes.
const FORWARD: &[u16] = &[0xf810, 0x3b01, 0xf801, 0x3b01, 0x3a01, 0xd1f9, 0x4770];
/// From the last to the first.
const BACKWARD: &[u16] = &[0x3a01, 0x5c83, 0x548b, 0xd1fb, 0x4770];

const FUNCTIONS: u32 = 0x80;

/// A library of functions assembled by hand.
fn library(functions: &[(&str, &[u16])]) -> ElfFile {
    let mut flash = vec![0; FUNCTIONS as usize];
    let mut symbols = Vec::new();
    for (name, code) in functions {
        let size_bytes = 2 * code.len() as u32;
        symbols.push(((*name).to_owned(), flash.len() as u32, size_bytes));
        flash.extend(code.iter().flat_map(|word| word.to_le_bytes()));
    }
    ElfFile {
        segments: vec![Segment::code(0, flash), Segment::ram(RAM, RAM_BYTES)],
        functions: symbols,
        entry: FUNCTIONS | 1,
        ..ElfFile::default()
    }
}

/// `test` sets the flags; where `branch`, a conditional one, is taken, the copy is backward.
fn either(test: &[u16], branch: u16) -> Vec<u16> {
    let over = FORWARD.len() as u16 - 1;
    [test, &[branch | over], FORWARD, BACKWARD].concat()
}

const BNE: u16 = 0xd100;
const BEQ: u16 = 0xd000;
const BHI: u16 = 0xd800;

const FEW: Limits = Limits {
    max_instructions: 1_000_000,
    ..LIMITS
};

const BYTES: u32 = 64;

fn reshape() -> Case {
    Case {
        operator: Operator::Reshape(Reshape {
            elements: BYTES,
            element_bytes: 1,
        }),
        kind: Kind::of_kernels("reshape").unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

fn reshaped(code: &[u16], inputs: u64) -> Result<Measurement, MeasureError> {
    let case = reshape();
    let elf = library(&[("arm_reshape_s8", code)]);
    let library = KernelLibrary::new(&elf.bytes(), Some("cortex-m4"), DEFAULT_RAM)?;
    measure(&library, &case, inputs, FEW)
}

fn overlap(measurement: &Measurement) -> u32 {
    measurement.layer.pairs[0].safe_overlap_bytes
}

#[test]
fn copies_are_proved() {
    let forward = reshaped(FORWARD, 5).expect("forward");
    assert_eq!(overlap(&forward), BYTES);
    assert!(forward.proofs[0].equal_at_overlap);
    assert!(!forward.proofs[0].misaligned_at_overlap);
    let backward = reshaped(BACKWARD, 5).expect("backward");
    assert_eq!(overlap(&backward), 0);
    assert!(backward.proofs[0].equal_at_overlap);
    assert_eq!(backward.proofs[0].differs_beyond, Some(true));
}

/// Forward on the first call, backward on those after it.
#[test]
fn a_kernel_with_state_is_not_believed_on_its_first_call() {
    // r3 = ++*RAM; cmp r3, #1
    let count = [
        0xf240, 0x0c00, 0xf2c2, 0x0c00, 0xf8dc, 0x3000, 0x3301, 0xf8cc, 0x3000, 0x2b01,
    ];
    for inputs in [1, 2, 5] {
        let measured = reshaped(&either(&count, BNE), inputs).expect("two copies");
        assert_eq!(overlap(&measured), 0);
        let refusals = &measured.layer.pairs[0].refusals;
        assert_eq!(refusals, &[Refusal::DataDependent]);
    }
}

#[test]
fn a_kernel_that_looks_at_its_addresses_is_found_at_a_smaller_overlap() {
    // cmp r0, r1
    let order: &[u16] = &[0x4288];
    // orr r3, r0, r1; tst r3, #3
    let alignment: &[u16] = &[0xea40, 0x0301, 0xf013, 0x0f03];
    for (test, branch) in [(order, BHI), (alignment, BNE)] {
        let measured = reshaped(&either(test, branch), 2).expect("two copies");
        assert_eq!(overlap(&measured), BYTES);
        assert!(!measured.proofs[0].equal_at_overlap);
    }
}

/// Backward where all of the input has the value: found among the inputs of a short kernel.
#[test]
fn zeros_and_both_extremes_are_tried() {
    for value in [0x00, 0x80, 0x7f] {
        // r12 = whether any byte of the input is another; r4 stays as it was
        let scan = [
            0xb410,
            0xf04f,
            0x0c00,
            0x4613,
            0x3b01,
            0x5cc4,
            0xf084,
            0x0400 | value,
            0xea4c,
            0x0c04,
            0xd1f8,
            0xbc10,
            0xf1bc,
            0x0f00,
        ];
        let code = either(&scan, BEQ);
        assert_eq!(overlap(&reshaped(&code, 1).expect("one input")), BYTES);
        assert_eq!(overlap(&reshaped(&code, 2).expect("two inputs")), 0);
    }
}

#[test]
fn stores_beside_the_buffers_are_refused() {
    // str r3, [r1, r2]
    let behind: &[u16] = &[0x508b];
    // strb r3, [r1, #-20]
    let before: &[u16] = &[0xf801, 0x3c14];
    for beside in [behind, before] {
        let error = reshaped(&[beside, FORWARD].concat(), 2).expect_err("beside");
        assert!(matches!(error, MeasureError::Outside { .. }), "{error}");
    }
}

/// A store that leaves a byte as it was is one all the same.
#[test]
fn stores_that_restore_are_refused() {
    // ldr r3, [r1, r2]; str r3, [r1, r2]
    let error = reshaped(&[&[0x588b, 0x508b], FORWARD].concat(), 2).expect_err("a store");
    assert!(matches!(error, MeasureError::Outside { .. }), "{error}");
}

/// Further than any guard between two buffers reaches.
#[test]
fn stores_far_behind_the_buffers_are_refused() {
    let distances = (0..4096).step_by(37);
    for distance in distances.chain([4096, 10_000, 0xffff - BYTES]) {
        // movw r3, #offset; strb r2, [r1, r3]
        let offset = (BYTES + distance) as u16;
        let [first, second] = [
            0xf240 | (offset >> 11 & 1) << 10 | offset >> 12,
            0x0300 | (offset >> 8 & 7) << 12 | offset & 0xff,
        ];
        let code = [&[first, second, 0x54ca], FORWARD].concat();
        let error = reshaped(&code, 1).expect_err("far behind");
        assert!(
            matches!(
                error,
                MeasureError::Outside { .. } | MeasureError::Call(CallError::Fault(_))
            ),
            "{distance}: {error}"
        );
    }
}

/// Where the library's own data reach up to the end of RAM, nothing is placed over them.
#[test]
fn a_library_that_fills_the_ram_leaves_no_room() {
    let elf = library(&[("arm_reshape_s8", FORWARD)]);
    let end = u64::from(RAM) + u64::from(RAM_BYTES);
    let case = reshape();
    for ram in [u64::from(RAM)..end, u64::from(RAM)..end + 0x1_0000] {
        let library = KernelLibrary::new(&elf.bytes(), Some("cortex-m4"), ram).expect("a library");
        let error = measure(&library, &case, 1, FEW).expect_err("no room");
        assert!(
            matches!(error, MeasureError::Call(CallError::NoRoom { .. })),
            "{error}"
        );
    }
}

/// LDM of the input where O_s puts it at an odd address.
#[test]
fn a_displacement_that_faults_on_a_real_core_is_told() {
    let words = [
        0x2300, 0x700b, 0xe8b0, 0x1008, 0xf841, 0x3b04, 0xf841, 0xcb04, 0x3a08, 0xd1f7, 0x4770,
    ];
    let measured = reshaped(&words, 2).expect("words");
    assert_eq!(overlap(&measured), BYTES - 1);
    assert!(measured.proofs[0].equal_at_overlap);
    assert!(measured.proofs[0].misaligned_at_overlap);
}

/// LDREX from an odd address faults in the emulator too, here only with one element more.
#[test]
fn a_fault_on_spoilt_data_does_not_end_the_measurement() {
    // BACKWARD, and then ldrex r3, [r0]
    let code = [&BACKWARD[..4], &[0xe850, 0x3f00, 0x4770]].concat();
    let measured = reshaped(&code, 2).expect("ldrex");
    assert_eq!(measured.proofs[0].differs_beyond, Some(true));
}

/// Endless in overlapped buffers only.
#[test]
fn an_endless_loop_in_the_proof_ends() {
    // cmp r0, r1; bhi to itself
    let spin = [&[0x4288, 0xd8fe], FORWARD].concat();
    let measured = reshaped(&spin, 2).expect("apart it ends");
    assert!(!measured.proofs[0].equal_at_overlap);
}

fn fully_connected(scratch: &[u16], kernel: &[u16]) -> Result<Measurement, MeasureError> {
    let case = Case {
        operator: Operator::FullyConnected(FullyConnected {
            batches: 1,
            input_depth: 8,
            output_depth: 4,
            element_bytes: 1,
        }),
        kind: Kind::of_kernels("fully_connected").unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    };
    let elf = library(&[
        ("arm_fully_connected_s8_get_buffer_size", scratch),
        ("arm_fully_connected_s8", kernel),
    ]);
    let library =
        KernelLibrary::new(&elf.bytes(), Some("cortex-m4"), DEFAULT_RAM).expect("a library");
    measure(&library, &case, 2, FEW)
}

#[test]
fn scratch_memory_is_guarded_and_its_function_has_limits() {
    // movs r0, #16; bx lr
    let sixteen = [0x2010, 0x4770];
    // Stores word 4 of a scratch memory of 16 bytes.
    let beyond = [0x6803, 0x611b, 0x2000, 0x4770];
    let refused = |scratch: &[u16]| fully_connected(scratch, &beyond).expect_err("refused");
    let outside = refused(&sixteen);
    assert!(matches!(outside, MeasureError::Outside { .. }), "{outside}");
    let itself = refused(&[0xe7fe]).to_string();
    assert!(itself.contains("endless loop"), "{itself}");
    // movs r0, #1; b to it
    let busy = refused(&[0x2001, 0xe7fd]).to_string();
    assert!(busy.contains("limit of 1000000"), "{busy}");
}

/// In an arena other tensors have been in the scratch memory before.
#[test]
fn an_output_of_what_scratch_memory_held_is_not_believed() {
    // Loads the input; ldr r3, [buffer]; str r3, [output]
    let stale = [
        0x9900, 0x6809, 0x6803, 0x681b, 0x9a06, 0x6013, 0x2000, 0x4770,
    ];
    let measured = fully_connected(&[0x2010, 0x4770], &stale).expect("a measurement");
    assert!(!measured.proofs[0].equal_at_overlap);
}
