//! Every kernel that the tool brings along can be called, and is called by a regression grid;
//! kernels of different sets compute the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::{Elementwise, ElementwiseBinary, Operator};
use dmo_analysis::trace::ElementType;
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::images::{self, IMAGES};
use dmo_trace::kernels::{Case, Contract, KernelLibrary, contracts};
use dmo_trace::measure::choose;
use std::collections::BTreeSet;
use std::path::Path;
use support::cases::{packed_cases, shared_cases};
use support::placed::outputs;
use support::vendor_cases::{FUNCTIONS, Random};

/// They work in one buffer, so that there is nothing to overlap.
const IN_PLACE: [&str; 3] = ["arm_relu6_s8", "arm_relu_q15", "arm_relu_q7"];

/// Products take a copy of the second input that the runtime has transposed, by code outside of the
/// library. The activation is a part of the LSTM. Nothing calls the convolution of even rows, nor asks
/// for the scratch memory of weights of 4 bits: it is that of 8 bits.
const NOT_CALLED: [&str; 5] = [
    "arm_batch_matmul_s16",
    "arm_batch_matmul_s8",
    "arm_convolve_even_s4",
    "arm_convolve_wrapper_s4_get_buffer_size",
    "arm_nn_activation_s16",
];

/// Its output is kept from one call to the next and overlaps nothing.
const KEPT: &str = "dmo_circular_buffer";

/// What they load or store depends on the data, or is taken to, so that they have no O_s.
const BY_DATA: [&str; 12] = [
    "dmo_detection_postprocess_f32",
    "dmo_gather",
    "dmo_irfft_f32",
    "dmo_irfft_s16",
    "dmo_irfft_s32",
    "dmo_signal_energy_s16",
    "dmo_signal_framer_s16",
    "dmo_signal_pcan",
    "dmo_signal_scale_s16",
    "dmo_signal_stacker_s16",
    "dmo_signal_subtract_noise",
    "dmo_update_slice",
];

/// They load no activation that could overlap.
const WITHOUT_INPUTS: [&str; 3] = ["dmo_decode", "dmo_shape_of", "dmo_zeros"];

/// Rows of the application, asked for by generated code and by `dmo_next_rows_in_memory`, and rows kept
/// from tile to tile: none of these computes an operator of a model.
const ROWS: [&str; 3] = ["dmo_next_rows", "dmo_next_rows_in_memory", "dmo_keep_rows"];

/// Of these an O_s says too little: `in_place.rs` and `pitched.rs` look at all displacements.
fn is_beyond_a_table(name: &str) -> bool {
    name.contains("_in_place") || name.contains("_pitched")
}

/// Sizes by core, which only the vendor's kernels ask for.
fn is_size_of_core(name: &str) -> bool {
    name.ends_with("_get_buffer_size_dsp") || name.ends_with("_get_buffer_size_mve")
}

