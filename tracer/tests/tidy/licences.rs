//! Licences and sources of the dependencies, as `deny.toml` allows them: what cargo-deny checks, without building it.

use crate::{ROOT, assert_none};
use serde::Deserialize;
use spdx::{Expression, ParseMode};
use std::collections::BTreeSet;
use std::process::Command;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[derive(Deserialize)]
struct Rules {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

/// A package that only some may depend on.
#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    wrappers: Vec<String>,
}

/// What `cargo metadata` prints.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

/// What a package is built with.
#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Use>,
}

#[derive(Deserialize)]
struct Use {
    kind: Option<String>,
}

#[derive(Clone, Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Clone, Deserialize)]
struct Dependency {
    name: String,
}

fn rules() -> Rules {
    let text = std::fs::read_to_string(format!("{ROOT}/deny.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// All packages but those that only tests use, which nobody hands out.
fn packages() -> Vec<Package> {
    let printed = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked"])
        .arg("--all-features")
        .current_dir(ROOT)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&printed.stderr);
    assert!(printed.status.success(), "{said}");
    let metadata: Metadata = serde_json::from_slice(&printed.stdout).unwrap();
    let mut used = BTreeSet::new();
    let mut pending = metadata.workspace_members;
    while let Some(id) = pending.pop() {
        let node = metadata.resolve.nodes.iter().find(|node| node.id == id);
        let edges = node.unwrap().deps.iter().filter(|edge| {
            let mut kinds = edge.dep_kinds.iter();
            kinds.any(|used| used.kind.as_deref() != Some("dev"))
        });
        if used.insert(id) {
            pending.extend(edges.map(|edge| edge.pkg.clone()));
        }
    }
    let packages = metadata.packages.into_iter();
    packages.filter(|it| used.contains(&it.id)).collect()
}

/// The licence is one that is allowed to all, or to this package.
fn licence(package: &Package, rules: &Licences) -> Vec<String> {
    let name = &package.name;
    let Some(given) = &package.license else {
        return vec![format!("{name} names no licence")];
    };
    let Ok(expression) = Expression::parse_mode(given, ParseMode::LAX) else {
        return vec![format!("{name}: {given} is no licence expression")];
    };
    let own = rules.exceptions.iter().filter(|own| own.name == *name);
    let own = own.flat_map(|own| &own.allow);
    let allowed = rules.allow.iter().chain(own).collect::<Vec<_>>();
    if expression.evaluate(|licence| allowed.contains(&&licence.to_string())) {
        Vec::new()
    } else {
        vec![format!("{name}: {given} is not allowed")]
    }
}

/// It comes from the registry, or from here.
fn source(package: &Package) -> Vec<String> {
    let given = package.source.as_deref().unwrap_or(REGISTRY);
    if given == REGISTRY {
        Vec::new()
    } else {
        vec![format!("{} comes from {given}", package.name)]
    }
}

/// It depends on nothing that only others may depend on.
fn bans(package: &Package, rules: &Bans) -> Vec<String> {
    let name = &package.name;
    let dependencies = package.dependencies.iter();
    let banned = dependencies.filter(|dependency| {
        let mut bans = rules.deny.iter().filter(|ban| ban.name == dependency.name);
        bans.any(|ban| !ban.wrappers.contains(name))
    });
    banned
        .map(|dependency| format!("{name} may not depend on {}", dependency.name))
        .collect()
}

#[test]
fn dependencies_have_allowed_licences_and_sources() {
    let (rules, packages) = (rules(), packages());
    assert!(packages.len() > 200, "{} packages", packages.len());
    let complaints = packages.iter().flat_map(|package| {
        let licence = licence(package, &rules.licenses);
        [licence, source(package), bans(package, &rules.bans)].concat()
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn exceptions_are_used() {
    let (rules, packages) = (rules(), packages());
    let exceptions = rules.licenses.exceptions.iter();
    let names = exceptions.map(|exception| &exception.name);
    let names = names.chain(rules.bans.deny.iter().map(|ban| &ban.name));
    let unused = names.filter(|name| packages.iter().all(|package| package.name != **name));
    assert_none(&unused.cloned().collect::<Vec<_>>());
}

#[test]
fn made_up() {
    let rules = rules();
    let package = |name: &str, license: &str| Package {
        id: String::new(),
        name: name.into(),
        license: Some(license.into()),
        source: None,
        dependencies: Vec::new(),
    };
    let wrong = |name, license| licence(&package(name, license), &rules.licenses).len();
    assert_eq!(wrong("a", "MIT"), 0);
    assert_eq!(wrong("a", "MIT/Apache-2.0"), 0);
    assert_eq!(wrong("a", "Apache-2.0 OR MIT"), 0);
    assert_eq!(wrong("a", "Apache-2.0 WITH LLVM-exception"), 0);
    assert_eq!(wrong("a", "Apache-2.0"), 1);
    assert_eq!(wrong("a", "MIT AND Apache-2.0"), 1);
    assert_eq!(wrong("a", "GPL-2.0"), 1);
    assert_eq!(wrong("a", "what I like"), 1);
    assert_eq!(wrong("unicorn-engine", "GPL-2.0"), 0);
    let nothing_named = Package {
        license: None,
        ..package("a", "")
    };
    assert_eq!(licence(&nothing_named, &rules.licenses).len(), 1);

    let elsewhere = Package {
        source: Some("git+https://example.org/a".into()),
        ..package("a", "MIT")
    };
    assert_eq!(source(&elsewhere).len(), 1);
    assert_eq!(source(&package("a", "MIT")).len(), 0);

    let on_unicorn = |name: &str| Package {
        dependencies: vec![Dependency {
            name: "unicorn-engine".into(),
        }],
        ..package(name, "MIT")
    };
    assert_eq!(bans(&on_unicorn("dmo-analysis"), &rules.bans).len(), 1);
    assert_eq!(bans(&on_unicorn("dmo-trace"), &rules.bans).len(), 0);
}
