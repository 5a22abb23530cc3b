//! Texts with places to fill: `@name@` stands for a value.

/// The text of a template.
macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("templates/", $name))
    };
}
pub(super) use template;

/// Values by the names of their places.
#[derive(Debug, Clone, Default)]
pub struct Values(Vec<(&'static str, String)>);

/// The first line of each template that is C.
const LICENCE: &str = "// SPDX-License-Identifier: MIT OR Apache-2.0\n";

impl Values {
    /// The same with one more value.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "numbers and texts are given alike"
    )]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.0.push((name, value.to_string()));
        self
    }

    /// The template with its places filled, without the line that names the template's own licence.
    /// A place that has no value stays as it is, and so does
    /// what looks like a place within a value.
    pub fn fill(&self, template: &str) -> String {
        let mut text = String::with_capacity(template.len());
        let mut rest = template.strip_prefix(LICENCE).unwrap_or(template);
        while let Some((before, after)) = rest.split_once('@') {
            text.push_str(before);
            let place = after.split_once('@').and_then(|(name, after)| {
                let (_, value) = self.0.iter().rev().find(|(known, _)| *known == name)?;
                Some((value, after))
            });
            match place {
                Some((value, after)) => {
                    text.push_str(value);
                    rest = after;
                }
                None => {
                    text.push('@');
                    rest = after;
                }
            }
        }
        text.push_str(rest);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn places_are_filled_and_nothing_else() {
        let values = Values::default().with("a", "1@b@").with("b", 2);
        let cases = [
            ("x @a@ y", "x 1@b@ y"),
            ("@b@@b@", "22"),
            ("a@b", "a@b"),
            ("$@ @c@ @b@", "$@ @c@ 2"),
            ("", ""),
        ];
        for (template, text) in cases {
            assert_eq!(values.fill(template), text);
        }
    }
}
