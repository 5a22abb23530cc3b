//! Values that the library names, as those of an option.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Reads one of the values of `all` by its name; `help` is what `--help` says of each.
pub fn one_of<T: Copy + Default + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values = all.map(|value| PossibleValue::new(name(value)).help(help(value)));
    PossibleValuesParser::new(values).map(move |given| {
        let found = all.into_iter().find(|&value| name(value) == given);
        found.unwrap_or_default()
    })
}
