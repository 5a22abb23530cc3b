//! TensorFlow Lite Micro in a process of its own, which runs one model after the other.

use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The Python package.
pub const PACKAGE: &str = "tflite_micro";
/// Of a model whose outputs depend on what its arena held before.
pub const UNDEFINED: &str = "its outputs depend on memory that nothing stores";
/// For what TensorFlow Lite Micro allocates for itself, and for what mutants move upwards.
const OWN_BYTES: u64 = 1 << 18;

/// What the runtime makes of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The outputs are those of the reference.
    Same,
    Different,
    /// It does not load it, or an operator fails.
    Failed(String),
    /// The process ends.
    Broken,
}

/// A model without a plan, whose outputs count.
#[derive(Clone)]
pub struct Reference {
    pub file: Vec<u8>,
    pub inputs: usize,
    pub outputs: usize,
    pub naive_bytes: u64,
    pub seed: u64,
}

/// A model with a plan, and other offsets for it.
pub struct Case<'a> {
    pub file: &'a [u8],
    /// Where the offsets begin in the file.
    pub place: usize,
    pub keeps_inputs: bool,
    pub mutants: &'a [Vec<i32>],
}

/// What becomes of a plan and of its mutants.
pub struct Judgement {
    pub planned: Verdict,
    /// What the runtime takes for tensors and scratch buffers, where it runs the plan.
    pub head_bytes: Option<u64>,
    pub mutants: Vec<Verdict>,
}

/// A generated library, compiled for this machine as a shared object.
#[derive(Serialize)]
pub struct Library {
    pub path: PathBuf,
    pub prefix: String,
    pub arena_bytes: u64,
    pub state_bytes: u64,
    pub alignment: u64,
    pub keeps_inputs: bool,
    /// Names of its functions, without the prefix.
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
}

#[derive(Deserialize)]
struct Loaded {
    head_bytes: Option<u64>,
    is_defined: Option<bool>,
    refused: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    planned: String,
    head_bytes: Option<u64>,
    mutants: Vec<String>,
}

pub struct Judge {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Judge {
    pub fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adversary/judge.py");
        let mut child = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            requests,
            answers,
        }
    }

    fn restart(&mut self) {
        *self = Self::start();
    }

    /// `None` when the process ends; it is started anew.
    fn ask<A: for<'a> Deserialize<'a>>(
        &mut self,
        request: &serde_json::Value,
        file: &[u8],
    ) -> Option<A> {
        let mut bytes = request.to_string().into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(file);
        let sent = self.requests.write_all(&bytes);
        let sent = sent.and_then(|()| self.requests.flush());
        let mut line = String::new();
        let received = sent.and_then(|()| self.answers.read_line(&mut line));
        if received.is_ok_and(|bytes| bytes > 0) {
            return Some(serde_json::from_str(&line).unwrap());
        }
        self.restart();
        None
    }

    /// Loads the model that the others have to agree with; gives what it takes for tensors and
    /// scratch buffers.
    ///
    /// # Errors
    /// When the runtime does not run it.
    pub fn load(&mut self, reference: &Reference) -> Result<u64, String> {
        let request = json!({
            "what": "reference",
            "bytes": reference.file.len(),
            "inputs": reference.inputs,
            "outputs": reference.outputs,
            "arena_bytes": reference.naive_bytes + OWN_BYTES,
            "seed": reference.seed,
        });
        let loaded: Option<Loaded> = self.ask(&request, &reference.file);
        let loaded = loaded.ok_or_else(|| "the runtime breaks on it".to_owned())?;
        if loaded.is_defined == Some(false) {
            return Err(UNDEFINED.to_owned());
        }
        loaded
            .head_bytes
            .ok_or_else(|| loaded.refused.unwrap_or_default())
    }

    /// Runs a plan of the reference that was loaded last, and its mutants.
    pub fn judge(&mut self, case: &Case) -> Judgement {
        if let Some(judgement) = self.together(case) {
            return judgement;
        }
        // One of them breaks the runtime.
        let mut alone = |mutant: Option<&Vec<i32>>| {
            let mutants: Vec<Vec<i32>> = mutant.into_iter().cloned().collect();
            self.together(&Case {
                mutants: &mutants,
                ..*case
            })
        };
        let planned = alone(None);
        let mutants = case.mutants.iter().map(|mutant| {
            let judgement = alone(Some(mutant));
            judgement.map_or(Verdict::Broken, |judgement| judgement.mutants[0].clone())
        });
        let mutants = mutants.collect();
        Judgement {
            head_bytes: planned.as_ref().and_then(|planned| planned.head_bytes),
            planned: planned.map_or(Verdict::Broken, |planned| planned.planned),
            mutants,
        }
    }

    /// Runs a library of the reference that was loaded last.
    pub fn run(&mut self, library: &Library) -> Verdict {
        let request = json!({ "what": "library", "bytes": 0, "library": library });
        let answer: Option<Option<String>> = self.ask(&request, &[]);
        answer
            .flatten()
            .map_or(Verdict::Broken, |text| verdict(&text))
    }

    fn together(&mut self, case: &Case) -> Option<Judgement> {
        let ends = case.mutants.iter().flatten().copied().max().unwrap_or(0);
        let request = json!({
            "what": "plan",
            "bytes": case.file.len(),
            "place": case.place,
            "keeps_inputs": case.keeps_inputs,
            "more_bytes": ends,
            "mutants": case.mutants,
        });
        let answer: Option<Answer> = self.ask(&request, case.file)?;
        let answer = answer?;
        Some(Judgement {
            planned: verdict(&answer.planned),
            head_bytes: answer.head_bytes,
            mutants: answer.mutants.iter().map(|text| verdict(text)).collect(),
        })
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // Both fail when it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn verdict(text: &str) -> Verdict {
    match text {
        "same" => Verdict::Same,
        "different" => Verdict::Different,
        other => Verdict::Failed(other.to_owned()),
    }
}
