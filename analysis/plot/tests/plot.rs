//! Pictures of synthetic traces: what is on them, how large they are, that they survive
//! what no sane program does.
//!
//! Set `DMO_PLOT_DIR` to a folder to keep the pictures and look at them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

#[allow(dead_code, reason = "the tests of orders use the rest")]
#[path = "../../tests/schedule/graphs.rs"]
mod graphs;
#[path = "plot/picture.rs"]
mod picture;

use dmo_analysis::profile::{AccessClass, Observer, Profile, Profiler, Refusal};
use dmo_analysis::schedule::lifetime::working_sets;
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Location, Locations, Program, Role, Span,
    Tensor, Time, TraceSink,
};
use dmo_plot::{Canvas, Figure, PLOTS, Plot, draw_working_sets};
use picture::{Pixels, check, keep, panels};
use std::collections::HashSet;

const LOAD_COLOUR: &str = "#CF222E";
const STORE_COLOUR: &str = "#1F5FBF";
const BOTH_COLOUR: &str = "#6F2C91";
const UPDATE_COLOUR: &str = "#3FAE49";
const IN_USE_COLOUR: &str = "#D6D6D6";
const OUTPUT_IN_USE_COLOUR: &str = "#D3E2F2";

const LOAD_PC: u32 = 0x0800_0130;
const STORE_PC: u32 = 0x0800_0154;

/// Writes a trace, one layer after the other.
struct Pen<'a> {
    sink: &'a mut dyn TraceSink,
    time: Time,
}

impl Pen<'_> {
    fn layer(&mut self, layer: &Layer, body: impl FnOnce(&mut Self)) {
        self.time += 40;
        self.sink.begin_layer(layer, self.time);
        body(self);
        self.time += 12;
        self.sink.end_layer(self.time);
    }

    fn access(&mut self, kind: AccessKind, tensor: u16, offset: u32, size_bytes: u8) {
        self.time += 1;
        let pc = match kind {
            AccessKind::Load => LOAD_PC,
            AccessKind::Store => STORE_PC,
        };
        self.sink.events(&[Event {
            time: self.time,
            pc: Address(pc),
            offset,
            tensor,
            size_bytes,
            kind,
        }]);
    }

    fn load(&mut self, tensor: u16, offset: u32, size_bytes: u8) {
        self.access(AccessKind::Load, tensor, offset, size_bytes);
    }

    fn store(&mut self, tensor: u16, offset: u32, size_bytes: u8) {
        self.access(AccessKind::Store, tensor, offset, size_bytes);
    }
}

fn tensor(name: &str, role: Role, address: u32, size_bytes: u32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        role,
        address: Address(address),
        size_bytes,
        element_type: ElementType::Int8,
    }
}

fn layer(name: &str, operator: &str, tensors: &[Tensor]) -> Layer {
    Layer {
        span: Span::Layer,
        name: name.to_owned(),
        operator: operator.to_owned(),
        tensors: tensors.to_vec(),
    }
}

const RAM: u32 = 0x2000_0000;
const FLASH: u32 = 0x0801_2000;

/// Each element loaded, then stored.
fn relu(pen: &mut Pen<'_>) {
    let tensors = [
        tensor("input", Role::Input, RAM, 4096),
        tensor("output", Role::Output, RAM + 4096, 4096),
    ];
    pen.layer(&layer("relu_s8", "relu", &tensors), |pen| {
        for offset in 0..4096 {
            pen.load(0, offset, 1);
            pen.time += 3;
            pen.store(1, offset, 1);
        }
    });
}

/// A convolution 3x3 over rows of `row` bytes, with an im2col buffer.
fn convolution(pen: &mut Pen<'_>, name: &str, tensors: &[Tensor], row: u32) {
    let rows = tensors[0].size_bytes / row;
    pen.layer(&layer(name, "conv2d", tensors), |pen| {
        for y in 0..rows {
            for x in 0..row / 4 {
                for tap in y.saturating_sub(1)..(y + 2).min(rows) {
                    pen.load(0, tap * row + x * 4, 4);
                    pen.load(2, (tap + 1 - y) * 96 + x % 24 * 4, 4);
                    pen.time += 5;
                }
                pen.store(3, x % 64 * 4, 4);
                pen.load(3, x % 64 * 4, 4);
                let pixels = rows * (row / 4);
                let stored = |pixel| pixel * tensors[1].size_bytes / pixels;
                let pixel = y * (row / 4) + x;
                for offset in stored(pixel)..stored(pixel + 1) {
                    pen.store(1, offset, 1);
                    pen.time += 2;
                }
            }
        }
    });
}

