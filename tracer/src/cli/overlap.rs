//! `dmo-trace overlap`: O_s of an operator on a shape, by formula, by its loops, from its
//! machine code, and by execution.

use super::options::kernels::{FunctionArgument, LibraryArguments};
use super::options::numbers::Seconds;
use super::vendor::VendorContract;
use super::{Verdict, operator, output, progress};
use anyhow::{Context, ensure};
use clap::ValueEnum;
use dmo_trace::kernels::{Case, Contract, KernelLibrary};
use dmo_trace::mcu::cycles::Cycles;
use dmo_trace::mcu::machine::Limits;
use dmo_trace::measure::attribution::Attribution;
use dmo_trace::measure::{Measurement, choose, measure_with_cycles};
use dmo_trace::study::compare::{Compared, INPUTS, LIMITS, Pair, compare};
use dmo_trace::words::cycles;
use dmo_trace::words::report::Report;
use dmo_trace::words::table;
use serde::Serialize;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    operator: operator::OperatorArguments,
    #[command(flatten)]
    library: LibraryArguments,
    #[command(flatten)]
    function: FunctionArgument,
    /// Which method gives the answer on the first line; exit code 1 if it is larger than what is
    /// safe [default: traced, or closed with --formulas]
    #[arg(long)]
    method: Option<Method>,
    /// Evaluate the formulas only, without running machine code
    #[arg(long, conflicts_with_all = ["function", "kernels", "cpu", "cmsis_nn_version"])]
    formulas: bool,
    /// Number of different inputs to run each kernel on
    #[arg(long, value_name = "N", default_value_t = INPUTS, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    /// Give up if the operator's loops, or one run of the kernel, take more than this
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(LIMITS.timeout))]
    timeout: Seconds,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Where the answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum Method {
    /// The exact closed form
    Closed,
    /// The reference kernel's loops, step by step
    Algorithmic,
    /// The published formula, which is not safe on every shape
    Published,
    /// A trace of the kernel's machine code
    Traced,
}

#[derive(Serialize)]
struct OverlapReport {
    operator: dmo_analysis::operator::Operator,
    kernel: Option<&'static str>,
    /// The kernels that it chose, and who loaded and stored the buffers.
    #[serde(flatten)]
    work: Option<Attribution>,
    vendor_contract: Option<VendorContract>,
    instructions: Option<u64>,
    cycles: Option<Cycles>,
    data_dependent: Option<bool>,
    method: Method,
    answers: Vec<Answer>,
    pairs: Vec<Pair>,
    disagreements: Vec<String>,
    notes: Vec<String>,
}

/// O_s of a pair by the method asked for.
#[derive(Debug, Clone, Copy, Serialize)]
struct Answer {
    bytes: u32,
    /// What is safe for the kernel, or by its loops where none was run.
    safe_bytes: u32,
    is_unsafe: bool,
    /// Both buffers may start at the same byte; null where no kernel was run.
    in_place: Option<bool>,
    /// What they share there: all of the smaller one.
    #[serde(skip)]
    most: u32,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let method = match (arguments.method, arguments.formulas) {
        (Some(method), _) => method,
        (None, false) => Method::Traced,
        (None, true) => Method::Closed,
    };
    ensure!(
        !(arguments.formulas && method == Method::Traced),
        "--method traced runs machine code, which --formulas leaves out"
    );
    let case = arguments.operator.case()?;
    let progress = progress::spinner("{spinner} {prefix}: {msg}, {elapsed}", "overlap");
    progress.set_message("the kernel runs");
    // First, for it refuses buffers that are too large.
    let (measured, note) = if arguments.formulas {
        (None, None)
    } else {
        let (measured, note) = measured(arguments, &case)?;
        (Some(measured), note)
    };
    progress.set_message("the operator's loops run");
    let compared = compare(&case.operator, measured.as_ref(), arguments.timeout.0)?;
    progress.finish_and_clear();
    let mut report = report(case, method, compared, measured.as_ref())?;
    report.notes.extend(note);
    output::report(&report, arguments.json)?;
    let holds =
        report.disagreements.is_empty() && report.answers.iter().all(|answer| !answer.is_unsafe);
    Ok(holds.into())
}

