"""The programs of `replay`: each operation alone, and programs that cover fusion, scheduling and codegen.

A combination is a dict of JSON values, so that it can be sent to a process of another checkout.
"""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Iterator, Sequence
from itertools import count, product
from typing import TYPE_CHECKING, Any

from benchmarks.harness.process import ROOT
from ttnn_jit import ttnn

if TYPE_CHECKING:
    from ttnn_jit.ops import Operation

Combination = dict[str, Any]
ISAS = ("host", "avx512", "avx2", "neon")
DTYPES = ("f32", "bf16")
MODELS = ROOT / "docs" / "examples" / "models"
MODEL = "model"
"""The kind of a combination whose source is a file of `MODELS`."""
INTEGER = "si32"


def combinations() -> list[Combination]:
    """All combinations, each with its own key."""
    programs = (combination for name in PROGRAMS for combination in _of_program(name))
    return [*_of_operations(), *programs, *_of_models()]


def _of_operations() -> Iterator[Combination]:
    from ttnn_jit.ops import OPERATIONS
    from ttnn_jit.specs.tensor_spec import DataType

    calls = [(one, call) for one in OPERATIONS if not one.fixed_keywords for call in _calls(one)]
    for number, (operation, call) in enumerate(calls):
        dtypes = [dtype.mlir for dtype in DataType if dtype.mlir in DTYPES and dtype in operation.dtypes]
        integers = [INTEGER] if DataType.INT32 in operation.dtypes else []
        for dtype, (target, frontend) in product(
            [*reversed(dtypes), *integers], (("cpu", "ast"), ("wormhole_b0", ("ast", "trace")[number % 2]))
        ):
            yield _combination(**call, dtype=dtype, target=target, frontend=frontend)
        for index, isa in enumerate(ISAS[1:]):
            target = ("cpu", "wormhole_b0")[(number + index) % 2]
            dtype = DTYPES[index % 2] if dtypes else INTEGER
            yield _combination(**call, dtype=dtype, target=target, shape=(256, 256), isa=isa)


def _calls(operation: Operation) -> Iterator[dict[str, Any]]:
    """Programs of one call: of every example, or with arbitrary shapes."""
    from ttnn_jit.ops import Routine
    from ttnn_jit.specs.dtypes import COMPUTE_TYPE

    taken = operation.operand_dtypes if isinstance(operation, Routine) else ()
    integers = tuple(index for index, dtypes in enumerate(taken) if COMPUTE_TYPE not in dtypes)
    for index, (shapes, statics) in enumerate(operation.examples or [((), operation.tested_attributes)]):
        given = [shape is not None for shape in shapes] or [True] * operation.arity
        tensors = ", ".join(f"a{k}" for k in range(sum(given)))
        values = (f"{each.name}={_written(value)}" for each, value in zip(operation.attributes, statics, strict=True))
        arguments = ", ".join((f"[{tensors}]" if operation.is_variadic else _operands(operation, given), *values))
        name = f"op_{operation.ttnn_name}{f'_{index}' if index else ''}"
        source = f"def {name}({tensors}):\n    return ttnn.{operation.name}({arguments})\n"
        own = tuple(shape for shape in shapes if shape is not None)
        yield {"source": source, "program": name, "tensors": sum(given), "shapes": own, "integers": integers}


