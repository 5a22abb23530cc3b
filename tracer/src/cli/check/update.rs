//! Recording what was found, in a file that people write too.

use super::baseline::{Baseline, MAX_BYTES, Model};
use super::examine::{Examined, Findings};
use crate::cli::output;
use anyhow::{Context, ensure};
use dmo_trace::study::input;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Writes the arenas into the baseline where all models could be examined and all layouts are
/// safe; says whether it did.
pub fn record(baseline: &Baseline, examined: &[(&Model, Examined)]) -> anyhow::Result<bool> {
    let arena = |(model, examined): &(&Model, Examined)| {
        let findings = examined.findings.as_ref().ok();
        let findings = findings.filter(|findings| Findings::holds(findings))?;
        Some((model.index, findings.arena_bytes))
    };
    let Some(arenas) = examined.iter().map(arena).collect::<Option<Vec<_>>>() else {
        return Ok(false);
    };
    let shown = baseline.path.display();
    let text = edited(&baseline.text, &arenas).with_context(|| shown.to_string())?;
    if text != baseline.text {
        let now = input::text(&baseline.path, MAX_BYTES);
        ensure!(
            now.is_ok_and(|now| now == baseline.text),
            "{shown} was changed by another program in the meantime: nothing is recorded"
        );
        output::write(&baseline.written_path()?, text.as_bytes())?;
    }
    Ok(true)
}

/// The text with other `arena_bytes` in the tables of these numbers, and nothing else changed.
fn edited(text: &str, arenas: &[(usize, u64)]) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    for &(index, bytes) in arenas {
        let bytes = i64::try_from(bytes).context("the arena's size does not fit in TOML")?;
        let models = document.get_mut("model").context("there is no [[model]]")?;
        let model =
            table(models, index).with_context(|| format!("there is no [[model]] {}", index + 1))?;
        set(model, bytes);
    }
    // The document has ends of lines of one kind.
    let edited = document.to_string();
    Ok(if text.contains("\r\n") {
        edited.replace('\n', "\r\n")
    } else {
        edited
    })
}

/// `[[model]]`, or `model = [{ ... }]`.
fn table(models: &mut Item, index: usize) -> Option<&mut dyn TableLike> {
    match models {
        Item::ArrayOfTables(tables) => Some(tables.get_mut(index)?),
        Item::Value(Value::Array(array)) => match array.get_mut(index)? {
            Value::InlineTable(table) => Some(table),
            _ => None,
        },
        _ => None,
    }
}

fn set(model: &mut dyn TableLike, bytes: i64) {
    match model.get_mut("arena_bytes").and_then(Item::as_value_mut) {
        Some(known) if known.as_integer() == Some(bytes) => {}
        Some(known) => {
            let decor = known.decor().clone();
            *known = bytes.into();
            *known.decor_mut() = decor;
        }
        None => {
            model.insert("arena_bytes", Item::Value(bytes.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    #[test]
    fn only_the_numbers_change() {
        let before = "\
# Ours.
schema = 'x' # as is

[[model]] # first
file   =   \"a\"
arena_bytes =  98_304   # of May
# last word of the first

# of the second
[[model]]
file = \"b\"
  # no number yet

[[model]]
arena_bytes = 1_000
file = \"c\"
";
        let after = before
            .replace("98_304", "64")
            .replace("file = \"b\"\n", "file = \"b\"\narena_bytes = 7\n");
        let found = edited(before, &[(0, 64), (1, 7), (2, 1000)]).unwrap();
        assert_eq!(found, after);
        assert_eq!(edited(&found, &[(0, 64), (2, 1000)]).unwrap(), after);
        let [before, after] = [before, &after].map(|text| text.replace('\n', "\r\n"));
        let found = edited(&before, &[(0, 64), (1, 7), (2, 1000)]).unwrap();
        assert_eq!(found, after);
    }

    #[test]
    fn inline_tables() {
        let before = "model = [{ file = \"a\" }, # one\n { arena_bytes = 1, file = \"b\" }]\n";
        let found = edited(before, &[(0, 2), (1, 3)]).unwrap();
        let after = "model = [{ file = \"a\" , arena_bytes = 2 }, # one\n { arena_bytes = 3, file = \"b\" }]\n";
        assert_eq!(found, after);
    }

    #[test]
    fn what_is_not_there() {
        for text in ["", "model = 1", "[[model]]", "model = [1, 2]"] {
            assert!(edited(text, &[(1, 2)]).is_err(), "{text}");
        }
    }
}
