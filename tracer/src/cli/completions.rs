//! `dmo-trace completions`: what a shell completes of this command line.

use super::{Verdict, output};
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(clap::Args)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let mut script = Vec::new();
    let mut command = super::Arguments::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    let script = String::from_utf8(script).context("the completions are not UTF-8")?;
    // clap_complete up to 4.6.11 sets one name for bash, and looks for another, where the program's
    // has a hyphen: nothing after a command would be completed.
    let script = script.replace("dmo__subcmd__trace__", "dmo__trace__");
    output::print(&script)?;
    Ok(Verdict::Holds)
}
