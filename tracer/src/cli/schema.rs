//! `dmo-trace schema`: the JSON Schemas of what the commands write as JSON.

use super::forms::{FORMS, Form};
use super::{Verdict, output};
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use dmo_trace::words::table;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Name of the form, for example plan; without it, all are listed
    #[arg(value_parser = PossibleValuesParser::new(FORMS.map(|form| form.name)), hide_possible_values = true)]
    name: Option<String>,
    /// Write all schemas into this folder, as NAME.json
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    out: Option<PathBuf>,
}

fn text(form: &Form) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(&(form.schema)());
    Ok(text.with_context(|| form.name)? + "\n")
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if let Some(folder) = &arguments.out {
        output::folder(folder)?;
        let file = |form: &Form| Ok((folder.join(format!("{}.json", form.name)), text(form)?));
        let files = FORMS.iter().map(file).collect::<anyhow::Result<Vec<_>>>()?;
        let files = files.iter();
        output::write_all(files.map(|(path, text)| (path.as_path(), text.as_bytes())))?;
        return Ok(Verdict::Holds);
    }
    let Some(name) = &arguments.name else {
        let rows = FORMS.map(|form| [form.name.to_owned(), form.of.to_owned()]);
        output::print(&(table(["name", "what has this form"], [], rows) + "\n"))?;
        return Ok(Verdict::Holds);
    };
    let form = FORMS.iter().find(|form| form.name == name);
    let form = form.with_context(|| format!("there is no form {name}"))?;
    output::print(&text(form)?)?;
    Ok(Verdict::Holds)
}
