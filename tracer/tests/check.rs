//! `dmo-trace check`: what passes the gate and what does not, what is recorded, and what is
//! written for others to read.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Seven operators, two branches.
const NETWORK: &str = "zoo:liberis_lane_figure_1:int8";
/// What its arena has, in bytes: proven for its order.
const ARENA: u64 = 3680;

/// A folder with a model, its plan and a baseline.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let model = project.path("m.tflite");
        let model = model.to_str().unwrap();
        project.run(&["zoo", "export", &NETWORK[4..], "--out", model]);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = dmo_trace(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {message}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn plan(&self, options: &[&str]) -> Value {
        let model = self.path("m.tflite");
        let plan = self.path("plan.json");
        let mut arguments = vec!["plan", model.to_str().unwrap()];
        arguments.extend(["--out", plan.to_str().unwrap()]);
        arguments.extend(options);
        self.run(&arguments);
        serde_json::from_slice(&std::fs::read(plan).unwrap()).unwrap()
    }

    fn write_plan(&self, plan: &Value) {
        std::fs::write(self.path("plan.json"), plan.to_string()).unwrap();
    }

    fn baseline(&self, models: &str) {
        let text = format!("schema = \"dmo-trace/baseline/1\"\n\n{models}");
        std::fs::write(self.path("baseline.toml"), text).unwrap();
    }

    fn recorded(&self) -> String {
        std::fs::read_to_string(self.path("baseline.toml")).unwrap()
    }

    fn check(&self, options: &[&str]) -> Checked {
        let baseline = self.path("baseline.toml");
        let mut arguments = vec!["check", "--baseline", baseline.to_str().unwrap()];
        arguments.extend(["--no-cache"]);
        arguments.extend(options);
        let output = dmo_trace(&arguments);
        Checked {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn json(&self, code: i32) -> Value {
        let checked = self.check(&["--json"]);
        assert_eq!(checked.code, code, "{}{}", checked.stdout, checked.stderr);
        let report: Value = serde_json::from_str(&checked.stdout).unwrap();
        let verdict = ["holds", "fails", "error"][code as usize];
        assert_eq!(report["verdict"], verdict);
        report
    }
}

struct Checked {
    code: i32,
    stdout: String,
    stderr: String,
}

fn dmo_trace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .args(arguments)
        .output()
        .unwrap()
}

/// `[arena, geometry, replay, execution, every_input, capacity]` of the model of this number.
fn outcomes(report: &Value, model: usize) -> [String; 6] {
    let cases = report["models"][model]["cases"].as_array().unwrap();
    let names: Vec<&str> = cases
        .iter()
        .map(|case| case["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "arena",
            "geometry",
            "replay",
            "execution",
            "every_input",
            "capacity"
        ]
    );
    std::array::from_fn(|at| cases[at]["outcome"].as_str().unwrap().to_owned())
}

const P: &str = "passed";
const F: &str = "failed";
const S: &str = "skipped";

#[test]
fn what_is_recorded_holds_from_then_on() {
    let project = Project::new();
    project.baseline(
        "# The first.\n[[model]]\nfile = \"m.tflite\"  # small\n\n# The second.\n[[model]]\n\
         file = \"zoo:liberis_lane_figure_1:int8\"\narena_bytes =   1_0 # too little\nverify = false\n",
    );
    let before = project.recorded();
    let report = project.json(1);
    assert_eq!(outcomes(&report, 0), [F, P, P, P, S, S]);
    assert_eq!(outcomes(&report, 1), [F, P, S, S, S, S]);
    assert_eq!(project.recorded(), before);

    let checked = project.check(&["--update"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    assert_eq!(checked.stdout.matches("| recorded").count(), 2);
    let after = before.replace("  # small\n", "  # small\narena_bytes = 3680\n");
    let after = after.replace("1_0 #", "3680 #");
    assert_eq!(project.recorded(), after);

    let report = project.json(0);
    assert_eq!(outcomes(&report, 0), [P, P, P, P, S, S]);
    assert_eq!(outcomes(&report, 1), [P, P, S, S, S, S]);
    assert_eq!(report["models"][0]["arena_bytes"], ARENA);
    assert_eq!(report["models"][0]["certificate"], "optimal_for_order");
    assert_eq!(project.check(&["--update"]).code, 0);
    assert_eq!(project.recorded(), after);
}

/// What holds on the inputs tried may be asked to hold on all: a square root that stores to `errno` is
/// not shown to.
#[test]
fn every_input_may_be_asked_for() {
    let project = Project::new();
    let curves = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/further_functions_float32.tflite");
    let curves = curves.to_str().unwrap();
    project.baseline(&format!(
        "[[model]]\nfile = \"m.tflite\"\narena_bytes = {ARENA}\nevery_input = true\n\
         [[model]]\nfile = {curves:?}\nevery_input = true\n"
    ));
    let before = project.recorded();
    let report = project.json(1);
    assert_eq!(outcomes(&report, 0), [P, P, P, P, P, S]);
    assert_eq!(outcomes(&report, 1), [F, P, P, P, F, S]);
    assert_eq!(report["models"][1]["safe"], true);
    let found = report["models"][1]["cases"][4]["findings"][0]
        .as_str()
        .unwrap();
    assert!(found.contains("data decide where it branches"), "{found}");

    let checked = project.check(&["--update"]);
    assert_eq!(checked.code, 1, "{}", checked.stderr);
    assert!(
        checked.stdout.contains("NOT ON EVERY INPUT"),
        "{}",
        checked.stdout
    );
    assert_eq!(project.recorded(), before);
}

#[test]
fn one_byte_more_fails_and_less_holds() {
    let project = Project::new();
    for (baseline, code, word) in [
        (ARENA - 1, 1, "| GROWN"),
        (ARENA, 0, "| holds "),
        (ARENA + 1, 0, "| holds, smaller"),
    ] {
        project.baseline(&format!(
            "[[model]]\nfile = \"m.tflite\"\nverify = false\narena_bytes = {baseline}\n"
        ));
        let checked = project.check(&[]);
        assert_eq!(checked.code, code, "{}", checked.stdout);
        assert!(checked.stdout.contains(word), "{}", checked.stdout);
        let told = checked.stdout.contains("grown from 3,679 to 3,680 bytes");
        assert_eq!(told, code == 1, "{}", checked.stdout);
        let told = checked.stdout.contains("shrunk from 3,681 to 3,680 bytes");
        assert_eq!(told, baseline > ARENA, "{}", checked.stdout);
    }
}

#[test]
fn capacity_is_a_limit_of_its_own() {
    let project = Project::new();
    for (capacity, case, code) in [("3680", P, 0), ("3679", F, 1), ("\"3K\"", F, 1)] {
        project.baseline(&format!(
            "[[model]]\nfile = \"m.tflite\"\nverify = false\narena_bytes = 3680\n\
             capacity = {capacity}\n"
        ));
        assert_eq!(outcomes(&project.json(code), 0), [P, P, S, S, S, case]);
    }
}

/// `kTensorArenaSize` of a plan that is made, and of the same carried by the model's file.
#[test]
fn the_runtime_has_a_capacity_too() {
    let project = Project::new();
    let planned = project.path("planned.tflite");
    let made = dmo_trace(&[
        "plan",
        project.path("m.tflite").to_str().unwrap(),
        "--out",
        planned.to_str().unwrap(),
        "--json",
    ]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let needed = made["arena_changes"][0]["after_bytes"].as_u64().unwrap();
    assert!(needed > ARENA, "{needed}");
    for (file, verify) in [
        ("m", false),
        ("m", true),
        ("planned", false),
        ("planned", true),
    ] {
        for (capacity, case, code) in [(needed, P, 0), (needed - 1, F, 1)] {
            project.baseline(&format!(
                "[[model]]\nfile = \"{file}.tflite\"\nverify = {verify}\narena_bytes = {ARENA}\n\
                 capacity = {ARENA}\nruntime_capacity = {capacity}\n"
            ));
            let report = project.json(code);
            let run = if verify { P } else { S };
            assert_eq!(
                outcomes(&report, 0),
                [P, P, run, run, S, case],
                "{file} {verify}"
            );
            assert_eq!(report["models"][0]["runtime_bytes"], needed);
        }
    }
    // What scratch memory the kernels want that run is not known by formula.
    project.baseline(&format!(
        "[[model]]\nfile = \"m.tflite\"\nkernels = \"plain\"\noverlap = \"analytic\"\narena_bytes = {ARENA}\n\
         runtime_capacity = 1048576\n"
    ));
    let report: Value = serde_json::from_str(&project.check(&["--json"]).stdout).unwrap();
    assert_eq!(outcomes(&report, 0)[5], "error");
    assert_eq!(report["models"][0]["runtime_bytes"], Value::Null);
    // A network of the zoo has no file.
    project.baseline(
        "[[model]]\nfile = \"zoo:liberis_lane_figure_1:int8\"\nverify = false\narena_bytes = 1048576\n\
         runtime_capacity = 1048576\n",
    );
    let checked = project.check(&[]);
    assert_eq!(checked.code, 2);
    let told = "kTensorArenaSize is not known";
    assert!(checked.stdout.contains(told), "{}", checked.stdout);
}

#[cfg(unix)]
#[test]
fn a_baseline_may_be_a_link() {
    let project = Project::new();
    project.baseline("[[model]]\nfile = \"m.tflite\"\nverify = false\n");
    let (link, file) = (
        project.path("baseline.toml"),
        project.path("elsewhere.toml"),
    );
    std::fs::rename(&link, &file).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert_eq!(project.check(&["--update"]).code, 0);
    assert!(link.is_symlink());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("arena_bytes = 3680"), "{text}");
}

/// A hint that names the model names its kernels, too.
#[test]
fn what_is_proposed_is_for_the_same_kernels() {
    let project = Project::new();
    for (kernels, named) in [
        ("", "m.tflite` says"),
        ("kernels = \"dsp\"\n", "m.tflite --kernels dsp` says"),
    ] {
        project.baseline(&format!(
            "[[model]]\nfile = \"m.tflite\"\n{kernels}arena_bytes = 1048576\ncapacity = 1\n"
        ));
        let checked = project.check(&[]);
        assert_eq!(checked.code, 1, "{}", checked.stderr);
        assert!(checked.stdout.contains(named), "{}", checked.stdout);
    }
}

/// Each overlapped pair one step closer than is safe: the plan's own offsets are at the limit
/// but for the alignment.
#[test]
fn an_unsafe_plan_fails_and_is_not_recorded() {
    let project = Project::new();
    let plan = project.plan(&["--align", "1"]);
    let models = "[[model]]\nfile = \"m.tflite\"\nplan = \"plan.json\"\n";
    project.baseline(models);
    assert_eq!(project.check(&["--update"]).code, 0);

    let overlaps = plan["overlaps"].as_array().unwrap();
    assert!(!overlaps.is_empty());
    for overlap in overlaps {
        let mut unsafe_plan = plan.clone();
        let tensors = unsafe_plan["tensors"].as_array_mut().unwrap();
        let offset = |tensors: &[Value], id: &Value| {
            let tensor = tensors.iter().find(|tensor| tensor["tensor"] == *id);
            tensor.unwrap()["offset"].as_u64().unwrap()
        };
        let output = offset(tensors, &overlap["output"]);
        let needed = overlap["sharing"]["displaced"].as_u64().unwrap();
        let input = tensors
            .iter_mut()
            .find(|tensor| tensor["tensor"] == overlap["input"]);
        input.unwrap()["offset"] = (output + needed - 1).into();
        project.write_plan(&unsafe_plan);

        let before = project.recorded();
        let report = project.json(1);
        let found = outcomes(&report, 0);
        assert_eq!(found[..3], [P, F, F], "{overlap}");
        let model = &report["models"][0];
        assert_eq!(model["safe"], false);
        assert_eq!(model["certificate"], Value::Null);
        let finding = model["cases"][2]["findings"][0].as_str().unwrap();
        assert!(finding.contains("operator"), "{finding}");

        let checked = project.check(&["--update"]);
        assert_eq!(checked.code, 1);
        assert!(checked.stderr.contains("nothing is recorded"));
        assert!(checked.stdout.contains("| UNSAFE"), "{}", checked.stdout);
        assert_eq!(project.recorded(), before);

        // Geometry sees it without running anything.
        project.baseline(&format!("{models}verify = false\narena_bytes = 3680\n"));
        assert_eq!(outcomes(&project.json(1), 0), [P, F, S, S, S, S]);
        std::fs::write(project.path("baseline.toml"), before).unwrap();
    }
}

/// A plan without a tensor cannot be run at all.
#[test]
fn a_plan_with_holes_fails() {
    let project = Project::new();
    let mut plan = project.plan(&[]);
    plan["tensors"].as_array_mut().unwrap().remove(2);
    project.write_plan(&plan);
    for (verify, declared) in [(true, ARENA), (false, ARENA), (false, 1000)] {
        plan["arena_bytes"] = declared.into();
        project.write_plan(&plan);
        project.baseline(&format!(
            "[[model]]\nfile = \"m.tflite\"\nplan = \"plan.json\"\nverify = {verify}\n\
             arena_bytes = 3680\n"
        ));
        assert_eq!(outcomes(&project.json(1), 0), [P, F, S, S, S, S]);
    }
}

/// All its memories count together, and a capacity would say nothing of any of them.
#[test]
fn a_plan_of_several_memories_has_no_capacity() {
    let project = Project::new();
    let plan = project.plan(&["--region", "tcm=2K", "--region", "sram=1M@4"]);
    let used = |region: usize| plan["regions"][region]["used_bytes"].as_u64().unwrap();
    assert!(used(0) > 0 && used(1) > 0, "{plan}");
    let model = "[[model]]\nfile = \"m.tflite\"\nplan = \"plan.json\"\nverify = false\n";
    project.baseline(model);
    assert_eq!(project.check(&["--update"]).code, 0);

    let report = project.json(0);
    assert_eq!(outcomes(&report, 0), [P, P, S, S, S, S]);
    let checked = &report["models"][0];
    assert_eq!(checked["regions"][1]["used_bytes"], used(1));
    assert!(checked["arena_bytes"].as_u64().unwrap() >= used(0) + used(1));
    let text = project.check(&[]).stdout;
    assert!(text.contains("\nm.tflite: Memory tcm: "), "{text}");

    project.baseline(&format!(
        "{model}arena_bytes = 1048576\ncapacity = 1048576\n"
    ));
    let checked = project.check(&[]);
    assert_eq!(checked.code, 2);
    let message = "capacity is of one arena, and the plan has 2 memories";
    assert!(checked.stderr.contains(message), "{}", checked.stderr);
}

/// Overlaps of the formulas are not those of other kernels.
#[test]
fn other_kernels_are_another_question() {
    let project = Project::new();
    let mut plan = project.plan(&["--overlap", "traced", "--kernels", "dsp", "--no-cache"]);
    let table = "[[model]]\nfile = \"m.tflite\"\narena_bytes = 10_000\n";
    project.baseline(&format!(
        "{table}name = \"its own\"\nplan = \"plan.json\"\nkernels = \"dsp\"\n\
         {table}name = \"geometry\"\nplan = \"plan.json\"\nkernels = \"dsp\"\nverify = false\n\
         {table}name = \"others\"\nplan = \"plan.json\"\n\
         {table}name = \"geometry of others\"\nplan = \"plan.json\"\nverify = false\n\
         {table}name = \"another CPU\"\nplan = \"plan.json\"\nkernels = \"dsp\"\ncpu = \"cortex-m7\"\n\
         {table}name = \"measured\"\nkernels = \"dsp\"\n"
    ));
    let report = project.json(2);
    assert_eq!(outcomes(&report, 0), [P, P, P, P, S, S]);
    assert_eq!(outcomes(&report, 1), [P, P, S, S, S, S]);
    for refused in 2..5 {
        assert_eq!(outcomes(&report, refused), ["error", S, S, S, S, S]);
        let message = report["models"][refused]["cases"][0]["message"].as_str();
        assert!(message.unwrap().contains("the plan was made for"));
        assert_eq!(report["models"][refused]["safe"], Value::Null);
    }
    assert_eq!(outcomes(&report, 5), [P, P, P, P, S, S]);
    let measured = &report["models"][5];
    assert_eq!(measured["overlap"], "traced");
    assert_eq!(measured["arena_bytes"], plan["arena_bytes"]);

    // A plan that names no kernels says nothing of these.
    plan["overlap"] = "analytic".into();
    plan.as_object_mut().unwrap().remove("kernels");
    project.write_plan(&plan);
    project.baseline(&format!(
        "{table}plan = \"plan.json\"\nkernels = \"dsp\"\nverify = false\n"
    ));
    let checked = project.check(&[]);
    assert_eq!(checked.code, 2);
    assert!(checked.stderr.contains("nothing runs on them"));
}

/// Nothing overlaps, but the kernels want scratch memory that the plan does not have.
#[test]
fn scratch_memory_that_the_plan_lacks_is_unsafe() {
    let project = Project::new();
    let table = |overlap| {
        format!(
            "[[model]]\nfile = \"m.tflite\"\nkernels = \"dsp\"\noverlap = \"{overlap}\"\n\
             arena_bytes = 100_000\n"
        )
    };
    // Planned without overlaps for these kernels, it has their scratch memory.
    project.baseline(&format!(
        "{}{}name = \"without overlaps\"\n",
        table("analytic"),
        table("none")
    ));
    let report = project.json(1);
    assert_eq!(report["models"][0]["safe"], false);
    assert_eq!(outcomes(&report, 0)[..2], [P, F]);
    let findings = report["models"][0]["cases"][1]["findings"].to_string();
    assert!(
        findings.contains("more scratch memory than the plan gives"),
        "{findings}"
    );
    assert_eq!(outcomes(&report, 1), [P, P, P, P, S, S]);
    assert_eq!(project.check(&["--update"]).code, 1);
    assert!(project.recorded().contains("100_000"));
}

#[test]
fn what_cannot_be_examined_does_not_stop_the_others() {
    let project = Project::new();
    std::fs::write(project.path("damaged.tflite"), b"no model at all").unwrap();
    project.baseline(
        "[[model]]\nfile = \"missing.tflite\"\n\
         [[model]]\nfile = \"damaged.tflite\"\n\
         [[model]]\nfile = \"m.tflite\"\nname = \"kernels\"\nkernels = \"missing.elf\"\n\
         [[model]]\nfile = \"m.tflite\"\nname = \"plan\"\nplan = \"missing.json\"\n\
         [[model]]\nfile = \"m.tflite\"\nname = \"grown\"\nverify = false\narena_bytes = 1\n\
         [[model]]\nfile = \"m.tflite\"\nname = \"good\"\narena_bytes = 3680\n",
    );
    let before = project.recorded();
    let report = project.json(2);
    for model in 0..4 {
        assert_eq!(outcomes(&report, model), ["error", S, S, S, S, S]);
    }
    assert_eq!(outcomes(&report, 4), [F, P, S, S, S, S]);
    assert_eq!(outcomes(&report, 5), [P, P, P, P, S, S]);

    let checked = project.check(&["--update"]);
    assert_eq!(checked.code, 2);
    for told in [
        "missing.tflite: cannot read",
        "damaged.tflite: not a TensorFlow Lite model",
        "kernels: cannot read",
        "plan: cannot read",
        "nothing is recorded",
    ] {
        assert!(checked.stderr.contains(told), "{told}: {}", checked.stderr);
    }
    assert_eq!(project.recorded(), before);
    // What was asked for is not advised again; without it, it is.
    assert!(!checked.stdout.contains("record it with --update"));
    let asked = project.check(&[]);
    assert!(asked.stdout.contains("record it with --update"));
    let counted = "\n1 of 6 models fail, 4 could not be checked\n";
    assert!(asked.stdout.ends_with(counted), "{}", asked.stdout);

    let only = |names: &[&str]| {
        let options: Vec<&str> = names.iter().flat_map(|name| ["--only", name]).collect();
        project.check(&options).code
    };
    assert_eq!(only(&["good"]), 0);
    assert_eq!(only(&["good", "grown"]), 1);
    assert_eq!(only(&["good", "plan", "grown"]), 2);
    assert_eq!(only(&["none"]), 2);
    assert_eq!(project.check(&["--update", "--only", "grown"]).code, 0);
    let after = before.replace("arena_bytes = 1\n", "arena_bytes = 3680\n");
    assert_eq!(project.recorded(), after);
}

#[test]
fn a_wrong_baseline_is_told_and_nothing_is_run() {
    let project = Project::new();
    for (models, told) in [
        ("", "baseline.toml: it has no [[model]]"),
        (
            "[[model]]\nfile = \"m.tflite\"\nkernel = \"dsp\"\n",
            "baseline.toml: [[model]] 1 (m.tflite): unknown field `kernel`",
        ),
        (
            "[[model]]\nfile = \"m.tflite\"\n[[model]]\nfile = \"m.tflite\"\n",
            "[[model]] 2 (m.tflite): [[model]] 1 has this name too",
        ),
        ("[[model]]\nname = \"a\"\n", "missing field `file`"),
        ("[[model]\n", "line 3"),
    ] {
        project.baseline(models);
        let checked = project.check(&["--update"]);
        assert_eq!(checked.code, 2);
        assert_eq!(checked.stdout, "");
        assert!(checked.stderr.contains(told), "{told}: {}", checked.stderr);
    }
    std::fs::remove_file(project.path("baseline.toml")).unwrap();
    let checked = project.check(&[]);
    assert_eq!(checked.code, 2);
    assert!(checked.stderr.contains("cannot read"), "{}", checked.stderr);
}

#[test]
fn junit_is_well_formed() {
    let project = Project::new();
    project.baseline(
        "[[model]]\nfile = \"m.tflite\"\nname = \"<&\\\"'> \u{fc}\"\nverify = false\ncapacity = 1\n\
         [[model]]\nfile = \"missing.tflite\"\n\
         [[model]]\nfile = \"m.tflite\"\narena_bytes = 3680\n",
    );
    let junit = project.path("junit.xml");
    let checked = project.check(&["--junit", junit.to_str().unwrap()]);
    assert_eq!(checked.code, 2);
    let text = std::fs::read_to_string(&junit).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    for (name, number) in [("tests", "18"), ("failures", "2"), ("errors", "1")] {
        assert_eq!(root.attribute(name), Some(number), "{name}");
    }
    let suites: Vec<_> = root
        .children()
        .filter(roxmltree::Node::is_element)
        .collect();
    let names: Vec<_> = suites.iter().map(|suite| suite.attribute("name")).collect();
    assert_eq!(
        names,
        ["<&\"'> \u{fc}", "missing.tflite", "m.tflite"].map(Some)
    );
    let results = |suite: usize| -> Vec<String> {
        let cases = suites[suite].children().filter(roxmltree::Node::is_element);
        let result = |case: roxmltree::Node| {
            let name = case.attribute("name").unwrap().to_owned();
            let result = case.children().find(roxmltree::Node::is_element);
            match result {
                Some(result) => format!("{name} {}", result.tag_name().name()),
                None => name,
            }
        };
        cases.map(result).collect()
    };
    assert_eq!(
        results(0),
        [
            "arena failure",
            "geometry",
            "replay skipped",
            "execution skipped",
            "every_input skipped",
            "capacity failure"
        ]
    );
    assert_eq!(results(1)[..2], ["arena error", "geometry skipped"]);
    assert_eq!(
        results(2),
        [
            "arena",
            "geometry",
            "replay",
            "execution",
            "every_input skipped",
            "capacity skipped"
        ]
    );
    let message = root
        .descendants()
        .find(|node| node.has_tag_name("failure"))
        .unwrap();
    let told = message.attribute("message").unwrap();
    assert!(told.contains("no arena_bytes"), "{told}");

    let baseline = project.path("baseline.toml");
    let checked = project.check(&["--junit", baseline.to_str().unwrap()]);
    assert_eq!(checked.code, 2);
    assert!(
        checked
            .stderr
            .contains("this file is read, and would be replaced")
    );
}

/// The layout that is shipped is what is checked, and not one that would be made today.
#[test]
fn a_plan_in_the_model_is_the_one_that_is_checked() {
    let project = Project::new();
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/stand_in_window_int8.tflite"
    );
    let planned = project.path("planned.tflite");
    project.run(&["plan", golden, "--out", planned.to_str().unwrap()]);
    let verdict = |keys: &str| {
        let text = format!(
            "schema = \"dmo-trace/baseline/1\"\n[[model]]\nfile = \"planned.tflite\"\ninputs = 1\narena_bytes = 100000\n{keys}\n"
        );
        std::fs::write(project.path("baseline.toml"), text).unwrap();
        project.check(&[])
    };
    assert_eq!(verdict("").code, 0);
    let other = verdict("kernels = \"dsp-channels-outside\"");
    assert_eq!(other.code, 1, "{}{}", other.stdout, other.stderr);
    let anew = verdict("kernels = \"dsp-channels-outside\"\nplan = \"anew\"");
    assert_eq!(anew.code, 0, "{}{}", anew.stdout, anew.stderr);
    let contradicted = verdict("order = \"file\"");
    assert_eq!(contradicted.code, 2);
    assert!(
        contradicted
            .stderr
            .contains("carries a plan, of which order says nothing")
    );
    assert_eq!(verdict("order = \"file\"\nplan = \"anew\"").code, 0);
}
