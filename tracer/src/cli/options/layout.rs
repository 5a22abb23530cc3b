//! What an arena holds.

use dmo_analysis::arena::Layout;
use dmo_analysis::schedule::CountedEnds;
use dmo_planner::plan::tflm::ALIGNMENT;

/// What the arena holds.
#[derive(clap::Args)]
pub struct LayoutArguments {
    /// Round offsets and sizes up to multiples of this many bytes (TensorFlow Lite Micro uses 16)
    #[arg(long, value_name = "BYTES", default_value_t = ALIGNMENT, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub align: u64,
    /// Keep the model's inputs outside the arena
    #[arg(long)]
    exclude_inputs: bool,
    /// Keep the model's outputs outside the arena
    #[arg(long)]
    exclude_outputs: bool,
    /// Preserve the model's inputs: they are intact when an inference has ended
    #[arg(long, conflicts_with = "exclude_inputs")]
    keep_inputs: bool,
    /// Keep scratch buffers outside the arena
    #[arg(long)]
    exclude_scratch: bool,
}

impl LayoutArguments {
    /// The layout that they describe.
    pub fn layout(&self) -> Layout {
        Layout {
            alignment: self.align,
            round_sizes: true,
            counted: CountedEnds {
                count_graph_inputs: !self.exclude_inputs,
                count_graph_outputs: !self.exclude_outputs,
            },
            keep_inputs: self.keep_inputs,
            scratch: !self.exclude_scratch,
        }
    }
}