/// Kernels of all images, by the prefixes of the two interfaces.
fn kernels() -> BTreeSet<String> {
    IMAGES
        .iter()
        .flat_map(|image| {
            let library = KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect(image.set);
            let functions = library.image().symbols.functions();
            let names = functions.map(|symbol| symbol.name.as_str());
            names.map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|name| name.starts_with("dmo_") || name.starts_with("arm_"))
        .filter(|name| !is_size_of_core(name))
        .collect()
}

#[test]
fn every_kernel_has_a_contract() {
    let functions = contracts().flat_map(|contract| {
        let sizes = contract.size_functions().map(|it| it.name);
        sizes.chain([contract.function])
    });
    let called: BTreeSet<&str> = functions
        .chain(IN_PLACE)
        .chain(NOT_CALLED)
        .chain(ROWS)
        .collect();
    let kernels = kernels();
    let kernels: BTreeSet<&str> = kernels.iter().map(String::as_str).collect();
    assert_eq!(
        kernels.difference(&called).collect::<Vec<_>>(),
        [&""; 0],
        "kernels without a contract: give them a row in tracer/src/kernels/"
    );
    let of_vendors = |name: &str| {
        let mut functions = FUNCTIONS.iter();
        functions.any(|(function, ..)| {
            name.strip_suffix("_get_buffer_size").unwrap_or(name) == *function
        })
    };
    let missing = called.difference(&kernels).filter(|name| !of_vendors(name));
    assert_eq!(
        missing.collect::<Vec<_>>(),
        [&""; 0],
        "contracts without a kernel in any image: make -C kernels-c kernel-corpus, or, of functions \
         that only vendors have, a case in support/vendor_cases.rs"
    );
}

#[test]
fn every_kernel_is_in_a_table() {
    let mut listed = BTreeSet::new();
    for table in [
        "reference",
        "dsp",
        "dsp-packed",
        "plain",
        "dsp-channels-outside",
    ] {
        let path = format!("../traces/overlaps/{table}.csv");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = std::fs::read_to_string(path).expect("table");
        for line in text.lines().skip(1) {
            listed.insert(line.split(',').nth(3).expect("kernel").to_owned());
        }
    }
    let kernels = kernels();
    let missing: Vec<&String> = kernels
        .difference(&listed)
        .filter(|name| !IN_PLACE.contains(&name.as_str()) && !is_beyond_a_table(name))
        .filter(|name| !NOT_CALLED.contains(&name.as_str()))
        .filter(|name| !name.contains("_buffer_size") && !name.ends_with("_scratch_bytes"))
        .filter(|name| name.as_str() != KEPT && !ROWS.contains(&name.as_str()))
        .filter(|name| !BY_DATA.contains(&name.as_str()))
        .filter(|name| !WITHOUT_INPUTS.contains(&name.as_str()))
        .collect();
    assert_eq!(
        missing, [""; 0],
        "kernels without O_s on record: give them a case in traces/overlaps/grid.toml and make \
         the table anew (sweep.rs says how)"
    );
}

fn library(set: &str) -> KernelLibrary {
    let image = IMAGES.iter().find(|image| image.set == set).expect(set);
    KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect(set)
}

/// What saturates otherwise than TensorFlow Lite Micro's kernel is not called, and nothing stands in the
/// way of the reference kernels.
#[test]
fn an_exact_library_has_no_lstm_of_cmsis_nn() {
    for set in ["dsp", "plain", "dsp-packed"] {
        for activations in [ElementType::Int8, ElementType::Int16] {
            let case = Random(1).lstm(activations);
            let found = Contract::find(&library(set), &case, None).expect(set);
            assert!(found.function.starts_with("arm_lstm_"), "{set}");
            let exact = library(set).exact();
            assert!(Contract::find(&exact, &case, None).is_none(), "{set}");
            assert_eq!(Contract::serving(&exact, &case), None, "{set}");
        }
    }
}

/// CMSIS-NN's functions ignore groups, and take wrong weights of an odd number of channels; ours of these
/// names do not.
#[test]
fn limits_of_cmsis_nn_hold_for_libraries_of_others() {
    let mut refused = 0;
    for (function, case) in beyond_cmsis_nn() {
        for set in ["dsp", "plain"] {
            let found = |library: &KernelLibrary| Contract::find(library, &case, Some(function));
            assert!(found(&library(set)).is_none(), "{function}");
            let built_in = library(set).built_in();
            let kernel = found(&built_in).expect(function);
            let model = choose(&library("reference"), &case, Some(model_of(function)));
            let expected = outputs(&library("reference"), &case, model.expect(function), 0);
            assert_eq!(outputs(&built_in, &case, kernel, 0), expected, "{function}");
            refused += 1;
        }
    }
    assert_eq!(refused, 2 * 4);
}

/// A grouped convolution, and a depthwise one of three channels and two batches, as the functions take
/// them in any number of 4-bit weights.
fn beyond_cmsis_nn() -> Vec<(&'static str, Case)> {
    let case_of = |function: &str| {
        let row = FUNCTIONS.iter().find(|(name, ..)| *name == function);
        row.map(|(.., make)| make(&mut Random(1))).expect(function)
    };
    let mut cases = Vec::new();
    for function in ["arm_convolve_wrapper_s4", "arm_convolve_s4"] {
        let mut case = case_of("arm_convolve_s4");
        if let Operator::Conv2d(conv) = &mut case.operator {
            (conv.input[3], conv.output[3], conv.groups) = (6, 4, 2);
        }
        cases.push((function, case));
    }
    for function in ["arm_depthwise_conv_wrapper_s4", "arm_depthwise_conv_s4"] {
        let mut case = case_of("arm_depthwise_conv_s4");
        if let Operator::DepthwiseConv2d(conv) = &mut case.operator {
            (conv.input[0], conv.output[0]) = (2, 2);
            (conv.input[3], conv.output[3]) = (3, 3 * conv.multiplier);
        }
        cases.push((function, case));
    }
    cases
}

fn model_of(function: &str) -> &'static str {
    let row = FUNCTIONS.iter().find(|(name, ..)| *name == function);
    row.map(|(_, model, ..)| *model).expect("a row")
}