fn conv(pen: &mut Pen<'_>) {
    let tensors = [
        tensor("input", Role::Input, RAM, 9216),
        tensor("output", Role::Output, RAM + 9216, 18432),
        tensor("weights", Role::Constant, FLASH, 288),
        tensor("im2col", Role::Scratch, RAM + 30000, 256),
    ];
    convolution(pen, "conv2d_s8", &tensors, 384);
}

/// Adds up each column of the product in the output itself.
fn matmul(pen: &mut Pen<'_>) {
    let tensors = [
        tensor("input", Role::Input, RAM, 256),
        tensor("output", Role::Output, RAM + 1024, 512),
        tensor("weights", Role::Constant, FLASH, 65536),
    ];
    pen.layer(&layer("matmul_f32", "matmul", &tensors), |pen| {
        for output in 0..128 {
            pen.store(1, output * 4, 4);
        }
        for input in 0..64 {
            pen.load(0, input * 4, 4);
            for output in 0..128 {
                pen.load(2, input * 512 + output * 4, 4);
                pen.load(1, output * 4, 4);
                pen.time += 1;
                pen.store(1, output * 4, 4);
            }
        }
    });
}

/// Five layers in one arena, weights in flash.
fn network(pen: &mut Pen<'_>) {
    let plan = [
        ("conv2d_1", 0, 4096, 8192, 16384),
        ("depthwise_2", 8192, 16384, 24576, 8192),
        ("conv2d_3", 24576, 8192, 0, 16384),
        ("average_pool_4", 0, 16384, 16384, 1024),
    ];
    for (index, (name, input, input_size, output, output_size)) in plan.into_iter().enumerate() {
        let tensors = [
            tensor("input", Role::Input, RAM + input, input_size),
            tensor("output", Role::Output, RAM + output, output_size),
            tensor("weights", Role::Constant, FLASH + 512 * index as u32, 288),
            tensor("scratch", Role::Scratch, RAM + 32768, 256),
        ];
        convolution(pen, name, &tensors, 256);
    }
    let tensors = [
        tensor("input", Role::Input, RAM + 16384, 1024),
        tensor("output", Role::Output, RAM + 2048, 1024),
    ];
    pen.layer(&layer("softmax_5", "softmax", &tensors), |pen| {
        for pass in 0..3 {
            for offset in 0..1024 {
                pen.load(0, offset, 1);
                pen.time += 6;
                if pass == 2 {
                    pen.store(1, offset, 1);
                }
            }
        }
    });
}

fn program(name: &str) -> Program {
    Program {
        name: name.to_owned(),
        sha256: String::new(),
        cpu: "cortex-m4".to_owned(),
        recorder: String::new(),
    }
}

fn locations() -> Locations {
    let location = |line, disassembly: &str| Location {
        function: Some("convolve_s8".to_owned()),
        file: Some("kernels/convolve_s8.c".to_owned()),
        line: Some(line),
        disassembly: Some(disassembly.to_owned()),
    };
    Locations::from([
        (Address(LOAD_PC), location(97, "ldrsb.w r3, [r4, #1]!")),
        (Address(STORE_PC), location(131, "strb.w r2, [r7], #1")),
    ])
}

