"""The chain of a body that contracts, as Python statements for one result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.codegen.contracting import epilogue, in_pairs
from ttnn_jit.codegen.numba_steps import StepWriter
from ttnn_jit.codegen.steps import KernelBody
from ttnn_jit.kernels.python_scalar import PythonScalar
from ttnn_jit.ops.emit import Value
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import TILE_WIDTH, Numerics

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
    multiplied = body.multiplication
    inner = body.reduced.loop
    around = range(inner + body.reduced.count - 1, inner, -1)
    heads = [f"{_INDENT * depth}for i{loop} in range(n{loop}):" for depth, loop in enumerate(around)]
    inside = add(body, builder, places, inner)
    rounds = multiplied is not None and multiplied.rounds_tiles
    counted, after = _rounding(builder, 2 if in_pairs(body) else 1) if rounds else ([], [])
    lines = [_INDENT * len(heads) + line for line in (*inside, *(_INDENT + line for line in counted))]
    start = [f"total = {builder.const(0.0)}", *(["terms = 0"] if rounds else [])]
    return [*start, *heads, *lines, *after, *_statements(builder, writer.write)]


def _rounding(builder: PythonScalar, terms: int) -> tuple[list[str], list[str]]:
    """What rounds the sum to bfloat16 behind every tile of terms, and behind all."""

    def write() -> None:
        builder.lines.append(f"total = {builder.round_bfloat16('total', Numerics.IEEE)}")

    rounded = _statements(builder, write)
    counted = [f"terms += {terms}", f"if terms % {TILE_WIDTH} == 0:", *(_INDENT + line for line in rounded)]
    return counted, rounded


def _left_of(body: KernelBody, builder: PythonScalar, value: Value, side: int) -> Value:
    """What a chip leaves of a factor; NaN stays one."""
    multiplied = body.multiplication
    dtype = body.streams[body.contracted_streams[side]].dtype.unpacked
    if multiplied is None or multiplied.kept[side] >= dtype.mantissa_bits:
        return value
    return builder.select(builder.ne(value, value), value, _cut(builder, value, multiplied.kept[side]))


def _cut(builder: PythonScalar, value: Value, bits: int) -> Value:
    mask = builder.int_const(-(1 << (COMPUTE_TYPE.mantissa_bits - bits)))
    return builder.from_bits(builder.int_and(builder.bits(value), mask))


def _below(builder: PythonScalar, value: Value, bits: int) -> Value:
    high = _cut(builder, value, bits)
    return builder.select(builder.eq(value, high), builder.const(0.0), builder.sub(value, high))


def _products(body: KernelBody, builder: PythonScalar, places: Sequence[str], loop: int) -> list[str]:
    def add() -> None:
        read = [builder.loaded(places[k], body.streams[k].dtype) for k in body.contracted_streams]
        left, right = (_left_of(body, builder, value, side) for side, value in enumerate(read))
        dropped = body.multiplication and body.multiplication.dropped
        if dropped:
            low = (_below(builder, value, bits) for value, bits in zip((left, right), dropped, strict=True))
            product = builder.fma(left, right, builder.neg(builder.mul(*low)))
            builder.lines.append(f"total = {builder.add('total', product)}")
            return
        builder.lines.append(f"total = {builder.fma(left, right, 'total')}")

    return [f"for i{loop} in range(n{loop}):", *(_INDENT + line for line in _statements(builder, add))]


def _pairs(body: KernelBody, builder: PythonScalar, places: Sequence[str], loop: int) -> list[str]:
    streams = body.contracted_streams

    def load(shift: int) -> Callable[[], None]:
        def write() -> None:
            for number, (side, k) in enumerate(zip(("left", "right"), streams, strict=True)):
                value = builder.loaded(places[k], body.streams[k].dtype)
                bits = builder.bits(_left_of(body, builder, value, number))
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
