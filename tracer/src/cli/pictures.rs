//! Drawing the pictures of a saved trace into a folder.

use super::output;
use dmo_analysis::profile::{Profile, Profiler};
use dmo_analysis::trace::file::TraceReader;
use dmo_analysis::wording::counted;
use dmo_plot::{Canvas, Figure, PLOTS, Plot};
use std::io::Read;
use std::path::Path;

/// Writes all pictures of a result into a folder, and says so.
pub fn write_all(figures: &[Figure], folder: &Path) -> anyhow::Result<()> {
    write(figures, folder)?;
    output::message(&format!("pictures (SVG and PNG) in {}", folder.display()));
    Ok(())
}

/// Writes figures, SVG and PNG each, into a folder.
fn write(figures: &[Figure], folder: &Path) -> anyhow::Result<()> {
    for figure in figures {
        let path = folder.join(&figure.name);
        output::write(&path.with_extension("svg"), figure.svg.as_bytes())?;
        output::write(&path.with_extension("png"), &figure.png()?)?;
    }
    Ok(())
}

/// Draws from a trace, of which `profile` is, into `folder`, and says how many pictures: those of
/// `only`, or of all kinds where that is empty.
pub fn draw(
    trace: impl Read,
    profile: &Profile,
    folder: &Path,
    only: &[&'static Plot],
) -> anyhow::Result<()> {
    let reader = TraceReader::open(trace)?;
    let program = reader.program().clone();
    let mut profiler = Profiler::with_observer(Canvas::new(profile));
    let ending = reader.read_into(&mut profiler)?;
    let (_, canvas) = profiler.finish();
    output::folder(folder)?;
    let mut written = 0;
    let is_wanted = |plot: &&Plot| only.is_empty() || only.iter().any(|one| one.name == plot.name);
    for plot in PLOTS.iter().filter(is_wanted) {
        let figures = plot.draw(&canvas, &program, &ending.locations)?;
        write(&figures, folder)?;
        written += figures.len();
    }
    output::message(&format!(
        "{} in {}, each as SVG and PNG",
        counted(written as u64, "picture", "pictures"),
        folder.display()
    ));
    Ok(())
}
