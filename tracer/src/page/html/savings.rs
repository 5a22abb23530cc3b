//! What each way of saving memory does to models, as bars in tables.

use super::bar::{bar, marked};
use crate::page::savings::{SavingsRow, SavingsTable};
use crate::page::text::percent;
use dmo_analysis::wording::grouped;
use maud::{Markup, html};

/// All models, then each by itself.
pub fn section(models: &[SavingsTable]) -> Markup {
    html! {
        @if models.len() > 1 { (overview(models)) }
        @for (index, model) in models.iter().enumerate() { (table(index, model)) }
    }
}

fn overview(models: &[SavingsTable]) -> Markup {
    html! {
        section aria-labelledby="overview-title" {
            h2 #overview-title { "All models" }
            p { "The bars of a model are on one scale: all of it is the arena without any reuse." }
            div.scroll tabindex="0" role="region" aria-label="All models" {
                table #overview {
                    thead {
                        tr {
                            th scope="col" { "Model" }
                            th.number scope="col" { "No reuse" }
                            th.number scope="col" { "No overlaps" }
                            th.number scope="col" { "All changes" }
                            th.number scope="col" { "Share" }
                            th aria-hidden="true" {}
                        }
                    }
                    tbody {
                        @for (index, model) in models.iter().enumerate() {
                            @let size = |row: Option<&SavingsRow>| row.map_or(0, |row| row.arena_bytes);
                            @let (all, planned, best) = (size(model.unplanned()), size(model.planned()), size(model.best()));
                            tr {
                                th.name scope="row" { a href={ "#model-" (index) } { (model.model) } }
                                td.number { (grouped(all)) }
                                td.number { (grouped(planned)) }
                                td.number { (grouped(best)) }
                                td.number { (percent(best, planned)) }
                                td.bars aria-hidden="true" {
                                    (bar("planned", planned, all))
                                    (bar("best", best, all))
                                }
                            }
                        }
                    }
                }
            }
            p.hint {
                "The upper bar is the best placement without overlaps, the lower one has all changes "
                "that make the arena smaller, and the share is what these leave of it."
            }
        }
    }
}

fn table(index: usize, model: &SavingsTable) -> Markup {
    let has_instructions = model.rows.iter().any(|row| row.instructions.is_some());
    let has_cycles = model.rows.iter().any(|row| row.cycles.is_some());
    let all = model
        .rows
        .iter()
        .map(|row| row.arena_bytes)
        .max()
        .unwrap_or(0);
    let best = model.best().map(|row| row.added);
    let number = |known: Option<u64>| known.map_or("-".to_owned(), grouped);
    html! {
        section id={ "model-" (index) } aria-labelledby={ "model-title-" (index) } {
            h2 id={ "model-title-" (index) } { (model.model) }
            p { (grouped(model.macs)) " multiply-accumulates." }
            div.scroll tabindex="0" role="region" aria-label={ "Savings of " (model.model) } {
                table.savings {
                    thead {
                        tr {
                            th scope="col" { "Way" }
                            th.number scope="col" { "Arena" }
                            th.number scope="col" { "Of no reuse" }
                            th aria-hidden="true" {}
                            th.number scope="col" { "Bound" }
                            th.number scope="col" { "Recomputed" }
                            th.number scope="col" { "Of all" }
                            @if has_instructions { th.number scope="col" { "Instructions" } }
                            @if has_cycles { th.number scope="col" { "Cycles" } }
                        }
                    }
                    tbody {
                        @for row in &model.rows {
                            tr.chosen[Some(row.added) == best] {
                                th scope="row" { (row.added) }
                                td.number { (grouped(row.arena_bytes)) }
                                td.number { (percent(row.arena_bytes, all)) }
                                td aria-hidden="true" {
                                    (marked(colour(row, best), row.arena_bytes, all, Some(row.bound_bytes)))
                                }
                                td.number { (grouped(row.bound_bytes)) }
                                td.number { (grouped(row.extra_macs)) }
                                td.number { (percent(row.extra_macs, model.macs)) }
                                @if has_instructions { td.number { (number(row.instructions)) } }
                                @if has_cycles { td.number { (row.cycles.as_deref().unwrap_or("-")) } }
                            }
                        }
                    }
                }
            }
            p.hint { "Sizes are bytes. The line in a bar is the bound; the smallest arena is bold." }
            @for note in &model.notes { p { (note) } }
        }
    }
}

/// The class of a row's bar.
fn colour(row: &SavingsRow, best: Option<&str>) -> &'static str {
    if Some(row.added) == best {
        "best"
    } else {
        "planned"
    }
}
