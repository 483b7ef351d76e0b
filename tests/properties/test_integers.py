"""Every operation that takes integers, in every type of them: exact, whatever computes it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.codegen.tile_interpreter import interpret
from ttnn_jit.dialects import parse_module
from ttnn_jit.ops import ELEMENTWISE
from ttnn_jit.specs.dtypes import INTEGERS

CASES = [
    pytest.param(operation, dtype, id=f"{operation.ttnn_name}-{dtype.mlir}")
    for operation in ELEMENTWISE
    for dtype in sorted(operation.dtypes & INTEGERS, key=lambda d: d.name)
]


def arguments(operation, dtype):
    """Every pair or triple of extreme values and distances of shifts, then random bits."""
    generator = torch.Generator().manual_seed(len(operation.name))
    low, high = dtype.values[0], dtype.values[-1]
    extremes = torch.tensor(
        [value for value in (0, 1, 2, -1, 31, 32, low, low + 1, high, high - 1, high // 2 + 1) if value in dtype.values]
    )
    if operation.arity > 1:
        extremes = torch.cartesian_prod(*[extremes] * operation.arity)
    random = torch.randint(low, high + 1, (2048, operation.arity), generator=generator, dtype=torch.int64)
    small = torch.randint(0, 40, (512, operation.arity), generator=generator, dtype=torch.int64)
    columns = torch.cat([extremes.reshape(-1, operation.arity), random, small])
    count = 32 * (len(columns) // 32)
    return [column[:count].to(dtype.torch).contiguous() for column in columns.T]


def reference(operation, tensors):
    """Torch's own integers where it computes with that type, else those of 64 bits, cut to its width."""
    dtype = tensors[0].dtype
    wide = tensors if dtype in {torch.int32, torch.uint8} else [tensor.to(torch.int64) for tensor in tensors]
    return operation.golden(torch, *wide).to(torch.int64).to(dtype)


@pytest.mark.parametrize(("operation", "dtype"), CASES)
def test_an_operation_on_integers_is_exact(cpu_device, operation, dtype):
    tensors = arguments(operation, dtype)
    function = partial(getattr(ttnn, operation.name), **operation.chosen_by)
    expected = reference(operation, tensors)
    for backend in ("ttnn", "numba"):
        jitted = ttnn_jit.jit(enable_cache=False, backend=backend)(lambda *xs: function(*xs))
        assert torch.equal(jitted(*tensors), expected)
        if backend == "ttnn":
            module = parse_module(jitted.ir(*tensors, stage="d2m-insert-dst-register-access"))
    (interpreted,) = interpret(module, [tensor.numpy() for tensor in tensors])
    assert np.array_equal(interpreted, expected.numpy())
    on_device = [ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=cpu_device) for t in tensors]
    assert torch.equal(function(*on_device).to_torch(), expected)
