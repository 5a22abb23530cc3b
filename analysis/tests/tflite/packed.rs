//! Packed constants: what the runtime refuses is refused, and damaged ones are no constants.

use super::parts::{code, operator, tensor};
use super::single::{BOOL, FLOAT32, INT8, INT16, INT32, Model, Tensor, activation, constant};
use super::tree::{Part, Part::*, write};
use dmo_analysis::graph::TensorId;
use dmo_analysis::graph::parameters::PackedError;
use dmo_analysis::graph::tflite::{self, TfliteError};
use dmo_analysis::transform::decode::{DecodeError, decode};

const CUSTOM: u32 = 32;
const UINT8: u8 = 3;
const TABLE: u8 = 0;
const HUFFMAN: u8 = 1;
const PRUNED: u8 = 2;
/// Field of a quantisation: the axis of its scales.
const AXIS: usize = 6;

/// A header, and what follows it.
fn ancillary(kind: u8, own: [u8; 2], values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, 1, 0, 0, 1, own[0], own[1]];
    bytes.resize(16, 0);
    bytes.extend(values);
    bytes
}

fn model(encoded: &[u8], ancillary: &[u8], output: Tensor) -> Model {
    let bytes = |data: &[u8]| constant(UINT8, &[data.len() as i32], None, data);
    Model::new(CUSTOM, vec![bytes(encoded), bytes(ancillary), output]).named("TFLM_DECODE")
}

fn unpacked(encoded: &[u8], ancillary: &[u8], output: Tensor) -> Result<Vec<u8>, PackedError> {
    let made = model(encoded, ancillary, output);
    let made = made.check(|known| known.clone().unwrap().unpacked())?;
    assert_eq!(made.len(), 1);
    Ok(made[0].clone())
}

fn scaled(shape: &[i32], scales: usize, axis: u32) -> Tensor {
    Tensor {
        scales: vec![0.5; scales],
        zero_points: (0..scales as i64).collect(),
        quantisation: vec![(AXIS, axis)],
        ..activation(INT8, shape, None)
    }
}

#[test]
fn each_way_of_packing() {
    // Indices 0, 1, 2, 3, 3, 2.
    let encoded = [0b0001_1011, 0b1110_0000];
    let tables = [10, 11, 12, 13, 20, 21, 22, 23];
    let table = ancillary(TABLE, [2, 4], &tables);
    let plain = activation(INT8, &[6], None);
    assert_eq!(
        unpacked(&encoded, &table, plain).unwrap(),
        [10, 11, 12, 13, 13, 12]
    );
    let rows = scaled(&[2, 3], 2, 0);
    assert_eq!(
        unpacked(&encoded, &table, rows).unwrap(),
        [10, 11, 12, 23, 23, 22]
    );
    let columns = scaled(&[3, 2], 2, 1);
    assert_eq!(
        unpacked(&encoded, &table, columns).unwrap(),
        [10, 21, 12, 23, 13, 22]
    );

    let kept = ancillary(PRUNED, [0, 0], &[7, 0, 9, 1]);
    let halves = activation(INT16, &[4], None);
    assert_eq!(
        unpacked(&[0b0110_0000], &kept, halves).unwrap(),
        [0, 0, 7, 0, 9, 1, 0, 0]
    );
    let rows = scaled(&[3, 2], 3, 0);
    assert_eq!(
        unpacked(&[0b1001_0000], &kept, rows).unwrap(),
        [7, 0, 1, 0, 2, 2]
    );

    // The codes 0, 10, 11, of which the second bit is looked up in a table of its own; here 0, 10, 11, 0.
    let entry = |bits: u16, symbol: u16| (0x8000 | bits << 11 | symbol).to_le_bytes();
    let tables = [entry(1, 5), 1u16.to_le_bytes(), entry(1, 6), entry(1, 7)].concat();
    let codes = ancillary(HUFFMAN, [0, 0], &tables);
    let plain = activation(INT8, &[4], None);
    assert_eq!(
        unpacked(&[0b0101_1000], &codes, plain).unwrap(),
        [5, 6, 7, 5]
    );
}

