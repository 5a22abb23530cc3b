//! O_s of an operator on a shape, by all methods.

mod vendor;

pub use vendor::VendorContract;

use super::cycles;
use super::independence;
use super::report::Report;
use super::table;
use crate::kernels::Case;
use crate::mcu::cycles::Cycles;
use crate::measure::Measurement;
use crate::measure::attribution::Attribution;
use crate::program::data_decision::DataDecision;
use crate::study::compare::{Compared, Pair};
use dmo_analysis::operator::{Operator, ShapeError};
use dmo_analysis::wording::{bytes, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The exact closed form.
    Closed,
    /// The reference kernel's loops, step by step.
    Algorithmic,
    /// The published formula, which is not safe on every shape.
    Published,
    /// A trace of the kernel's machine code.
    #[default]
    Traced,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Closed,
        Self::Algorithmic,
        Self::Published,
        Self::Traced,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Algorithmic => "algorithmic",
            Self::Published => "published",
            Self::Traced => "traced",
        }
    }
}

/// Why a method has no answer.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MethodError {
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("no formula is published for this operator\n  hint: --method closed")]
    Unpublished,
}

/// O_s of an operator on a shape, by all methods.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OverlapReport {
    /// The operator and its shapes.
    pub operator: Operator,
    /// The function that was run; `None` where none was, as of what else is of a run.
    pub kernel: Option<&'static str>,
    /// The kernels that it chose, and who loaded and stored the buffers.
    #[serde(flatten)]
    pub work: Option<Attribution>,
    /// What the vendor says of the function, if its header was read.
    pub vendor_contract: Option<VendorContract>,
    /// Executed instructions.
    pub instructions: Option<u64>,
    /// Estimated cycles.
    pub cycles: Option<Cycles>,
    /// Whether the accesses depend on the data.
    pub data_dependent: Option<bool>,
    /// Which conditional loads and stores are made depends on the data, and O_s holds whichever they are.
    pub every_outcome: bool,
    /// Where data decide what is accessed, beside that: empty if nowhere, whatever the inputs are; `None`
    /// if it is not known.
    pub data_decisions: Option<Vec<DataDecision>>,
    /// Where the answers come from.
    pub method: Method,
    /// O_s of each pair.
    pub answers: Vec<Answer>,
    /// What each method says of each pair.
    pub pairs: Vec<Pair>,
    /// What is wrong.
    pub disagreements: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// O_s of a pair by the method asked for.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize)]
pub struct Answer {
    /// O_s.
    pub bytes: u32,
    /// What is safe for the kernel, or by its loops where none was run.
    pub safe_bytes: u32,
    /// More than what is safe.
    pub is_unsafe: bool,
    /// Both buffers may start at the same byte; null where no kernel was run.
    pub in_place: Option<bool>,
    /// What they share there: all of the smaller one.
    #[serde(skip)]
    most: u32,
}

/// Said of a kernel with conditional stores.
const EVERY_OUTCOME: &str =
    "which conditional loads and stores are made depends on the data: O_s holds whichever they are";

impl OverlapReport {
    /// The report of what was compared.
    ///
    /// # Errors
    /// When the method is one that says nothing of the operator.
    pub fn new(
        case: Case,
        method: Method,
        compared: Vec<Compared>,
        measured: Option<&Measurement>,
    ) -> Result<Self, MethodError> {
        let buffers = case.operator.buffers()?;
        let (mut disagreements, mut notes) = (Vec::new(), Vec::new());
        let (mut answers, mut pairs) = (Vec::new(), Vec::new());
        for compared in compared {
            let pair = compared.pair;
            let place = format!("input {}, output {}", pair.input + 1, pair.output + 1);
            let placed = |text: String| format!("{place}: {text}");
            disagreements.extend(compared.findings.into_iter().map(placed));
            notes.extend(compared.notes.into_iter().map(placed));
            let sizes = [&buffers.inputs[pair.input], &buffers.outputs[pair.output]];
            let most = sizes[0].size_bytes().min(sizes[1].size_bytes());
            answers.push(Answer {
                in_place: compared.in_place,
                ..answer(&pair, method, most)?
            });
            pairs.push(pair);
        }
        let every_outcome = measured.is_some_and(|measured| measured.every_outcome);
        if every_outcome {
            notes.push(EVERY_OUTCOME.to_owned());
        }
        Ok(OverlapReport {
            operator: case.operator,
            kernel: measured.map(|measured| measured.function),
            work: measured.map(|measured| measured.work.clone()),
            vendor_contract: measured.and_then(|measured| {
                let safe = answers.iter().map(|answer: &Answer| answer.safe_bytes);
                VendorContract::of(measured.function, safe.collect())
            }),
            instructions: measured.map(|measured| measured.layer.instructions()),
            cycles: measured.and_then(|measured| measured.cycles),
            data_dependent: measured.and_then(|measured| measured.layer.data_dependent),
            every_outcome,
            data_decisions: measured.and_then(|measured| measured.decisions.clone()),
            method,
            answers,
            pairs,
            disagreements,
            notes,
        })
    }

    /// Whether nothing disagrees, and no answer is more than what is safe.
    pub fn holds(&self) -> bool {
        let mut answers = self.answers.iter();
        self.disagreements.is_empty() && answers.all(|answer| !answer.is_unsafe)
    }
}

