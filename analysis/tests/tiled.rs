//! Real models in tiles, handed over to TensorFlow Lite and TensorFlow Lite Micro as they are:
//! the same bytes as the model's, and the arena that was planned. Models are looked for in
//! `$DMO_TRACE_MODELS`, else beside the repository; a test whose model or runtime is missing is
//! reported as ignored.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panic, with the model's name"
)]

#[path = "tflite/handed.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod handed;
#[path = "tflite/net.rs"]
mod net;
#[path = "tflite/random.rs"]
mod random;
#[path = "tflite/runtimes.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod runtimes;

use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId, TensorType, tflite};
use dmo_analysis::handover::TiledError;
use dmo_analysis::operator::{Elementwise, Operator, Pool2d, Window};
use dmo_analysis::transform::standard::standard;
use dmo_analysis::transform::{Recipe, Split, TransformError};
use handed::{Handed, hand_over};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use proptest::prelude::{Strategy, prop};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use runtimes::{RUNTIMES, arena, is_installed, same_results, trial};
use std::ops::RangeInclusive;

/// A run of a model's operators, by their place in the file.
type Run = RangeInclusive<usize>;

/// Models, runs and grids.
const CASES: &[(&str, Run, [u32; 2])] = &[
    ("stand_in_vision_int8", 0..=3, [3, 2]),
    // With a residual addition.
    ("stand_in_vision_int8", 3..=7, [2, 2]),
    ("stand_in_vision_int16", 0..=2, [2, 2]),
    ("stand_in_vision_uint8", 0..=3, [4, 1]),
    ("stand_in_padded_int8", 0..=1, [2, 3]),
    ("tflite_micro/person_detect", 0..=3, [4, 1]),
    ("tflite_micro/person_detect", 0..=3, [4, 4]),
    // More bands than are concatenated at once.
    ("tflite_micro/person_detect", 0..=6, [12, 1]),
    ("mlcommons_tiny/vww_96_int8", 0..=3, [1, 3]),
    ("mlcommons_tiny/vww_96_int8", 0..=6, [2, 2]),
    ("mlcommons_tiny/vww_96_float", 0..=3, [2, 2]),
    ("mlcommons_tiny/kws_ref_model", 0..=8, [2, 1]),
    ("mlcommons_tiny/str_ww_ref_model", 0..=3, [3, 1]),
    // With residual additions.
    ("mlcommons_tiny/pretrainedResnet_quant", 0..=3, [2, 2]),
    ("mlcommons_tiny/pretrainedResnet_quant", 0..=7, [4, 4]),
    ("tinyengine/mcunet_vww", 0..=8, [3, 3]),
    ("tinyengine/mcunet_vww", 0..=12, [2, 2]),
    ("coral/mobilenet_v1_0.25_128_quant", 0..=3, [4, 4]),
    ("coral/mobilenet_v2_1.0_224_quant", 0..=5, [4, 1]),
];

/// Types of the network that is exported: its stem, a sum, a padding and a pool.
const EXPORTED: &[(TensorType, u32)] = &[
    (TensorType::Int8, 1),
    (TensorType::Uint8, 1),
    (TensorType::Int16, 2),
    (TensorType::Float32, 4),
];

/// The search for a plan takes no longer.
const TIME: f64 = 2.0;

