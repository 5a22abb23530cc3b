//! `dmo-trace`: shows and proves how far a layer's output may overwrite its input.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = cli::Arguments::read();
    cli::clean_up_on_signals();
    match arguments.run() {
        Ok(verdict) => verdict.into(),
        Err(error) => {
            cli::report(&error);
            ExitCode::from(2)
        }
    }
}
