//! What compiler flags do to the O_s of the same kernels: the table of docs/compiler-flags.md is
//! what the machine code does.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the kernel's name"
)]

mod support;

use libtest_mimic::Failed;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::cross::{CPUS, compiler, kernels, link, sources_in};
use support::tools;

const GRID: &str = "
[[grid]]
operator = \"conv2d\"
input = [\"1x16x16x8\"]
filter = [\"16x3x3x8\", \"16x1x1x8\", \"4x1x1x8\"]
padding = [\"same\"]
[[grid]]
operator = \"depthwise_conv2d\"
input = [\"1x16x16x8\"]
filter = [\"1x3x3x8\"]
stride = [\"1\", \"2\"]
padding = [\"same\"]
[[grid]]
operator = \"fully_connected\"
input = [\"4x64\"]
filter = [\"32x64\"]
[[grid]]
operator = \"add\"
input = [\"1x8x8x8,1x8x8x8\"]
[[grid]]
operator = \"softmax\"
input = [\"8x40\"]
";

const LEVELS: [&[&str]; 7] = [
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["-O3"],
    &["-Os"],
    &["-Ofast"],
    &["-O2", "-flto"],
];

/// Set to write the table anew.
const UPDATE: &str = "DMO_TRACE_UPDATE_TABLES";
const BEGIN: &str = "<!-- table: made by tracer/tests/compiler_flags.rs -->\n";
const END: &str = "<!-- end of table -->\n";

fn main() {
    // Another compiler may well do otherwise.
    let compiler = compiler().and_then(|()| {
        let version = tools::version("arm-none-eabi-gcc")?;
        if version.contains(" 12.2") {
            Ok(())
        } else {
            Err(format!("the table is GCC 12.2's, here is {version}"))
        }
    });
    let trial = tools::trial("the_table_is_what_kernels_do", &compiler, check);
    tools::main(&compiler, vec![trial])
}

const SETS: [&str; 2] = ["reference", "dsp"];

/// What was called: the index of the set, the case and the kernel.
type Call = (usize, String, String);

/// Rows of the table: for each level and CPU the O_s.
type Rows = BTreeMap<Call, Vec<Vec<String>>>;

/// A set of kernels as one image.
#[derive(Clone, Copy)]
struct Image {
    set: usize,
    level: usize,
    cpu: &'static str,
    float: &'static [&'static str],
}

fn check() -> Result<(), Failed> {
    let mut images = Vec::new();
    for (set, name) in SETS.into_iter().enumerate() {
        for level in 0..LEVELS.len() {
            for (cpu, float) in &CPUS[..3] {
                // The DSP extension is in the others.
                if name == "reference" || *cpu != "cortex-m3" {
                    images.push(Image {
                        set,
                        level,
                        cpu,
                        float,
                    });
                }
            }
        }
    }
    let measured = measure_all(&images)?;
    let mut rows = Rows::new();
    for (image, found) in images.iter().zip(measured) {
        for (call, bytes) in found {
            let cells = rows
                .entry(call)
                .or_insert_with(|| vec![Vec::new(); LEVELS.len()]);
            cells[image.level].push(bytes);
        }
    }
    let table = table(&rows);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compiler-flags.md");
    let text = std::fs::read_to_string(&path)?;
    let (before, rest) = text.split_once(BEGIN).expect("the table's begin");
    let (known, after) = rest.split_once(END).expect("the table's end");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}"))?;
        return Ok(());
    }
    assert_eq!(known, table, "{UPDATE}=1 writes it anew");
    Ok(())
}

/// All images, two at a time: most of it is one compiler's work.
fn measure_all(images: &[Image]) -> Result<Vec<Vec<(Call, String)>>, Failed> {
    let next = AtomicUsize::new(0);
    let measured = Mutex::new(Vec::new());
    let measure_some = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(image) = images.get(index) else {
                return;
            };
            let rows = measure(image);
            measured.lock().expect("no panic").push((index, rows));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(measure_some);
        measure_some();
    });
    let mut measured = measured.into_inner().expect("no panic");
    measured.sort_by_key(|(index, _)| *index);
    measured.into_iter().map(|(_, rows)| rows).collect()
}

/// Of the set, what the layers of the grid need.
fn sources(set: &str) -> std::io::Result<Vec<PathBuf>> {
    const OTHER_LAYERS: [&str; 7] = ["_s16", "_s4", "int4", "lstm", "matmul", "_u8", "_in_place_"];
    if set == "dsp" {
        let mut sources = sources_in(&kernels("dsp"))?;
        sources.retain(|path| {
            let name = path.to_string_lossy();
            !OTHER_LAYERS.iter().any(|other| name.contains(other))
        });
        sources.push(kernels("reference/dmo_softmax_s8.c"));
        return Ok(sources);
    }
    let names = [
        "conv2d",
        "depthwise_conv2d",
        "fully_connected",
        "add",
        "softmax",
    ];
    let source = |name: &str| kernels(&format!("reference/dmo_{name}_s8.c"));
    Ok(names.into_iter().map(source).collect())
}

/// The O_s of each case on an image.
fn measure(image: &Image) -> Result<Vec<(Call, String)>, Failed> {
    let cpu = image.cpu;
    let flags = [image.float, LEVELS[image.level]].concat();
    let mut sources = sources(SETS[image.set])?;
    // What nobody calls is kept by its name.
    let names = sources.iter().filter_map(|path| path.file_stem()?.to_str());
    let kept: Vec<String> = names
        .flat_map(|name| [name.to_owned(), format!("{name}_get_buffer_size")])
        .map(|name| format!("-Wl,-u,{name}"))
        .collect();
    sources.push(kernels("dsp/image/reset.c"));
    let mut all = vec!["-nostartfiles", "-Wl,--no-gc-sections"];
    all.extend(&flags);
    if flags.contains(&"-flto") {
        all.extend(kept.iter().map(String::as_str));
    }
    let folder = tempfile::tempdir()?;
    let [elf, grid, out] =
        ["kernels.elf", "grid.toml", "rows.jsonl"].map(|name| folder.path().join(name));
    std::fs::write(&elf, link(cpu, &all, &kernels("board/link.ld"), &sources)?)?;
    std::fs::write(&grid, GRID)?;
    let output = Command::new(env!("CARGO_BIN_EXE_dmo-trace"))
        .arg("sweep")
        .arg(&grid)
        .args(["--inputs", "2", "--cpu", cpu, "--kernels"])
        .arg(&elf)
        .arg("--out")
        .arg(&out)
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let found = std::fs::read_to_string(&out).map_err(|error| format!("{errors}: {error}"))?;
    let mut rows = Vec::new();
    for line in found.lines() {
        let row: Value = serde_json::from_str(line)?;
        assert_eq!(row["finding"], "", "{cpu} {flags:?}: {row}");
        // Both inputs of an addition are alike.
        if row["input"] != 1 {
            continue;
        }
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let bytes = match row["equal_at_overlap"].as_bool() {
            Some(true) => row["traced_bytes"].to_string(),
            _ => "0".to_owned(),
        };
        rows.push(((image.set, text("case"), text("kernel")), bytes));
    }
    let count = rows.len();
    assert!(count >= 7, "{cpu} {flags:?}: {count} rows; {errors}");
    Ok(rows)
}

fn table(rows: &Rows) -> String {
    let levels: Vec<String> = LEVELS.iter().map(|level| level.join(" ")).collect();
    let mut text = format!("| kernel | call | {} |\n", levels.join(" | "));
    text += &format!("|---|---|{}\n", "---:|".repeat(LEVELS.len()));
    for ((_, case, kernel), cells) in rows {
        let cells = cells.iter().map(|cpus| match cpus.as_slice() {
            [] => "-".to_owned(),
            [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
            differ => differ.join(" / "),
        });
        let cells: Vec<String> = cells.collect();
        text += &format!("| `{kernel}` | `{case}` | {} |\n", cells.join(" | "));
    }
    text
}
