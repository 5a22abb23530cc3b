//! Options of custom operators: numbers with names, each within what kernels compute with.

use super::error::Unsupported;
use super::flexbuffer::Map;

/// The map, if there is one.
pub(super) struct Options<'a>(pub Option<Map<'a>>);

impl Options<'_> {
    pub fn integer(&self, option: &str) -> Option<i64> {
        self.0.as_ref()?.integer(option)
    }

    /// An option in a range, which is said in words.
    pub fn within(
        &self,
        option: &'static str,
        [least, most]: [i64; 2],
        expected: &'static str,
    ) -> Result<i64, Unsupported> {
        let is_taken = |given: &i64| (least..=most).contains(given);
        taken(option, self.integer(option), is_taken, expected)
    }

    /// Any number in single precision.
    pub fn number(&self, option: &'static str) -> Result<f32, Unsupported> {
        let given = self.0.as_ref().and_then(|map| map.number(option));
        taken(option, given, |given| given.is_finite(), "a number")
    }
}

fn taken<T: ToString>(
    option: &'static str,
    given: Option<T>,
    is_taken: impl Fn(&T) -> bool,
    expected: &'static str,
) -> Result<T, Unsupported> {
    match given {
        Some(given) if is_taken(&given) => Ok(given),
        given => Err(Unsupported::Option {
            option,
            given: given.map_or("missing".to_owned(), |given| given.to_string()),
            expected,
        }),
    }
}
