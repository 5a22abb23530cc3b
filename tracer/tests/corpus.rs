//! Every recorded ELF, under the self-check: it exits as it should, every access agrees
//! with the independent decode, and its stores replayed give its memory.

mod support;

use dmo_analysis::trace::Exit;
use support::{CHECKED, corpus, name, profile, target};

#[test]
fn every_example_runs_under_self_check() {
    for path in corpus() {
        let name = name(&path);
        if name.contains("bench_") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("ELF");
        let target = target(&bytes);
        let (profile, outcome) =
            profile(&target, CHECKED).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(outcome.exit, Exit::Status(0), "{name}");
        assert!(!profile.layers.is_empty(), "{name}");
        for layer in &profile.layers {
            eprintln!(
                "{name} {} {} {:?}",
                layer.name,
                layer.instructions(),
                layer
                    .pairs
                    .iter()
                    .map(|p| (
                        p.safe_overlap_bytes,
                        p.observed_overlap_bytes,
                        p.refusals.clone()
                    ))
                    .collect::<Vec<_>>()
            );
        }
    }
}
