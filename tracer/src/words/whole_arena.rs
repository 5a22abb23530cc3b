//! The whole arena of TensorFlow Lite Micro.

use super::report::Report;
use super::{names::pasted, table};
use crate::study::carried_plan::CarriedPlan;
use crate::study::whole_arena::ArenaChange;
use dmo_analysis::graph::tflite::RuntimeKernels;
use dmo_analysis::tflm::{Part, Peak, SharedArena, UnknownOperator, VERSION, WholeArena};
use dmo_analysis::wording::{counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// What models need.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ArenaReport {
    /// The version whose figures these are.
    pub runtime: &'static str,
    /// In the order in which they were given.
    pub models: Vec<ModelArena>,
    /// Of several models in one arena, for each set of kernels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedArena>,
    /// The most bytes that one arena may have for all models, if that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_capacity_bytes: Option<u64>,
}

/// What a model needs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ModelArena {
    /// The model's name.
    pub name: String,
    /// What it was given as.
    #[serde(skip)]
    pub given: String,
    /// It is a model file, not a network of the zoo.
    #[serde(skip)]
    pub is_file: bool,
    /// With which kernels the plan is safe that the file carries, if it carries one.
    pub plan: Option<CarriedPlan>,
    /// With the reference kernels and with CMSIS-NN.
    pub arenas: Vec<WholeArena>,
    /// The most bytes that the arena may have, if that was given.
    pub capacity_bytes: Option<u64>,
    /// The arena is within the capacity with all these kernels; `None` if none is given.
    pub fits: Option<bool>,
    /// Whether the text has a row for each operator.
    #[serde(skip)]
    pub each_operator: bool,
}

impl ArenaReport {
    /// What these models need, each by itself and, where they are several, in one arena.
    pub fn new(models: Vec<ModelArena>, shared_capacity_bytes: Option<u64>) -> Self {
        let sets = models.first().map_or(0, |model| model.arenas.len());
        let shared = (0..sets).filter(|_| models.len() > 1).filter_map(|set| {
            let arenas = models.iter().filter_map(|model| model.arenas.get(set));
            SharedArena::of(&arenas.collect::<Vec<_>>())
        });
        Self {
            runtime: VERSION,
            shared: shared.collect(),
            models,
            shared_capacity_bytes,
        }
    }

    /// Each arena is within its capacity. What is not known in full is within none.
    pub fn fits(&self) -> bool {
        let is_within = |capacity: u64| {
            let within =
                |it: &SharedArena| !it.is_lower_bound && it.one_allocator_bytes <= capacity;
            self.shared.iter().all(within)
        };
        let each = self.models.iter().all(|model| model.fits != Some(false));
        each && self.shared_capacity_bytes.is_none_or(is_within)
    }

    /// What the models need that share an arena.
    fn shared_text(&self) -> String {
        if self.shared.is_empty() {
            return String::new();
        }
        let sizes = |bytes: fn(&SharedArena) -> u64| {
            let one = |it: &SharedArena| {
                let size = at_least(it.is_lower_bound, bytes(it));
                format!("{size} bytes with {}", kernels(it.kernels))
            };
            self.shared.iter().map(one).collect::<Vec<_>>().join("; ")
        };
        let mut text = format!(
            "\nIn one arena together:\n\
             \x20 one MicroAllocator for all interpreters, which stay: kTensorArenaSize {}\n\
             \x20 an interpreter at a time, made anew over the same arena: kTensorArenaSize {}\n",
            sizes(|it| it.one_allocator_bytes),
            sizes(|it| it.in_turn_bytes),
        );
        if let Some(capacity) = self.shared_capacity_bytes.filter(|_| !self.fits()) {
            text += &format!(
                "TOO LARGE: {} bytes are allowed for one MicroAllocator\n",
                grouped(capacity)
            );
        }
        text
    }
}

impl Report for ArenaReport {
    const SCHEMA: &'static str = "dmo-trace/arena/1";

    fn text(&self) -> String {
        let models = self.models.iter().map(text);
        let models: Vec<String> = models.collect();
        let next = match &self.models[..] {
            [only] => next(only),
            _ => String::new(),
        };
        format!(
            "{}{}\nFigures of {} on a Cortex-M with the DSP extension, compiled by GCC; the arena begins at a multiple of 16.\n{next}",
            models.join("\n"),
            self.shared_text(),
            self.runtime
        )
    }
}

