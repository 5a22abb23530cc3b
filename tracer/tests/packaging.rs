//! What is handed out holds together: crates, archives, the action, the container.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const TARGET: &str = "x86_64-unknown-linux-musl";

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).expect(path)
}

fn manifest(path: &str) -> toml::Table {
    read(path).parse().expect(path)
}

/// The manifests of the workspace's crates that are published.
fn published() -> Vec<(String, toml::Table)> {
    let workspace = manifest("Cargo.toml");
    let members = workspace["workspace"]["members"]
        .as_array()
        .expect("members");
    let paths = members
        .iter()
        .map(|member| format!("{}/Cargo.toml", member.as_str().expect("a path")));
    let manifests = paths.map(|path| (path.clone(), manifest(&path)));
    manifests
        .filter(|(_, manifest)| manifest["package"].get("publish").is_none())
        .collect()
}

#[test]
fn the_kernels_crate_has_each_file_that_it_is_built_from() {
    let output = Command::new(env!("CARGO"))
        .current_dir(ROOT)
        .args(["package", "--list", "--package", "dmo-kernels"])
        .args(["--allow-dirty", "--offline"])
        .output()
        .unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let packed: BTreeSet<&str> = list.lines().collect();
    let sources = dmo_kernels::SOURCES
        .iter()
        .map(|(path, _)| (*path).to_owned());
    let images = dmo_kernels::IMAGES.iter();
    let images = images.map(|it| format!("images/{}/kernels-{}.elf", it.cpu, it.set));
    let needed: Vec<String> = sources.chain(images).collect();
    assert!(needed.len() > 100, "{}", needed.len());
    for path in needed {
        assert!(packed.contains(&*path), "{path}");
    }
}

#[test]
fn published_crates_say_what_a_registry_wants_to_know() {
    let published = published();
    assert!(published.len() >= 6, "{published:?}");
    let shared = &manifest("Cargo.toml")["workspace"]["dependencies"];
    for (path, manifest) in &published {
        let package = &manifest["package"];
        for key in ["description", "license", "repository", "readme"] {
            assert!(package.get(key).is_some(), "{path}: no {key}");
        }
        let folder = Path::new(ROOT).join(path);
        let readme = package["readme"].as_str().expect("a path");
        assert!(folder.with_file_name(readme).is_file(), "{path}: {readme}");
        for (key, most) in [("keywords", 5), ("categories", 5)] {
            let words = package[key].as_array().expect("a list");
            assert!((1..=most).contains(&words.len()), "{path}: {key}");
            for word in words.iter().filter_map(toml::Value::as_str) {
                assert!(word.len() <= 20 || key == "categories", "{path}: {word}");
            }
        }
        for (name, dependency) in manifest.get("dependencies").into_iter().flat_map(table) {
            let dependency = match dependency.get("workspace") {
                Some(_) => &shared[name],
                None => dependency,
            };
            let unversioned =
                dependency.get("path").is_some() && dependency.get("version").is_none();
            assert!(!unversioned, "{path}: {name} has no version");
        }
    }
    let version = &manifest("Cargo.toml")["workspace"]["package"]["version"];
    for (name, dependency) in table(shared).filter(|(name, _)| name.starts_with("dmo-")) {
        assert_eq!(&dependency["version"], version, "{name}");
    }
}

fn table(value: &toml::Value) -> impl Iterator<Item = (&String, &toml::Value)> {
    value.as_table().expect("a table").iter()
}

/// Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let found = paths.flat_map(|path| {
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if path.is_dir() {
            sources(&path)
        } else {
            is_source.then_some(path).into_iter().collect()
        }
    });
    found.collect()
}

/// What a package includes lies in it. The packages are built by `scripts/crates.sh`.
#[test]
fn no_published_crate_includes_what_lies_outside_of_it() {
    let mut includes = 0;
    for (path, _) in published() {
        let folder = Path::new(ROOT).join(&path);
        let folder = folder.parent().expect("a folder");
        let mut files = sources(&folder.join("src"));
        files.extend(
            [folder.join("build.rs")]
                .into_iter()
                .filter(|it| it.exists()),
        );
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source");
            let text = text.split("#[cfg(test)]\nmod ").next().expect("a part");
            let below = file.strip_prefix(folder).expect("below it");
            let depth = below.components().count() - 1;
            for part in text.split("include_").skip(1) {
                includes += 1;
                let ups = part
                    .split(';')
                    .next()
                    .expect("a part")
                    .matches("../")
                    .count();
                assert!(ups <= depth, "{}: {ups} folders up", file.display());
            }
            assert!(!text.contains("join(\"../"), "{}", file.display());
        }
    }
    assert!(includes >= 10, "{includes}");
}

