//! Functions with the CMSIS-NN interface that only a vendor's library has: called as their versions
//! want it, bit-exact with the reference kernels, with an O_s that brute force finds too.
//!
//! Stand-ins over the reference kernels show that each argument has its place; where a library of
//! CMSIS-NN lies beside the repository, the same tests run on that.
//! `DMO_TRACE_CMSIS_NN=4:old.a,7:new.a` names others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test may fail loudly; libtest-mimic wants a result"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Buffer, ElementwiseBinary, Operator, Pool2d, Window};
use dmo_analysis::trace::ElementType;
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::{Case, KernelLibrary, contracts, images};
use dmo_trace::measure::{MeasureError, choose, measure_kernel};
use libtest_mimic::{Completion, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use support::LIMITS;
use support::cases::shared_cases;
use support::placed::{Placed, bytes, first_outputs, outputs_with};
use support::tools::{self, Availability};
use support::vendor_cases::{FUNCTIONS, Random};
use support::workshop::{HARD, Workshop, kernels_c, linked};

fn main() {
    let compiler: Availability = tools::version("arm-none-eabi-gcc").map(|_| ());
    let mut trials = vec![tools::trial(
        "stand-ins are called as each version wants",
        &compiler,
        stand_ins,
    )];
    let real = real_libraries();
    trials.push(Trial::ignorable_test("real CMSIS-NN", move || {
        for (version, path) in &real {
            real_library(*version, path);
        }
        Ok(if real.is_empty() {
            Completion::ignored_with("no library is there")
        } else {
            Completion::Completed
        })
    }));
    trials.push(Trial::test("the table of functions is true", documented));
    tools::main(&compiler, trials)
}

/// Functions of the table in `docs/vendor.md`, with whether they are called.
fn table() -> BTreeMap<String, bool> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/vendor.md");
    let text = std::fs::read_to_string(page).expect("the page");
    let (_, section) = text.split_once("\n## Functions\n").expect("the section");
    let rows = section
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .skip(2);
    let mut functions = BTreeMap::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let (names, called) = row[1..].split_once('|').expect("two columns");
        let called = called.trim().starts_with("yes");
        for name in names.split('`').filter(|name| name.starts_with("arm_")) {
            let former = functions.insert(name.to_owned(), called);
            assert_eq!(former, None, "{name} stands twice");
        }
    }
    functions
}

/// What is called is called, and nothing else; a real library has no public function beside these.
fn documented() -> Result<(), Failed> {
    let table = table();
    assert!(table.len() > 50, "{}", table.len());
    let contracts = contracts().filter(|contract| contract.is_of_cmsis_nn());
    let known: BTreeSet<&str> = contracts.map(|contract| contract.function).collect();
    for (function, called) in &table {
        assert_eq!(known.contains(function.as_str()), *called, "{function}");
    }
    // The current version has it no longer.
    let missing = known
        .iter()
        .filter(|function| !table.contains_key(**function));
    assert_eq!(missing.collect::<Vec<_>>(), [&"arm_convolve_fast_s16"]);
    for (_, path) in real_libraries().iter().filter(|(version, _)| *version == 7) {
        let library = linked(path);
        let symbols = library.image().symbols.functions();
        let names = symbols.map(|symbol| symbol.name.as_str());
        let public = names.filter(|name| is_public(name));
        let undocumented = public.filter(|name| !table.contains_key(*name));
        assert_eq!(
            undocumented.collect::<Vec<_>>(),
            [""; 0],
            "{}",
            path.display()
        );
    }
    Ok(())
}

/// Whether `arm_nnfunctions.h` declares it: support functions have a header of their own.
fn is_public(name: &str) -> bool {
    const SUPPORT: [&str; 5] = [
        "arm_elementwise_mul_acc_s16",
        "arm_elementwise_mul_s16_batch_offset",
        "arm_elementwise_mul_s16_s8",
        "arm_q7_to_q15_with_offset",
        "arm_s8_to_s16_unordered_with_offset",
    ];
    let is_function = name.starts_with("arm_") && !name.contains("_get_");
    let is_support = name.starts_with("arm_nn_") && name != "arm_nn_activation_s16";
    is_function && !is_support && !SUPPORT.contains(&name)
}

/// Versions and paths.
fn real_libraries() -> Vec<(u8, PathBuf)> {
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/firmware/libcmsis-nn-m4.a");
    let mut libraries = Vec::new();
    if beside.is_file() {
        libraries.push((7, beside));
    }
    let named = std::env::var("DMO_TRACE_CMSIS_NN").unwrap_or_default();
    for item in named.split(',').filter(|item| !item.is_empty()) {
        let (version, path) = item.split_once(':').expect("VERSION:PATH");
        libraries.push((version.parse().expect("a version"), path.into()));
    }
    libraries
}

