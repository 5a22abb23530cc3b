"""The smallest arena of a model."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterable, Mapping, Optional, Union

import numpy as np

from . import _native
from ._handover import HandedOver
from ._words import Path, allowed, names, records

if TYPE_CHECKING:
    from ._graph import Graph
    from ._placement import Placement

Model = Union[Path, bytes, bytearray, "Graph"]
"""A path, ``"zoo:NAME:int8"``, the content of a file, or a network built in Python."""


@dataclass(frozen=True)
class Plan(HandedOver):
    """A planned model."""

    model: str
    """Name of the model."""
    arena_bytes: int
    """Size of the planned arena."""
    order_bound_bytes: int
    """No plan for this order of operators has a smaller arena."""
    bound_bytes: int
    """No plan for any order has a smaller arena."""
    certificate: str
    """What is proven: ``optimal``, ``optimal_for_order``, or ``best_found`` in the given time."""
    overlap: str
    """Where the overlaps come from: ``none``, ``analytic`` or ``traced``."""
    naive_bytes: int
    """Bytes of all tensors, each in memory of its own."""
    order: np.ndarray = field(repr=False, compare=False)
    """Operators of the file in the order in which they run."""
    tensors: np.ndarray = field(repr=False, compare=False)
    """What lies where: ``tensor``, ``name``, ``offset``, ``size_bytes``. ``pandas.DataFrame(plan.tensors)``."""
    report: Dict[str, Any] = field(repr=False, compare=False)
    """The whole result, as ``dmo-trace plan --json`` prints it (docs/json.md)."""
    native: "_native.PlannedModel" = field(repr=False, compare=False)
    """The plan as the library has it."""

    @property
    def is_proven(self) -> bool:
        """No order and no placement needs less."""
        return self.certificate == "optimal"

    def fits(self, capacity: int) -> bool:
        """Whether the arena has at most this many bytes."""
        return self.arena_bytes <= capacity

    def content(self, name: Path) -> bytes:
        """The content of a file of this name: ``.tflite``, the model with the plan embedded;
        ``.json`` (docs/json.md); ``.h``, a C array of offsets."""
        return self.native.content(name)

    def place(
        self,
        region: Union[str, Iterable[str]],
        *,
        pin: Optional[Mapping[Union[str, int], Union[str, Iterable[str]]]] = None,
        time: float = 10.0,
    ) -> "Placement":
        """Places the tensors in several memories, so that their accesses cost least: ``dmo-trace
        plan --region``.

        ``region`` names each memory with its size, the cycles of an access and, perhaps, what
        offsets are multiples of, the fastest first; ``pin`` says what has to lie in which of them,
        by a tensor's index, or ``inputs``, ``outputs`` or ``scratch``.

        >>> import dmo_trace
        >>> plan = dmo_trace.plan("zoo:person_detection:int8")
        >>> placed = plan.place(["tcm=24K@1", "psram=1M@12"], pin={"inputs": "psram"})
        >>> placed.cost >= placed.cost_bound
        True
        """
        from ._placement import place

        return place(self, region, pin or {}, time)

    def svg(self) -> str:
        """The picture of the plan: every tensor over steps and offsets."""
        return self.native.svg()

    def png(self) -> bytes:
        """The same as PNG."""
        return self.native.png()

    def _repr_png_(self) -> bytes:
        return self.png()

    def _repr_html_(self) -> str:
        picture = base64.b64encode(self.png()).decode()
        return (
            f"<p><b>{html.escape(self.model)}</b>: {self.arena_bytes:,} bytes"
            f" ({html.escape(self.certificate)}; at least {self.bound_bytes:,} are needed)</p>"
            f'<img alt="the plan of {html.escape(self.model)}" style="max-width: 100%"'
            f' src="data:image/png;base64,{picture}">'
        )


def plan(
    model: Model,
    *,
    overlap: Optional[str] = None,
    kernels: Union[None, Path, Iterable[Path]] = None,
    cpu: Optional[str] = None,
    cmsis_nn_version: Optional[int] = None,
    inputs: Optional[int] = None,
    order: str = "best",
    align: int = 16,
    exclude_inputs: bool = False,
    exclude_outputs: bool = False,
    keep_inputs: bool = False,
    exclude_scratch: bool = False,
    allow: Union[None, str, Iterable[str]] = None,
    max_recompute: Optional[float] = None,
    integer_io: bool = False,
    slices: bool = False,
    fix: Optional[Mapping[int, int]] = None,
    time: float = 10.0,
    cache: Union[None, bool, Path] = None,
) -> Plan:
    """Plans the smallest arena of a model, with a proof: ``dmo-trace plan``.

    Arguments are the options of the command: ``kernels`` is a set that is built in (``reference``,
    ``dsp``, ``dsp-channels-outside``), the path of an ELF file or a static library, or a list of
    them; ``allow`` is a list such as ``["split", "patch"]``, or ``"split,patch"``; ``fix`` offsets by tensor. With
    ``integer_io`` the model takes and gives the integers that it computes with, and with ``slices``
    it takes its input in rows.

    Measurements are kept in the user's cache folder, in the folder ``cache``, or with
    ``cache=False`` nowhere.

    >>> import dmo_trace
    >>> dmo_trace.plan("zoo:person_detection:int8").arena_bytes
    36880
    """
    native = _native.plan(
        _handed_over(model),
        {
            "overlap": overlap,
            "kernels": names(kernels),
            "cpu": cpu,
            "cmsis_nn_version": cmsis_nn_version,
            "inputs": inputs,
            "order": order,
            "align": align,
            "exclude_inputs": exclude_inputs,
            "exclude_outputs": exclude_outputs,
            "keep_inputs": keep_inputs,
            "exclude_scratch": exclude_scratch,
            "allow": allowed(allow),
            "max_recompute": max_recompute,
            "integer_io": integer_io,
            "slices": slices,
            "fix": sorted((fix or {}).items()),
            "time": time,
            "cache": cache,
        },
    )
    report = native.report()
    tensor_fields = {"tensor": np.int64, "name": object, "offset": np.int64, "size_bytes": np.int64}
    return Plan(
        model=report["model"],
        arena_bytes=report["arena_bytes"],
        order_bound_bytes=report["order_bound_bytes"],
        bound_bytes=report["bound_bytes"],
        certificate=report["certificate"],
        overlap=report["overlap"],
        naive_bytes=report["naive_bytes"],
        order=np.array(report["order"], dtype=np.int64),
        tensors=records(report["tensors"], tensor_fields),
        report=report,
        native=native,
    )


def _handed_over(model: Any) -> Any:
    """The model as the library takes it."""
    return getattr(model, "native", model)
