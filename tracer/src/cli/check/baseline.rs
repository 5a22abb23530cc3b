//! The baseline: which models there are, and what their arenas may have.

use anyhow::{Context, bail, ensure};
use dmo_analysis::arena::Layout;
use dmo_analysis::schedule::CountedEnds;
use dmo_analysis::wording::parse_size;
use dmo_planner::plan::tflm::ALIGNMENT;
use dmo_trace::kernels::images;
use dmo_trace::study::examine::{ExamineRequest, PlanOrigin};
use dmo_trace::study::input::InputError;
use dmo_trace::study::kernel_request::{KernelRequest, REFERENCE};
use dmo_trace::study::overlap_source::{OverlapKind, OverlapRequest};
use dmo_trace::study::plan::{OrderKind, PlanRequest};
use dmo_trace::study::{INPUTS, SEARCH_TIME, input};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the form and its version.
const SCHEMA: &str = "dmo-trace/baseline/1";

/// In place of a plan: it is to be made, whatever the model carries.
const ANEW: &str = "anew";

/// A baseline may not be larger, in bytes.
pub const MAX_BYTES: u64 = 16 << 20;

/// Models and what their arenas may have.
pub struct Baseline {
    pub path: PathBuf,
    /// As it was read.
    pub text: String,
    /// At least one.
    pub models: Vec<Model>,
}

/// A model and how it is checked.
#[derive(Debug)]
pub struct Model {
    /// Which of the baseline's tables it is, from 0.
    pub index: usize,
    /// No other model has it.
    pub name: String,
    /// The model, its plan, and what it runs on.
    pub request: ExamineRequest,
    /// On how many inputs it is run; `None` where geometry is enough.
    pub inputs: Option<u64>,
    /// What holds on these inputs has to hold on all others.
    pub every_input: bool,
    /// Largest arena allowed in bytes, whatever was recorded before.
    pub capacity_bytes: Option<u64>,
    /// Largest `kTensorArenaSize` allowed in bytes.
    pub runtime_capacity_bytes: Option<u64>,
    /// What the arena had when it was recorded, in bytes.
    pub arena_bytes: Option<u64>,
}

/// A `[[model]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    name: Option<String>,
    plan: Option<PathBuf>,
    kernels: Option<Kernels>,
    cpu: Option<String>,
    cmsis_nn_version: Option<u8>,
    overlap: Option<String>,
    order: Option<String>,
    time: Option<f64>,
    align: Option<u64>,
    keep_inputs: Option<bool>,
    exclude_inputs: Option<bool>,
    exclude_outputs: Option<bool>,
    exclude_scratch: Option<bool>,
    inputs: Option<u64>,
    every_input: Option<bool>,
    verify: Option<bool>,
    capacity: Option<toml::Value>,
    runtime_capacity: Option<toml::Value>,
    arena_bytes: Option<u64>,
}

/// One set or file, or several, the preferred one first.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected text or a list of texts in `kernels`")]
enum Kernels {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "it is read before")]
    schema: String,
    #[serde(default)]
    model: Vec<toml::Table>,
}