fn reference() -> KernelLibrary {
    let image = images::find("reference", Some("cortex-m4")).unwrap();
    KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).unwrap()
}

/// `tests/vendor/functions.c` and `int4.c` with the reference kernels that it calls.
fn stand_in(workshop: &Workshop, version: u8) -> PathBuf {
    let mut kernels: Vec<&str> = FUNCTIONS.iter().map(|(_, kernel, ..)| *kernel).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let reference = kernels_c().join("reference");
    let mut objects: Vec<PathBuf> = kernels
        .iter()
        .map(|kernel| workshop.compile(&reference.join(format!("{kernel}.c")), &[]))
        .collect();
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vendor");
    for adapter in ["functions.c", "int4.c"] {
        let flags = [format!("-DVERSION={version}")];
        objects.push(workshop.compile(&adapters.join(adapter), &flags));
    }
    workshop.archive("libvendor.a", &objects)
}

fn stand_ins() -> Result<(), Failed> {
    for version in 4..=7 {
        let workshop = Workshop::new(&HARD);
        let library = linked(&stand_in(&workshop, version)).of_version(version)?;
        let compared = compare(&library, version, 6);
        assert_eq!(compared, 6 * available(version), "{version}");
        columns_are_not_repeated(&library, version);
        wrong_with_4_bits(&library, version);
        let undecided = linked(&stand_in(&workshop, version));
        not_guessed(&undecided, version);
    }
    Ok(())
}

fn available(version: u8) -> usize {
    let mut functions = FUNCTIONS.iter();
    let count = functions.by_ref();
    count
        .filter(|(_, _, [first, last], _)| (*first..=*last).contains(&version))
        .count()
}

/// A convolution whose bias is passed in two ways is not called while the version is open.
fn not_guessed(library: &KernelLibrary, version: u8) {
    let [first, last] = library.versions().bounds();
    let case = FUNCTIONS
        .iter()
        .find(|(function, ..)| *function == "arm_convolve_s16")
        .map(|(.., case)| case(&mut Random(1)))
        .expect("a case");
    let found = choose(library, &case, Some("arm_convolve_s16"));
    if first < 6 && last > 5 {
        let error = found.map(|it| it.function).expect_err("open");
        assert!(
            matches!(error, MeasureError::OtherVersion { .. }),
            "{error}"
        );
    } else {
        assert!(found.is_ok(), "{version}: {first} to {last}");
    }
}

/// The vendor's function computes something else there.
fn columns_are_not_repeated(library: &KernelLibrary, version: u8) {
    let mut case = FUNCTIONS
        .iter()
        .find(|(function, ..)| *function == "arm_maximum_s8")
        .map(|(.., case)| case(&mut Random(1)))
        .expect("a case");
    let shape = [1, 3, 4, 2];
    for (repeated, is_computed) in [
        ([1, 3, 1, 1], false),
        ([1, 1, 1, 1], true),
        ([1, 3, 1, 2], true),
    ] {
        for inputs in [[shape, repeated], [repeated, shape]] {
            case.operator = Operator::ElementwiseBinary(ElementwiseBinary {
                inputs,
                output: shape,
                input_element_bytes: [1, 1],
                output_element_bytes: 1,
            });
            let found = choose(library, &case, Some("arm_maximum_s8")).map(|it| it.function);
            match (found, is_computed && version == 7) {
                (Ok(_), true) => {}
                (Err(MeasureError::NotCallable { function }), false) if version == 7 => {
                    assert_eq!(function, "arm_maximum_s8");
                }
                (Err(_), false) => assert!(version < 7),
                (found, _) => panic!("{version}: {repeated:?} {found:?}"),
            }
        }
    }
}

/// The vendor's functions compute something else there, or return an error.
fn wrong_with_4_bits(library: &KernelLibrary, version: u8) {
    let refused = |function: &str, change: fn(&mut Operator)| {
        let mut functions = FUNCTIONS.iter();
        let row = functions.find(|(name, ..)| *name == function);
        let (.., case) = row.expect(function);
        let mut case = case(&mut Random(1));
        change(&mut case.operator);
        let found = choose(library, &case, Some(function)).map(|it| it.function);
        match found.expect_err(function) {
            MeasureError::NotCallable { function: named } => assert_eq!(named, function),
            error => assert!(version < 6, "{function}: {error}"),
        }
    };
    let odd: fn(&mut Operator) = |operator| {
        if let Operator::DepthwiseConv2d(conv) = operator {
            (conv.input[0], conv.output[0]) = (2, 2);
            (conv.input[3], conv.output[3]) = (3, 3 * conv.multiplier);
        }
    };
    refused("arm_depthwise_conv_wrapper_s4", odd);
    refused("arm_depthwise_conv_s4", odd);
    refused("arm_depthwise_conv_s4_opt", odd);
    let grouped: fn(&mut Operator) = |operator| {
        if let Operator::Conv2d(conv) = operator {
            (conv.input[3], conv.output[3], conv.groups) = (4, 4, 2);
        }
    };
    for function in [
        "arm_convolve_wrapper_s4",
        "arm_convolve_s4",
        "arm_convolve_1x1_s4",
        "arm_convolve_1x1_s4_fast",
        "arm_convolve_1_x_n_s4",
    ] {
        refused(function, grouped);
    }
    refused("arm_convolve_1_x_n_s4", |operator| {
        if let Operator::Conv2d(conv) = operator {
            (conv.input[3], conv.window.stride) = (3, [1, 1]);
        }
    });
}

