"""Whether a plan is safe with kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Union

from . import _native
from ._placement import Placement
from ._plan import Model, Plan, _handed_over
from ._words import Path, allowed, names


@dataclass(frozen=True)
class Verification:
    """What geometry, replay and execution say of a plan."""

    model: str
    """Name of the model."""
    safe: bool
    """All operators were executed, and nobody objects."""
    verdict: str
    """``safe``, ``no_objection`` where operators were not executed, or ``unsafe``."""
    kernels: str
    """The kernels that computed the model."""
    cpu: Optional[str]
    """The CPU that ran them."""
    inputs: int
    """On how many inputs the model ran."""
    arena_bytes: int
    """Size of the arena of the plan."""
    instructions: Optional[int]
    """Executed instructions of one inference."""
    cycles: Optional[int]
    """Their estimated cycles; ``None`` if they are not known of the CPU."""
    faults: List[str] = field(repr=False)
    """What is wrong with the plan, whatever the kernels do."""
    not_executed: List[Dict[str, Any]] = field(repr=False)
    """Operators that no kernel can be called for, and why."""
    layers: List[Dict[str, Any]] = field(repr=False)
    """Each operator: its kernel, overlaps, instructions. ``pandas.DataFrame(verification.layers)``."""
    report: Dict[str, Any] = field(repr=False, compare=False)
    """The whole result, as ``dmo-trace verify --json`` prints it (docs/json.md)."""

    @property
    def holds_on_every_input(self) -> Optional[bool]:
        """The operators load and store the same whatever the inputs are; ``None`` without
        ``every_input``."""
        found = self.report["every_input"]
        return None if found is None else found["holds"]

    @property
    def objections(self) -> List[str]:
        """What is wrong, in words: the faults, and the first few objections of geometry, replay and
        execution."""
        return [*self.faults, *(line for witness in self.report["objections"] for line in witness)]


def verify(
    model: Union[Model, Plan, Placement],
    *,
    plan: Optional[Path] = None,
    allow: Union[None, str, Iterable[str]] = None,
    kernels: Union[None, Path, Iterable[Path]] = "reference",
    cpu: Optional[str] = None,
    cmsis_nn_version: Optional[int] = None,
    inputs: int = 3,
    max_instructions: int = 10_000_000_000,
    timeout: float = 600.0,
    every_input: bool = False,
) -> Verification:
    """Proves that a plan is safe with kernels, by running their machine code in it: ``dmo-trace
    verify``.

    The plan is that of a :class:`Plan` or :class:`Placement`, or ``plan``, a .json file, or the one that the model
    carries; else the one that is found for the reference kernels. With ``every_input`` it is also found
    out whether what holds on the inputs tried holds on all of them, which takes longer.

    >>> import dmo_trace
    >>> dmo_trace.verify("zoo:person_detection:int8", inputs=1).safe
    True
    """
    report = _native.verify(
        _handed_over(model),
        {
            "plan": plan,
            "allow": allowed(allow),
            "kernels": names(kernels),
            "cpu": cpu,
            "cmsis_nn_version": cmsis_nn_version,
            "inputs": inputs,
            "max_instructions": max_instructions,
            "timeout": timeout,
            "every_input": every_input,
        },
    )
    cycles = report["cycles"]
    return Verification(
        model=report["model"],
        safe=report["safe"],
        verdict=report["verdict"],
        kernels=report["kernels"],
        cpu=report["cpu"],
        inputs=report["inputs"],
        arena_bytes=report["arena_bytes"],
        instructions=report["instructions"],
        cycles=None if cycles is None else cycles["total"],
        faults=report["faults"],
        not_executed=report["not_executed"],
        layers=report["layers"],
        report=report,
    )
