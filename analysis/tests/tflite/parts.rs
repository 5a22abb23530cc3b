//! Parts of models, and a model for an accelerator.

use super::tree::{Part, Part::*, write};

pub fn tensor(extent: i32, buffer: u32) -> Part {
    Table(vec![
        (0, Words(vec![extent])),
        (1, Byte(9)),
        (2, Word(buffer)),
        (3, Text("t")),
    ])
}

pub fn operator(code: u32, inputs: &[i32], outputs: &[i32]) -> Part {
    Table(operator_fields(code, inputs, outputs))
}

pub fn operator_fields(code: u32, inputs: &[i32], outputs: &[i32]) -> Vec<(usize, Part)> {
    vec![
        (0, Word(code)),
        (1, Words(inputs.to_vec())),
        (2, Words(outputs.to_vec())),
    ]
}

pub fn code(number: u32) -> Part {
    Table(vec![(0, Byte(number.min(127) as u8)), (3, Word(number))])
}

/// `t4 = ethos-u(command stream, weights, scratch, fast scratch, t3)`, `t5 = relu(t4)`; the plan
/// has these offsets.
pub fn accelerated(offsets: Option<[i32; 6]>) -> Vec<u8> {
    accelerated_with(tensor(64, 0), offsets)
}

pub fn accelerated_with(fast_scratch: Part, offsets: Option<[i32; 6]>) -> Vec<u8> {
    let codes = vec![Table(vec![(0, Byte(32)), (1, Text("ethos-u"))]), code(19)];
    let main = Table(vec![
        (
            0,
            Tables(vec![
                tensor(8, 1),
                tensor(64, 0),
                fast_scratch,
                tensor(16, 0),
                tensor(4, 0),
                tensor(4, 0),
            ]),
        ),
        (1, Words(vec![3])),
        (2, Words(vec![5])),
        (
            3,
            Tables(vec![
                operator(0, &[0, 0, 1, 2, 3], &[4]),
                operator(1, &[4], &[5]),
            ]),
        ),
    ]);
    let data = |bytes: &[u8]| Table(vec![(0, Bytes(bytes.to_vec()))]);
    let mut buffers = vec![Table(Vec::new()), data(&[0; 8])];
    let mut fields = vec![(0, Word(3)), (1, Tables(codes)), (2, Tables(vec![main]))];
    if let Some(offsets) = offsets {
        let words = [1, 1, 6].into_iter().chain(offsets);
        buffers.push(data(&words.flat_map(i32::to_le_bytes).collect::<Vec<u8>>()));
        let entry = Table(vec![(0, Text("OfflineMemoryAllocation")), (1, Word(2))]);
        fields.push((6, Tables(vec![entry])));
    }
    fields.push((4, Tables(buffers)));
    fields.sort_by_key(|(field, _)| *field);
    write(&Table(fields))
}
