"""Every argument of every operation and host function, with two values each, and the result of each call.

    python -m tests.argument_walk ORDER [NAME...]

runs all calls (those of operations of these names) in an order, and prints what each gives as JSON. In the order
`ALONE` every operation forgets its programs before each call; with the disk cache off, that is what the others must
give.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

import ttnn_jit
from tests.host_calls import HOST, NAMES, Made, host_arguments, made, precisions
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ops.language.config_kinds import PrecisionKind
from ttnn_jit.ops.language.kinds import (
    FloatKind,
    FloatsKind,
    IndexKind,
    IndicesKind,
    MemberKind,
    NameKind,
    NumberKind,
    PairsKind,
)
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.language.parameter import (
    CHOICE,
    CONFIG,
    DTYPE,
    ELEMENT_TYPE,
    FLAG,
    IGNORED,
    LAYOUT,
    OPTIONAL_LAYOUT,
    OUTPUT,
    Parameter,
)
from ttnn_jit.ops.result_options import PER_RESULT_KINDS
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.calling.eager_functions import _FUNCTIONS, _NAMES
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation
from ttnn_jit.ttnn.functions.gradients import GRADIENTS
from ttnn_jit.ttnn.tensors.complex_tensors import ComplexTensor

ANY_SHAPES = (5, 40)
ALONE = "alone"


class Call(NamedTuple):
    """One call of a function: its name in every process, and a function that runs it on tensors that it creates."""

    label: str
    run: Callable[[], Any]


def functions() -> Mapping[str, TtnnOperation]:
    """Every eager operation by its name, including gradients and in-place operations."""
    return {**{name: _FUNCTIONS[name] for name in _NAMES}, **GRADIENTS}


def calls(names: Sequence[str] = (), targets: Sequence[str] = ("cpu", "wormhole_b0")) -> Iterator[Call]:
    """All calls, or those of the named functions, on a device without rules and on one of a chip."""
    known = functions()
    for target in targets:
        device = ttnn.open_device(device_id=0, target=target)
        for name in names or (*known, *HOST):
            function = known[name] if name in known else getattr(ttnn, name)
            for own, values in _arguments_of(name, function):
                yield Call(f"{target} {name}{own}", _runner(function, values, device))


def _arguments_of(name: str, function: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The arguments of a function's calls, by parameter, each with a label."""
    if not isinstance(function, TtnnOperation):
        yield from host_arguments(name, function)
        return
    for index, operation in enumerate(function.__ttnn_overloads__):
        yield from ((f"#{index} {own}", values) for own, values in _arguments(operation))


def _runner(function: Any, values: Mapping[str, Any], device: Any) -> Callable[[], Any]:
    return lambda: function(**{name: made(value, device) for name, value in values.items()})


def arguments_of_declaration(operation: Operation) -> Iterator[dict[str, Any]]:
    """The arguments of calls of one declaration with its test values."""
    for shapes, statics in shapes_and_attributes(operation):
        yield _base(operation, shapes, statics)


def shapes_and_attributes(operation: Operation) -> Sequence[Any]:
    """Shapes of tensors, and the attributes, of the calls that a declaration is tested with."""
    return operation.examples or (((ANY_SHAPES,) * operation.arity, operation.tested_attributes),)


