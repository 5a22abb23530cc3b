//! Real models and small ones without the channels that make no difference, in TensorFlow Lite and
//! TensorFlow Lite Micro: both compute the same bytes as before. A test whose model or runtime is
//! missing is reported as ignored.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

#[path = "prune/builder.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod builder;
#[path = "prune/cases.rs"]
mod cases;
#[path = "prune/random.rs"]
mod random;
#[path = "tflite/runtimes.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod runtimes;
#[path = "tflite/tree.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod tree;

use dmo_analysis::transform::prune::prune;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use runtimes::{RUNTIMES, is_installed, same_results, trial};

/// Name, multiply-accumulates and bytes of weights before and after.
const MODELS: &[(&str, [u64; 2], [u64; 2])] = &[
    (
        "mlcommons_tiny/vww_96_int8",
        [7_399_464, 3_674_288],
        [208_112, 29_066],
    ),
    (
        "tinyengine/mcunet_vww",
        [11_116_640, 10_506_021],
        [420_520, 394_626],
    ),
    (
        "tflite_micro/person_detect",
        [7_072_280, 7_069_974],
        [207_968, 207_710],
    ),
    ("tflite_micro/hello_world_int8", [288, 220], [288, 220]),
    ("stand_in_autoencoder_int8", [3840, 3800], [3840, 3800]),
    ("mlcommons_tiny/kws_ref_model", [2_562_432; 2], [22_016; 2]),
    (
        "mlcommons_tiny/pretrainedResnet_quant",
        [11_574_592; 2],
        [77_360; 2],
    ),
    ("mlcommons_tiny/ad01_int8", [264_192; 2], [264_192; 2]),
    ("mlcommons_tiny/str_ww_ref_model", [826_368; 2], [46_040; 2]),
    (
        "coral/mobilenet_v1_0.25_128_quant",
        [13_448_616; 2],
        [463_856; 2],
    ),
];

/// How many random networks each runtime computes.
const RANDOM: u64 = 24;

fn figures(file: &[u8], macs: [u64; 2], weights: [u64; 2]) -> Result<Completion, Failed> {
    let pruned = prune(file)?;
    let costs = [pruned.report.before, pruned.report.after];
    let found = (
        costs.map(|cost| cost.macs),
        costs.map(|cost| cost.weight_bytes),
    );
    assert_eq!(found, (macs, weights));
    let nothing = macs[0] == macs[1];
    assert_eq!(nothing, pruned.file == file);
    Ok(Completion::Completed)
}

fn main() {
    let mut trials = Vec::new();
    for &(name, macs, weights) in MODELS {
        let test = move |file: &[u8]| figures(file, macs, weights);
        trials.push(trial("figures", name, test));
    }
    for (runtime, package) in RUNTIMES {
        let installed = is_installed(package);
        let compare = move |name: &str, file: &[u8]| {
            let pruned = prune(file)?;
            same_results(runtime, installed, name, file, &pruned.file)
        };
        for &(name, macs, _) in MODELS {
            if macs[0] != macs[1] {
                let test = move |file: &[u8]| compare(&format!("pruned-{name}"), file);
                trials.push(trial(&format!("{runtime} pruned"), name, test));
            }
        }
        let cases = cases::cases().into_iter();
        let cases = cases.filter(|case| !case.removed.is_empty());
        let cases = cases.map(|case| (case.name.to_owned(), case.file));
        let random = (0..RANDOM).map(|seed| (format!("network {seed}"), random::network(seed)));
        for (name, file) in cases.chain(random) {
            let title = format!("{runtime} pruned {name}");
            trials.push(Trial::ignorable_test(title, move || {
                compare(&format!("pruned-{name}"), &file)
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
