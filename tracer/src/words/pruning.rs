//! What pruning did to a model.

use dmo_analysis::graph::TensorId;
use dmo_analysis::transform::prune::{Cost, PruneReport, PrunedTensor};
use dmo_analysis::wording::{counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// What pruning did to a model, in figures.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct PruneSummary {
    /// Channels that went, of all tensors.
    pub channels_removed: usize,
    /// Tensors that have lost channels.
    pub tensors: Vec<TensorSummary>,
    /// Before.
    pub before: Cost,
    /// After.
    pub after: Cost,
    /// Kinds of operators that keep all channels of their tensors, and how many there are.
    pub not_understood: Vec<(String, usize)>,
}

/// A tensor that has lost channels.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct TensorSummary {
    tensor: TensorId,
    name: String,
    /// How many channels it had.
    channels: usize,
    /// How many went.
    removed: usize,
    /// How many of these are the same for every input; the others varied, and nothing read them.
    constant: usize,
}

impl PruneSummary {
    /// Of what was done.
    pub fn new(report: &PruneReport) -> Self {
        let summary = |tensor: &PrunedTensor| TensorSummary {
            tensor: tensor.tensor,
            name: tensor.name.clone(),
            channels: tensor.channels,
            removed: tensor.removed.len(),
            constant: tensor
                .removed
                .iter()
                .filter(|it| it.constant.is_some())
                .count(),
        };
        Self {
            channels_removed: report.removed(),
            tensors: report.tensors.iter().map(summary).collect(),
            before: report.before,
            after: report.after,
            not_understood: report.opaque.clone(),
        }
    }

    /// In a sentence.
    pub fn sentence(&self) -> String {
        match self.tensors.len() {
            0 => self.of_code(),
            _ => format!(
                "{}, {} bytes of file",
                self.of_code(),
                self.figures(|cost| cost.file_bytes)
            ),
        }
    }

    fn figures(&self, of: fn(&Cost) -> u64) -> String {
        format!(
            "{} -> {}",
            grouped(of(&self.before)),
            grouped(of(&self.after))
        )
    }

    /// The same where no file is written.
    pub fn of_code(&self) -> String {
        if self.tensors.is_empty() {
            let keep = self.not_understood.iter();
            let keep: Vec<String> = keep
                .map(|(kind, count)| format!("{kind} {count}"))
                .collect();
            let keep = match keep.len() {
                0 => String::new(),
                _ => format!("; operators that keep all channels: {}", keep.join(", ")),
            };
            return format!("Pruned: nothing, no channel is known that makes no difference{keep}");
        }
        format!(
            "Pruned: {} of {}; {} multiply-accumulates, {} bytes of weights",
            counted(self.channels_removed as u64, "channel", "channels"),
            counted(self.tensors.len() as u64, "tensor", "tensors"),
            self.figures(|cost| cost.macs),
            self.figures(|cost| cost.weight_bytes),
        )
    }
}
