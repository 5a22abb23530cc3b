//! The JSON Schemas in `docs/schemas/` are those of the program, and what it writes is what they say.
//! Made anew by `dmo-trace schema --out docs/schemas`. What needs a firmware with a model is held
//! against them by `interpreter.rs` and `runtime.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

#[path = "support/schema.rs"]
mod schema;

use serde_json::Value;
use std::collections::BTreeSet;

use std::process::Command;
use tempfile::TempDir;

const GOLDEN: &str = "tracer/tests/golden";
const NETWORK: &str = "zoo:liberis_lane_figure_1:int8";
const MOBILENET: &str = "zoo:mobilenet_v1_0.25_128:int8";

/// Forms that are written of a firmware with a model only.
const OF_FIRMWARE: [&str; 1] = ["verify-firmware"];

/// Prints on stdout, with an exit code that says that an answer was given.
fn output(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let output = command.args(arguments).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn names() -> BTreeSet<String> {
    let list = output(&["schema"]);
    let rows = list.lines().filter(|line| line.starts_with('|')).skip(2);
    let names = rows.filter_map(|row| Some(row.split('|').nth(1)?.trim().to_owned()));
    names.collect()
}

#[test]
fn the_shipped_schemas_are_those_of_the_program() {
    let names = names();
    assert!(names.len() > 15, "{names:?}");
    for name in &names {
        let shipped = std::fs::read_to_string(schema::path(name)).unwrap_or_default();
        let hint = "dmo-trace schema --out docs/schemas";
        assert!(output(&["schema", name]) == shipped, "{name}: {hint}");
    }
    let folder = schema::path("plan");
    let files = std::fs::read_dir(folder.parent().unwrap()).unwrap();
    assert_eq!(files.count(), names.len());
}

/// A field that the schema does not name, and one that is missing, are refused.
#[test]
fn what_is_not_of_the_form_is_refused() {
    let plan: Value = serde_json::from_str(&output(&["plan", NETWORK, "--json"])).unwrap();
    let mut added = plan.clone();
    added["peak"]["buffers"][0]["colour"] = "red".into();
    let mut missing = plan.clone();
    missing.as_object_mut().unwrap().remove("order");
    let mut other = plan;
    other["schema"] = "dmo-trace/plan/2".into();
    for wrong in [added, missing, other] {
        let refused = std::panic::catch_unwind(|| schema::validate("plan", &wrong));
        assert!(refused.is_err());
    }
}

/// Files that commands read and write.
struct Bench {
    folder: TempDir,
    seen: BTreeSet<String>,
}

impl Bench {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn see(&mut self, name: &str, value: &Value) {
        schema::validate(name, value);
        self.seen.insert(name.to_owned());
    }

    fn lines(&mut self, name: &str, text: &str) {
        assert!(!text.is_empty(), "{name}");
        for line in text.lines() {
            self.see(name, &serde_json::from_str(line).unwrap());
        }
    }

    fn file(&mut self, name: &str, path: &str) {
        let text = std::fs::read_to_string(path).unwrap();
        self.see(name, &serde_json::from_str(&text).unwrap());
    }

    /// What the command prints with `--json` is of this form.
    fn prints(&mut self, name: &str, arguments: &[&str]) {
        let text = output(&[arguments, &["--json"]].concat());
        self.see(name, &serde_json::from_str(&text).unwrap());
    }
}

#[test]
fn what_the_commands_write_is_of_their_forms() {
    let mut bench = Bench {
        folder: tempfile::tempdir().unwrap(),
        seen: BTreeSet::new(),
    };
    let model = |name: &str| format!("{GOLDEN}/stand_in_{name}.tflite");
    let (autoencoder, window) = (model("autoencoder_int8"), model("window_int8"));
    let (plan, trace) = (bench.path("plan.json"), bench.path("trace"));

    bench.prints("plan", &["plan", NETWORK, "--compare", "--out", &plan]);
    bench.file("plan-file", &plan);
    bench.prints("audit", &["audit", NETWORK, "--plan", &plan]);
    bench.prints(
        "audit",
        &["audit", NETWORK, "--plan", &plan, "--overlap", "none"],
    );
    let traced = ["plan", &autoencoder, "--overlap", "traced", "--out", &plan];
    bench.prints("plan", &traced);
    bench.file("plan-file", &plan);
    let changed = ["plan", MOBILENET, "--allow", "split,patch", "--time", "1"];
    bench.prints("plan", &[&changed[..], &["--out", &plan]].concat());
    bench.file("plan-file", &plan);
    let regions = ["--region", "sram=40K", "--region", "psram=1M"];
    let regions = [&["plan", MOBILENET, "--out", &plan], &regions[..]].concat();
    bench.prints("regions", &regions);
    bench.file("regions", &plan);
    let problem = "fuzz/seeds/minimalloc/turned_columns.csv";
    bench.prints("problem", &["plan", problem, "--compare"]);
    for foreign in ["executorch", "c_info"] {
        let path = format!("tracer/tests/foreign/{foreign}.json");
        bench.prints("foreign", &["plan", &path]);
        bench.prints("audit", &["audit", &path]);
    }

    bench.prints("arena", &["arena", &autoencoder, &window]);
    bench.prints("verify", &["verify", &autoencoder, "--inputs", "1"]);
    let unsafe_kernels = ["--kernels", "dsp-channels-outside", "--inputs", "1"];
    bench.prints(
        "verify",
        &[&["verify", MOBILENET], &unsafe_kernels[..]].concat(),
    );
    let baseline = ["check", "--baseline", "traces/arenas.toml"];
    bench.prints(
        "check",
        &[&baseline[..], &["--only", "liberis_lane"]].concat(),
    );
    bench.prints("layers", &["layers", NETWORK, "--kernels", "dsp"]);
    bench.prints("savings", &["savings", NETWORK, "--time", "1"]);
    bench.prints("stream", &["stream", &window, "--rows", "1"]);
    let library = bench.path("library");
    bench.prints("build", &["build", &autoencoder, "--out", &library]);
    bench.prints(
        "build",
        &["build", &window, "--out", &library, "--stream", "1"],
    );
    let limits = ["--ram", "64K", "--flash", "1M", "--time", "1"];
    bench.prints(
        "build",
        &[&["build", &autoencoder, "--out", &library], &limits[..]].concat(),
    );
    bench.prints("build-forms", &["build", &autoencoder, "--front"]);

    let program = "traces/elf/cortex-m4/network.elf";
    bench.prints("run", &["run", program, "--save", &trace]);
    bench.prints("run", &["info", &trace]);
    bench.lines(
        "dump",
        &output(&["dump", &trace, "--json", "--limit", "99"]),
    );
    bench.prints(
        "explain",
        &["explain", "run", "traces/elf/cortex-m4/conv2d.elf"],
    );
    let shape = [
        "conv2d",
        "--input",
        "1x8x8x4",
        "--filter",
        "4x3x3x4",
        "--padding",
        "same",
    ];
    bench.prints("explain", &[&["explain", "overlap"], &shape[..]].concat());
    bench.prints("overlap", &[&["overlap"], &shape[..]].concat());
    let compressed = format!("{GOLDEN}/further_compressed_weights.tflite");
    bench.prints("decode", &["decode", &compressed]);
    bench.prints(
        "overlap",
        &[&["overlap"], &shape[..], &["--formulas"]].concat(),
    );

    let (grid, rows) = (bench.path("grid.toml"), bench.path("rows.jsonl"));
    std::fs::write(
        &grid,
        "[[grid]]\noperator = \"relu\"\ninput = [\"1x4x4x2\"]\n",
    )
    .unwrap();
    output(&["sweep", &grid, "--out", &rows]);
    bench.lines("sweep", &std::fs::read_to_string(&rows).unwrap());
    bench.file("sweep-key", &format!("{rows}.key"));

    let all = names();
    let elsewhere = all.iter().filter(|name| OF_FIRMWARE.contains(&&***name));
    assert_eq!(elsewhere.count(), OF_FIRMWARE.len());
    bench.seen.extend(OF_FIRMWARE.map(str::to_owned));
    assert_eq!(bench.seen, all);
}
