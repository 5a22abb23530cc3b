//! Real builds of TensorFlow Lite Micro: followed with and without their names, and as the kernels
//! of a model.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the firmware's name"
)]

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    libtest_mimic::run(&Arguments::from_args(), real_firmware()).exit()
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn layers(report: &Value) -> &Vec<Value> {
    report["layers"].as_array().expect("layers")
}

/// Real builds of TensorFlow Lite Micro: operators, bytes of the head and of
/// all that the runtime has taken (what each prints as its `arena_used_bytes`), whether it is safe.
const REAL: [(&str, usize, u64, u64, bool); 10] = [
    ("ad01-ref-bigdata", 10, 768, 2_260, true),
    ("kws-cmsis-dmo", 13, 16_000, 22_820, true),
    ("lstm-ref-dmo", 4, 1_528, 3_220, true),
    ("person-cmsis-dmo", 31, 55_296, 82_308, true),
    ("person-cmsis-planned-ref", 31, 36_880, 63_892, false),
    ("person-dsp-planned", 31, 36_956, 64_020, true),
    ("person-ref-bad16", 31, 36_864, 63_860, false),
    ("person-ref-dmo", 31, 55_296, 82_292, true),
    ("person-ref-planned-ref", 31, 36_880, 63_876, true),
    ("stock-person-cmsis", 62, 55_296, 82_308, true),
];

/// They lie beside `$DMO_TRACE_MODELS`, else beside the repository; what is not there is ignored.
fn real_firmware() -> Vec<Trial> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = std::env::var_os("DMO_TRACE_MODELS").map(PathBuf::from);
    let models = models.unwrap_or_else(|| here.join("../../shared/models"));
    let trials = |(name, operators, head, taken, safe)| {
        let path = models.join("../firmware").join(format!("{name}.elf"));
        let absent = !path.is_file();
        let without_names = path.clone();
        let test = move || follow(&path, operators, [head, taken], safe);
        let trial = Trial::test(format!("real_firmware::{name}"), test).with_ignored_flag(absent);
        let test = move || follow_without_names(&without_names, safe);
        let name = format!("real_firmware::stripped::{name}");
        [trial, Trial::test(name, test).with_ignored_flag(absent)]
    };
    let followed = REAL.into_iter().flat_map(trials);
    let kernels = AS_KERNELS.into_iter().map(|(name, model, plan)| {
        let firmware = models.join("../firmware").join(format!("{name}.elf"));
        let model = models.join(model);
        let absent = !firmware.is_file() || !model.is_file();
        let stem = model.file_stem().unwrap_or_default();
        let name = format!("real_firmware::{name}::{}::{plan:?}", stem.display());
        let test = move || as_kernels(&firmware, &model, plan);
        Trial::test(name, test).with_ignored_flag(absent)
    });
    followed.chain(kernels).collect()
}

/// Whose overlaps a plan is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanOf {
    Firmware,
    ReferenceKernels,
}

/// Firmware as the kernels of a model: safe in the plan of its own overlaps, and with CMSIS-NN
/// corrupted by that of the reference kernels. One was not built with the model.
const AS_KERNELS: [(&str, &str, PlanOf); 6] = [
    (
        "kws-cmsis-dmo",
        "mlcommons_tiny/kws_ref_model.tflite",
        PlanOf::Firmware,
    ),
    (
        "kws-cmsis-dmo",
        "mlcommons_tiny/kws_ref_model.tflite",
        PlanOf::ReferenceKernels,
    ),
    (
        "person-cmsis-dmo",
        "tflite_micro/person_detect.tflite",
        PlanOf::Firmware,
    ),
    (
        "person-cmsis-dmo",
        "tflite_micro/person_detect.tflite",
        PlanOf::ReferenceKernels,
    ),
    (
        "person-ref-dmo",
        "mlcommons_tiny/kws_ref_model.tflite",
        PlanOf::ReferenceKernels,
    ),
    (
        "person-cmsis-dmo",
        "mlcommons_tiny/vww_96_int8.tflite",
        PlanOf::Firmware,
    ),
];

fn as_kernels(firmware: &Path, model: &Path, plan: PlanOf) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let planned = folder.path().join("planned.tflite");
    let dmo_trace = || Command::new(env!("CARGO_BIN_EXE_dmo-trace"));
    if plan == PlanOf::ReferenceKernels {
        let output = dmo_trace()
            .arg("plan")
            .arg(model)
            .arg("--out")
            .arg(&planned)
            .output()?;
        assert!(output.status.success());
    }
    let model = if planned.is_file() { &planned } else { model };
    let output = dmo_trace()
        .arg("verify")
        .arg(model)
        .arg("--firmware")
        .arg(firmware)
        .arg("--json")
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_cmsis_nn = firmware.to_string_lossy().contains("cmsis");
    let safe = plan == PlanOf::Firmware || !is_cmsis_nn;
    let code = if safe { 0 } else { 1 };
    assert_eq!(output.status.code(), Some(code), "{errors}");
    let report: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(report["safe"], safe);
    let count = |list: &str| report[list].as_array().map_or(0, Vec::len);
    for list in ["clashes", "findings", "differences"] {
        assert_eq!(count(list) == 0, safe, "{list}");
    }
    assert!(number(&report["accesses"]) > 1_000_000);
    Ok(())
}

/// The same is seen of it without any name: the arena is all that has to be said.
fn follow_without_names(path: &Path, safe: bool) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let stripped = folder.path().join("stripped.elf");
    let status = Command::new("arm-none-eabi-strip")
        .arg("-o")
        .args([&stripped, path])
        .status()?;
    assert!(status.success());
    let run = |path: &Path, more: &[&str]| -> Result<Value, Failed> {
        let output = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
            .arg("run")
            .arg(path)
            .args(["--inputs", "1", "--json"])
            .args(more)
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = if safe { Some(0) } else { Some(1) };
        assert_eq!(output.status.code(), code, "{errors}");
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let named = run(path, &[])?;
    let arena = &named["arena"];
    let place = format!(
        "{:#x}:{}",
        number(&arena["start"]),
        number(&arena["size_bytes"])
    );
    let unnamed = run(&stripped, &["--arena", &place])?;
    assert_eq!(unnamed["arena"], *arena);
    let pairs = |report: &Value| -> Vec<Value> {
        let layers = layers(report).iter();
        layers.map(|layer| layer["pairs"].clone()).collect()
    };
    assert_eq!(pairs(&unnamed), pairs(&named));
    Ok(())
}

fn follow(
    path: &Path,
    operators: usize,
    [head, taken]: [u64; 2],
    safe: bool,
) -> Result<(), Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .arg("run")
        .arg(path)
        .args(["--inputs", "1", "--json"])
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = if safe { Some(0) } else { Some(1) };
    assert_eq!(output.status.code(), code, "{errors}");
    let report: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(layers(&report).len(), operators);
    assert_eq!(number(&report["arena"]["head_bytes"]), head);
    let found = &report["arena"]["taken"];
    let found = number(&found["head_bytes"]) + number(&found["tail_bytes"]);
    assert_eq!(found, taken);
    assert_eq!(report["arena"]["safe"], safe);
    assert_eq!(report["arena"]["simulated"], false);
    Ok(())
}