/// Compares the outputs of so many cases of each function with the reference kernel's; gives how
/// many there were.
fn compare(library: &KernelLibrary, version: u8, cases: u64) -> usize {
    let reference = reference();
    let mut compared = 0;
    for (function, model, [first, last], case_of) in FUNCTIONS {
        if !(first..=last).contains(&version) {
            let case = case_of(&mut Random(0));
            assert!(
                choose(library, &case, Some(function)).is_err(),
                "{function}"
            );
            continue;
        }
        for seed in 0..cases {
            let mut random = Random(seed);
            let case = case_of(&mut random);
            let kernel = choose(library, &case, Some(function)).expect(function);
            let expected = choose(&reference, &case, Some(model)).expect(model);
            let parameters = random.rescaled(&case, kernel.invented(&case).unwrap());
            let expected = outputs_with(&reference, &case, expected, &parameters, seed);
            let found = outputs_with(library, &case, kernel, &parameters, seed);
            assert!(found == expected, "{version}: {function} {case:?}");
            compared += 1;
        }
    }
    compared
}

/// Bit-exact, and the O_s is the most that execution finds right.
fn real_library(version: u8, path: &Path) {
    let library = linked(path).of_version(version).expect("the version");
    let compared = compare(&library, version, 60);
    assert_eq!(compared, 60 * available(version));
    let shared = compare_shared(&library, version);
    assert!(shared > 20, "{version}: {shared}");
    let mut found = BTreeMap::new();
    for (function, _, [first, last], case_of) in FUNCTIONS {
        if !(first..=last).contains(&version) {
            continue;
        }
        for seed in 0..5 {
            let case = case_of(&mut Random(100 + seed));
            brute_force(&library, function, &case, &mut found);
        }
    }
    every_pool_outcome(&library);
    let compared = compared + shared + compare_lstms(&library);
    eprintln!("{}: {compared} outputs equal; {found:?}", path.display());
}

/// The vendor's pool of the greatest stores where an element is greater: all inputs of three values
/// give the same output at each overlap that is granted.
fn every_pool_outcome(library: &KernelLibrary) {
    let pool = Pool2d {
        input: [1, 2, 3, 1],
        output: [1, 1, 2, 1],
        window: Window {
            kernel: [2, 2],
            ..Window::default()
        },
        element_bytes: 1,
    };
    let case = Case {
        operator: Operator::Pool2d(pool),
        kind: Kind::of_kernels("max").unwrap(),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    };
    let kernel = choose(library, &case, None).unwrap();
    let measured = measure_kernel(library, &case, kernel, 5, LIMITS).unwrap();
    let granted = measured.layer.pairs[0].safe_overlap_bytes;
    assert_eq!((measured.every_outcome, granted), (true, 2));
    let mut placed = Placed::of(library, &case, kernel);
    for number in 0..3_u32.pow(6) {
        let input: Vec<u8> = (0..6)
            .map(|digit| (number / 3_u32.pow(digit) % 3) as u8)
            .collect();
        let mut output = |overlap: usize| {
            let mut memory = vec![0xa5; 16];
            memory[10 - overlap..16 - overlap].copy_from_slice(&input);
            placed.run(memory, &[10 - overlap as u32], 8)[8..10].to_vec()
        };
        let expected = output(0);
        for overlap in 1..=granted as usize {
            assert_eq!(output(overlap), expected, "{overlap}: {input:?}");
        }
    }
}

/// Functions that compute more of the cases here than in the vendor's library, where wrappers do not
/// choose them for these: one batch only, in columns that no tap reaches something else than the bias,
/// and in earlier versions no rows but of multiples of 4 pixels.
/// LSTMs keep their states since June 2026 only. An SVDF's memory wraps where it should saturate.
const COMPUTES_LESS: [&str; 7] = [
    "arm_svdf_s8",
    "arm_convolve_1_x_n_s8",
    "arm_depthwise_conv_s8_opt",
    "arm_depthwise_conv_3x3_s8",
    "arm_transpose_conv_s8",
    "arm_lstm_unidirectional_s8",
    "arm_lstm_unidirectional_s16",
];

