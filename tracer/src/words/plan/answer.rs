//! The end of a plan's report: the arena, what it is needed for, and what to do next.

use super::PlanReport;
use crate::study::peak::{ArenaPeak, PeakBuffer};
use crate::words::names;
use crate::words::whole_arena::changes;
use dmo_analysis::optimise::Certificate;
use dmo_analysis::wording::{bytes, grouped};

/// Buffers that are named at the peak.
const MOST_NAMED: usize = 4;

impl PlanReport {
    pub(super) fn answer(&self) -> String {
        let plan = &self.plan;
        let order = if self.reordered {
            "another than the file's"
        } else {
            "that of the file"
        };
        let mut text = format!(
            "Order: {order}. Overlaps: {} ({} used). Alignment: {}.\n",
            plan.overlap,
            plan.overlaps.len(),
            plan.layout.alignment
        );
        text += &self.on_device();
        if let Some(peak) = &self.peak {
            text += &format!(
                "\nPeak: {}{}\n",
                peak_words(peak),
                above(peak, plan.arena_bytes)
            );
        }
        text += &format!(
            "Arena: {} bytes, {}\n",
            grouped(plan.arena_bytes),
            self.certificate()
        );
        text += &self.capacity();
        for written in self.headlines.iter().chain(&self.written) {
            text += &format!("Written: {written}\n");
        }
        if !self.next.is_empty() {
            text += &format!("Next: {}.\n", self.next.join(".\nNext: "));
        }
        text
    }

    /// Whether the planned part keeps to the capacity, and what else counts there.
    fn capacity(&self) -> String {
        let (Some(capacity), Some(true)) = (self.capacity_bytes, self.fits) else {
            return String::new();
        };
        let all = self.arena_changes.iter().flatten();
        let all = all.chain(&self.written_changes);
        let all = all.map(|change| change.after_bytes);
        let more = all.max().filter(|bytes| *bytes > capacity).map(|bytes| {
            format!(
                "; kTensorArenaSize, with all that the runtime keeps there, is {} and does NOT: `dmo-trace arena \
                 --capacity` fails",
                grouped(bytes)
            )
        });
        let whose = if self.plan.recipe.is_some() && self.headlines.is_empty() {
            ", as C code of `dmo-trace build`; a .tflite in tiles may need more"
        } else {
            ""
        };
        format!(
            "Capacity: tensors and scratch memory fit into {} bytes{whose}{}\n",
            grouped(capacity),
            more.unwrap_or_default()
        )
    }

    /// What TensorFlow Lite Micro takes, as the model is and with the plan.
    fn on_device(&self) -> String {
        let mut text = String::new();
        if let Some([own, with_plan]) = &self.device {
            text += &format!(
                "TensorFlow Lite Micro: {} bytes {}, {} with this plan{}\n",
                grouped(own.arena_bytes),
                if self.carries_plan {
                    "with the plan that the model carries"
                } else {
                    "by its own planner"
                },
                grouped(with_plan.arena_bytes),
                if with_plan.scratch_is_apart {
                    ""
                } else {
                    " (UNSAFE: its scratch buffers would not keep apart)"
                }
            );
        }
        let all = self.arena_changes.as_ref();
        if let Some(all) = all.filter(|_| self.headlines.is_empty()) {
            text += &format!("With all that the runtime keeps there: {}\n", changes(all));
        }
        text
    }

    /// What is proven of the plan, and what that leaves out, in words.
    pub fn certificate(&self) -> String {
        let proof = self.proof();
        if self.limits_of_proof.is_empty() {
            return proof;
        }
        format!("{proof}, but: {}", self.limits_of_proof.join("; "))
    }

    fn proof(&self) -> String {
        let plan = &self.plan;
        if !plan.fixed.is_empty() && plan.certificate != Certificate::BestFound {
            return "proven with the given offsets: no placement for this order needs less"
                .to_owned();
        }
        match plan.certificate {
            Certificate::Optimal => "proven: no order and no placement needs less".to_owned(),
            Certificate::OptimalForOrder => format!(
                "proven for this order; any order needs at least {}",
                grouped(plan.bound_bytes)
            ),
            Certificate::BestFound => format!(
                "the best found within --time; at least {} are needed for this order, {} for any",
                grouped(plan.order_bound_bytes),
                grouped(plan.bound_bytes)
            ),
        }
    }
}

/// How much larger the arena is.
fn above(peak: &ArenaPeak, arena_bytes: u64) -> String {
    match arena_bytes.saturating_sub(peak.used_bytes) {
        0 => String::new(),
        bytes => format!(
            "; the arena is {} bytes larger, because of gaps between tensors",
            grouped(bytes)
        ),
    }
}

fn peak_words(peak: &ArenaPeak) -> String {
    let place = match peak.operator {
        Some(id) => format!("at operator {} {}", id.0, peak.kind.escape_debug()),
        None => "before the first operator".to_owned(),
    };
    let named = peak.buffers.iter().take(MOST_NAMED).map(buffer);
    let mut buffers: Vec<String> = named.collect();
    if let Some(further @ 1..) = peak.buffers.len().checked_sub(MOST_NAMED) {
        buffers.push(format!("{further} further"));
    }
    let shared = match peak.shared_bytes() {
        0 => String::new(),
        shared => format!(", which share {}", bytes(shared)),
    };
    format!(
        "{} bytes {place}: {}{shared}",
        grouped(peak.used_bytes),
        buffers.join(", ")
    )
}

fn buffer(buffer: &PeakBuffer) -> String {
    let size = grouped(buffer.size_bytes);
    match buffer.tensor {
        Some(id) => format!("tensor {} {:?} ({size})", id.0, names::short(&buffer.name)),
        None => format!("scratch ({size})"),
    }
}
