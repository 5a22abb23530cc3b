//! The models of a program that runs several: a few lines for each.

use crate::study::tenants::Tenant;
use dmo_analysis::wording::{counted, grouped};

/// What is said of each model; nothing where there is one.
pub fn text(models: &[Tenant]) -> String {
    if models.is_empty() {
        return String::new();
    }
    let count = counted(models.len() as u64, "model", "models");
    let mut text = format!("\nThe program runs {count}, each held against its own plan:\n");
    for model in models {
        text += &format!("  {}: {}\n", sentence(model), verdict(model));
        for line in objections(model) {
            text += &format!("    {line}\n");
        }
    }
    text
}

/// The model, and where it lies.
pub fn sentence(model: &Tenant) -> String {
    format!(
        "the model at {}: {}, {}, head of {} bytes at {:#010x}, {}",
        model.address,
        counted(model.operators as u64, "operator", "operators"),
        counted(model.inferences as u64, "inference", "inferences"),
        grouped(model.head.end - model.head.start),
        model.head.start,
        kept(model),
    )
}

fn kept(model: &Tenant) -> String {
    let ranges = model.kept.iter();
    let ranges = ranges.map(|kept| format!("[{:#010x}, {:#010x})", kept.start, kept.end));
    let ranges: Vec<String> = ranges.collect();
    match ranges[..] {
        [] => "what it keeps is not found".to_owned(),
        _ => format!("keeps {}", ranges.join(" and ")),
    }
}

/// Where it is not known what a model keeps, the others were not held against that.
pub fn verdict(model: &Tenant) -> &'static str {
    match (model.safe, model.kept.is_empty()) {
        (false, _) => "UNSAFE",
        (true, false) => "SAFE within each inference, and between them",
        (true, true) => "SAFE within each inference",
    }
}

/// What is wrong with it, a line each.
pub fn objections(model: &Tenant) -> Vec<String> {
    let mut lines = Vec::new();
    if model.clobbered {
        lines.push(format!(
            "a tensor is overwritten while it is needed (--model picks the model at {})",
            model.address
        ));
    }
    for store in &model.foreign_stores {
        lines.push(format!(
            "inference {}, operator {}: {} to what another model keeps, the first by {} to {}",
            store.inference + 1,
            store.operator.0,
            counted(store.count, "store", "stores"),
            store.pc,
            store.address,
        ));
    }
    for (other, shared) in &model.claimed_twice {
        lines.push(format!(
            "[{:#010x}, {:#010x}) is kept by the model at {other}, too: they need one MicroAllocator, or arenas of their own",
            shared.start, shared.end
        ));
    }
    lines
}
