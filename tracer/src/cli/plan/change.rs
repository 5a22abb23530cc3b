//! Options that say what a plan may change of the work.

use dmo_trace::study::change::ChangeRequest;

/// What may be done to the work of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Change {
    /// Run depthwise convolutions in place, with a kernel that needs one plane of scratch
    Inplace,
    /// Let element-wise operators overwrite an input, whatever --overlap says
    Accumulate,
    /// Leave out operators that only move data
    Remove,
    /// Compute runs of operators in bands of rows
    Split,
    /// Compute runs of operators in patches of rows and columns
    Patch,
}

/// Which changes are allowed.
#[derive(clap::Args)]
pub struct ChangeArguments {
    /// Changes to the model's graph to allow, comma-separated; the results stay the same. The plan
    /// then needs kernels that support them, and `dmo-trace verify --plan` proves it
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub allow: Vec<Change>,
    /// Extra multiply-accumulates allowed for tiling, in % of the model's
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = parse_percent)]
    pub max_recompute: f64,
}

impl ChangeArguments {
    /// What they ask for.
    pub fn request(&self) -> ChangeRequest {
        let allows = |change| self.allow.contains(&change);
        ChangeRequest {
            in_place: allows(Change::Inplace),
            accumulate: allows(Change::Accumulate),
            remove: allows(Change::Remove),
            split: allows(Change::Split),
            patch: allows(Change::Patch),
            most_recomputed_percent: self.max_recompute,
        }
    }
}

/// `10%`, `10`.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=10_000.0).contains(percent))
        .ok_or_else(|| format!("'{text}' is no percentage from 0 to 10000"))
}
