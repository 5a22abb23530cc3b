//! Licences and sources of the packages.

use crate::{ROOT, assert_none};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What code in the binary may have: it goes with GPL-2.0-only. Apache-2.0 alone does not.
const IN_THE_BINARY: &[&str] = &[
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];
/// What code may have that only runs while building, next to the above.
const WHILE_BUILDING: &[&str] = &["Apache-2.0"];
/// GPL-2.0 is the old name of GPL-2.0-only.
const GPL: &[&str] = &["GPL-2.0-only", "GPL-2.0"];
const GPL_PACKAGES: &[&str] = &["dmo-trace", "unicorn-engine", "unicorn-engine-sys"];
/// What must not be below the analysis, not even for its tests.
const EMULATOR: &[&str] = &["dmo-trace", "unicorn-engine", "unicorn-engine-sys"];
/// What must not be below the analysis itself.
const COMMAND_LINE: &[&str] = &["clap"];
const DEFAULT_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Whether an SPDX expression can be met with the allowed licences. `/` is the old way to
/// write OR. What is no expression is not met.
fn satisfiable(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut tokens = spaced.split_whitespace().peekable();
    alternatives(&mut tokens, allowed) == Some(true) && tokens.next().is_none()
}

type Tokens<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn alternatives(tokens: &mut Tokens, allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut met = conjunction(tokens, allowed)?;
    while tokens.next_if_eq(&"OR").is_some() {
        met |= conjunction(tokens, allowed)?;
    }
    Some(met)
}

fn conjunction(tokens: &mut Tokens, allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut met = term(tokens, allowed)?;
    while tokens.next_if_eq(&"AND").is_some() {
        met &= term(tokens, allowed)?;
    }
    Some(met)
}

fn term(tokens: &mut Tokens, allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    match tokens.next()? {
        "(" => {
            let met = alternatives(tokens, allowed)?;
            tokens.next_if_eq(&")")?;
            Some(met)
        }
        "OR" | "AND" | "WITH" | ")" => None,
        licence if tokens.next_if_eq(&"WITH").is_some() => {
            Some(allowed(&format!("{licence} WITH {}", tokens.next()?)))
        }
        licence => Some(allowed(licence)),
    }
}

/// What `cargo metadata` says of this platform's packages; all are there once it compiled.
fn metadata() -> Value {
    let cargo = || {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.current_dir(ROOT);
        command
    };
    let output = cargo().arg("-vV").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", host])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// All packages by their id.
fn packages(metadata: &Value) -> BTreeMap<&str, &Value> {
    list(&metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), package))
        .collect()
}

/// The ids of a package and of what it depends on by the kinds of dependency: `None` is a
/// normal one.
fn below<'a>(metadata: &'a Value, name: &str, kinds: &[Option<&str>]) -> BTreeSet<&'a str> {
    let root = list(&metadata["packages"])
        .iter()
        .find(|package| package["name"] == name)
        .unwrap_or_else(|| panic!("no package {name}"));
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| (text(&node["id"]), node))
        .collect();
    let mut found = BTreeSet::new();
    let mut pending = vec![text(&root["id"])];
    while let Some(id) = pending.pop() {
        if !found.insert(id) {
            continue;
        }
        let wanted = |dependency: &&Value| {
            list(&dependency["dep_kinds"])
                .iter()
                .any(|kind| kinds.contains(&kind["kind"].as_str()))
        };
        let dependencies = list(&nodes[id]["deps"]).iter().filter(wanted);
        pending.extend(dependencies.map(|dependency| text(&dependency["pkg"])));
    }
    found
}

/// Procedural macros count as part of the binary: what they write is.
fn licences(metadata: &Value) -> Vec<String> {
    let in_the_binary = below(metadata, "dmo-trace", &[None]);
    let packages = packages(metadata);
    below(metadata, "dmo-trace", &[None, Some("build")])
        .into_iter()
        .filter_map(|id| {
            let name = text(&packages[id]["name"]);
            let licence = packages[id]["license"].as_str().unwrap_or("no licence");
            let allowed = |licence: &str| {
                IN_THE_BINARY.contains(&licence)
                    || WHILE_BUILDING.contains(&licence) && !in_the_binary.contains(id)
                    || GPL.contains(&licence) && GPL_PACKAGES.contains(&name)
            };
            (!satisfiable(licence, &allowed)).then(|| format!("{name}: {licence}"))
        })
        .collect()
}

fn below_analysis(metadata: &Value) -> Vec<String> {
    let packages = packages(metadata);
    let built = below(metadata, "dmo-analysis", &[None, Some("build")]);
    let tested = below(
        metadata,
        "dmo-analysis",
        &[None, Some("build"), Some("dev")],
    );
    tested
        .into_iter()
        .map(|id| (id, text(&packages[id]["name"])))
        .filter(|(id, name)| {
            EMULATOR.contains(name) || COMMAND_LINE.contains(name) && built.contains(id)
        })
        .map(|(_, name)| format!("dmo-analysis depends on {name}"))
        .collect()
}

