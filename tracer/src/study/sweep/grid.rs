//! The grid of a sweep: which cases there are, on which kernels.

use crate::kernels::{Case, Contract};
use crate::study::case::{CaseError, CaseRequest, names};
use crate::study::error::{About, GridError, MAX_CASES, StudyError};
use crate::study::input;
use crate::study::kernel_request::{KernelRequest, NamedKernels};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The cases of a grid, in its order.
pub struct Grid {
    /// Each case on each of its sets of kernels.
    pub entries: Vec<Entry>,
    /// The sets of kernels that it names.
    pub libraries: Vec<Arc<NamedKernels>>,
    /// Skipped cases, and why.
    pub notes: Vec<String>,
}

/// One case on one set of kernels.
pub struct Entry {
    /// The case, as arguments of `dmo-trace overlap`.
    pub line: String,
    /// The case.
    pub case: Case,
    /// `None` if only the formulas are evaluated.
    pub kernel: Option<(Arc<NamedKernels>, &'static Contract)>,
    /// Rows that it gives: pairs of an input and an output.
    pub rows: usize,
}

impl Entry {
    /// The set of kernels, empty where only the formulas are evaluated.
    pub fn kernels(&self) -> &str {
        self.kernel
            .as_ref()
            .map_or("", |(library, _)| &library.name)
    }

    /// The CPU, empty where only the formulas are evaluated.
    pub fn cpu(&self) -> &'static str {
        let cpu = |(library, _): &(Arc<NamedKernels>, _)| library.library.cpu().name;
        self.kernel.as_ref().map_or("", cpu)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridFile {
    grid: Vec<GridTable>,
}

#[derive(Deserialize)]
struct GridTable {
    operator: String,
    #[serde(flatten)]
    options: BTreeMap<String, toml::Value>,
}

/// The file of a grid may not be larger, in bytes.
const MAX_BYTES: u64 = 16 << 20;

impl Grid {
    /// Reads the grid. `default` are the kernels of the tables that name none; `None` if only
    /// the formulas are wanted.
    ///
    /// # Errors
    /// As [`Self::parse`]; when the file cannot be read.
    pub fn read(path: &Path, default: Option<&KernelRequest>) -> Result<Self, StudyError> {
        let shown = path.display();
        let text = input::text(path, MAX_BYTES).about(format_args!("cannot read {shown}"))?;
        Self::parse(&text, default).about(shown)
    }

