//! Pictures of a trace, of a graph's order and of plans, as SVG and PNG.
//!
//! The first pass over a trace gives a [`Profile`](dmo_analysis::profile::Profile); in a second
//! pass the profiler tells a [`Canvas`] of each access, and then the [`PLOTS`] draw what
//! is on it.
//!
//! ```
//! use dmo_plot::{Canvas, PLOTS};
//! use dmo_analysis::profile::{Profile, Profiler};
//! use dmo_analysis::trace::{Locations, Program};
//!
//! # let program = Program {
//! #     name: "conv2d.elf".into(), sha256: String::new(),
//! #     cpu: "cortex-m4".into(), recorder: String::new(),
//! # };
//! let profile = Profile::default(); // of the first pass
//! let second_pass = Profiler::with_observer(Canvas::new(&profile));
//! // ... the same trace again ...
//! let (_, canvas) = second_pass.finish();
//! for plot in PLOTS {
//!     for figure in plot.draw(&canvas, &program, &Locations::new())? {
//!         println!("{}.svg: {} bytes", figure.name, figure.svg.len());
//!         let _png: Vec<u8> = figure.png()?;
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `canvas` | accesses and stretches of use, to rasters |
//! | `raster` | a grid of cells: loaded, stored, updated, in use |
//! | `paint` | rasters to few rectangles |
//! | `sheet`, `text`, `axis` | SVG: shapes, text that fits, ticks |
//! | `chart`, `callout`, `name` | what the pictures share: title, legend, axes, labels, names |
//! | `layer`, `arena`, `overlap` | one picture each |
//! | `inference` | whole inferences over the arenas of several plans |
//! | `spans` | the layers along a time axis, with their names |
//! | `working_set` | what is in memory in each step of an order: of a graph, not of a trace |
//! | `plan` | where the buffers of a plan lie, step by step; two plans side by side |
//! | `step_names` | the operators' names below a panel |
//! | `front`, `forms` | memory against recomputation, and against time |
//! | `png` | the PNG of an SVG |

mod arena;
mod axis;
mod callout;
mod canvas;
mod chart;
mod forms;
mod front;
mod inference;
mod layer;
mod name;
mod overlap;
mod paint;
mod plan;
mod png;
mod raster;
mod sheet;
mod spans;
mod step_names;
mod text;
mod working_set;

pub use canvas::Canvas;
pub use forms::{FormPoint, draw_forms};
pub use front::draw_front;
pub use inference::{InferencePanel, draw_inferences};
pub use plan::{PlanPicture, draw_plan, draw_plans, step_names};
pub use png::PngError;
pub use working_set::draw_working_sets;

use dmo_analysis::trace::{Locations, Program};

/// A kind of picture.
#[derive(Debug, Clone, Copy)]
pub struct Plot {
    /// Name for the command line.
    pub name: &'static str,
    /// One line on what the picture shows.
    pub description: &'static str,
    draw: fn(&Subject<'_>) -> Result<Vec<Figure>, DrawError>,
}

/// All kinds of pictures.
pub const PLOTS: &[Plot] = &[
    Plot {
        name: "layer",
        description: "the accesses of each layer, one panel for each of its tensors",
        draw: layer::draw,
    },
    Plot {
        name: "arena",
        description: "all tensors' memory over the whole program",
        draw: arena::draw,
    },
    Plot {
        name: "overlap",
        description: "each input placed on the end of each output, with what limits the overlap",
        draw: overlap::draw,
    },
];

impl Plot {
    /// The plot of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PLOTS.iter().find(|plot| plot.name == name)
    }

    /// Draws what is on the canvas: a figure for each layer, for the program, or for
    /// each pair of an input and an output. Their names are unique over all plots.
    ///
    /// # Errors
    /// When the SVG cannot be written.
    pub fn draw(
        &self,
        canvas: &Canvas<'_>,
        program: &Program,
        locations: &Locations,
    ) -> Result<Vec<Figure>, DrawError> {
        (self.draw)(&Subject {
            canvas,
            program,
            locations,
        })
    }
}

/// The parts of a drawing.
struct Subject<'a> {
    canvas: &'a Canvas<'a>,
    program: &'a Program,
    locations: &'a Locations,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Name for a file, without extension: letters, digits, `_` and `-` only.
    pub name: String,
    /// The picture, less than 2 MB.
    pub svg: String,
}

impl Figure {
    /// The same picture in pixels, two for each of the SVG in both directions.
    ///
    /// # Errors
    /// When the SVG is not one that [`Plot::draw`] makes.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png::png(&self.svg)
    }
}

/// Why a picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the picture: {0}")]
pub struct DrawError(#[source] Box<dyn std::error::Error + Send + Sync>);
