//! What binds O_s: the accesses, the code and the variables around them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Conv2d, DepthwiseConv2d, Operator, Pool2d, Shape, Window};
use dmo_analysis::profile::Refusal;
use dmo_analysis::trace::{AccessKind, ElementType, Event, Layer, Time, TraceSink};
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::elf::debug::{State, Value};
use dmo_trace::elf::image::Image;
use dmo_trace::explain::{Bound, ExplainError, Explanation, Question, snapshot_program};
use dmo_trace::kernels::{Case, KernelLibrary, images};
use dmo_trace::mcu::machine::{ExecutionPoint, Observation};
use dmo_trace::measure::{choose, snapshot_kernel, trace};
use dmo_trace::program::execution::{LayerSource, Program, ProgramEvent};
use dmo_trace::program::run::run;
use dmo_trace::program::semihosting::Host;
use proptest::prelude::Rng as _;
use proptest::prelude::*;
use support::explained::{explanations, integer};
use support::firmware::{Buffer, Firmware, INPUT, OUTPUT, RAM};
use support::{CPUS, LIMITS, elf, recorded, run_options};

fn both(explanation: &Explanation) -> (&Bound, &Bound) {
    let store = explanation.store.as_ref().expect("a store");
    (store, explanation.load.as_ref().expect("a load"))
}

/// When each access of a layer's input or output is made, and where.
#[derive(Default)]
struct Accesses {
    layer: Option<Layer>,
    found: Vec<(ExecutionPoint, AccessKind, u64)>,
}

impl TraceSink for Accesses {
    fn begin_layer(&mut self, layer: &Layer, _: Time) {
        self.layer = Some(layer.clone());
    }
    fn events(&mut self, events: &[Event]) {
        let layer = self.layer.as_ref().expect("a layer");
        for event in events {
            let tensor = &layer.tensors[usize::from(event.tensor)];
            let point = ExecutionPoint {
                time: event.time,
                pc: event.pc,
            };
            let address = u64::from(tensor.address.0) + u64::from(event.offset);
            self.found.push((point, event.kind, address));
        }
    }
    fn end_layer(&mut self, _: Time) {}
}

/// Looks at some hundred accesses of each program; the program computes what it does without.
#[test]
fn every_access_is_seen_as_it_is_made() {
    for cpu in CPUS {
        for program in support::small_programs() {
            let target = recorded(cpu, &program);
            let mut accesses = Accesses::default();
            let silent = Host::console(Box::new(|_| ()));
            let options = run_options(false, LIMITS);
            let outcome = run(&target, options, silent, &mut accesses, &mut |_| ()).expect("run");
            let step = accesses.found.len().div_ceil(300).max(1);
            let some: Vec<_> = accesses.found.iter().step_by(step).collect();
            let points: Vec<ExecutionPoint> = some.iter().map(|(point, _, _)| *point).collect();
            let seen = snapshot_program(&target, LIMITS, &points).expect("run");
            for (point, kind, address) in some {
                let (made, range) = seen[point].access.clone().expect("an access");
                assert_eq!(made, *kind, "{cpu} {program} {point:?}");
                assert!(range.contains(address), "{cpu} {program} {point:?}");
            }
            let layers = LayerSource::find(&target, LIMITS).expect("layers");
            let silent = Host::console(Box::new(|_| ()));
            let mut looked =
                Program::load(&target, &layers, Observation::Watch, LIMITS, silent).expect("load");
            looked
                .process
                .machine
                .inspect_at(&points, Box::new(|_| ()))
                .expect("look");
            let exit = loop {
                if let ProgramEvent::Exited(exit) = looked.advance().expect("step") {
                    break exit;
                }
            };
            assert_eq!((exit, looked.now()), (outcome.exit, outcome.instructions));
        }
    }
}

fn library(cpu: &str) -> KernelLibrary {
    let image = images::find("reference", Some(cpu)).expect("kernels");
    KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect("library")
}

fn explain(library: &KernelLibrary, case: &Case) -> Explanation {
    let contract = choose(library, case, None).expect("kernel");
    let layer = trace(library, case, contract, LIMITS).expect("trace");
    let buffers = case.operator.buffers().expect("buffers");
    let question = Question {
        number: 1,
        layer: &layer,
        pair: 1,
        shapes: Some([buffers.inputs[0].shape, buffers.outputs[0].shape]),
    };
    let points = question.points().expect("points");
    let seen = snapshot_kernel(library, case, contract, LIMITS, &points).expect("call");
    question.answer(&seen, library.image()).expect("answer")
}

