//! The arrays that an application provides, in the texts of a library.

use super::description::Description;
use super::memory::{Memory, identifier};
use super::template::{Values, template};
use dmo_analysis::wording::counted;
use std::fmt::Write as _;

/// How the arrays are called in the texts of one library.
#[derive(Clone, Copy)]
pub struct MemoryText<'a> {
    /// The arrays.
    pub memories: &'a [Memory],
    /// What the texts say.
    pub description: &'a Description,
}

impl MemoryText<'_> {
    /// They are those of regions.
    pub fn are_regions(&self) -> bool {
        self.memories.iter().any(|memory| memory.region.is_some())
    }

    /// Name of an array in C.
    pub fn name(&self, memory: usize) -> &str {
        self.memories.get(memory).map_or("arena", |it| &it.name)
    }

    /// A pointer to bytes of an array, as C.
    pub fn at(&self, memory: usize, element: &str, offset: &str) -> String {
        if self.are_regions() {
            format!("AT({}, {element}, {offset})", self.name(memory))
        } else {
            format!("AT({element}, {offset})")
        }
    }

    /// Whether statements have a pointer into the array.
    fn is_used(&self, memory: &Memory, statements: &str) -> bool {
        if self.are_regions() {
            statements.contains(&format!("AT({},", memory.name))
        } else {
            statements.contains("AT(")
        }
    }

    /// Values for the source of the calls.
    pub fn source(&self, values: Values, statements: &str) -> Values {
        let locals = self.each("", |memory| {
            let name = &memory.name;
            let mut text = format!("  unsigned char *const {name} = context->{name};\n");
            // A model whose outputs are its inputs calls nothing.
            if !self.is_used(memory, statements) {
                let _ = writeln!(text, "  (void){name};");
            }
            text
        });
        let is_misaligned = self.each(" || ", |it| {
            let alignment = self.macro_of(it, "ALIGNMENT");
            format!("(uintptr_t){} % {alignment} != 0", it.name)
        });
        let is_small = self.each(" || ", |it| {
            format!("{}_bytes < {}", it.name, self.macro_of(it, "BYTES"))
        });
        let at = if self.are_regions() {
            template!("at_memory.c")
        } else {
            template!("at_arena.c")
        };
        let take = |it: &Memory| format!("  context->{0} = (unsigned char *){0};\n", it.name);
        values
            .with("at", Values::default().fill(at))
            .with("locals", locals)
            .with("first", self.name(0))
            .with("init_parameters", self.init_parameters())
            .with(
                "clear",
                self.each("", |it| format!("  context->{} = NULL;\n", it.name)),
            )
            .with(
                "is_null",
                self.each(" || ", |it| format!("{} == NULL", it.name)),
            )
            .with("is_misaligned", is_misaligned)
            .with("is_small", is_small)
            .with("take", self.each("", take))
    }

    /// Values for the interface; `held` is what the memory holds beside the outputs.
    pub fn header(&self, values: Values, held: &str) -> Values {
        let members = self.each("", |it| format!("  unsigned char *{};\n", it.name));
        let values = values
            .with("held", held)
            .with("members", members)
            .with("init_parameters", self.init_parameters());
        let (sizes, types) = if self.are_regions() {
            let macros = values.fill(template!("memories.h"));
            let sizes = self.fill_each("", template!("memory.h"));
            let types = self.fill_each("\n", template!("memory_type.h"));
            (macros + &sizes, types)
        } else {
            let [sizes, types] = [template!("arena.h"), template!("arena_type.h")];
            (values.fill(sizes), values.fill(types))
        };
        let words = if self.are_regions() {
            [
                "of the memories",
                "a memory does not start at a multiple of its alignment",
                "a memory has fewer bytes than it needs",
                "memories of its own",
                "its memories",
            ]
        } else {
            let upper = self.description.upper_prefix();
            return values
                .with("sizes", sizes)
                .with("types", types)
                .with("part_of", "of the arena")
                .with(
                    "misaligned",
                    format!("the arena does not start at a multiple of {upper}ARENA_ALIGNMENT"),
                )
                .with(
                    "small",
                    format!("the arena has fewer than {upper}ARENA_BYTES bytes"),
                )
                .with("of_its_own", "an arena of its own")
                .with("made_of", "an arena")
                .with("content", "the arena");
        };
        let [part_of, misaligned, small, of_its_own, made_of] = words;
        values
            .with("sizes", sizes)
            .with("types", types)
            .with("part_of", part_of)
            .with("misaligned", misaligned)
            .with("small", small)
            .with("of_its_own", of_its_own)
            .with("made_of", made_of)
            .with("content", "the memories")
    }

    /// Values for texts that use the library.
    pub fn usage(&self, values: Values) -> Values {
        let define = self.each("", |it| {
            if it.region.is_some() {
                format!("static {}({});\n", self.upper(it), it.name)
            } else {
                format!(
                    "static {}{} {};\n",
                    self.description.prefix, it.name, it.name
                )
            }
        });
        let rows = self.each("", |it| match &it.region {
            Some(region) => format!(
                "| memory `{}` | {} bytes, planned at {} an access |\n",
                self.description.printable(region),
                it.bytes(),
                cycles(it.access_cycles)
            ),
            None => String::new(),
        });
        let section = if self.are_regions() {
            values.fill(template!("readme_memories.md"))
        } else {
            String::new()
        };
        let given = self.each(", ", |it| format!("&{0}, sizeof {0}", it.name));
        values
            .with("define_memories", define)
            .with("memory_rows", rows)
            .with("given_memories", given)
            .with("about_memories", section)
    }

    /// Values for the library's own test.
    pub fn test(&self, values: Values) -> Values {
        let prefix = &self.description.prefix;
        let define = self.each("", |it| {
            if it.region.is_some() {
                format!("static {}({}[CONTEXTS]);\n", self.upper(it), it.name)
            } else {
                format!("static {prefix}{} {}[CONTEXTS];\n", it.name, it.name)
            }
        });
        let garbage = self.each("", |it| {
            format!("    memset(&{0}[i], 0xa5 + i, sizeof {0}[i]);\n", it.name)
        });
        let given = self.each(", ", |it| format!("&{0}[i], sizeof {0}[i]", it.name));
        let upper = self.description.upper_prefix();
        let refusals = (0..self.memories.len()).flat_map(|wrong| {
            let cases = [
                ("NULL", false, "NULL_POINTER"),
                (" + 1", false, "ARENA_MISALIGNED"),
                ("", true, "ARENA_TOO_SMALL"),
            ];
            cases.map(|(start, is_small, status)| {
                let arguments = self.memories.iter().enumerate().map(|(index, it)| {
                    let name = &it.name;
                    let is_wrong = index == wrong;
                    let start = match start {
                        "NULL" if is_wrong => start.to_owned(),
                        start if is_wrong => format!("{name}[0].bytes{start}"),
                        _ => format!("{name}[0].bytes"),
                    };
                    // The array may be larger than it has to be: a multiple of its alignment.
                    let size = if is_wrong && is_small {
                        format!("{} - 1u", self.macro_of(it, "BYTES"))
                    } else {
                        format!("sizeof {name}[0]")
                    };
                    format!("{start}, {size}")
                });
                let arguments: Vec<String> = arguments.collect();
                format!(
                    " &&\n         {prefix}init(&context, {}) == {upper}{status}",
                    arguments.join(", ")
                )
            })
        });
        let right = self.each(", ", |it| format!("{0}[0].bytes, sizeof {0}[0]", it.name));
        values
            .with("define_memories", define)
            .with("garbage", garbage)
            .with("given_memories", given)
            .with("right_memories", right)
            .with("refusals", refusals.collect::<String>())
    }

    fn init_parameters(&self) -> String {
        self.each(", ", |it| format!("void *{0}, size_t {0}_bytes", it.name))
    }

    /// Something of each array, with this between.
    fn each(&self, between: &str, text: impl Fn(&Memory) -> String) -> String {
        let texts: Vec<String> = self.memories.iter().map(text).collect();
        texts.join(between)
    }

    fn fill_each(&self, between: &str, template: &str) -> String {
        self.each(between, |memory| {
            let region = memory.region.as_deref().unwrap_or_default();
            self.description
                .values()
                .with("memory", &memory.name)
                .with("MEMORY", memory.name.to_uppercase())
                .with("region", self.description.printable(region))
                .with("section", format!(".bss.{}", identifier(region)))
                .with("cycles", cycles(memory.access_cycles))
                .with("bytes", memory.bytes())
                .with("alignment", memory.alignment)
                .fill(template)
        })
    }

    /// What the macros of an array begin with.
    fn upper(&self, memory: &Memory) -> String {
        format!(
            "{}{}",
            self.description.upper_prefix(),
            memory.name.to_uppercase()
        )
    }

    fn macro_of(&self, memory: &Memory, what: &str) -> String {
        format!("{}_{what}", self.upper(memory))
    }
}

fn cycles(count: u32) -> String {
    counted(count.into(), "cycle", "cycles")
}
