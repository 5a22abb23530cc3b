//! A whole inference as one trace, as if it had run in a given layout: for pictures.
//!
//! The accesses are those of each operator with its buffers apart; only the addresses are the
//! layout's. Time goes on from one operator to the next.

use super::tracing::{ModelBuffer, TracedLayer};
use super::verify::{VerifyError, loaded, model_inputs, without_overlaps};
use super::{Deployment, Inference, Placement};
use crate::mcu::machine::{Limits, Observation};
use dmo_analysis::graph::OperatorId;
use dmo_analysis::trace::{Address, Event, Layer, Time, TraceSink};

/// A layout, and the sink that records the inference in it.
pub struct RecordedLayout<'a> {
    /// Where everything lies.
    pub placement: &'a Placement,
    /// Receives the trace.
    pub sink: &'a mut dyn TraceSink,
}

/// Address of the first byte of the arena in the traces: where the RAM of most
/// microcontrollers begins.
pub const ARENA: Address = Address(0x2000_0000);

/// Records one inference on input number 0 for all views at once. Of an operator that is not
/// executed there is nothing to record. `progress` receives how many
/// operators are done.
///
/// # Errors
/// When an operator cannot run.
pub fn record(
    deployment: &Deployment,
    order: &[OperatorId],
    views: &mut [RecordedLayout],
    limits: Limits,
    progress: &mut dyn FnMut(usize),
) -> Result<(), VerifyError> {
    let apart = without_overlaps(deployment, order)?;
    let mut inference = Inference::new(deployment, &apart, 0, Observation::Watch, limits)?;
    inference.begin(&model_inputs(deployment, 0))?;
    let mut elapsed = 0;
    for (index, &operator) in order.iter().enumerate() {
        let step = deployment.step(operator);
        if step.kernel.is_ok() {
            let contents = loaded(deployment, &inference, step)?;
            let layer = TracedLayer::new(deployment, operator, None)?;
            let mut moved = Moved::new(&layer, operator, elapsed, views);
            layer.trace(deployment, operator, contents, limits, &mut moved)?;
            elapsed = moved.end;
        }
        inference.run(operator)?;
        progress(index + 1);
    }
    Ok(())
}

/// Hands the trace of one operator on, with the addresses of each view.
struct Moved<'a, 'v> {
    views: &'a mut [RecordedLayout<'v>],
    /// For each view the layer, and for each tensor of the traced one its position there.
    layers: Vec<(Layer, Vec<Option<u16>>)>,
    /// Instructions executed before the operator.
    elapsed: Time,
    begin: Time,
    end: Time,
    events: Vec<Event>,
}

impl<'a, 'v> Moved<'a, 'v> {
    fn new(
        traced: &TracedLayer,
        operator: OperatorId,
        elapsed: Time,
        views: &'a mut [RecordedLayout<'v>],
    ) -> Self {
        let layers = views.iter().map(|view| {
            let mut layer = Layer {
                name: traced.layer.operator.clone(),
                tensors: Vec::new(),
                ..traced.layer.clone()
            };
            let mut positions = Vec::new();
            for (tensor, place) in traced.layer.tensors.iter().zip(&traced.places) {
                let offset = match place {
                    ModelBuffer::Tensor(id) => view.placement.offset(*id),
                    ModelBuffer::Scratch => view.placement.scratch[operator.0],
                    ModelBuffer::Beside => None,
                };
                positions.push(offset.map(|offset| {
                    let mut tensor = tensor.clone();
                    tensor.address = Address(ARENA.0 + offset as u32);
                    layer.tensors.push(tensor);
                    layer.tensors.len() as u16 - 1
                }));
            }
            (layer, positions)
        });
        Self {
            layers: layers.collect(),
            views,
            elapsed,
            begin: 0,
            end: elapsed,
            events: Vec::new(),
        }
    }

    fn time(&self, time: Time) -> Time {
        self.elapsed + time.saturating_sub(self.begin)
    }
}

impl TraceSink for Moved<'_, '_> {
    fn begin_layer(&mut self, _: &Layer, time: Time) {
        self.begin = time;
        for (view, (layer, _)) in self.views.iter_mut().zip(&self.layers) {
            view.sink.begin_layer(layer, self.elapsed);
        }
    }

    fn events(&mut self, events: &[Event]) {
        for index in 0..self.views.len() {
            self.events.clear();
            for event in events {
                let position = self.layers[index].1.get(usize::from(event.tensor));
                if let Some(&Some(tensor)) = position {
                    self.events.push(Event {
                        tensor,
                        time: self.time(event.time),
                        ..*event
                    });
                }
            }
            self.views[index].sink.events(&self.events);
        }
    }

    fn end_layer(&mut self, time: Time) {
        self.end = self.time(time);
        for view in self.views.iter_mut() {
            view.sink.end_layer(self.end);
        }
    }
}