/// The same with the functions of 8 bits that this repository has too; gives how many outputs were
/// compared.
fn compare_shared(library: &KernelLibrary, version: u8) -> usize {
    let reference = reference();
    let mut compared = 0;
    for (function, model, case) in shared_cases() {
        let Ok(kernel) = choose(library, &case, Some(function)) else {
            continue;
        };
        if COMPUTES_LESS.contains(&function) {
            continue;
        }
        let model = choose(&reference, &case, Some(model)).expect(model);
        for seed in 0..4 {
            let parameters = Random(seed).rescaled(&case, kernel.invented(&case).unwrap());
            let expected = outputs_with(&reference, &case, model, &parameters, seed);
            let found = outputs_with(library, &case, kernel, &parameters, seed);
            assert!(found == expected, "{version}: {function} {case:?}");
        }
        compared += 4;
    }
    compared
}

/// The same with LSTMs that begin without states, in versions that have them; gives how many outputs were
/// compared.
fn compare_lstms(library: &KernelLibrary) -> usize {
    let reference = reference();
    let mut compared = 0;
    for (function, activations) in [
        ("arm_lstm_unidirectional_s8", ElementType::Int8),
        ("arm_lstm_unidirectional_s16", ElementType::Int16),
    ] {
        if !library.has(function) {
            continue;
        }
        for seed in 0..200 {
            let case = Random(seed).lstm(activations);
            let kernel = choose(library, &case, Some(function)).expect(function);
            let model = choose(&reference, &case, None).expect("a kernel");
            let parameters = kernel.invented(&case).unwrap();
            let expected = first_outputs(&reference, &case, model, &parameters, seed);
            let found = first_outputs(library, &case, kernel, &parameters, seed);
            assert!(found == expected, "{function} {seed} {case:?}");
            compared += 1;
        }
    }
    compared
}

/// Runs the kernel at every overlap of each pair, on three inputs. Counts whether the traced O_s is
/// the greatest below which all outputs are right, or less.
fn brute_force(
    library: &KernelLibrary,
    function: &'static str,
    case: &Case,
    found: &mut BTreeMap<(&'static str, &'static str), usize>,
) {
    let kernel = choose(library, case, Some(function)).expect(function);
    if !kernel.states.is_empty() {
        return;
    }
    let measured = measure_kernel(library, case, kernel, 5, LIMITS).expect(function);
    let buffers = case.operator.buffers().unwrap();
    let inputs: Vec<u32> = buffers.inputs.iter().map(Buffer::size_bytes).collect();
    let output = buffers.outputs[0].size_bytes();
    for (index, pair) in measured.layer.pairs.iter().enumerate() {
        let step = case.input_type.size_bytes();
        let mut placed = Placed::of(library, case, kernel);
        let mut right = 0;
        for overlap in (0..=inputs[index].min(output)).step_by(step as usize) {
            if !(0..3).all(|seed| is_right(&mut placed, &inputs, output, index, overlap, seed)) {
                break;
            }
            right = overlap;
        }
        let granted = pair.safe_overlap_bytes;
        assert!(
            granted <= right,
            "{function}: {granted} granted, {right} right: {case:?}"
        );
        let verdict = if granted / step == right / step {
            "equal"
        } else {
            "less granted"
        };
        *found.entry((function, verdict)).or_default() += 1;
    }
}

/// The output is the same where one input lies so far over the output's end.
fn is_right(
    placed: &mut Placed,
    inputs: &[u32],
    output: u32,
    index: usize,
    overlap: u32,
    seed: u64,
) -> bool {
    let mut computed = |overlap: u32| {
        let output_start = 64;
        let mut starts = Vec::new();
        let mut next = (output_start + output + inputs[index] + 64).next_multiple_of(16);
        for (other, &size_bytes) in inputs.iter().enumerate() {
            if other == index {
                starts.push(output_start + output - overlap);
            } else {
                starts.push(next);
                next += size_bytes.next_multiple_of(16) + 64;
            }
        }
        let mut memory = bytes(9, next as usize);
        for (other, &start) in starts.iter().enumerate() {
            let content = bytes(100 * seed + other as u64 + 1, inputs[other] as usize);
            let start = start as usize;
            memory[start..start + content.len()].copy_from_slice(&content);
        }
        let memory = placed.run(memory, &starts, output_start);
        let start = output_start as usize;
        memory[start..start + output as usize].to_vec()
    };
    computed(overlap) == computed(0)
}
