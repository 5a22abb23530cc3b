//! The command line: one module a command. Each reads, calls the library, writes.

mod arena;
mod audit;
mod build;
mod check;
mod completions;
mod decode;
mod distinct_files;
mod dump;
mod examples;
mod explain;
mod forms;
mod groups;
mod info;
mod interruption;
mod kernels;
mod layers;
mod man;
mod mistakes;
mod operator;
mod options;
mod options_of_use;
mod output;
mod overlap;
mod pictures;
mod plan;
mod plot;
mod progress;
mod run;
mod saved_trace;
mod savings;
mod schema;
mod sections;
mod stream;
mod sweep;
mod terminal;
mod verify;
mod zoo;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use dmo_trace::mcu::machine::EngineKind;
use std::ffi::OsString;

/// Runs the command line `arguments`, the program's name first, and gives the exit code: 0 if what
/// was checked holds, 1 if it does not, 2 if it could not be checked. Where the arguments are wrong
/// or ask for help, the process ends here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let (arguments, sensible) = Arguments::read(arguments);
    interruption::clean_up_on_signals();
    match sensible.and_then(|()| arguments.run()) {
        Ok(verdict) => verdict.exit_code(),
        Err(error) => {
            output::message(&format!("dmo-trace: {error:#}"));
            2
        }
    }
}

/// Shrink the tensor arena of a neural network by overlapping buffers, and prove the layout safe on
/// the kernels' machine code
#[derive(Parser)]
#[command(name = "dmo-trace", version, after_help = examples::ALL)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// What executes the machine code: auto, translator, interpreter or unicorn
    #[arg(
        long,
        global = true,
        value_name = "ENGINE",
        default_value = "auto",
        hide_default_value = true
    )]
    engine: EngineKind,
    #[command(flatten)]
    colour: colorchoice_clap::Color,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program under the emulator and report the safe overlap of each layer
    #[command(after_help = examples::RUN)]
    Run(run::Arguments),
    /// Compute the safe overlap of one operator and shape, by five methods
    #[command(after_help = examples::OVERLAP)]
    Overlap(Box<overlap::Arguments>),
    /// Show what limits an overlap: the two instructions, their source, the loop variables
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::Arguments),
    /// Compute the safe overlaps of a grid of operators and shapes, as CSV or JSON Lines
    Sweep(sweep::Arguments),
    /// Plan the smallest arena of a model, with a proof
    #[command(after_help = examples::PLAN)]
    Plan(plan::Arguments),
    /// Compute kTensorArenaSize for stock TensorFlow Lite Micro: head, tail and temporary memory
    #[command(after_help = examples::ARENA)]
    Arena(arena::Arguments),
    /// Check an existing plan: embedded in a .tflite, a plan.json, or a MiniMalloc .csv
    #[command(after_help = examples::AUDIT)]
    Audit(audit::Arguments),
    /// Prove that a plan is safe with your kernels, by running their machine code in it
    #[command(after_help = examples::VERIFY)]
    Verify(verify::Arguments),
    /// Write a C library that computes a model in its planned arena, without an interpreter
    #[command(after_help = examples::BUILD)]
    Build(build::Arguments),
    /// Make a model over a window of time take only its newest rows, and check that it computes the same
    #[command(after_help = examples::STREAM)]
    Stream(stream::Arguments),
    /// Unpack the packed weights of a model (TFLM_DECODE), so that they lie in flash and not in the arena
    #[command(after_help = examples::DECODE)]
    Decode(decode::Arguments),
    /// Check in CI that no arena has grown and that every layout is safe
    Check(check::Arguments),
    /// List the built-in networks, or write one as a .tflite file
    #[command(after_help = examples::ZOO)]
    Zoo(zoo::Arguments),
    /// Compare ways of saving memory on your models: order, overlaps, in-place kernels, tiles
    #[command(after_help = examples::SAVINGS)]
    Savings(savings::Arguments),
    /// Compare kernel libraries on your models, operator by operator: cycles, scratch memory, O_s
    #[command(after_help = examples::LAYERS)]
    Layers(layers::Arguments),
    /// Moved to a program of its own
    #[command(hide = true, disable_help_flag = true)]
    Tables(Moved),
    /// Draw the pictures of a saved trace
    Plot(plot::Arguments),
    /// Print the events of a saved trace
    Dump(dump::Arguments),
    /// Report the safe overlaps of a saved trace
    #[command(after_help = examples::INFO)]
    Info(info::Arguments),
    /// Write kernels as a C library that is linked in place of CMSIS-NN
    #[command(after_help = examples::KERNELS)]
    Kernels(kernels::Arguments),
    /// Print the JSON Schemas of what the commands write as JSON
    #[command(after_help = examples::SCHEMA)]
    Schema(schema::Arguments),
    /// Print the completions of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::Arguments),
    /// Write the manual pages
    #[command(after_help = examples::MAN)]
    Man(man::Arguments),
}

/// Arguments of a command that has moved to another program.
#[derive(clap::Args)]
struct Moved {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _any: Vec<std::ffi::OsString>,
}

/// What a command found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// What was checked holds.
    Holds,
    /// It does not.
    Fails,
    /// Something could not be checked.
    Unknown,
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

impl Verdict {
    fn exit_code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Fails => 1,
            Self::Unknown => 2,
        }
    }
}

impl Arguments {
    /// Reads the command line. Where it is wrong, or asks for help, the process ends here.
    fn read(arguments: impl IntoIterator<Item = OsString>) -> (Self, anyhow::Result<()>) {
        let command = groups::grouped(Self::command());
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let matches = command.clone().try_get_matches_from(&arguments);
        let matches = matches.unwrap_or_else(|error| mistakes::explained(error, &arguments).exit());
        let sensible = options_of_use::ensure(&command, &matches);
        let sensible = sensible.and_then(|()| distinct_files::ensure(&matches));
        let read = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        (read, sensible)
    }

    /// Does what the user asks for.
    fn run(self) -> anyhow::Result<Verdict> {
        self.colour.write_global();
        self.engine.choose_for_process();
        match self.command {
            Command::Run(arguments) => run::run(&arguments),
            Command::Overlap(arguments) => overlap::run(&arguments),
            Command::Explain(arguments) => explain::run(&arguments),
            Command::Sweep(arguments) => sweep::run(&arguments),
            Command::Plan(arguments) => plan::run(&arguments),
            Command::Arena(arguments) => arena::run(&arguments),
            Command::Audit(arguments) => audit::run(&arguments),
            Command::Verify(arguments) => verify::run(&arguments),
            Command::Build(arguments) => build::run(&arguments),
            Command::Stream(arguments) => stream::run(&arguments),
            Command::Decode(arguments) => decode::run(&arguments),
            Command::Check(arguments) => check::run(&arguments),
            Command::Zoo(arguments) => zoo::run(&arguments),
            Command::Savings(arguments) => savings::run(&arguments),
            Command::Layers(arguments) => layers::run(&arguments),
            Command::Tables(_) => anyhow::bail!(
                "the papers' tables are printed by a program of their own\n  hint: in a clone of the repository, cargo run --release -p dmo-papers -- tables"
            ),
            Command::Plot(arguments) => plot::run(&arguments),
            Command::Dump(arguments) => dump::run(&arguments),
            Command::Info(arguments) => info::run(&arguments),
            Command::Kernels(arguments) => kernels::run(&arguments),
            Command::Schema(arguments) => schema::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments),
            Command::Man(arguments) => man::run(&arguments),
        }
    }
}
