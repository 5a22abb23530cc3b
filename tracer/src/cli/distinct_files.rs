//! No result may replace what a command reads, or another result of it.

use anyhow::ensure;
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::path::{Path, PathBuf};

/// The arguments that name what is written.
const OUTPUTS: [&str; 9] = [
    "out",
    "report",
    "plot",
    "save",
    "sarif",
    "junit",
    "perfetto",
    "node_data",
    "problem",
];

/// A path on the command line.
struct Named {
    argument: String,
    path: PathBuf,
}

/// Refuses a command line that names one file for two results, or for a result and something that is
/// read.
///
/// # Errors
/// When it does.
pub fn ensure(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut command = matches;
    while let Some((_, below)) = command.subcommand() {
        command = below;
    }
    let (outputs, inputs): (Vec<Named>, Vec<Named>) = named(command)
        .into_iter()
        .partition(|it| OUTPUTS.contains(&&*it.argument));
    for (index, output) in outputs.iter().enumerate() {
        let read = inputs.iter().map(|input| &*input.path);
        ensure_kept(&output.argument, &output.path, read)?;
        let shown = output.path.display();
        let place = place(&output.path);
        let same = |other: &&Named| {
            other.path == output.path || place.is_some() && self::place(&other.path) == place
        };
        if let Some(other) = outputs[..index].iter().find(same) {
            anyhow::bail!(
                "--{} {} and --{} {shown}: cannot write two results to one file\n  hint: name another file",
                other.argument,
                other.path.display(),
                output.argument
            );
        }
    }
    Ok(())
}

/// Refuses a result, named by this option, in place of a file that is read.
///
/// # Errors
/// When it is one of them.
pub fn ensure_kept<'a>(
    option: &str,
    output: &Path,
    mut read: impl Iterator<Item = &'a Path>,
) -> anyhow::Result<()> {
    let place = place(output);
    ensure!(
        place.is_none() || read.all(|read| existing(read) != place),
        "--{option} {}: this file is read, and would be replaced\n  hint: name another one",
        output.display()
    );
    Ok(())
}

/// The values that the user gave.
fn named(command: &ArgMatches) -> Vec<Named> {
    let given =
        |id: &&clap::Id| command.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    let values = command.ids().filter(given).flat_map(|id| {
        // Groups of arguments have no values.
        let values = command.try_get_raw(id.as_str()).ok().flatten();
        let argument = id.as_str().to_owned();
        let values = values.into_iter().flatten();
        values.map(move |value| Named {
            argument: argument.clone(),
            path: PathBuf::from(value),
        })
    });
    values.collect()
}

/// Where a file lies that is there.
fn existing(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// Where a file lies, or will.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(place) = path.canonicalize() {
        return Some(place);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::{OUTPUTS, ensure};
    use crate::cli::Arguments;
    use clap::CommandFactory;

    fn refusal(arguments: &[&str]) -> Option<String> {
        let all = ["dmo-trace"].iter().chain(arguments);
        let matches = Arguments::command().try_get_matches_from(all).unwrap();
        ensure(&matches).err().map(|error| error.to_string())
    }

    #[test]
    fn no_result_replaces_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.tflite");
        std::fs::write(&model, "model").unwrap();
        let again = folder.path().join(".").join("m.tflite");
        let (model, again) = (model.to_str().unwrap(), again.to_str().unwrap());
        let refused = [
            vec!["stream", model, "--rows", "1", "--out", again],
            vec!["verify", model, "--sarif", model],
            vec!["verify", "x.tflite", "--plan", model, "--report", again],
            vec!["verify", "x.tflite", "--kernels", model, "--sarif", again],
            vec!["plan", "x.tflite", "--kernels", model, "--out", again],
            vec!["plan", "x.tflite", "--firmware", model, "--out", model],
        ];
        for arguments in refused {
            let said = refusal(&arguments).unwrap_or_default();
            assert!(said.contains("would be replaced"), "{arguments:?}: {said}");
        }
        assert_eq!(refusal(&["plan", model, "--out", "other.tflite"]), None);
    }

    #[test]
    fn two_results_are_two_files() {
        let here = std::env::current_dir().unwrap().join("a.json");
        let here = here.to_str().unwrap();
        for other in ["a.json", "./a.json", here] {
            let said = refusal(&["plan", "m.tflite", "--out", "a.json", "--report", other]);
            let said = said.unwrap_or_default();
            assert!(said.contains("two results"), "{other}: {said}");
        }
        let two = ["plan", "m.tflite", "--out", "a.json", "--out", "a.tflite"];
        assert_eq!(refusal(&two), None);
    }

    #[test]
    fn all_that_is_written_is_known() {
        // What begins so in the help of an option, and what does not, but reads.
        let writes = ["Write ", "Save ", "Folder to write", "Draw the "];
        let mut found = 0;
        for command in Arguments::command().get_subcommands() {
            for argument in command.get_arguments() {
                let help = argument
                    .get_help()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let is_path = argument.get_num_args().is_none_or(|it| it.takes_values());
                if is_path
                    && writes.iter().any(|it| help.starts_with(it))
                    && argument.get_action().takes_values()
                {
                    let id = argument.get_id().as_str();
                    let is_size = ["ram", "flash_limit"].contains(&id);
                    assert!(OUTPUTS.contains(&id) || is_size, "{id}: {help}");
                    found += 1;
                }
            }
        }
        assert!(found > 10, "{found}");
    }
}