type Record<'a> = &'a dyn Fn(&mut Pen<'_>);

fn profile_of(record: Record<'_>) -> Profile {
    let mut profiler = Profiler::<()>::default();
    record(&mut Pen {
        sink: &mut profiler,
        time: 1000,
    });
    profiler.finish().0
}

/// Both passes and all plots. Every figure has passed [`check`].
fn figures_of(record: Record<'_>, profile: &Profile, program: &Program) -> Vec<Figure> {
    let mut profiler = Profiler::with_observer(Canvas::new(profile));
    record(&mut Pen {
        sink: &mut profiler,
        time: 1000,
    });
    let (_, canvas) = profiler.finish();
    let figures: Vec<Figure> = PLOTS
        .iter()
        .flat_map(|plot| plot.draw(&canvas, program, &locations()).unwrap())
        .collect();
    let mut names = HashSet::new();
    for figure in &figures {
        assert!(names.insert(figure.name.clone()), "twice {}", figure.name);
        keep(&program.name, figure);
        check(figure);
    }
    figures
}

fn draw(name: &str, record: Record<'_>) -> Vec<Figure> {
    figures_of(record, &profile_of(record), &program(name))
}

fn figure<'a>(figures: &'a [Figure], name: &str) -> &'a Figure {
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    figures
        .iter()
        .find(|figure| figure.name == name)
        .unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

#[test]
fn an_element_wise_layer_is_two_diagonals() {
    let figures = draw("relu.elf", &relu);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(
        names,
        ["00-relu_s8", "arena", "00-relu_s8-overlap-input-output"]
    );
    let picture = figure(&figures, "00-relu_s8");
    let panels = panels(picture);
    let pixels = Pixels::of(picture);
    for (panel, colour) in panels.iter().zip([LOAD_COLOUR, STORE_COLOUR]) {
        let &(x, y, width, height) = panel;
        for part in [1, 3, 5, 7] {
            let along = (x + width * part / 8, y + height - height * part / 8);
            assert!(
                pixels.near(along.0, along.1, colour),
                "{part}/8 of {panel:?}"
            );
        }
    }
    let (x, y, width, height) = panels[0];
    // Loaded bytes are in use before, and not after.
    assert_eq!(pixels.at(x + width / 8, y + height / 2 - 5), IN_USE_COLOUR);
    assert_ne!(
        pixels.at(x + width * 7 / 8, y + height / 2 - 5),
        IN_USE_COLOUR
    );
    let (x, y, width, height) = panels[1];
    assert_ne!(pixels.at(x + width / 8, y + height / 2 - 5), IN_USE_COLOUR);
    assert_eq!(
        pixels.at(x + width * 7 / 8, y + height / 2 - 5),
        IN_USE_COLOUR
    );
    // Text is there without any font of the machine.
    assert!(pixels.dark((100, 600), (10, 30)) > 200, "the title");
}

#[test]
fn an_in_place_overlap_shows_both_in_one_band() {
    let figures = draw("relu.elf", &relu);
    let picture = figure(&figures, "00-relu_s8-overlap-input-output");
    let (x, y, width, height) = panels(picture)[0];
    let pixels = Pixels::of(picture);
    let seen: HashSet<String> = (0..height)
        .map(|row| pixels.at(x + width / 2, y + row))
        .collect();
    assert!(
        seen.contains(OUTPUT_IN_USE_COLOUR) && seen.contains(BOTH_COLOUR),
        "{seen:?}"
    );
    assert!(
        picture
            .svg
            .contains("Safe overlap O_s = 4,096 bytes, 100.0 %")
    );
    assert!(picture.svg.contains("even at S = 0"));
}

#[test]
fn a_convolution_names_what_binds_its_overlap() {
    let profile = profile_of(&conv);
    let figures = draw("conv.elf", &conv);
    let picture = figure(&figures, "00-conv2d_s8-overlap-input-output");
    let pair = &profile.layers[0].pairs[0];
    assert!(pair.safe_overlap_bytes > 0 && pair.displacement_bytes > 0);
    for text in [
        "kernels/convolve_s8.c:131 in convolve_s8: strb.w r2, [r7], #1",
        "kernels/convolve_s8.c:97 in convolve_s8: ldrsb.w r3, [r4, #1]!",
        "binding store and load",
    ] {
        assert!(picture.svg.contains(text), "{text}");
    }
    let pixels = Pixels::of(picture);
    let (x, y, width, height) = panels(picture)[0];
    // Below the input, at the end: the output is in use. Above it, at the start: the input.
    assert_eq!(
        pixels.at(x + width - 8, y + height - 60),
        OUTPUT_IN_USE_COLOUR
    );
    assert_eq!(pixels.at(x + 30, y + 30), IN_USE_COLOUR);
}