/// Those of these variables that have a value hold the element's place.
fn assert_place(bound: &Bound, names: [&str; 4], needed: bool) {
    let place: Shape = bound.coordinates.expect("a shape");
    // These kernels lose values, but need nothing to find one that is kept.
    for local in &bound.calls[0].variables {
        let variable = &local.variable;
        assert_ne!(
            variable.value,
            Value::Unknown,
            "{} at {}",
            variable.name,
            bound.pc
        );
    }
    for (name, index) in names.into_iter().zip(place) {
        let at = format!("{name} at {}, {place:?}", bound.pc);
        match integer(bound, name) {
            Some(value) => assert_eq!(value, i128::from(index), "{at}"),
            None => assert!(!needed || name.is_empty(), "{at}"),
        }
    }
}

fn extents() -> impl Strategy<Value = [u32; 8]> {
    [1..3_u32, 3..8, 3..8, 1..5, 1..6, 1..4, 1..4, 1..3]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// At the store the output's indices, at the load the input's.
    #[test]
    fn variables_of_a_convolution_are_the_place_of_the_element(
        [n, h, w, c, o, fh, fw, stride] in extents(),
        cpu in 0..3_usize,
    ) {
        let (oh, ow) = ((h - fh) / stride + 1, (w - fw) / stride + 1);
        let window = Window { kernel: [fh, fw], stride: [stride; 2], ..Window::default() };
        let case = Case {
            operator: Operator::Conv2d(Conv2d {
                input: [n, h, w, c],
                output: [n, oh, ow, o],
                window,
                groups: 1,
                element_bytes: 1,
            }),
            kind: Kind::of_kernels("conv2d").unwrap(),
            input_type: ElementType::Int8,
            output_type: ElementType::Int8,
        };
        let explanation = explain(&library(CPUS[cpu]), &case);
        if explanation.store.is_some() {
            let (store, load) = both(&explanation);
            assert_place(store, ["b", "oy", "ox", ""], true);
            assert_place(store, ["", "", "", "oc"], false);
            assert_place(load, ["b", "iy", "ix", ""], true);
            prop_assert!(store.byte >= load.byte);
            prop_assert_eq!(store.byte - load.byte + 1, explanation.displacement_bytes);
            prop_assert!(store.time < load.time);
        }
    }

    #[test]
    fn variables_of_other_windows_are_the_place_of_the_element(
        [n, h, w, c, _, fh, fw, stride] in extents(),
        cpu in 0..3_usize,
        depthwise: bool,
    ) {
        let output = [n, (h - fh) / stride + 1, (w - fw) / stride + 1, c];
        let window = Window { kernel: [fh, fw], stride: [stride; 2], ..Window::default() };
        let operator = if depthwise {
            Operator::DepthwiseConv2d(DepthwiseConv2d {
                input: [n, h, w, c], output, window, multiplier: 1, element_bytes: 1,
            })
        } else {
            Operator::Pool2d(Pool2d { input: [n, h, w, c], output, window, element_bytes: 1 })
        };
        let case = Case {
            operator,
            kind: if depthwise { Kind::DepthwiseConv2d } else { Kind::MaxPool2d },
            input_type: ElementType::Int8,
            output_type: ElementType::Int8,
        };
        let explanation = explain(&library(CPUS[cpu]), &case);
        if explanation.store.is_some() {
            let (store, load) = both(&explanation);
            assert_place(store, ["b", "oy", "ox", if depthwise { "oc" } else { "c" }], false);
            assert_place(load, ["b", "iy", "ix", if depthwise { "ic" } else { "c" }], false);
            prop_assert!(integer(store, "oy").is_some() && integer(store, "ox").is_some());
        }
    }
}

