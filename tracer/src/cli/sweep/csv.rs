//! Fields of CSV lines, quoted as in RFC 4180.

/// A field as it is written: in quotes where it has a comma or a quote.
pub fn field(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The fields of a line; `None` if its quotes do not match.
pub fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, behind) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        fields.push(field);
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return behind.is_empty().then_some(fields),
        }
    }
}

/// The field after an opening quote, and the rest after its closing quote.
fn unquoted(mut rest: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    loop {
        let (text, behind) = rest.split_once('"')?;
        field.push_str(text);
        match behind.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => return Some((field, behind)),
        }
    }
}
