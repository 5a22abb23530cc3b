//! Options that say what a plan may change of the work.

use anyhow::ensure;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::error::StudyError;
use dmo_trace::study::source::Source;

/// What may be done to the work of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Change {
    /// Run depthwise convolutions in place, with a kernel that needs one plane of scratch
    Inplace,
    /// Let element-wise operators overwrite an input, whatever --overlap says
    Accumulate,
    /// Leave out channels that are never read or the same for every input
    Prune,
    /// Leave out operators that only move data
    Remove,
    /// Compute runs of operators in bands of rows
    Split,
    /// Compute runs of operators in patches of rows and columns
    Patch,
    /// Compute runs of operators in bands that keep the rows that the next band needs too, in line
    /// buffers, instead of computing them again
    Cache,
}

/// Which changes are allowed.
#[derive(Clone, clap::Args)]
pub struct ChangeArguments {
    /// Changes to the model's graph to allow, comma-separated; the results stay the same. The plan
    /// then needs kernels that support them, and `dmo-trace verify --plan` proves it
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub allow: Vec<Change>,
    /// Extra multiply-accumulates allowed for tiling (--allow split, patch or cache), in % of the model's
    /// [default: 10%; 200% with --ram, --flash or --front of `build`]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub max_recompute: Option<f64>,
    /// Take and give the integers that the model computes with: leave out the QUANTIZE that reads an
    /// input in floats, and the DEQUANTIZE that stores an output in floats, unless something else uses
    /// what they convert
    #[arg(long)]
    pub integer_io: bool,
    /// Take the model's input in rows while it computes, so that the input is never in the arena as a
    /// whole; --allow split,patch,cache unless some of these are given
    #[arg(long)]
    pub slices: bool,
}

impl ChangeArguments {
    /// Makes of the model's file what is asked for.
    ///
    /// # Errors
    /// When its ends are to be integers, and none of them can be.
    pub fn take_integers(&self, source: &mut Source) -> Result<(), StudyError> {
        if self.integer_io {
            source.take_integers()?;
        }
        Ok(())
    }

    /// Whether runs of operators may be computed in tiles.
    pub fn allow_tiles(&self) -> bool {
        let tiles = [Change::Split, Change::Patch, Change::Cache];
        self.slices || tiles.iter().any(|change| self.allow.contains(change))
    }

    /// What they ask for.
    ///
    /// # Errors
    /// When tiles are limited and not allowed.
    pub fn request(&self) -> anyhow::Result<ChangeRequest> {
        let allows = |change| self.allow.contains(&change);
        ensure!(
            self.max_recompute.is_none() || self.allow_tiles(),
            "--max-recompute limits what tiles compute again, and no tiles are allowed\n  hint: --allow split,patch,cache"
        );
        let by_default = ChangeRequest::default();
        let changes = ChangeRequest {
            in_place: allows(Change::Inplace),
            accumulate: allows(Change::Accumulate),
            prune: allows(Change::Prune),
            remove: allows(Change::Remove),
            split: allows(Change::Split),
            patch: allows(Change::Patch),
            cache: allows(Change::Cache),
            most_recomputed_percent: self
                .max_recompute
                .unwrap_or(by_default.most_recomputed_percent),
            ..by_default
        };
        Ok(if self.slices {
            changes.in_rows()
        } else {
            changes
        })
    }
}

/// `10%`, `10`.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=10_000.0).contains(percent))
        .ok_or_else(|| format!("'{text}' is not a percentage from 0 to 10000"))
}
