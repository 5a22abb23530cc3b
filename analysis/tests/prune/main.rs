//! Channels that are left out, and those that must not be.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

#[allow(dead_code, reason = "one of several tests that share it")]
mod builder;
mod cases;
mod random;
#[path = "../tflite/tree.rs"]
#[allow(dead_code, reason = "one of several tests that share it")]
mod tree;

use builder::Net;
use cases::cases;
use dmo_analysis::graph::tflite::{self, parameters};
use dmo_analysis::transform::prune::{Pruned, prune};

fn removed(pruned: &Pruned) -> Vec<(usize, Vec<u32>)> {
    let tensors = pruned.report.tensors.iter();
    let channels = |removed: &[_]| {
        let removed = removed.iter();
        removed
            .map(|it: &dmo_analysis::transform::prune::RemovedChannel| it.channel)
            .collect()
    };
    tensors
        .map(|tensor| (tensor.tensor.0, channels(&tensor.removed)))
        .collect()
}

#[test]
fn what_goes_is_what_makes_no_difference() {
    let cases = cases();
    let (mut gone, mut kept) = (0, 0);
    for case in &cases {
        let pruned = prune(&case.file).unwrap();
        assert_eq!(
            removed(&pruned),
            case.removed,
            "{} {:?}",
            case.name,
            pruned.report.tensors
        );
        if case.removed.is_empty() {
            assert_eq!(pruned.file, case.file, "{}", case.name);
            kept += 1;
        } else {
            gone += 1;
        }
    }
    assert_eq!((gone, kept), (29, 14));
}

/// Nothing more is left to be removed, and what is written is a model of the same ends.
#[test]
fn once_is_enough() {
    let files = cases().into_iter().map(|case| case.file);
    let files: Vec<_> = files.chain((0..300).map(random::network)).collect();
    let mut smaller = 0;
    for (index, file) in files.iter().enumerate() {
        let pruned = prune(file).unwrap();
        let again = prune(&pruned.file).unwrap();
        assert!(
            again.report.tensors.is_empty(),
            "model {index}: {:?}",
            again.report
        );
        let [old, new] = [file, &pruned.file].map(|file| tflite::read(file).unwrap());
        let ends = |model: &tflite::Model| {
            let graph = &model.graphs[0];
            let ends = graph.inputs.iter().chain(&graph.outputs);
            ends.map(|&id| (id, graph.tensor(id).clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(ends(&old), ends(&new), "model {index}");
        assert!(
            parameters(&pruned.file, 0)
                .unwrap()
                .iter()
                .all(Result::is_ok)
        );
        let [before, after] = [pruned.report.before, pruned.report.after];
        assert!(after.macs <= before.macs && after.weight_bytes <= before.weight_bytes);
        smaller += usize::from(after.macs < before.macs);
    }
    assert!(smaller > 200, "{smaller}");
}

#[test]
fn several_subgraphs_are_refused() {
    let mut net = Net::default();
    net.further = 1;
    let input = net.input(&[1, 4, 4, 3]);
    let output = net.relu(input);
    let error = prune(&net.finish(output)).unwrap_err().to_string();
    assert!(error.contains("2 subgraphs, expected 1"), "{error}");
}