/// The size and which kernels it is for: `82,304 bytes with the reference kernels`.
pub fn sizes(arenas: &[WholeArena]) -> String {
    let one = |arena: &WholeArena| {
        format!(
            "{} bytes with {}",
            at_least(!arena.unknown.is_empty(), arena.needed_bytes),
            kernels(arena.kernels)
        )
    };
    let all: Vec<String> = arenas.iter().map(one).collect();
    all.join("; ")
}

/// The size with the kernels that a plan was verified on.
pub fn verified_size(arena: &WholeArena) -> String {
    let kernels = match arena.kernels {
        RuntimeKernels::Reference => kernels(RuntimeKernels::Reference),
        RuntimeKernels::CmsisNn => "these kernels",
    };
    format!(
        "{} bytes with {kernels}",
        at_least(!arena.unknown.is_empty(), arena.needed_bytes)
    )
}

/// Before and after: `kTensorArenaSize 82,304 -> 63,888 bytes with the reference kernels`.
pub fn changes(changes: &[ArenaChange]) -> String {
    let one = |change: &ArenaChange| {
        format!(
            "{} -> {} bytes with {}",
            at_least(change.is_lower_bound, change.before_bytes),
            grouped(change.after_bytes),
            if change.with_measured_scratch {
                "these kernels"
            } else {
                kernels(change.kernels)
            }
        )
    };
    let all: Vec<String> = changes.iter().map(one).collect();
    format!("kTensorArenaSize {}", all.join(", "))
}

/// What is not known in full has a lower bound only.
fn at_least(is_lower_bound: bool, bytes: u64) -> String {
    let prefix = if is_lower_bound {
        "unknown, at least "
    } else {
        ""
    };
    format!("{prefix}{}", grouped(bytes))
}

fn kernels(kernels: RuntimeKernels) -> &'static str {
    match kernels {
        RuntimeKernels::Reference => "the reference kernels",
        RuntimeKernels::CmsisNn => "CMSIS-NN",
    }
}

fn text(model: &ModelArena) -> String {
    let mut text = format!(
        "{}: kTensorArenaSize {}\n\n",
        model.name,
        sizes(&model.arenas)
    );
    text += &format!("{}\n", parts(&model.arenas));
    for arena in &model.arenas {
        text += &peak(arena);
    }
    text += &not_counted(model.arenas.first().map_or(&[][..], |it| &it.unknown));
    if model.each_operator {
        text += &format!("\n{}\n", operators(&model.arenas));
    }
    if let (Some(capacity), Some(false)) = (model.capacity_bytes, model.fits) {
        text += &format!("\nTOO LARGE: {} bytes are allowed\n", grouped(capacity));
    }
    text += &match model.plan {
        None => String::new(),
        Some(CarriedPlan::SafeWithAnyKernels) => {
            "It carries a plan, which is safe with any kernels.\n".to_owned()
        }
        Some(CarriedPlan::SafeWithReferenceKernels) => {
            "It carries a plan whose buffers overlap, which is safe with the reference kernels. Which kernels it was made for is not in the file, and others may allow less.\n"
                .to_owned()
        }
        Some(CarriedPlan::UnsafeWithReferenceKernels) => {
            "It carries a plan that is UNSAFE with the reference kernels, and was perhaps made for others, which may want more scratch memory than is counted here: `dmo-trace verify --kernels` says kTensorArenaSize with it.\n".to_owned()
        }
    };
    text
}

/// How to get a smaller arena, or to know whether the plan in the file may be used.
fn next(model: &ModelArena) -> String {
    let given = pasted(&model.given);
    let verify = format!(
        "`dmo-trace verify {given}` runs it on the reference kernels, and with `--kernels FILE` on the library that \
         your firmware links"
    );
    let steps = match model.plan {
        None if model.is_file => {
            format!("`dmo-trace plan {given} --out planned.tflite` plans a smaller arena")
        }
        None => format!("`dmo-trace plan {given}` plans a smaller arena"),
        Some(CarriedPlan::SafeWithAnyKernels) => return String::new(),
        Some(CarriedPlan::SafeWithReferenceKernels) => verify,
        Some(CarriedPlan::UnsafeWithReferenceKernels) => {
            format!("{verify}; `dmo-trace audit {given}` shows what overlaps too far")
        }
    };
    format!("Next: {steps}.\n")
}

