"""What memory one candidate network after the other needs."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Optional, Tuple, Union

from . import _native
from ._graph import Graph, Tensor


FIELDS = ("peak_bytes", "order_bound_bytes", "bound_bytes", "certificate", "operator", "used_bytes", "peak")
"""What is known of a network's needs."""


@dataclass(frozen=True)
class InUse:
    """A buffer in use at the peak."""

    tensor: Optional[Tensor]
    """The tensor, the first of several in one buffer; ``None`` of scratch memory."""
    offset_bytes: int
    """Where it begins in the arena."""
    size_bytes: int
    """Its size."""


class Needs:
    """What a network needs."""

    __slots__ = ("_graph", "_native")

    def __init__(self, graph: Graph, native: "Union[_native.Needs, SimpleNamespace]") -> None:
        self._graph = graph
        self._native = native

    @property
    def peak_bytes(self) -> int:
        """Size of the planned arena."""
        return self._native.peak_bytes

    @property
    def order_bound_bytes(self) -> int:
        """No plan for this order of operators has a smaller arena."""
        return self._native.order_bound_bytes

    @property
    def bound_bytes(self) -> int:
        """No plan for any order has a smaller arena."""
        return self._native.bound_bytes

    @property
    def certificate(self) -> str:
        """What is proven: ``optimal``, ``optimal_for_order`` or ``best_found``."""
        return self._native.certificate

    @property
    def operator(self) -> Optional[int]:
        """The operator at which most bytes are in use; ``None`` if that is before the first."""
        return self._native.operator

    @property
    def used_bytes(self) -> int:
        """Bytes in use there; those that tensors share count once."""
        return self._native.used_bytes

    @property
    def peak(self) -> Tuple[InUse, ...]:
        """What is in use there, from the lowest offset up."""
        return tuple(
            InUse(None if index is None else Tensor(self._graph, index), offset, size)
            for index, offset, size in self._native.peak
        )

    def __reduce__(self) -> Tuple[Any, ...]:
        fields = {name: getattr(self._native, name) for name in FIELDS}
        return Needs, (self._graph, SimpleNamespace(**fields))

    def __repr__(self) -> str:
        return f"Needs(peak_bytes={self.peak_bytes}, bound_bytes={self.bound_bytes}, certificate={self.certificate!r})"


@dataclass(frozen=True)
class TiledNeeds:
    """What tiles would give."""

    peak_bytes: int
    """Size of the arena."""
    extra_macs: int
    """Multiply-accumulates that are computed again."""
    macs: int
    """Multiply-accumulates of the network."""
    runs: int
    """Runs of operators in tiles; 0 if none makes the arena smaller."""


class Oracle:
    """Answers what memory networks need, thousands of times a second.

    It remembers what the operators that it has seen may overlap, so that of a candidate that
    differs in one layer only that layer is computed anew. ``reorder`` also looks for a better order
    of operators, which takes longer where there is one; ``time`` is the work that the plan of a
    candidate may take, in seconds of a slow core.

    >>> from dmo_trace import Graph, Oracle
    >>> graph = Graph()
    >>> graph.output(graph.conv2d(graph.input((1, 8, 8, 4)), filter=(4, 3, 3, 4), padding="same"))
    >>> Oracle().ask(graph).certificate
    'optimal'
    """

    native: _native.Oracle
    """The oracle as the library has it."""

    def __init__(
        self,
        *,
        overlap: bool = True,
        reorder: bool = False,
        align: int = 16,
        exclude_inputs: bool = False,
        exclude_outputs: bool = False,
        keep_inputs: bool = False,
        time: float = 0.001,
    ) -> None:
        self.native = _native.Oracle(
            {
                "overlap": overlap,
                "reorder": reorder,
                "align": align,
                "exclude_inputs": exclude_inputs,
                "exclude_outputs": exclude_outputs,
                "keep_inputs": keep_inputs,
                "time": time,
            }
        )

    def ask(self, graph: Graph) -> Needs:
        """What a network needs."""
        return Needs(graph, self.native.ask(graph.native))

    def ask_tiled(self, graph: Graph, *, max_recompute: float = 10.0, time: float = 1.0) -> TiledNeeds:
        """What tiles would give where they may compute at most ``max_recompute`` percent of the
        network's multiply-accumulates again: a search of its own, far slower than :meth:`ask`."""
        return TiledNeeds(*self.native.ask_tiled(graph.native, max_recompute, time))
