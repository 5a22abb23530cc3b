//! Objections in SARIF 2.1.0 (OASIS), which code hosts show beside the lines of a pull request.

use super::VerifyReport;
use super::located::Annotation;
use dmo_analysis::trace::Location;
use serde_json::{Value, json};
use std::path::Path;

/// What an objection is called, and what it means.
const RULES: [(&str, &str); 4] = [
    (
        "plan",
        "The plan does not fit the model, whatever the kernels do.",
    ),
    (
        "geometry",
        "Two buffers that are in use at the same time are nearer to each other than is safe with these kernels.",
    ),
    (
        "replay",
        "An instruction overwrites bytes that are loaded later, or loads bytes that are not its tensor's.",
    ),
    (
        "execution",
        "The kernels compute something else in this layout than without overlaps.",
    ),
];

impl VerifyReport {
    /// All objections as a SARIF log, ending in a line feed. What has no source line is reported at
    /// `model`. Paths below `root` are written relative to it.
    ///
    /// # Errors
    /// None that is known: the keys are strings.
    pub fn sarif(&self, model: &Path, root: &Path) -> serde_json::Result<String> {
        let at_model = |rule: &str, text: &str| {
            let place = place(&model.to_string_lossy(), None, root);
            result(rule, text, &[place], &[])
        };
        let [geometry, _, execution] = &self.objections;
        let mut results: Vec<Value> = Vec::new();
        results.extend(self.faults.iter().map(|text| at_model("plan", text)));
        results.extend(geometry.iter().map(|text| at_model("geometry", text)));
        results.extend(self.doubts.iter().map(|text| at_model("replay", text)));
        for annotation in &self.annotations {
            results.push(annotated(annotation, model, root));
        }
        results.extend(execution.iter().map(|text| at_model("execution", text)));
        let rules =
            RULES.map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } }));
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": env!("CARGO_PKG_NAME"),
                    "version": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": rules,
                } },
                "results": results,
            }],
        });
        Ok(serde_json::to_string_pretty(&log)? + "\n")
    }
}

/// At the instruction that does the damage; the others that a finding names are related to it.
fn annotated(annotation: &Annotation, model: &Path, root: &Path) -> Value {
    let sources = annotation.places.iter();
    let sources = sources.filter_map(|(what, location)| Some((what, source(location, root)?)));
    let mut sources: Vec<(&&str, Value)> = sources.collect();
    if sources.is_empty() {
        let place = place(&model.to_string_lossy(), None, root);
        return result("replay", &annotation.text, &[place], &[]);
    }
    let (_, primary) = sources.remove(0);
    let related = sources.into_iter().map(|(what, mut place)| {
        place["message"] = json!({ "text": what });
        place
    });
    let related: Vec<Value> = related.collect();
    result("replay", &annotation.text, &[primary], &related)
}

fn result(rule: &str, text: &str, places: &[Value], related: &[Value]) -> Value {
    let mut result = json!({
        "ruleId": rule,
        "level": "error",
        "message": { "text": text },
        "locations": places,
    });
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

fn source(location: &Location, root: &Path) -> Option<Value> {
    Some(place(location.file.as_ref()?, location.line, root))
}

/// A file, with forward slashes, and a line of it; lines count from 1.
fn place(file: &str, line: Option<u32>, root: &Path) -> Value {
    let below = Path::new(file).strip_prefix(root);
    let relative = below.map_or_else(|_| file.to_owned(), |path| path.to_string_lossy().into());
    let uri = escaped(&relative.replace('\\', "/"));
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(line) = line.filter(|&line| line > 0) {
        physical["region"] = json!({ "startLine": line });
    }
    json!({ "physicalLocation": physical })
}

/// As a URI reference: what it may not hold is percent-encoded.
fn escaped(path: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:+,=@".contains(&byte);
    let encoded = path.bytes().map(|byte| {
        if kept(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    encoded.collect()
}
