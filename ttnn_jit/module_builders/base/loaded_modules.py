"""Modules of texts with goldens for every value, and modules of one operation each."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from xdsl import ir
from xdsl.dialects import builtin
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp

from ttnn_jit.dialects.text_calls.index_limits import index_limit
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.text_calls.op_calls import bound_op
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor
from ttnn_jit.dialects.text_calls.text_attributes import symbol_of
from ttnn_jit.frontend.ir.texts import entries_of, functions_in
from ttnn_jit.module_builders.base.built_functions import FunctionBuilder
from ttnn_jit.module_builders.base.torch_types import dtype_of
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.golden_steps import GoldenSteps
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_operations import Module
from ttnn_jit.ttmlir.mlir_values import Value, value_of
from ttnn_jit.ttmlir.mlir_views import view_of
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import mesh_of
from ttnn_jit.ttmlir.wrapping import wrapped

_INTEGERS = (0, 256)
"""The range of integers that no operation reads as indices."""
GivenInputs = Mapping[str, Sequence[torch.Tensor | Mapping[int, torch.Tensor]]]
"""Function -> for each argument, its tensor, or device -> its part."""


def load(kind: type[FunctionBuilder], text: str, golden_inputs: GivenInputs | None) -> tuple[Module, FunctionBuilder]:
    """The module of a text, and a builder with the golden of every value.

    Args:
        kind: The class of the builder.
        text: The text.
        golden_inputs: The inputs of functions; others are random, indices below the limits of what reads them.

    Raises:
        MLIRError: The text is invalid.
        CompileError: An operation has no golden.
    """
    module = Module.parse(text, Context())
    mesh = mesh_of(module.held) if "ttcore.meshes" in module.held.attributes else mesh_of_text(module.held)
    extents = ((1,) * (2 - len(mesh)) + tuple(mesh))[-2:]
    builder = kind(Context(), Location.unknown(), "mesh", OrderedDict(zip("xy", extents, strict=True)))
    functions = functions_in(module.held)
    entries = entries_of(module.held)
    builder._nested_funcs += [name for name in functions if name not in entries]
    for name in entries:
        given = (golden_inputs or {}).get(name)
        _fill(builder, module.held, functions[name], given)
    return module, builder


def _fill(
    builder: FunctionBuilder,
    module: builtin.ModuleOp,
    function: FuncOp,
    given: Sequence[torch.Tensor | Mapping[int, torch.Tensor]] | None,
) -> None:
    """Gives a builder the goldens of a function."""
    mesh = builder.mesh_shape
    arguments = [each for each in function.body.block.args if is_tensor(each.type)]
    if given is None:
        inputs = [_drawn(function, each, math.prod(mesh)) for each in arguments]
    else:
        inputs = [GoldenMapTensor({0: each} if isinstance(each, torch.Tensor) else each, mesh) for each in given]
    parts = [each.shard_at(0) if len(each.shard_map) == 1 else tuple(each.parts(math.prod(mesh))) for each in inputs]
    steps = GoldenSteps(module, function.sym_name.data, parts, mesh)
    for value, tensor in zip(arguments, inputs, strict=True):
        builder._set_golden_tensor(value_of(value), tensor)
    steps.run()
    for held in steps.values:
        value = value_of(held)
        if held in arguments and held not in steps.computed:
            continue
        if held in steps.computed:
            builder.keep_computed(value, steps.tensor(held), steps.computed[held])
        else:
            builder._set_golden_tensor(value, steps.tensor(held))
    returned = function.body.block.last_op
    outputs = [value_of(each) for each in returned.operands] if isinstance(returned, ReturnOp) else []
    builder._func_ops_generated[view_of(function)] = ([value_of(each) for each in arguments], outputs)


def _drawn(function: FuncOp, argument: ir.BlockArgument, devices: int) -> GoldenMapTensor:
    """A random argument: a part per device if it is presharded."""
    attributes = function.arg_attrs.data[argument.index].data if function.arg_attrs is not None else {}
    is_presharded = "presharded" in str(attributes.get("ttcore.shard_status", "")) and devices > 1
    kind: Any = wrapped(argument.type)
    limit = index_limit(argument)
    parts = {device: random_tensor(kind, limit) for device in range(devices if is_presharded else 1)}
    return GoldenMapTensor(parts, (devices,))


def random_tensor(kind: Any, limit: int | None) -> torch.Tensor:
    """A random tensor: normally distributed floats, flags, integers below a limit or of one byte."""
    dtype, shape = dtype_of(kind.element_type), tuple(kind.shape)
    if dtype.is_floating_point or dtype.is_complex:
        numbers = torch.randn(shape) if limit is None else torch.randint(0, max(1, limit), shape)
        return numbers.to(dtype) if not dtype.is_complex else torch.randn(shape, dtype=dtype)
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, dtype=dtype)
    low, high = _INTEGERS if limit is None else (0, max(1, limit))
    return torch.randint(low, min(high, torch.iinfo(dtype).max + 1), shape).to(dtype)


# --- Modules of one operation -----------------------------------------------------------------------------------------


def split(module: Module, builder: FunctionBuilder) -> list[tuple[Module, FunctionBuilder]]:
    """A module for each operation of a module's programs and of what they call, with a builder that has its goldens."""
    functions = functions_in(module.held)
    found = []
    for name in entries_of(module.held):
        for op in _computing(functions, functions[name]):
            found.append(_alone(module.held, builder, op))
    return found


