//! 2-D convolution, grouped or not.

use super::{Buffers, ReferenceKernel, Shape, ShapeError, Window};
use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// 2-D convolution. Output channel `oc` loads the input channels of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Conv2d {
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// The filter's window.
    pub window: Window,
    /// Number of groups, 1 for an ordinary convolution.
    pub groups: u32,
    /// Bytes per element of input and output.
    pub element_bytes: u32,
}

impl Conv2d {
    fn inputs_per_group(&self) -> u32 {
        self.input[3] / self.groups
    }

    /// The longest lead of the stored over the loaded channel.
    pub(super) fn channel_lead(&self) -> i64 {
        let (inputs, outputs) = (
            i64::from(self.inputs_per_group()),
            i64::from(self.outputs_per_group()),
        );
        // The last output channel of a group leads the group's first input channel.
        outputs - 1 + (i64::from(self.groups) - 1) * (outputs - inputs).max(0)
    }

    fn outputs_per_group(&self) -> u32 {
        self.output[3] / self.groups
    }
}

impl ReferenceKernel for Conv2d {
    fn check(&self) -> Result<(), ShapeError> {
        if self.groups == 0 {
            return Err(ShapeError::Zero {
                what: "number of groups",
            });
        }
        for (what, given) in [
            ("input's depth", self.input[3]),
            ("output's depth", self.output[3]),
        ] {
            if given % self.groups != 0 {
                return Err(ShapeError::Groups {
                    what,
                    given,
                    groups: self.groups,
                });
            }
        }
        self.window.check(self.input, self.output)
    }

    fn buffers(&self) -> Buffers {
        Buffers::pair(self.input, self.output, [self.element_bytes; 2])
    }

    fn displacement_bytes(&self, _: usize, _: usize) -> Option<i64> {
        let shapes = [self.input, self.output];
        self.window
            .displacement_bytes(shapes, self.channel_lead(), self.element_bytes)
    }

    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F) {
        let (inputs, outputs) = (self.inputs_per_group(), self.outputs_per_group());
        let inputs_of = |oc| {
            let first = oc / outputs * inputs;
            first..first + inputs
        };
        self.window
            .accesses(self.input, self.output, inputs_of, visit);
    }
}