#[test]
fn what_the_runtime_refuses() {
    let table = ancillary(TABLE, [2, 4], &[0; 16]);
    let changed = |place: usize, byte: u8| {
        let mut changed = table.clone();
        changed[place] = byte;
        changed
    };
    let codes = |tables| ancillary(HUFFMAN, [tables, 0], &[0; 16]);
    let kept = ancillary(PRUNED, [0, 0], &[0; 16]);
    let plain = || activation(INT8, &[4], None);
    let moved = |element| activation(element, &[4], Some((0.5, 3)));
    let cases = [
        (
            table[..15].to_vec(),
            plain(),
            "number of bytes of ancillary data is 15",
        ),
        (changed(0, 3), plain(), "kind of packed data is 3"),
        (changed(0, 127), plain(), "kind of packed data is 127"),
        (changed(1, 2), plain(), "version of packed data is [2, 1]"),
        (changed(4, 0), plain(), "version of packed data is [1, 0]"),
        (changed(5, 8), plain(), "bits of an index is 0"),
        (
            table.clone(),
            activation(UINT8, &[4], None),
            "type of an unpacked tensor is UINT8",
        ),
        (
            table.clone(),
            scaled(&[2, 2, 1], 2, 1),
            "axis of scales is 1 with 2 scales",
        ),
        (
            table.clone(),
            scaled(&[4], 1, 3),
            "axis of scales is 3 with 1 scales",
        ),
        (
            table.clone(),
            scaled(&[2, 2], 3, 0),
            "axis of scales is 0 with 3 scales",
        ),
        (
            codes(0),
            activation(INT16, &[4], None),
            "Huffman codes is INT16",
        ),
        (
            codes(1),
            activation(INT32, &[4], None),
            "Huffman codes is INT32",
        ),
        (
            codes(1),
            activation(FLOAT32, &[4], None),
            "Huffman codes is FLOAT32",
        ),
        (
            kept.clone(),
            moved(INT16),
            "zero points of a pruned tensor is [3]",
        ),
        (
            kept.clone(),
            moved(BOOL),
            "zero points of a pruned tensor is [3]",
        ),
    ];
    let count = cases.len();
    for (ancillary, output, expected) in cases {
        let problem = model(&[0; 8], &ancillary, output).problem().to_string();
        assert!(problem.contains(expected), "{problem}: {expected}");
    }
    assert_eq!(count, 15);
    // What has no kernel there has none here; what is known has one.
    let file = model(&[0; 8], &kept, moved(INT8)).write();
    assert!(
        tflite::read(&file).unwrap().graphs[0].operators[0]
            .kernel
            .is_some()
    );
}

#[test]
fn damaged_data() {
    let table = ancillary(TABLE, [7, 128], &[0; 3]);
    let plain = |elements| activation(INT8, &[elements], None);
    let beyond = |error: PackedError| error.to_string();
    let error = unpacked(&[0], &table, plain(4)).unwrap_err();
    assert!(beyond(error).contains("element 1 of 4 lies beyond the 1 bytes of encoded"));
    let error = unpacked(&[0, 0, 0xff, 0], &table, plain(4)).unwrap_err();
    assert!(beyond(error).contains("element 2 of 4 needs what lies beyond the 19 bytes"));
    let kept = ancillary(PRUNED, [0, 0], &[1]);
    let error = unpacked(&[0xff], &kept, plain(4)).unwrap_err();
    assert!(beyond(error).contains("element 1 of 4 needs"));
    // An entry that refers to itself, one whose element has no bits, and one beyond the tables.
    for (entry, expected) in [
        (0u16, "element 0 of 4 has no bits, or no end"),
        (0x8000, "element 0 of 4 has no bits, or no end"),
        (0x07ff, "element 0 of 4 needs"),
    ] {
        let codes = ancillary(HUFFMAN, [0, 0], &entry.to_le_bytes().repeat(2));
        let error = unpacked(&[0; 4], &codes, plain(4)).unwrap_err();
        assert!(beyond(error.clone()).contains(expected), "{error}");
    }
    // Codes that end with the data, and one element more.
    let codes = ancillary(HUFFMAN, [0, 0], &0x8801u16.to_le_bytes().repeat(2));
    assert_eq!(unpacked(&[0], &codes, plain(8)).unwrap(), [1; 8]);
    assert!(unpacked(&[0], &codes, plain(9)).is_err());
}

