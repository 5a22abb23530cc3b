//! What the three witnesses say of a plan, in words and as JSON.

pub(super) mod differences;
mod inputs;
mod located;
mod notes;
mod sarif;

use crate::mcu::cycles::Cycles;
use crate::measure::attribution::Attribution;
use crate::model::Deployment;
use crate::model::verify::{Difference, MeasuredPair, Verification, VerifiedLayer};
use crate::study::kernel_request::REFERENCE;
use crate::study::verify::{PlanOrigin, Verified};
use crate::words::integer_io;
use crate::words::pruning::PruneSummary;
use crate::words::regions::{self, UsedRegion};
use crate::words::report::Report;
use crate::words::whole_arena::verified_size;
use crate::words::{cycles, names};
use differences::first_differences;
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::handover::FurtherKernels;
use dmo_analysis::tflm::WholeArena;
use dmo_analysis::transform::integer_io::IntegerIoReport;
use dmo_analysis::verify::{Clash, Occupant};
use dmo_analysis::wording::{counted, first_lines, grouped};
use inputs::EveryInput;
use located::{Annotation, LocatedFinding};
use notes::{doubts, notes};
use schemars::JsonSchema;
use serde::Serialize;

/// What the three witnesses say of a plan.
#[derive(Default, JsonSchema, Serialize)]
pub struct VerifyReport {
    model: String,
    kernels: String,
    /// Where the plan comes from.
    plan_origin: PlanOrigin,
    cpu: Option<&'static str>,
    code_sha256: Option<String>,
    /// On how many inputs the model was run; 0 where the plan cannot be run at all.
    inputs: u64,
    /// Which code computes the operators that are not of `kernels`.
    further_kernels: Vec<FurtherKernels>,
    /// All operators were executed, and nobody objects.
    safe: bool,
    /// `safe`, `no_objection` where operators were not executed, `unsafe`.
    verdict: Verdict,
    not_executed: Vec<NotExecuted>,
    /// The same in words, the first few.
    #[serde(skip)]
    remainder: Vec<String>,
    arena_bytes: u64,
    /// The memories of a plan of several, which follow each other in that arena; empty of one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<UsedRegion>,
    instructions: Option<u64>,
    cycles: Option<Cycles>,
    /// What is wrong with the plan whatever the kernels do.
    faults: Vec<String>,
    geometric: Option<Geometric>,
    replay: Option<Replayed>,
    execution: Option<Executed>,
    /// Whether that holds on every input; `None` where it was not asked for.
    every_input: Option<EveryInput>,
    layers: Vec<Layer>,
    /// Which ends of the model are integers and were floats; `None` if they stay as they are.
    pub integer_io: Option<IntegerIoReport>,
    /// What pruning did to the model next; `None` if nothing was to be done.
    pub pruning: Option<PruneSummary>,
    /// What else the reader should know, a sentence each without its full stop.
    pub notes: Vec<String>,
    /// The whole arena of TensorFlow Lite Micro with these kernels, for the model with the plan that it
    /// carries; empty where another plan was verified.
    pub whole_arenas: Vec<WholeArena>,
    /// What to do where the plan is unsafe, a sentence without its full stop.
    #[serde(skip)]
    pub next: Option<String>,
    /// The first few objections of geometry, replay and execution, in words.
    objections: [Vec<String>; 3],
    /// What the replay cannot say of operators, in words.
    #[serde(skip)]
    doubts: Vec<String>,
    /// What the replay found, with the instructions.
    #[serde(skip)]
    annotations: Vec<Annotation>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Safe,
    NoObjection,
    #[default]
    Unsafe,
}

/// An operator that no kernel can be called for.
#[derive(JsonSchema, Serialize)]
struct NotExecuted {
    operator: OperatorId,
    kind: String,
    /// Why.
    reason: String,
}

/// What a witness says of a plan.
pub struct Testimony {
    /// It does not object.
    pub safe: bool,
    /// The first few objections, in words.
    pub objections: Vec<String>,
}

