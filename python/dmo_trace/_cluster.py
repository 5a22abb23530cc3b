"""Sweeps on the workers of a cluster, into a folder of Parquet files."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import uuid
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _native
from ._words import Path, records

if TYPE_CHECKING:
    import pandas

    from ._sweep import Sweep

KEY = "_key.json"
"""What the rows of a folder depend on."""

CASES_A_CHUNK = 64
"""Where nobody says how many chunks there are to be."""

NUMBER = "number"
"""The column that says which case of the grid a row is of, counted from 0."""


def sweep_on(client: Any, options: Dict[str, Any], out: Optional[Path], chunks: Optional[int]) -> "Sweep":
    """The rows of all chunks, of which those that ``out`` lacks are computed by ``client``."""
    from distributed import as_completed

    from ._sweep import FIELDS, Sweep

    if out is None:
        raise _native.DmoTraceError("a sweep on a cluster needs a folder for its rows\n  hint: out=")
    if options["path"] is not None:
        # Workers need not have the file.
        options = {**options, "path": None, "text": pathlib.Path(options["path"]).read_text("utf-8")}
    if not hasattr(client, "submit"):
        raise _native.DmoTraceError(f"client {client!r}: expected a dask.distributed.Client")
    known = _known(options)
    folder = pathlib.Path(out)
    count = _open(folder, options, known, chunks)
    parts = [(number, folder / f"part-{number:05}-of-{count:05}.parquet") for number in range(1, count + 1)]
    missing = [(number, part) for number, part in parts if not part.exists()]
    token = uuid.uuid4().hex
    places = {}
    for number, part in missing:
        key = f"dmo-trace-sweep-{token}-{number}"
        places[client.submit(_chunk, options, known, (number, count), key=key, pure=False)] = part
    for done in as_completed(list(places)):
        _write(done.result(), places.pop(done))
        done.release()
    rows = _read([part for _, part in parts], FIELDS)
    findings = sum(1 for finding in rows["finding"] if finding)
    return Sweep(rows=rows, cases=known["cases"], findings=findings, notes=tuple(known["notes"]))


def _known(options: Dict[str, Any]) -> Dict[str, Any]:
    """What the rows depend on, as this machine has it: cases, kernels, version."""
    known = _native.sweep({**options, "shard": (1, 1), "threads": None, "count": True})
    return {**known, "version": _native.version()}


def _chunk(options: Dict[str, Any], known: Dict[str, Any], shard: Tuple[int, int]) -> "pandas.DataFrame":
    """The rows of a shard, on one thread of a worker: Dask gives it one task for each of its threads."""
    import pandas

    swept = _native.sweep({**options, "shard": shard, "threads": 1, "count": False})
    here = {**swept, "version": _native.version()}
    for what in ("version", "cases", "kernels"):
        if here[what] != known[what]:
            raise _native.DmoTraceError(
                f"this worker has other {what}: {here[what]!r}; the client has {known[what]!r}\n"
                "  hint: a path of kernels is read on each worker; the same package and file have to be there"
            )
    number, count = shard
    cases = np.arange(number - 1, known["cases"], count)
    table = pandas.DataFrame(swept["rows"])
    table.insert(0, NUMBER, np.repeat(cases, swept["rows_of_cases"]))
    return table


def _open(folder: pathlib.Path, options: Dict[str, Any], known: Dict[str, Any], chunks: Optional[int]) -> int:
    """Makes the folder, or sees that it is one of the same sweep; gives the number of chunks."""
    path, cases = folder / KEY, known["cases"]
    given = None
    if path.exists():
        try:
            given = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise _native.DmoTraceError(f"{path}: it is damaged ({error})\n  hint: another out=") from error
    elif folder.exists() and any(folder.iterdir()):
        raise _native.DmoTraceError(f"{folder}: it holds something else than a sweep\n  hint: another out=")
    by_default = given["chunks"] if given else max(1, -(-cases // CASES_A_CHUNK))
    count = by_default if chunks is None else chunks
    if count < 1:
        raise _native.DmoTraceError(f"chunks {count}: expected at least 1")
    key = {
        "schema": "dmo-trace/sweep-folder/3",
        "version": known["version"],
        "grid_sha256": hashlib.sha256(options["text"].encode()).hexdigest(),
        "cases": cases,
        "kernels": known["kernels"],
        "cmsis_nn_version": options["cmsis_nn_version"],
        "formulas": options["formulas"],
        "inputs": options["inputs"],
        "every_input": options["every_input"],
        "chunks": count,
    }
    if given is None:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(path, (json.dumps(key, indent=2) + "\n").encode())
    elif given != key:
        differs = ", ".join(name for name in key if given.get(name) != key[name])
        raise _native.DmoTraceError(f"{folder}: its rows are of another sweep ({differs})\n  hint: another out=")
    return count


def _write(table: "pandas.DataFrame", part: pathlib.Path) -> None:
    import io

    content = io.BytesIO()
    table.to_parquet(content, index=False)
    _replace(part, content.getvalue())


def _read(parts: List[pathlib.Path], fields: Mapping[str, Any]) -> np.ndarray:
    """All rows in the order of a sweep on one machine."""
    import pandas

    tables = []
    for part in parts:
        try:
            tables.append(pandas.read_parquet(part).astype(object))
        except Exception as error:
            message = f"{part}: it cannot be read ({error})\n  hint: delete it, and it is computed anew"
            raise _native.DmoTraceError(message) from error
    if not tables:
        return np.empty(0, dtype=list(fields.items()))
    table = pandas.concat(tables).sort_values(NUMBER, kind="stable").drop(columns=NUMBER)
    table = table.where(table.notna(), None)
    return records(table.to_dict("records"), fields)


def _replace(path: pathlib.Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)
