"""Every declared operation in every dtype, eager, alone in a jitted function and fused, from its declaration."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from functools import partial

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.ops import ELEMENTWISE, operations_on
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType

TORCH_DTYPE = {DataType.FLOAT32: torch.float32, DataType.BFLOAT16: torch.bfloat16}
MANTISSA_BITS = {torch.float32: 23, torch.bfloat16: 7}
SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 1.2e-38, 3.3e38, -3.3e38]
OPERATIONS = pytest.mark.parametrize("operation", operations_on(FLOATS), ids=lambda operation: operation.ttnn_name)
DTYPES = pytest.mark.parametrize("dtype", sorted(FLOATS, key=lambda d: d.name), ids=lambda dtype: dtype.mlir)


def arguments(operation, dtype):
    """Every pair or triple of special values, then random values of the declaration's domain."""
    torch.manual_seed(len(operation.name))
    low, high = operation.probe.domain
    specials = torch.cartesian_prod(*[torch.tensor(SPECIALS)] * operation.arity).reshape(-1, operation.arity)
    random = torch.empty(4096, operation.arity).uniform_(low, high)
    return [column.to(TORCH_DTYPE[dtype]).contiguous() for column in torch.cat([specials, random]).T]


def reference(operation, tensors):
    return operation.golden(torch, *[t.double() for t in tensors], *operation.tested_attributes).double()


def ulp_errors(result, exact):
    """Distance in units in the last place of the result's dtype; 0 where both are NaN or the same infinity."""
    bits = MANTISSA_BITS[result.dtype]
    _, exponent = torch.frexp(exact.abs())
    smallest = -126 - bits
    ulp = torch.ldexp(torch.ones_like(exact), (exponent - 1 - bits).clamp(min=smallest))
    got = result.double()
    largest = (2 - 2.0**-bits) * 2.0**127
    beyond = exact.abs() >= largest + 2.0 ** (126 - bits)
    expected = torch.where(beyond, torch.copysign(torch.full_like(exact, math.inf), exact), exact)
    same = (got == expected) | (got.isnan() & expected.isnan())
    return torch.where(same, torch.zeros_like(exact), ((got - exact).abs() / ulp).nan_to_num(nan=math.inf))


@DTYPES
@OPERATIONS
def test_an_operation_is_within_its_declared_accuracy(cpu_device, operation, dtype):
    assert_within_its_bound(operation, dtype, cpu_device)


@pytest.mark.parametrize(
    ("dtype", "field"), [(DataType.FLOAT32, "max_ulp"), (DataType.BFLOAT16, "max_ulp_bf16")], ids=["f32", "bf16"]
)
def test_an_error_beyond_the_bound_names_the_field_and_the_measurement(cpu_device, dtype, field):
    sin = next(operation for operation in ELEMENTWISE if operation.name == "sin")
    stated = replace(sin, probe=replace(sin.probe, **{field: 0.25}))
    with pytest.raises(AssertionError) as failed:
        assert_within_its_bound(stated, dtype, cpu_device)
    text = str(failed.value)
    assert re.match(rf"`sin` of {dtype.mlir} is [\d.]+ ulp off at \(\S+,\), where it gives \S+; 0\.25 are stated", text)
    assert re.search(rf"`probe=Probe\({field}=[\d.]+\)`.*`make accuracy`", text)


def test_an_intermediate_overflow_is_reported_as_such():
    hypot = next(operation for operation in ELEMENTWISE if operation.name == "hypot")
    text = beyond_its_bound(hypot, DataType.FLOAT32, sys.float_info.max, 1.5, (3e38, 1.0), math.inf)
    assert text.startswith("`hypot` of f32 gives inf at (3e+38, 1.0), which is no rounding error: `emit` overflows")


def assert_within_its_bound(operation, dtype, cpu_device):
    tensors = arguments(operation, dtype)
    function = partial(getattr(ttnn, operation.name), **operation.fixed_keywords)
    values = operation.tested_attributes
    jitted = ttnn_jit.jit(enable_cache=False)(lambda *xs: function(*xs, *values))
    alone = jitted(*tensors)
    on_device = [ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=cpu_device) for t in tensors]
    eager = function(*on_device, *values).to_torch()
    assert torch.equal(alone.view(torch.uint8), eager.view(torch.uint8))
    probe = operation.probe
    bound = (probe.max_ulp if dtype is DataType.FLOAT32 else probe.max_ulp_bf16) or 0.5
    exact = reference(operation, tensors)
    errors = ulp_errors(alone, exact)
    if dtype is DataType.FLOAT32:
        errors[(alone.double() - exact).abs() <= probe.max_absolute] = 0.0
    worst = int(errors.argmax())
    assert errors[worst] <= bound, beyond_its_bound(
        operation, dtype, float(errors[worst]), bound, tuple(t[worst].item() for t in tensors), alone[worst].item()
    )


LARGEST_ULP = 2.0**24
"""Beyond this, a float32 result has no correct digit."""


def beyond_its_bound(operation, dtype, ulp, bound, at, result):
    field = "max_ulp" if dtype is DataType.FLOAT32 else "max_ulp_bf16"
    if not ulp <= LARGEST_ULP:
        return (
            f"`{operation.name}` of {dtype.mlir} gives {result!r} at {at}, which is no rounding error: `emit` "
            "overflows on the way, or loses all digits. Write it so that what is between stays in range; if attributes "
            "are out of range, state others: `probe=Probe(attributes=(1.0,))`"
        )
    needed = math.ceil(ulp * 20) / 20
    return (
        f"`{operation.name}` of {dtype.mlir} is {ulp:.3f} ulp off at {at}, where it gives {result!r}; {bound:g} are "
        f"stated. If `emit` can be no better, state so in its declaration, `probe=Probe({field}={needed:g})` or more: "
        "`make accuracy` measures its largest error and writes it to docs/accuracy.md"
    )


@DTYPES
@OPERATIONS
def test_an_operation_in_a_fused_kernel_gives_the_bits_of_eager_calls(device, operation, dtype):
    tensors = [
        ttnn.from_torch(t[: 32 * 32].reshape(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
        for t in arguments(operation, dtype)
    ]
    function = partial(getattr(ttnn, operation.name), **operation.fixed_keywords)
    values = operation.tested_attributes

    def program(*xs):
        return ttnn.neg(ttnn.multiply(function(*xs, *values), xs[0]))

    jitted = ttnn_jit.jit(enable_cache=False, graph_capture=True)(program)
    assert len(jitted.explain(*tensors).kernels) == 1
    fused, eager = jitted(*tensors).to_torch(), program(*tensors).to_torch()
    equal = fused.view(torch.uint8).reshape(-1, dtype.itemsize) == eager.view(torch.uint8).reshape(-1, dtype.itemsize)
    assert (equal.all(dim=1) | (fused.isnan() & eager.isnan()).reshape(-1)).all()


@pytest.mark.parametrize("operation", ELEMENTWISE, ids=lambda o: o.ttnn_name)
def test_an_operation_is_in_the_support_table(operation):
    assert f"ttnn.{operation.signature}" in {row["call"] for row in ttnn_jit.supported_ops()}
    assert operation.summary in getattr(ttnn, operation.name).__doc__