#[derive(JsonSchema, Serialize)]
struct Geometric {
    safe: bool,
    clashes: Vec<Clash>,
}

#[derive(JsonSchema, Serialize)]
struct Replayed {
    safe: bool,
    /// Loads and stores.
    accesses: u64,
    findings: Vec<LocatedFinding>,
    /// Bytes that are wrong and not among the findings.
    further_bytes: u64,
}

#[derive(JsonSchema, Serialize)]
struct Executed {
    safe: bool,
    differences: Vec<Difference>,
}

#[derive(JsonSchema, Serialize)]
struct Layer {
    operator: OperatorId,
    kind: String,
    function: &'static str,
    #[serde(flatten)]
    work: Attribution,
    instructions: u64,
    cycles: Option<Cycles>,
    scratch_bytes: u32,
    scratch_used_bytes: Option<u32>,
    stack_bytes: Option<u32>,
    repeats: bool,
    misaligned: Option<String>,
    pairs: Vec<MeasuredPair>,
}

impl VerifyReport {
    /// Of a plan of `model`, verified on `kernels`.
    pub fn new(model: &str, kernels: &str, verified: &Verified) -> Self {
        let deployment = verified.deployed.model();
        let graph = &deployment.graph;
        let faults = verified.faults.iter();
        let not_executed = deployment.not_executed();
        let not_executed: Vec<(OperatorId, String)> = not_executed
            .map(|(operator, reason)| (operator, reason.to_string()))
            .collect();
        let unrun = Self {
            further_kernels: verified.kernels.further.clone(),
            plan_origin: verified.plan_origin,
            verdict: match (verified.has_objections(), verified.is_safe()) {
                (true, _) => Verdict::Unsafe,
                (false, false) => Verdict::NoObjection,
                (false, true) => Verdict::Safe,
            },
            remainder: names::not_executed(graph, &not_executed),
            not_executed: not_executed
                .into_iter()
                .map(|(operator, reason)| NotExecuted {
                    operator,
                    kind: graph.operators[operator.0].kind.escape_debug().to_string(),
                    reason,
                })
                .collect(),
            model: model.to_owned(),
            kernels: kernels.to_owned(),
            safe: verified.is_safe(),
            arena_bytes: verified.plan.arena_bytes,
            regions: regions::used(&verified.plan.regions),
            faults: faults
                .map(|fault| names::fault(graph, fault, &verified.plan.regions))
                .collect(),
            ..Self::default()
        };
        match &verified.verification {
            Some(found) => unrun.with(verified, found),
            None => unrun,
        }
    }

    /// What was found when the plan was run.
    fn with(self, verified: &Verified, found: &Verification) -> Self {
        let deployment = verified.deployed.model();
        let findings = located::locate(deployment, found);
        let graph = &deployment.graph;
        let doubts = doubts(found);
        let annotations = located::first_of_each(&findings, graph);
        let clashes = found.clashes.iter();
        let clashes = clashes.map(|clash| {
            let operator = clash.operator;
            let is_known = graph.operators[operator.0].kernel.is_some();
            let why = match deployment.step(operator).kernel {
                Err(_) if is_known => names::NOT_GRANTED.to_owned(),
                _ => refused(&found.layers, clash),
            };
            names::clash(graph, clash, &verified.plan.regions) + &why
        });
        let objections = [
            some_of(clashes.collect()),
            some_of([doubts.clone(), texts(&annotations)].concat()),
            first_differences(deployment, &found.differences),
        ];
        Self {
            cpu: Some(deployment.sources[0].library.cpu().name),
            code_sha256: Some(verified.kernels.code_sha256.clone()),
            inputs: verified.inputs,
            instructions: Some(found.instructions),
            cycles: found.cycles,
            geometric: Some(Geometric {
                safe: found.clashes.is_empty(),
                clashes: found.clashes.clone(),
            }),
            replay: Some(Replayed {
                safe: found.layers.iter().all(VerifiedLayer::is_clean),
                accesses: found.layers.iter().map(|layer| layer.replayed).sum(),
                findings,
                further_bytes: found.layers.iter().map(|layer| layer.further_bytes).sum(),
            }),
            execution: Some(Executed {
                safe: found.differences.is_empty(),
                differences: found.differences.clone(),
            }),
            every_input: verified
                .follows_data
                .then(|| EveryInput::new(graph, found, self.not_executed.len())),
            layers: found
                .layers
                .iter()
                .map(|known| layer(deployment, known))
                .collect(),
            notes: [
                self.notes_of_kernels(graph, verified.subgraphs),
                notes(deployment, verified, found),
            ]
            .concat(),
            objections,
            doubts,
            annotations,
            ..self
        }
    }

