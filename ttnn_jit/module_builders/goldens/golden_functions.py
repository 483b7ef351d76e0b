"""Goldens by the class of an operation: ``golden.get_golden_function`` and the maps of goldens."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from xdsl import ir
from xdsl.dialects import builtin

from ttnn_jit.dialects.text_calls import text_attributes
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.module_builders.base.torch_types import dtype_of, type_of
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor, apply_sharding, apply_unsharding
from ttnn_jit.module_builders.goldens.op_goldens import OpGolden, rounded
from ttnn_jit.ops.families.text_operation import DenseNumbers
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.ttmlir.attribute_builders import attribute_from
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_operations import Operation
from ttnn_jit.ttmlir.mlir_types import RankedTensorType, Type
from ttnn_jit.ttmlir.mlir_values import value_of
from ttnn_jit.ttmlir.mlir_views import view_class
from ttnn_jit.ttmlir.op_views import created_operation
from ttnn_jit.ttmlir.wrapping import wrapped

GoldenFunction = Callable[..., Any]


def get_golden_function(op_class: type, **kwargs: Any) -> GoldenFunction:  # noqa: ARG001 - of upstream's special cases
    """The golden of an operation: a function of its operands, its attributes, and the element type of its result.

    Operands are torch tensors or `GoldenMapTensor`, in the order of the declaration or by name; attributes are of MLIR
    or of Python. The results are rounded to the element type: that of the first operand if none is given.

    Args:
        op_class: The class of the operation, ``ttir.AddOp``.
        **kwargs: Of no effect.

    Raises:
        KeyError: The operation has no golden.
    """
    name = _name_of(op_class)
    if name not in text_operations():
        raise KeyError(f"{name or op_class} has no golden")

    def golden(*args: Any, **keywords: Any) -> Any:
        return _evaluated(name, args, keywords)

    golden.__name__ = f"{name.replace('.', '_')}_golden"
    golden.__doc__ = f"The golden of ``{name}``."
    return golden


def get_chisel_golden_function(op_class: type) -> Callable[[Any, Mapping[str, Any]], Any] | None:
    """The golden of an operation that is there: ``golden(op, inputs)``; None if it has none.

    `inputs` are `GoldenMapTensor` or torch tensors by the names of operands; a list for an operand of any number.
    """
    if _name_of(op_class) not in text_operations():
        return None

    def golden(op: Operation, inputs: Mapping[str, Any]) -> Any:
        held = op.held
        values: dict[ir.SSAValue, Any] = {}
        for name, own in named_operands(held).items():
            given = inputs.get(name)
            listed = given if isinstance(given, list | tuple) else [given] * len(own)
            values |= dict(zip(own, listed, strict=True))
        kinds = [each.type.element_type for each in held.results]
        return _results(held, values, [wrapped(each) for each in kinds])

    return golden


def unpack_mlir_attr(attr: Any) -> Any:
    """An attribute of MLIR as a Python value: a number, a bool, a text, a list, an array; a value of Python stays."""
    held = getattr(attr, "held", None)
    if held is None:
        return [*attr] if isinstance(attr, tuple) else attr
    found = text_attributes.value_of(held)
    if isinstance(found, DenseNumbers):
        numbers = found.numbers if found.splat is None else [found.splat] * math.prod(found.shape)
        return np.array(numbers).reshape(found.shape)
    return [*found] if isinstance(found, tuple) else found


def mlir_type_to_torch_dtype(mlir_type: Type) -> torch.dtype:
    """The dtype of torch of an element type.

    Raises:
        TypeError: torch has none.
    """
    return dtype_of(mlir_type)


class _Goldens(Mapping[type, Any]):
    """Class of an operation -> its golden."""

    def __init__(self, find: Callable[[type], Any]) -> None:
        self._find = find

    def __getitem__(self, op_class: type) -> Any:
        if _name_of(op_class) not in text_operations():
            raise KeyError(op_class)
        return self._find(op_class)

    def __iter__(self) -> Iterator[type]:
        known = {*tables.operation_names()}
        return (view_class(name) for name in text_operations() if name in known)

    def __len__(self) -> int:
        return sum(1 for _ in self)


GOLDEN_MAPPINGS: Mapping[type, GoldenFunction] = _Goldens(get_golden_function)
"""Class of an operation -> its golden on tensors and attributes."""
CHISEL_GOLDEN_MAPPINGS: Mapping[type, Any] = _Goldens(get_chisel_golden_function)
"""Class of an operation -> its golden on the operation and its inputs by name."""


def _name_of(op_class: Any) -> str:
    return str(getattr(op_class, "OPERATION_NAME", ""))


def _evaluated(name: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """The results of an operation that is made for its golden."""
    row = tables.operation_rows(name)[0]
    kinds = [each for each in args if isinstance(each, Type)]
    kinds += [keywords[key] for key in ("output_type_mlir", "output_type") if keywords.get(key) is not None]
    operand_names = [each.name for each in row.operands]
    attribute_names = [each.name for each in row.attributes]
    given = {key: each for key, each in keywords.items() if key in {*operand_names, *attribute_names}}
    waiting = [each for each in operand_names if each not in given]
    for each in (each for each in args if not isinstance(each, Type)):
        names = waiting if _is_operand(each) or (each is None and waiting) else attribute_names
        given[next(key for key in names if key not in given)] = each
    block = ir.Block()
    values: dict[ir.SSAValue, Any] = {}
    operands = {key: _argument(block, values, given.get(key)) for key in operand_names}
    rows = {each.name: each.kind for each in row.attributes}
    attributes = {key: attribute_from(given[key], rows[key]) for key in attribute_names if given.get(key) is not None}
    first = next(iter(values.values()), None)
    kinds = kinds or [type_of(torch.float32 if first is None else first.dtype)]
    count = sum(each.count != "?" for each in row.results) or len(row.results)
    types = [RankedTensorType.get([1], kinds[min(at, len(kinds) - 1)]) for at in range(count)]
    op = created_operation(row, operands, attributes, types, Location.unknown().held)
    return _results(op, values, [each.element_type for each in types])


def _is_operand(given: Any) -> bool:
    listed = given if isinstance(given, list | tuple) else [given]
    return bool(listed) and all(isinstance(each, torch.Tensor | GoldenMapTensor) for each in listed)


def _argument(block: ir.Block, values: dict[ir.SSAValue, Any], given: Any) -> Any:
    """A value, or several, in the place of tensors."""
    if given is None:
        return None
    if isinstance(given, list | tuple):
        return [_argument(block, values, each) for each in given]
    kind = builtin.TensorType(type_of(given.dtype).held, [*given.shape])
    made = block.insert_arg(kind, len(block.args))
    values[made] = given
    return value_of(made)


def _results(op: ir.Operation, values: Mapping[ir.SSAValue, Any], kinds: list[Any]) -> Any:
    maps = {
        key: each if isinstance(each, GoldenMapTensor) else GoldenMapTensor({0: each}, (1, 1))
        for key, each in values.items()
    }
    mesh = next((each.mesh_shape for each in maps.values()), (1, 1))
    found = OpGolden(op, maps, mesh).with_open_shapes().results()
    are_plain = values and all(isinstance(each, torch.Tensor) for each in values.values())
    tensors = [
        GoldenMapTensor(rounded(parts, dtype_of(kinds[min(at, len(kinds) - 1)])), mesh)
        for at, parts in enumerate(found)
    ]
    results = [each.shard_at(0) for each in tensors] if are_plain else tensors
    return results[0] if len(results) == 1 else tuple(results)


__all__ = [
    "CHISEL_GOLDEN_MAPPINGS",
    "GOLDEN_MAPPINGS",
    "GoldenMapTensor",
    "apply_sharding",
    "apply_unsharding",
    "get_chisel_golden_function",
    "get_golden_function",
    "mlir_type_to_torch_dtype",
    "unpack_mlir_attr",
]