#[test]
fn a_binding_store_long_before_its_load_has_a_label_of_its_own() {
    let figures = draw("twice.elf", &|pen| {
        let tensors = [
            tensor("input", Role::Input, RAM, 1024),
            tensor("output", Role::Output, RAM + 1024, 1024),
        ];
        pen.layer(&layer("twice", "normalise", &tensors), |pen| {
            for offset in 0..1024 {
                pen.load(0, offset, 1);
                if offset < 700 {
                    pen.store(1, offset, 1);
                }
            }
            pen.time += 1500;
            for offset in 0..1024 {
                pen.load(0, offset, 1);
            }
            for offset in 700..1024 {
                pen.store(1, offset, 1);
            }
        });
    });
    let picture = figure(&figures, "00-twice-overlap-input-output");
    for text in ["binding store\n", "binding load\n", "O_s =", "S ="] {
        assert!(picture.svg.contains(text), "{text}");
    }
}

#[test]
fn a_matrix_product_updates_its_output() {
    let figures = draw("matmul.elf", &matmul);
    let picture = figure(&figures, "00-matmul_f32");
    let (x, y, width, height) = panels(picture)[1];
    let pixels = Pixels::of(picture);
    for part in 2..8 {
        let (x, y) = (x + width * part / 8, y + height / 2);
        assert!(
            (0..12).any(|step| pixels.near(x + step, y, UPDATE_COLOUR)),
            "{part}/8"
        );
    }
}

#[test]
fn a_refused_pair_says_why() {
    let mut profile = profile_of(&matmul);
    profile.layers[0].pairs[0].refusals = vec![
        Refusal::DataDependent,
        Refusal::InputUsedAgain("later <layer> ".repeat(30)),
        Refusal::StoresToInput,
    ];
    profile.layers[0].pairs[0].observed_overlap_bytes = 200;
    let figures = figures_of(&matmul, &profile, &program("refused.elf"));
    let picture = figure(&figures, "00-matmul_f32-overlap-input-output");
    assert!(
        picture
            .svg
            .contains("no overlap granted: the accesses depend on the data; layer")
    );
    assert!(picture.svg.contains("not granted"));
}

#[test]
fn a_program_shows_its_arena_apart_from_its_flash() {
    let figures = draw("network.elf", &network);
    assert_eq!(figures.len(), 5 + 1 + 5);
    let arena = figure(&figures, "arena");
    assert_eq!(panels(arena).len(), 2);
    for text in [
        "0x20000000",
        "0x08012000",
        "conv2d_1",
        "softmax_5",
        "constant",
    ] {
        assert!(arena.svg.contains(text), "{text}");
    }
    for colour in [LOAD_COLOUR, STORE_COLOUR, IN_USE_COLOUR] {
        assert!(arena.svg.matches(colour).count() > 20, "{colour}");
    }
}

#[test]
fn a_store_between_two_layers_is_on_the_arena_only() {
    let figures = draw("gap.elf", &|pen| {
        let tensors = [
            tensor("input", Role::Input, RAM, 64),
            tensor("output", Role::Output, RAM + 64, 64),
        ];
        pen.layer(&layer("first", "none", &tensors), |pen| pen.time += 200);
        let gap = Layer {
            span: Span::Gap,
            ..layer("", "", &[tensor("memory", Role::State, RAM, 128)])
        };
        pen.sink.begin_layer(&gap, pen.time);
        pen.time += 200;
        for offset in 60..68 {
            pen.store(0, offset, 1);
        }
        pen.time += 160;
        pen.sink.end_layer(pen.time);
        pen.layer(&layer("second", "none", &tensors), |pen| pen.time += 200);
    });
    let arena = figure(&figures, "arena");
    let (x, y, width, height) = panels(arena)[0];
    // 212 instructions, 408 of the gap, 212 after it.
    let at = (x + width / 2, y + height / 2);
    assert!(Pixels::of(arena).near(at.0, at.1, STORE_COLOUR));
    for name in ["00-first", "01-second"] {
        let panels = panels(figure(&figures, name));
        let pixels = Pixels::of(figure(&figures, name));
        for (x, y, width, height) in panels {
            let inside = (x..x + width).flat_map(|x| (y..y + height).map(move |y| (x, y)));
            assert!(
                inside
                    .step_by(3)
                    .all(|(x, y)| pixels.at(x, y) != STORE_COLOUR)
            );
        }
    }
}

