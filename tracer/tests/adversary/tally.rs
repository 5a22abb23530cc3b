//! What came out of a campaign.

use dmo_analysis::graph::Graph;
use dmo_trace::codegen::library::GeneratedFile;
use dmo_trace::study::StudyError;
use dmo_trace::study::overlap_source::OverlapKind;
use dmo_trace::study::plan::{OrderKind, PlanRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Write};
use std::path::PathBuf;

/// What was tried, and what did not agree.
#[derive(Default)]
pub struct Tally {
    pub models: u64,
    /// In how many models the operators of each kind were.
    pub kinds: BTreeMap<String, u64>,
    /// Models that the runtime does not run without a plan, by its message; with a seed.
    pub refused_models: BTreeMap<String, (u64, u64)>,
    pub plans: u64,
    /// Plans by what was asked for.
    pub options: BTreeMap<&'static str, u64>,
    /// Plans that are not made, by the reason.
    pub refused_plans: BTreeMap<String, u64>,
    pub safe: u64,
    /// Those of them whose tensors share bytes while they are in use.
    pub safe_overlapping: u64,
    pub unsafe_mutants: u64,
    /// Those of them whose outputs differ.
    pub unsafe_seen: u64,
    pub refused_mutants: u64,
    /// Plans that are SAFE on emulated kernels.
    pub verified: u64,
    /// Those of them that leave out, split or replace operators.
    pub verified_changed: u64,
    /// Plans that emulated kernels cannot run.
    pub unverified: u64,
    /// Models that are C libraries, by what was asked for.
    pub built: u64,
    pub built_options: BTreeMap<&'static str, u64>,
    /// In how many of them the operators of each kind are.
    pub built_kinds: BTreeMap<String, u64>,
    /// Operators that no library has, by the reason.
    pub without_kernel: BTreeMap<String, u64>,
    /// Models that do not become a library, by the reason; with a seed.
    pub not_built: BTreeMap<String, (u64, u64)>,
    pub disagreements: Vec<String>,
    /// Where the files of disagreements are written.
    pub folder: Option<PathBuf>,
}

impl Tally {
    pub fn mutants(&self) -> u64 {
        self.safe + self.unsafe_mutants
    }

    pub fn refused_model(&mut self, seed: u64, message: &str) {
        let line = message.lines().next().unwrap_or_default().to_owned();
        self.refused_models.entry(line).or_insert((0, seed)).0 += 1;
    }

    pub fn model(&mut self, graph: &Graph) {
        self.models += 1;
        count_kinds(&mut self.kinds, graph);
    }

