//! Compresses the C sources and the images, and makes a table of what lies where.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What generated code may need.
const FOLDERS: [&str; 7] = [
    "include",
    "include/cmsis_nn",
    "reference",
    "dsp",
    "dsp/packed",
    "plain",
    "board",
];

/// The sets that are built, and for which CPUs: the first is taken where none is named, and for a CPU
/// without an image the first whose code it runs.
const IMAGES: [(&str, &[&str]); 5] = [
    (
        "reference",
        &[
            "cortex-m4",
            "cortex-m7",
            "cortex-m3",
            "cortex-m23",
            "cortex-m0plus",
        ],
    ),
    ("dsp", &["cortex-m4", "cortex-m7"]),
    ("dsp-packed", &["cortex-m4", "cortex-m7"]),
    ("plain", &["cortex-m3", "cortex-m23", "cortex-m0plus"]),
    ("dsp-channels-outside", &["cortex-m4", "cortex-m7"]),
];

/// How hard is compressed, of 22: it takes ten seconds.
const COMPRESSION: i32 = 19;
/// So far back, in powers of two, an image may repeat another one.
const WINDOW: u32 = 24;

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let (root, out) = (Path::new(&manifest), Path::new(&out));
    fs::write(out.join("sources.rs"), table_of_sources(root, out)?)?;
    fs::write(out.join("images.rs"), table_of_images(root, out)?)
}

/// Those for the Cortex-M4 come first, since whoever wants an image decompresses all before it.
fn table_of_images(root: &Path, out: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", root.join("images").display());
    let named = |(set, cpus): (&'static str, &'static [&'static str])| {
        cpus.iter().map(move |&cpu| (set, cpu))
    };
    let mut names: Vec<_> = IMAGES.into_iter().flat_map(named).collect();
    names.sort_by_key(|&(_, cpu)| cpu != "cortex-m4");
    let (mut table, mut images) = (String::from("&[\n"), Vec::new());
    for (set, cpu) in names {
        let start = images.len();
        images.extend(fs::read(
            root.join(format!("images/{cpu}/kernels-{set}.elf")),
        )?);
        let end = images.len();
        let _ = writeln!(
            table,
            "    KernelImage {{ set: {set:?}, cpu: {cpu:?}, place: {start}..{end} }},"
        );
    }
    table.push_str("]\n");
    compress(&images, &out.join("images.zst"))?;
    Ok(table)
}

fn table_of_sources(root: &Path, out: &Path) -> io::Result<String> {
    let (mut table, mut texts) = (String::from("&[\n"), String::new());
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        for file in sources(&root.join(folder))? {
            let start = texts.len();
            texts.push_str(&fs::read_to_string(&file)?);
            let end = texts.len();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let path = format!("{folder}/{name}");
            let _ = writeln!(table, "    ({path:?}, {start}..{end}),");
        }
    }
    table.push_str("]\n");
    compress(texts.as_bytes(), &out.join("sources.zst"))?;
    Ok(table)
}

fn compress(bytes: &[u8], file: &Path) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(fs::File::create(file)?, COMPRESSION)?;
    encoder.window_log(WINDOW)?;
    encoder.write_all(bytes)?;
    encoder.finish()?;
    Ok(())
}

/// C sources, headers and linker scripts, in order.
fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = files.collect::<io::Result<Vec<PathBuf>>>()?;
    files.retain(|file| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("c" | "h" | "ld"))
    });
    files.sort();
    Ok(files)
}
