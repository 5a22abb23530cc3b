//! What came out of a campaign.

use dmo_analysis::graph::Graph;
use dmo_trace::study::StudyError;
use dmo_trace::study::overlap_source::OverlapKind;
use dmo_trace::study::plan::{OrderKind, PlanRequest};
use std::collections::BTreeMap;
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
        let kinds = graph.operators.iter().map(|node| node.kind.to_string());
        for kind in kinds.collect::<std::collections::BTreeSet<_>>() {
            *self.kinds.entry(kind).or_default() += 1;
        }
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
