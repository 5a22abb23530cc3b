//! `dmo-trace zoo`: networks built in code, listed or written as model files.

use super::{Verdict, examples, output};
use anyhow::Context;
use dmo_analysis::graph::tflite;
use dmo_analysis::graph::zoo::{Element, Figures, NETWORKS};
use dmo_analysis::wording::grouped;
use dmo_trace::study;
use dmo_trace::words::names::pasted;
use dmo_trace::words::table;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List all networks (the default)
    #[command(after_help = examples::ZOO_LIST)]
    List,
    /// Write a network as a .tflite file with random weights
    #[command(after_help = examples::ZOO_EXPORT)]
    Export {
        /// Name of the network, optionally followed by :int8 or :float32 (the default)
        network: String,
        /// Model file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Seed of the random weights
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
    },
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        None | Some(Command::List) => output::text(list())?,
        Some(Command::Export { network, out, seed }) => {
            let (found, element) = study::source::network(network)?;
            let model = tflite::export(&found.build(element), *seed)
                .with_context(|| format!("cannot export {network}"))?;
            output::write(out, &model)?;
            output::print(&format!(
                "{}: {network} with random weights, {} bytes\n\
                 Next: `dmo-trace plan {} --out planned.tflite` plans the smallest arena for it.\n",
                out.display(),
                grouped(model.len() as u64),
                pasted(&out.to_string_lossy())
            ))?;
        }
    }
    Ok(Verdict::Holds)
}

fn list() -> String {
    let header = [
        "network",
        "operators",
        "parameters",
        "largest step, bytes of float32",
        "what it is",
    ];
    let rows = NETWORKS.iter().map(|network| {
        let figures = Figures::of(&network.build(Element::Float32));
        [
            network.name.to_owned(),
            figures.operators.to_string(),
            grouped(figures.parameters),
            grouped(figures.lower_bound_bytes),
            network.description.to_owned(),
        ]
    });
    table(header, 1..4, rows) + "\n"
}