#[test]
fn a_recorded_convolution() {
    for cpu in CPUS {
        let target = recorded(cpu, "conv2d");
        let [explanation] = &explanations(&target)[..] else {
            panic!("one pair");
        };
        assert_eq!(explanation.displacement_bytes, 15);
        let (store, load) = both(explanation);
        assert_eq!((store.element, load.element), (14, 0));
        for (bound, line, names) in [
            (store, 42, &["b", "oy", "ox"][..]),
            (load, 31, &["b", "oy", "ox", "fy", "iy", "fx", "ix"][..]),
        ] {
            assert_eq!(
                bound.place(),
                Some(("kernels-c/reference/dmo_conv2d_s8.c", line))
            );
            for name in names {
                assert_eq!(integer(bound, name), Some(0), "{cpu} {name}");
            }
            let functions: Vec<_> = bound
                .calls
                .iter()
                .map(|call| call.functions[0].name.as_deref().expect("name"))
                .collect();
            assert_eq!(functions, ["dmo_conv2d_s8", "main", "Reset_Handler"]);
            assert_eq!(
                bound.calls.iter().map(|it| it.in_layer).collect::<Vec<_>>(),
                [true, false, false]
            );
            assert_eq!(bound.code.len(), 7);
            assert_eq!(bound.code[3].address, bound.pc);
            assert!(bound.code[3].binds);
        }
        // GCC has lost it there for the Cortex-M3: its location list has no entry.
        let lost = cpu == "cortex-m3";
        assert_eq!(integer(store, "oc"), (!lost).then_some(14), "{cpu}");
        assert_eq!(integer(load, "oc"), Some(15), "{cpu}");
        let first = &load.calls[0].variables[0];
        assert!(first.in_loop_nest, "{first:?}");
        let of = |name: &str| {
            let variables = &load.calls[0].variables;
            let found = variables.iter().find(|it| it.variable.name == name);
            found.expect("a variable").clone()
        };
        assert_eq!(of("oc").changes, (!lost).then_some(true));
        assert_eq!(of("oy").changes, Some(false));
        assert_eq!(of("params").variable.type_name, "const dmo_conv2d_params *");
        assert!(of("params").variable.parameter);
        let quant_is_lost = of("quant").variable.value == Value::OptimisedOut;
        assert_eq!(quant_is_lost, !lost, "{cpu}");
        let why = explanation.why.join(" ");
        assert!(why.contains("S = 14 - 0 = 14, so S is at least 15: O_s = 4,096 - 15 = 4,081"));
    }
}

#[test]
fn nothing_binds_where_elements_are_in_place() {
    for explanation in explanations(&recorded("cortex-m4", "relu")) {
        assert!(explanation.store.is_none() && explanation.load.is_none());
        assert_eq!(
            explanation.safe_overlap_bytes,
            explanation.output.size_bytes
        );
        let [why] = &explanation.why[..] else {
            panic!("{:?}", explanation.why);
        };
        assert!(why.starts_with("Nothing binds"), "{why}");
    }
}

/// r0 = input, r1 = output; stores the second byte of the output, loads the first of the
/// input and stores to it.
fn refused() -> Firmware {
    let (input, output) = (RAM + 0x100, RAM + 0x200);
    let mut firmware = Firmware::new();
    let buffers = [
        Buffer::new("in", INPUT, input, 4),
        Buffer::new("out", OUTPUT, output, 4),
    ];
    firmware.begin("layer", &buffers);
    firmware.set(0, input).set(1, output);
    // str r2, [r1]; ldrb r3, [r0]; strb r3, [r0]
    firmware.code(&[0x600a, 0x7803, 0x7003]);
    firmware.end().exit(0);
    firmware
}

#[test]
fn a_refusal_is_told_and_no_debug_information_is_needed() {
    let target = refused().target();
    assert!(!target.image.debug.is_present());
    let [explanation] = &explanations(&target)[..] else {
        panic!("one pair");
    };
    assert_eq!(explanation.refusals, [Refusal::StoresToInput]);
    assert_eq!(explanation.safe_overlap_bytes, 0);
    let (store, load) = both(explanation);
    assert_eq!((store.byte, load.byte), (3, 0));
    assert_eq!(explanation.displacement_bytes, 4);
    for (bound, text) in [(store, "str r2, [r1]"), (load, "ldrb r3, [r0]")] {
        assert_eq!(bound.code[3].text, text);
        assert_eq!(bound.calls.len(), 1);
        assert_eq!(bound.calls[0].functions[0].name.as_deref(), Some("main"));
        assert!(bound.calls[0].variables.is_empty());
        assert_eq!(bound.place(), None);
    }
    assert!(explanation.why[0].contains("the layer stores to its input"));
}

