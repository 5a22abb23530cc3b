//! Options that mean nothing for the file that is given are refused, not ignored.

use anyhow::ensure;
use clap::ArgMatches;
use clap::parser::ValueSource;
use dmo_trace::study::foreign::is_foreign;
use dmo_trace::study::problem::is_problem;
use std::path::Path;

/// What a command is given.
#[derive(Clone, Copy)]
enum Given {
    Model,
    /// A planning problem.
    Problem,
    /// The plan of another tool.
    Foreign,
}

impl Given {
    fn of(path: &Path) -> Self {
        if is_problem(path) {
            Self::Problem
        } else if is_foreign(path) {
            Self::Foreign
        } else {
            Self::Model
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Model => "a model",
            Self::Problem => "a planning problem, which has no operators",
            Self::Foreign => "the plan of another tool, whose kernels are not known",
        }
    }

    /// Whether the command can do something with this option.
    fn uses(self, command: &str, option: &str) -> bool {
        match (command, self) {
            ("plan", Self::Problem) => {
                ["time", "capacity", "out", "problem", "compare", "json"].contains(&option)
            }
            ("plan", Self::Foreign) => {
                ["time", "capacity", "out", "problem", "json"].contains(&option)
            }
            ("audit", Self::Problem) => ["capacity", "json"].contains(&option),
            ("audit", Self::Foreign) => ["capacity", "trust_tool", "json"].contains(&option),
            ("audit", Self::Model) => option != "trust_tool",
            _ => true,
        }
    }
}

/// Refuses an option of `plan` or `audit` that means nothing for the file that they are given.
///
/// # Errors
/// When there is one, by its name.
pub fn ensure(program: &clap::Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((name @ ("plan" | "audit"), matches)) = matches.subcommand() else {
        return Ok(());
    };
    let model = matches.try_get_raw("model").ok().flatten();
    let Some(model) = model.and_then(|mut values| values.next()) else {
        return Ok(());
    };
    let given = Given::of(model.as_ref());
    let command = program.find_subcommand(name);
    let options = command.into_iter().flat_map(clap::Command::get_arguments);
    for option in options.filter(|option| !option.is_global_set()) {
        let id = option.get_id().as_str();
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        if let Some(long) = option.get_long().filter(|_| is_given) {
            ensure!(
                given.uses(name, id),
                "--{long} means nothing for {}: it is {}\n  hint: leave the option out",
                model.display(),
                given.in_words()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::ensure;
    use crate::cli::Arguments;
    use clap::CommandFactory;

    fn refusal(line: &str) -> Option<String> {
        let command = Arguments::command();
        let arguments = ["dmo-trace"].into_iter().chain(line.split(' '));
        let matches = command.clone().try_get_matches_from(arguments).unwrap();
        ensure(&command, &matches)
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn what_means_nothing_is_refused_by_name() {
        let refused = [
            ("plan a.csv --overlap none", "--overlap"),
            ("plan a.csv --allow split", "--allow"),
            ("plan a.csv --order best", "--order"),
            ("plan a.CSV --kernels dsp", "--kernels"),
            ("plan a.csv --report r.html", "--report"),
            ("plan a.json --compare", "--compare"),
            ("plan a.json --align 4", "--align"),
            ("audit a.csv --plan p.json", "--plan"),
            ("audit a.csv --trust-tool", "--trust-tool"),
            ("audit a.json --overlap none", "--overlap"),
            ("audit a.tflite --trust-tool", "--trust-tool"),
        ];
        for (line, option) in refused {
            let said = refusal(line).unwrap_or_default();
            assert!(
                said.starts_with(&format!("{option} means nothing")),
                "{line}: {said}"
            );
        }
    }

    #[test]
    fn what_is_of_use_is_not() {
        let taken = [
            "plan a.csv --time 3 --capacity 4K --out b.csv --compare --json",
            "plan a.csv --engine interpreter --color never",
            "plan a.json --time 3 --capacity 4K --out b.json --problem c.csv --json",
            "plan a.tflite --overlap none --allow split --order best --report r.html",
            "audit a.json --trust-tool --capacity 4K --json",
            "audit a.tflite --plan p.json --overlap none",
            "verify a.tflite --plan p.json",
        ];
        for line in taken {
            assert_eq!(refusal(line), None, "{line}");
        }
    }
}
