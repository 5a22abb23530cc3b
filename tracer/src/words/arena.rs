//! What a firmware's arena holds, and what went wrong in it.

use super::finding::{self, Instruction, Instructions};
use super::names;
use dmo_analysis::firmware::{ArenaUse, Origin, Overlapped, Placed, StoreBetween, Wrong};
use dmo_analysis::optimise::Certificate;
use dmo_analysis::replay::FindingKind;
use dmo_analysis::trace::{Address, Locations};
use dmo_analysis::wording::{bytes, counted, grouped};

/// A few lines on the arena, its findings, and whether it is safe. `locations` says where
/// instructions come from, `firmware` is the program's file.
pub fn text(arena: &ArenaUse, placed: &Placed, locations: &Locations, firmware: &str) -> String {
    let mut text = sizes(arena, placed);
    for objection in objections(arena, placed, locations) {
        text += &format!("\n{objection}\n");
    }
    text += &format!("\n{}\n", verdict(arena));
    if let Some(next) = next_step(arena, placed, &names::pasted(firmware)) {
        text += &format!("{next}\n");
    }
    text
}

/// How to make it smaller; or what to do where a trace cannot tell whether an operator lost its input, or loaded its own output.
fn next_step(arena: &ArenaUse, placed: &Placed, firmware: &str) -> Option<String> {
    let is_smaller = |plan: &Overlapped| plan.head_bytes < arena.head_bytes;
    if arena.safe && arena.taken.is_some() && arena.overlapped.as_ref().is_some_and(is_smaller) {
        return Some(format!(
            "Next: `dmo-trace plan MODEL --firmware {firmware} --out planned.tflite` writes its model, MODEL, with \
             these overlaps."
        ));
    }
    let first = arena.findings.first()?;
    let by_itself = |wrong: &Wrong| {
        let writer = wrong.finding.writer;
        wrong.finding.kind == FindingKind::Clobber && writer.is_some_and(|it| it.pc.is_some())
    };
    let is_all = arena.stores_between.is_empty() && arena.further_bytes == 0;
    if !is_all || !arena.findings.iter().all(by_itself) {
        return None;
    }
    Some(format!(
        "Next: operators that load back what they have stored look the same, as LSTMs and CMSIS-NN's \
         arm_max_pool_s8 do. If operator {} {} is one, `dmo-trace verify MODEL --firmware {firmware}` \
         decides: it compares what it stores with and without overlaps. Otherwise `dmo-trace plan MODEL --firmware \
         {firmware} --out planned.tflite` makes a plan that its kernels allow.",
        first.operator.0,
        placed.node(first.operator).kind.escape_debug(),
    ))
}

/// Whether it is safe.
pub fn verdict(arena: &ArenaUse) -> &'static str {
    if arena.safe {
        "SAFE within each inference: no tensor is overwritten while it is needed"
    } else {
        "UNSAFE: a tensor is overwritten while it is needed"
    }
}

/// What is wrong in the arena, each with the instructions that do it.
pub fn objections(arena: &ArenaUse, placed: &Placed, locations: &Locations) -> Vec<String> {
    let mut objections = Vec::new();
    // The others are often those of further instructions of an unrolled loop.
    let alike = arena.findings.chunk_by(|one, other| {
        (
            one.inference,
            one.operator,
            one.finding.kind,
            one.finding.subject,
        ) == (
            other.inference,
            other.operator,
            other.finding.kind,
            other.finding.subject,
        )
    });
    for alike in alike {
        let mut text = finding(&alike[0], placed, locations);
        if alike.len() > 1 {
            let count = alike.len() - 1;
            text += &format!("\n  and {count} more of the same by other instructions");
        }
        objections.push(text);
    }
    for store in &arena.stores_between {
        objections.push(store_between(store, placed, locations));
    }
    if arena.further_bytes > 0 {
        objections.push(format!(
            "and {} more bytes that are wrong",
            arena.further_bytes
        ));
    }
    objections
}

/// The arena and its parts, one a line.
fn sizes(arena: &ArenaUse, placed: &Placed) -> String {
    let rows = parts(arena, placed).into_iter();
    let rows =
        rows.map(|(name, bytes, what)| format!("  {name:<10} {:>10}  {what}\n", grouped(bytes)));
    format!("\n{}\n{}", headline(arena), rows.collect::<String>())
}

