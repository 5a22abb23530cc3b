//! The options of commands that have many, in sections of their `--help`.

use clap::Command;
use dmo_trace::study::case::CaseRequest;

/// A heading and the long names of the options below it.
type Section = (&'static str, &'static [&'static str]);

const KERNELS: Section = (
    "Kernels",
    &[
        "kernels",
        "cpu",
        "cmsis-nn-version",
        "function",
        "firmware",
        "arena",
        "inputs",
        "every-input",
        "overlap",
        "cache",
        "no-cache",
        "flash-wait",
        "flash-part",
        "engine",
    ],
);
const CHANGES: Section = (
    "Changes to the model",
    &["allow", "max-recompute", "integer-io", "slices", "stream"],
);
const ARENA: Section = (
    "What lies in the arena",
    &[
        "order",
        "align",
        "exclude-inputs",
        "exclude-outputs",
        "exclude-scratch",
        "keep-inputs",
        "fix",
    ],
);
const MEMORIES: Section = ("Several memories", &["region", "pin"]);
const LIMITS: Section = (
    "Limits",
    &[
        "capacity",
        "ram",
        "flash",
        "front",
        "time",
        "timeout",
        "max-instructions",
    ],
);
const WHAT: Section = ("What is verified", &["plan", "require-all"]);
const PROOF: Section = ("Proof of the compiled library", &["prove", "cc", "cflags"]);
const OUTPUT: Section = (
    "Output",
    &[
        "out",
        "name",
        "problem",
        "plot",
        "node-data",
        "report",
        "sarif",
        "source-root",
        "save",
        "perfetto",
        "compare",
        "run",
        "json",
        "color",
        "help",
    ],
);
const PROGRAM: Section = (
    "Program and device",
    &[
        "cpu",
        "ram",
        "flash",
        "device",
        "vectors",
        "flash-wait",
        "flash-part",
        "engine",
        "semihosting-dir",
        "self-check",
    ],
);
const LAYERS: Section = (
    "Layers and arena",
    &["layer", "layers", "model", "arena", "inputs", "every-input"],
);
const UNTIL: Section = (
    "How far it runs",
    &["stop-after", "max-instructions", "timeout"],
);
const OPERATOR: Section = ("Operator", &CaseRequest::OPTIONS);
const METHODS: Section = ("Methods", &["method", "formulas"]);

/// The sections of a command, in the order of its help.
const SECTIONS: [(&str, &[Section]); 6] = [
    ("plan", &[KERNELS, ARENA, CHANGES, MEMORIES, LIMITS, OUTPUT]),
    (
        "build",
        &[KERNELS, CHANGES, ARENA, LIMITS, MEMORIES, PROOF, OUTPUT],
    ),
    ("verify", &[WHAT, KERNELS, CHANGES, LIMITS, OUTPUT]),
    ("run", &[PROGRAM, LAYERS, UNTIL, OUTPUT]),
    ("overlap", &[OPERATOR, METHODS, KERNELS, LIMITS, OUTPUT]),
    ("savings", &[CHANGES, ARENA, KERNELS, LIMITS, OUTPUT]),
];

/// The command, already built, with the options of its commands in sections.
pub fn sectioned(command: Command) -> Command {
    SECTIONS.iter().fold(command, |command, (name, sections)| {
        command.mut_subcommand(name, |command| divided(command, sections))
    })
}

fn divided(command: Command, sections: &[Section]) -> Command {
    command.mut_args(|argument| {
        let long = argument.get_long().unwrap_or_default();
        let mut known = sections.iter();
        match known.find(|(_, options)| options.contains(&long)) {
            Some((heading, _)) => argument.help_heading(*heading),
            None => argument,
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::{SECTIONS, sectioned};
    use crate::cli::Arguments;
    use clap::{Arg, CommandFactory};

    #[test]
    fn every_option_lies_in_a_section_and_every_section_has_some() {
        let mut command = Arguments::command();
        command.build();
        let command = sectioned(command);
        for (name, sections) in SECTIONS {
            let command = command.find_subcommand(name).unwrap();
            let options = command.get_arguments().filter(|it| !it.is_positional());
            let options: Vec<&Arg> = options.filter(|it| !it.is_hide_set()).collect();
            assert!(options.len() > 10, "{name}");
            let outside = options
                .iter()
                .find(|option| option.get_help_heading().is_none());
            assert_eq!(outside.map(|option| option.get_id()), None, "{name}");
            for (heading, _) in sections {
                let inside = |option: &&&Arg| option.get_help_heading() == Some(heading);
                assert!(
                    options.iter().any(|option| inside(&option)),
                    "{name}: {heading}"
                );
            }
        }
    }
}
