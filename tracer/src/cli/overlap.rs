//! `dmo-trace overlap`: O_s of an operator on a shape, by formula, by its loops, from its
//! machine code, and by execution.

use super::options::kernels::{FunctionArgument, LibraryArguments};
use super::options::named::one_of;
use super::options::numbers::Seconds;
use super::{Verdict, operator, output, progress};
use anyhow::ensure;
use clap::builder::TypedValueParser;
use dmo_trace::kernels::Case;
use dmo_trace::mcu::machine::Limits;
use dmo_trace::measure::Measurement;
use dmo_trace::study::compare::{INPUTS, LIMITS, compare};
use dmo_trace::study::single::measure_case;
use dmo_trace::words::overlap::{Method, OverlapReport};

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
    #[arg(long, value_parser = methods())]
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
    let mut report = OverlapReport::new(case, method, compared, measured.as_ref())?;
    report.notes.extend(note);
    output::report(&report, arguments.json)?;
    Ok(report.holds().into())
}

/// What was measured, and what is to be said of the version of the library.
fn measured(arguments: &Arguments, case: &Case) -> anyhow::Result<(Measurement, Option<String>)> {
    let library = arguments.library.load()?;
    let function = arguments.function.function.as_deref();
    let limits = Limits {
        timeout: arguments.timeout.0,
        ..LIMITS
    };
    Ok(measure_case(
        &library,
        case,
        function,
        arguments.inputs,
        limits,
    )?)
}

/// Reads where the answer comes from.
fn methods() -> impl TypedValueParser<Value = Method> {
    let help = |method: Method| match method {
        Method::Closed => "The exact closed form",
        Method::Algorithmic => "The reference kernel's loops, step by step",
        Method::Published => "The published formula, which is not safe on every shape",
        Method::Traced => "A trace of the kernel's machine code",
    };
    one_of(Method::ALL, Method::name, help)
}
