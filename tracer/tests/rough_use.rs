//! What users do with the command line that its author did not think of first.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the arguments"
)]

use dmo_analysis::graph::{Storage, tflite};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dmo-trace");

fn elf(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/elf/cortex-m4");
    folder.join(name).with_extension("elf")
}

/// Runs to the end; a program that does not come to its end is a failure.
fn run(arguments: &[impl AsRef<OsStr>]) -> Output {
    let child = Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("dmo-trace");
    let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
    wait(&mut child, &format!("{arguments:?}"));
    child.wait_with_output().expect("output")
}

fn wait(child: &mut Child, what: &str) -> std::process::ExitStatus {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().expect("status") {
            return status;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    panic!("{what}: no end after 60 s");
}

/// Exit code and messages.
fn refused(arguments: &[impl AsRef<OsStr>]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(output.stdout.is_empty());
    errors
}

fn names_in(folder: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").file_name())
        .collect()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(status.expect("kill").success());
}

/// A run that takes minutes, with an unfinished trace beside its place and a folder that is copied.
fn long_run(folder: &Path, shell: &str) -> Child {
    let out = folder.join("out");
    let (files, temporary) = (folder.join("files"), folder.join("tmp"));
    for made in [&out, &files, &temporary] {
        std::fs::create_dir_all(made).expect("a folder");
    }
    let mut child = Command::new("sh")
        .args(["-c", &format!("{shell} exec \"$@\""), "sh", PROGRAM, "run"])
        .arg(elf("bench_conv2d"))
        .args(["--inputs", "1000", "--save"])
        .arg(out.join("trace.dmo"))
        .arg("--semihosting-dir")
        .arg(&files)
        .env("TMPDIR", &temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("dmo-trace");
    let start = Instant::now();
    while names_in(&out).is_empty() || names_in(&temporary).is_empty() {
        assert!(child.try_wait().expect("status").is_none(), "it has ended");
        assert!(start.elapsed() < Duration::from_secs(60), "no files");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Whether this process ignores the signal, as where it runs in the background; so does then
/// every program that it starts.
fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal - 1) & 1 != 0
}

#[test]
fn a_signal_leaves_no_files() {
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    let heard = signals
        .into_iter()
        .filter(|&(_, number)| !is_ignored(number));
    let heard: Vec<(&str, u32)> = heard.collect();
    assert!(heard.contains(&("TERM", 15)), "TERM is ignored");
    for (name, number) in heard {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = long_run(folder.path(), "");
        signal(&child, name);
        let status = wait(&mut child, name);
        assert_eq!(status.signal(), Some(number as i32), "{name}");
        for place in ["out", "tmp"] {
            let left = names_in(&folder.path().join(place));
            assert!(left.is_empty(), "{name}: {left:?}");
        }
    }
}

#[test]
fn a_signal_that_is_ignored_stays_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = long_run(folder.path(), "trap '' HUP;");
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().expect("status").is_none());
    signal(&child, "TERM");
    assert_eq!(wait(&mut child, "TERM").signal(), Some(15));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    for command in ["info", "dump", "plot", "run", "plan"] {
        let errors = refused(&[OsStr::new(command), pipe.as_os_str()]);
        assert!(errors.contains("not a plain file"), "{command}: {errors}");
    }
}

#[test]
fn a_model_may_have_any_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder
        .path()
        .join(OsString::from_vec(b"gr\xf6\xdfe.tflite".to_vec()));
    let made = folder.path().join("made.tflite");
    let output = run(&[
        "zoo".as_ref(),
        "export".as_ref(),
        "liberis_lane_figure_1:int8".as_ref(),
        "--out".as_ref(),
        made.as_os_str(),
    ]);
    assert!(output.status.success(), "{output:?}");
    std::fs::rename(&made, &model).expect("renamed");
    for command in ["plan", "savings"] {
        let output = run(&[OsStr::new(command), model.as_os_str()]);
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
    }
    for command in ["audit", "verify"] {
        let output = run(&[OsStr::new(command), model.as_os_str()]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!errors.contains("UTF-8"), "{command}: {errors}");
    }
}

