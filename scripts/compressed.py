#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# compressed.py: writes tracer/tests/golden/further_compressed_*.tflite, which golden.py then runs: constants that
# TFLM_DECODE unpacks in each inference, by tables of values, by Huffman codes, and with what was pruned filled in. One
# model has them as weights, the others as outputs.
#
# Requirements: scripts/requirements.txt

import collections
import heapq

import numpy
from operators import Operators, Signal
from stand_ins import NONE, RELU, VALID, schema

TABLE, HUFFMAN, PRUNED = 0, 1, 2


def header(kind, *own):
    """The first 16 bytes of what says how a tensor is packed: kind and version, then what is the kind's own."""
    return bytes([kind, 1, 0, 0, 1, *own]).ljust(16, b"\0")


def packed(numbers, bits):
    """Numbers of so many bits, the highest bit first."""
    text = "".join(f"{number:0{bits}b}" for number in numbers)
    return int(text.ljust(-(-len(text) // 8) * 8, "0"), 2).to_bytes(-(-len(text) // 8), "big")


def by_table(values, bits, axis=None):
    """Indices into a table of values, one table for each index of an axis or one for all, and the tables."""
    groups = [values] if axis is None else numpy.moveaxis(values, axis, 0)
    tables = [numpy.unique(group) for group in groups]
    stride = max(len(table) for table in tables)
    assert stride <= 1 << bits
    if axis is None:
        indices = numpy.searchsorted(tables[0], values)
    else:
        indices = numpy.stack([numpy.searchsorted(*each) for each in zip(tables, groups, strict=True)])
        indices = numpy.moveaxis(indices, 0, axis)
    rows = numpy.stack([numpy.pad(table, (0, stride - len(table)), mode="edge") for table in tables])
    return packed(indices.flatten(), bits), header(TABLE, bits, stride) + rows.astype(values.dtype).tobytes()


def code_lengths(values):
    """The length of each value's code."""
    counts = collections.Counter(values)
    heap = [(count, [value]) for value, count in sorted(counts.items())]
    lengths = dict.fromkeys(counts, 0 if len(counts) > 1 else 1)
    heapq.heapify(heap)
    while len(heap) > 1:
        (one, left), (other, right) = heapq.heappop(heap), heapq.heappop(heap)
        for value in left + right:
            lengths[value] += 1
        heapq.heappush(heap, (one + other, left + right))
    return lengths


def by_huffman(values, first_bits, table_bits):
    """Codes of values, and tables of entries of 16 or 32 bits that are looked up by so many bits first, by 2 afterwards."""
    values = [int(value) for value in values.flatten()]
    codes, code, length = {}, 0, 0
    for value, bits in sorted(code_lengths(values).items(), key=lambda each: each[::-1]):
        code, length = code << (bits - length), bits
        codes[value] = f"{code:0{bits}b}"
        code += 1
    count, mask = (11, 0xFF) if table_bits == 16 else (27, 0xFFFF)
    entries = []

    def table(codes, bits):
        begin = len(entries)
        entries.extend([0] * (1 << bits))
        for index in range(1 << bits):
            prefix = f"{index:0{bits}b}"
            whole = [value for value, code in codes.items() if prefix.startswith(code)]
            if whole:
                entries[begin + index] = 1 << (table_bits - 1) | len(codes[whole[0]]) << count | whole[0] & mask
                continue
            longer = {value: code[bits:] for value, code in codes.items() if code.startswith(prefix)}
            if longer:
                further = min(2, max(map(len, longer.values())))
                place = len(entries) - begin - index
                entries[begin + index] = (further - 1) << count | place
                table(longer, further)

    table(codes, first_bits)
    text = "".join(codes[value] for value in values)
    words = -(-len(text) // 32) + 1
    encoded = int(text.ljust(words * 32, "0"), 2).to_bytes(words * 4, "big")
    kind = (first_bits - 1) << 4 | (table_bits == 32)
    return encoded, header(HUFFMAN, kind) + numpy.array(entries, dtype=f"uint{table_bits}").tobytes()


def pruned(values, zero_points, axis=0):
    """Which values are there, a bit each, and these values."""
    shape = [1] * values.ndim
    shape[axis] = -1
    there = values != numpy.asarray(zero_points).reshape(shape)
    return packed(there.flatten().astype(int), 1), header(PRUNED) + values[there].tobytes()


class Compressed(Signal, Operators):
    def __init__(self, name, kind):
        super().__init__(name, kind)
        self.customs, self.values = {}, {}

    def tensor(self, kind, shape, *arguments, data=None, **options):
        index = super().tensor(kind, shape, *arguments, data=data, **options)
        if data is not None:
            self.values[index] = numpy.asarray(data, dtype=kind).reshape(shape)
        return index

    def decode(self, kind, shape, values, packings, **quantisation):
        """Tensors that one operator unpacks."""
        outputs = [self.tensor(kind, shape, **quantisation) for _ in packings]
        inputs = [self.tensor("uint8", [len(part)], data=list(part)) for packing in packings for part in packing]
        self.custom("TFLM_DECODE", inputs, outputs)
        return outputs

    def weights(self, shape, input_index, output, fan_in, axis=None):
        """Of 15 values: a table for each channel, and a bias that is pruned."""
        filter_, bias = super().weights(shape, input_index, output, fan_in, axis)
        quantised = self.graph.tensors[filter_].quantization
        channel = quantised.quantizedDimension if len(quantised.scale) > 1 else None
        values = self.values[filter_] // 16 * 16 + (numpy.arange(shape[channel]).reshape(
            [-1 if each == channel else 1 for each in range(len(shape))]) if channel is not None else 0)
        values = values.clip(-127, 127).astype("int8")
        self.graph.tensors[filter_].buffer = self.graph.tensors[bias].buffer = 0
        biases = self.values[bias] * self.random.integers(0, 2, self.values[bias].shape, dtype="int32")
        inputs = [
            self.tensor("uint8", [len(part)], data=list(part))
            for packing in [by_table(values, 4, channel), pruned(biases, 0)]
            for part in packing
        ]
        # The operator that reads them comes next.
        self.custom("TFLM_DECODE", inputs, [filter_, bias])
        return [filter_, bias]


def weights():
    net = Compressed("further_compressed_weights", "int8")
    source = net.activation([1, 10, 8, 3])
    body = net.conv(source, 6, kernel=3, stride=2)
    body = net.conv(net.depthwise(body), 8, kernel=1)
    body = net.conv(net.pool(body, "MAX_POOL_2D", 2, 2), 10, kernel=2, padding=VALID, activation=RELU)
    flat = net.reshape(body, 1, 10)
    net.write([source], [net.softmax(net.dense(flat, 5, activation=NONE))])


def outputs():
    net = Compressed("further_compressed_constants", "int8")
    source = net.activation([1, 8])
    random, ends = net.random, [net.same("ABS", source)]

    def few(shape, kind, count):
        return random.choice(numpy.unique(random.integers(-120, 120, count)).astype(kind), shape)

    # Of each width, with one table, with one for each index of the first axis, and of the last.
    for bits in range(1, 8):
        values = few([5, 21], "int8", 1 << bits)
        ends += net.decode("int8", values.shape, values, [by_table(values, bits)], affine=(0.5, 3))
        for axis in range(2):
            scales = [0.5] * values.shape[axis]
            packing = by_table(values, bits, axis)
            ends += net.decode("int8", values.shape, values, [packing], scales=scales, axis=axis)
    for kind in ["int16", "int32", "int64", "float32"]:
        values = few([3, 4, 5], kind, 12)
        packings = [by_table(values, 4), pruned(values * random.integers(0, 2, values.shape, dtype="int8"), 0)]
        ends += net.decode(kind, values.shape, values, packings)
    values = random.integers(0, 2, [4, 9]).astype("bool")
    ends += net.decode("bool", values.shape, values, [by_table(values, 1), pruned(values, 0)])
    # With a zero point of each channel, or one that is not 0.
    values = few([6, 7], "int8", 60)
    ends += net.decode("int8", values.shape, values, [pruned(numpy.where(values < 0, 3, values), 3)], affine=(0.5, 3))
    for axis in range(2):
        points = random.integers(-9, 9, values.shape[axis])
        shape = [1, 1]
        shape[axis] = -1
        with_points = numpy.where(values < 0, points.reshape(shape), values).astype("int8")
        ends += net.decode("int8", values.shape, values, [pruned(with_points, points, axis)],
                           scales=[0.5] * len(points), axis=axis)
        net.graph.tensors[ends[-1]].quantization.zeroPoint = points.tolist()
    skewed = (random.standard_normal([40, 10]) ** 3 * 9).clip(-127, 127)
    for kind, first, table_bits in [("int8", 3, 16), ("int8", 5, 32), ("int16", 4, 32)]:
        values = skewed.astype(kind) * (1 if kind == "int8" else 201)
        ends += net.decode(kind, values.shape, values, [by_huffman(values, first, table_bits)])
    net.write([source], ends)


def main():
    weights()
    outputs()


if __name__ == "__main__":
    main()
