"""The graph of executed operations and the tensors between them, with output as JSON, dot and SVG."""

from __future__ import annotations

import enum
import json
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.ttnn.calling.foreign_operands import is_foreign
from ttnn_jit.ttnn.observing.graph_nodes import Node
from ttnn_jit.ttnn.observing.graph_picture import lines_of, picture
from ttnn_jit.ttnn.tensors.transfers import get_device_tensors


def tensors_in(values: Any) -> list[Any]:
    """The tensors of any library in nested containers."""
    return [leaf for leaf in leaves(values) if isinstance(leaf, Tensor) or is_foreign(leaf)]


def ttnn_tensors_in(values: Any) -> list[Tensor]:
    """The ttnn tensors in nested containers; a tensor of a mesh is replaced by those of its devices."""
    found = (tensor for tensor in tensors_in(values) if isinstance(tensor, Tensor))
    return [own for tensor in found for own in get_device_tensors(tensor)]


def text_of_argument(value: Any) -> str:
    """The text of an argument for reports; for a tensor its metadata."""
    if isinstance(value, Tensor):
        return f"Tensor(shape={value.shape}, dtype={value.dtype}, layout={value.layout})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text_of_argument, value))}]"
    return type_name(value) if tensors_in([value]) else repr(value)


class OperationGraph:
    """Nodes in execution order; tensors are referenced weakly."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._made: dict[int, tuple[weakref.ref[Any], tuple[int, int]]] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def add(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], result: Any) -> None:
        """Record a call of an operation.

        Raises:
            ArgumentError: A tensor is a tracer of a function that is being compiled.
        """
        given = [*args, *kwargs.values()]
        if not all(type(tensor).__weakrefoffset__ for tensor in tensors_in([*given, result])):
            raise ArgumentError(
                "the graph of a trace has no operations of a function that is being compiled",
                help="enter the context around the call of the jitted function",
            )
        inputs = tuple(map(self._source, tensors_in(given)))
        others = [value for value in args if not tensors_in([value])]
        texts = [*map(_short, others), *(f"{key}={_short(v)}" for key, v in kwargs.items() if not tensors_in([v]))]
        outputs = tensors_in([result])
        self._append(name, inputs, outputs, tuple(texts))

    def _source(self, tensor: Any) -> tuple[int, int]:
        """The node and output that made a tensor; adds a node for the tensor if no operation did."""
        found = self.made_by(tensor)
        if found is None:
            self._append(type_name(tensor) if not isinstance(tensor, Tensor) else "ttnn.Tensor", (), [tensor], ())
            found = len(self.nodes) - 1, 0
        return found

    def made_by(self, tensor: Any) -> tuple[int, int] | None:
        """The number of the node that last wrote a tensor, and the index of the output; None if there is none."""
        reference, source = self._made.get(id(tensor), (None, None))
        return source if reference is not None and reference() is tensor else None

    def _append(
        self, name: str, inputs: tuple[tuple[int, int], ...], outputs: Sequence[Any], arguments: tuple[str, ...]
    ) -> None:
        number = len(self.nodes)
        self.nodes.append(Node(number, name, inputs, tuple(map(_described, outputs)), arguments))
        for index, tensor in enumerate(outputs):
            self._made[id(tensor)] = weakref.ref(tensor), (number, index)

    def of(self, values: Any) -> OperationGraph:
        """The subgraph that produced `values`, tensors in nested containers.

        Raises:
            ArgumentError: There is no tensor in `values`, or no node made one of them.
        """
        wanted = [self.made_by(tensor) for tensor in tensors_in([values])]
        if not wanted or None in wanted:
            raise ArgumentError(
                "a tensor was made by no operation that was traced" if wanted else "there is no tensor among these",
                help="make it in the body of `with ttnn.tracer.trace():`",
            )
        needed = {source[0] for source in wanted if source is not None}
        for node in reversed(self.nodes):
            if node.number in needed:
                needed |= {number for number, _ in node.inputs}
        renumbered = {number: index for index, number in enumerate(sorted(needed))}
        part = OperationGraph()
        for number, index in renumbered.items():
            node = self.nodes[number]
            inputs = tuple((renumbered[source], output) for source, output in node.inputs)
            part.nodes.append(Node(index, node.name, inputs, node.outputs, node.arguments))
        return part

    # --- Formats ------------------------------------------------------------------------------------------------------

    def to_json(self) -> list[dict[str, Any]]:
        """The nodes as JSON values."""
        return [
            {
                "number": node.number,
                "name": node.name,
                "inputs": [list(source) for source in node.inputs],
                "outputs": list(node.outputs),
                "arguments": list(node.arguments),
            }
            for node in self.nodes
        ]

    def to_dot(self) -> str:
        """The graph for graphviz."""
        lines = [f"  n{node.number} [label={json.dumps(chr(10).join(lines_of(node)))}];" for node in self.nodes]
        lines += [f"  n{source} -> n{node.number};" for node in self.nodes for source, _ in node.inputs]
        return "\n".join(["digraph {", "  node [shape=box];", *lines, "}\n"])

    def to_svg(self) -> str:
        """An SVG with inputs at the top and the last results at the bottom.

        In a large graph repetitions are drawn once; a tall picture continues in a column to the right.
        """
        return picture(self.nodes)

    def _repr_svg_(self) -> str:
        """The representation in notebooks."""
        return self.to_svg()

    def save(self, path: str | Path) -> None:
        """Write the graph to a file: a picture (.svg), JSON (.json) or text for graphviz (.dot).

        Raises:
            ArgumentError: The file name has another suffix.
        """
        path = Path(path)
        forms = {".svg": self.to_svg, ".json": lambda: json.dumps(self.to_json(), indent=2), ".dot": self.to_dot}
        if path.suffix not in forms:
            raise ArgumentError(
                f"a graph is written to a file that ends with {', '.join(forms)}, got {path.name!r}",
                help="write .dot, and have graphviz make other pictures of it: `dot -Tpng`",
            )
        write_complete(path, [forms[path.suffix]().encode()])


def _described(tensor: Any) -> str:
    kind = "x".join(map(str, tuple(tensor.shape))) or "scalar"
    return f"{kind} {str(tensor.dtype).removeprefix('torch.').removeprefix('DataType.')}"


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, enum.Enum) else repr(value)
    text = getattr(value, "__name__", text) if callable(value) else text
    return text if len(text) <= 40 else f"{text[:37]}..."
