//! Makes the table of the C sources and that of the images, which it compresses.

use std::fmt::Write as _;
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

/// How hard the images are compressed, of 10: more takes longer for little.
const COMPRESSION: u8 = 6;

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let (root, out) = (Path::new(&manifest), Path::new(&out));
    fs::write(out.join("sources.rs"), table_of_sources(root)?)?;
    fs::write(out.join("images.rs"), table_of_images(root, out)?)
}

fn table_of_images(root: &Path, out: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", root.join("images").display());
    let mut table = String::from("&[\n");
    for (set, cpus) in IMAGES {
        for cpu in cpus {
            let elf = fs::read(root.join(format!("images/{cpu}/kernels-{set}.elf")))?;
            let compressed = out.join(format!("{cpu}-{set}"));
            fs::write(
                &compressed,
                miniz_oxide::deflate::compress_to_vec(&elf, COMPRESSION),
            )?;
            let _ = writeln!(
                table,
                "    KernelImage {{ set: {set:?}, cpu: {cpu:?}, bytes: {}, compressed: include_bytes!({compressed:?}) }},",
                elf.len()
            );
        }
    }
    table.push_str("]\n");
    Ok(table)
}

fn table_of_sources(root: &Path) -> io::Result<String> {
    let mut table = String::from("&[\n");
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        for file in sources(&root.join(folder))? {
            let path = file.canonicalize()?;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let _ = writeln!(
                table,
                "    ({:?}, include_str!({path:?})),",
                format!("{folder}/{name}")
            );
        }
    }
    table.push_str("]\n");
    Ok(table)
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
