//! Products of matrices, and sequences.

use super::windows::filters;
use super::{ANY, activation_code, element_is, quantized_like};
use crate::draft::{Draft, Quantization};
use crate::tree::Part;
use dmo_analysis::graph::{Kind, TensorType};

pub(super) fn fully_connected(draft: &mut Draft) -> Option<()> {
    let input =
        draft.source(|tensor| (2..=4).contains(&tensor.rank()) && element_is(tensor, ANY))?;
    let shape = draft.shape(input);
    let (&depth, before) = shape.split_last()?;
    let units = draft.between(1, 24);
    let keeps_dimensions = shape.len() > 2 && draft.once_in(2);
    let output = if keeps_dimensions {
        [before, &[units]].concat()
    } else {
        vec![before.iter().product(), units]
    };
    let output = quantized_like(draft, input, &output)?;
    let [filter, bias] = filters(draft, &[units, depth], [input, output], depth, 0);
    let options = vec![
        (0, Part::Byte(activation_code(draft))),
        (2, Part::Byte(u8::from(keeps_dimensions))),
    ];
    let inputs = [input as i32, filter, bias];
    draft.add(Kind::FullyConnected, &inputs, &[output], Some((8, options)));
    Some(())
}

pub(super) fn batch_matmul(draft: &mut Draft) -> Option<()> {
    let left = draft.source(|tensor| {
        let symmetric = tensor
            .quantization
            .as_ref()
            .is_none_or(|of| of.zero_point == 0);
        (2..=4).contains(&tensor.rank())
            && element_is(tensor, ANY)
            && (tensor.element != TensorType::Int16 || symmetric)
    })?;
    let shape = draft.shape(left);
    let (batches, &[one, other]) = shape.split_last_chunk()?;
    let transposed = [draft.once_in(4), draft.once_in(4)];
    let (rows, inner) = if transposed[0] {
        (other, one)
    } else {
        (one, other)
    };
    let columns = draft.between(1, 12);
    let right = if transposed[1] {
        [columns, inner]
    } else {
        [inner, columns]
    };
    let right = [batches, &right].concat();
    let element = draft.element(left);
    let known = draft.source(|tensor| tensor.shape == right && tensor.element == element);
    let right = match known.filter(|_| element != TensorType::Int16) {
        Some(known) => known,
        None if element == TensorType::Float32 => draft.floats(&right, 1.0),
        None => draft.random_data(&right, element, Some(Quantization::new(0.01, 0))),
    };
    let output = [batches, &[rows, columns]].concat();
    let mut quantization = draft.any_quantization(element);
    if let Some(quantization) = &mut quantization {
        let scale = |id: usize| {
            draft
                .tensor(id)
                .quantization
                .as_ref()
                .map_or(1.0, Quantization::scale)
        };
        let spread = if element == TensorType::Int8 {
            90.0
        } else {
            20_000.0
        };
        quantization.scales[0] = scale(left) * scale(right) * spread * (inner as f32).sqrt();
    }
    let output = draft.activation(&output, element, quantization)?;
    let options = vec![
        (0, Part::Byte(u8::from(transposed[0]))),
        (1, Part::Byte(u8::from(transposed[1]))),
    ];
    let inputs = [left as i32, right as i32];
    draft.add(Kind::BatchMatmul, &inputs, &[output], Some((101, options)));
    Some(())
}

