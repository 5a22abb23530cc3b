//! What the file needs changed for channels to go.

use super::channels::Channels;
use super::layers::Layer;
use super::model::Model;
use super::products::{BIAS, FILTER, Weights};
use super::removal::Removal;
use crate::graph::tflite::edit::{Cut, Edits, TensorEdit};
use crate::graph::{Kind, OperatorId, TensorId};

/// A model and what is removed from it.
pub(super) struct Cuts<'a> {
    pub model: &'a Model<'a>,
    pub channels: &'a Channels,
    pub removal: &'a Removal,
}

impl Cuts<'_> {
    /// The channels that stay; `None` if all do.
    pub(super) fn kept(&self, tensor: TensorId) -> Option<Vec<u32>> {
        let stays = |number: Option<usize>| !number.is_some_and(|it| self.removal.gone[it]);
        let own = self.channels.of_tensor(tensor);
        let kept = own.filter(|&channel| stays(self.channels.number(channel)));
        let kept: Vec<u32> = kept.map(|channel| channel.index).collect();
        (kept.len() < self.channels.count(tensor)).then_some(kept)
    }

    pub(super) fn edits(&self) -> Edits {
        let mut edits = Edits::default();
        let graph = self.model.graph;
        for (index, tensor) in graph.tensors.iter().enumerate() {
            let id = TensorId(index);
            if let Some(kept) = self.kept(id) {
                let axis = tensor.shape.len().saturating_sub(1);
                let edit = TensorEdit {
                    cuts: vec![Cut { axis, kept }],
                    data: None,
                };
                edits.tensors.insert(id, edit);
            }
        }
        for (index, layer) in self.model.layers.iter().enumerate() {
            let operator = OperatorId(index);
            match layer {
                Layer::Product(layer) => {
                    let mut cuts = Vec::new();
                    if let Some(kept) = self.kept(layer.input) {
                        cuts.push(Cut {
                            axis: layer.input_axis,
                            kept: repeated(&kept, layer.channels, layer.columns, layer.input_axis),
                        });
                    }
                    let rows = self.kept(layer.output);
                    cuts.extend(rows.clone().map(|kept| Cut { axis: 0, kept }));
                    self.filter(&mut edits, operator, &layer.weights, cuts);
                    self.bias(&mut edits, operator, &layer.weights, rows);
                }
                Layer::Depthwise(layer) => {
                    let rows = self.kept(layer.output);
                    let cuts = rows.clone().map(|kept| Cut { axis: 3, kept });
                    let cuts = cuts.into_iter().collect();
                    self.filter(&mut edits, operator, &layer.weights, cuts);
                    self.bias(&mut edits, operator, &layer.weights, rows);
                }
                Layer::Linked(layer) if graph.operators[index].kind == Kind::Reshape => {
                    self.new_shape(&mut edits, operator, layer.output, layer.shape_operand);
                }
                Layer::Linked(_) | Layer::Opaque => {}
            }
        }
        edits.settle(&self.model.uses);
        edits
    }

    fn filter(&self, edits: &mut Edits, operator: OperatorId, weights: &Weights, cuts: Vec<Cut>) {
        if !cuts.is_empty() {
            let edit = TensorEdit { cuts, data: None };
            let place = (operator, FILTER);
            edits.operands.insert(place, (weights.filter, edit));
        }
    }

    fn bias(
        &self,
        edits: &mut Edits,
        operator: OperatorId,
        weights: &Weights,
        rows: Option<Vec<u32>>,
    ) {
        let Some(bias) = weights.bias else {
            return;
        };
        let values = &self.removal.biases[operator.0];
        let is_other = !values.is_empty() && *values != weights.bias_values;
        if !is_other && rows.is_none() {
            return;
        }
        // They fit: that is a condition of the removal.
        let words = values
            .iter()
            .flat_map(|&value| (value as i32).to_le_bytes());
        let edit = TensorEdit {
            cuts: rows.map(|kept| Cut { axis: 0, kept }).into_iter().collect(),
            data: is_other.then(|| words.collect()),
        };
        edits.operands.insert((operator, BIAS), (bias, edit));
    }

    /// The shape that an operator is to give its output, as options and as an operand.
    fn new_shape(
        &self,
        edits: &mut Edits,
        operator: OperatorId,
        output: TensorId,
        operand: Option<usize>,
    ) {
        let Some(kept) = self.kept(output) else {
            return;
        };
        let shape = &self.model.graph.tensor(output).shape;
        let mut shape: Vec<i32> = shape.iter().map(|&extent| extent as i32).collect();
        if let Some(last) = shape.last_mut() {
            *last = kept.len() as i32;
        }
        let parameters = self.model.parameters(operator);
        let named = operand.and_then(|operand| {
            let tensor = (*parameters?.tensors.get(operand)?)?;
            Some((operand, tensor, parameters?.constant(operand)?))
        });
        edits.reshape(operator, shape, named);
    }
}

/// The columns of a filter for these channels: a convolution's axis has each once, a fully
/// connected layer's as often as its rows hold pixels.
fn repeated(kept: &[u32], channels: usize, columns: usize, axis: usize) -> Vec<u32> {
    let times = if axis == 3 { 1 } else { columns / channels };
    let starts = (0..times).map(|time| (time * channels) as u32);
    starts
        .flat_map(|start| kept.iter().map(move |&channel| start + channel))
        .collect()
}
