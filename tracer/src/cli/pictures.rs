//! Drawing the pictures of a saved trace into a folder.

use super::output;
use dmo_analysis::profile::{Profile, Profiler};
use dmo_analysis::trace::file::TraceReader;
use dmo_plot::{Canvas, Figure, PLOTS, Plot};
use std::io::Read;
use std::path::Path;

/// Which kinds of pictures.
pub enum Choice {
    /// All of [`PLOTS`].
    All,
    /// These.
    Some(Vec<&'static Plot>),
}

/// Writes figures, SVG and PNG each, into a folder.
pub fn write(figures: &[Figure], folder: &Path) -> anyhow::Result<()> {
    for figure in figures {
        let path = folder.join(&figure.name);
        output::write(&path.with_extension("svg"), figure.svg.as_bytes())?;
        output::write(&path.with_extension("png"), &figure.png()?)?;
    }
    Ok(())
}

/// Draws from a trace, of which `profile` is, into `folder`; gives the number of pictures.
pub fn draw(
    trace: impl Read,
    profile: &Profile,
    folder: &Path,
    choice: &Choice,
) -> anyhow::Result<usize> {
    let reader = TraceReader::open(trace)?;
    let program = reader.program().clone();
    let mut profiler = Profiler::with_observer(Canvas::new(profile));
    let ending = reader.read_into(&mut profiler)?;
    let (_, canvas) = profiler.finish();
    output::folder(folder)?;
    let plots: Vec<&Plot> = match choice {
        Choice::All => PLOTS.iter().collect(),
        Choice::Some(plots) => plots.clone(),
    };
    let mut written = 0;
    for plot in plots {
        let figures = plot.draw(&canvas, &program, &ending.locations)?;
        write(&figures, folder)?;
        written += figures.len();
    }
    Ok(written)
}
