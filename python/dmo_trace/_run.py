"""A program run under emulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

import numpy as np

from . import _native
from ._words import Path, records


@dataclass(frozen=True)
class Run:
    """A program's run: its layers, their safe overlaps, its RAM."""

    program: str
    """Name of the program."""
    cpu: str
    """The CPU that ran it."""
    exit: Dict[str, Any]
    """How it ended: ``kind`` and ``detail``."""
    instructions: int
    """Executed instructions."""
    cycles: Optional[int]
    """Their estimated cycles; ``None`` if they are not known of the CPU."""
    holds: bool
    """It ended well, and its arena is safe where it has one: exit code 0 of the command."""
    pairs: np.ndarray = field(repr=False, compare=False)
    """Each pair of an input and an output of each layer: ``layer``, ``name``, ``input``, ``output``,
    ``safe_overlap_bytes``. ``pandas.DataFrame(run.pairs)``."""
    layers: List[Dict[str, Any]] = field(repr=False)
    """The layers with all that is known of them."""
    ram: Optional[Dict[str, Any]] = field(repr=False)
    """The RAM that it took."""
    arena: Optional[Dict[str, Any]] = field(repr=False)
    """The arena of the model that it runs; ``None`` if it runs none."""
    warnings: List[Dict[str, Any]] = field(repr=False)
    """What else is to be known."""
    output: bytes = field(repr=False)
    """What it has printed, the first MiB."""
    report: Dict[str, Any] = field(repr=False, compare=False)
    """The whole result, as ``dmo-trace run --json`` prints it (docs/json.md)."""


PAIR_FIELDS = {
    "layer": np.int64,
    "name": object,
    "input": object,
    "output": object,
    "safe_overlap_bytes": np.int64,
    "in_place": np.bool_,
}


def run(
    elf: Path,
    *,
    cpu: Optional[str] = None,
    ram: Iterable[Tuple[int, int]] = (),
    flash: Iterable[Tuple[int, int]] = (),
    device: Iterable[Tuple[int, int]] = (),
    vectors: Optional[int] = None,
    model: Optional[Path] = None,
    arena: Union[None, str, Tuple[int, int]] = None,
    inputs: int = 5,
    stop_after: Optional[int] = None,
    max_instructions: int = 20_000_000_000,
    timeout: float = 600.0,
    self_check: bool = False,
    every_input: bool = False,
) -> Run:
    """Runs a bare-metal program and reports the safe overlap of each layer: ``dmo-trace run``.

    Memory is given as start and size in bytes; ``arena`` is a symbol, or the first address and the
    one after the last. With ``every_input`` the report's ``data_decisions`` say in which layers what
    holds on the inputs tried holds on every input. Hooks for layers (``--layer``, ``--layers``) are options of the command
    only.
    """
    addresses = None if arena is None or isinstance(arena, str) else (int(arena[0]), int(arena[1]))
    shown = f"{addresses[0]:#x}..{addresses[1]:#x}" if addresses else arena
    report, output = _native.run(
        elf,
        {
            "cpu": cpu,
            "ram": list(ram),
            "flash": list(flash),
            "device": list(device),
            "vectors": vectors,
            "model": model,
            "arena": shown,
            "arena_addresses": addresses,
            "inputs": inputs,
            "stop_after": stop_after,
            "max_instructions": max_instructions,
            "timeout": timeout,
            "self_check": self_check,
            "every_input": every_input,
        },
    )
    layers, end, arena_use = report["layers"], report["exit"], report.get("arena")
    failed = end["kind"] == "status" and end["detail"] != 0
    # All models of a program that runs several, and what lies between them.
    models = report.get("models", [])
    cycles = report["cycles"]
    return Run(
        program=report["program"]["name"],
        cpu=report["program"]["cpu"],
        exit=end,
        instructions=report["instructions"],
        cycles=None if cycles is None else cycles["total"]["total"],
        holds=not failed
        and (arena_use is None or arena_use["safe"])
        and all(model["safe"] for model in models),
        pairs=records(list(_pairs(layers)), PAIR_FIELDS),
        layers=layers,
        ram=report["ram"],
        arena=arena_use,
        warnings=report["warnings"],
        output=bytes(output),
        report=report,
    )


def _pairs(layers: List[Dict[str, Any]]) -> Iterable[Dict[str, Any]]:
    for number, layer in enumerate(layers, 1):
        tensors = layer["tensors"]
        for pair in layer["pairs"]:
            yield {
                "layer": number,
                "name": layer["name"],
                "input": tensors[pair["input"]]["name"],
                "output": tensors[pair["output"]]["name"],
                "safe_overlap_bytes": pair["safe_overlap_bytes"],
                "in_place": pair["in_place"],
            }