/// `most`: bytes of the smaller buffer.
fn answer(pair: &Pair, method: Method, most: u32) -> Result<Answer, MethodError> {
    let safe_bytes = match pair.equal_at_overlap {
        // The trace is refuted by execution: nothing is safe.
        Some(false) => 0,
        _ => pair.traced_bytes.unwrap_or(pair.algorithmic_bytes),
    };
    let bytes = match method {
        Method::Closed => pair.closed_bytes,
        Method::Algorithmic => pair.algorithmic_bytes,
        Method::Traced => safe_bytes,
        Method::Published => {
            let published = pair.published_bytes.ok_or(MethodError::Unpublished)?;
            // Rounded down, at least 0.
            (published as u32).min(most)
        }
    };
    Ok(Answer {
        bytes,
        safe_bytes,
        is_unsafe: bytes > safe_bytes || method == Method::Published && pair.published_is_unsafe,
        in_place: None,
        most,
    })
}

impl Report for OverlapReport {
    const SCHEMA: &'static str = "dmo-trace/overlap/1";

    fn text(&self) -> String {
        let mut text = answers(self);
        if let (Some(kernel), Some(work), Some(instructions)) =
            (self.kernel, &self.work, self.instructions)
        {
            text += &format!(
                "{}: {} instructions",
                work.chain(kernel),
                grouped(instructions)
            );
            if let Some(cycles) = &self.cycles {
                text += &format!(", {}", cycles::sentence(cycles));
            }
            text.push('\n');
            if work.worked.iter().any(|worker| worker.function != kernel) {
                text += &format!("loads and stores: {}\n", work.shares());
            }
        }
        if let Some(decisions) = &self.data_decisions
            // A kernel whose accesses differ for another reason, such as a variable of its own.
            && !(decisions.is_empty() && self.data_dependent == Some(true) && !self.every_outcome)
        {
            text += &format!(
                "{}\n",
                independence::sentence(decisions, self.every_outcome)
            );
            for line in independence::lines(decisions) {
                text += &format!("  {line}\n");
            }
        }
        if self.kernel.is_some() && self.data_decisions.is_none() {
            text += &format!("{}\n", independence::UNKNOWN);
        }
        if let Some(contract) = &self.vendor_contract {
            text += &contract.text();
        }
        text += &format!("\n{}\n\n{LEGEND}\n", pair_table(&self.pairs));
        for line in self.disagreements.iter().chain(&self.notes) {
            text += &format!("\n{line}\n");
        }
        let mut answers = self.answers.iter();
        if self.kernel.is_some() && answers.any(|answer| answer.safe_bytes < answer.most) {
            text += "\nNext: `dmo-trace explain overlap` with the same options shows which two instructions limit it.\n";
        }
        text
    }
}

fn answers(report: &OverlapReport) -> String {
    let method = report.method.name();
    let line = |(pair, answer): (&Pair, &Answer)| {
        let place = match report.pairs.len() {
            1 => String::new(),
            _ => format!(" for input {}, output {}", pair.input + 1, pair.output + 1),
        };
        let unsafe_ = if answer.is_unsafe {
            format!(
                " UNSAFE: {} bytes are safe",
                grouped(answer.safe_bytes.into())
            )
        } else {
            String::new()
        };
        let in_place = match answer.in_place {
            // Where greater displacements are safe too, O_s says it.
            Some(true) if answer.safe_bytes < answer.most => format!(
                "in place (displacement 0): safe{place}, all {} bytes of the smaller buffer\n",
                grouped(answer.most.into())
            ),
            _ => String::new(),
        };
        format!(
            "O_s = {}{place} ({method}){unsafe_}\n{in_place}",
            bytes(answer.bytes.into())
        )
    };
    report.pairs.iter().zip(&report.answers).map(line).collect()
}

/// A number with one decimal.
fn tenths(number: f64) -> String {
    let text = format!("{:.1}", number.abs());
    let (whole, decimal) = text.split_once('.').unwrap_or((&text, "0"));
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}.{decimal}", grouped(whole.parse().unwrap_or(0)))
}

/// What the columns of the table are.
const LEGEND: &str = "O_s in bytes: by the published formula, by ours, by the loops, and as measured. At O_s the \
                      output stays as it is; one element more changes it where O_s is the most.";

fn pair_table(pairs: &[Pair]) -> String {
    let header = [
        "input",
        "output",
        "published",
        "closed form",
        "algorithm",
        "machine code",
        "run at O_s",
        "one element more",
    ];
    let rows = pairs.iter().map(|pair| {
        let published = match pair.published_bytes {
            Some(bytes) if pair.published_is_unsafe => format!("{} UNSAFE", tenths(bytes)),
            Some(bytes) => tenths(bytes),
            None => "-".to_owned(),
        };
        [
            (pair.input + 1).to_string(),
            (pair.output + 1).to_string(),
            published,
            grouped(pair.closed_bytes.into()),
            grouped(pair.algorithmic_bytes.into()),
            pair.traced_bytes
                .map_or("-".to_owned(), |bytes| grouped(bytes.into())),
            match pair.equal_at_overlap {
                Some(true) => "same output",
                Some(false) => "OTHER OUTPUT",
                None => "-",
            }
            .to_owned(),
            match (pair.equal_at_overlap, pair.differs_beyond) {
                (None, _) => "-",
                (_, Some(true)) => "other output",
                (_, Some(false)) => "same output",
                (_, None) => "not possible",
            }
            .to_owned(),
        ]
    });
    table(header, 2..6, rows)
}