def _operands(operation: Operation, given: Sequence[bool]) -> str:
    """The operands of a call, None for omitted ones; by keyword if attributes come between them."""
    numbers = count()
    values = [f"a{next(numbers)}" if is_given else "None" for is_given in given]
    names = tuple(each.name for each in operation.operands)
    if operation.parameter_names[: len(names)] == names:
        return ", ".join(values)
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _written(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return f"ttnn.{value}" if isinstance(value, enum.Enum) else repr(value)


def _of_program(name: str) -> Iterator[Combination]:
    program = {"program": name, "tensors": len(inspect.signature(PROGRAMS[name]).parameters)}
    for dtype in DTYPES:
        for target, frontend in product(("cpu", "wormhole_b0"), ("ast", "trace")):
            yield _combination(**program, dtype=dtype, target=target, frontend=frontend, shape=(128, 128))
        for isa in ISAS[1:]:
            yield _combination(**program, dtype=dtype, isa=isa)
        yield _combination(**program, dtype=dtype, target="blackhole", shape=(64, 96), options={"fp32_dest_acc": True})
        yield _combination(**program, dtype=dtype, target="wormhole_b0", shape=(256, 256), kind="sharded")
        for kind in ("strided", "broadcast"):
            yield _combination(**program, dtype=dtype, shape=(40, 33), kind=kind)
        yield _combination(**program, dtype=dtype, shape=(2048, 2048), kind="torch")
    yield _combination(**program, shape=(5, 7, 33), kind="numpy")
    yield _combination(**program, dtype="mixed", target="wormhole_b0")
    yield _combination(**program, options={"backend": "numba"})


def _of_models() -> Iterator[Combination]:
    """Whole models in a small size: all programs that one run compiles."""
    for path, frontend in product(sorted(MODELS.glob("*.py")), ("ast", "trace")):
        source = path.read_text(encoding="utf-8")
        yield _combination(program=path.stem, tensors=0, source=source, dtype="bf16", kind=MODEL, frontend=frontend)


def _combination(  # noqa: PLR0913 - what a key names
    *,
    program: str,
    tensors: int,
    source: str = "",
    target: str = "cpu",
    dtype: str = "f32",
    shape: tuple[int, ...] = (64, 64),
    shapes: tuple[tuple[int, ...], ...] = (),
    integers: tuple[int, ...] = (),
    kind: str = "ttnn",
    frontend: str = "ast",
    isa: str = "host",
    options: dict[str, Any] = {},  # noqa: B006 - never written to
) -> Combination:
    """A combination.

    Args:
        program: The function's name.
        tensors: The number of its tensors.
        source: Its text; "" if it is one of `PROGRAMS`.
        target: Target of the device, or of torch and numpy arguments.
        dtype: Element type of the tensors; ``mixed`` alternates.
        shape: Shape of the tensors.
        shapes: Shape of each tensor, if they differ.
        integers: The indices of integer tensors, which ignore `dtype`.
        kind: Kind of the tensors: ttnn, torch, numpy, or sharded, strided or broadcast ones; or `MODEL`.
        frontend: The frontend.
        isa: The instruction set.
        options: Further options of the decorator.
    """
    shapes = shapes or (shape,) * tensors
    own = ("f32", "bf16") if dtype == "mixed" else (dtype,)
    dtypes = [INTEGER if index in integers else own[index % len(own)] for index in range(tensors)]
    extents = "+".join("x".join(map(str, each)) for each in dict.fromkeys(shapes))
    others = [f"{name}={value}" for name, value in options.items()]
    key = "/".join([program, target, dtype, extents, kind, frontend, isa, *others])
    return {
        "key": key, "program": program, "source": source, "target": target, "dtype": dtype,
        "shapes": [list(each) for each in shapes], "dtypes": dtypes, "kind": kind, "frontend": frontend, "isa": isa,
        "options": options,
    }  # fmt: skip


def cosh(x: Any) -> Any:
    """The document's."""
    return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)


def unary_chain(x: Any) -> Any:
    """Long enough for a lookup table, and with a rare path."""
    return ttnn.exp(ttnn.neg(ttnn.sin(ttnn.abs(x))))