    /// The same of the text of a grid.
    ///
    /// # Errors
    /// When it is no grid, has too many cases or none, or names kernels that cannot be read.
    pub fn parse(text: &str, default: Option<&KernelRequest>) -> Result<Self, StudyError> {
        let file: GridFile = toml::from_str(text).map_err(GridError::from)?;
        let mut libraries = Libraries::default();
        let mut left_out = LeftOut::default();
        let mut entries = Vec::new();
        for (number, table) in file.grid.into_iter().enumerate() {
            let place = format!("[[grid]] {} ({})", number + 1, table.operator);
            table
                .entries(default, &mut libraries, &mut left_out, &mut entries)
                .about(place)?;
        }
        let notes = left_out.notes();
        if entries.is_empty() {
            let reasons = if notes.is_empty() {
                "it has no [[grid]]".to_owned()
            } else {
                notes.join("\n  ")
            };
            return Err(GridError::Empty { reasons }.into());
        }
        let libraries = libraries.known.into_iter().map(|(_, library)| library);
        Ok(Self {
            entries,
            libraries: libraries.collect(),
            notes,
        })
    }
}

impl GridTable {
    fn entries(
        self,
        default: Option<&KernelRequest>,
        libraries: &mut Libraries,
        left_out: &mut LeftOut,
        entries: &mut Vec<Entry>,
    ) -> Result<(), StudyError> {
        let mut options = self.options()?;
        let libraries = named(&mut options, default, libraries, left_out)?;
        for words in combinations(&self.operator, &options)? {
            let (request, function) = parse(&words)?;
            let line = words.join(" ");
            let case = match request.case() {
                Ok(case) => case,
                Err(error) if error.is_misfit() => {
                    let error = format!("{line}: {error}");
                    left_out.add(
                        "combinations make no sense and are skipped".to_owned(),
                        &error,
                    );
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let buffers = case.operator.buffers().map_err(CaseError::from)?;
            let rows = buffers.inputs.len() * buffers.outputs.len();
            for library in &libraries {
                let kernel = match library {
                    None => None,
                    Some(library) => {
                        let Some(contract) =
                            Contract::find(&library.library, &case, function.as_deref())
                        else {
                            let reason =
                                format!("cases are left out, for {} has no kernel", library.name);
                            left_out.add(reason, &line);
                            continue;
                        };
                        Some((Arc::clone(library), contract))
                    }
                };
                if entries.len() >= MAX_CASES {
                    return Err(GridError::TooManyCases.into());
                }
                entries.push(Entry {
                    line: line.clone(),
                    case: case.clone(),
                    kernel,
                    rows,
                });
            }
        }
        Ok(())
    }

    /// The options and their values: each key is an option of `dmo-trace overlap` about the
    /// case.
    fn options(&self) -> Result<Options, GridError> {
        if !names().any(|name| name == self.operator) {
            return Err(GridError::Operator {
                given: self.operator.clone(),
                known: names().collect::<Vec<_>>().join(", "),
            });
        }
        let mut known: Vec<&str> = CaseRequest::OPTIONS
            .into_iter()
            .chain([FUNCTION, "kernels", "cpu"])
            .collect();
        known.sort_unstable();
        let mut options = Options::new();
        for (key, value) in &self.options {
            if !known.contains(&key.as_str()) {
                return Err(GridError::Key {
                    given: key.clone(),
                    known: known.join(", "),
                });
            }
            let values = words(key, value)?;
            if values.is_empty() {
                return Err(GridError::NoValues { key: key.clone() });
            }
            options.insert(key.clone(), values);
        }
        Ok(options)
    }
}

/// The key that names a function of the kernels.
const FUNCTION: &str = "function";

/// Values by key.
type Options = BTreeMap<String, Vec<String>>;

/// A list of strings or whole numbers.
fn words(key: &str, value: &toml::Value) -> Result<Vec<String>, GridError> {
    let toml::Value::Array(values) = value else {
        return Err(GridError::NoList {
            key: key.to_owned(),
            found: value.type_str(),
        });
    };
    let word = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        other => Err(GridError::NoWord {
            key: key.to_owned(),
            found: other.type_str(),
        }),
    };
    values.iter().map(word).collect()
}

/// The case of a combination, and the function of the kernels that it names.
fn parse(words: &[String]) -> Result<(CaseRequest, Option<String>), GridError> {
    let (operator, rest) = match words {
        [operator, rest @ ..] => (operator.clone(), rest),
        [] => (String::new(), words),
    };
    let mut given: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for pair in rest.chunks_exact(2) {
        let option = pair[0].trim_start_matches("--");
        given.entry(option).or_default().push(&pair[1]);
    }
    let mut request = CaseRequest {
        operator,
        ..CaseRequest::default()
    };
    let mut function = None;
    for (option, values) in given {
        if option == "input" {
            request.input = values.into_iter().cloned().collect();
            continue;
        }
        let [value] = values[..] else {
            return Err(GridError::Several {
                option: option.to_owned(),
                count: values.len(),
            });
        };
        match request.option(option) {
            Some(field) => *field = Some(value.clone()),
            None => function = Some(value.clone()),
        }
    }
    Ok((request, function))
}

/// The sets of kernels that the table names, those left out that are not for a CPU.
fn named(
    options: &mut Options,
    default: Option<&KernelRequest>,
    libraries: &mut Libraries,
    left_out: &mut LeftOut,
) -> Result<Vec<Option<Arc<NamedKernels>>>, StudyError> {
    let kernels = options.remove("kernels");
    let cpus = options.remove("cpu");
    let Some(default) = default else {
        return Ok(vec![None]);
    };
    // What the command line alone says must hold.
    let axes = kernels.is_some() || cpus.is_some();
    let kernels = kernels.unwrap_or_else(|| vec![default.kernels.clone()]);
    let cpus = match cpus {
        Some(cpus) => cpus.into_iter().map(Some).collect(),
        None => vec![default.cpu.clone()],
    };
    let mut found = Vec::new();
    for kernels in &kernels {
        for cpu in &cpus {
            let request = KernelRequest {
                kernels: kernels.clone(),
                further: Vec::new(),
                cpu: cpu.clone(),
                cmsis_nn_version: default.cmsis_nn_version,
                ..KernelRequest::default()
            };
            if kernels.contains(char::is_control) {
                let kernels = kernels.clone();
                return Err(GridError::Control { kernels }.into());
            }
            match libraries.load(&request) {
                Ok(library) => found.push(Some(library)),
                Err(error) if axes && error.is_for_another_cpu() => {
                    let cpu = cpu.as_deref().unwrap_or_default();
                    let reason = format!("[[grid]] tables leave {kernels} on {cpu} out");
                    left_out.add(reason, &root_cause(&error).to_string());
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// The first of all causes.
fn root_cause(error: &StudyError) -> &dyn std::error::Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

/// All combinations of the options as words of a command line, one after the other: the last
/// option changes fastest. Values with commas give an option several times: the inputs of
/// concat.
fn combinations<'a>(
    operator: &'a str,
    options: &'a Options,
) -> Result<impl Iterator<Item = Vec<String>> + use<'a>, GridError> {
    let count = options
        .values()
        .try_fold(1usize, |count, values| count.checked_mul(values.len()))
        .filter(|&count| count <= MAX_CASES)
        .ok_or(GridError::TooManyCombinations)?;
    let line = move |index: usize| {
        let mut words = vec![operator.to_owned()];
        let mut below = count;
        for (option, values) in options {
            below /= values.len();
            for value in values[index / below % values.len()].split(',') {
                words.push(format!("--{option}"));
                words.push(value.to_owned());
            }
        }
        words
    };
    Ok((0..count).map(line))
}

/// Sets of kernels that have been read.
#[derive(Default)]
struct Libraries {
    known: Vec<(KernelRequest, Arc<NamedKernels>)>,
}

impl Libraries {
    fn load(&mut self, request: &KernelRequest) -> Result<Arc<NamedKernels>, StudyError> {
        let known = self.known.iter().find(|(known, _)| known == request);
        if let Some((_, library)) = known {
            return Ok(Arc::clone(library));
        }
        let library = Arc::new(request.load_one()?);
        self.known.push((request.clone(), Arc::clone(&library)));
        Ok(library)
    }
}

/// Skipped cases: for each reason how many, and the first example.
#[derive(Default)]
struct LeftOut {
    reasons: BTreeMap<String, (usize, String)>,
}

impl LeftOut {
    fn add(&mut self, reason: String, example: &str) {
        let first_line = || example.lines().next().unwrap_or_default().to_owned();
        let entry = self.reasons.entry(reason);
        entry.or_insert_with(|| (0, first_line())).0 += 1;
    }

    fn notes(&self) -> Vec<String> {
        let note = |(reason, (count, example)): (&String, &(usize, String))| {
            format!("{count} {reason}, the first: {example}")
        };
        self.reasons.iter().map(note).collect()
    }
}
