//! Writing results: to stdout, which may be a closed pipe, and to files, whole or not at
//! all.

use super::{interruption, terminal};
use anstream::{AutoStream, ColorChoice};
use anyhow::Context;
use dmo_trace::words::printable::Printable;
use dmo_trace::words::report::Report;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use terminal_size::{Width, terminal_size_of};

/// Prints to stdout. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let is_terminal = std::io::stdout().is_terminal();
    write_out(&Printable::default().for_terminal(is_terminal, text.as_bytes()))
}

fn write_out(text: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to stdout"),
    }
}

/// Prints a result to stdout, as JSON or as text.
pub fn report(report: &impl Report, json: bool) -> anyhow::Result<()> {
    if json {
        return print(&report.json()?);
    }
    text(report.text())
}

/// Prints text to stdout: on a terminal within its width, and with colours where `--color` and the
/// environment want them.
pub fn text(mut text: String) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    if let Some((Width(columns), _)) = terminal_size_of(&stdout) {
        text = terminal::fit(&text, columns);
    }
    // Colours last: names that files hold may not give the terminal orders.
    let text = Printable::default().for_terminal(stdout.is_terminal(), text.as_bytes());
    match AutoStream::choice(&stdout) {
        ColorChoice::Never => write_out(&text),
        _ => write_out(terminal::paint(&String::from_utf8_lossy(&text)).as_bytes()),
    }
}

/// Prints a line to stderr. Nobody can be told when that fails, and what it is about goes on.
pub fn message(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let text = format!("{text}\n");
    let text = Printable::default().for_terminal(stderr.is_terminal(), text.as_bytes());
    let _ = stderr.write_all(&text);
}

/// Prints what keeps one of several models from being reported, after its path. Errors begin with the
/// path or the file's name, or with neither.
pub fn message_on(model: &OsStr, error: &anyhow::Error) {
    let (path, text) = (model.display().to_string(), format!("{error:#}"));
    if text.contains(&path) {
        return message(&format!("dmo-trace: {text}"));
    }
    let name = Path::new(model).file_name().unwrap_or(model);
    let prefix = format!("{}: ", name.display());
    let what = text.strip_prefix(&prefix).unwrap_or(&text);
    message(&format!("dmo-trace: {path}: {what}"));
}

/// A file beside `path`, to be renamed to it when it is complete.
pub fn unfinished(path: &Path) -> anyhow::Result<NamedTempFile> {
    // A device, a pipe, a folder or a link must not be replaced by a file.
    if let Ok(existing) = std::fs::symlink_metadata(path)
        && !existing.is_file()
    {
        anyhow::bail!("cannot write {}: it is not a plain file", path.display());
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !folder.exists() {
        anyhow::bail!(
            "cannot write {}: there is no folder {}",
            path.display(),
            folder.display()
        );
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dmo-trace-");
    #[cfg(unix)]
    builder.permissions(permissions());
    builder
        .tempfile_in(folder)
        .inspect(|file| interruption::vanishes(file.path()))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Readable by others, as the user's umask allows.
#[cfg(unix)]
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// A name for a model's file with a plan, beside the model: another than its own.
pub fn planned_beside(model: &Path) -> &'static str {
    const NAME: &str = "planned.tflite";
    if model.file_name().is_some_and(|name| name == NAME) {
        "planned_again.tflite"
    } else {
        NAME
    }
}

/// Renames a complete file to its place.
pub fn finish(file: NamedTempFile, path: &Path) -> anyhow::Result<()> {
    file.persist(path)
        .map(drop)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// A folder that exists and can be written to, made where there is none.
pub fn folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path)
        .and_then(|()| tempfile::tempfile_in(path))
        .map(drop)
        .with_context(|| format!("cannot write into the folder {}", path.display()))
}

/// Writes a whole file.
pub fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    write_all([(path, content)])
}

/// Writes whole files, or none if one of them cannot be written.
pub fn write_all<'a>(files: impl IntoIterator<Item = (&'a Path, &'a [u8])>) -> anyhow::Result<()> {
    let files: Vec<(&Path, &[u8])> = files.into_iter().collect();
    let mut paths = BTreeSet::new();
    if let Some((path, _)) = files.iter().find(|(path, _)| !paths.insert(*path)) {
        anyhow::bail!("cannot write two results to {}", path.display());
    }
    let complete = |(path, content): (&'a Path, &'a [u8])| {
        let mut file = unfinished(path)?;
        file.write_all(content)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok((file, path))
    };
    let complete = files.into_iter().map(complete);
    let complete = complete.collect::<anyhow::Result<Vec<_>>>()?;
    complete
        .into_iter()
        .try_for_each(|(file, path)| finish(file, path))
}

/// The file that lists what was generated in a folder.
const LIST: &str = ".dmo-trace-files";
/// Folders that build tools make in a generated one.
const BUILD: &str = "build";

/// Refuses a folder that holds something else than what was generated before.
pub fn ensure_replaceable(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    match std::fs::symlink_metadata(folder) {
        Err(_) => return Ok(()),
        Ok(found) if !found.is_dir() => anyhow::bail!("{shown}: it is not a folder"),
        Ok(_) => (),
    }
    let listed = std::fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    let listed: BTreeSet<&Path> = listed.lines().chain([LIST]).map(Path::new).collect();
    let mut unread = vec![folder.to_owned()];
    while let Some(next) = unread.pop() {
        let entries = std::fs::read_dir(&next);
        let entries = entries.with_context(|| format!("cannot write into {shown}"))?;
        for entry in entries {
            let path = entry
                .with_context(|| format!("cannot read {shown}"))?
                .path();
            let below = path.strip_prefix(folder).unwrap_or(&path);
            if below.starts_with(BUILD) {
                continue;
            }
            let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir());
            if is_folder && !listed.is_empty() {
                unread.push(path);
            } else if !listed.contains(below) {
                anyhow::bail!(
                    "{}: dmo-trace has not generated this file, and does not remove it\n  hint: name a folder that does not exist",
                    path.display()
                );
            }
        }
    }
    Ok(())
}

/// Writes a whole folder, or nothing, in place of one that was generated before.
pub fn write_folder<'a>(
    folder: &Path,
    files: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> anyhow::Result<()> {
    let shown = folder.display();
    let cannot = || format!("cannot write {shown}");
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).with_context(cannot)?;
    let unfinished = tempfile::Builder::new()
        .prefix(".dmo-trace-")
        .tempdir_in(parent)
        .with_context(cannot)?;
    let complete = unfinished.path().join("complete");
    let mut list = String::new();
    for (path, content) in files {
        list += &format!("{path}\n");
        let path = complete.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(cannot)?;
        }
        std::fs::write(path, content).with_context(cannot)?;
    }
    std::fs::write(complete.join(LIST), list).with_context(cannot)?;
    ensure_replaceable(folder)?;
    if folder.exists() {
        std::fs::rename(folder, unfinished.path().join("earlier")).with_context(cannot)?;
    }
    std::fs::rename(complete, folder).with_context(cannot)
}
