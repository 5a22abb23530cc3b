"""The safe overlap of one operator and shape."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._words import Path, Words, records, word, words

PAIR_FIELDS = {
    "input": np.int64,
    "output": np.int64,
    "published_bytes": float,
    "published_is_unsafe": np.bool_,
    "closed_bytes": np.int64,
    "algorithmic_bytes": np.int64,
    "traced_bytes": float,
    "equal_at_overlap": object,
    "differs_beyond": object,
}
"""Columns of pairs; what no kernel was run for is NaN or ``None``."""


@dataclass(frozen=True)
class Overlap:
    """O_s of an operator on a shape, by all methods."""

    bytes: Tuple[int, ...]
    """O_s of each pair of an input and an output, by ``method``."""
    safe_bytes: Tuple[int, ...]
    """What is safe for the kernel, or by the operator's loops where none was run."""
    holds: bool
    """No two methods disagree, and no answer is more than what is safe."""
    method: str
    """``closed``, ``algorithmic``, ``published`` or ``traced``."""
    kernel: Optional[str]
    """The function that was run; ``None`` with formulas only, as of the next two."""
    instructions: Optional[int]
    """Its executed instructions."""
    cycles: Optional[int]
    """Their estimated cycles."""
    pairs: np.ndarray = field(repr=False, compare=False)
    """What each method says of each pair. ``pandas.DataFrame(overlap.pairs)``."""
    disagreements: Sequence[str] = field(repr=False)
    """What is wrong."""
    notes: Sequence[str] = field(repr=False)
    """What is worth knowing."""
    report: Dict[str, Any] = field(repr=False, compare=False)
    """The whole result, as ``dmo-trace overlap --json`` prints it (docs/json.md)."""


def overlap(
    operator: str,
    *,
    input: Union[Words, Sequence[Words]],
    filter: Optional[Words] = None,
    output: Optional[Words] = None,
    stride: Optional[Words] = None,
    dilation: Optional[Words] = None,
    padding: Optional[Words] = None,
    axis: Optional[Words] = None,
    parts: Optional[Words] = None,
    permutation: Optional[Words] = None,
    begin: Optional[Words] = None,
    coordinates: Optional[str] = None,
    rank: Optional[Words] = None,
    order: Optional[str] = None,
    dtype: Optional[str] = None,
    to: Optional[str] = None,
    kernels: Path = "reference",
    cpu: Optional[str] = None,
    cmsis_nn_version: Optional[int] = None,
    function: Optional[str] = None,
    method: Optional[str] = None,
    formulas: bool = False,
    inputs: int = 5,
    timeout: float = 600.0,
) -> Overlap:
    """Computes the safe overlap of one operator and shape, by five methods: ``dmo-trace overlap``.

    Shapes are tuples or words such as ``"1x32x32x16"``; several inputs are a list of them.

    >>> import dmo_trace
    >>> dmo_trace.overlap("conv2d", input=(1, 8, 8, 4), filter=(6, 3, 3, 4)).bytes
    (181,)
    """
    report = _native.overlap(
        operator,
        _inputs(input),
        words(
            {
                "filter": filter,
                "output": output,
                "stride": stride,
                "dilation": dilation,
                "padding": padding,
                "axis": axis,
                "parts": parts,
                "permutation": permutation,
                "begin": begin,
                "coordinates": coordinates,
                "rank": rank,
                "order": order,
                "dtype": dtype,
                "to": to,
            }
        ),
        {
            "kernels": os.fspath(kernels),
            "cpu": cpu,
            "cmsis_nn_version": cmsis_nn_version,
            "function": function,
            "method": method,
            "formulas": formulas,
            "inputs": inputs,
            "timeout": timeout,
        },
    )
    answers, cycles = report["answers"], report["cycles"]
    is_unsafe = any(answer["is_unsafe"] for answer in answers)
    return Overlap(
        bytes=tuple(answer["bytes"] for answer in answers),
        safe_bytes=tuple(answer["safe_bytes"] for answer in answers),
        holds=not report["disagreements"] and not is_unsafe,
        method=report["method"],
        kernel=report["kernel"],
        instructions=report["instructions"],
        cycles=None if cycles is None else cycles["total"],
        pairs=records(report["pairs"], PAIR_FIELDS),
        disagreements=report["disagreements"],
        notes=report["notes"],
        report=report,
    )


def _inputs(given: Any) -> Sequence[str]:
    """One shape, or a sequence of shapes."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return [word(given)]
    if all(isinstance(extent, (int, np.integer)) for extent in given):
        return [word(given)]
    return [word(shape) for shape in given]