    /// What the user should know of operators that other kernels compute, or none.
    fn notes_of_kernels(&self, graph: &Graph, subgraphs: usize) -> Vec<String> {
        let mut notes = Vec::new();
        for further in &self.further_kernels {
            notes.push(names::computed_by(graph, further));
        }
        if !self.not_executed.is_empty() {
            notes.push(format!(
                "{}; the operators after it run on arbitrary values",
                names::NOT_EXECUTED
            ));
        }
        if subgraphs > 1 {
            notes.push(format!(
                "all {subgraphs} subgraphs were run: each branch of an IF, and condition and body of \
                 a WHILE, once on each input"
            ));
        }
        notes
    }

    /// What geometry, replay and execution say, the first of the plan itself too; `None` for what
    /// was not asked because the plan cannot be run.
    pub fn testimonies(&self) -> [Option<Testimony>; 3] {
        let [geometry, replay, execution] = self.objections.clone();
        let testimony = |safe, objections| Testimony { safe, objections };
        let keeps_apart = self.geometric.as_ref().is_some_and(|found| found.safe);
        [
            Some(testimony(
                keeps_apart && self.faults.is_empty(),
                [self.faults.clone(), geometry].concat(),
            )),
            self.replay
                .as_ref()
                .map(|found| testimony(found.safe, replay)),
            self.execution
                .as_ref()
                .map(|found| testimony(found.safe, execution)),
        ]
    }

    /// What geometry, replay and execution have found, a sentence each; `None` where the plan cannot
    /// be run.
    pub fn statements(&self) -> Option<[String; 3]> {
        let (Some(geometric), Some(replay), Some(execution)) =
            (&self.geometric, &self.replay, &self.execution)
        else {
            return None;
        };
        let objected =
            |count: usize, one, more| format!("UNSAFE: {}", counted(count as u64, one, more));
        let inputs = counted(self.inputs, "input", "inputs");
        let geometry = if geometric.safe {
            "safe: all that is in use at the same time keeps the measured distances".to_owned()
        } else {
            objected(geometric.clashes.len(), "clash", "clashes")
        };
        let replayed = if self.layers.is_empty() {
            "nothing was executed".to_owned()
        } else if replay.safe {
            format!(
                "safe: {} loads and stores on {}, each load finds what its own tensor holds",
                grouped(replay.accesses),
                counted(self.inputs, "input", "inputs")
            )
        } else {
            objected(self.objections[1].len(), "objection", "objections")
        };
        let executed = match (execution.safe, geometric.safe && replay.safe) {
            (true, true) if self.layers.is_empty() => "nothing was executed".to_owned(),
            (true, true) => {
                let which = match self.not_executed.len() {
                    0 => "every operator".to_owned(),
                    _ => format!("each of the {} operators executed", self.layers.len()),
                };
                format!("safe: on {inputs} {which} stores what it stores without overlaps")
            }
            (true, false) => format!(
                "no difference on {inputs}: what was overwritten happened to be equal, or not to \
                 matter"
            ),
            (false, _) => objected(execution.differences.len(), "difference", "differences"),
        };
        Some([geometry, replayed, executed])
    }

