"""Every operation on integers, in every integer type: exact in every executor."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.properties.texts.test_backends_agree import by_numba
from tests.sampling import shown
from tests.unit.codegen.programs import lowered, native, scheduled
from ttnn_jit import ttnn
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops import ELEMENTWISE, operations_on
from ttnn_jit.specs.dtypes import INTEGERS
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

BY_NAME = sorted(INTEGERS, key=lambda dtype: dtype.name)
ON_INTEGERS = operations_on(INTEGERS)


def arguments(arity, dtype):
    """Every pair or triple of extreme values and distances of shifts, then random bits."""
    generator = torch.Generator().manual_seed(arity)
    low, high = dtype.values[0], dtype.values[-1]
    extremes = torch.tensor(
        [value for value in (0, 1, 2, -1, 31, 32, low, low + 1, high, high - 1, high // 2 + 1) if value in dtype.values]
    )
    if arity > 1:
        extremes = torch.cartesian_prod(*[extremes] * arity)
    random = torch.randint(low, high + 1, (2048, arity), generator=generator, dtype=torch.int64)
    small = torch.randint(0, 40, (512, arity), generator=generator, dtype=torch.int64)
    columns = torch.cat([extremes.reshape(-1, arity), random, small])
    count = 32 * (len(columns) // 32)
    return [column[:count].to(dtype.torch).contiguous() for column in columns.T]


def reference(operation, tensors):
    """Torch's own integers if it computes with that type, otherwise 64-bit ones, truncated to its width."""
    dtype = tensors[0].dtype
    wide = tensors if dtype in {torch.int32, torch.uint8} else [tensor.to(torch.int64) for tensor in tensors]
    return operation.golden(torch, *wide).to(torch.int64).to(dtype)


def test_operations_support_all_integer_types_or_none():
    narrow = {dtype for dtype in INTEGERS if dtype.compute.is_signed and not dtype.is_compute_type}
    rest = INTEGERS - narrow  # kernels shift zeros in
    assert {operation.dtypes & rest for operation in ELEMENTWISE} == {frozenset(), rest}


@pytest.mark.parametrize("arity", [1, 2, 3])
@pytest.mark.parametrize("dtype", BY_NAME, ids=lambda dtype: dtype.mlir)
def test_operations_on_integers_are_exact(dtype, arity):
    tensors = arguments(arity, dtype)
    arrays = [tensor.reshape(32, -1).numpy() for tensor in tensors]
    spec = TensorSpec(arrays[0].shape, dtype)
    of_arity = [operation for operation in ON_INTEGERS if operation.arity == arity]
    operations = shown(f"{dtype} {arity}", of_arity)
    calls = [(operation.tile_name, *range(arity)) for operation in operations]
    module = scheduled([spec] * arity, calls, results=range(arity, arity + len(calls)))
    results = zip(native(module, arrays), by_numba(module, arrays), interpret(module, arrays), strict=True)
    for operation, found in zip(operations, results, strict=True):
        expected = reference(operation, tensors).reshape(32, -1).numpy()
        assert all(np.array_equal(got, expected) for got in found), operation


@pytest.mark.parametrize("operation", ON_INTEGERS, ids=lambda operation: operation.ttnn_name)
def test_an_operation_on_integers_is_exact_eagerly_and_in_a_function(device, operation):
    tensors = arguments(operation.arity, DataType.INT32)
    function = partial(getattr(ttnn, operation.name), **operation.fixed_keywords)
    expected = reference(operation, tensors)
    assert torch.equal(ttnn_jit.jit(enable_cache=False)(lambda *xs: function(*xs))(*tensors), expected)
    on_device = [ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device) for tensor in tensors]
    assert torch.equal(function(*on_device).to_torch(), expected)


DTYPES = st.sampled_from(BY_NAME)


@st.composite
def programs(draw):
    """(dtype, calls on two arguments, numbers and earlier results)."""
    dtype = draw(DTYPES)
    values, calls = st.integers(dtype.values[0], dtype.values[-1]), []
    for number in range(draw(st.integers(2, 6))):
        operation = draw(st.sampled_from(ON_INTEGERS))
        tensors = st.integers(0, 1 + number).map(lambda index: ("tensor", index))
        operands = [draw(tensors if k == 0 else st.one_of(tensors, tensors, values)) for k in range(operation.arity)]
        calls.append((operation, operands))
    return dtype, calls


def carried_out(calls, tensors, call):
    """All values, arguments first; ``call(operation, operands)`` makes one."""
    values = list(tensors)
    for operation, operands in calls:
        values.append(call(operation, [values[o[1]] if isinstance(o, tuple) else o for o in operands]))
    return values


@given(programs(), st.sampled_from(["cpu", "wormhole_b0"]), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_an_integer_program_has_torchs_results_in_every_executor(program, target, seed):
    dtype, calls = program
    generator = torch.Generator().manual_seed(seed)
    tensors = [
        torch.randint(dtype.values[0], dtype.values[-1] + 1, (32, 64), generator=generator).to(dtype.torch)
        for _ in range(2)
    ]
    (*_, expected) = carried_out(calls, tensors, torch_call)
    spec = TensorSpec((32, 64), dtype, Layout.TILE)
    builder = ModuleBuilder("program", resolve_target(target), None)
    arguments = [(builder.argument(spec), spec) for _ in tensors]
    (*_, result) = carried_out(calls, arguments, lambda each, operands: builder.operation(each, operands, (), None))
    module = lowered(builder.finish([result[0]]))
    arrays = [tensor.numpy() for tensor in tensors]
    for (got,) in (native(module, arrays), by_numba(module, arrays), interpret(module, arrays)):
        assert np.array_equal(got, expected.numpy())


def torch_call(operation, operands):
    dtype = next(operand.dtype for operand in operands if isinstance(operand, torch.Tensor))
    shape = next(operand.shape for operand in operands if isinstance(operand, torch.Tensor))
    full = [o if isinstance(o, torch.Tensor) else torch.full(shape, o, dtype=torch.int64).to(dtype) for o in operands]
    return reference(operation, full)
