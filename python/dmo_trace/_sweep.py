"""A grid of operators, shapes, kernels and CPUs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _native
from ._overlap import PAIR_FIELDS
from ._words import Path, records, word

Table = Mapping[str, Any]
"""An operator and lists of its options: ``{"operator": "relu", "input": ["1x10", (1, 20)]}``."""

Grid = Union[Path, Table, Iterable[Table]]
"""The path of a TOML file, a table, or tables."""

FIELDS = {
    "case": object,
    "kernels": object,
    "cpu": object,
    "kernel": object,
    **PAIR_FIELDS,
    "instructions": float,
    "finding": object,
}


@dataclass(frozen=True)
class Sweep:
    """The rows of a grid: one for each pair of an input and an output."""

    rows: np.ndarray = field(repr=False, compare=False)
    """A structured array with the columns of ``dmo-trace sweep``. ``pandas.DataFrame(sweep.rows)``."""
    cases: int
    """Cases of the whole grid."""
    findings: int
    """Rows with a finding."""
    notes: Tuple[str, ...] = field(repr=False)
    """What was left out of the grid, and why."""

    def __len__(self) -> int:
        return len(self.rows)


def sweep(
    grid: Grid,
    *,
    kernels: Path = "reference",
    cpu: Optional[str] = None,
    cmsis_nn_version: Optional[int] = None,
    formulas: bool = False,
    inputs: int = 5,
    every_input: bool = False,
    timeout: float = 600.0,
    shard: Tuple[int, int] = (1, 1),
    client: Optional[Any] = None,
    out: Optional[Path] = None,
    chunks: Optional[int] = None,
) -> Sweep:
    """Computes the safe overlaps of a grid of operators and shapes over all cores: ``dmo-trace
    sweep``.

    A grid is the path of a TOML file, or its ``[[grid]]`` tables as dicts: ``operator`` names the
    operator, every other key is an option of :func:`dmo_trace.overlap` with a list of values, and
    all combinations are run. ``shard=(i, n)`` runs every n-th case, starting at the i-th.

    With ``every_input`` an overlap is granted only where it holds on every input, and ``finding`` names
    where data decide what a kernel loads and stores, which takes longer.

    With ``client``, a ``dask.distributed.Client``, the shards of ``chunks`` parts run on its workers,
    each on one thread, and each is a Parquet file in the folder ``out``, written when it is complete.
    The same call goes on where an earlier one ended, and refuses a folder of another sweep, or a worker
    that has other kernels. ``shard`` does not go with it.

    >>> import dmo_trace
    >>> grid = {"operator": "relu", "input": ["1x10", "1x20"]}
    >>> dmo_trace.sweep(grid, formulas=True).rows["closed_bytes"].tolist()
    [10, 20]
    """
    options = _options(grid, kernels, cpu, cmsis_nn_version, formulas, inputs, every_input, timeout)
    if client is not None:
        from ._cluster import sweep_on

        if tuple(shard) != (1, 1):
            raise _native.DmoTraceError("shard does not go with client, whose chunks are shards\n  hint: chunks=")
        return sweep_on(client, options, out, chunks)
    if out is not None or chunks is not None:
        raise _native.DmoTraceError("out and chunks are for sweeps on a cluster\n  hint: client=")
    return swept_once(options, (shard[0], shard[1]))


def swept_once(options: Dict[str, Any], shard: Tuple[int, int]) -> Sweep:
    """A shard of a grid, on all cores of this machine."""
    swept = _native.sweep({**options, "shard": shard, "threads": None, "count": False})
    findings = sum(1 for row in swept["rows"] if row["finding"])
    return Sweep(
        rows=records(swept["rows"], FIELDS),
        cases=swept["cases"],
        findings=findings,
        notes=tuple(swept["notes"]),
    )


def _options(
    grid: Grid,
    kernels: Path,
    cpu: Optional[str],
    cmsis_nn_version: Optional[int],
    formulas: bool,
    inputs: int,
    every_input: bool,
    timeout: float,
) -> Dict[str, Any]:
    is_path = isinstance(grid, (str, os.PathLike))
    return {
        "path": grid if is_path else None,
        "text": None if is_path else toml(grid),
        "kernels": os.fspath(kernels),
        "cpu": cpu,
        "cmsis_nn_version": cmsis_nn_version,
        "formulas": formulas,
        "inputs": inputs,
        "every_input": every_input,
        "timeout": timeout,
    }


def toml(grid: Any) -> str:
    """Tables as the text of a grid's file."""
    tables = [grid] if isinstance(grid, Mapping) else list(grid)
    lines: List[str] = []
    for table in tables:
        lines.append("[[grid]]")
        for key, values in table.items():
            if key == "operator":
                lines.append(f"operator = {json.dumps(str(values))}")
                continue
            if isinstance(values, (str, int)):
                values = [values]
            lines.append(f"{json.dumps(str(key))} = {json.dumps([_value(value) for value in values])}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """A value of an option; several inputs are separated by commas."""
    if isinstance(value, (list, tuple)) and any(not isinstance(item, (int, np.integer)) for item in value):
        return ",".join(word(item) for item in value)
    return word(value)