#[test]
fn many_layers_keep_their_names_apart() {
    let figures = draw("many.elf", &|pen| {
        for index in 0..100 {
            let tensors = [
                tensor("input", Role::Input, RAM + index % 7 * 64, 64),
                tensor("output", Role::Output, RAM + 1024 + index % 5 * 64, 64),
            ];
            let name = format!("a_layer_with_a_rather_long_name_{index}");
            pen.layer(&layer(&name, "copy", &tensors), |pen| {
                for offset in 0..(index * 37 % 64).max(1) {
                    pen.load(0, offset, 1);
                    pen.store(1, offset, 1);
                }
            });
        }
    });
    assert_eq!(figures.len(), 201);
    assert!(
        figures
            .iter()
            .any(|figure| figure.name.starts_with("007-a_layer"))
    );
}

/// What names may contain, at worst.
const HOSTILE: [&str; 8] = [
    "<&\">'",
    "<&\"<'",
    "тензор-värde-漢字",
    "\u{0}\u{1b}[31m\n\t\u{202e}\u{fffe}",
    "../../etc/passwd",
    "",
    "CON",
    "con",
];

#[test]
fn hostile_names_are_only_text() {
    let long = "very_long_name_".repeat(2000);
    let record = |pen: &mut Pen<'_>| {
        for name in HOSTILE.iter().copied().chain([long.as_str()]) {
            let mut tensors: Vec<Tensor> = (0..)
                .zip(HOSTILE)
                .map(|(index, name)| tensor(name, Role::Input, RAM + index * 16, 16))
                .collect();
            tensors.push(tensor(&long, Role::Output, RAM + 4096, 64));
            pen.layer(&layer(name, name, &tensors), |pen| {
                for offset in 0..16 {
                    for input in 0..HOSTILE.len() as u16 {
                        pen.load(input, offset, 1);
                    }
                    pen.store(HOSTILE.len() as u16, offset * 4, 4);
                }
            });
        }
    };
    let mut program = program("hostile");
    figures_of(&record, &profile_of(&record), &program);
    for name in HOSTILE.iter().copied().chain([long.as_str()]) {
        name.clone_into(&mut program.name);
        name.clone_into(&mut program.cpu);
        figures_of(&relu, &profile_of(&relu), &program);
    }
}

#[test]
fn empty_and_tiny_programs_have_pictures() {
    assert_eq!(draw("nothing.elf", &|_| {}).len(), 1);
    let figures = draw("tiny.elf", &|pen| {
        pen.layer(&layer("no tensors", "none", &[]), |_| {});
        let untouched = [
            tensor("input", Role::Input, RAM, 100),
            tensor("output", Role::Output, RAM + 100, 1),
        ];
        pen.layer(&layer("no events", "none", &untouched), |_| {});
        pen.time += 5;
        pen.sink
            .begin_layer(&layer("no time", "none", &untouched), pen.time);
        pen.sink.end_layer(pen.time);
        pen.sink
            .begin_layer(&layer("one instruction", "store", &untouched), pen.time);
        pen.store(1, 0, 1);
        pen.sink.end_layer(pen.time);
    });
    let single = figure(&figures, "03-one_instruction");
    let (x, y, width, height) = panels(single)[1];
    let pixels = Pixels::of(single);
    assert_eq!(pixels.at(x + 5, y + 5), STORE_COLOUR);
    assert_eq!(pixels.at(x + width - 5, y + height - 5), STORE_COLOUR);
}