fn main() {
    let mut trials = Vec::new();
    for (runtime, package) in RUNTIMES {
        let installed = is_installed(package);
        for (name, run, grid) in CASES {
            let label = format!("{runtime} {} to {} {grid:?}", run.start(), run.end());
            let case = format!("{name} {} {} {grid:?} in tiles", run.start(), run.end());
            trials.push(trial(&label, name, move |file| {
                let handed = in_tiles(file, run.clone(), *grid, overlaps::none);
                same_results(runtime, installed, &case, file, &handed.file)
            }));
        }
        for &(element_type, element_bytes) in EXPORTED {
            let whole = net::network(element_type, element_bytes);
            let pools = pools(element_type, element_bytes);
            for (what, graph, run) in [("exported", whole, 0..=5), ("pools", pools, 0..=2)] {
                let name = format!("{what} {element_type}");
                trials.push(Trial::ignorable_test(
                    format!("{runtime} {name}"),
                    move || {
                        let file = tflite::export(&graph, 1)?;
                        let handed = in_tiles(&file, run, [3, 2], overlaps::none);
                        let name = format!("{name} in tiles");
                        same_results(runtime, installed, &name, &file, &handed.file)
                    },
                ));
            }
        }
    }
    for (number, (file, recipe)) in random_networks().into_iter().enumerate() {
        for (runtime, package) in RUNTIMES {
            let (file, recipe) = (file.clone(), recipe.clone());
            let name = format!("random {number}");
            trials.push(Trial::ignorable_test(
                format!("{runtime} {name}"),
                move || {
                    let handed = hand_over(&file, &recipe, overlaps::none, TIME)?;
                    let name = format!("{name} in tiles");
                    same_results(runtime, is_installed(package), &name, &file, &handed.file)
                },
            ));
        }
    }
    let installed = is_installed("tflite_micro");
    for (name, run, grid) in CASES {
        let label = format!("arena {} to {} {grid:?}", run.start(), run.end());
        trials.push(trial(&label, name, move |file| {
            planned(installed, name, file, run.clone(), *grid)
        }));
    }
    let pooled = |file: &[u8]| {
        refused(file);
        Ok(Completion::Completed)
    };
    trials.push(trial("refused", "mlcommons_tiny/kws_ref_model", pooled));
    let own: [(&str, fn()); 2] = [
        ("rows of another shape are refused", other_rows),
        ("weights without an end are refused", infinite_weights),
    ];
    trials.extend(own.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Two pools that reach beyond the border, and a residual sum between them.
fn pools(element_type: TensorType, element_bytes: u32) -> Graph {
    let mut net = net::Net::new(element_type, element_bytes);
    let shape = [1, 7, 6, 3];
    let input = net.input(&shape);
    let pool = |net: &mut net::Net, input| {
        let pool = Pool2d {
            input: shape,
            output: shape,
            window: Window {
                kernel: [3, 3],
                padding_before: [1, 1],
                ..Window::default()
            },
            element_bytes,
        };
        net.add("MAX_POOL_2D", &[input], &shape, Operator::Pool2d(pool))
    };
    let one = pool(&mut net, input);
    let sum = net.sum(one, input);
    let output = pool(&mut net, sum);
    net.output(output)
}

/// How many random networks run, the same ones each time.
const RANDOM: usize = 8;

fn random_networks() -> Vec<(Vec<u8>, Recipe)> {
    let mut runner = TestRunner::deterministic();
    let network = (
        [5..10u32, 5..10u32, 1..4u32],
        prop::collection::vec(random::step(), 3..7),
        [0..3usize, 2..7usize],
        [0..4u32, 0..4u32],
    );
    let mut found = Vec::new();
    while found.len() < RANDOM {
        let (extents, steps, run, grid) = network.new_tree(&mut runner).unwrap().current();
        let file = tflite::export(&random::build(extents, &steps), 1).unwrap();
        let graph = tflite::read(&file).unwrap().graphs.remove(0);
        let recipe = random::recipe(&graph, run, grid);
        let Ok(standard) = standard(&graph, &recipe) else {
            continue;
        };
        // Without paddings there is little to go wrong.
        let mut operators = standard.graph.operators.iter().zip(&standard.origins);
        if operators.any(|(node, origin)| node.kind.name().starts_with("PAD") && origin.is_none()) {
            found.push((file, recipe));
        }
    }
    found
}

fn recipe(run: Run, grid: [u32; 2]) -> Recipe {
    let operators = run.map(OperatorId).collect();
    Recipe {
        splits: vec![Split {
            operators,
            grid,
            cached: false,
        }],
        ..Recipe::default()
    }
}

fn in_tiles(file: &[u8], run: Run, grid: [u32; 2], overlaps: fn(&Graph) -> Overlaps) -> Handed {
    hand_over(file, &recipe(run, grid), overlaps, TIME).unwrap()
}

/// With and without overlaps TensorFlow Lite Micro takes the planned bytes, and with all
/// overlaps of its reference kernels computes the same.
fn planned(
    installed: bool,
    name: &str,
    file: &[u8],
    run: Run,
    grid: [u32; 2],
) -> Result<Completion, Failed> {
    let name = format!("{name} {} {} {grid:?}", run.start(), run.end());
    let plain = in_tiles(file, run.clone(), grid, overlaps::none);
    let overlapped = in_tiles(file, run, grid, overlaps::analytic);
    assert!(file.len() < plain.file.len() && plain.file.ends_with(file));
    assert!(overlapped.planned.arena_bytes <= plain.planned.arena_bytes);
    for handed in [&plain, &overlapped] {
        assert_eq!(handed.device.arena_bytes, handed.planned.arena_bytes);
        let Some([activations, _]) = arena(&name, &handed.file).filter(|_| installed) else {
            return Ok(Completion::ignored_with(
                "the runtime does not load the model",
            ));
        };
        assert_eq!(activations, handed.device.arena_bytes);
    }
    same_results(
        "micro",
        installed,
        &format!("{name} overlapped"),
        file,
        &overlapped.file,
    )
}

/// An operator that goes element by element says only how many there are: its output may have other rows
/// and columns than its input.
fn other_rows() {
    for (shape, is_refused) in [([1, 8, 4, 2], true), ([1, 4, 8, 2], false)] {
        let mut net = net::Net::new(TensorType::Int8, 1);
        let input = net.input(&[1, 4, 8, 2]);
        let relu = Operator::Elementwise(Elementwise {
            elements: 64,
            input_element_bytes: 1,
            output_element_bytes: 1,
        });
        let first = net.add("RELU", &[input], &[1, 4, 8, 2], relu.clone());
        let last = net.add("RELU", &[first], &shape, relu);
        let file = tflite::export(&net.output(last), 1).unwrap();
        let found = hand_over(&file, &recipe(0..=1, [2, 1]), overlaps::none, TIME);
        assert_eq!(found.is_err(), is_refused, "{shape:?}");
    }
}

/// What is padded by 0 is no number where a weight is infinite.
fn infinite_weights() {
    let graph = net::network(TensorType::Float32, 4);
    let mut file = tflite::export(&graph, 1).unwrap();
    let in_tiles = |file: &[u8]| hand_over(file, &recipe(0..=5, [3, 2]), overlaps::none, TIME);
    assert!(in_tiles(&file).is_ok());
    let mut weights = Vec::new();
    for known in tflite::parameters(&file, 0).unwrap().iter().flatten() {
        let taps = known.constant(1).filter(|it| it.shape.len() == 4);
        let place = taps.map(|it| it.bytes.as_ptr().addr() - file.as_ptr().addr());
        weights.extend(place);
    }
    let mut refused = 0;
    for &place in &weights {
        let bytes: Vec<u8> = file[place..][..4].to_vec();
        for value in [f32::INFINITY, f32::NAN] {
            file[place..][..4].copy_from_slice(&value.to_le_bytes());
            refused += usize::from(in_tiles(&file).is_err());
        }
        file[place..][..4].copy_from_slice(&bytes);
    }
    assert!(weights.len() >= 2 && refused >= 4, "{weights:?} {refused}");
}

/// The pool at the end takes all pixels of its input for one.
fn refused(file: &[u8]) {
    let found = hand_over(file, &recipe(0..=9, [1, 2]), overlaps::none, TIME);
    let grid = TransformError::Grid {
        given: [1, 2],
        limit: [1, 1],
    };
    assert_eq!(found.err(), Some(TiledError::Transform(grid)));
    let softmax = hand_over(file, &recipe(11..=12, [1, 1]), overlaps::none, TIME);
    assert!(matches!(softmax, Err(TiledError::Transform(_))));
}