#[test]
fn binary_installers_find_the_archive() {
    let manifest = manifest("tracer/Cargo.toml");
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let version = env!("CARGO_PKG_VERSION");
    let filled = |key: &str| {
        let text = binstall[key].as_str().expect("a text");
        let text = text
            .replace("{ repo }", "REPO")
            .replace("{ bin }", "dmo-trace");
        let text = text.replace("{ binary-ext }", "");
        text.replace("{ version }", version)
            .replace("{ target }", TARGET)
    };
    let name = format!("dmo-trace-{version}-{TARGET}");
    let url = format!("REPO/releases/download/v{version}/{name}.tar.gz");
    assert_eq!(filled("pkg-url"), url);
    assert_eq!(filled("bin-dir"), format!("{name}/dmo-trace"));
    let script = read("scripts/dist.sh");
    assert!(script.contains("\nname=dmo-trace-$version-$target\n"));
    assert!(
        script.contains("\"$out/$name.tar.gz\"") && script.contains(&format!("target={TARGET}"))
    );
}

/// Arguments of the `cargo build` of a file.
fn build_arguments(path: &str) -> BTreeSet<String> {
    let text = read(path);
    let (_, rest) = text.split_once("cargo build ").expect("a build");
    let line = rest.lines().next().expect("a line");
    let line = line.split(" --target").next().expect("a part");
    line.split(" --")
        .map(|part| part.trim_start_matches('-').to_owned())
        .collect()
}

#[test]
fn the_container_has_the_program_that_archives_have() {
    assert_eq!(
        build_arguments("Containerfile"),
        build_arguments("scripts/reproducible.sh")
    );
    let text = read("Containerfile");
    let copied = text.lines().filter_map(|line| line.strip_prefix("COPY "));
    let mut local = 0;
    for line in copied.filter(|line| !line.starts_with("--from")) {
        let source = line.split(' ').next().expect("a source");
        assert!(Path::new(ROOT).join(source).exists(), "{line}");
        local += 1;
    }
    assert!(local > 0 && text.contains("COPY --from=build /dmo-trace/target/dist/dmo-trace "));
}

#[test]
fn the_action_runs_scripts_that_there_are() {
    let action: Value = serde_yaml_ng::from_str(&read("action.yml")).expect("YAML");
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let inputs: BTreeSet<_> = keys(&action["inputs"]).collect();
    let mut used = BTreeSet::new();
    let mut scripts = 0;
    for step in action["runs"]["steps"].as_array().expect("steps") {
        let variables = step["env"].as_object();
        for value in variables.into_iter().flat_map(|env| env.values()) {
            let input = value.as_str().and_then(|text| text.split_once("inputs."));
            used.extend(input.and_then(|(_, rest)| rest.split(' ').next()));
        }
        let Some(run) = step["run"].as_str() else {
            assert!(step["uses"].as_str().is_some(), "{step:?}");
            continue;
        };
        assert_eq!(step["shell"].as_str(), Some("bash"), "{run}");
        let path = run
            .strip_prefix("\"$GITHUB_ACTION_PATH/")
            .expect("a script");
        let path = Path::new(ROOT).join(path.strip_suffix('"').expect("a script"));
        let mode = std::fs::metadata(&path).expect(run).permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{run} is not executable");
        scripts += 1;
    }
    assert_eq!((scripts, used), (3, inputs));
}

fn keys(value: &Value) -> impl Iterator<Item = &str> {
    let table = value.as_object().expect("a table");
    table.keys().map(String::as_str)
}

/// A runner of GitHub's, with a release of this version on a disk.
struct Runner {
    folder: tempfile::TempDir,
}

