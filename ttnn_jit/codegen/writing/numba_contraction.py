"""The chain of a body that contracts, as Python statements for one result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.codegen.bodies.numba_steps import in_loops, statements
from ttnn_jit.codegen.schedules.kernel import Contract
from ttnn_jit.kernels.numba.python_scalar import INDENT, PythonScalar
from ttnn_jit.ops.language.emit import Value
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import TILE_WIDTH, Numerics

_INNER = 1
"""The loop along which terms are contiguous: the one around the innermost."""


def chain(product: Contract, builder: PythonScalar, elements: Sequence[str]) -> list[str]:
    """The statements, for loops whose indices are ``i<loop>`` and whose extents ``n<loop>``.

    Args:
        product: The kernel.
        builder: Gets what they import.
        elements: By stream, the element that is loaded or stored.
    """
    stage, own = product.epilogue, [*elements, "total"]
    assert stage is not None, "the loop behind a product is chosen before its text is written"
    add = _pairs if product.in_pairs else _products
    multiplied = product.multiplication
    inside = add(product, builder, elements)
    rounds = multiplied is not None and multiplied.rounds_tiles
    counted, after = _rounding(builder, 2 if product.in_pairs else 1) if rounds else ([], [])
    around = range(_INNER + 1, product.contracted.count + 1)
    lines = in_loops(around, [*inside, *(INDENT + line for line in counted)])
    start = [f"total = {builder.const(0.0)}", *(["terms = 0"] if rounds else [])]
    behind = statements(builder, lambda: stage.write(builder, [own[number] for number in stage.operands]))
    return [*start, *lines, *after, *behind]


def _rounding(builder: PythonScalar, terms: int) -> tuple[list[str], list[str]]:
    """The statements that round the sum to bfloat16 after every tile of terms, and after all terms."""

    def write() -> None:
        builder.lines.append(f"total = {builder.round_bfloat16('total', Numerics.IEEE)}")

    rounded = statements(builder, write)
    counted = [f"terms += {terms}", f"if terms % {TILE_WIDTH} == 0:", *(INDENT + line for line in rounded)]
    return counted, rounded


def _left_of(product: Contract, builder: PythonScalar, value: Value, side: int) -> Value:
    """A factor at the chip's precision; NaN is preserved."""
    multiplied = product.multiplication
    dtype = product.streams[product.factors[side]].dtype.unpacked
    if multiplied is None or multiplied.kept[side] >= dtype.mantissa_bits:
        return value
    return builder.select(builder.ne(value, value), value, _cut(builder, value, multiplied.kept[side]))


def _cut(builder: PythonScalar, value: Value, bits: int) -> Value:
    mask = builder.int_const(-(1 << (COMPUTE_TYPE.mantissa_bits - bits)))
    return builder.from_bits(builder.int_and(builder.bits(value), mask))


def _below(builder: PythonScalar, value: Value, bits: int) -> Value:
    high = _cut(builder, value, bits)
    return builder.select(builder.eq(value, high), builder.const(0.0), builder.sub(value, high))


def _products(product: Contract, builder: PythonScalar, elements: Sequence[str]) -> list[str]:
    def add() -> None:
        read = [builder.loaded(elements[k], product.streams[k].dtype) for k in product.factors]
        left, right = (_left_of(product, builder, value, side) for side, value in enumerate(read))
        dropped = product.multiplication and product.multiplication.dropped
        if dropped:
            low = (_below(builder, value, bits) for value, bits in zip((left, right), dropped, strict=True))
            term = builder.fma(left, right, builder.neg(builder.mul(*low)))
            builder.lines.append(f"total = {builder.add('total', term)}")
            return
        builder.lines.append(f"total = {builder.fma(left, right, 'total')}")

    return [f"for i{_INNER} in range(n{_INNER}):", *(INDENT + line for line in statements(builder, add))]


def _pairs(product: Contract, builder: PythonScalar, elements: Sequence[str]) -> list[str]:
    def load(shift: int) -> Callable[[], None]:
        def write() -> None:
            for number, (side, k) in enumerate(zip(("left", "right"), product.factors, strict=True)):
                value = builder.loaded(elements[k], product.streams[k].dtype)
                bits = builder.bits(_left_of(product, builder, value, number))
                word = builder.shift_right_zero(bits, builder.int_const(shift)) if shift else builder.int_or(bits, side)
                builder.lines.append(f"{side} = {word}")

        return write

    def add() -> None:
        builder.lines.append(f"total = {builder.add_products('total', 'left', 'right')}")

    return [
        f"for step in range((n{_INNER} + 1) >> 1):",
        f"{INDENT}i{_INNER} = 2 * step",
        *(INDENT + line for line in statements(builder, load(16))),
        f"{INDENT}i{_INNER} += 1",
        f"{INDENT}if i{_INNER} < n{_INNER}:",
        *(2 * INDENT + line for line in statements(builder, load(0))),
        *(INDENT + line for line in statements(builder, add)),
    ]
