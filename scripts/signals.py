#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# signals.py: writes tracer/tests/golden/further_signal_*.tflite, which golden.py then runs: the operators of TensorFlow
# Lite Micro's signal library that stand_in_operators_signal does not have, or not in all of their forms.
#
# Requirements: scripts/requirements.txt

from operators import Signal
from stand_ins import TYPES


def spectra(net, source, kind, points):
    """There and back."""
    rows, _ = net.shape(source)
    options = {"T": TYPES[kind], "fft_length": points}
    frequencies = net.custom("SignalRfft", [source], [net.tensor(kind, [rows, points + 2])], **options)
    return [frequencies, net.custom("SignalIrfft", [frequencies], [net.tensor(kind, [rows, points])], **options)]


def transforms(kind):
    """Each radix, an odd half, and zeros after what is given."""
    net = Signal(f"further_signal_{kind}", "int16")
    net.customs = {}
    sources = [net.tensor(kind, [rows, given]) for rows, given in [(2, 24), (3, 50), (1, 11)]]
    outputs = []
    for source, points in zip(sources, [24, 50, 120], strict=True):
        outputs += spectra(net, source, kind, points)
    if kind == "float32":
        frames = net.tensor(kind, [2, 3, 8])
        sources.append(frames)
        added = net.tensor(kind, [2, 9])
        outputs.append(net.custom("SignalOverlapAdd", [frames], [added], T=TYPES[kind], frame_step=3))
    net.write(sources, outputs)


def streams():
    net = Signal("further_signal_int16", "int16")
    net.customs = {}
    tensor = net.tensor
    source, frame = tensor("int16", [2, 12]), tensor("int16", [6])
    outputs = []
    for size, prefill in [(7, 1), (9, 0), (12, 1)]:
        framed = [tensor("int16", [2, 3, size]), tensor("bool", [])]
        net.custom("SignalFramer", [source], framed, frame_size=size, frame_step=4, prefill=prefill)
        outputs += framed
    window = tensor("int16", [12], data=net.random.integers(-32768, 32768, 12))
    outputs.append(net.custom("SignalWindow", [source, window], [tensor("int16", [2, 12])], shift=9))
    for delay in [0, 5, 29]:
        outputs.append(net.custom("SignalDelay", [source], [tensor("int16", [2, 12])], delay_length=delay))
    for left, right, step in [(2, 0, 1), (1, 2, 1)]:
        stacked = [tensor("int16", [6 * (left + 1 + right)]), tensor("bool", [])]
        net.custom(
            "SignalStacker",
            [frame],
            stacked,
            num_channels=6,
            stacker_left_context=left,
            stacker_right_context=right,
            stacker_step=step,
        )
        outputs += stacked
    outputs += spectra(net, source, "int16", 16)
    options = {"T": TYPES["int16"], "frame_step": 5}
    outputs.append(net.custom("SignalOverlapAdd", [outputs[4]], [tensor("int16", [2, 15])], **options))
    net.write([source, frame], outputs)


def channels():
    """Noise and gains of channels."""
    net = Signal("further_signal_uint32", "int16")
    net.customs = {}
    tensor = net.tensor
    scaled, bits = tensor("int16", [34]), tensor("int32", [])
    source = tensor("int16", [34])
    net.custom("SignalFftAutoScale", [source], [scaled, bits])
    energy = net.custom("SignalEnergy", [scaled], [tensor("uint32", [17])], start_index=0, end_index=17)
    options = {
        "alternate_one_minus_smoothing": 100,
        "alternate_smoothing": 924,
        "min_signal_remaining": 51,
        "num_channels": 17,
        "one_minus_smoothing": 1000,
        "smoothing": 24,
        "spectral_subtraction_bits": 10,
    }
    outputs = [bits, energy]
    gains = tensor("int16", [125], data=net.random.integers(-3000, 32768, 125))
    for clamping, smoothing_bits in [(0, 0), (1, 7)]:
        quiet, noise = tensor("uint32", [17]), tensor("uint32", [17])
        net.custom(
            "SignalFilterBankSpectralSubtraction",
            [energy],
            [quiet, noise],
            clamping=clamping,
            smoothing_bits=smoothing_bits,
            **options,
        )
        louder = net.custom("SignalPCAN", [quiet, noise, gains], [tensor("uint32", [17])], snr_shift=6)
        outputs += [noise, louder]
        for correction_bits, scale in [(0, 1600), (3, 65536)]:
            logarithms = tensor("int16", [17])
            outputs.append(
                net.custom(
                    "SignalFilterBankLog",
                    [louder],
                    [logarithms],
                    input_correction_bits=correction_bits,
                    output_scale=scale,
                )
            )
    net.write([source], outputs)


def main():
    for kind in ["int32", "float32"]:
        transforms(kind)
    streams()
    channels()


if __name__ == "__main__":
    main()
