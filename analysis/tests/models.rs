//! Real models: what is read of them agrees with what is known of them. They are looked
//! for in `$DMO_TRACE_MODELS`, else beside the repository; one that is missing is reported
//! as ignored.

use dmo_analysis::graph::tflite;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Folder and name, number of operators, and all activations together in bytes.
const MODELS: &[(&str, usize, u64)] = &[
    ("coral/mobilenet_v1_0.25_128_quant", 31, 464_059),
    ("coral/mobilenet_v2_1.0_224_quant", 66, 7_049_307),
    ("deeplab/deeplabv3_257_mv_gpu", 70, 57_423_608),
    ("mlcommons_tiny/ad01_int8", 10, 2312),
    ("mlcommons_tiny/kws_ref_model", 13, 72_642),
    ("mlcommons_tiny/pretrainedResnet_quant", 16, 117_908),
    ("mlcommons_tiny/str_ww_ref_model", 11, 16_086),
    ("mlcommons_tiny/vww_96_int8", 31, 259_716),
    ("swiftnet/swiftnet_vww_uint8", 85, 2_164_116),
    ("tflite_micro/hello_world_int8", 3, 34),
    ("tflite_micro/keyword_scrambled_8bit", 15, 718),
    ("tflite_micro/micro_speech_quantized", 4, 7928),
    ("tflite_micro/person_detect", 31, 241_030),
    ("tflite_micro/trained_lstm_int8", 4, 1924),
    ("tinyengine/mcunet_vww", 63, 722_702),
];

fn main() {
    let trials = MODELS.iter().map(|&(name, operators, naive_bytes)| {
        Trial::ignorable_test(name, move || {
            with_model(name, |file| check(file, operators, naive_bytes))
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn with_model(
    name: &str,
    test: impl FnOnce(&[u8]) -> Result<(), Failed>,
) -> Result<Completion, Failed> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/models");
    let folder = std::env::var_os("DMO_TRACE_MODELS").map_or(PathBuf::from(beside), PathBuf::from);
    match std::fs::read(folder.join(format!("{name}.tflite"))) {
        Ok(file) => test(&file).map(|()| Completion::Completed),
        Err(_) => Ok(Completion::ignored_with("the model is missing")),
    }
}

fn check(file: &[u8], operators: usize, naive_bytes: u64) -> Result<(), Failed> {
    let model = tflite::read(file)?;
    let [graph] = model.graphs.as_slice() else {
        return Err("not one subgraph".into());
    };
    assert_eq!(graph.operators.len(), operators);
    assert_eq!(graph.naive_bytes(), naive_bytes);
    let opaque: BTreeSet<&str> = graph
        .operators
        .iter()
        .filter(|node| node.kernel.is_none())
        .map(|node| node.kind.as_str())
        .collect();
    assert_eq!(opaque, BTreeSet::new(), "operators without a kernel");
    Ok(())
}
