//! Options that say which model a firmware runs, and in which arena.

use super::numbers::parse_address;
use dmo_analysis::firmware::Placed;
use dmo_trace::program::target::Target;
use dmo_trace::study::firmware::{ArenaPlace, placed};
use dmo_trace::study::source::Source;
use std::ffi::OsString;

/// A model in a firmware.
#[derive(clap::Args)]
pub struct FirmwareOptions {
    /// The .tflite model that the program runs with TensorFlow Lite Micro; its operators become the
    /// layers (docs/firmware.md)
    #[arg(long, value_name = "FILE", requires = "arena", conflicts_with_all = ["one", "files"])]
    model: Option<OsString>,
    /// The interpreter's tensor arena: a symbol of the program, or addresses, for example
    /// 0x20000000..0x20010000
    #[arg(long, value_name = "SYMBOL", requires = "model")]
    arena: Option<String>,
}

impl FirmwareOptions {
    /// The model in the program's arena; `None` where no option names one.
    pub fn placed(&self, target: &Target) -> anyhow::Result<Option<Placed>> {
        let (Some(model), Some(arena)) = (&self.model, &self.arena) else {
            return Ok(None);
        };
        let source = Source::load(model)?;
        let parse = |text| parse_address(text).map_err(anyhow::Error::msg);
        let addresses = match arena.split_once("..") {
            Some((start, end)) => Some(parse(start)?.into()..parse(end)?.into()),
            None => None,
        };
        let given = arena.clone();
        Ok(Some(placed(
            &source,
            &ArenaPlace { given, addresses },
            target,
        )?))
    }
}
