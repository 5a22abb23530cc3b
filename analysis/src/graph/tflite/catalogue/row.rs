//! A row of the catalogue, and how it is put together.

use super::super::apart::WhyApart;
use super::super::lower::{FileNode, Lower, elements, windows};
use super::super::roles::{self, Exported, Roles};
use super::super::schema::{Field, options, pool_2d};
use super::super::value_options::{FusedActivation, Problem, ValueOptions};
use crate::graph::parameters::Parameters;
use crate::graph::{Kind, TensorType};

/// Reads the options that an operator computes with.
type ReadValues = fn(&ValueOptions, &mut Parameters) -> Result<(), Problem>;

/// Sizes in bytes of an operator's scratch buffers.
type ScratchSizes = fn(&FileNode) -> Option<Vec<u64>>;

/// What is known of a kind. What its row does not mention is not so, or not known.
pub(in crate::graph::tflite) struct Row {
    pub(super) kind: Kind,
    pub(super) kernel_name: Option<&'static str>,
    pub(super) elementwise: Option<usize>,
    /// Finds its loops and shapes in the reference kernels; `None` if nothing is known of them.
    pub lower: Option<Lower>,
    /// Why nothing may overlap in any shape.
    pub apart: Option<WhyApart>,
    /// Sizes in bytes of the reference kernels' scratch buffers.
    pub scratch: ScratchSizes,
    /// The same of TensorFlow Lite Micro's glue to CMSIS-NN, where it differs.
    pub cmsis_nn_scratch: Option<ScratchSizes>,
    /// What its inputs are and its options, where it is written to a file.
    pub roles: fn(&Exported) -> Result<Option<Roles>, String>,
    /// The number of its options in the schema's union; 0 if they are not used.
    pub options: u8,
    /// Where its options have an activation.
    pub activation: FusedActivation,
    /// Reads what else of its options it computes with.
    pub values: Option<ReadValues>,
    pub(super) has_hidden_state: bool,
    pub(super) keeps_bytes: bool,
    pub(super) reads_shape_only: bool,
    pub(super) has_weights: bool,
    pub(super) has_pitched_kernel: fn(TensorType) -> bool,
}

impl Row {
    pub(super) const fn of(kind: Kind) -> Self {
        Self {
            kind,
            kernel_name: None,
            elementwise: None,
            lower: None,
            apart: None,
            scratch: |_| None,
            cmsis_nn_scratch: None,
            roles: roles::unknown,
            options: 0,
            activation: FusedActivation::Absent,
            values: None,
            has_hidden_state: false,
            keeps_bytes: false,
            reads_shape_only: false,
            has_weights: false,
            has_pitched_kernel: |_| false,
        }
    }

    /// A copy from or to a resource variable.
    pub(super) const fn of_variable(kind: Kind, kernel_name: &'static str) -> Self {
        Self::of(kind).named(kernel_name).hidden_state()
    }

    /// Element by element, of one input.
    pub(super) const fn unary(kind: Kind) -> Self {
        let mut row = Self::of(kind)
            .lowered(elements::unary)
            .written(roles::unary);
        row.elementwise = Some(1);
        row
    }

    /// Element by element, of two inputs.
    pub(super) const fn binary(kind: Kind) -> Self {
        let mut row = Self::of(kind)
            .lowered(elements::binary)
            .written(roles::binary);
        row.elementwise = Some(2);
        row
    }

    /// Element by element, of two inputs, with an activation after it.
    pub(super) const fn arithmetic(kind: Kind, options: u8, activation: Field) -> Self {
        Self::binary(kind)
            .written(roles::arithmetic)
            .options(options)
            .activation(activation)
    }

    pub(super) const fn pool(kind: Kind) -> Self {
        Self::of(kind)
            .lowered(windows::pool)
            .written(roles::pool)
            .options(options::POOL_2D)
            .activation(pool_2d::ACTIVATION)
    }

    pub(super) const fn reduction(kind: Kind) -> Self {
        Self::of(kind)
            .lowered(elements::reduce)
            .apart(WhyApart::Accumulates)
            .written(roles::reduce)
            .options(options::REDUCER)
    }

    /// What kernels here call it, which they compute. The first row of a name is the kind as
    /// which they do.
    pub(super) const fn named(mut self, kernel_name: &'static str) -> Self {
        self.kernel_name = Some(kernel_name);
        self
    }

    pub(super) const fn lowered(mut self, lower: Lower) -> Self {
        self.lower = Some(lower);
        self
    }

    /// Nothing may overlap, even where its loops are known.
    pub(super) const fn apart(mut self, why: WhyApart) -> Self {
        self.apart = Some(why);
        self
    }

    pub(super) const fn scratch(mut self, sizes: ScratchSizes) -> Self {
        self.scratch = sizes;
        self
    }

    pub(super) const fn cmsis_nn_scratch(mut self, sizes: ScratchSizes) -> Self {
        self.cmsis_nn_scratch = Some(sizes);
        self
    }

    pub(super) const fn written(
        mut self,
        roles: fn(&Exported) -> Result<Option<Roles>, String>,
    ) -> Self {
        self.roles = roles;
        self
    }

    pub(super) const fn options(mut self, number: u8) -> Self {
        self.options = number;
        self
    }

    pub(super) const fn activation(mut self, field: Field) -> Self {
        self.activation = FusedActivation::At(field);
        self
    }

    pub(super) const fn activation_not_read(mut self) -> Self {
        self.activation = FusedActivation::NotRead;
        self
    }

    pub(super) const fn values(
        mut self,
        read: fn(&ValueOptions, &mut Parameters) -> Result<(), Problem>,
    ) -> Self {
        self.values = Some(read);
        self
    }

    pub(super) const fn hidden_state(mut self) -> Self {
        self.has_hidden_state = true;
        self
    }

    pub(super) const fn keeps_bytes(mut self) -> Self {
        self.keeps_bytes = true;
        self
    }

    pub(super) const fn reads_shape_only(mut self) -> Self {
        self.reads_shape_only = true;
        self
    }

    pub(super) const fn weights(mut self) -> Self {
        self.has_weights = true;
        self
    }

    pub(super) const fn pitched(mut self, types: fn(TensorType) -> bool) -> Self {
        self.has_pitched_kernel = types;
        self
    }
}
