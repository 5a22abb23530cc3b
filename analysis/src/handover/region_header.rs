//! A plan of several memories as C.

use super::c_header::{comment, identifier};
use crate::graph::OperatorId;
use dmo_planner::regions::{ArenaRegion, RegionOffset};
use std::fmt::Write;

/// What a C header of a plan of several memories says.
#[derive(Debug, Clone)]
pub struct RegionHeader<'a> {
    /// Name of the model's file.
    pub model: &'a str,
    /// With which kernels the plan is safe, a sentence.
    pub safe: &'a str,
    /// The regions, each with the bytes of it that are used and what it has to be aligned to.
    pub regions: Vec<(&'a ArenaRegion, u64, u64)>,
    /// Name and place of each tensor of the model; `None` for one that lies in no region.
    pub tensors: Vec<(&'a str, Option<RegionOffset>)>,
    /// The operators in the order in which they run.
    pub order: &'a [OperatorId],
    /// The scratch buffers: the operator, which of its own, the place, and the size in bytes.
    pub scratch: Vec<(OperatorId, usize, RegionOffset, u64)>,
}

impl RegionHeader<'_> {
    /// The plan as C: for each region its size, its alignment, and a macro that defines an array
    /// for it; for each tensor the region and the offset in it.
    pub fn text(&self) -> String {
        let name = identifier(self.model);
        let upper = name.to_uppercase();
        let mut regions = String::new();
        for (index, (region, used, alignment)) in self.regions.iter().enumerate() {
            let called = comment(&region.name);
            let unused = match used {
                0 => ": nothing lies in it, and it needs no array",
                _ => "",
            };
            // Writing to a string does not fail; C has no arrays without elements.
            let _ = write!(
                regions,
                "\n/* Region {index}, {called}{unused}. */\n\
                 #define {upper}_REGION_{index}_BYTES {bytes}u\n\
                 #define {upper}_REGION_{index}_ALIGNMENT {alignment}u\n",
                bytes = (*used).max(1),
            );
        }
        let mut tensors = String::new();
        for (name, place) in &self.tensors {
            let _ = match place {
                Some(RegionOffset { region, offset }) => {
                    writeln!(
                        tensors,
                        "    {{{region}, {offset}}}, /* {} */",
                        comment(name)
                    )
                }
                None => writeln!(tensors, "    {{-1, -1}},"),
            };
        }
        let mut scratch = String::new();
        for (operator, index, RegionOffset { region, offset }, bytes) in &self.scratch {
            let operator = operator.0;
            let _ = writeln!(
                scratch,
                "    {{{operator}, {index}, {region}, {offset}, {bytes}}},"
            );
        }
        if !scratch.is_empty() {
            scratch = format!(
                "/* Scratch buffers: operator, which of its own, region, offset in it, bytes. */\n\
                 static const int32_t {name}_scratch[{}][5] = {{\n{scratch}}};\n\n",
                self.scratch.len()
            );
        }
        let order: Vec<String> = self.order.iter().map(|id| id.0.to_string()).collect();
        format!(
            "/* Tensors of {model} in {count} regions, planned by dmo-trace.\n\
             \x20* {safe} */\n\
             #ifndef {upper}_PLAN_H\n#define {upper}_PLAN_H\n\n#include <stdint.h>\n\n\
             #define {upper}_REGION_COUNT {count}u\n\
             #define {upper}_TENSOR_COUNT {tensor_count}u\n{regions}\n\
             /* Defines the array of region INDEX, which QUALIFIERS, such as\n\
             \x20* __attribute__((section(\".tcm\"))), put into its memory. */\n\
             #define {upper}_REGION(INDEX, QUALIFIERS) \\\n\
             \x20   static uint8_t {name}_region_##INDEX[{upper}_REGION_##INDEX##_BYTES] \\\n\
             \x20       __attribute__((aligned({upper}_REGION_##INDEX##_ALIGNMENT))) QUALIFIERS\n\n\
             /* Region of each tensor of the model, and offset in it; -1: in none. */\n\
             static const int32_t {name}_tensor_places[{size}][2] = {{\n{tensors}}};\n\n\
             /* Operators of the model in the order in which they run. */\n\
             static const int32_t {name}_operator_order[{operators}] = {{{order}}};\n\n\
             {scratch}#endif /* {upper}_PLAN_H */\n",
            model = comment(self.model),
            safe = comment(self.safe),
            count = self.regions.len(),
            tensor_count = self.tensors.len(),
            size = self.tensors.len().max(1),
            operators = self.order.len().max(1),
            order = order.join(", "),
        )
    }
}
