//! What all results of commands have in common.

use serde::Serialize;

/// A result: text for people, one JSON object (docs/json.md) for machines.
pub trait Report: Serialize {
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

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    body: &'a T,
}