    fn witnesses(&self) -> Vec<String> {
        let Some([geometry, replayed, executed]) = self.statements() else {
            return Vec::new();
        };
        let mut lines = vec![
            format!("geometry   {geometry}"),
            format!("replay     {replayed}"),
            format!("execution  {executed}"),
        ];
        if let Some(every) = &self.every_input {
            lines.push(format!("inputs     {}", every.statement(self.inputs)));
            lines.extend(every.lines().iter().map(|line| format!("  {line}")));
        }
        lines.extend(
            self.objections
                .iter()
                .flatten()
                .map(|words| format!("\n{words}")),
        );
        lines
    }
}

impl Report for VerifyReport {
    const SCHEMA: &'static str = "dmo-trace/verify/1";

    fn text(&self) -> String {
        let mut text = format!("{} with {}", self.model, self.kernels);
        if let (Some(cpu), Some(instructions)) = (self.cpu, self.instructions) {
            text += &format!(
                " on {cpu}: {} operators, {} instructions an inference",
                self.layers.len() + self.not_executed.len(),
                grouped(instructions)
            );
            if let Some(cycles) = &self.cycles {
                text += &format!(", {}", cycles::sentence(cycles));
            }
        }
        text += &match &self.regions[..] {
            [] => format!(
                "\nArena: {} bytes{}\n",
                grouped(self.arena_bytes),
                self.origin()
            ),
            regions => format!("\n{}", regions::lines(regions)),
        };
        let deepest = self.layers.iter().max_by_key(|layer| layer.stack_bytes);
        if let Some((layer, bytes)) = deepest.and_then(|it| Some((it, it.stack_bytes?))) {
            text += &format!(
                "Deepest stack: {} bytes, operator {} {}\n",
                grouped(bytes.into()),
                layer.operator.0,
                layer.function
            );
        }
        text += "\n";
        if let Some(ends) = &self.integer_io {
            text += &format!("{}\n\n", integer_io::sentence(ends));
        }
        if let Some(pruning) = &self.pruning {
            text += &format!("{}\n\n", pruning.sentence());
        }
        for fault in &self.faults {
            text += &format!("plan       UNSAFE: {fault}\n");
        }
        for line in self.witnesses() {
            text += &format!("{line}\n");
        }
        for line in &self.remainder {
            text += &format!("Not executed: {line}\n");
        }
        let pruned = self.pruning.as_ref();
        if pruned.is_some_and(|it| it.channels_removed > 0) && self.computes_the_same() {
            let inputs = counted(self.inputs, "input", "inputs");
            text += &format!("On {inputs} the outputs are those of the model as it was given.\n");
        }
        for note in &self.notes {
            text += &format!("Note: {note}.\n");
        }
        let is_usable = self.verdict != Verdict::Unsafe;
        for arena in self.whole_arenas.iter().filter(|_| is_usable) {
            let size = verified_size(arena);
            text += &format!("\nTensorFlow Lite Micro: kTensorArenaSize {size}\n");
        }
        text += &self.last_line();
        if let Some(next) = &self.next {
            text += &format!("Next: {next}.\n");
        }
        text
    }
}

impl VerifyReport {
    /// A witness objects, or the plan is none.
    pub fn is_unsafe(&self) -> bool {
        self.verdict == Verdict::Unsafe
    }

    /// Shown for every input, not only on those that were tried.
    pub fn holds_on_every_input(&self) -> bool {
        self.every_input.as_ref().is_some_and(EveryInput::holds)
    }

    /// The operators of which it is not known whether what was shown holds on every input, a line each.
    pub fn data_decisions(&self) -> Vec<String> {
        self.every_input
            .as_ref()
            .map_or(Vec::new(), EveryInput::lines)
    }

    /// Execution found no difference, neither from the model as it was given.
    fn computes_the_same(&self) -> bool {
        self.execution.as_ref().is_some_and(|found| found.safe)
    }