def _arguments(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    """The arguments of calls of one declaration, by parameter, each with a label."""
    for number, (shapes, statics) in enumerate(shapes_and_attributes(operation)):
        base = _base(operation, shapes, statics)
        yield f"{number}", base
        for name, value in _others(operation, base):
            yield f"{number} {name}={_shown(value)}", {**base, name: value}
        if number == 0:
            yield "omitted", {name: value for name, value in base.items() if value is not None}
            like = next(each for each in base.values() if isinstance(each, Made) or type(each) is list)
            target = like if isinstance(like, Made) else like[0]
            yield "output_tensor", {**base, "output_tensor": target._replace(seed=9)}
            for name, values in _of_all().items():
                yield from ((f"{name}={_shown(value)}", {**base, name: value}) for value in values)


def _base(operation: Operation, shapes: Sequence[Any], statics: Sequence[Any]) -> dict[str, Any]:
    choices = dict(operation.fixed_keywords)
    attributes = {each.name: value for each, value in zip(operation.attributes, statics, strict=True)}
    allowed = getattr(operation, "operand_dtypes", ()) or (operation.dtypes,) * len(shapes)
    domain = operation.probe.domain
    tensors = [
        None if shape is None else Made(tuple(shape), _dtype(dtypes), index, domain)
        for index, (shape, dtypes) in enumerate(zip(shapes, allowed * len(shapes), strict=False))
    ]
    if operation.is_variadic:
        return {operation.operands[0].name: tensors, **attributes, **choices}
    named = {each.name: value for each, value in zip(operation.operands, tensors, strict=True) if value is not None}
    return {**named, **attributes, **choices}


def _dtype(allowed: frozenset[DataType]) -> DataType:
    for dtype in (ttnn.float32, ttnn.bfloat16, ttnn.int32, ttnn.uint32):
        if dtype in allowed:
            return dtype
    return min(allowed, key=lambda dtype: dtype.value)


def _others(operation: Operation, base: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Different values from those of `base` for each parameter of the declaration, by its name."""
    for parameter in operation.parameters:
        for value in _values_beside(parameter, operation, base):
            yield parameter.name, value


def _values_beside(parameter: Parameter, operation: Operation, base: Mapping[str, Any]) -> Iterator[Any]:  # noqa: C901, PLR0912 - a case for each kind
    value, kind = base.get(parameter.name, parameter.default), parameter.kind
    if parameter.is_operand:
        yield from _operands_beside(parameter, operation, value)
    elif kind is FLAG:
        yield not value
    elif isinstance(kind, (FloatKind, NumberKind)):
        yield from (0.0, -0.0, 1.0, 2.0) if not isinstance(value, int) else (value + 1, 0)
    elif isinstance(kind, FloatsKind):
        yield from ((1.0, 0.0), (1.0, -0.0), (1.0, 2.0))
    elif isinstance(kind, IndexKind):
        yield from ((value or 0) + step for step in (1, -1))
    elif isinstance(kind, IndicesKind) and isinstance(value, (list, tuple)):
        yield from (tuple(reversed(value)), tuple(each + 1 for each in value), tuple(value[:-1]))
    elif isinstance(kind, IndicesKind):
        yield from (0, -1, (0, 1))
    elif isinstance(kind, PairsKind):
        yield tuple((second, first) for first, second in value)
        yield tuple((first + 1, second) for first, second in value)
    elif isinstance(kind, NameKind):
        yield from (name for name in NAMES if name != value)
        yield None
    elif kind in {LAYOUT, OPTIONAL_LAYOUT}:
        yield from (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT)
    elif isinstance(kind, MemberKind):
        yield from kind.members
    elif kind is ELEMENT_TYPE:
        yield from (ttnn.bfloat16, ttnn.float32, ttnn.int32)
    elif kind is IGNORED:
        yield from (True, False)
    elif isinstance(kind, PrecisionKind):
        yield from precisions()
    else:
        assert kind in {CHOICE, CONFIG, DTYPE, OUTPUT, *PER_RESULT_KINDS}, (
            f"{operation.name}: nobody says what `{parameter.name}` may be"
        )


def _operands_beside(parameter: Parameter, operation: Operation, value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield [each._replace(dtype=ttnn.bfloat16) for each in value]
        yield value[:-1]
        return
    if getattr(parameter.kind, "or_number", False):
        yield from (2.0, -3.0, 0.0, -0.0) if operation.dtypes & FLOATS else (2, -3)
    if isinstance(value, Made):
        yield value._replace(layout=ttnn.ROW_MAJOR_LAYOUT)
        yield from (value._replace(dtype=each) for each in (ttnn.bfloat16, ttnn.uint16) if each is not value.dtype)
        if parameter.is_optional:
            yield None


@cache
def _of_all() -> Mapping[str, tuple[Any, ...]]:
    """Result options of operations, and two values of each."""
    unary = ttnn.UnaryWithParam
    relus = (["relu"], ["neg"], [ttnn.sigmoid])
    numbers = [[unary(ttnn.UnaryOpType.ADD_UNARY_SFPU, number)] for number in (1.0, 2.0, 0.0, -0.0)]
    fused = [
        ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(1, 1),
            in0_block_w=1,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=2,
            per_core_N=2,
            transpose_mcast=False,
            fused_activation=activation,
        )
        for activation in (None, unary(ttnn.UnaryOpType.RELU))
    ]
    return {
        "memory_config": (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG),
        "output_mem_config": (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG),
        "dtype": (ttnn.float32, ttnn.bfloat16, ttnn.int32),
        "activations": (*relus, *numbers),
        "input_tensor_a_activations": (*relus[:2], numbers[1]),
        "input_tensor_b_activations": (*relus[:2], numbers[1]),
        "program_config": tuple(fused),
        "core_grid": (ttnn.CoreGrid(y=1, x=1),),
        "compute_kernel_config": precisions(),
    }


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return f"ttnn.{value.__name__}" if isinstance(value, TtnnOperation) else repr(value)


def outcome(call: Call) -> str:
    """The outcome of a call: a hash of elements and metadata of its results, or the error."""
    try:
        found = call.run()
    except TtnnJitError as error:
        return f"{type(error).__name__}: {error.message}"
    return hashlib.sha256(repr(_described(found)).encode()).hexdigest()


def _described(found: Any) -> Any:
    """The whole outcome of a call, in the form of `repr`."""
    if isinstance(found, (list, tuple)):
        return [_described(each) for each in found]
    if isinstance(found, ComplexTensor):
        return _described([found.real, found.imag])
    if not isinstance(found, ttnn.Tensor):
        return found
    elements = ttnn.to_torch(found).contiguous().flatten()
    stored = elements.view(torch.uint8).numpy().tobytes() if elements.numel() else b""
    return stored, str(found.dtype), str(found.layout), repr(found.memory_config()), tuple(found.shape)


def ordered(found: list[Call], order: str) -> list[Call]:
    """The calls in order, reversed, or shuffled by `order`; no result depends on it."""
    if order == "reversed":
        return found[::-1]
    if order not in {ALONE, "forward"}:
        random.Random(order).shuffle(found)
    return found


def main(arguments: Sequence[str]) -> None:
    order, *names = arguments
    warnings.simplefilter("ignore")
    told = {}
    for call in ordered([*calls(names)], order):
        if order == ALONE:
            ttnn_jit.cache_clear()
        told[call.label] = outcome(call)
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
