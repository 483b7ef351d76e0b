"""The chain of a body that contracts, as Python statements for one result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.codegen.contracting import epilogue, in_pairs
from ttnn_jit.codegen.numba_steps import StepWriter
from ttnn_jit.codegen.steps import KernelBody
from ttnn_jit.kernels.python_scalar import PythonScalar

_INDENT = "    "


def chain(body: KernelBody, builder: PythonScalar, places: Sequence[str]) -> list[str]:
    """The statements, for loops whose indices are ``i<loop>`` and whose extents ``n<loop>``.

    Args:
        body: What contracts.
        builder: Gets what they import.
        places: By stream, the element that is loaded or stored.
    """
    assert body.reduced is not None, "it contracts"
    stage = epilogue(body)
    own = [*places, "total"]
    writer = StepWriter(stage.body, builder, [own[number] for number in stage.operands])
    add = _pairs if in_pairs(body) else _products
    inner = body.reduced.loop
    around = range(inner + body.reduced.count - 1, inner, -1)
    heads = [f"{_INDENT * depth}for i{loop} in range(n{loop}):" for depth, loop in enumerate(around)]
    lines = [_INDENT * len(heads) + line for line in add(body, builder, places, inner)]
    return [f"total = {builder.const(0.0)}", *heads, *lines, *_statements(builder, writer.write)]


def _products(body: KernelBody, builder: PythonScalar, places: Sequence[str], loop: int) -> list[str]:
    def add() -> None:
        left, right = (builder.loaded(places[k], body.streams[k].dtype) for k in body.contracted_streams)
        builder.lines.append(f"total = {builder.fma(left, right, 'total')}")

    return [f"for i{loop} in range(n{loop}):", *(_INDENT + line for line in _statements(builder, add))]


def _pairs(body: KernelBody, builder: PythonScalar, places: Sequence[str], loop: int) -> list[str]:
    streams = body.contracted_streams

    def load(shift: int) -> Callable[[], None]:
        def write() -> None:
            for side, k in zip(("left", "right"), streams, strict=True):
                bits = builder.bits(builder.loaded(places[k], body.streams[k].dtype))
                word = builder.shift_right_zero(bits, builder.int_const(shift)) if shift else builder.int_or(bits, side)
                builder.lines.append(f"{side} = {word}")

        return write

    def add() -> None:
        builder.lines.append(f"total = {builder.add_products('total', 'left', 'right')}")

    return [
        f"for step in range((n{loop} + 1) >> 1):",
        f"{_INDENT}i{loop} = 2 * step",
        *(_INDENT + line for line in _statements(builder, load(16))),
        f"{_INDENT}i{loop} += 1",
        f"{_INDENT}if i{loop} < n{loop}:",
        *(2 * _INDENT + line for line in _statements(builder, load(0))),
        *(_INDENT + line for line in _statements(builder, add)),
    ]


def _statements(builder: PythonScalar, write: Callable[[], None]) -> list[str]:
    """The statements that `write` adds to the builder."""
    before, builder.lines = builder.lines, []
    write()
    written, builder.lines = builder.lines, before
    return written