/// The arena in a sentence.
pub fn headline(arena: &ArenaUse) -> String {
    format!(
        "Arena of {} at {:#010x}, {}",
        bytes(arena.size_bytes),
        arena.start,
        counted(arena.inferences as u64, "inference", "inferences"),
    )
}

/// The parts of the arena: name, bytes, and what it is.
pub fn parts(arena: &ArenaUse, placed: &Placed) -> Vec<(&'static str, u64, String)> {
    let planned = match arena.planned {
        Origin::Offline => "by the model's offline plan",
        Origin::Greedy => "by TensorFlow Lite Micro's greedy planner",
        Origin::Firmware => "by the firmware's own planner",
    };
    let most = arena.in_use_bytes.iter().enumerate();
    let most = most.max_by_key(|&(operator, &bytes)| (bytes, std::cmp::Reverse(operator)));
    let (operator, in_use) = most.map_or((0, 0), |(operator, &bytes)| (operator, bytes));
    let simulated = if arena.simulated { " (simulated)" } else { "" };
    let head = format!(
        "tensors and scratch memory, planned {planned}{simulated}; at most {} in use, by operator {operator} {}",
        grouped(in_use),
        placed.graph.operators[operator].kind.escape_debug()
    );
    let mut rows = vec![("head", arena.head_bytes, head)];
    if let Some(taken) = arena.taken {
        let used = taken.head_bytes + taken.tail_bytes;
        rows.insert(
            0,
            (
                "used",
                used,
                "what the runtime has taken: its arena_used_bytes".to_owned(),
            ),
        );
        rows.push((
            "tail",
            taken.tail_bytes,
            "what the runtime keeps for itself".to_owned(),
        ));
        let free = arena.size_bytes.saturating_sub(used);
        let what = "not used by inferences; AllocateTensors needs some of it (dmo-trace arena)";
        rows.push(("free", free, what.to_owned()));
    } else {
        rows.push((
            "temporary",
            arena.temporary_bytes,
            "above the head, and touched".to_owned(),
        ));
        rows.push((
            "head-room",
            arena.headroom_bytes,
            "never touched".to_owned(),
        ));
        let what =
            "from there to the end: what the runtime keeps, and what it touched at its start";
        rows.push(("tail", arena.tail_bytes, what.to_owned()));
    }
    if let Some(plan) = arena.overlapped {
        let proven = match plan.certificate {
            Certificate::Optimal | Certificate::OptimalForOrder => "the least",
            Certificate::BestFound => "the best found",
        };
        let smaller = if plan.head_bytes < arena.head_bytes {
            ""
        } else {
            "; no overlap of these kernels makes it smaller"
        };
        let what = format!(
            "the head, overlapped by the O_s of its operators: {proven} for this order of operators{smaller}"
        );
        rows.push(("overlapped", plan.head_bytes, what));
    }
    rows
}

fn finding(wrong: &Wrong, placed: &Placed, locations: &Locations) -> String {
    let place = format!(
        "inference {}, operator {} {}",
        wrong.inference + 1,
        wrong.operator.0,
        placed.node(wrong.operator).kind.escape_debug(),
    );
    let instruction = |pc: Address| Instruction {
        pc,
        // Times are the program's, not the operator's.
        time: None,
        location: locations.get(&pc),
    };
    let writer = wrong.finding.writer.and_then(|writer| writer.pc);
    let instructions = Instructions {
        access: wrong.finding.access.map(|access| instruction(access.pc)),
        writer: writer.map(instruction),
        reader: None,
    };
    finding::describe(&place, &placed.graph, &wrong.finding, instructions)
}

fn store_between(store: &StoreBetween, placed: &Placed, locations: &Locations) -> String {
    let instruction = Instruction {
        pc: store.pc,
        time: None,
        location: locations.get(&store.pc),
    };
    format!(
        "inference {}: code between operators stores to {}, which operator {} or a later one needs: {}, the first by {}",
        store.inference + 1,
        names::tensor(&placed.graph, store.tensor),
        store.operator.0,
        counted(store.count, "store", "stores"),
        finding::place(instruction),
    )
}