/// A row for each part of the arena.
fn parts(arenas: &[WholeArena]) -> String {
    let header = ["bytes".to_owned()].into_iter();
    let header = header.chain(arenas.iter().map(|it| kernels(it.kernels).to_owned()));
    let row = |name: &str, value: &dyn Fn(&WholeArena) -> u64| {
        let values = arenas.iter().map(|arena| grouped(value(arena)));
        let row = [name.to_owned()].into_iter().chain(values);
        row.collect::<Vec<String>>()
    };
    let mut rows = vec![row("head: activations and scratch buffers", &|it| {
        it.head_bytes
    })];
    for part in Part::ALL {
        let bytes = |arena: &WholeArena| {
            let found = arena.components.iter().find(|it| it.part == part);
            found.map_or(0, |it| it.bytes)
        };
        if arenas.iter().any(|arena| bytes(arena) > 0) {
            rows.push(row(&format!("tail: {}", part.name()), &bytes));
        }
    }
    rows.push(row("in use (arena_used_bytes)", &|it| it.used_bytes));
    rows.push(row("needed (kTensorArenaSize)", &|it| it.needed_bytes));
    table(header, 1..=arenas.len(), rows)
}

/// Where more is needed than is used.
fn peak(arena: &WholeArena) -> String {
    let (when, temporary_bytes) = match arena.peak {
        Peak::Running => return String::new(),
        Peak::Planning { temporary_bytes } => {
            ("the runtime plans their places".to_owned(), temporary_bytes)
        }
        Peak::Preparing {
            index,
            temporary_bytes,
        } => {
            let kind = arena.operators.get(index).map(|it| it.kind.escape_debug());
            let kind = kind.map_or(String::new(), |kind| kind.to_string());
            (
                format!("it prepares operator {index} {kind}"),
                temporary_bytes,
            )
        }
    };
    format!(
        "With {}, AllocateTensors needs more than an inference does: {} bytes where tensors lie later, while {when}.\n",
        kernels(arena.kernels),
        grouped(temporary_bytes)
    )
}

/// Operators that are named, where many are not known.
const MOST_NAMED: usize = 4;

fn not_counted(unknown: &[UnknownOperator]) -> String {
    let named = unknown.iter().take(MOST_NAMED).map(unknown_operator);
    let mut text: String = named.collect();
    if let Some(further @ 1..) = unknown.len().checked_sub(MOST_NAMED) {
        let further = counted(
            further as u64,
            "further operator is",
            "further operators are",
        );
        text += &format!("{further} not counted either (--json names them).\n");
    }
    text
}

fn unknown_operator(unknown: &UnknownOperator) -> String {
    format!(
        "Not counted: operator {} of subgraph {}, {}, {}.\n",
        unknown.operator.0,
        unknown.subgraph,
        unknown.kind.escape_debug(),
        unknown.reason.words()
    )
}

/// A row for each operator.
fn operators(arenas: &[WholeArena]) -> String {
    let Some(first) = arenas.first() else {
        return String::new();
    };
    let mut header = vec!["operator".to_owned()];
    for arena in arenas {
        header.push(format!("tail, {}", kernels(arena.kernels)));
        header.push("scratch".to_owned());
    }
    let rows = first.operators.iter().enumerate().map(|(index, it)| {
        let mut row = vec![format!("{index} {}", it.kind.escape_debug())];
        for arena in arenas {
            let it = arena.operators.get(index);
            row.push(grouped(it.map_or(0, |it| it.tail_bytes)));
            let scratch = it.map_or(0, |it| it.scratch_bytes.iter().sum());
            row.push(grouped(scratch));
        }
        row
    });
    let count = counted(first.operators.len() as u64, "operator", "operators");
    let columns = header.len();
    format!(
        "{count}, bytes in the tail (options, data, persistent buffers) and of scratch buffers in the head:\n\n{}",
        table(header, 1..columns, rows)
    )
}
