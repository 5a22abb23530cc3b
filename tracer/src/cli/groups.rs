//! The list of commands in `dmo-trace --help`, in three groups: what one uses every day, what one
//! studies with, and what one needs once.

use super::sections::sectioned;
use clap::Command;

/// The commands of the first group, in the order in which the list has them.
const DAILY: [&str; 9] = [
    "plan", "build", "stream", "arena", "verify", "audit", "check", "run", "explain",
];

/// The commands of the last group; all others are between the two.
const ONCE: [&str; 5] = ["kernels", "completions", "man", "schema", "help"];

/// The command with a list of its commands in groups, which clap itself cannot make.
pub fn grouped(mut command: Command) -> Command {
    // Only then is `help` a command, and have commands all of their options.
    command.build();
    let command = sectioned(command);
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let all: Vec<&Command> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .collect();
    let width = all.iter().map(|sub| sub.get_name().len()).max();
    let width = width.unwrap_or_default();
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let mut add = |heading: &str, group: &[&Command]| {
        template += &format!("\n{header}{heading}:{header:#}\n");
        for sub in group {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            let name = sub.get_name();
            template += &format!("  {literal}{name:width$}{literal:#}  {about}\n");
        }
    };
    let named = |name: &&str| all.iter().copied().find(|sub| sub.get_name() == *name);
    let daily: Vec<&Command> = DAILY.iter().filter_map(named).collect();
    let once: Vec<&Command> = ONCE.iter().filter_map(named).collect();
    let is_other = |sub: &&Command| ![&DAILY[..], &ONCE].concat().contains(&sub.get_name());
    let others: Vec<&Command> = all.iter().copied().filter(is_other).collect();
    add("Daily commands", &daily);
    add("Research commands", &others);
    add("Set-up commands", &once);
    template += &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::{DAILY, ONCE, grouped};
    use crate::cli::Arguments;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_listed_once() {
        let help = grouped(Arguments::command()).render_help().to_string();
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
        // Clap adds `help` when it builds the command.
        let mut named = DAILY.iter().chain(&ONCE).filter(|name| **name != "help");
        assert!(named.all(|name| names.contains(name)), "{names:?}");
        assert!(names.len() > DAILY.len() + ONCE.len());
        for name in names {
            let start = format!("  {name} ");
            let lines = help.lines().filter(|line| line.starts_with(&start));
            assert_eq!(lines.count(), 1, "{name} in {help}");
        }
    }
}
