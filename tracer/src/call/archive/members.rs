//! The files in an archive, as `ar` of GNU, LLVM and BSD writes them.

use goblin::archive::Archive;
pub(super) use goblin::archive::MAGIC;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member<'a> {
    pub name: String,
    pub content: &'a [u8],
}

/// All files but the tables that `ar` itself makes; else what is wrong.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Member<'_>>, String> {
    let archive = Archive::parse(bytes).map_err(|error| error.to_string())?;
    let found = (0..archive.len()).filter_map(|number| Some((number, archive.get_at(number)?)));
    let mut members = Vec::new();
    for (number, member) in found {
        let name = member.extended_name();
        let start = member.offset as usize;
        let content = bytes
            .get(start..)
            .and_then(|rest| rest.get(..member.size()));
        let content = content.ok_or_else(|| format!("member {number} is not whole"))?;
        if !TABLES.contains(&name) {
            let name = name.to_owned();
            members.push(Member { name, content });
        }
    }
    Ok(members)
}

/// Tables of symbols: of GNU and LLVM where offsets have 64 bits, and of BSD.
const TABLES: [&str; 5] = [
    "/SYM64",
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
    if !names.is_empty() {
        add("//", names.as_bytes());
    }
    for (member, start) in members.iter().zip(starts) {
        add(&format!("/{start}"), member.content);
    }
    archive
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
        fn what_is_written_is_read(contents in prop::collection::vec((".{1,20}", prop::collection::vec(any::<u8>(), 0..9)), 0..5)) {
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
