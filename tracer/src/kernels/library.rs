//! A library whose kernels can be called by name.

use super::cmsis_nn::runtime::{calls, may_take_its_own};
use super::versions::{VersionError, Versions};
use super::{Contract, contracts};
use crate::call::{CallError, Library};
use crate::mcu::cycles::FlashTiming;
use crate::mcu::machine::EngineKind;
use std::ops::{Deref, Range};

/// The functions of a [`Library`], and which of them are kernels.
#[derive(Debug)]
pub struct KernelLibrary {
    library: Library,
    versions: Versions,
    /// Where each kernel begins, and its name.
    kernels: Vec<(u32, &'static str)>,
    /// Kernels that are not exact are not called.
    is_exact: bool,
    /// It is one of the sets that are built in.
    is_built_in: bool,
    /// Only functions that TensorFlow Lite Micro calls are.
    is_of_runtime: bool,
}

/// What holds of any function holds of kernels.
impl Deref for KernelLibrary {
    type Target = Library;

    fn deref(&self) -> &Library {
        &self.library
    }
}

impl KernelLibrary {
    /// Reads an ELF program for its kernels. `cpu` names the model, by default what the code was
    /// built for.
    ///
    /// # Errors
    /// When the file is no such program, or does not fit into memory.
    pub fn new(elf: &[u8], cpu: Option<&str>, ram: Range<u64>) -> Result<Self, CallError> {
        Ok(Self::of_library(Library::new(elf, cpu, ram)?))
    }

    /// The kernels among the functions of a library.
    pub fn of_library(library: Library) -> Self {
        let entry = |it: &Contract| Some((library.address_of(it.function)?, it.function));
        let mut kernels: Vec<_> = contracts().filter_map(entry).collect();
        kernels.dedup();
        Self {
            versions: Versions::of_functions(|name| library.has(name)),
            kernels,
            is_exact: false,
            is_built_in: false,
            is_of_runtime: false,
            library,
        }
    }

    /// The same as one of the sets that are built in: its functions compute more than a vendor's of the
    /// same names.
    #[must_use]
    pub fn built_in(self) -> Self {
        Self {
            is_built_in: true,
            ..self
        }
    }

    /// Whether it is one of the sets that are built in.
    pub(crate) fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    /// The same without the kernels that do not always compute what TensorFlow Lite Micro's reference
    /// kernels do.
    #[must_use]
    pub fn exact(self) -> Self {
        Self {
            is_exact: true,
            ..self
        }
    }

    /// The same as TensorFlow Lite Micro is linked with it: of CMSIS-NN's functions, those that it does not
    /// call say nothing of what it computes.
    #[must_use]
    pub fn of_runtime(self) -> Self {
        Self {
            is_of_runtime: true,
            ..self
        }
    }

    /// Whether it may be that TensorFlow Lite Micro, linked with it, computes operators of this function by
    /// its own reference kernel all the same.
    pub(crate) fn may_be_passed_over(&self, contract: &Contract) -> bool {
        self.is_of_runtime && contract.is_of_cmsis_nn() && may_take_its_own(contract.kind)
    }

    /// Whether a kernel may be called, if the library has it.
    pub(super) fn offers(&self, contract: &Contract) -> bool {
        let is_called = !self.is_of_runtime
            || !contract.is_of_cmsis_nn()
            || calls(contract.kind, contract.function);
        is_called && (contract.is_exact || !self.is_exact)
    }

    /// The library, executed by this engine.
    #[must_use]
    pub fn with_engine(self, engine: EngineKind) -> Self {
        Self {
            library: self.library.with_engine(engine),
            ..self
        }
    }

    /// The same on a CPU whose flash memory makes it wait, as far as cycles are estimated.
    #[must_use]
    pub fn with_flash(self, flash: Option<FlashTiming>) -> Self {
        Self {
            library: self.library.with_flash(flash),
            ..self
        }
    }

    /// The same library, of this version of the CMSIS-NN interface.
    ///
    /// # Errors
    /// When there is no such version, or its functions tell otherwise.
    pub fn of_version(self, version: u8) -> Result<Self, VersionError> {
        let versions = Versions::named(version, |name| self.has(name))?;
        Ok(Self { versions, ..self })
    }

    /// The versions of the CMSIS-NN interface that it may be of, if of any.
    pub fn versions(&self) -> Versions {
        self.versions
    }

    /// Addresses of all kernels that can be called.
    pub fn entries(&self) -> Vec<u32> {
        self.kernels.iter().map(|&(address, _)| address).collect()
    }

    /// The names of the kernels that begin at these addresses, without the one of this name.
    pub fn others(&self, entered: &[u32], function: &str) -> Vec<&'static str> {
        let called = self.address_of(function);
        let others = entered.iter().filter(|&&address| Some(address) != called);
        let name = |&address: &u32| self.kernels.iter().find(|(at, _)| *at == address);
        others.filter_map(name).map(|&(_, name)| name).collect()
    }
}