impl Runner {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["temp", "path"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A release with the program that is tested.
    fn release(&self, version: &str) -> PathBuf {
        let name = format!("dmo-trace-{version}-{TARGET}");
        let packed = self.path("packed").join(&name);
        std::fs::create_dir_all(&packed).expect("a folder");
        std::fs::copy(env!("CARGO_BIN_EXE_dmo-trace"), packed.join("dmo-trace")).expect("a copy");
        let release = self.path("releases").join(format!("v{version}"));
        std::fs::create_dir_all(&release).expect("a folder");
        let commands = format!(
            "tar --create --gzip --file={name}.tar.gz --directory=../../packed {name} && \
             sha256sum {name}.tar.gz >{name}.tar.gz.sha256"
        );
        let mut shell = Command::new("bash");
        let shell = shell.args(["-c", &commands]).current_dir(&release);
        assert!(shell.status().expect("bash").success());
        release.join(name + ".tar.gz")
    }

    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(Path::new(ROOT).join("packaging/action").join(script));
        let search = format!("{}:/usr/bin:/bin", self.path("path").display());
        let releases = format!("file://{}", self.path("releases").display());
        command.env_clear().env("PATH", search);
        command.env("RUNNER_OS", "Linux").env("RUNNER_ARCH", "X64");
        command.env("RUNNER_TEMP", self.path("temp"));
        command.env("GITHUB_OUTPUT", self.path("output"));
        command.env("GITHUB_PATH", self.path("github_path"));
        command
            .env("DMO_TRACE_SOURCES", ROOT)
            .env("DMO_TRACE_RELEASES", releases);
        command.envs(variables.iter().copied());
        command.output().expect("it starts")
    }

    /// What a script has left in a file of the runner.
    fn written(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program in the search path that writes down how it is called.
    fn pretend(&self, program: &str) {
        let path = self.path("path").join(program);
        let log = self.path("called");
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}'\n", log.display());
        std::fs::write(&path, text).expect("a script");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its mode");
    }
}

#[test]
fn the_action_takes_the_binary_of_a_release() {
    let runner = Runner::new();
    runner.release("1.2.3");
    let output = runner.run("find.sh", &[("DMO_TRACE_VERSION", "v1.2.3")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(runner.written("output"), "build=false\n");
    let folder = runner.written("github_path");
    let program = Path::new(folder.trim_end()).join("dmo-trace");
    let version = Command::new(program)
        .arg("--version")
        .output()
        .expect("it starts");
    assert!(version.stdout.starts_with(b"dmo-trace "), "{version:?}");
}

#[test]
fn the_action_refuses_an_archive_that_is_not_what_was_released() {
    let runner = Runner::new();
    let archive = runner.release("1.2.3");
    let mut bytes = std::fs::read(&archive).expect("an archive");
    bytes.push(0);
    std::fs::write(&archive, bytes).expect("an archive");
    let output = runner.run("find.sh", &[("DMO_TRACE_VERSION", "1.2.3")]);
    assert!(!output.status.success(), "{output:?}");
    assert!(runner.written("github_path").is_empty());
}

#[test]
fn the_action_builds_where_no_release_has_a_binary() {
    for variables in [
        &[("DMO_TRACE_VERSION", "")][..],
        &[("DMO_TRACE_VERSION", "9.9.9")],
        &[("DMO_TRACE_VERSION", "1.2.3"), ("RUNNER_ARCH", "ARM64")],
    ] {
        let runner = Runner::new();
        runner.release("1.2.3");
        let output = runner.run("find.sh", variables);
        assert!(output.status.success(), "{output:?}");
        let written = runner.written("output");
        let key = written
            .strip_prefix("build=true\nsources=")
            .expect(&written);
        assert_eq!(key.trim_end().len(), 16, "{written}");
        runner.pretend("cargo");
        let output = runner.run("build.sh", &[]);
        assert!(output.status.success(), "{output:?}");
        let called = runner.written("called");
        assert!(
            called.starts_with("install\n--locked\n--no-default-features\n--path\n"),
            "{called}"
        );
        let root = runner.path("temp/dmo-trace");
        assert_eq!(called.lines().last(), root.to_str());
        let bin = root.join("bin");
        assert_eq!(
            runner.written("github_path").trim_end(),
            bin.to_str().expect("a name")
        );
    }
    let output = Runner::new().run("find.sh", &[("DMO_TRACE_VERSION", "../../elsewhere")]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn the_action_passes_its_inputs_on() {
    let runner = Runner::new();
    runner.pretend("dmo-trace");
    let variables = [
        ("DMO_TRACE_BASELINE", "my arenas.toml"),
        ("DMO_TRACE_JUNIT", "arenas.xml"),
        ("DMO_TRACE_ARGUMENTS", "--only vision"),
    ];
    assert!(runner.run("check.sh", &variables).status.success());
    let expected = "check\n--baseline\nmy arenas.toml\n--junit\narenas.xml\n--only\nvision\n";
    assert_eq!(runner.written("called"), expected);
    let variables = [
        ("DMO_TRACE_BASELINE", "a"),
        ("DMO_TRACE_JUNIT", ""),
        ("DMO_TRACE_ARGUMENTS", ""),
    ];
    assert!(runner.run("check.sh", &variables).status.success());
    assert_eq!(runner.written("called"), "check\n--baseline\na\n");
}
