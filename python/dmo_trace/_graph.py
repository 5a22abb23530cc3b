"""A network as shapes and operators, without weights."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Iterable, List, Optional, Sequence, Tuple, Union

from . import _native
from ._words import Words, words

Shape = Sequence[int]


@dataclass(frozen=True)
class Tensor:
    """A tensor of a :class:`Graph`."""

    graph: "Graph" = field(repr=False, compare=False)
    """The graph that it is of."""
    index: int
    """Its number in the graph."""

    @property
    def name(self) -> str:
        """Name of the tensor."""
        return self.graph.native.describe(self.index)[0]

    @property
    def shape(self) -> Tuple[int, ...]:
        """Elements on each axis."""
        return tuple(self.graph.native.describe(self.index)[1])

    @property
    def dtype(self) -> str:
        """Type of its elements."""
        return self.graph.native.describe(self.index)[2]

    @property
    def size_bytes(self) -> int:
        """Its size."""
        return self.graph.native.describe(self.index)[3]


class Graph:
    """A network under construction, for the planner and the :class:`Oracle`.

    Operators run in the order in which they are added. Their options are those of ``dmo-trace
    overlap``; the shapes of inputs are those of the tensors. What is not in the reference kernels
    is :meth:`opaque`: it is planned without overlaps.

    >>> from dmo_trace import Graph, plan
    >>> graph = Graph("two layers")
    >>> x = graph.input((1, 32, 32, 3))
    >>> x = graph.conv2d(x, filter=(8, 3, 3, 3), stride=2, padding="same")
    >>> x = graph.depthwise_conv2d(x, filter=(1, 3, 3, 8), padding="same")
    >>> graph.output(x)
    >>> x.shape
    (1, 16, 16, 8)
    """

    native: _native.Graph
    """The network as the library has it."""

    def __init__(self, name: str = "graph") -> None:
        self.native = _native.Graph(name)

    def input(self, shape: Shape, dtype: str = "int8", name: str = "input") -> Tensor:
        """What the application stores before an inference."""
        return Tensor(self, self.native.add_input(name, list(shape), dtype))

    def constant(self, shape: Shape, dtype: str = "int8", name: str = "constant") -> Tensor:
        """What lies in flash memory, such as the second operand of an addition. Weights of
        convolutions need not be given."""
        return Tensor(self, self.native.add_constant(name, list(shape), dtype))

    def output(self, *tensors: Tensor) -> None:
        """Completes the graph: the application reads these after an inference."""
        self.native.set_outputs([self._index(tensor) for tensor in tensors])

    def add(self, operator: str, *inputs: Tensor, **options: Optional[Words]) -> Union[Tensor, Tuple[Tensor, ...]]:
        """Adds an operator by its name; returns its output, or all of them if it has several."""
        indices = [self._index(tensor) for tensor in inputs]
        outputs = self.native.add_operator(operator, indices, words(options))
        tensors = tuple(Tensor(self, index) for index in outputs)
        return tensors[0] if len(tensors) == 1 else tensors

    def opaque(
        self,
        name: str,
        inputs: Iterable[Tensor],
        outputs: Sequence[Shape],
        dtype: str = "int8",
        scratch_bytes: Sequence[int] = (),
    ) -> Tuple[Tensor, ...]:
        """Adds an operator of which nothing is known but its tensors and scratch buffers."""
        added = self.native.add_opaque(
            name,
            [self._index(tensor) for tensor in inputs],
            [(list(shape), dtype) for shape in outputs],
            list(scratch_bytes),
        )
        return tuple(Tensor(self, index) for index in added)

    def kind(self, operator: int) -> str:
        """What an operator is called in TensorFlow Lite, by its number from 0."""
        return self.native.kind(operator)

    def copy(self) -> "Graph":
        """The same graph once more: with outputs complete, else to be gone on with. Its tensors have
        the same numbers, and are tensors of the copy: ``copy.tensor(x.index)``."""
        return copy.copy(self)

    def tensor(self, index: int) -> Tensor:
        """The tensor of this number."""
        self.native.describe(index)
        return Tensor(self, index)

    def __getstate__(self) -> str:
        return self.native.saved()

    def __setstate__(self, state: str) -> None:
        self.native = _native.Graph.restored(state)

    def __len__(self) -> int:
        """How many operators it has."""
        return self.native.counts()[1]

    def conv2d(self, input: Tensor, *, filter: Words, stride: Words = 1, dilation: Words = 1, padding: Words = "valid") -> Tensor:
        """A convolution; the filter is output channels, height, width, input channels."""
        return self._one("conv2d", input, filter=filter, stride=stride, dilation=dilation, padding=padding)

    def depthwise_conv2d(self, input: Tensor, *, filter: Words, stride: Words = 1, dilation: Words = 1, padding: Words = "valid") -> Tensor:
        """A depthwise convolution; the filter is 1, height, width, output channels."""
        return self._one("depthwise_conv2d", input, filter=filter, stride=stride, dilation=dilation, padding=padding)

    def transpose_conv2d(self, input: Tensor, *, filter: Words, output: Words, stride: Words = 1, padding: Words = "valid") -> Tensor:
        """A transposed convolution; the filter is output channels, height, width, input channels."""
        return self._one("transpose_conv2d", input, filter=filter, output=output, stride=stride, padding=padding)

    def max_pool(self, input: Tensor, *, filter: Words, stride: Words = 1, padding: Words = "valid") -> Tensor:
        """The greatest of each window."""
        return self._one("max_pool", input, filter=filter, stride=stride, padding=padding)

    def avg_pool(self, input: Tensor, *, filter: Words, stride: Words = 1, padding: Words = "valid") -> Tensor:
        """The mean of each window."""
        return self._one("avg_pool", input, filter=filter, stride=stride, padding=padding)

    def fully_connected(self, input: Tensor, *, filter: Words) -> Tensor:
        """A fully connected layer; the filter is outputs, inputs."""
        return self._one("fully_connected", input, filter=filter)

    def add_tensors(self, first: Tensor, second: Tensor) -> Tensor:
        """The sum of two tensors, element by element."""
        return self._one("add", first, second)

    def mul(self, first: Tensor, second: Tensor) -> Tensor:
        """The product of two tensors, element by element."""
        return self._one("mul", first, second)

    def relu(self, input: Tensor) -> Tensor:
        """A ReLU that is not fused into the operator before it."""
        return self._one("relu", input)

    def mean(self, input: Tensor, *, axis: Words = (1, 2)) -> Tensor:
        """The mean over axes."""
        return self._one("mean", input, axis=axis)

    def concat(self, *inputs: Tensor, axis: Words = 3) -> Tensor:
        """Tensors one after the other."""
        return self._one("concat", *inputs, axis=axis)

    def pad(self, input: Tensor, *, padding: Words, output: Words) -> Tensor:
        """Zeros around a tensor: what comes before it, and the shape of the output."""
        return self._one("pad", input, padding=padding, output=output)

    def reshape(self, input: Tensor) -> Tensor:
        """The same elements as a row."""
        return self._one("reshape", input)

    def softmax(self, input: Tensor) -> Tensor:
        """The softmax of the last axis."""
        return self._one("softmax", input)

    def split(self, input: Tensor, *, axis: Words, parts: Words) -> List[Tensor]:
        """Parts of these sizes along an axis."""
        added = self.add("split", input, axis=axis, parts=parts)
        return list(added) if isinstance(added, tuple) else [added]

    def _one(self, operator: str, *inputs: Tensor, **options: Optional[Words]) -> Tensor:
        added = self.add(operator, *inputs, **options)
        assert isinstance(added, Tensor)
        return added

    def _index(self, tensor: Tensor) -> int:
        if not isinstance(tensor, Tensor) or tensor.graph is not self:
            raise _native.DmoTraceError(f"{tensor!r} is no tensor of this graph")
        return tensor.index
