"""Arguments in the words of the command line, and columns of results."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

import numpy as np

Words = Union[str, int, Sequence[int]]
"""``"3x3"``, ``3`` or ``(3, 3)``."""

Path = Union[str, "os.PathLike[str]"]


def word(value: Words) -> str:
    """A shape, a pair or a number as an option has it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return "x".join(str(int(extent)) for extent in value)


def words(options: Mapping[str, Optional[Words]]) -> Dict[str, str]:
    """The options that are given."""
    return {name: word(value) for name, value in options.items() if value is not None}


def names(value: Union[None, Path, Iterable[Path]]) -> List[str]:
    """A name or several as a list."""
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    return [os.fspath(name) for name in value]


def allowed(value: Union[None, str, Iterable[str]]) -> List[str]:
    """What may be done to a model as a list; one text may name several, as the command's option."""
    if isinstance(value, str):
        return [name.strip() for name in value.split(",")]
    return names(value)


def records(rows: Sequence[Mapping[str, Any]], fields: Mapping[str, Any]) -> np.ndarray:
    """Rows as a structured array, which ``pandas.DataFrame`` takes as it is.

    A number that is missing is NaN in a column of floats.
    """
    table = np.empty(len(rows), dtype=[(name, kind) for name, kind in fields.items()])
    for name, kind in fields.items():
        missing = np.nan if kind is float else None
        values = [row[name] if row[name] is not None else missing for row in rows]
        table[name] = values
    return table