def _computing(functions: Mapping[str, FuncOp], function: FuncOp) -> Iterator[ir.Operation]:
    """The operations of a function that compute, in the order in which they run."""
    for op in function.body.block.ops:
        if isinstance(op, CallOp):
            callee = functions.get(symbol_of(op.callee))
            if callee is not None:
                yield from _computing(functions, callee)
        elif not isinstance(op, ReturnOp) and bound_op(op).operation.role not in {Role.NOTHING, Role.ALLOCATES}:
            yield op


def _alone(module: builtin.ModuleOp, builder: FunctionBuilder, op: ir.Operation) -> tuple[Module, FunctionBuilder]:
    """A module with one operation, whose function has the operation's operands as arguments."""
    operands = [*dict.fromkeys(op.operands)]
    allocated = [each for each in operands if Value(each) not in builder._goldens]
    given = [each for each in operands if each not in allocated]
    block = ir.Block(arg_types=[each.type for each in given])
    mapping: dict[ir.SSAValue, ir.SSAValue] = dict(zip(given, block.args, strict=True))
    for each in allocated:  # tensors without elements, and devices
        assert isinstance(each, ir.OpResult), "arguments have goldens"
        copied = each.op.clone(mapping)
        block.add_op(copied)
        mapping[each] = copied.results[each.index]
    made = op.clone(mapping)
    made.location = op.location
    block.add_op(made)
    tensors: list[ir.SSAValue] = [each for each in made.results if is_tensor(each.type)]
    block.add_op(ReturnOp(*tensors))
    types = [each.type for each in given], [each.type for each in tensors]
    function = FuncOp("main", builtin.FunctionType.from_lists(*types), ir.Region(block))
    declared = [each.clone() for each in module.body.block.ops if "mesh" in each.properties]
    single = builtin.ModuleOp([*declared, function], attributes=dict(module.attributes))
    alone = type(builder)(
        Context(), Location.unknown(), "mesh", OrderedDict(zip("xy", builder.mesh_shape, strict=False))
    )
    for old, new in zip(given, block.args, strict=True):
        alone._set_golden_tensor(value_of(new), builder._get_golden_tensor(Value(old)))
    for old_result, new_result in zip(op.results, made.results, strict=True):
        if is_tensor(new_result.type):
            alone._set_golden_tensor(value_of(new_result), builder._get_golden_tensor(Value(old_result)))
    alone._func_ops_generated[view_of(function)] = (
        [value_of(each) for each in block.args],
        [value_of(each) for each in tensors],
    )
    return Module(single), alone