    pub fn built(&mut self, graph: &Graph, options: &[(&'static str, bool)]) {
        self.built += 1;
        count_kinds(&mut self.built_kinds, graph);
        for (option, _) in options.iter().filter(|(_, asked)| *asked) {
            *self.built_options.entry(option).or_default() += 1;
        }
    }

    pub fn not_built(&mut self, seed: u64, reason: String) {
        self.not_built.entry(reason).or_insert((0, seed)).0 += 1;
    }

    pub fn without_kernel(&mut self, reason: String) {
        *self.without_kernel.entry(reason).or_default() += 1;
    }

    pub fn plan(&mut self, request: &PlanRequest, is_tiled: bool) {
        self.plans += 1;
        let (layout, changes) = (request.layout, request.changes);
        let asked = [
            ("--keep-inputs", layout.keep_inputs),
            ("--align above 16", layout.alignment > 16),
            ("--exclude-inputs", !layout.counted.count_graph_inputs),
            ("--exclude-outputs", !layout.counted.count_graph_outputs),
            ("--exclude-scratch", !layout.scratch),
            ("--overlap none", request.overlap.kind == OverlapKind::None),
            ("--order file", request.order == OrderKind::File),
            ("--allow accumulate", changes.accumulate),
            ("--allow split", changes.split),
            ("--allow patch", changes.patch),
            ("in tiles", is_tiled),
        ];
        for (option, _) in asked.into_iter().filter(|(_, asked)| *asked) {
            *self.options.entry(option).or_default() += 1;
        }
    }

    pub fn refused_plan(&mut self, error: &StudyError) {
        let reason = if error.to_string().contains("is needed") {
            "the runtime would place a buffer over memory in use".to_owned()
        } else {
            format!("{error:?}")
        };
        *self.refused_plans.entry(reason).or_default() += 1;
    }

    pub fn safe(&mut self, overlaps: bool) {
        self.safe += 1;
        self.safe_overlapping += u64::from(overlaps);
    }

    pub fn unsafe_mutant(&mut self, is_seen: bool) {
        self.unsafe_mutants += 1;
        self.unsafe_seen += u64::from(is_seen);
    }

    pub fn verified(&mut self, is_changed: bool) {
        self.verified += 1;
        self.verified_changed += u64::from(is_changed);
    }

    pub fn object(&mut self, seed: u64, what: &str, files: &[(&str, &[u8])]) {
        self.disagreements.push(format!("seed {seed}: {what}"));
        eprintln!("seed {seed}: {what}");
        let Some(folder) = &self.folder else {
            return;
        };
        std::fs::create_dir_all(folder).unwrap();
        for (name, content) in files {
            std::fs::write(folder.join(format!("{seed}-{name}.tflite")), content).unwrap();
        }
    }

    /// Writes the files of a library that does not agree.
    pub fn save_library(&self, seed: u64, files: &[GeneratedFile]) {
        let Some(folder) = &self.folder else {
            return;
        };
        for file in files {
            let path = folder.join(format!("{seed}-library")).join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
    }
}

fn count_kinds(counts: &mut BTreeMap<String, u64>, graph: &Graph) {
    let kinds = graph.operators.iter().map(|node| node.kind.to_string());
    for kind in kinds.collect::<BTreeSet<_>>() {
        *counts.entry(kind).or_default() += 1;
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let counts = |counts: Vec<(String, u64)>| {
            let counts = counts.into_iter();
            let counts: Vec<String> = counts
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            counts.join(", ")
        };
        let kinds = self
            .kinds
            .iter()
            .map(|(kind, &count)| (kind.clone(), count));
        let options = self
            .options
            .iter()
            .map(|(name, &count)| ((*name).to_owned(), count));
        writeln!(
            text,
            "{} models, of {} kinds of operators:",
            self.models,
            self.kinds.len()
        )?;
        writeln!(text, "  {}", counts(kinds.collect()))?;
        writeln!(text, "{} plans emitted and run:", self.plans)?;
        writeln!(text, "  {}", counts(options.collect()))?;
        writeln!(
            text,
            "{} mutants called SAFE, {} of them with an overlap in use",
            self.safe, self.safe_overlapping
        )?;
        writeln!(
            text,
            "{} mutants called UNSAFE, {} of them with other outputs; {} refused",
            self.unsafe_mutants, self.unsafe_seen, self.refused_mutants
        )?;
        writeln!(
            text,
            "{} plans verified on emulated kernels, {} of them with other operators; {} not run",
            self.verified, self.verified_changed, self.unverified
        )?;
        let of_names = |names: &BTreeMap<&'static str, u64>| {
            let names = names.iter();
            counts(
                names
                    .map(|(&name, &count)| (name.to_owned(), count))
                    .collect(),
            )
        };
        writeln!(
            text,
            "{} models built and run as C, of {} kinds of operators:",
            self.built,
            self.built_kinds.len()
        )?;
        writeln!(text, "  {}", of_names(&self.built_options))?;
        writeln!(
            text,
            "  {}",
            counts(self.built_kinds.clone().into_iter().collect())
        )?;
        for (reason, (count, seed)) in &self.not_built {
            writeln!(text, "{count} models not built (seed {seed}): {reason}")?;
        }
        for (reason, count) in &self.without_kernel {
            writeln!(text, "{count} operators taken back: {reason}")?;
        }
        for (reason, count) in &self.refused_plans {
            writeln!(text, "{count} plans not made: {reason}")?;
        }
        for (reason, (count, seed)) in &self.refused_models {
            writeln!(
                text,
                "{count} models that TensorFlow Lite Micro refuses (seed {seed}): {reason}"
            )?;
        }
        writeln!(text, "{} disagreements", self.disagreements.len())?;
        f.write_str(&text)
    }
}