/// Only members of the workspace may come from a path.
fn sources(metadata: &Value) -> Vec<String> {
    packages(metadata)
        .into_iter()
        .filter(|(id, package)| match package["source"].as_str() {
            Some(source) => source != DEFAULT_REGISTRY,
            None => !list(&metadata["workspace_members"]).contains(&Value::from(*id)),
        })
        .map(|(id, _)| id.to_owned())
        .collect()
}

#[test]
fn dependencies_may_be_used_as_they_are() {
    let metadata = metadata();
    assert_none(&licences(&metadata));
    assert_none(&below_analysis(&metadata));
    assert_none(&sources(&metadata));
}

/// The same list of licences for those who use cargo-deny.
#[test]
fn cargo_deny_allows_the_same() {
    let deny = std::fs::read_to_string(format!("{ROOT}/deny.toml")).unwrap();
    let quoted = IN_THE_BINARY.iter().map(|licence| format!("\"{licence}\""));
    let allow = format!("\nallow = [{}]\n", quoted.collect::<Vec<_>>().join(", "));
    assert!(deny.contains(&allow), "deny.toml lacks {allow}");
}

mod made_up {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions() {
        let met =
            |expression| satisfiable(expression, &|licence| ["MIT", "Zlib"].contains(&licence));
        for expression in [
            "MIT",
            "Apache-2.0/MIT",
            "Apache-2.0 OR MIT",
            "MIT AND Zlib",
            "(Apache-2.0 OR MIT) AND Zlib",
            "Apache-2.0 AND GPL-3.0-only OR MIT",
            "Apache-2.0 WITH LLVM-exception OR (MIT)",
        ] {
            assert!(met(expression), "{expression}");
        }
        for expression in [
            "",
            "Apache-2.0",
            "MIT AND Apache-2.0",
            "Zlib AND (Apache-2.0 OR GPL-2.0-only)",
            "MIT AND Apache-2.0/GPL-2.0-only",
            "MIT WITH LLVM-exception",
            "MIT Zlib",
            "(MIT",
            "MIT)",
            "MIT OR",
            "OR MIT",
            "MIT WITH",
            "MIT-0",
        ] {
            assert!(!met(expression), "{expression}");
        }
    }

    /// Name, licence, and the dependencies with their kinds.
    type Package<'a> = (&'a str, Option<&'a str>, &'a [(&'a str, Option<&'a str>)]);

    fn graph(packages: &[Package]) -> Value {
        let nodes = packages.iter().map(|(name, _, dependencies)| {
            let deps = dependencies.iter().map(|(dependency, kind)| {
                json!({ "pkg": dependency, "dep_kinds": [{ "kind": kind, "target": null }] })
            });
            json!({ "id": name, "deps": deps.collect::<Vec<_>>() })
        });
        let listed = packages.iter().map(|(name, licence, _)| {
            let own = name.starts_with("dmo-");
            let source = if own { None } else { Some(DEFAULT_REGISTRY) };
            json!({ "id": name, "name": name, "license": licence, "source": source })
        });
        json!({
            "packages": listed.collect::<Vec<_>>(),
            "resolve": { "nodes": nodes.collect::<Vec<_>>() },
            "workspace_members": ["dmo-trace", "dmo-analysis"],
        })
    }

    #[test]
    fn licences_of_dependencies() {
        let graph = graph(&[
            (
                "dmo-trace",
                Some("GPL-2.0-only"),
                &[
                    ("a", None),
                    ("unicorn-engine", None),
                    ("tool", Some("build")),
                    ("d", Some("dev")),
                ],
            ),
            ("unicorn-engine", Some("GPL-2.0"), &[]),
            (
                "a",
                Some("MIT"),
                &[("b", None), ("c", None), ("both", None)],
            ),
            ("b", Some("Apache-2.0"), &[]),
            ("c", None, &[]),
            ("d", Some("GPL-3.0-only"), &[]),
            ("tool", Some("Apache-2.0"), &[("both", None), ("e", None)]),
            ("both", Some("Apache-2.0"), &[]),
            ("e", Some("GPL-2.0-only"), &[]),
        ]);
        let complaints = [
            "b: Apache-2.0",
            "both: Apache-2.0",
            "c: no licence",
            "e: GPL-2.0-only",
        ];
        assert_eq!(licences(&graph), complaints);
        assert!(sources(&graph).is_empty());
    }

    #[test]
    fn packages_below_analysis() {
        let dependencies = [("a", Some("dev")), ("clap", Some("dev"))];
        let mut graph = graph(&[
            ("dmo-analysis", Some("MIT"), &dependencies),
            ("a", Some("MIT"), &[("unicorn-engine", None)]),
            ("unicorn-engine", Some("GPL-2.0"), &[]),
            ("clap", Some("MIT"), &[]),
        ]);
        let complaint = "dmo-analysis depends on unicorn-engine";
        assert_eq!(below_analysis(&graph), [complaint]);
        let command_line = json!({ "pkg": "clap", "dep_kinds": [{ "kind": null }] });
        graph["resolve"]["nodes"][0]["deps"] = json!([command_line]);
        assert_eq!(below_analysis(&graph), ["dmo-analysis depends on clap"]);
        graph["packages"][1]["source"] = json!("git+https://example.org/a");
        graph["packages"][2]["source"] = Value::Null;
        assert_eq!(sources(&graph), ["a", "unicorn-engine"]);
    }
}