#[test]
fn tensors_of_all_sizes_at_the_end_of_memory_have_pictures() {
    let figures = draw("sizes.elf", &|pen| {
        let large = 4 << 20;
        let tensors = [
            tensor("one byte", Role::Input, RAM, 1),
            tensor("large", Role::Output, RAM + 64, large),
            tensor("last", Role::Input, u32::MAX - 1023, 1024),
        ];
        pen.layer(&layer("sizes", "fill", &tensors), |pen| {
            for offset in (0..large).step_by(4096) {
                pen.load(0, 0, 1);
                pen.load(2, offset / 4096, 1);
                pen.store(1, offset, 8);
            }
            pen.load(2, 1016, 8);
        });
    });
    assert!(figure(&figures, "arena").svg.contains("0xffffffff"));
}

#[test]
fn a_layer_with_hundreds_of_tensors_shows_some() {
    let figures = draw("crowd.elf", &|pen| {
        let tensors: Vec<Tensor> = (0..300)
            .map(|index| {
                tensor(
                    &format!("w{index}"),
                    Role::Constant,
                    FLASH + index * 5000,
                    64,
                )
            })
            .collect();
        pen.layer(&layer("crowd", "sum", &tensors), |pen| {
            for index in 0..300 {
                pen.load(index, 0, 4);
            }
        });
    });
    let picture = figure(&figures, "00-crowd");
    assert_eq!(panels(picture).len(), 40);
    assert!(picture.svg.contains("260 further tensors not shown"));
    assert!(panels(figure(&figures, "arena")).len() <= 6);
}

/// Ten million accesses without any order.
#[test]
fn noise_stays_small() {
    let figures = draw("noise.elf", &|pen| {
        let tensors = [
            tensor("input", Role::Input, RAM, 65536),
            tensor("output", Role::Output, RAM + 65536, 65536),
            tensor("scratch", Role::Scratch, RAM + 131_072, 65536),
            tensor("state", Role::State, RAM + 196_608, 65536),
        ];
        for sparsity in [1, 200] {
            pen.layer(&layer("noise", "noise", &tensors), |pen| {
                let mut random = 1_u64;
                for _ in 0..10_000_000 / sparsity {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let (tensor, offset) = ((random >> 62) as u16, (random >> 40) as u32 % 65529);
                    pen.time += sparsity;
                    if random & (1 << 35) == 0 {
                        pen.load(tensor, offset, 4);
                    } else {
                        pen.store(tensor, offset, 4);
                    }
                }
            });
        }
    });
    let largest = figures.iter().map(|figure| figure.svg.len()).max();
    println!("the largest SVG of noise: {largest:?} bytes");
    assert!(largest > Some(100_000), "{largest:?}");
}

/// Appendix A of Liberis and Lane: bars as high as the table says, the peak's framed.
#[test]
fn working_sets_are_stacked_bars() {
    let mut graph = graphs::liberis_lane();
    graph.name = "example & <graph>".into();
    graph.operators[2].scratch_bytes = vec![100];
    let options = dmo_analysis::schedule::CountedEnds::default();
    let sets = working_sets(&graph, &graph.file_order(), options).unwrap();
    let figure = draw_working_sets(&graph, &sets).unwrap();
    check(&figure);
    keep("example", &figure);
    let pixels = Pixels::of(&figure);
    // 420 pixels are 5316 bytes and a twelfth; the bar of operator 2 is the third of seven.
    let height = |bytes: u64| (bytes * 420 / (5316 + 5316 / 12)) as u32;
    let (middle, bottom) = (100 + 1024 * 5 / 14 - 30, 66 + 420);
    for (bytes, colour) in [
        (1000, "#D6D6D6"),
        (4000, LOAD_COLOUR),
        (5000, STORE_COLOUR),
        (5266, BOTH_COLOUR),
    ] {
        assert!(
            pixels.near(middle, bottom - height(bytes), colour),
            "{colour} at {bytes}: {}",
            pixels.at(middle, bottom - height(bytes))
        );
    }
}

