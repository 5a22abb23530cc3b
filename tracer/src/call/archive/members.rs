//! The files in an archive, as `ar` of GNU, LLVM and BSD writes them.
//!
//! Behind the magic number one member after the other: a header of 60 bytes (name 16, date 12,
//! owner 6, group 6, mode 8, size 10, end 2), its content, a byte of padding where that is odd.

/// The first bytes of every archive.
pub(super) const MAGIC: &[u8] = b"!<arch>\n";

const HEADER_BYTES: usize = 60;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member<'a> {
    pub name: String,
    pub content: &'a [u8],
}

/// All files but the tables that `ar` itself makes; else what is wrong.
pub(super) fn read(archive: &[u8]) -> Result<Vec<Member<'_>>, String> {
    let mut rest = archive.strip_prefix(MAGIC).ok_or("no archive")?;
    let mut long_names: &[u8] = &[];
    let mut members = Vec::new();
    while !rest.is_empty() {
        let number = members.len();
        let cut = || format!("member {number} is not whole");
        let (header, behind) = rest.split_at_checked(HEADER_BYTES).ok_or_else(cut)?;
        if header.get(58..) != Some(b"`\n") {
            return Err(format!("member {number} has no header"));
        }
        let size = number_of(&header[48..58]).ok_or_else(cut)?;
        let (content, behind) = behind.split_at_checked(size).ok_or_else(cut)?;
        rest = behind.get(size % 2..).unwrap_or_default();
        match text(&header[..16]) {
            "/" | "/SYM64/" => (),
            "//" => long_names = content,
            short => {
                let (name, content) = named(short, content, long_names).ok_or_else(cut)?;
                if !TABLES.contains(&name) {
                    let name = name.to_owned();
                    members.push(Member { name, content });
                }
            }
        }
    }
    Ok(members)
}

/// Tables of symbols that `ar` of BSD makes.
const TABLES: [&str; 4] = [
    "__.SYMDEF",
    "__.SYMDEF SORTED",
    "__.SYMDEF_64",
    "__.SYMDEF_64 SORTED",
];

/// An archive of these members, as GNU has it, without a table of symbols. Names keep what may
/// stand in a file's.
pub(super) fn write(members: &[Member]) -> Vec<u8> {
    let mut names = String::new();
    let starts: Vec<usize> = members
        .iter()
        .map(|member| {
            let start = names.len();
            let plain = |char: char| char.is_ascii_alphanumeric() || "._-+".contains(char);
            let kept = member.name.chars();
            names.extend(kept.map(|char| if plain(char) { char } else { '_' }));
            names.push_str("/\n");
            start
        })
        .collect();
    let mut archive = MAGIC.to_vec();
    let mut add = |name: &str, content: &[u8]| {
        let header = format!(
            "{name:<16}{0:<12}{0:<6}{0:<6}{0:<8}{1:<10}`\n",
            0,
            content.len()
        );
        archive.extend(header.bytes());
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    };
    add("//", names.as_bytes());
    for (member, start) in members.iter().zip(starts) {
        add(&format!("/{start}"), member.content);
    }
    archive
}

/// The name of a member and what follows it.
fn named<'a>(
    short: &'a str,
    content: &'a [u8],
    long_names: &'a [u8],
) -> Option<(&'a str, &'a [u8])> {
    if let Some(length) = short.strip_prefix("#1/") {
        let (name, content) = content.split_at_checked(number_of(length.as_bytes())?)?;
        let end = name.iter().position(|&byte| byte == 0);
        return Some((text(&name[..end.unwrap_or(name.len())]), content));
    }
    if let Some(offset) = short.strip_prefix('/') {
        let name = long_names.get(number_of(offset.as_bytes())?..)?;
        let line = name.split(|&byte| byte == b'\n').next()?;
        return Some((text(line.strip_suffix(b"/").unwrap_or(line)), content));
    }
    Some((short.strip_suffix('/').unwrap_or(short), content))
}

/// The text without trailing spaces; empty if it is not UTF-8.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default().trim_end()
}

fn number_of(bytes: &[u8]) -> Option<usize> {
    text(bytes).parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;
    use proptest::prelude::*;

    fn member(name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = format!("{name:<48}{:<10}`\n", content.len()).into_bytes();
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
        bytes
    }

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let members = members.iter().map(|(name, content)| member(name, content));
        std::iter::once(MAGIC.to_vec())
            .chain(members)
            .flatten()
            .collect()
    }

    #[test]
    fn names_of_all_dialects() {
        let bytes = archive(&[
            ("/", &[0; 5]),
            ("//", b"a_long_name.o/\nanother_long_name.o/\n"),
            ("/15", b"one"),
            ("short.o/", b"two"),
            ("#1/8", b"bsd.o\0\0\0three"),
            ("__.SYMDEF", b""),
        ]);
        let found = read(&bytes).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|member| (member.name.as_str(), member.content))
            .collect();
        let wanted: [(&str, &[u8]); 3] = [
            ("another_long_name.o", b"one"),
            ("short.o", b"two"),
            ("bsd.o", b"three"),
        ];
        assert_eq!(found, wanted);
    }

    proptest! {
        /// Every cut either falls between two members or is an error.
        #[test]
        fn whole_or_an_error(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..5), cut in any::<prop::sample::Index>()) {
            let members: Vec<(&str, &[u8])> =
                contents.iter().map(|content| ("a.o/", content.as_slice())).collect();
            let bytes = archive(&members);
            let found = read(&bytes).unwrap();
            prop_assert!(found.iter().map(|it| it.content).eq(contents.iter().map(Vec::as_slice)));
            if let Ok(found) = read(&bytes[..cut.index(bytes.len())]) {
                prop_assert!(found.len() <= contents.len());
            }
        }

        #[test]
        fn what_is_written_is_read(contents in prop::collection::vec((".{0,20}", prop::collection::vec(any::<u8>(), 0..9)), 0..5)) {
            let members: Vec<Member> = contents
                .iter()
                .map(|(name, content)| Member { name: name.clone(), content })
                .collect();
            let bytes = write(&members);
            let found = read(&bytes).unwrap();
            prop_assert!(found.iter().map(|it| it.content).eq(members.iter().map(|it| it.content)));
            for (found, member) in found.iter().zip(&members) {
                prop_assert_eq!(found.name.chars().count(), member.name.chars().count());
                prop_assert!(found.name.chars().all(|it| it.is_ascii_alphanumeric() || "._-+".contains(it)));
            }
        }

        #[test]
        fn anything_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), name in "[/#1 0-9a-z]{0,16}") {
            let mut archive = archive(&[(&name, &bytes)]);
            let _ = read(&archive);
            archive.extend(bytes);
            let _ = read(&archive);
        }
    }
}
