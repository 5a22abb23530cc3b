//! Source files that debug information names.
//!
//! Only files with the ending of a source file are read, only by the name that the debug
//! information has, and a relative one never leaves the folder that it is looked for in.

use dmo_trace::explain::SourceLine;
use dmo_trace::study::input;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Where source files are looked for.
pub struct SourceFiles {
    /// Folders that the user names.
    named: Vec<PathBuf>,
    /// Folders that a relative name may be in: that of the program, and the current one.
    near: Vec<PathBuf>,
    /// The lines of each file that has been looked for.
    known: BTreeMap<String, Option<Vec<String>>>,
}

/// Source files are not larger.
const MAX_BYTES: u64 = 16 << 20;

/// Lines shown before and after the one in question.
const AROUND: u32 = 2;

/// A longer line is cut.
const MAX_COLUMNS: usize = 160;

const ENDINGS: [&str; 22] = [
    "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "inc", "inl", "ipp", "tpp",
    "s", "asm", "rs", "zig", "d", "ada", "adb", "ads",
];

impl SourceFiles {
    /// `beside`: the folder of the program.
    pub fn new(named: &[PathBuf], beside: Option<&Path>) -> Self {
        let beside = beside.map(Path::to_owned);
        Self {
            named: named.to_vec(),
            near: beside.into_iter().chain([PathBuf::from(".")]).collect(),
            known: BTreeMap::new(),
        }
    }

    /// The line and two on each side; `None` if there is no such file or line.
    pub fn around(&mut self, file: &str, line: u32) -> Option<Vec<SourceLine>> {
        if !self.known.contains_key(file) {
            let lines = self.read(file);
            self.known.insert(file.to_owned(), lines);
        }
        let lines = self.known.get(file)?.as_ref()?;
        let text = |number: u32| lines.get(number.checked_sub(1)? as usize);
        text(line)?;
        let numbers = line.saturating_sub(AROUND)..=line.saturating_add(AROUND);
        Some(
            numbers
                .filter_map(|number| {
                    Some(SourceLine {
                        number,
                        text: text(number)?.clone(),
                        binds: number == line,
                    })
                })
                .collect(),
        )
    }

    fn read(&self, file: &str) -> Option<Vec<String>> {
        let path = without_steps_back(Path::new(file))?;
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        if !ENDINGS.contains(&ending.as_str()) {
            return None;
        }
        let content = self
            .candidates(&path)
            .iter()
            .find_map(|path| input::read(path, MAX_BYTES).ok())?;
        let text = String::from_utf8_lossy(&content);
        Some(text.lines().map(printable).collect())
    }

    /// In the user's folders a file may lie at any of the last parts of its path.
    fn candidates(&self, path: &Path) -> Vec<PathBuf> {
        let parts: Vec<_> = path
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let mut candidates = Vec::new();
        for folder in &self.named {
            for first in 0..parts.len() {
                candidates.push(folder.join(parts[first..].iter().collect::<PathBuf>()));
            }
        }
        if path.has_root() {
            candidates.push(path.to_owned());
        } else {
            candidates.extend(self.near.iter().map(|folder| folder.join(path)));
        }
        candidates
    }
}

/// The path without `.` and `..`; `None` if it leaves its start.
fn without_steps_back(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    let mut depth = 0_usize;
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                depth = depth.checked_sub(1)?;
                plain.pop();
            }
            Component::Normal(part) => {
                depth += 1;
                plain.push(part);
            }
            Component::RootDir | Component::Prefix(_) => plain.push(part),
        }
    }
    Some(plain)
}

fn printable(line: &str) -> String {
    line.replace('\t', "    ")
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_COLUMNS)
        .collect()
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a test may fail loudly")]
mod tests {
    use super::*;

    fn files(folder: &Path) -> SourceFiles {
        SourceFiles::new(&[], Some(folder))
    }

    #[test]
    fn lines_around_one() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("src")).expect("a folder");
        let text = "one\ntwo\n\tthree\nfour\nfive\nsix\n";
        std::fs::write(folder.path().join("src/a.c"), text).expect("a file");
        let around = |file: &str, line| {
            let lines = files(folder.path()).around(file, line)?;
            Some(
                lines
                    .iter()
                    .map(|line| (line.number, line.text.clone(), line.binds))
                    .collect::<Vec<_>>(),
            )
        };
        let line = |number: u32, text: &str| (number, text.to_owned(), number == 3);
        let all = vec![
            line(1, "one"),
            line(2, "two"),
            line(3, "    three"),
            line(4, "four"),
            line(5, "five"),
        ];
        assert_eq!(around("src/a.c", 3), Some(all.clone()));
        assert_eq!(around("src/../src/./a.c", 3), Some(all));
        assert_eq!(around("src/a.c", 1).map(|lines| lines.len()), Some(3));
        assert_eq!(around("src/a.c", 6).map(|lines| lines.len()), Some(3));
        for (file, line) in [
            ("src/a.c", 0),
            ("src/a.c", 7),
            ("src/a.c", u32::MAX),
            ("a.c", 1),
            ("src", 1),
        ] {
            assert_eq!(around(file, line), None, "{file} {line}");
        }
    }

    #[test]
    fn nothing_outside_of_the_folder_and_nothing_but_source() {
        let outer = tempfile::tempdir().expect("a folder");
        let inner = outer.path().join("inner");
        std::fs::create_dir(&inner).expect("a folder");
        std::fs::write(outer.path().join("a.c"), "secret\n").expect("a file");
        std::fs::write(inner.join("key.pem"), "secret\n").expect("a file");
        std::fs::write(inner.join("key"), "secret\n").expect("a file");
        for file in ["../a.c", "x/../../a.c", "key.pem", "key", ""] {
            assert_eq!(files(&inner).around(file, 1), None, "{file}");
        }
    }

    #[test]
    fn a_named_folder_has_the_end_of_the_path() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("lib")).expect("a folder");
        std::fs::write(folder.path().join("lib/a.c"), "here\n").expect("a file");
        let mut files = SourceFiles::new(&[folder.path().to_owned()], None);
        let lines = files
            .around("/build/of/somebody/lib/a.c", 1)
            .expect("lines");
        assert_eq!(lines[0].text, "here");
    }
}
