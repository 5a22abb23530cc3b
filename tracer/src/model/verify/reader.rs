//! Who misses what an operator has destroyed: the first load of it by a later operator.

use super::{Subject, VerifiedLayer, VerifyError, model_inputs, without_overlaps};
use crate::mcu::machine::{Limits, Observation};
use crate::model::tracing::{Contents, ModelBuffer, TracedLayer};
use crate::model::{Deployment, Inference};
use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::profile::overlap::Access;
use dmo_analysis::replay::{Finding, FindingKind};
use dmo_analysis::trace::{AccessKind, Event, Layer, Time, TraceSink};
use dmo_analysis::verify::Occupant;
use std::ops::Range;

/// A load of bytes that an earlier operator has overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterLoad {
    /// Number of the model's input.
    pub input: u64,
    /// The operator that has destroyed them.
    pub destroyer: OperatorId,
    /// The tensor.
    pub tensor: TensorId,
    /// The bytes, from its start.
    pub bytes: Range<u64>,
    /// The operator that loads them.
    pub reader: OperatorId,
    /// The first load.
    pub load: Access,
}

impl LaterLoad {
    /// Returns `true` if this is the consequence of an operator's finding.
    pub fn is_of(&self, destroyer: OperatorId, input: u64, finding: &Finding) -> bool {
        finding.kind == FindingKind::Destroyed
            && (self.destroyer, self.input) == (destroyer, input)
            && finding.subject.occupant == Some(Occupant::Tensor(self.tensor))
            && finding.bytes == self.bytes
    }
}

/// At most this many are searched for: each takes an inference.
const MOST: usize = 4;

/// Runs the model again for each finding that a later operator shows.
///
/// # Errors
/// When the model cannot run any more.
pub(super) fn readers(
    deployment: &Deployment,
    subject: &Subject,
    layers: &[VerifiedLayer],
    limits: Limits,
) -> Result<Vec<LaterLoad>, VerifyError> {
    let destroyed = layers.iter().flat_map(|layer| {
        let findings = layer.findings.iter();
        findings.filter_map(move |(input, finding)| match finding.subject.occupant {
            Some(Occupant::Tensor(tensor)) if finding.kind == FindingKind::Destroyed => {
                Some((layer.operator, *input, tensor, finding.bytes.clone()))
            }
            _ => None,
        })
    });
    let mut found = Vec::new();
    for (destroyer, input, tensor, bytes) in destroyed.take(MOST) {
        let from_destroyer = subject
            .order
            .iter()
            .skip_while(|&&operator| operator != destroyer);
        let mut later = from_destroyer.skip(1);
        let reads = |operator: &&OperatorId| {
            let mut inputs = deployment.step(**operator).inputs.iter();
            inputs.any(|&input| deployment.graph.root(input) == tensor)
        };
        // Of one that is not executed, no load is known.
        let reader = later.find(reads);
        let executed = |&&reader: &&OperatorId| deployment.step(reader).kernel.is_ok();
        let Some(&reader) = reader.filter(executed) else {
            continue;
        };
        let contents = contents(deployment, subject, input, reader, limits)?;
        let load = first_load(deployment, reader, contents, tensor, &bytes, limits)?;
        found.extend(load.map(|load| LaterLoad {
            input,
            destroyer,
            tensor,
            bytes: bytes.clone(),
            reader,
            load,
        }));
    }
    Ok(found)
}

/// The contents of the tensors that an operator loads in a layout without overlaps.
fn contents(
    deployment: &Deployment,
    subject: &Subject,
    number: u64,
    until: OperatorId,
    limits: Limits,
) -> Result<Contents, VerifyError> {
    let apart = without_overlaps(deployment, subject.order)?;
    let mut inference = Inference::new(deployment, &apart, 0, Observation::Watch, limits)?;
    let order = subject.order.iter();
    let before = order.take_while(|&&operator| operator != until);
    inference.infer(&model_inputs(deployment, number), before)?;
    super::execution::loaded(deployment, &inference, deployment.step(until))
}

fn first_load(
    deployment: &Deployment,
    operator: OperatorId,
    contents: Contents,
    tensor: TensorId,
    bytes: &Range<u64>,
    limits: Limits,
) -> Result<Option<Access>, VerifyError> {
    let layer = TracedLayer::new(deployment, operator, None)?;
    let place = |&place: &ModelBuffer| place == ModelBuffer::Tensor(tensor);
    let Some(position) = layer.places.iter().position(place) else {
        return Ok(None);
    };
    let mut first = FirstLoad {
        tensor: position as u16,
        bytes: bytes.clone(),
        found: None,
    };
    layer.trace(deployment, operator, contents, limits, &mut first)?;
    Ok(first.found)
}

/// Waits for the first load of some bytes.
struct FirstLoad {
    tensor: u16,
    bytes: Range<u64>,
    found: Option<Access>,
}

impl TraceSink for FirstLoad {
    fn begin_layer(&mut self, _: &Layer, _: Time) {}

    fn events(&mut self, events: &[Event]) {
        let wanted = |event: &&Event| {
            event.kind == AccessKind::Load
                && event.tensor == self.tensor
                && u64::from(event.offset) < self.bytes.end
                && u64::from(event.end()) > self.bytes.start
        };
        if self.found.is_none() {
            self.found = events.iter().find(wanted).map(|event| Access {
                pc: event.pc,
                time: event.time,
                offset: event.offset,
                size_bytes: event.size_bytes.into(),
            });
        }
    }

    fn end_layer(&mut self, _: Time) {}
}