def add_tree(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    """More inputs than DST tiles in source order."""
    left = ttnn.add(ttnn.add(a, b), ttnn.add(c, d))
    return ttnn.add(left, ttnn.add(ttnn.add(e, f), ttnn.add(g, h)))


def add_ladder(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any) -> Any:  # noqa: PLR0913, PLR0917
    """More than a wide kernel of a chip may have."""
    total = a
    for tensor in (b, c, d, e, f, g, h, i, j):
        total = ttnn.add(total, tensor)
    return total


def tree_of_30(x: Any, y: Any) -> Any:
    """Split by loop fission."""
    value = x
    for _ in range(4):
        left = ttnn.tanh(ttnn.multiply(value, 0.5))
        right = ttnn.sigmoid(ttnn.add(value, y))
        value = ttnn.exp(ttnn.neg(ttnn.add(ttnn.multiply(left, right), 0.25)))
    return ttnn.add(ttnn.multiply(value, 2.0), y)


def chain_of_40(x: Any) -> Any:
    """Likewise, of one input."""
    for _ in range(10):
        x = ttnn.exp(ttnn.sigmoid(ttnn.tanh(ttnn.multiply(x, 0.5))))
    return x


def gate_up(gate: Any, up: Any) -> Any:
    """Clamps, constants and a sigmoid."""
    gate = ttnn.minimum(gate, 7.0)
    up = ttnn.maximum(ttnn.minimum(up, 7.0), -7.0)
    return ttnn.multiply(ttnn.add(up, 1.0), ttnn.multiply(gate, ttnn.sigmoid(ttnn.multiply(gate, 1.702))))


def digamma_series(x: Any) -> Any:
    """Subtractions and a logarithm."""
    inverse = ttnn.reciprocal(x)
    square = ttnn.multiply(inverse, inverse)
    series = ttnn.add(ttnn.multiply(square, -1 / 252), 1 / 120)
    series = ttnn.subtract(ttnn.multiply(series, square), 1 / 12)
    return ttnn.add(ttnn.subtract(ttnn.log(x), ttnn.multiply(inverse, 0.5)), ttnn.multiply(series, square))


def swiglu(gate: Any, up: Any) -> Any:
    """A table for one input beside another input."""
    return ttnn.multiply(ttnn.silu(gate), up)


def gelu_chain(x: Any) -> Any:
    """A long function of one bfloat16."""
    for _ in range(4):
        x = ttnn.add(ttnn.multiply(ttnn.gelu(x), 1.5), 0.25)
    return x


def two_results(a: Any, b: Any) -> Any:
    """One of which the other reads."""
    total = ttnn.add(a, b)
    return total, ttnn.exp(total)


def shared_value(a: Any, b: Any) -> Any:
    """With two users, over which a chip target fuses nothing."""
    product_ = ttnn.multiply(a, b)
    return ttnn.add(ttnn.sin(product_), ttnn.cos(product_))


def both_signs(x: Any) -> Any:
    """Exponentials of a value and of its negative."""
    return ttnn.multiply(ttnn.tanh(x), ttnn.exp(ttnn.neg(x)))


def returned_argument(a: Any, b: Any) -> Any:
    """Beside a result."""
    return a, ttnn.add(a, b)


def read_twice(a: Any, b: Any) -> Any:
    """An input at both ends of a chain."""
    return ttnn.add(ttnn.multiply(ttnn.exp(ttnn.sin(ttnn.tan(a))), a), b)


def nan_chain(a: Any, b: Any) -> Any:
    """Arithmetic whose NaN a chip target stores as infinity."""
    value = ttnn.add(a, b)
    for _ in range(3):
        value = ttnn.multiply(ttnn.add(value, a), b)
    return value


def operators(a: Any, b: Any) -> Any:
    """Of Python's."""
    return -(a * 2.0 + b) / 3.0 - abs(a)


PROGRAMS = {
    function.__name__: function
    for function in (
        cosh, unary_chain, add_tree, add_ladder, tree_of_30, chain_of_40, gate_up, digamma_series, swiglu, gelu_chain,
        two_results, shared_value, both_signs, returned_argument, read_twice, nan_chain, operators,
    )
}  # fmt: skip