pub(super) fn svdf(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        tensor.rank() == 2 && element_is(tensor, &[TensorType::Int8, TensorType::Float32])
    })?;
    let [batches, depth]: [u32; 2] = draft.shape(input).try_into().ok()?;
    let (rank, units, memory) = (
        draft.between(1, 2),
        draft.between(1, 8),
        draft.between(1, 6),
    );
    let filters = units * rank;
    let feature_shape = [filters, depth];
    let state_shape = [batches, filters * memory];
    let has_bias = !draft.once_in(4);
    let (feature, time, bias, state);
    let output = quantized_like(draft, input, &[batches, units])?;
    if draft.element(input) == TensorType::Float32 {
        feature = draft.floats(&feature_shape, 1.0);
        time = draft.floats(&[filters, memory], 1.0);
        bias = draft.floats(&[units], 0.3);
        state = draft.variable(&state_shape, TensorType::Float32, None)?;
    } else {
        let state_type = draft.pick(&[TensorType::Int8, TensorType::Int16]);
        let scale = |id: usize| {
            draft
                .tensor(id)
                .quantization
                .as_ref()
                .map_or(1.0, Quantization::scale)
        };
        let (from, to) = (scale(input), scale(output));
        // Stored values of the state, of weights over time and of the output, about.
        let (wide, weight) = match state_type {
            TensorType::Int8 => (50.0, 74.0),
            _ => (8000.0, 19_000.0),
        };
        let feature_scale = 0.01;
        let state_scale = from * feature_scale * 5476.0 * (depth as f32).sqrt() / wide;
        let time_scale = to * 60.0 / (state_scale * wide * weight * (memory as f32).sqrt());
        let quantization = Some(Quantization::new(feature_scale, 0));
        feature = draft.random_data(&feature_shape, TensorType::Int8, quantization);
        let quantization = Some(Quantization::new(time_scale, 0));
        time = draft.random_data(&[filters, memory], state_type, quantization);
        bias = draft.biases(units, TensorType::Int8, &[state_scale * time_scale]);
        let quantization = Some(Quantization::new(state_scale, 0));
        state = draft.variable(&state_shape, state_type, quantization)?;
    }
    let bias = if has_bias { bias as i32 } else { -1 };
    let options = vec![
        (0, Part::Word(rank)),
        (1, Part::Byte(if draft.once_in(2) { 1 } else { 0 })),
    ];
    let inputs = [
        input as i32,
        feature as i32,
        time as i32,
        bias,
        state as i32,
    ];
    draft.add(Kind::Svdf, &inputs, &[output], Some((6, options)));
    Some(())
}

pub(super) fn lstm(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() == 3 && element_is(tensor, ANY))?;
    let [outer, inner, depth]: [u32; 3] = draft.shape(input).try_into().ok()?;
    let is_time_major = draft.once_in(2);
    let batches = if is_time_major { inner } else { outer };
    let units = draft.between(1, 8);
    let element = draft.element(input);
    let is_float = element == TensorType::Float32;
    let hidden = match element {
        TensorType::Int8 => Some(Quantization::new(
            1.0 / 128.0,
            i64::from(draft.below(9)) - 4,
        )),
        TensorType::Int16 => Some(Quantization::new(1.0 / 32_768.0, 0)),
        _ => None,
    };
    let cell = (!is_float).then(|| Quantization::new(1.0 / 2048.0, 0));
    let cell_type = if is_float {
        TensorType::Float32
    } else {
        TensorType::Int16
    };
    let mut inputs = vec![-1; 24];
    inputs[0] = input as i32;
    let input_scale = draft
        .tensor(input)
        .quantization
        .as_ref()
        .map_or(1.0, Quantization::scale);
    let hidden_scale = hidden.as_ref().map_or(1.0, Quantization::scale);
    let wide = if element == TensorType::Int8 {
        74.0
    } else {
        19_000.0
    };
    for gate in 0..4 {
        for (first, columns, scale) in [(1, depth, input_scale), (5, units, hidden_scale)] {
            let shape = [units, columns];
            let scale = 1.5 / (scale * wide * 74.0 * (columns as f32).sqrt());
            inputs[first + gate] = if is_float {
                draft.floats(&shape, 1.0)
            } else {
                draft.random_data(&shape, TensorType::Int8, Some(Quantization::new(scale, 0)))
            } as i32;
        }
        let weights = draft
            .tensor(inputs[1 + gate] as usize)
            .quantization
            .as_ref();
        let scale = weights.map_or(1.0, Quantization::scale) * input_scale;
        inputs[12 + gate] = draft.biases(units, element, &[scale]) as i32;
    }
    inputs[18] = draft.variable(&[batches, units], element, hidden.clone())? as i32;
    inputs[19] = draft.variable(&[batches, units], cell_type, cell)? as i32;
    let output = draft.activation(&[outer, inner, units], element, hidden)?;
    let tanh = 4;
    let options = vec![
        (0, Part::Byte(tanh)),
        (3, Part::Byte(u8::from(is_time_major))),
    ];
    draft.add(
        Kind::UnidirectionalSequenceLstm,
        &inputs,
        &[output],
        Some((71, options)),
    );
    Some(())
}
