//! What all results of commands have in common.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

/// A result: text for people, one JSON object (docs/json.md) for machines.
pub trait Report: JsonSchema + Serialize {
    /// Name and version of the JSON form, such as `dmo-trace/run/1`. It changes when a key that
    /// programs may rely on changes its meaning.
    const SCHEMA: &'static str;

    /// The result for people, ending in a line feed.
    fn text(&self) -> String;

    /// The result as one JSON object, ending in a line feed; its first key is `schema`.
    ///
    /// # Errors
    /// When the result has a map whose keys are no strings; none that this crate makes has.
    fn json(&self) -> serde_json::Result<String>
    where
        Self: Sized,
    {
        let envelope = Envelope {
            schema: Self::SCHEMA,
            body: self,
        };
        Ok(serde_json::to_string_pretty(&envelope)? + "\n")
    }
}

/// Makes JSON Schemas (draft 2020-12) of what is written. What describes a field is its
/// documentation in Rust, in the words of JSON.
pub fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        if let Some(Value::String(description)) = schema.get_mut("description") {
            let text = description.replace("`None`", "`null`").replace('\n', " ");
            *description = text.replace("[`", "`").replace("`]", "`");
        }
    }));
    settings.into_generator()
}

/// The JSON Schema of objects whose first key is `schema`, with this value, and
/// whose others are those of `T`.
pub fn schema_of<T: JsonSchema + ?Sized>(name: &str) -> Schema {
    let mut schema = generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), name.into());
    let key = json_schema!({ "const": name, "description": "Name and version of this form." });
    let object = schema.ensure_object();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("schema".to_owned(), key.into());
    }
    if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|it| it != "schema");
        required.insert(0, "schema".into());
    }
    schema
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    body: &'a T,
}
