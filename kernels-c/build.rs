//! Makes the table of the C sources.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What generated code may need.
const FOLDERS: [&str; 6] = [
    "include",
    "include/cmsis_nn",
    "reference",
    "dsp",
    "dsp/packed",
    "board",
];

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let root = Path::new(&manifest);
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
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("sources.rs"), table)
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
