//! `dmo-trace`: shows and proves how far a layer's output may overwrite its input.

use std::process::ExitCode;

fn main() -> ExitCode {
    dmo_trace::cli::main(std::env::args_os()).into()
}
