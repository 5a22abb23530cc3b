//! Which module may use which: floors, circles, commands, and the maps of the crates.

use crate::files::files;
use crate::{ROOT, assert_none};
use std::collections::{BTreeMap, BTreeSet};

/// The rooms of each crate: one may use those before it.
const FLOORS: [(&str, &[&str]); 4] = [
    (
        "tracer/src",
        &[
            "temporary",
            "elf",
            "mcu",
            "program",
            "explain",
            "call",
            "kernels",
            "measure",
            "model",
            "codegen",
            "study",
            "words",
            "page",
            "cli",
        ],
    ),
    (
        "analysis/src",
        &[
            "random",
            "wording",
            "trace",
            "profile",
            "operator",
            "graph",
            "schedule",
            "arena",
            "transform",
            "optimise",
            "oracle",
            "verify",
            "replay",
            "handover",
            "tflm",
            "firmware",
            "foreign",
            "report",
        ],
    ),
    (
        "engine/src",
        &[
            "features",
            "operation",
            "cycles",
            "core",
            "fault",
            "memory",
            "arithmetic",
            "float",
            "decode",
            "endless",
            "timing",
            "interpreter",
            "taint",
            "translator",
            "engine",
        ],
    ),
    (
        "analysis/planner/src",
        &[
            "wording",
            "problem",
            "budget",
            "plan",
            "minimalloc",
            "regions",
        ],
    ),
];
/// What is below the command line knows none of these.
const COMMAND_LINE: [&str; 3] = ["anyhow", "clap", "indicatif"];
/// The rooms between the command line and what it is about.
const PLAIN: [&str; 3] = ["study", "words", "page"];

/// A module by its path in the crate.
type Module = Vec<String>;

/// Module, and text without comments and unit tests, of each source below a folder.
fn modules(folder: &str) -> BTreeMap<Module, String> {
    let sources = files().into_iter().filter_map(|(path, bytes)| {
        let module = path.strip_prefix(folder)?.strip_prefix('/')?;
        let module = module.strip_suffix(".rs")?;
        let is_test = module.split('/').any(|part| part == "tests");
        if is_test {
            return None;
        }
        Some((module.to_owned(), String::from_utf8(bytes).unwrap()))
    });
    sources
        .map(|(path, text)| (path.split('/').map(str::to_owned).collect(), code(&text)))
        .collect()
}

fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that start at this place: one, or those of a group in braces. Gives what is left.
fn tree<'a>(mut text: &'a str, start: &[&'a str], found: &mut Vec<Vec<&'a str>>) -> &'a str {
    let mut path = start.to_vec();
    loop {
        text = text.trim_start();
        if let Some(mut rest) = text.strip_prefix('{') {
            loop {
                rest = tree(rest, &path, found).trim_start();
                let Some(next) = rest.strip_prefix(',') else {
                    return rest.strip_prefix('}').unwrap_or(rest);
                };
                rest = next;
            }
        }
        let end = text.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
        let (name, rest) = text.split_at(end.unwrap_or(text.len()));
        path.extend((!name.is_empty()).then_some(name));
        let Some(next) = rest.strip_prefix("::") else {
            found.push(path);
            let rest = rest.trim_start_matches('*');
            let renamed = rest.strip_prefix(" as ");
            return renamed.map_or(rest, |name| tree(name, &[], &mut Vec::new()));
        };
        text = next;
    }
}

/// All paths that start with one of these words.
fn paths<'a>(text: &'a str, roots: &[&str]) -> Vec<Vec<&'a str>> {
    let mut found = Vec::new();
    for root in roots {
        for (at, _) in text.match_indices(&format!("{root}::")) {
            let before = text[..at].chars().next_back();
            if !before.is_some_and(|char| char.is_ascii_alphanumeric() || "_:".contains(char)) {
                tree(&text[at..], &[], &mut found);
            }
        }
    }
    found
}

/// Which module uses which, in one crate.
fn arrows(modules: &BTreeMap<Module, String>) -> BTreeSet<(Module, Module)> {
    let mut arrows = BTreeSet::new();
    for (module, text) in modules {
        let place: &[String] = match module.as_slice() {
            [root] if root == "lib" || root == "main" => &[],
            place => place,
        };
        for path in paths(text, &["crate", "dmo_trace", "self", "super"]) {
            let ups = path.iter().take_while(|name| **name == "super").count();
            let base = match path[0] {
                "crate" | "dmo_trace" => 0,
                _ => place.len().saturating_sub(ups),
            };
            let names = path.iter().skip(ups.max(1)).map(|&name| name.to_owned());
            let mut target: Module = place[..base].iter().cloned().chain(names).collect();
            while !target.is_empty() && !modules.contains_key(&target) {
                target.pop();
            }
            arrows.insert((place.to_vec(), target));
        }
    }
    arrows
}