#[test]
fn working_sets_of_any_length_have_pictures() {
    let mut random = graphs::Random(1);
    let options = dmo_analysis::schedule::CountedEnds::default();
    for count in [0, 1, 3, 50] {
        let mut graph = graphs::cells(count, &mut random);
        graph.name = format!("cells {count}");
        if count == 0 {
            graph = dmo_analysis::graph::Graph::default();
        }
        let sets = working_sets(&graph, &graph.file_order(), options).unwrap();
        let figure = draw_working_sets(&graph, &sets).unwrap();
        check(&figure);
        keep(&format!("cells{count}"), &figure);
    }
    let mut graph = dmo_analysis::graph::Graph::default();
    for _ in 0..110 {
        graphs::operator(&mut graph, &[], 10);
    }
    graph.outputs = (0..110).map(dmo_analysis::graph::TensorId).collect();
    let sets = working_sets(&graph, &graph.file_order(), options).unwrap();
    let figure = draw_working_sets(&graph, &sets).unwrap();
    check(&figure);
    keep("staircase", &figure);
}

#[test]
fn plots_are_found_by_name() {
    for plot in PLOTS {
        assert_eq!(Plot::find(plot.name).unwrap().name, plot.name);
        assert!(!plot.description.is_empty());
    }
    assert!(Plot::find("none").is_none());
}

/// Run in release mode with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn time_of_an_access() {
    /// The quickest round counts: others may have been interrupted.
    const ROUNDS: u64 = 50;
    const STEPS: u64 = 1_000_000;

    fn quickest(name: &str, mut step: impl FnMut(u64)) {
        let rounds = (0..ROUNDS).map(|round| {
            let start = std::time::Instant::now();
            (round * STEPS..(round + 1) * STEPS).for_each(&mut step);
            start.elapsed().as_nanos() as f64 / STEPS as f64
        });
        println!("{name}: {:.2} ns", rounds.fold(f64::MAX, f64::min));
    }

    fn access(observer: &mut impl Observer, step: u64, stride: u64) {
        let tensor = (step & 1) as u16;
        let offset = (step / 763 * stride) as u32 & 0xfffc;
        let event = std::hint::black_box(Event {
            time: 11 + step,
            pc: Address(0),
            offset,
            tensor,
            size_bytes: 4,
            kind: AccessKind::Load,
        });
        let class = [AccessClass::Load, AccessClass::Store][usize::from(tensor)];
        let address = Address(RAM + 65536 * u32::from(tensor) + offset);
        observer.access(address, &event, class);
    }

    let mut profiler = Profiler::<()>::default();
    let tensors = [
        tensor("input", Role::Input, RAM, 65536),
        tensor("output", Role::Output, RAM + 65536, 65536),
    ];
    profiler.begin_layer(&layer("copy", "copy", &tensors), 10);
    profiler.end_layer(10 + ROUNDS * STEPS);
    let profile = profiler.finish().0;
    quickest("the measurement itself", |step| access(&mut (), step, 1));
    let mut canvas = Canvas::new(&profile);
    quickest("an access, ascending", |step| access(&mut canvas, step, 1));
    quickest("an access, scattered", |step| {
        access(&mut canvas, step, 40_503 * 763);
    });
    quickest("a stretch of use", |step| {
        let offset = (step * 40_503) as u32 & 0xfffc;
        canvas.in_use(Address(RAM + offset), 4, 11 + step / 2, 11 + step);
    });
    std::hint::black_box(&canvas);

    let profile = profile_of(&conv);
    let mut profiler = Profiler::with_observer(Canvas::new(&profile));
    conv(&mut Pen {
        sink: &mut profiler,
        time: 1000,
    });
    let (_, canvas) = profiler.finish();
    for plot in PLOTS {
        let start = std::time::Instant::now();
        let figures = plot
            .draw(&canvas, &program("conv.elf"), &locations())
            .unwrap();
        let drawn = start.elapsed();
        let sizes = (figures[0].svg.len(), figures[0].png().unwrap().len());
        let made = start.elapsed() - drawn;
        println!(
            "{}: SVG {drawn:?}, PNG {made:?}, bytes {sizes:?}",
            plot.name
        );
    }
}