impl Baseline {
    /// Reads and checks it, without looking at the files that it names.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let text = input::text(path, MAX_BYTES).map_err(|error| {
            let hint = match &error {
                InputError::Io(error) if error.kind() == ErrorKind::NotFound => {
                    format!(
                        "\n  hint: write one that names your models, with the lines `schema = {SCHEMA:?}`, `[[model]]` and \
                         `file = \"model.tflite\"`; --update then records their arenas"
                    )
                }
                _ => String::new(),
            };
            anyhow::anyhow!("cannot read {shown}: {error}{hint}")
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let models = models(&text, folder).with_context(|| shown.to_string())?;
        Ok(Self {
            path: path.to_owned(),
            text,
            models,
        })
    }

    /// Where it is to be written: a link stays one.
    pub fn written_path(&self) -> anyhow::Result<PathBuf> {
        let path = &self.path;
        path.canonicalize()
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

fn models(text: &str, folder: &Path) -> anyhow::Result<Vec<Model>> {
    let table: toml::Table = toml::from_str(text)?;
    match table.get("schema") {
        Some(toml::Value::String(schema)) if schema == SCHEMA => {}
        Some(schema) => bail!("schema {schema}, expected {SCHEMA:?}"),
        None => bail!("there is no schema = {SCHEMA:?}"),
    }
    let file: File = table.try_into().map_err(|error| one_line(&error))?;
    ensure!(!file.model.is_empty(), "it has no [[model]]");
    let mut models: Vec<Model> = Vec::new();
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (index, table) in file.model.into_iter().enumerate() {
        let named = ["name", "file"];
        let named = named.iter().find_map(|key| table.get(*key)?.as_str());
        let place = match named {
            Some(name) => format!("[[model]] {} ({})", index + 1, name.escape_debug()),
            None => format!("[[model]] {}", index + 1),
        };
        let entry: Result<Entry, _> = table.try_into().map_err(|error| one_line(&error));
        let model = entry.and_then(|entry| entry.model(index, folder));
        let model = model.with_context(|| place.clone())?;
        if let Some(other) = taken.insert(model.name.clone(), index) {
            bail!(
                "{place}: [[model]] {} has this name too\n  hint: name = \"...\"",
                other + 1
            );
        }
        models.push(model);
    }
    Ok(models)
}

/// What is wrong with which key.
fn one_line(error: &toml::de::Error) -> anyhow::Error {
    let text = error.to_string();
    anyhow::anyhow!("{}", text.trim_end().replace('\n', " "))
}

impl Entry {
    fn model(self, index: usize, folder: &Path) -> anyhow::Result<Model> {
        let name = self.name.as_ref().unwrap_or(&self.file);
        ensure!(
            !name.trim().is_empty() && !name.contains(char::is_control),
            "name {name:?}: it has to be a line of text"
        );
        let verify = self.verify.unwrap_or(true);
        ensure!(
            verify || self.inputs.is_none(),
            "inputs: nothing is run with verify = false"
        );
        let every_input = self.every_input.unwrap_or(false);
        ensure!(
            verify || !every_input,
            "every_input: nothing is run with verify = false"
        );
        let inputs = self.inputs.unwrap_or(INPUTS);
        ensure!(
            (1..=1000).contains(&inputs),
            "inputs = {inputs}: expected 1 to 1000"
        );
        let has_plan_file = self.plan.as_deref().is_some_and(|it| it != Path::new(ANEW));
        ensure!(
            self.runtime_capacity.is_none() || !has_plan_file,
            "runtime_capacity: with `plan` nothing says what TensorFlow Lite Micro keeps beside the plan\n  \
             hint: `dmo-trace plan --out planned.tflite` writes the plan into the model"
        );
        let kernels = self.kernels(folder)?;
        Ok(Model {
            index,
            name: name.clone(),
            request: ExamineRequest {
                model: if self.file.starts_with("zoo:") {
                    self.file.clone()
                } else {
                    path_text(&folder.join(&self.file))?
                },
                plan: match &self.plan {
                    Some(plan) if plan == Path::new(ANEW) => {
                        PlanOrigin::Made(self.plan_request(verify, &kernels)?)
                    }
                    Some(plan) => {
                        let said = self.left_to_plan();
                        if let Some(key) = said {
                            bail!(
                                "{key}: with `plan` it is what the plan says\n  hint: leave one of them out"
                            );
                        }
                        PlanOrigin::File(folder.join(plan))
                    }
                    None => PlanOrigin::CarriedOrMade {
                        request: self.plan_request(verify, &kernels)?,
                        said: self.left_to_plan(),
                    },
                },
                kernels,
            },
            inputs: verify.then_some(inputs),
            every_input,
            capacity_bytes: bytes("capacity", self.capacity.as_ref())?,
            runtime_capacity_bytes: bytes("runtime_capacity", self.runtime_capacity.as_ref())?,
            arena_bytes: self.arena_bytes,
        })
    }

    /// The first key that says how a plan is to be made: a plan says itself how it was.
    fn left_to_plan(&self) -> Option<&'static str> {
        let said = [
            ("overlap", self.overlap.is_some()),
            ("order", self.order.is_some()),
            ("time", self.time.is_some()),
            ("align", self.align.is_some()),
            ("keep_inputs", self.keep_inputs.is_some()),
            ("exclude_inputs", self.exclude_inputs.is_some()),
            ("exclude_outputs", self.exclude_outputs.is_some()),
            ("exclude_scratch", self.exclude_scratch.is_some()),
        ];
        let given = said.into_iter().find(|&(_, given)| given);
        given.map(|(key, _)| key)
    }

    fn plan_request(&self, verify: bool, kernels: &KernelRequest) -> anyhow::Result<PlanRequest> {
        let named = self.kernels.is_some() || self.cpu.is_some() || self.cmsis_nn_version.is_some();
        let kind = match &self.overlap {
            Some(given) => one_of("overlap", given, OverlapKind::ALL, OverlapKind::name)?,
            None if named => OverlapKind::Traced,
            None => OverlapKind::Analytic,
        };
        ensure!(
            verify || !named || kind == OverlapKind::Traced,
            "kernels and cpu: nothing runs on them with verify = false and overlap = {:?}",
            kind.name()
        );
        let seconds = self.time.unwrap_or(SEARCH_TIME.as_secs_f64());
        ensure!(
            (0.0..=1e9).contains(&seconds),
            "time = {seconds}: it is not a number of seconds"
        );
        Ok(PlanRequest {
            overlap: OverlapRequest::on(kind, kernels),
            layout: self.layout()?,
            order: match &self.order {
                Some(given) => one_of("order", given, OrderKind::ALL, OrderKind::name)?,
                None => OrderKind::default(),
            },
            time: Duration::from_secs_f64(seconds),
            ..PlanRequest::default()
        })
    }

    fn layout(&self) -> anyhow::Result<Layout> {
        let align = self.align.unwrap_or(ALIGNMENT);
        ensure!(
            (1..=1 << 20).contains(&align),
            "align = {align}: expected 1 to {}",
            1 << 20
        );
        let [keep_inputs, exclude_inputs] =
            [self.keep_inputs, self.exclude_inputs].map(Option::unwrap_or_default);
        ensure!(
            !(keep_inputs && exclude_inputs),
            "keep_inputs and exclude_inputs: inputs that are not in the arena cannot be kept there"
        );
        Ok(Layout {
            alignment: align,
            round_sizes: true,
            counted: CountedEnds {
                count_graph_inputs: !exclude_inputs,
                count_graph_outputs: !self.exclude_outputs.unwrap_or_default(),
            },
            keep_inputs,
            scratch: !self.exclude_scratch.unwrap_or_default(),
        })
    }

    fn kernels(&self, folder: &Path) -> anyhow::Result<KernelRequest> {
        let given = match &self.kernels {
            None => vec![REFERENCE.to_owned()],
            Some(Kernels::One(kernels)) => vec![kernels.clone()],
            Some(Kernels::Several(kernels)) => kernels.clone(),
        };
        let given = given
            .iter()
            .map(|kernels| match images::find(kernels, self.cpu.as_deref()) {
                Some(_) => Ok(kernels.clone()),
                None => path_text(&folder.join(kernels)),
            });
        let mut given = given.collect::<anyhow::Result<Vec<_>>>()?.into_iter();
        let kernels = given.next();
        Ok(KernelRequest {
            kernels: kernels.context("kernels = []: there is none in the list")?,
            further: given.collect(),
            cpu: self.cpu.clone(),
            cmsis_nn_version: self.cmsis_nn_version,
            ..KernelRequest::default()
        })
    }
}

