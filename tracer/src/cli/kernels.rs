//! `dmo-trace kernels`: kernels as a C library, to be linked in place of CMSIS-NN.

use super::{Verdict, output};
use anyhow::anyhow;
use dmo_trace::codegen::drop_in;
use dmo_trace::mcu::cpu;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Folder to write the library to; an earlier library in it is replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// CPU that the firmware runs on: cores with and without the DSP extension get different kernels
    #[arg(long, default_value = "cortex-m4")]
    cpu: String,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let folder = arguments.out.file_name().unwrap_or("dmo-nn".as_ref());
    let cpu = cpu::known(&arguments.cpu)?;
    let files = drop_in::files(&folder.to_string_lossy(), &cpu)
        .map_err(|function| anyhow!("no source defines the kernel {function}"))?;
    let sources = files.iter().filter(|file| file.path.ends_with(".c"));
    let text = format!(
        "dmo-nn: {} C sources in place of CMSIS-NN's kernels; README.md in {} says how to link them\n",
        sources.count(),
        arguments.out.display()
    );
    let files = files.iter();
    let files = files.map(|file| (file.path.as_str(), file.text.as_bytes()));
    output::write_folder(&arguments.out, files)?;
    output::print(&text)?;
    Ok(Verdict::Holds)
}
