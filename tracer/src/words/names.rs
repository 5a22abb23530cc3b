//! How tensors, scratch buffers, clashes and faults of plans are named.

use crate::study::kernel_request::REFERENCE;
use crate::study::overlap_source::OverlapKind;
use crate::study::plan_to_check::PlanFault;
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::handover::{FurtherKernels, PlannedKernels, PlannedRegion};
use dmo_analysis::verify::{Clash, Occupant};
use dmo_analysis::wording::{counted, grouped};
use std::borrow::Cow;

/// A tensor or a scratch buffer: `tensor 3 "conv1"`, `a scratch buffer of operator 2`.
pub fn occupant(graph: &Graph, occupant: Occupant) -> String {
    match occupant {
        Occupant::Tensor(id) => tensor(graph, id),
        Occupant::Scratch(operator) => format!("a scratch buffer of operator {}", operator.0),
    }
}

/// `tensor 3 "conv1"`, or the end of a long name.
pub fn tensor(graph: &Graph, id: TensorId) -> String {
    format!("tensor {} {:?}", id.0, short(&graph.tensor(id).name))
}

/// Characters of a name in a table.
const MOST_IN_TABLE: usize = 32;

/// A name for a table: of the names of fused operators the first, and of that the last parts, as
/// `…/Conv2d_1_depthwise/Relu6`.
pub fn short(name: &str) -> String {
    let first = name.split(';').next().unwrap_or(name);
    if name.chars().count() <= MOST_IN_TABLE {
        return name.to_owned();
    }
    if first.chars().count() <= MOST_IN_TABLE {
        return first.to_owned();
    }
    let starts = first.match_indices('/').map(|(at, _)| at);
    let rest = starts.map(|at| &first[at..]);
    let fits = |rest: &&str| rest.chars().count() < MOST_IN_TABLE;
    let rest = rest.filter(fits).max_by_key(|rest| rest.len());
    let last = || {
        let skip = first.chars().count() + 1 - MOST_IN_TABLE;
        first.chars().skip(skip).collect()
    };
    format!("…{}", rest.map_or_else(last, str::to_owned))
}

/// A path or a name as a word of a command that can be pasted into a shell.
pub fn pasted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

/// Where something lies: in the arena, or in one of the memories that follow each other there.
struct ContainingRegion<'a> {
    /// The memory; `None` of one arena.
    region: Option<&'a PlannedRegion>,
}

impl<'a> ContainingRegion<'a> {
    fn of(regions: &'a [PlannedRegion], offset: u64) -> Self {
        let mut regions = regions.iter();
        let region = regions.find(|it| (it.start..it.end()).contains(&offset));
        Self { region }
    }

    /// Counted from the first byte of the memory.
    fn within(&self, offset: u64) -> u64 {
        offset - self.region.map_or(0, |region| region.start.min(offset))
    }

    /// ` of tcm`; nothing of one arena.
    fn name(&self) -> String {
        let name = |it: &PlannedRegion| format!(" of {}", it.region.name.escape_debug());
        self.region.map_or_else(String::new, name)
    }
}

/// Two buffers that share bytes of the arena, or of one of its memories, and must not.
pub fn clash(graph: &Graph, clash: &Clash, regions: &[PlannedRegion]) -> String {
    let node = &graph.operators[clash.operator.0];
    let needed = match clash.needed_displacement {
        Some(bytes) => format!(
            "; the input has to start at least {} bytes above the output",
            grouped(bytes)
        ),
        None => String::new(),
    };
    let unknown = match node.kernel {
        Some(_) => "",
        None => "; nothing is known of this operator, so that no overlap is granted",
    };
    let place = ContainingRegion::of(regions, clash.bytes.start);
    let what = if place.region.is_some() {
        "bytes"
    } else {
        "arena bytes"
    };
    format!(
        "operator {} {}: {} and {} share {what} {}..{}{}{needed}{unknown}",
        clash.operator.0,
        node.kind.escape_debug(),
        occupant(graph, clash.one),
        occupant(graph, clash.other),
        grouped(place.within(clash.bytes.start)),
        grouped(place.within(clash.bytes.end)),
        place.name(),
    )
}

/// What is wrong with a plan whatever may overlap.
pub fn fault(graph: &Graph, fault: &PlanFault, regions: &[PlannedRegion]) -> String {
    match fault {
        PlanFault::NoOffset(id) => format!("{} has no offset", tensor(graph, *id)),
        PlanFault::BeyondArena {
            occupant,
            end,
            declared,
        } => format!(
            "{} ends at {}, beyond the plan's arena of {} bytes",
            self::occupant(graph, *occupant),
            u64::try_from(*end).map_or_else(|_| end.to_string(), grouped),
            grouped(*declared)
        ),
        PlanFault::Misaligned {
            occupant,
            offset,
            alignment,
        } => {
            let place = ContainingRegion::of(regions, *offset);
            format!(
                "{} lies at {}{}, not a multiple of {alignment}",
                self::occupant(graph, *occupant),
                grouped(place.within(*offset)),
                place.name()
            )
        }
        PlanFault::LittleScratch {
            operators,
            most,
            function,
            bytes,
        } => format!(
            "{} more scratch memory than the plan gives: operator {} {}, {}, wants {bytes} \
                 bytes\n  hint: plan again with --overlap traced, or none, and --kernels",
            match operators {
                1 => "1 operator wants".to_owned(),
                count => format!("{count} operators want"),
            },
            most.0,
            graph.operators[most.0].kind.escape_debug(),
            function.unwrap_or("TensorFlow Lite Micro's kernel"),
        ),
    }
}