fn path_text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str();
    Ok(text
        .with_context(|| format!("{}: the folder's name is not text", path.display()))?
        .to_owned())
}

fn one_of<T: Copy, const N: usize>(
    key: &str,
    given: &str,
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> anyhow::Result<T> {
    let found = all.into_iter().find(|&value| name(value) == given);
    found.with_context(|| format!("{key} = {given:?}: expected {}", all.map(name).join(", ")))
}

/// A number of bytes, or text such as `64K`.
fn bytes(key: &str, value: Option<&toml::Value>) -> anyhow::Result<Option<u64>> {
    let Some(value) = value else {
        return Ok(None);
    };
    let bytes = match value {
        toml::Value::Integer(bytes) => u64::try_from(*bytes).ok(),
        toml::Value::String(text) => parse_size(text).ok(),
        _ => None,
    };
    let bytes = bytes
        .with_context(|| format!("{key} = {value}: expected bytes, such as 65536 or \"64K\""))?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

    use super::*;

    fn parsed(rest: &str) -> anyhow::Result<Vec<Model>> {
        let text = format!("schema = \"{SCHEMA}\"\n[[model]]\nfile = \"m.tflite\"\n{rest}");
        models(&text, Path::new("ci"))
    }

    fn complaint(rest: &str) -> String {
        format!("{:#}", parsed(rest).err().unwrap())
    }

    #[test]
    fn what_is_left_out() {
        let models = parsed("").unwrap();
        let [model] = &models[..] else {
            panic!("{models:?}");
        };
        assert_eq!(model.name, "m.tflite");
        assert_eq!(model.request.model, "ci/m.tflite");
        assert_eq!(model.request.kernels.kernels, "reference");
        assert_eq!(model.inputs, Some(INPUTS));
        let PlanOrigin::CarriedOrMade {
            request: wanted, ..
        } = &model.request.plan
        else {
            panic!("{model:?}");
        };
        assert_eq!(wanted.overlap.kind, OverlapKind::Analytic);
        assert_eq!(wanted.layout, Layout::tflm());
    }

    #[test]
    fn kernels_are_a_set_or_a_file_and_decide_the_overlaps() {
        for (kernels, name) in [("dsp", "dsp"), ("k.elf", "ci/k.elf")] {
            let models = parsed(&format!("kernels = {kernels:?}")).unwrap();
            assert_eq!(models[0].request.kernels.kernels, name);
            let PlanOrigin::CarriedOrMade {
                request: wanted, ..
            } = &models[0].request.plan
            else {
                panic!("{models:?}");
            };
            assert_eq!(wanted.overlap.kind, OverlapKind::Traced);
        }
    }

    #[test]
    fn capacities() {
        for (text, bytes) in [("65536", 65536), ("\"64K\"", 65536)] {
            let models = parsed(&format!("capacity = {text}")).unwrap();
            assert_eq!(models[0].capacity_bytes, Some(bytes));
            let models = parsed(&format!("runtime_capacity = {text}")).unwrap();
            assert_eq!(models[0].runtime_capacity_bytes, Some(bytes));
            assert_eq!(models[0].capacity_bytes, None);
        }
    }

    #[test]
    fn mistakes_are_told_with_model_and_key() {
        for (rest, expected) in [
            ("aling = 4", "unknown field `aling`"),
            ("align = 0", "align = 0: expected 1 to"),
            ("kernels = []", "kernels = []: there is none"),
            ("kernels = 3", "expected text or a list of texts"),
            ("align = \"x\"", "expected u64 in `align`"),
            ("arena_bytes = -1", "in `arena_bytes`"),
            ("inputs = 0", "inputs = 0: expected 1 to 1000"),
            ("time = nan", "time = NaN"),
            ("overlap = \"some\"", "expected none, analytic, traced"),
            ("order = \"any\"", "expected file, best"),
            ("capacity = \"64X\"", "capacity = \"64X\": expected bytes"),
            ("capacity = -1", "capacity = -1: expected bytes"),
            (
                "runtime_capacity = \"K\"",
                "runtime_capacity = \"K\": expected bytes",
            ),
            (
                "plan = \"p.json\"\nruntime_capacity = 1",
                "runtime_capacity: with `plan`",
            ),
            ("name = \"\\n\"", "a line of text"),
            ("verify = false\ninputs = 2", "inputs: nothing is run"),
            (
                "verify = false\nevery_input = true",
                "every_input: nothing is run",
            ),
            (
                "verify = false\nkernels = \"dsp\"\noverlap = \"none\"",
                "kernels and cpu: nothing runs on them",
            ),
            ("keep_inputs = true\nexclude_inputs = true", "keep_inputs"),
            ("plan = \"p.json\"\nalign = 16", "align: with `plan`"),
            ("[[model]]\nname = \"n\"", "[[model]] 2 (n): missing field"),
            (
                "[[model]]\nfile = \"m.tflite\"",
                "[[model]] 1 has this name",
            ),
            ("[model2]", "unknown field `model2`"),
            ("file = \"again\"", "line 4"),
        ] {
            let found = complaint(rest);
            assert!(found.contains(expected), "{rest:?}: {found}");
            let own = !rest.contains('[') && !expected.starts_with("line");
            assert!(!own || found.contains("[[model]] 1 ("), "{rest:?}: {found}");
        }
    }

    /// The examples of the documents, and every key that they tell of.
    #[test]
    fn documents() {
        let document = include_str!("../../../../docs/ci.md");
        let fenced = document.split("```toml\n").nth(1).unwrap();
        let example = fenced.split("```").next().unwrap();
        assert_eq!(models(example, Path::new("")).unwrap().len(), 2);
        let help = super::super::BASELINE_HELP;
        let (_, example) = help.split_once("schema").unwrap();
        let (example, _) = example.split_once("Exit code").unwrap();
        let example = format!("schema{example}");
        assert_eq!(models(&example, Path::new("")).unwrap().len(), 1);

        let unknown = complaint("no_such_key = 1");
        let (_, known) = unknown.split_once("expected one of ").unwrap();
        for key in known.split_whitespace() {
            let key = key.trim_matches([',', '`']);
            assert!(document.contains(&format!("`{key}`")), "{key}");
        }
    }

    #[test]
    fn other_forms() {
        for (text, expected) in [
            ("", "there is no schema"),
            ("schema = 1", "schema 1, expected"),
            (
                "schema = \"dmo-trace/baseline/2\"\nnew = 1",
                "/2\", expected",
            ),
            ("schema = \"dmo-trace/baseline/1\"", "no [[model]]"),
        ] {
            let found = format!("{:#}", models(text, Path::new("")).err().unwrap());
            assert!(found.contains(expected), "{text:?}: {found}");
        }
    }
}