/// Neither names nor debug information: addresses, and the instructions.
#[test]
fn a_stripped_program() {
    let full = recorded("cortex-m4", "conv2d");
    let mut bytes = elf("cortex-m4", "conv2d");
    // e_shoff, e_shnum and e_shstrndx.
    bytes[0x20..0x24].fill(0);
    bytes[0x30..0x34].fill(0);
    let options = dmo_trace::program::target::TargetOptions {
        cpu: Some("cortex-m4".to_owned()),
        ..Default::default()
    };
    let stripped = dmo_trace::program::target::Target::new(&bytes, &options).expect("target");
    let (full, stripped) = (explanations(&full), explanations(&stripped));
    assert_eq!(full[0].displacement_bytes, stripped[0].displacement_bytes);
    let (a, b) = (both(&full[0]), both(&stripped[0]));
    for (full, stripped) in [(a.0, b.0), (a.1, b.1)] {
        assert_eq!(stripped.code, full.code);
        assert_eq!(stripped.calls.len(), 1);
        assert!(stripped.calls[0].functions.is_empty());
        assert!(stripped.calls[0].variables.is_empty());
    }
    assert_eq!(full[0].why, stripped[0].why);
}

#[test]
fn a_pair_that_is_not_there() {
    let target = recorded("cortex-m4", "conv2d");
    let (profile, _) = support::profile(&target, run_options(false, LIMITS)).expect("profile");
    for pair in [0, 2, usize::MAX] {
        let question = Question {
            number: 1,
            layer: &profile.layers[0],
            pair,
            shapes: None,
        };
        let error = question.points().expect_err("no such pair");
        assert!(matches!(error, ExplainError::NoPair { count: 1, .. }));
    }
    let question = Question {
        number: 1,
        layer: &profile.layers[0],
        pair: 1,
        shapes: None,
    };
    let error = question.answer(&Default::default(), &target.image);
    assert!(matches!(error, Err(ExplainError::NotSeen { .. })));
}

/// Calls and variables of whatever memory and registers hold, at these addresses.
fn look_through(image: &Image, addresses: &[u32]) -> usize {
    let read = |address: u32, size_bytes: usize| {
        assert!(size_bytes <= 16, "{size_bytes} bytes are read at once");
        let byte = |index: usize| {
            (address.wrapping_add(index as u32).wrapping_mul(0x9e37_79b1) >> 24) as u8
        };
        Some((0..size_bytes).map(byte).collect())
    };
    let mut found = 0;
    for &pc in addresses {
        let mut registers: [u32; 16] = std::array::from_fn(|index| 0x2000_0000 + 64 * index as u32);
        registers[15] = pc;
        let state = State {
            registers,
            floats: [Some(0x3f80_0000); 32],
            read: &read,
        };
        let frames = image.debug.frames(&state);
        assert!((1..=64).contains(&frames.len()));
        found += frames.iter().map(|it| it.variables.len()).sum::<usize>();
        image.lines.at(pc);
    }
    found
}

fn debug_sections(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let elf = goblin::elf::Elf::parse(bytes).expect("ELF");
    let sections = elf.section_headers.iter().filter(|section| {
        let name = elf.shdr_strtab.get_at(section.sh_name);
        name.is_some_and(|name| name.starts_with(".debug"))
    });
    sections
        .filter_map(goblin::elf::SectionHeader::file_range)
        .collect()
}

/// Whatever the debug information says, it is read to an end.
#[test]
fn damaged_debug_information() {
    let bytes = elf("cortex-m4", "conv2d");
    let sections = debug_sections(&bytes);
    assert!(sections.len() >= 8);
    let addresses: Vec<u32> = (0x40..0x1050).step_by(202).chain([0x8c2, 0x904]).collect();
    let whole = look_through(&Image::parse(&bytes).expect("image"), &addresses);
    assert!(whole > 50, "{whole} variables");
    let mut random = proptest::test_runner::TestRng::deterministic_rng(
        proptest::test_runner::RngAlgorithm::ChaCha,
    );
    let mut next = |limit: usize| random.next_u64() as usize % limit;
    let mut others = 0;
    for round in 0..600 {
        let mut damaged = bytes.clone();
        let section = sections[round % sections.len()].clone();
        match round % 5 {
            // The rest of a section is gone, or one byte all over.
            0 => damaged[section.start + next(section.len())..section.end].fill(0),
            1 => damaged[section.start + next(section.len())..section.end].fill(next(256) as u8),
            flips => {
                for _ in 0..[1, 8, 64][flips - 2] {
                    damaged[section.start + next(section.len())] = next(256) as u8;
                }
            }
        }
        let image = Image::parse(&damaged).expect("the rest is whole");
        others += usize::from(look_through(&image, &addresses) != whole);
    }
    assert!(
        others > 100,
        "{others} of the damaged ones say something else"
    );
}
