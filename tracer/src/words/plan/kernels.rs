//! What the measured kernels allow, and what their loops cost the arena.

use crate::model::overlaps::{KernelOverlaps, KernelPair};
use crate::study::others::LoopOrderCost;
use crate::words::table;
use dmo_analysis::graph::OperatorId;
use dmo_analysis::wording::{counted, first_names, grouped};
use std::collections::{BTreeMap, BTreeSet};

/// In the place of a kernel that cannot be called.
const NOT_EXECUTED: &str = "not executed";
/// At most this many operators are named in a line.
const MOST_NAMED: usize = 5;

/// The operators whose kernels another order of loops would let overlap further, if any; the
/// one that would save most first. `arena_bytes` is the plan's.
pub fn loop_order(
    cost: &LoopOrderCost,
    kernels: &[KernelOverlaps],
    arena_bytes: u64,
) -> Vec<String> {
    let mut saving: Vec<(OperatorId, u64)> = cost
        .operators
        .iter()
        .map(|what_if| (what_if.operator, arena_bytes - what_if.arena_bytes))
        .filter(|&(_, saved)| saved > 0)
        .collect();
    saving.sort_by_key(|&(operator, saved)| (std::cmp::Reverse(saved), operator));
    let function = |operator: OperatorId| {
        let kernel = kernels.get(operator.0);
        kernel.and_then(|kernel| kernel.function.as_deref())
    };
    let mut lines = Vec::new();
    if let Some(&(operator, saved)) = saving.first() {
        lines.push(format!(
            "One kernel change would save most: operator {} ({}) with the loops of TensorFlow \
             Lite's reference kernel saves {} bytes.",
            operator.0,
            function(operator).unwrap_or(NOT_EXECUTED),
            grouped(saved)
        ));
    } else if !cost.operators.is_empty() {
        lines.push(format!(
            "{} would overlap further with the loops of TensorFlow Lite's reference kernels; none of \
             them alone makes the arena smaller.",
            counted(cost.operators.len() as u64, "operator", "operators")
        ));
    }
    let together = arena_bytes - cost.together_bytes.min(arena_bytes);
    if together > saving.first().map_or(0, |&(_, saved)| saved) {
        lines.push(format!(
            "With those loops in all of them the arena has {} bytes, {} less.",
            grouped(cost.together_bytes),
            grouped(together)
        ));
    }
    lines
}

/// In place of a table with a row for each part of an operator.
pub const IN_TILES: &str = "`--json` lists the overlaps of each tile.";

/// A row for each operator: its kernel, what it allows, and what its loops cost.
pub fn kernel_table(
    kinds: &[String],
    kernels: &[KernelOverlaps],
    cost: &LoopOrderCost,
    arena_bytes: u64,
) -> String {
    let header = [
        "#",
        "operator",
        "kernel",
        "O_s",
        "loops cost",
        "instructions",
    ];
    let operators = kinds.iter().zip(kernels).enumerate();
    let rows = operators.map(|(index, (kind, kernel))| {
        let what_if = cost
            .operators
            .iter()
            .find(|what_if| what_if.operator.0 == index);
        [
            index.to_string(),
            kind.clone(),
            match &kernel.function {
                Some(function) => kernel.work.chain(function),
                None => NOT_EXECUTED.to_owned(),
            },
            overlaps(kernel),
            what_if.map_or("-".to_owned(), |what_if| {
                grouped(arena_bytes - what_if.arena_bytes)
            }),
            grouped(kernel.instructions),
        ]
    });
    let table = table(header, [0, 3, 4, 5], rows);
    let is_refused = |kernel: &KernelOverlaps| {
        let mut pairs = kernel.pairs.iter();
        pairs.any(|pair| pair.displacement_bytes.is_none())
    };
    let none = if kernels.iter().any(is_refused) {
        "; none: no overlap is granted"
    } else {
        ""
    };
    let loops = if cost.operators.is_empty() {
        ""
    } else {
        "; loops cost: bytes that the arena would save if this kernel alone had the loops of the reference kernel"
    };
    format!(
        "{table}\n\nO_s: bytes by which the output may lie over the input, as measured{none}{loops}. Where the runtime \
         takes its own kernel, or may, no more is granted than the formula of that kernel says."
    )
}

/// The operators to which no overlap is granted, a line for each reason; and those whose overlaps are
/// known to hold on `inputs` inputs only.
pub fn doubts(kinds: &[String], kernels: &[KernelOverlaps], inputs: u64) -> Vec<String> {
    let mut refused: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut tried = Vec::new();
    for (index, (kind, kernel)) in kinds.iter().zip(kernels).enumerate() {
        let operator = || format!("{index} {kind}");
        let reasons: BTreeSet<&str> = kernel
            .pairs
            .iter()
            .flat_map(|it| &it.refusals)
            .map(String::as_str)
            .collect();
        for reason in reasons {
            refused.entry(reason).or_default().push(operator());
        }
        if kernel.on_inputs_tried && kernel.pairs.iter().any(|it| it.safe_overlap_bytes > 0) {
            tried.push(operator());
        }
    }
    let of = |operators: Vec<String>| {
        let operator = if operators.len() == 1 {
            "operator"
        } else {
            "operators"
        };
        format!("{operator} {}", first_names(&operators, MOST_NAMED))
    };
    let refused = refused.into_iter();
    let mut lines: Vec<String> = refused
        .map(|(reason, operators)| format!("no overlap is granted to {}: {reason}", of(operators)))
        .collect();
    if !tried.is_empty() {
        lines.push(format!(
            "the overlaps of {} hold on the {} tried: `dmo-trace verify --every-input` looks for what data decide in kernels that take as long",
            of(tried),
            counted(inputs, "input", "inputs"),
        ));
    }
    lines
}

/// O_s of each pair.
fn overlaps(kernel: &KernelOverlaps) -> String {
    let bytes = |pair: &KernelPair| match pair.displacement_bytes {
        Some(_) => grouped(pair.safe_overlap_bytes.into()),
        None => "none".to_owned(),
    };
    kernel
        .pairs
        .iter()
        .map(bytes)
        .collect::<Vec<_>>()
        .join(", ")
}
