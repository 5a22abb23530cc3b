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

/// A row of the table: what was called, and for each level and CPU the O_s.
type Rows = BTreeMap<(usize, String, String), Vec<Vec<String>>>;

fn check() -> Result<(), Failed> {
    let mut rows = Rows::new();
    for (set, name) in ["reference", "dsp"].into_iter().enumerate() {
        for (level, flags) in LEVELS.iter().enumerate() {
            for (cpu, float) in &CPUS[..3] {
                // The DSP extension is in the others.
                if name == "reference" || *cpu != "cortex-m3" {
                    measure(set, name, cpu, &[*float, *flags].concat(), level, &mut rows)?;
                }
            }
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

fn sources(set: &str) -> std::io::Result<Vec<PathBuf>> {
    if set == "dsp" {
        let mut sources = sources_in(&kernels("dsp"))?;
        let types = ["s8", "s8_s16", "s16", "u8"];
        sources.extend(types.map(|name| kernels(&format!("reference/dmo_softmax_{name}.c"))));
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

/// One image of a set of kernels, and the O_s of each case on it.
fn measure(
    set: usize,
    name: &str,
    cpu: &str,
    flags: &[&str],
    level: usize,
    rows: &mut Rows,
) -> Result<(), Failed> {
    let mut sources = sources(name)?;
    // What nobody calls is kept by its name.
    let names = sources.iter().filter_map(|path| path.file_stem()?.to_str());
    let kept: Vec<String> = names
        .flat_map(|name| [name.to_owned(), format!("{name}_get_buffer_size")])
        .map(|name| format!("-Wl,-u,{name}"))
        .collect();
    sources.push(kernels("dsp/image/reset.c"));
    let mut all = vec!["-nostartfiles", "-Wl,--no-gc-sections"];
    all.extend(flags);
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
    let mut count = 0;
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
        let cells = rows
            .entry((set, text("case"), text("kernel")))
            .or_insert_with(|| vec![Vec::new(); LEVELS.len()]);
        cells[level].push(bytes);
        count += 1;
    }
    assert!(count >= 7, "{cpu} {flags:?}: {count} rows; {errors}");
    Ok(())
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