/// Which kernels a plan with overlaps is safe with: those that were measured, in a library or in a
/// firmware, or those that the formulas describe. A plan of other operators is `changed`.
pub fn safe_with(kind: &str, measured: Option<&PlannedKernels>, changed: bool) -> String {
    match measured {
        Some(kernels) => {
            format!("Safe with these kernels ({kernels}) only: others may overlap less.")
        }
        None if kind == OverlapKind::Traced.name() => {
            "Safe with the kernels of this firmware only: others may overlap less.".to_owned()
        }
        None if changed => {
            "Safe with kernels that overlap as far as the reference kernels may; `dmo-trace verify --kernels` checks yours."
                .to_owned()
        }
        None => {
            "Safe with TensorFlow Lite's reference kernels only: other kernels may overlap less."
                .to_owned()
        }
    }
}

/// Why one input says less than several.
pub const ON_ONE_INPUT: &str = "on one input: whether accesses depend on the data was not examined";

/// What holds of operators that no kernel can be called for.
pub const NOT_EXECUTED: &str = "what an operator that is not executed does to memory is not known: \
    nothing overlaps there, and scratch memory that its kernel wants beyond the plan's is not \
    accounted for";

/// Why two tensors at such an operator may share nothing, where a plan has them share bytes.
pub const NOT_GRANTED: &str = "; it was not executed, so that no overlap is granted; hint: \
    `dmo-trace plan --kernels` grants none either where it has no kernel to run";

/// The operators that are not executed and why, a line each; of many the first few.
pub fn not_executed(graph: &Graph, operators: &[(OperatorId, String)]) -> Vec<String> {
    const MOST: usize = 5;
    let line = |(operator, reason): &(OperatorId, String)| {
        let kind = graph.operators[operator.0].kind.escape_debug();
        format!("operator {} {kind}: {reason}", operator.0)
    };
    let more = operators.len().saturating_sub(MOST);
    let mut lines: Vec<String> = operators.iter().take(MOST).map(line).collect();
    if let Some(last) = lines.last_mut().filter(|_| more > 0) {
        *last += &format!(
            "; and {}",
            counted(more as u64, "more operator", "more operators")
        );
    }
    lines
}

/// Which operators a library computes that is not the first.
pub fn computed_by(graph: &Graph, kernels: &FurtherKernels) -> String {
    const MOST: usize = 8;
    let kind = |id: &OperatorId| match graph.operators.get(id.0) {
        Some(node) => format!("{} {}", id.0, node.kind.escape_debug()),
        None => id.0.to_string(),
    };
    let mut operators: Vec<String> = kernels.operators.iter().take(MOST).map(kind).collect();
    let more = kernels.operators.len() - operators.len();
    if more > 0 {
        operators.push(format!("{more} more"));
    }
    let name = match kernels.name.as_str() {
        REFERENCE => {
            "the built-in reference kernels, as TensorFlow Lite Micro takes its own".into()
        }
        name => name.escape_debug().to_string(),
    };
    let count = counted(
        kernels.operators.len() as u64,
        "operator has",
        "operators have",
    );
    let verb = if kernels.operators.len() == 1 {
        "runs"
    } else {
        "run"
    };
    format!(
        "{count} no kernel in the first library and {verb} on {name}: {}",
        operators.join(", ")
    )
}

/// A name for a cell of a table: no control characters, nothing that ends the cell.
pub fn plain(name: &str) -> String {
    name.chars()
        .map(|character| match character {
            '|' => '¦',
            character if character.is_control() => '\u{fffd}',
            character => character,
        })
        .collect()
}

/// That as many further inputs show the same, on a line of its own.
pub fn likewise(further_inputs: u64) -> String {
    match further_inputs {
        0 => String::new(),
        count => format!(
            "\n  and likewise on {}",
            counted(count, "other input", "other inputs")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn long_names_keep_their_end() {
        for (name, expected) in [
            ("conv1", "conv1"),
            (
                "MobilenetV1/MobilenetV1/Conv2d_1_pointwise/Relu6",
                "…/Conv2d_1_pointwise/Relu6",
            ),
            (
                "model/activation/Relu;model/batch_normalization/FusedBatchNormV3",
                "model/activation/Relu",
            ),
            (
                "abcdefghijklmnopqrstuvwxyzäöüABCDEFGH",
                "…ghijklmnopqrstuvwxyzäöüABCDEFGH",
            ),
            (
                "a/abcdefghijklmnopqrstuvwxyz0123456789",
                "…fghijklmnopqrstuvwxyz0123456789",
            ),
        ] {
            assert_eq!(short(name), expected);
            assert!(short(name).chars().count() <= 32, "{name}");
        }
    }
}