fn up(floors: &[&str], arrows: &BTreeSet<(Module, Module)>) -> Vec<String> {
    let floor = |module: &Module| {
        let room = module.first()?;
        floors.iter().position(|floor| floor == room)
    };
    let up = arrows
        .iter()
        .filter(|(from, to)| floor(from) < floor(to) && !from.is_empty());
    up.map(|(from, to)| format!("{} uses {}", from.join("/"), to.join("/")))
        .collect()
}

/// Modules of one folder that use each other, in however many steps.
fn circles(arrows: &BTreeSet<(Module, Module)>) -> Vec<String> {
    let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (from, to) in arrows {
        let common = from.iter().zip(to).take_while(|(one, other)| one == other);
        let depth = common.count() + 1;
        if depth <= from.len() && depth <= to.len() {
            let used = uses.entry(from[..depth].to_vec()).or_default();
            used.insert(to[..depth].to_vec());
        }
    }
    let is_circular = |start: &&Module| {
        let mut seen = BTreeSet::new();
        let mut pending = vec![*start];
        while let Some(module) = pending.pop() {
            let next = uses.get(module).into_iter().flatten();
            pending.extend(next.filter(|next| seen.insert(*next)));
        }
        seen.contains(start)
    };
    let circular = uses.keys().filter(is_circular);
    circular
        .map(|module| format!("{} is in a circle", module.join("/")))
        .collect()
}

/// `text` is that of `cli.rs`, which has the arguments of each command.
fn commands(text: &str, arrows: &BTreeSet<(Module, Module)>) -> Vec<String> {
    let parts: Vec<&str> = text.split("::Arguments").collect();
    let names = parts.iter().rev().skip(1);
    let names = names.filter_map(|part| part.rsplit(|char: char| !char.is_alphanumeric()).next());
    let commands: BTreeSet<&str> = names.collect();
    let command = |module: &Module| {
        let name = module.get(1).filter(|_| module[0] == "cli")?;
        commands.get(name.as_str()).copied()
    };
    let wrong = arrows.iter().filter(|(from, to)| {
        command(from).is_some() && command(to).is_some() && command(from) != command(to)
    });
    wrong
        .map(|(from, to)| format!("{} uses the command {}", from.join("/"), to.join("/")))
        .collect()
}

/// The rooms that are to be plain name nothing of the command line.
fn plain(modules: &BTreeMap<Module, String>) -> Vec<String> {
    let of_rooms = modules
        .iter()
        .filter(|(module, _)| PLAIN.contains(&module[0].as_str()));
    let wrong = of_rooms.flat_map(|(module, text)| {
        let named = paths(text, &COMMAND_LINE).into_iter();
        named.map(|path| format!("{} names {}", module.join("/"), path[0]))
    });
    wrong.collect()
}

/// The table at the top of a crate has each public module, in the order of the floors.
fn map(floors: &[&str], text: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    let cells = rows.filter_map(|row| row.split(" |").next());
    let listed: Vec<&str> = cells
        .flat_map(|cell| cell.split("[`").skip(1))
        .filter_map(|name| name.split('`').next())
        .collect();
    let public = |name: &&&str| text.contains(&format!("\npub mod {name};"));
    let expected: Vec<&str> = floors.iter().filter(public).copied().collect();
    let without_floor = text.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ")?.strip_suffix(';')?;
        (!floors.contains(&name)).then(|| format!("{name} has no floor"))
    });
    let differs = (listed != expected).then(|| format!("the map is not {expected:?}"));
    without_floor.chain(differs).collect()
}

/// A manifest of the analysis names neither the tracer nor what only a command line needs.
fn manifest(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("analysis/") || !path.ends_with("Cargo.toml") {
        return Vec::new();
    }
    let forbidden = ["dmo-trace", "unicorn", "clap", "anyhow", "indicatif"];
    let names = text
        .lines()
        .filter(|line| forbidden.iter().any(|name| line.starts_with(name)));
    names.map(|line| format!("{path}: {line}")).collect()
}

#[test]
fn nothing_uses_what_is_above_it() {
    for (folder, floors) in FLOORS {
        assert_none(&up(floors, &arrows(&modules(folder))));
    }
}

