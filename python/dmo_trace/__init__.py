"""Plans the smallest tensor arena of TinyML models, and proves the plan safe.

Each function is a command of ``dmo-trace`` with its options as arguments, and returns a dataclass
with what matters; its ``report`` is the whole result as ``--json`` prints it::

    import dmo_trace

    plan = dmo_trace.plan("model.tflite")
    plan.arena_bytes, plan.certificate
    plan.emit("planned.tflite")
    dmo_trace.verify(plan, kernels="libcmsis-nn.a").safe

A model is a path, ``"zoo:NAME:int8"``, ``bytes``, or a :class:`Graph` built of shapes and
operators. What cannot be done raises :class:`DmoTraceError` with the whole message.
"""

from __future__ import annotations

from ._graph import Graph, Tensor
from ._native import DmoTraceError, version
from ._oracle import InUse, Needs, Oracle, TiledNeeds
from ._overlap import Overlap, overlap
from ._placement import Placement
from ._plan import Plan, plan
from ._run import Run, run
from ._sweep import Sweep, sweep
from ._verify import Verification, verify

__version__ = version()

__all__ = [
    "DmoTraceError",
    "Graph",
    "InUse",
    "Needs",
    "Oracle",
    "Overlap",
    "Placement",
    "Plan",
    "Run",
    "Sweep",
    "Tensor",
    "TiledNeeds",
    "Verification",
    "overlap",
    "plan",
    "run",
    "sweep",
    "verify",
]