/// Whatever happens to a file, it is decoded to one that is read, or refused.
#[test]
fn damaged_models() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tracer/tests/golden/");
    let file = std::fs::read(format!("{folder}further_compressed_weights.tflite")).unwrap();
    let given = decode(&file).unwrap();
    assert_eq!(given.report.constants.len(), 10);
    let (mut decoded, mut refused) = (0, 0);
    let mut other = file.clone();
    for place in 0..file.len() {
        for byte in [0, 0xff, file[place] ^ 1] {
            other[place] = byte;
            match decode(&other) {
                Ok(made) => {
                    tflite::read(&made.file).unwrap();
                    decoded += 1;
                }
                Err(_) => refused += 1,
            }
        }
        other[place] = file[place];
    }
    assert!(decoded > 5000 && refused > 500, "{decoded}, {refused}");
}

/// `t4 = t3 + unpacked`, with more fields of what is unpacked.
fn sum(more: &[(usize, Part)]) -> Vec<u8> {
    let ancillary = ancillary(TABLE, [2, 4], &[1, 2, 3, 4]);
    let mut unpacked = vec![
        (0, Words(vec![4])),
        (1, Byte(INT8)),
        (2, Word(0)),
        (3, Text("t")),
    ];
    unpacked.extend_from_slice(more);
    let tensors = vec![
        tensor(1, 1),
        tensor(ancillary.len() as i32, 2),
        Table(unpacked),
        tensor(4, 0),
        tensor(4, 0),
    ];
    let operators = vec![operator(0, &[0, 1], &[2]), operator(1, &[3, 2], &[4])];
    let main = Table(vec![
        (0, Tables(tensors)),
        (1, Words(vec![3])),
        (2, Words(vec![4])),
        (3, Tables(operators)),
    ]);
    let decode = Table(vec![(0, Byte(32)), (1, Text("TFLM_DECODE")), (3, Word(32))]);
    let data = |bytes: &[u8]| Table(vec![(0, Bytes(bytes.to_vec()))]);
    write(&Table(vec![
        (0, Word(3)),
        (1, Tables(vec![decode, code(0)])),
        (2, Tables(vec![main])),
        (
            4,
            Tables(vec![Table(vec![]), data(&[0b0001_1011]), data(&ancillary)]),
        ),
    ]))
}

/// A variable would be reset to its zero point, wherever it lies.
#[test]
fn a_variable_is_no_constant() {
    let decoded = decode(&sum(&[])).unwrap();
    assert_eq!(decoded.report.unpacked_bytes(), 4);
    let parameters = tflite::parameters(&decoded.file, 0).unwrap();
    let added = parameters[0].as_ref().unwrap().constant(1).unwrap();
    assert_eq!(*added.bytes, [1, 2, 3, 4]);
    let error = decode(&sum(&[(5, Byte(1))])).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Variable {
                tensor: TensorId(2),
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn what_is_not_decoded() {
    let table = ancillary(TABLE, [2, 4], &[0; 4]);
    // What it unpacks is an output.
    let file = model(&[0; 8], &table, activation(INT8, &[4], None)).write();
    assert!(matches!(decode(&file), Err(DecodeError::Nothing)));
    assert!(matches!(
        decode(&file[..20]),
        Err(DecodeError::Tflite(TfliteError::Damaged { .. }))
    ));
}
