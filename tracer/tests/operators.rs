//! The table of operators in `docs/operators.md` is what is known of each.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail loudly"
)]

use dmo_analysis::graph::tflite::{self, TFLM_REVISION, WhyApart, registered};
use dmo_analysis::graph::{Kind, TensorId, TensorType};
use dmo_analysis::trace::ElementType;
use dmo_trace::kernels::{Contract, contracts};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Set to write the table anew.
const UPDATE: &str = "DMO_TRACE_UPDATE_TABLES";
const BEGIN: &str = "<!-- table: made by tracer/tests/operators.rs -->\n";
const END: &str = "<!-- end of table -->\n";

/// Types of inputs, with what the table calls them.
const TYPES: [(ElementType, TensorType, &str); 9] = [
    (ElementType::Float32, TensorType::Float32, "float32"),
    (ElementType::Int8, TensorType::Int8, "int8"),
    (ElementType::Int16, TensorType::Int16, "int16"),
    (ElementType::Uint8, TensorType::Uint8, "uint8"),
    (ElementType::Int32, TensorType::Int32, "int32"),
    (ElementType::Uint32, TensorType::Uint32, "uint32"),
    (ElementType::Int64, TensorType::Int64, "int64"),
    (ElementType::Uint64, TensorType::Uint64, "uint64"),
    (ElementType::Bool, TensorType::Bool, "bool"),
];

#[test]
fn the_table_is_what_is_known() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operators.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the table's begin");
    let (known, after) = rest.split_once(END).expect("the table's end");
    assert!(
        before.contains(TFLM_REVISION),
        "the page names the revision"
    );
    let table = table();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(known, table, "{UPDATE}=1 writes it anew");
}

fn table() -> String {
    let golden = golden();
    assert!(
        golden.len() > 30,
        "golden outputs of {} cases",
        golden.len()
    );
    let mut table = "| operator | overlap | reference kernels | CMSIS-NN | golden outputs |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    let mut rows = 0;
    for kind in registered() {
        let overlap = match kind.always_apart() {
            None if kind.has_known_loops() => "by formula".to_owned(),
            why => format!("none: {}", why.unwrap_or_else(|| kind.why_apart())),
        };
        let kernels = |of_cmsis_nn: bool| types(|(input, ..)| computes(&kind, *input, of_cmsis_nn));
        let results = types(|(_, input, _)| golden.contains(&(kind.clone(), *input)));
        let name = kind.name().trim_start_matches("CUSTOM:");
        let [reference, cmsis_nn] = [false, true].map(kernels);
        writeln!(
            table,
            "| `{name}` | {overlap} | {reference} | {cmsis_nn} | {results} |"
        )
        .unwrap();
        rows += 1;
    }
    assert!(rows > 100, "{rows} operators");
    table
}

fn computes(kind: &Kind, input: ElementType, of_cmsis_nn: bool) -> bool {
    let is_asked_for = |contract: &&Contract| contract.is_of_cmsis_nn() == of_cmsis_nn;
    let mut contracts = contracts().filter(is_asked_for);
    contracts.any(|contract| contract.is_for(kind, input))
}

fn types(holds: impl Fn(&(ElementType, TensorType, &str)) -> bool) -> String {
    let names = TYPES.iter().filter(|it| holds(it)).map(|it| it.2);
    names.collect::<Vec<_>>().join(", ")
}

/// Kinds of operators and types of their first input in the repository's own models that have
/// golden outputs.
fn golden() -> HashSet<(Kind, TensorType)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let is_model = |path: &PathBuf| path.extension().is_some_and(|it| it == "tflite");
    let models = files.filter(|path| is_model(path) && path.with_extension("json").exists());
    let mut seen = HashSet::new();
    for path in models {
        let model = tflite::read(&std::fs::read(path).unwrap()).unwrap();
        for graph in &model.graphs {
            for node in &graph.operators {
                // Of one that takes constants only, such as FILL, the last has its type; of what reads
                // a variable, the output.
                let computed = graph.arena_inputs(node);
                let input = computed.first().or(node.inputs.last());
                let is_handle =
                    |id: &&TensorId| graph.tensor(**id).element_type == TensorType::Resource;
                let input = input.filter(|id| !is_handle(id)).or(node.outputs.first());
                let known = match node.kind {
                    // What is packed has no type of its own.
                    Kind::Decode => &node.outputs[..],
                    _ => input.map(std::slice::from_ref).unwrap_or_default(),
                };
                let types = known.iter().map(|id| graph.tensor(*id).element_type);
                seen.extend(types.map(|element| (node.kind.clone(), element)));
            }
        }
    }
    seen
}

/// What only its author knows is said to be so.
#[test]
fn nothing_is_left_out() {
    let custom: Vec<String> = registered()
        .filter(|kind| kind.why_apart() == WhyApart::Custom)
        .map(|kind| kind.name().to_owned())
        .collect();
    assert_eq!(custom, ["CUSTOM:ethos-u"]);
}
