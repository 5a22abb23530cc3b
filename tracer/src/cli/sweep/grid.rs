//! The grid of a sweep: which cases there are, on which kernels.

use super::super::operator::{OperatorArguments, is_misfit, names};
use super::super::options::kernels::{FunctionArgument, LibraryArguments};
use anyhow::{Context, bail, ensure};
use clap::{Args, Parser};
use dmo_trace::kernels::{Case, Contract};
use dmo_trace::study::kernel_request::{KernelRequest, NamedKernels};
use dmo_trace::study::{StudyError, input};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The cases of a grid, in its order.
pub struct Grid {
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
    pub case: Case,
    /// `None` if only the formulas are evaluated.
    pub kernel: Option<(Arc<NamedKernels>, &'static Contract)>,
    /// Rows that it gives: pairs of an input and an output.
    pub rows: usize,
}

impl Entry {
    pub fn kernels(&self) -> &str {
        self.kernel
            .as_ref()
            .map_or("", |(library, _)| &library.name)
    }

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

/// A case on the command line, without the program's name.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    operator: OperatorArguments,
    #[command(flatten)]
    function: FunctionArgument,
}

/// A grid may not be larger.
const MAX_CASES: usize = 1_000_000;

/// Nor may its file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

impl Grid {
    /// Reads the grid. `default` are the kernels of the tables that name none; `None` if only
    /// the formulas are wanted.
    pub fn read(path: &Path, default: Option<&LibraryArguments>) -> anyhow::Result<Self> {
        let text = input::text(path, MAX_BYTES)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text, default).with_context(|| path.display().to_string())
    }

    fn parse(text: &str, default: Option<&LibraryArguments>) -> anyhow::Result<Self> {
        let file: GridFile = toml::from_str(text)?;
        let mut libraries = Libraries::default();
        let mut left_out = LeftOut::default();
        let mut entries = Vec::new();
        for (number, table) in file.grid.into_iter().enumerate() {
            let place = format!("[[grid]] {} ({})", number + 1, table.operator);
            table
                .entries(default, &mut libraries, &mut left_out, &mut entries)
                .context(place)?;
        }
        let notes = left_out.notes();
        ensure!(
            !entries.is_empty(),
            "no case is left\n  {}",
            if notes.is_empty() {
                "it has no [[grid]]".to_owned()
            } else {
                notes.join("\n  ")
            }
        );
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
        default: Option<&LibraryArguments>,
        libraries: &mut Libraries,
        left_out: &mut LeftOut,
        entries: &mut Vec<Entry>,
    ) -> anyhow::Result<()> {
        let mut options = self.options()?;
        let libraries = named(&mut options, default, libraries, left_out)?;
        for words in combinations(&self.operator, &options)? {
            let parsed = Line::try_parse_from(&words)
                .map_err(|error| anyhow::anyhow!("{}", clap_message(&error)))?;
            let line = words.join(" ");
            let case = match parsed.operator.case() {
                Ok(case) => case,
                Err(error) if is_misfit(&error) => {
                    let error = format!("{line}: {error:#}");
                    left_out.add(
                        "combinations make no sense and are skipped".to_owned(),
                        &error,
                    );
                    continue;
                }
                Err(error) => return Err(error),
            };
            let buffers = case.operator.buffers()?;
            let rows = buffers.inputs.len() * buffers.outputs.len();
            let function = parsed.function.function.as_deref();
            for library in &libraries {
                let kernel = match library {
                    None => None,
                    Some(library) => {
                        let Some(contract) = Contract::find(&library.library, &case, function)
                        else {
                            let reason =
                                format!("cases are left out, for {} has no kernel", library.name);
                            left_out.add(reason, &line);
                            continue;
                        };
                        Some((Arc::clone(library), contract))
                    }
                };
                ensure!(
                    entries.len() < MAX_CASES,
                    "the grid has more than {MAX_CASES} cases, the limit\n  hint: several grids"
                );
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
    fn options(&self) -> anyhow::Result<Options> {
        ensure!(
            names().any(|name| name == self.operator),
            "unknown operator '{}'\n  hint: one of {}",
            self.operator,
            names().collect::<Vec<_>>().join(", ")
        );
        let command = FunctionArgument::augment_args(OperatorArguments::augment_args(
            clap::Command::new("case"),
        ));
        let mut known: Vec<&str> = command
            .get_arguments()
            .filter_map(|argument| argument.get_long())
            .chain(["kernels", "cpu"])
            .collect();
        known.sort_unstable();
        let mut options = Options::new();
        for (key, value) in &self.options {
            ensure!(
                known.contains(&key.as_str()),
                "unknown key '{key}'\n  hint: one of {}",
                known.join(", ")
            );
            let values = words(value).with_context(|| format!("key '{key}'"))?;
            ensure!(!values.is_empty(), "key '{key}' has no values");
            options.insert(key.clone(), values);
        }
        Ok(options)
    }
}

/// Values by key.
type Options = BTreeMap<String, Vec<String>>;

/// A list of strings or whole numbers.
fn words(value: &toml::Value) -> anyhow::Result<Vec<String>> {
    let expected = "expected a list of strings or whole numbers";
    let toml::Value::Array(values) = value else {
        bail!("its value is a {}, {expected}", value.type_str());
    };
    let word = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        other => bail!("one of its values is a {}, {expected}", other.type_str()),
    };
    values.iter().map(word).collect()
}

/// The sets of kernels that the table names, those left out that are not for a CPU.
fn named(
    options: &mut Options,
    default: Option<&LibraryArguments>,
    libraries: &mut Libraries,
    left_out: &mut LeftOut,
) -> anyhow::Result<Vec<Option<Arc<NamedKernels>>>> {
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
                flash_timing: None,
            };
            ensure!(
                !kernels.contains(char::is_control),
                "kernels {kernels:?}: a name with control characters cannot be in a table"
            );
            match libraries.load(&request) {
                Ok(library) => found.push(Some(library)),
                Err(error) if axes && error.is_for_another_cpu() => {
                    let cpu = cpu.as_deref().unwrap_or_default();
                    let reason = format!("[[grid]] tables leave {kernels} on {cpu} out");
                    let error = anyhow::Error::from(error);
                    left_out.add(reason, &error.root_cause().to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(found)
}

/// All combinations of the options as words of a command line, one after the other: the last
/// option changes fastest. Values with commas give an option several times: the inputs of
/// concat.
fn combinations<'a>(
    operator: &'a str,
    options: &'a Options,
) -> anyhow::Result<impl Iterator<Item = Vec<String>> + use<'a>> {
    let count = options
        .values()
        .try_fold(1usize, |count, values| count.checked_mul(values.len()))
        .filter(|&count| count <= MAX_CASES)
        .with_context(|| {
            format!("it has more than {MAX_CASES} combinations, the limit\n  hint: several grids")
        })?;
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

/// The first line of what clap says, without its prefix.
fn clap_message(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
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
