"""Operations with numeric attributes are within their bounds for any values of these."""

from __future__ import annotations

import itertools

import pytest
import torch

from benchmarks.accuracy.measure import ulp_errors
from ttnn_jit import ttnn
from ttnn_jit.ops import operations_on
from ttnn_jit.ops.language.kinds import BoolKind, IntKind, as_float32
from ttnn_jit.specs.dtypes import FLOATS

WITH_NUMBERS = [
    each
    for each in operations_on(FLOATS)
    if each.attributes and not any(isinstance(attribute.kind, IntKind | BoolKind) for attribute in each.attributes)
]
VALUES = [as_float32(value) for value in (1e-3, 0.75, 1.0, 2.5, 100.0)]


def points():
    """Every 97th number of bfloat16, and the extremes, in three orders."""
    patterns = torch.arange(-(2**15), 2**15, 97, dtype=torch.int32).to(torch.int16)
    ends = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, torch.inf, -torch.inf, torch.nan, 3e38, -3e38, 1e-40])
    x = torch.cat([patterns.view(torch.bfloat16).float(), ends])
    x = x[: len(x) // 32 * 32]
    orders = [torch.randperm(len(x), generator=torch.Generator().manual_seed(seed)) for seed in (1, 2)]
    return [each.reshape(-1, 32) for each in (x, *(x[order] for order in orders))]


@pytest.mark.parametrize("operation", WITH_NUMBERS, ids=lambda operation: operation.ttnn_name)
def test_an_operation_is_within_its_bound_for_any_positive_numbers(operation, cpu_device):
    tensors = points()[: len(operation.operands)]
    on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device) for each in tensors]
    names = [attribute.name for attribute in operation.attributes]
    for numbers in itertools.product(VALUES, repeat=len(names)):
        call = getattr(ttnn, operation.name)
        got = ttnn.to_torch(call(*on_device, **dict(zip(names, numbers, strict=True)), **operation.fixed_keywords))
        want = operation.golden(torch, *(each.double() for each in tensors), *numbers).double()
        errors = ulp_errors(got, want)
        errors[(got.double() - want).abs() <= operation.probe.max_absolute] = 0
        worst = int(errors.argmax())
        at = numbers, [float(each.flatten()[worst]) for each in tensors]
        assert errors.max() <= (operation.probe.max_ulp or 0.5), at


@pytest.mark.parametrize("operation", WITH_NUMBERS, ids=lambda operation: operation.ttnn_name)
def test_a_nan_attribute_propagates_through_the_function(operation, cpu_device):
    tensors = points()[: len(operation.operands)]
    on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device) for each in tensors]
    names = [attribute.name for attribute in operation.attributes]
    for index, name in enumerate(names):
        numbers = [torch.nan if k == index else 0.75 for k in range(len(names))]
        given = dict(zip(names, numbers, strict=True)) | dict(operation.fixed_keywords)
        got = ttnn.to_torch(getattr(ttnn, operation.name)(*on_device, **given))
        want = operation.golden(torch, *(each.double() for each in tensors), *numbers)
        assert torch.equal(got.isnan(), want.isnan()), name
