//! Which functions did what a kernel was called for: a wrapper hands its work on.

use crate::kernels::KernelLibrary;
use dmo_analysis::trace::{Address, Event, Layer, Role, Time, TraceSink};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which functions of a library did the work of a call.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Attribution {
    /// Other kernels with a public name that it entered, in the order in which it did.
    pub chosen: Vec<String>,
    /// Functions whose own instructions loaded and stored the buffers, most accesses first.
    pub worked: Vec<FunctionShare>,
}

/// A function that accesses the buffers.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionShare {
    /// Its name, or its address where there is none.
    pub function: String,
    /// Loads and stores.
    pub accesses: u64,
    /// Their share of all, 0 to 1.
    pub share: f64,
}

impl Attribution {
    /// The attribution of a call of `function` that entered these functions and made these
    /// accesses.
    pub fn new(
        library: &KernelLibrary,
        function: &str,
        entered: &[u32],
        accesses: &Accesses,
    ) -> Self {
        let symbols = &library.image().symbols;
        let name = |address: u32| symbols.function_at(address).map(|(it, _)| it.name.clone());
        let mut found = BTreeMap::new();
        for (&page, counts) in &accesses.pages {
            for (index, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let pc = page << PAGE_BITS | (index as u32) << 1;
                let function = name(pc).unwrap_or_else(|| Address(pc).to_string());
                *found.entry(function).or_default() += count;
            }
        }
        let all: u64 = found.values().sum();
        let worker = |(function, accesses)| FunctionShare {
            function,
            accesses,
            share: accesses as f64 / all as f64,
        };
        let mut worked: Vec<FunctionShare> = found.into_iter().map(worker).collect();
        worked.sort_by_key(|worker| std::cmp::Reverse(worker.accesses));
        Self {
            chosen: library
                .others(entered, function)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            worked,
        }
    }

    /// `function` and what it chose: `arm_convolve_wrapper_s8 > arm_convolve_1x1_s8_fast`.
    pub fn chain(&self, function: &str) -> String {
        let names = std::iter::once(function).chain(self.chosen.iter().map(String::as_str));
        names.collect::<Vec<_>>().join(" > ")
    }

    /// The functions with their shares of the accesses in percent, those below one left out.
    pub fn shares(&self) -> String {
        let shown = self.worked.iter().filter(|worker| worker.share >= 0.01);
        shown
            .map(
                |FunctionShare {
                     function, share, ..
                 }| {
                    format!("{} {:.0} %", function.escape_debug(), 100.0 * share)
                },
            )
            .collect::<Vec<_>>()
            .join(", ")
    }
}

const PAGE_BITS: u32 = 12;

/// How often each instruction accessed an input or an output.
#[derive(Debug, Default)]
pub struct Accesses {
    /// For each tensor of the layer whether it is one.
    counted: Vec<bool>,
    /// By the upper bits of its address one count for each of its half-words.
    pages: BTreeMap<u32, Vec<u64>>,
}

impl TraceSink for Accesses {
    fn begin_layer(&mut self, layer: &Layer, _: Time) {
        let counted = |role| matches!(role, Role::Input | Role::Output);
        let tensors = layer.tensors.iter();
        self.counted = tensors.map(|tensor| counted(tensor.role)).collect();
    }

    fn events(&mut self, events: &[Event]) {
        let same_page = |a: &Event, b: &Event| a.pc.0 >> PAGE_BITS == b.pc.0 >> PAGE_BITS;
        for events in events.chunk_by(same_page) {
            let page = events.first().map_or(0, |event| event.pc.0 >> PAGE_BITS);
            let counts = self.pages.entry(page);
            let counts = counts.or_insert_with(|| vec![0; 1 << (PAGE_BITS - 1)]);
            let counted =
                |event: &&Event| self.counted.get(usize::from(event.tensor)) == Some(&true);
            for event in events.iter().filter(counted) {
                counts[(event.pc.0 as usize & ((1 << PAGE_BITS) - 1)) >> 1] += 1;
            }
        }
    }

    fn end_layer(&mut self, _: Time) {}
}
