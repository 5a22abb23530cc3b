//! The operators of TensorFlow Lite Micro: none is forgotten.

use dmo_analysis::graph::Kind;
use dmo_analysis::graph::tflite::{TFLM_REVISION, WhyApart, registered};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// A git repository of tflite-micro.
const CHECKOUT: &str = "DMO_TRACE_TFLM";
const RESOLVER: &str = "tensorflow/lite/micro/micro_mutable_op_resolver.h";

/// What the resolver registers: the codes that its methods name, and the names of custom
/// operators.
fn names(resolver: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        let is_part = |it: &char| it.is_ascii_alphanumeric() || *it == '_';
        text.chars().take_while(is_part).collect()
    };
    let builtin = resolver.split("BuiltinOperator_").skip(1).map(word);
    let custom = resolver.split("AddCustom(").skip(1);
    let custom = custom.filter_map(|rest| rest.trim_start().strip_prefix('"').map(word));
    let mut names: BTreeSet<String> = builtin.chain(custom).collect();
    assert!(names.remove("CUSTOM"));
    // By a function, so that it can be absent.
    assert!(resolver.contains("GetString_ETHOSU()"));
    names.insert("ethos-u".to_owned());
    names
}

/// With a repository of tflite-micro at hand: the list is that of its revision.
#[test]
fn the_list_is_that_of_the_resolver() {
    let Some(checkout) = std::env::var_os(CHECKOUT).map(PathBuf::from) else {
        eprintln!("skipped: {CHECKOUT} names no repository of tflite-micro");
        return;
    };
    let file = format!("{TFLM_REVISION}:{RESOLVER}");
    let git = Command::new("git")
        .arg("-C")
        .arg(checkout)
        .args(["show", &file])
        .output()
        .unwrap();
    assert!(
        git.status.success(),
        "{}",
        String::from_utf8_lossy(&git.stderr)
    );
    let expected = names(&String::from_utf8(git.stdout).unwrap());
    let given: BTreeSet<String> = registered()
        .map(|kind| kind.name().trim_start_matches("CUSTOM:").to_owned())
        .collect();
    assert_eq!(given, expected);
}

#[test]
fn names_are_those_of_models() {
    let kinds: Vec<Kind> = registered().collect();
    assert_eq!(kinds.len(), 118);
    let distinct: BTreeSet<&Kind> = kinds.iter().collect();
    assert_eq!(distinct.len(), kinds.len());
    for kind in &kinds {
        let is_builtin = kind.code().is_some();
        let is_custom = *kind == Kind::custom(kind.name().trim_start_matches("CUSTOM:"));
        assert!(is_builtin != is_custom, "{kind}");
        assert!(!kind.is_unknown(), "{kind}");
    }
}

#[test]
fn reasons_are_told_apart() {
    for (kind, why) in [
        ("GATHER", WhyApart::Indices),
        ("TOPK_V2", WhyApart::Data),
        ("TFLite_Detection_PostProcess", WhyApart::Data),
        ("BROADCAST_TO", WhyApart::Copies),
        ("MEAN", WhyApart::Accumulates),
        ("WHILE", WhyApart::HiddenState),
        ("CONV_2D", WhyApart::NotThisWay),
        ("TILE", WhyApart::NotInRuntime),
        ("CUSTOM:ethos-u", WhyApart::Custom),
        ("BUILTIN:999", WhyApart::TooNew),
    ] {
        assert_eq!(Kind::from(kind).why_apart(), why, "{kind}");
    }
}