/// What was measured, and what is to be said of the version of the library.
fn measured(arguments: &Arguments, case: &Case) -> anyhow::Result<(Measurement, Option<String>)> {
    let library = arguments.library.load()?.library;
    let kernel = choose(&library, case, arguments.function.function.as_deref());
    let measured = kernel.and_then(|kernel| {
        let limits = Limits {
            timeout: arguments.timeout.0,
            ..LIMITS
        };
        let measured = measure_with_cycles(&library, case, kernel, arguments.inputs, limits)?;
        Ok((measured, uncertain_version(&library, kernel)))
    });
    measured.with_context(|| arguments.library.kernels.clone())
}

/// That the library may be of several versions, which all call the kernel like this.
fn uncertain_version(library: &KernelLibrary, kernel: &Contract) -> Option<String> {
    let [first, last] = library.versions().bounds();
    (kernel.is_of_cmsis_nn() && first != last).then(|| {
        format!(
            "the library may be of CMSIS-NN {first} to {last}: {} is called alike in all of them",
            kernel.function
        )
    })
}

fn report(
    case: Case,
    method: Method,
    compared: Vec<Compared>,
    measured: Option<&Measurement>,
) -> anyhow::Result<OverlapReport> {
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
        method,
        answers,
        pairs,
        disagreements,
        notes,
    })
}

/// `most`: bytes of the smaller buffer.
fn answer(pair: &Pair, method: Method, most: u32) -> anyhow::Result<Answer> {
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
            let published = pair
                .published_bytes
                .context("no formula is published for this operator\n  hint: --method closed")?;
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
            text += &format!("{}: {instructions} instructions", work.chain(kernel));
            if let Some(cycles) = &self.cycles {
                text += &format!(", {}", cycles::sentence(cycles, |it| it.to_string()));
            }
            text.push('\n');
            if work.worked.iter().any(|worker| worker.function != kernel) {
                text += &format!("loads and stores: {}\n", work.shares());
            }
        }
        if let Some(contract) = &self.vendor_contract {
            text += &contract.text();
        }
        text += &format!("\n{}\n", pair_table(&self.pairs));
        for line in self.disagreements.iter().chain(&self.notes) {
            text += &format!("\n{line}\n");
        }
        text
    }
}

fn answers(report: &OverlapReport) -> String {
    let method = report
        .method
        .to_possible_value()
        .map_or(String::new(), |value| value.get_name().to_owned());
    let line = |(pair, answer): (&Pair, &Answer)| {
        let place = match report.pairs.len() {
            1 => String::new(),
            _ => format!(" for input {}, output {}", pair.input + 1, pair.output + 1),
        };
        let unsafe_ = if answer.is_unsafe {
            format!(" UNSAFE: {} bytes are safe", answer.safe_bytes)
        } else {
            String::new()
        };
        let in_place = match answer.in_place {
            // Where greater displacements are safe too, O_s says it.
            Some(true) if answer.safe_bytes < answer.most => format!(
                "in place (displacement 0): safe{place}, all {} bytes of the smaller buffer\n",
                answer.most
            ),
            _ => String::new(),
        };
        format!(
            "O_s = {} bytes{place} ({method}){unsafe_}\n{in_place}",
            answer.bytes
        )
    };
    report.pairs.iter().zip(&report.answers).map(line).collect()
}

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
            Some(bytes) if pair.published_is_unsafe => format!("{bytes:.1} UNSAFE"),
            Some(bytes) => format!("{bytes:.1}"),
            None => "-".to_owned(),
        };
        [
            (pair.input + 1).to_string(),
            (pair.output + 1).to_string(),
            published,
            pair.closed_bytes.to_string(),
            pair.algorithmic_bytes.to_string(),
            pair.traced_bytes
                .map_or("-".to_owned(), |bytes| bytes.to_string()),
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
