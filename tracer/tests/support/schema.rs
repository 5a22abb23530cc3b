//! Results against the JSON Schemas in `docs/schemas/`, with which nothing else may stand in them.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The schema of this name, as it is shipped.
pub fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schemas");
    PathBuf::from(folder).join(format!("{name}.json"))
}

/// Panics if `value` is not what the schema of this name says.
pub fn validate(name: &str, value: &Value) {
    let text = std::fs::read_to_string(path(name)).expect(name);
    let mut schema: Value = serde_json::from_str(&text).expect(name);
    assert!(jsonschema::meta::is_valid(&schema), "{name}");
    let mut parts = BTreeSet::new();
    find_parts(&schema, &mut parts);
    close(&mut schema, &parts);
    let validator = jsonschema::validator_for(&schema).expect(name);
    let errors = validator.iter_errors(value).take(5);
    let errors: Vec<String> = errors
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

/// Definitions that are part of a larger object: they stand beside its own properties.
fn find_parts(schema: &Value, parts: &mut BTreeSet<String>) {
    if let Value::Object(object) = schema
        && object.contains_key("properties")
        && let Some(Value::String(reference)) = object.get("$ref")
    {
        parts.extend(reference.rsplit('/').next().map(str::to_owned));
    }
    match schema {
        Value::Object(object) => object.values().for_each(|it| find_parts(it, parts)),
        Value::Array(list) => list.iter().for_each(|it| find_parts(it, parts)),
        _ => (),
    }
}

/// Refuses in every object what the schema does not name. (A reader has to allow it: fields may be
/// added.) What is a part of a larger object is closed there.
fn close(schema: &mut Value, parts: &BTreeSet<String>) {
    let Value::Object(object) = schema else {
        return;
    };
    if describes_object(object) && !object.contains_key("additionalProperties") {
        object.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    for key in ["properties", "patternProperties", "$defs"] {
        let schemas = object.get_mut(key).and_then(Value::as_object_mut);
        let schemas = schemas.into_iter().flatten();
        let whole = schemas.filter(|(name, _)| key != "$defs" || !parts.contains(*name));
        whole.for_each(|(_, it)| close(it, parts));
    }
    for key in ["items", "additionalProperties"] {
        object
            .get_mut(key)
            .into_iter()
            .for_each(|it| close(it, parts));
    }
    // Their members together describe one object, which is closed above.
    for key in ["oneOf", "anyOf", "allOf"] {
        for member in object
            .get_mut(key)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            for key in ["properties", "$defs"] {
                let schemas = member.get_mut(key).and_then(Value::as_object_mut);
                schemas
                    .into_iter()
                    .flatten()
                    .for_each(|(_, it)| close(it, parts));
            }
        }
    }
}

fn describes_object(schema: &Map<String, Value>) -> bool {
    let has_properties = |it: &Value| it.get("properties").is_some();
    let members = ["oneOf", "anyOf", "allOf"].iter();
    let mut members = members
        .filter_map(|key| schema.get(*key)?.as_array())
        .flatten();
    schema.contains_key("properties") || members.any(has_properties)
}
