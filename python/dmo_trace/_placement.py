"""A planned model in several memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterable, Mapping, Union

import numpy as np

from . import _native
from ._handover import HandedOver
from ._words import Path, names, records

if TYPE_CHECKING:
    from ._plan import Plan


@dataclass(frozen=True)
class Placement(HandedOver):
    """A planned model in several memories."""

    model: str
    """Name of the model."""
    cost: int
    """What all accesses of an inference cost, in cycles."""
    cost_bound: int
    """No placement for this order of operators costs less."""
    arena_bytes: int
    """What one memory would need."""
    order: np.ndarray = field(repr=False, compare=False)
    """Operators of the file in the order in which they run."""
    regions: np.ndarray = field(repr=False, compare=False)
    """The memories: ``name``, ``capacity_bytes``, ``access_cost`` in cycles, ``used_bytes``, ``tensors``, ``accesses``."""
    tensors: np.ndarray = field(repr=False, compare=False)
    """What lies where: ``tensor``, ``name``, ``region`` (its index), ``offset`` there, ``size_bytes``, ``accesses``."""
    report: Dict[str, Any] = field(repr=False, compare=False)
    """The whole result, as ``dmo-trace plan --region --json`` prints it (docs/json.md)."""
    native: "_native.Placement" = field(repr=False, compare=False)
    """The placement as the library has it."""

    @property
    def is_proven(self) -> bool:
        """No placement for this order costs less."""
        return self.cost == self.cost_bound

    def content(self, name: Path) -> bytes:
        """The content of a file of this name: ``.json`` (docs/json.md); ``.h``, C arrays of the
        memories and their tensors' offsets."""
        return self.native.content(name)


def place(
    plan: "Plan",
    region: Union[str, Iterable[str]],
    pin: Mapping[Union[str, int], Union[str, Iterable[str]]],
    time: float,
) -> Placement:
    """What :meth:`Plan.place` gives."""
    pins = [f"{what}={','.join(names(where))}" for what, where in pin.items()]
    native = _native.place(plan.native, {"region": names(region), "pin": pins, "time": time})
    report = native.report()
    region_fields = {
        "name": object,
        "capacity_bytes": np.int64,
        "access_cost": np.int64,
        "used_bytes": np.int64,
        "tensors": np.int64,
        "accesses": np.int64,
    }
    tensor_fields = {
        "tensor": np.int64,
        "name": object,
        "region": np.int64,
        "offset": np.int64,
        "size_bytes": np.int64,
        "accesses": np.int64,
    }
    return Placement(
        model=report["model"],
        cost=report["cost"],
        cost_bound=report["cost_bound"],
        arena_bytes=report["arena_bytes"],
        order=np.array(report["order"], dtype=np.int64),
        regions=records(report["regions"], region_fields),
        tensors=records(report["tensors"], tensor_fields),
        report=report,
        native=native,
    )
