//! Options that say which model a firmware runs, and in which arena.

use super::numbers::{parse_address, parse_range};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::program::interpreter::Interpreted;
use dmo_trace::program::target::Target;
use dmo_trace::study::firmware::ArenaPlace;
use dmo_trace::study::run::interpreter_of;
use dmo_trace::study::source::Source;
use std::ffi::OsString;

/// A model in a firmware.
#[derive(clap::Args)]
pub struct FirmwareOptions {
    /// The .tflite model that the program runs with TensorFlow Lite Micro; its operators become the
    /// layers (docs/firmware.md) [default: the first model that the program runs, if it has the
    /// runtime's symbols]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["one", "files"])]
    model: Option<OsString>,
    /// The interpreter's tensor arena: a symbol of the program, or addresses, for example
    /// 0x20000000..0x20010000 or 0x20000000:64K [default: what the program hands to its interpreter]
    #[arg(long, value_name = "SYMBOL", conflicts_with_all = ["one", "files"])]
    arena: Option<String>,
}

impl FirmwareOptions {
    /// The model in the program's arena; `None` where the program has no interpreter that could be
    /// followed, and no option asks for it. `bounded`: an endless loop is to end.
    pub fn interpreted(
        &self,
        target: &Target,
        limits: Limits,
        bounded: bool,
    ) -> anyhow::Result<Option<Interpreted>> {
        let model = self.model.as_ref().map(Source::load).transpose()?;
        let arena = self.arena.as_deref().map(arena_place).transpose()?;
        Ok(interpreter_of(target, model, arena, limits, bounded)?)
    }
}

/// An arena as the user says it.
pub fn arena_place(given: &str) -> anyhow::Result<ArenaPlace> {
    let parse = |text| parse_address(text).map_err(anyhow::Error::msg);
    let addresses = match given.split_once("..") {
        Some((start, end)) => Some(parse(start)?.into()..parse(end)?.into()),
        // A symbol may have a colon, too: it is in a namespace.
        None if given.starts_with(|first: char| first.is_ascii_digit()) => {
            Some(parse_range(given).map_err(anyhow::Error::msg)?)
        }
        None => None,
    };
    Ok(ArenaPlace {
        given: given.to_owned(),
        addresses,
    })
}