/// A contract with a wrong argument would compute something else.
#[test]
fn sets_compute_the_same() {
    let reference = library("reference");
    let output_of = |library: &KernelLibrary, function: &str, case: &Case| {
        let kernel = choose(library, case, Some(function)).expect(function);
        outputs(library, case, kernel, 0)
    };
    let apart = IN_PLACE.into_iter().chain(NOT_CALLED);
    let mut seen: BTreeSet<String> = apart.map(str::to_owned).collect();
    for (set, cases) in [
        ("dsp", shared_cases()),
        ("plain", shared_cases()),
        ("dsp-channels-outside", shared_cases()),
        ("dsp-packed", packed_cases()),
    ] {
        let dsp = library(set);
        for (function, model, case) in cases {
            let expected = output_of(&reference, model, &case);
            let found = output_of(&dsp, function, &case);
            assert_eq!(found, expected, "{set}: {function}");
            // Where all values are equal or clamped, nothing has been compared.
            let values: BTreeSet<&u8> = found.iter().collect();
            assert!(values.len() > 5, "{function} gives {values:?}");
            seen.insert(function.to_owned());
        }
    }
    let mut of_other_types = 0;
    for set in ["dsp", "plain", "dsp-channels-outside"] {
        let own = library(set);
        for (function, model, _, make) in FUNCTIONS {
            if !own.has(function) {
                continue;
            }
            let mut random = Random(1);
            let mut values = BTreeSet::new();
            for _ in 0..10 {
                let case = make(&mut random);
                let found = output_of(&own, function, &case);
                let expected = output_of(&reference, model, &case);
                assert_eq!(found, expected, "{set}: {function}: {case:?}");
                values.extend(found);
            }
            assert!(values.len() > 5, "{function} gives {values:?}");
            seen.insert(function.to_owned());
            of_other_types += 1;
        }
    }
    assert_eq!(of_other_types, 3 * 25);
    let kernels = kernels();
    let unseen: Vec<&String> = kernels
        .difference(&seen)
        .filter(|name| name.starts_with("arm_") || name.starts_with("dmo_dsp_packed_"))
        .filter(|name| !name.ends_with("_buffer_size") && !name.ends_with("_scratch_bytes"))
        .collect();
    assert_eq!(
        unseen, [""; 0],
        "kernels compared with no other: give them a case in support/cases.rs"
    );
}

/// Where a formula grants an overlap, a reference kernel computes it: others have other loops, or none.
#[test]
fn formulas_are_of_types_that_kernels_take() {
    const TYPES: [ElementType; 7] = [
        ElementType::Float32,
        ElementType::Int8,
        ElementType::Uint8,
        ElementType::Int16,
        ElementType::Int32,
        ElementType::Int64,
        ElementType::Bool,
    ];
    const OF_TWO_TYPES: [&str; 4] = ["cast", "dequantize", "quantize", "requantize"];
    let reference = images::find("reference", None).unwrap();
    let library = KernelLibrary::new(&reference.elf(), None, DEFAULT_RAM).unwrap();
    let mut seen = 0;
    for (name, inputs) in Kind::elementwise().filter(|(name, _)| !OF_TWO_TYPES.contains(name)) {
        let kind = Kind::of_kernels(name).unwrap();
        for element in TYPES {
            let computed = [element, ElementType::Bool].into_iter().any(|output| {
                let [bytes, output_bytes] = [element, output].map(ElementType::size_bytes);
                let operator = match inputs {
                    1 => Operator::Elementwise(Elementwise {
                        elements: 8,
                        input_element_bytes: bytes,
                        output_element_bytes: output_bytes,
                    }),
                    _ => Operator::ElementwiseBinary(ElementwiseBinary {
                        inputs: [[1, 1, 1, 8]; 2],
                        output: [1, 1, 1, 8],
                        input_element_bytes: [bytes; 2],
                        output_element_bytes: output_bytes,
                    }),
                };
                let case = Case {
                    operator,
                    kind: kind.clone(),
                    input_type: element,
                    output_type: output,
                };
                choose(&library, &case, None).is_ok()
            });
            let takes = kind.takes(TensorType::from(element));
            assert!(computed || !takes, "{name} {element:?}");
            seen += usize::from(takes);
        }
    }
    assert_eq!(seen, 105);
}
