"""Sweeps on the workers of a cluster, into a folder of Parquet files."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import uuid
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

import numpy as np

from . import _native
from ._words import Path

if TYPE_CHECKING:
    from ._sweep import Sweep

KEY = "_key.json"
"""What the rows of a folder depend on."""

CASES_A_CHUNK = 64
"""Where nobody says how many chunks there are to be."""

RETRIES = 5
"""How often a chunk is tried again whose worker has failed."""


def sweep_on(client: Any, options: Dict[str, Any], out: Optional[Path], chunks: Optional[int]) -> "Sweep":
    """The rows of all chunks, of which those that ``out`` lacks are computed by ``client``."""
    from distributed import as_completed

    from ._sweep import FIELDS, Sweep

    if out is None:
        raise _native.DmoTraceError("a sweep on a cluster needs a folder for its rows\n  hint: out=")
    if options["path"] is not None:
        # Workers need not have the file.
        options = {**options, "path": None, "text": pathlib.Path(options["path"]).read_text("utf-8")}
    known = _native.sweep({**options, "shard": (1, 1), "count": True})
    folder = pathlib.Path(out)
    count = _open(folder, options, known, chunks)
    parts = [(number, folder / f"part-{number:05}-of-{count:05}.parquet") for number in range(1, count + 1)]
    missing = [(number, part) for number, part in parts if not part.exists()]
    token = uuid.uuid4().hex
    places = {}
    for number, part in missing:
        key = f"dmo-trace-sweep-{token}-{number}"
        places[client.submit(_chunk, options, (number, count), key=key, pure=False, retries=RETRIES)] = part
    for done in as_completed(list(places)):
        _write(done.result(), places.pop(done))
        done.release()
    tables = [_read(part) for _, part in parts]
    rows = np.concatenate(tables) if tables else np.empty(0, dtype=list(FIELDS.items()))
    findings = sum(1 for finding in rows["finding"] if finding)
    return Sweep(rows=rows, cases=known["cases"], findings=findings, notes=tuple(known["notes"]))


def _chunk(options: Dict[str, Any], shard: Tuple[int, int]) -> np.ndarray:
    """The rows of a shard; on a worker."""
    from ._sweep import swept_once

    return swept_once(options, shard).rows


def _open(folder: pathlib.Path, options: Dict[str, Any], known: Dict[str, Any], chunks: Optional[int]) -> int:
    """Makes the folder, or sees that it is one of the same sweep; gives the number of chunks."""
    path, cases = folder / KEY, known["cases"]
    given = None
    if path.exists():
        given = json.loads(path.read_text("utf-8"))
    elif folder.exists() and any(folder.iterdir()):
        raise _native.DmoTraceError(f"{folder}: it holds something else than a sweep\n  hint: another out=")
    by_default = given["chunks"] if given else max(1, -(-cases // CASES_A_CHUNK))
    count = by_default if chunks is None else chunks
    if count < 1:
        raise _native.DmoTraceError(f"chunks {count}: expected at least 1")
    key = {
        "schema": "dmo-trace/sweep-folder/1",
        "version": _native.version(),
        "grid_sha256": hashlib.sha256(options["text"].encode()).hexdigest(),
        "cases": cases,
        "kernels": known["kernels"],
        "cmsis_nn_version": options["cmsis_nn_version"],
        "formulas": options["formulas"],
        "inputs": options["inputs"],
        "chunks": count,
    }
    if given is None:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(path, (json.dumps(key, indent=2) + "\n").encode())
    elif given != key:
        differs = ", ".join(name for name in key if given.get(name) != key[name])
        raise _native.DmoTraceError(f"{folder}: its rows are of another sweep ({differs})\n  hint: another out=")
    return count


def _write(rows: np.ndarray, part: pathlib.Path) -> None:
    import io

    import pandas

    content = io.BytesIO()
    pandas.DataFrame({name: rows[name] for name in rows.dtype.names}).to_parquet(content, index=False)
    _replace(part, content.getvalue())


def _read(part: pathlib.Path) -> np.ndarray:
    import pandas

    from ._sweep import FIELDS
    from ._words import records

    table = pandas.read_parquet(part).astype(object)
    table = table.where(table.notna(), None)
    return records(table.to_dict("records"), FIELDS)


def _replace(path: pathlib.Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)