#[test]
fn an_address_lacks_its_0x() {
    let program = elf("max_pool");
    let arguments = ["run".as_ref(), program.as_os_str(), "--ram".as_ref()];
    let errors = refused(&[&arguments[..], &["20000000:64K".as_ref()]].concat());
    assert!(errors.contains("0x20000000"), "{errors}");
    let output = run(&[&arguments[..], &["0x20000000:4M".as_ref()]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn padding_as_tensorflow_writes_it() {
    let overlap = |padding| {
        let shape = ["--input", "1x8x8x2", "--filter", "2x3x3x2", "--padding"];
        let output = run(&[&["overlap", "conv2d"], &shape[..], &[padding]].concat());
        assert_eq!(output.status.code(), Some(0), "{padding}: {output:?}");
        output.stdout
    };
    assert_eq!(overlap("SAME"), overlap("same"));
    assert_eq!(overlap("Valid"), overlap("valid"));
    assert_ne!(overlap("same"), overlap("valid"));
}

#[test]
fn loops_without_end_are_given_up() {
    let shape = ["--input", "1x1x40000x40000", "--input", "1x1x40000x40000"];
    let limited = ["--formulas", "--timeout", "0.2"];
    let errors = refused(&[&["overlap", "batched_matmul"], &shape[..], &limited].concat());
    assert!(errors.contains("more than 0.2 s"), "{errors}");
    assert!(errors.contains("--timeout"), "{errors}");
    let folder = tempfile::tempdir().expect("a folder");
    let grid = folder.path().join("grid.toml");
    let table =
        "[[grid]]\noperator = \"batched_matmul\"\ninput = [\"1x1x40000x40000,1x1x40000x40000\"]\n";
    std::fs::write(&grid, table).expect("a grid");
    let out = folder.path().join("out.csv");
    let sweep = [
        "sweep".as_ref(),
        grid.as_os_str(),
        "--out".as_ref(),
        out.as_os_str(),
    ];
    let limited = limited.map(OsStr::new);
    let errors = refused(&[&sweep[..], &limited].concat());
    assert!(
        errors.contains("40000x40000") && errors.contains("more than 0.2 s"),
        "{errors}"
    );
}

#[test]
fn all_files_are_written_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (json, header) = (path("plan.json"), path("plan.h"));
    let plan = [
        "plan",
        "zoo:liberis_lane_figure_1:int8",
        "--out",
        &json,
        "--out",
    ];
    let errors = refused(&[&plan[..], &[&path("missing/plan.h")]].concat());
    assert!(errors.contains("cannot write"), "{errors}");
    let left = names_in(folder.path());
    assert!(left.is_empty(), "{left:?}");
    let output = run(&[&plan[..], &[&header]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(names_in(folder.path()).len(), 2);
}

#[test]
fn limited_tiles_must_be_allowed() {
    let plan = [
        "plan",
        "zoo:liberis_lane_figure_1:int8",
        "--max-recompute",
        "5%",
    ];
    for allowed in [&[][..], &["--allow", "remove"]] {
        let errors = refused(&[&plan[..], allowed].concat());
        assert!(errors.contains("--allow split"), "{errors}");
    }
    let output = run(&[&plan[..], &["--allow", "remove,split"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_network_is_misspelt() {
    let errors = refused(&["plan", "zoo:resnet50"]);
    assert!(
        errors.contains("did you mean zoo:resnet_50_v2?"),
        "{errors}"
    );
    let errors = refused(&["plan", "zoo:qqq"]);
    assert!(!errors.contains("did you mean"), "{errors}");
}

/// What a plan within 1,024 bytes says on stderr, and its hint of what `--allow split` reaches.
fn too_large(options: &[&str]) -> (String, Option<String>) {
    let output = run(&[&["plan", "--capacity", "1K"], options].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let hint = errors.split_once("hint: --allow split ");
    let hint = hint.map(|(_, hint)| hint.trim_end().to_owned());
    (errors, hint)
}

/// The clock has ended a search, on a busy machine.
fn is_cut_short(errors: &str) -> bool {
    errors.contains("ran out of time")
}

#[test]
fn a_plan_above_its_capacity_says_what_tiles_reach() {
    let model = "zoo:mobilenet_v1_0.25_128:int8";
    let (errors, hint) = too_large(&[model]);
    let hint = hint.unwrap_or_default();
    let reached = hint
        .split_once(": ")
        .and_then(|(_, reached)| reached.strip_suffix(" or less"));
    if let Some(reached) = reached {
        let output = run(&["plan", model, "--allow", "split", "--time", "1"]);
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let arena = format!("\nArena: {reached}, ");
        let is_cut = is_cut_short(&String::from_utf8_lossy(&output.stderr));
        assert!(is_cut || report.contains(&arena), "{arena} {report}");
    } else {
        assert!(is_cut_short(&errors), "{errors}");
    }
    let (errors, hint) = too_large(&["zoo:liberis_lane_figure_1:int8"]);
    let hint = hint.unwrap_or_default();
    assert!(hint.ends_with("which may need less"), "{errors}");
    // Nothing is said of tiles where they are allowed, or tensors are fixed.
    for options in [[model, "--allow", "split"], [model, "--fix", "0=0"]] {
        let (errors, hint) = too_large(&options);
        assert!(hint.is_none(), "{errors}");
    }
}

/// TensorFlow Lite Micro obeys an offset of a tensor that is kept between inferences, and lets
/// others overwrite it.
#[test]
fn no_plan_has_a_state_in_it() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let file = std::fs::read(golden.join("stand_in_sequence_int8.tflite")).expect("a model");
    let graph = tflite::read(&file).expect("a model").graphs.remove(0);
    let states = graph.tensors.iter().enumerate();
    let states = states.filter(|(_, tensor)| tensor.storage == Storage::Variable);
    let states: Vec<usize> = states.map(|(index, _)| index).collect();
    assert!(!states.is_empty());
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("planned.tflite");
    let mut plans = 0;
    for offset in [0, 64] {
        let mut offsets = vec![-1; graph.tensors.len()];
        offsets[states[0]] = offset;
        let planned = tflite::with_plan(&file, None, &offsets).expect("a plan");
        std::fs::write(&model, planned).expect("a file");
        for command in ["audit", "verify", "arena"] {
            let message = refused(&[OsStr::new(command), model.as_os_str()]);
            let reason = "keeps its content from one inference to the next";
            assert!(message.contains(reason), "{command}: {message}");
        }
        plans += 1;
    }
    assert_eq!(plans, 2);
}

/// TensorFlow Lite Micro computes a fully connected layer of several pixels as a convolution, whose
/// loops are others: a plan for kernels with the interface of CMSIS-NN is for those.
#[test]
fn fully_connected_layers_are_planned_as_the_runtime_runs_them() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let model = golden.join("stand_in_layers_int8.tflite");
    let model = model.to_str().expect("a path");
    let functions = |kernels: &str| {
        let output = run(&["plan", model, "--kernels", kernels, "--no-cache"]);
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows = report
            .lines()
            .filter(|line| line.contains("| FULLY_CONNECTED |"));
        let names = rows.filter_map(|row| row.split('|').nth(3));
        let names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
        names.join(" ")
    };
    let pixels = "arm_convolve_1x1_s8_fast";
    for kernels in ["dsp", "dsp-channels-outside"] {
        let expected = format!("{pixels} {pixels} arm_fully_connected_per_channel_s8");
        assert_eq!(functions(kernels), expected);
    }
    assert_eq!(
        functions("reference"),
        "dmo_conv2d_s8 dmo_conv2d_s8 dmo_conv2d_s8"
    );
}

/// Refused by its size, before anything is read of it.
#[test]
fn a_model_beyond_two_gibibytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("large.tflite");
    let file = std::fs::File::create(&model).expect("a model");
    file.set_len(1 << 40).expect("a file with a hole");
    let start = Instant::now();
    for command in ["plan", "arena", "verify", "audit"] {
        let message = refused(&[OsStr::new(command), model.as_os_str()]);
        let reason =
            "it has 1099511627776 bytes, which is larger than the limit of 2147483648 bytes";
        assert!(message.contains(reason), "{command}: {message}");
        assert!(message.contains("large.tflite"), "{command}: {message}");
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Whether nothing fits, or nothing was found that does, is not the same.
#[test]
fn a_search_that_was_cut_short_proves_nothing() {
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/stand_in_vision_int8.tflite"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("library");
    let built = |options: &[&str]| {
        let mut arguments: Vec<OsString> = ["build", model, "--ram", "1100", "--out"]
            .map(Into::into)
            .into();
        arguments.push(out.clone().into());
        arguments.extend(options.iter().map(Into::into));
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(!out.exists());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let cut_short = built(&["--time", "0.001"]);
    assert!(
        cut_short.contains("NOT FOUND: none of the forms"),
        "{cut_short}"
    );
    assert!(
        cut_short.contains("--time 60 searches longer"),
        "{cut_short}"
    );
    let whole = built(&[]);
    assert!(whole.contains("OUT OF REACH: no form keeps"), "{whole}");
    assert!(!whole.contains("--time"), "{whole}");
    // A hint that was followed is not given again.
    assert!(whole.contains("--max-recompute 300%"), "{whole}");
    let most = built(&["--max-recompute", "300%"]);
    assert!(!most.contains("--max-recompute"), "{most}");
}

/// A part of a name that one layer alone has names it; a number stays one.
#[test]
fn a_part_of_a_name_is_enough() {
    let program = elf("network");
    let explained = |select: &str| {
        let arguments = ["explain".as_ref(), "run".as_ref(), program.as_os_str()];
        let options = ["--inputs", "1", "--select", select].map(OsStr::new);
        run(&[&arguments[..], &options[..]].concat())
    };
    for (select, layer) in [("oint", "layer 2 'pointwise'"), ("3", "layer 3 'pool'")] {
        let output = explained(select);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{select}");
        let layers: Vec<_> = text.lines().filter(|it| it.starts_with("layer ")).collect();
        assert!(
            layers.len() == 1 && layers[0].starts_with(layer),
            "{layers:?}"
        );
    }
    let output = explained("po");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    let hint = "hint: the layers are 2 'pointwise', 3 'pool'\n";
    assert!(message.ends_with(hint), "{message}");
}