#[test]
fn there_are_no_circles() {
    for folder in [
        "tracer/src",
        "analysis/src",
        "analysis/planner/src",
        "analysis/plot/src",
    ] {
        assert_none(&circles(&arrows(&modules(folder))));
    }
}

#[test]
fn no_command_uses_another() {
    let modules = modules("tracer/src");
    assert_none(&commands(
        &modules[&vec!["cli".to_owned()]],
        &arrows(&modules),
    ));
    assert_none(&plain(&modules));
}

#[test]
fn maps_have_all_modules() {
    for (folder, floors) in FLOORS {
        let text = std::fs::read_to_string(format!("{ROOT}/{folder}/lib.rs")).unwrap();
        assert_none(&map(floors, &text));
    }
}

#[test]
fn the_analysis_depends_on_no_command_line() {
    let complaints = files().into_iter().flat_map(|(path, bytes)| {
        let text = String::from_utf8(bytes);
        text.map_or(Vec::new(), |text| manifest(&path, &text))
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

mod made_up {
    use super::*;

    fn crate_of(sources: &[(&str, &str)]) -> BTreeMap<Module, String> {
        let module = |path: &str| path.split('/').map(str::to_owned).collect();
        let sources = sources.iter();
        sources
            .map(|(path, text)| (module(path), code(text)))
            .collect()
    }

    #[test]
    fn imports() {
        let text = "use crate::{a::{self, b as c}, d::*}; fn e() { super::f::<crate::g>(x) }";
        let found = paths(text, &["crate", "super"]);
        let found: Vec<String> = found.iter().map(|path| path.join("/")).collect();
        let expected = ["crate/a/self", "crate/a/b", "crate/d", "crate/g", "super/f"];
        assert_eq!(found, expected);
    }

    #[test]
    fn floors() {
        let sources = crate_of(&[
            ("lib", "pub mod elf; pub use crate::model::Model;"),
            ("elf/lines", "use crate::model::{self, x};"),
            (
                "elf",
                "// crate::model\n#[cfg(test)]\nmod tests { use crate::model; }",
            ),
            ("model", "use dmo_trace::elf;"),
        ]);
        let wrong = up(&["elf", "model"], &arrows(&sources));
        assert_eq!(wrong, ["elf/lines uses model"]);
    }

    #[test]
    fn circular() {
        let sources = crate_of(&[
            ("a", "mod b; mod c; use b::B;"),
            ("a/b", "use super::c::C; use super::A;"),
            ("a/c", "use crate::a::d::D;"),
            ("a/d", "use super::b;"),
            ("a/e", "use super::b;"),
        ]);
        let found = circles(&arrows(&sources));
        let expected = ["a/b", "a/c", "a/d"].map(|module| format!("{module} is in a circle"));
        assert_eq!(found, expected);
    }

    #[test]
    fn command_lines() {
        let cli = "enum Command { Run(run::Arguments), Plan(Box<plan::Arguments>) }";
        let sources = crate_of(&[
            ("cli", cli),
            ("cli/run", "use super::output; use super::plan::Arguments;"),
            ("cli/plan", "use super::output;"),
            ("cli/plan/emit", "use super::super::run;"),
            ("cli/output", ""),
            ("study/plan", "use anyhow::Context;"),
            ("words", "fn f() -> clap::Error {}"),
        ]);
        let found = commands(cli, &arrows(&sources));
        let expected = [
            "cli/plan/emit uses the command cli/run",
            "cli/run uses the command cli/plan",
        ];
        assert_eq!(found, expected);
        let expected = ["study/plan names anyhow", "words names clap"];
        assert_eq!(plain(&sources), expected);
    }

    #[test]
    fn incomplete_maps() {
        let text = "//! | [`b`], [`a`] | what |\npub mod a;\npub mod b;\npub mod c;\n";
        let text = format!("\n{text}");
        let expected = ["c has no floor", "the map is not [\"a\", \"b\"]"];
        assert_eq!(map(&["a", "b", "d"], &text), expected);
        assert!(map(&["b", "a", "c"], &text.replace("`a`]", "`a`], [`c`]")).is_empty());
    }

    #[test]
    fn manifests() {
        let text = "[dependencies]\nclap.workspace = true\nserde = \"1\"\n";
        assert_eq!(manifest("analysis/plot/Cargo.toml", text).len(), 1);
        assert!(manifest("tracer/Cargo.toml", text).is_empty());
    }
}
