//! `dmo-trace man`: the manual pages, one a command, of the same texts as `--help`.

use super::{Verdict, output};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Folder to write the pages to, for example ~/.local/share/man/man1
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    output::folder(&arguments.out)?;
    let mut command = super::Arguments::command().disable_help_subcommand(true);
    // Only then do commands know their full names, and the options that all have.
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &arguments.out, &mut pages)?;
    let files = pages.iter().map(|(path, page)| (Path::new(path), &**page));
    output::write_all(files)?;
    Ok(Verdict::Holds)
}

/// Path and text of the page of a command, and of all below it.
fn add_pages(
    command: &Command,
    folder: &Path,
    pages: &mut Vec<(PathBuf, Vec<u8>)>,
) -> anyhow::Result<()> {
    let page = Man::new(command.clone()).source(concat!("dmo-trace ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push((folder.join(page.get_filename()), text));
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    for sub in shown {
        add_pages(sub, folder, pages)?;
    }
    Ok(())
}
