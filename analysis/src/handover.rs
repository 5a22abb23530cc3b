//! A plan for others to use.
//!
//! | module | what it holds |
//! |---|---|
//! | `plan_file` | the plan, complete in itself, as JSON |
//! | `c_header` | the same as C |
//! | `planned_region` | several memories as one arena |
//! | `region_header` | a plan of several memories as C |
//! | `on_device` | what TensorFlow Lite Micro makes of a plan |
//! | `rewrite` | a model file with other operators, on the same weights |
//! | `tiled` | a model file whose operators run in tiles, with its plan |

mod c_header;
mod on_device;
mod plan_file;
mod planned_region;
mod region_header;
mod rewrite;
mod tiled;

pub(crate) use on_device::own_clash;
pub use on_device::{OnDevice, on_device};
pub use plan_file::{
    FurtherKernels, PlanFile, PlannedKernels, PlannedScratch, PlannedTensor, SCHEMA, UsedOverlap,
};
pub use planned_region::PlannedRegion;
pub use region_header::RegionHeader;
pub use rewrite::rewrite;
pub use tiled::{TiledError, TiledModel, tiled};