    /// Which plan it is, where none was named.
    fn origin(&self) -> &'static str {
        match self.plan_origin {
            PlanOrigin::Given => "",
            PlanOrigin::Carried => ", by the plan that the model carries",
            PlanOrigin::Made => {
                ", by the plan that `dmo-trace plan` makes for the reference kernels: the model carries none"
            }
        }
    }

    /// How many operators no kernel can be called for.
    pub fn not_executed(&self) -> usize {
        self.not_executed.len()
    }

    /// These operators, and why, a line each; of many the first few.
    pub fn remainder(&self) -> &[String] {
        &self.remainder
    }

    /// Whether the plan is safe, in a sentence.
    pub fn conclusion(&self) -> String {
        self.last_line().trim().to_owned()
    }

    fn last_line(&self) -> String {
        let operators = self.layers.len() + self.not_executed.len();
        let mut further = self.further_kernels.iter();
        let reference = further.find(|kernels| kernels.name == REFERENCE);
        let with = match reference {
            None => "with these kernels".to_owned(),
            Some(reference) => format!(
                "with these kernels, and the built-in reference kernels for {} of {operators} \
                 operators",
                reference.operators.len()
            ),
        };
        match self.verdict {
            Verdict::Safe if self.holds_on_every_input() => {
                format!("\nSAFE {with}, on every input\n")
            }
            Verdict::Safe => format!("\nSAFE {with}\n"),
            Verdict::NoObjection if self.not_executed.len() == operators => {
                "\nNO OBJECTION: no operator was executed, and nothing overlaps\n".to_owned()
            }
            Verdict::NoObjection => format!(
                "\nNO OBJECTION: {} of {operators} operators were not executed, and nothing overlaps \
                 there; all others are safe {with}\n",
                self.not_executed.len(),
            ),
            Verdict::Unsafe => "\nUNSAFE\n".to_owned(),
        }
    }
}

/// At most this many objections of each witness are in words; JSON has all.
const MOST_LINES: usize = 5;

/// Why no overlap is granted to two tensors that clash; empty if one is.
fn refused(layers: &[VerifiedLayer], clash: &Clash) -> String {
    let of_operator = |layer: &&VerifiedLayer| layer.operator == clash.operator;
    let is_it = |pair: &&MeasuredPair| {
        let (input, output) = (Occupant::Tensor(pair.input), Occupant::Tensor(pair.output));
        [clash.one, clash.other] == [input, output] || [clash.other, clash.one] == [input, output]
    };
    let mut pairs = layers.iter().filter(of_operator).flat_map(|it| &it.pairs);
    let refusals = pairs.find(is_it).map_or(&[][..], |pair| &pair.refusals);
    if refusals.is_empty() {
        return String::new();
    }
    let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    format!("; no overlap is granted: {}", reasons.join("; "))
}

/// The first few.
fn some_of(lines: Vec<String>) -> Vec<String> {
    let more = lines.len() > MOST_LINES;
    let mut lines = first_lines(lines, MOST_LINES);
    if let Some(last) = lines.last_mut().filter(|_| more) {
        *last += " (--json has all)";
    }
    lines
}

fn layer(deployment: &Deployment, layer: &VerifiedLayer) -> Layer {
    Layer {
        operator: layer.operator,
        kind: deployment.graph.operators[layer.operator.0]
            .kind
            .to_string(),
        function: layer.function,
        work: layer.work.clone(),
        instructions: layer.instructions,
        cycles: layer.cycles,
        scratch_bytes: deployment.step(layer.operator).scratch.total_bytes,
        scratch_used_bytes: layer.scratch_used_bytes,
        stack_bytes: layer.stack_bytes,
        repeats: layer.repeats,
        misaligned: layer.misaligned.clone(),
        pairs: layer.pairs.clone(),
    }
}

fn texts(annotations: &[Annotation]) -> Vec<String> {
    annotations.iter().map(|it| it.text.clone()).collect()
}
