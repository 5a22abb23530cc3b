//! Options that say which model a firmware runs, and in which arena.

use super::numbers::parse_address;
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
    /// 0x20000000..0x20010000 [default: what the program hands to its interpreter]
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
        let arena = self.arena_place()?;
        Ok(interpreter_of(target, model, arena, limits, bounded)?)
    }

    fn arena_place(&self) -> anyhow::Result<Option<ArenaPlace>> {
        let Some(given) = self.arena.clone() else {
            return Ok(None);
        };
        let parse = |text| parse_address(text).map_err(anyhow::Error::msg);
        let addresses = match given.split_once("..") {
            Some((start, end)) => Some(parse(start)?.into()..parse(end)?.into()),
            None => None,
        };
        Ok(Some(ArenaPlace { given, addresses }))
    }
}
