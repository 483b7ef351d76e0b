"""Goldens of some elements are those elements of the whole golden: of every elementwise op, and of products."""

from __future__ import annotations

import itertools

import pytest
import torch

from ttnn_jit.ops.families.element_goldens import elements_of_operands, elements_of_product, parts_of_operands
from ttnn_jit.ops.families.text_operation import OPTIONAL, REQUIRED, VARIADIC, TextCall, TextOperation
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.tensor_spec import TensorSpec

SHAPE = (4, 6)
NEEDS_MORE = {"stablehlo.compare", "stablehlo.constant", "stablehlo.select"}
"""Ops whose attributes or operands are not made here."""
ELEMENTWISE = {
    id(each): each for each in text_operations().values() if each.is_elementwise and each.names[0] not in NEEDS_MORE
}


def golden(operation: TextOperation, tensors: dict[str, torch.Tensor], dtype: DataType) -> torch.Tensor:
    form = operation.form
    given = {name.rstrip(OPTIONAL + VARIADIC): None for name in form.operands} | tensors
    given |= {name: 1 if value is REQUIRED else value for name, value in form.attributes.items()}
    parameters = getattr(operation, "parameters", {})
    given |= {name: 2 for name in parameters if name in {"eps", "k", "upper_limit", "lower_limit"}}
    call = TextCall(given, [TensorSpec(SHAPE, dtype)])
    call.element_types = dict.fromkeys((*tensors, "result"), dtype.mlir.removeprefix("s"))
    found = operation.golden(torch, call)
    return (found[0] if isinstance(found, list | tuple) else found).double()


def made(dtype: DataType) -> torch.Tensor:
    return torch.randint(0, 9, SHAPE) if dtype.is_integer else torch.randn(SHAPE, dtype=torch.float64)


@pytest.mark.parametrize("operation", [*ELEMENTWISE.values()], ids=lambda each: each.names[0])
def test_an_elementwise_golden_is_computed_of_any_elements_alone(operation):
    names = [name for name in operation.form.operands if name[-1] not in OPTIONAL + VARIADIC]
    for dtype in (DataType.FLOAT32, DataType.INT32):
        given = {name: made(dtype) for name in names}
        try:
            whole = golden(operation, given, dtype)
        except (RuntimeError, TypeError):  # torch has it of the other kind of numbers
            continue
        parts = parts_of_operands([*given.values()], SHAPE, 5)
        found = [golden(operation, dict(zip(names, each, strict=True)), dtype).reshape(-1) for each in parts]
        assert torch.allclose(torch.cat(found), whole.reshape(-1), rtol=1e-12, atol=0.0, equal_nan=True)
        return
    pytest.fail("it was computed of no numbers")


@pytest.mark.parametrize("at_most", [1, 2, 5, 6, 100])
def test_parts_of_broadcast_operands_are_in_row_major_order(at_most):
    operands = torch.randn(2, 1, 3), torch.randn(4, 1), torch.randn(())
    whole = [each.expand(2, 4, 3).reshape(-1) for each in operands]
    parts = [*parts_of_operands(operands, (2, 4, 3), at_most)]
    assert max(each[0].numel() for each in parts) <= max(at_most, 1)
    for number, each in enumerate(whole):
        assert torch.equal(torch.cat([part[number].reshape(-1) for part in parts]), each)
    places = torch.tensor([0, 7, 23])
    picked = elements_of_operands(torch, operands, places, (2, 4, 3))
    assert all(torch.equal(own, each[places]) for own, each in zip(picked, whole, strict=True))


@pytest.mark.parametrize(("batch", "contracted"), [*itertools.product([False, True], repeat=2)])
def test_elements_of_a_product_are_those_of_the_whole(batch, contracted):
    lhs, rhs = torch.randn(3, 4, 5).double(), torch.randn(5, 2, 3).double()
    axes = [[0], [2]] if batch else [[], []]
    axes += [[2], [0]] if contracted else [[], []]
    letters = "abc", "".join(["c" if contracted else "e", "d", "a" if batch else "f"])
    result = "".join(["a" * batch, *("abc"[batch : 3 - contracted]), *letters[1][contracted : 3 - batch]])
    whole = torch.einsum(f"{letters[0]},{letters[1]}->{result}", lhs, rhs)
    elements = elements_of_product(torch, lhs, rhs, axes, torch.arange(whole.numel()))
    assert torch.allclose(elements.golden(torch, *elements.operands), whole.reshape(-1))


@pytest.mark.parametrize("bias", [None, torch.randn(7).double()])
def test_the_rounding_of_elements_is_that_of_the_whole_product(bias):
    a, b = torch.randn(3, 9, 80).double(), torch.randn(80, 7).double()
    given = {"a": a, "b": b, "transpose_a": False, "transpose_b": False, "activation": None, "bias": bias}
    call = TextCall(given, [TensorSpec((3, 9, 7), DataType.BFLOAT16)])
    linear = text_operations()["ttnn.linear"]
    places = torch.arange(3 * 9 * 7)
    elements = linear.elements_at(torch, call, places)
    whole = linear.accumulator_error(torch, call).reshape(-1)
    assert torch.allclose(elements.rounding(torch, *elements.operands), whole, rtol=1e-9)
