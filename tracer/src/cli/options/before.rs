//! What is made of a model before it is verified or compared.

use dmo_trace::study::error::StudyError;
use dmo_trace::study::source::Source;

/// What may be done to the model's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FileChange {
    /// Leave out channels that are never read or the same for every input
    Prune,
}

/// Which changes of the file are allowed.
#[derive(clap::Args)]
pub struct FileChangeArguments {
    /// Change to the model's file to make first; the results stay the same
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    allow: Vec<FileChange>,
}

impl FileChangeArguments {
    /// Makes them.
    ///
    /// # Errors
    /// When the model cannot be pruned.
    pub fn make(&self, source: &mut Source) -> Result<(), StudyError> {
        if self.allow.contains(&FileChange::Prune) {
            source.prune()?;
        }
        Ok(())
    }
}
