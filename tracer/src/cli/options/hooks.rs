//! Options that say which functions of a program are its layers.

use crate::cli::output;
use anyhow::Context;
use dmo_trace::program::hooks::{Hooks, LayerHook, parse_file, ready_made};
use dmo_trace::program::marks::Marks;
use dmo_trace::program::target::Target;
use dmo_trace::study::input;

/// A file of hooks may not have more bytes: TOML takes fifty times as much memory.
const MAX_BYTES: u64 = 1 << 20;

/// Layers of a program without marks.
#[derive(clap::Args)]
pub struct HookOptions {
    /// Treat a function as a layer (docs/hooks.md), for example 'conv=my_conv(in: r0 size r2*64,
    /// out: r1 size 4096)'; repeatable
    #[arg(long = "layer", value_name = "HOOK")]
    one: Vec<LayerHook>,
    /// Read layer hooks from a TOML file, or use a built-in set: cmsis-nn (version 7), cmsis-nn-6
    /// (versions 5 and 6), cmsis-nn-4; repeatable
    #[arg(long = "layers", value_name = "FILE")]
    files: Vec<String>,
}

impl HookOptions {
    /// The hooks of a program; `None` where no option names any.
    pub fn hooks(&self, target: &Target) -> anyhow::Result<Option<Hooks>> {
        if self.one.is_empty() && self.files.is_empty() {
            return Ok(None);
        }
        let mut hooks = Hooks::default();
        for layer in &self.one {
            hooks.add(layer.clone(), &target.image, &target.map)?;
        }
        let (sets, files): (Vec<&String>, Vec<&String>) = self
            .files
            .iter()
            .partition(|file| ready_made(file).is_some());
        for path in files {
            let text = input::text(path.as_ref(), MAX_BYTES)
                .with_context(|| format!("cannot read {path}"))?;
            for layer in parse_file(&text).with_context(|| path.clone())? {
                hooks
                    .add(layer, &target.image, &target.map)
                    .with_context(|| path.clone())?;
            }
        }
        // What the user has written comes before what is built in.
        for set in sets {
            let text = ready_made(set).unwrap_or_default();
            hooks.add_set(set, parse_file(text)?, &target.image, &target.map)?;
        }
        if Marks::find(&target.image).is_ok() {
            output::message(
                "the program's layer marks are ignored, because --layer or --layers say what its layers are",
            );
        }
        Ok(Some(hooks))
    }
}
