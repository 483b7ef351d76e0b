"""Gradients against those of torch in float64, eagerly and in both frontends, on both targets."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ops import backward_binary, backward_unary
from ttnn_jit.ttnn.gradients import GRADIENTS
from ttnn_jit.ttnn.lazy_names import MODULE_OF

DECLARED = (*backward_unary.OPERATIONS, *backward_binary.OPERATIONS)
BOUND = {torch.float32: 2e-5, torch.bfloat16: 2.0**-8}
SOME = ("relu_bw", "gelu_bw", "mul_bw", "logaddexp_bw", "clamp_bw", "where_bw")


def tensors_of(operation, shapes, dtype):
    generator = torch.Generator().manual_seed(7)
    low, high = operation.probe.domain
    made = [torch.rand(shape, generator=generator) * (high - low) + low for shape in shapes]
    return [torch.randn(shapes[0], generator=generator).to(dtype), *(each.to(dtype) for each in made[1:])]


def call_of(operation, statics):
    def call(*tensors):
        names = (each.name for each in operation.attributes)
        return GRADIENTS[operation.name](*tensors, **dict(zip(names, statics, strict=True)))

    return call


def assert_near(operation, found, tensors, statics):
    want = operation.golden(torch, *(each.double() for each in tensors), *statics)
    assert len(found) == len(want) == len(tensors) - 1
    for got, expected, tensor in zip(found, want, tensors[1:], strict=True):
        assert got.dtype is tensor.dtype
        scale = max(1.0, expected.abs().max().item() / 8)
        torch.testing.assert_close(got.double(), expected, rtol=BOUND[got.dtype], atol=scale * BOUND[got.dtype])


def test_every_declared_gradient_is_a_name_of_ttnn():
    assert {name for name, home in MODULE_OF.items() if home == "ttnn_jit.ttnn.gradients"} == {*GRADIENTS}
    assert ttnn.relu_bw is GRADIENTS["relu_bw"]


@pytest.mark.parametrize("operation", DECLARED, ids=[f"{each.name}-{len(each.operands)}" for each in DECLARED])
def test_an_eager_gradient_is_autograds_in_float64(operation, cpu_device):
    for shapes, statics in operation.examples:
        tensors = tensors_of(operation, shapes, torch.float32)
        placed = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device) for each in tensors]
        found = call_of(operation, statics)(*placed)
        assert type(found) is list
        assert_near(operation, [ttnn.to_torch(each) for each in found], tensors, statics)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("traced", [False, True])
def test_a_jitted_gradient_is_that_in_both_types_of_floats(name, traced):
    operation = next(each for each in DECLARED if each.name == name)
    for dtype in BOUND:
        ((shapes, statics), *_) = operation.examples
        tensors = tensors_of(operation, shapes, dtype)
        assert_near(operation, jit(graph_capture=traced)(call_of(operation, statics))(*tensors), tensors, statics)


@pytest.mark.parametrize("name", SOME)
def test_a_gradient_on_a_chip_is_rounded_once(name, device):
    operation = next(each for each in DECLARED if each.name == name)
    ((shapes, statics), *_) = operation.examples
    tensors = tensors_of(operation, shapes, torch.bfloat16)
    placed = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in tensors]
    found = call_of(operation, statics)(*placed)
    assert_near(operation, [ttnn.to_torch(each) for each in found], tensors, statics)


def test_a_number_may_stand_in_the_place_of_a_tensor(cpu_device):
    g, x = (ttnn.from_torch(torch.randn(3, 40), device=cpu_device) for _ in range(2))
    (got,) = ttnn.mul_bw(g, x, 3.0)
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(g) * 3)
    assert len(ttnn.mul_bw(g, x, x)) == 2


def test_the_gradient_of_a_choice_goes_to_what_was_chosen(cpu_device):
    g, p, b, c = (
        ttnn.from_torch(torch.tensor(row), device=cpu_device)
        for row in ([1.0, 2.0], [0.0, -3.0], [5.0, 5.0], [6.0, 6.0])
    )
    assert [ttnn.to_torch(each).tolist() for each in ttnn.where_bw(g, p, b, c)] == [[0, 0], [0, 2], [1, 0]]


def test_the_tanh_form_of_gelu_has_a_gradient_of_its_own(cpu_device):
    operation = next(each for each in DECLARED if each.name == "gelu_bw")
    tensors = tensors_of(operation, ((3, 40),) * 2, torch.float32)
    placed = [ttnn.from_torch(each, device=cpu_device) for each in tensors]
    found = ttnn.gelu_bw(*placed, approximate="tanh")
    assert_near(operation, [ttnn.to_torch(each) for each in found], tensors, ("tanh",))


def test_shapes_that_do_not_fit_are_refused(cpu_device):
    g, x = (ttnn.from_torch(torch.randn(3, extent), device=cpu_device) for extent in (40, 39))
    with pytest.raises(TtnnJitError, match="shapes that do not fit"):
        ttnn.tanh_bw(g, x)
