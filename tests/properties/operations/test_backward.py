"""Gradients against those of torch in float64, eagerly and in both frontends, on both targets."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from ttnn_jit import jit, ops, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ops.language.parameter import CHOICE
from ttnn_jit.ops.selection.embedding_gradient import EMBEDDING_BW
from ttnn_jit.ttnn.functions.gradients import GRADIENTS
from ttnn_jit.ttnn.namespace.lazy_names import MODULE_OF

DECLARED = ops.declared_in(ops.GRADIENTS)
TILE = ttnn.TILE_LAYOUT
BOUND = {torch.float32: 2e-5, torch.bfloat16: 2.0**-8}
SOME = ("prod_bw", "repeat_bw", "relu_bw", "gelu_bw", "mul_bw", "logaddexp_bw", "clamp_bw", "where_bw")


def tensors_of(operation, shapes, dtype):
    generator = torch.Generator().manual_seed(7)
    low, high = operation.probe.domain
    made = [torch.rand(shape, generator=generator) * (high - low) + low for shape in shapes]
    return [torch.randn(shapes[0], generator=generator).to(dtype), *(each.to(dtype) for each in made[1:])]


def call_of(operation, statics):
    def call(*tensors, **options):
        names = (each.name for each in operation.attributes)
        chosen = {each.name: each.default for each in operation.parameters if each.kind is CHOICE}
        return GRADIENTS[operation.name](*tensors, **dict(zip(names, statics, strict=True)), **chosen, **options)

    return call


def assert_near(operation, found, tensors, statics):
    want = operation.golden(torch, *(each.double() for each in tensors), *statics)
    assert len(found) == len(want) == len(tensors) - 1
    for got, expected, tensor in zip(found, want, tensors[1:], strict=True):
        assert got.dtype is tensor.dtype
        scale = max(1.0, expected.abs().max().item() / 8)
        torch.testing.assert_close(got.double(), expected, rtol=BOUND[got.dtype], atol=scale * BOUND[got.dtype])


def test_every_declared_gradient_is_a_name_of_ttnn():
    assert {name for name, home in MODULE_OF.items() if home == "ttnn_jit.ttnn.functions.gradients"} == {*GRADIENTS}
    assert ttnn.relu_bw is GRADIENTS["relu_bw"]


@pytest.mark.parametrize("operation", DECLARED, ids=[f"{each.name}-{len(each.operands)}" for each in DECLARED])
def test_an_eager_gradient_equals_autograd_in_float64(operation, cpu_device):
    for shapes, statics in operation.examples:
        tensors = tensors_of(operation, shapes, torch.float32)
        on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device) for each in tensors]
        found = call_of(operation, statics)(*on_device)
        assert type(found) is list
        assert_near(operation, [ttnn.to_torch(each) for each in found], tensors, statics)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("traced", [False, True])
def test_a_jitted_gradient_equals_autograd_in_both_float_types(name, traced):
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
    on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in tensors]
    found = call_of(operation, statics)(*on_device)
    assert_near(operation, [ttnn.to_torch(each) for each in found], tensors, statics)


def test_a_number_may_replace_a_tensor(cpu_device):
    g, x = (ttnn.from_torch(torch.randn(3, 40), device=cpu_device) for _ in range(2))
    (got,) = ttnn.mul_bw(g, x, 3.0)
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(g) * 3)
    assert len(ttnn.mul_bw(g, x, x)) == 2


def test_a_quotient_with_any_rounding_mode_has_the_gradient_of_the_exact_one(cpu_device):
    g, x = torch.randn(3, 40), torch.rand(3, 40) + 0.5
    on_device = [ttnn.from_torch(each, device=cpu_device) for each in (g, x)]
    for call in (ttnn.rdiv_bw, jit()(lambda g, x, number: ttnn.rdiv_bw(g, x, number))):
        (found,) = call(*on_device, 2.5)
        torch.testing.assert_close(ttnn.to_torch(found), -2.5 * g / x**2)
    assert not ttnn.to_torch(ttnn.rdiv_bw(*on_device, 2.5, rounding_mode="floor")[0]).any()


def test_the_gradient_of_a_sum_takes_the_factor_of_its_second_tensor(cpu_device):
    g, a, b = (ttnn.from_torch(torch.randn(3, 40), device=cpu_device) for _ in range(3))
    first, second = ttnn.sub_bw(g, a, b, 2.5)
    assert torch.equal(ttnn.to_torch(first), ttnn.to_torch(g))
    assert torch.equal(ttnn.to_torch(second), ttnn.to_torch(g) * -2.5)


def test_the_gradient_of_a_maximum_goes_to_the_selected_element(cpu_device):
    g, p, b, c = (
        ttnn.from_torch(torch.tensor(row), device=cpu_device)
        for row in ([1.0, 2.0], [0.0, -3.0], [5.0, 5.0], [6.0, 6.0])
    )
    assert [ttnn.to_torch(each).tolist() for each in ttnn.where_bw(g, p, b, c)] == [[0, 0], [0, 2], [1, 0]]


def test_the_tanh_form_of_gelu_has_a_gradient_of_its_own(cpu_device):
    operation = next(each for each in DECLARED if each.name == "gelu_bw")
    tensors = tensors_of(operation, ((3, 40),) * 2, torch.float32)
    on_device = [ttnn.from_torch(each, device=cpu_device) for each in tensors]
    found = ttnn.gelu_bw(*on_device, approximate="tanh")
    assert_near(operation, [ttnn.to_torch(each) for each in found], tensors, ("tanh",))


@pytest.mark.parametrize(
    ("name", "points", "numbers"),
    [
        ("hardswish_bw", [-3.0, 3.0, -4.0, 4.0], ()),
        ("logit_bw", [-0.5, 0.0, 0.25, 1.0, 1.5], ()),
        ("xlogy_bw", [0.0, 0.0, 0.0, 2.0], ()),
        ("rpow_bw", [-1.0, 0.0, 2.0], (0.0,)),
        ("rpow_bw", [-1.0, 0.0, 2.0], (-2.0,)),
        ("pow_bw", [-1.0, 0.0, 2.0], (0.0,)),
        ("div_bw", [-1.0, 0.0, 2.0], (0.0,)),
    ],
)
def test_a_gradient_at_a_boundary_equals_autograd(name, points, numbers, cpu_device):
    inputs = 2 if name == "xlogy_bw" else 1
    operation = next(e for e in DECLARED if e.name == name and len(e.operands) == 1 + inputs)
    x = torch.tensor([points])
    tensors = [torch.full_like(x, 1.5), *([x, x.flip(1)] if inputs == 2 else [x])]
    found = call_of(operation, numbers)(*(ttnn.from_torch(each, device=cpu_device) for each in tensors))
    want = operation.golden(torch, *(each.double() for each in tensors), *numbers)
    for got, expected in zip(found, want, strict=True):
        torch.testing.assert_close(ttnn.to_torch(got).double(), expected, rtol=2e-5, atol=0, equal_nan=True)


def test_gradients_are_omitted_and_written_into_tensors_on_request(cpu_device):
    g, x, y, first, second = (ttnn.from_torch(torch.randn(3, 40), device=cpu_device) for _ in range(5))
    want = ttnn.mul_bw(g, x, y)
    for _ in range(2):
        found = ttnn.mul_bw(g, x, y, are_required_outputs=[False, True], input_grad=first, other_grad=second)
        assert found == [None, second]
        assert torch.equal(second.to_torch(), want[1].to_torch())
    assert ttnn.gelu_bw(g, x, output_tensor=first) == [first]
    assert torch.equal(first.to_torch(), ttnn.gelu_bw(g, x)[0].to_torch())
    with pytest.raises(TtnnJitError, match="`are_required_outputs` must have True or False for each of 2 gradients"):
        ttnn.mul_bw(g, x, y, are_required_outputs=[True])
    with pytest.raises(TtnnJitError, match=r"mul_bw: a tensor to write into is .*, the gradient"):
        ttnn.mul_bw(g, x, y, input_grad=ttnn.ones((3, 41), device=cpu_device))
    with pytest.raises(TtnnJitError, match="has one gradient, and `other_grad` is for a second"):
        ttnn.exp_bw(g, x, other_grad=first)
    with pytest.raises(TtnnJitError, match="`approximate` is 'none' or 'tanh', got 'fast'"):
        ttnn.gelu_bw(g, x, approximate="fast")


@st.composite
def outputs_of_gradients(draw):
    operation = draw(st.sampled_from([each for each in DECLARED if each.examples]))
    shapes, statics = draw(st.sampled_from(operation.examples))
    given = draw(
        st.tuples(
            st.sampled_from([None, "input_grad", "output_tensor", "input_a_grad"]),
            st.sampled_from([None, "other_grad", "input_b_grad"]),
        )
    )
    flags = st.lists(st.booleans(), min_size=len(shapes) - 1, max_size=len(shapes))
    wanted = draw(st.none() | flags.filter(lambda each: any(each[: len(shapes) - 1])))  # a program must have a result
    return operation, shapes, statics, given, wanted


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@drawn(case=outputs_of_gradients(), graph_capture=st.booleans(), of_torch=st.booleans())
def test_a_jitted_function_writes_gradients_where_an_eager_call_does(case, graph_capture, of_torch, cpu_device):
    operation, shapes, statics, given, wanted = case
    tensors = tensors_of(operation, shapes, torch.float32)
    function, count = call_of(operation, statics), len(shapes)
    whole = [
        each.to_torch()
        for each in function(*(ttnn.from_torch(each, layout=TILE, device=cpu_device) for each in tensors))
    ]
    targets = {name: torch.zeros_like(each) for name, each in zip(given, whole, strict=False) if name is not None}
    names = tuple(targets)
    options = {} if wanted is None else {"are_required_outputs": wanted}

    def call(*values):
        into = dict(zip(names, values[count:], strict=True))
        return function(*values[:count], **options, **into)

    held = [*tensors, *targets.values()]
    eager = [ttnn.from_torch(each, layout=TILE, device=cpu_device) for each in held]
    jitted = [each.clone() if of_torch else ttnn.from_torch(each, layout=TILE, device=cpu_device) for each in held]
    want, found = call(*eager), jit(graph_capture=graph_capture)(call)(*jitted)
    for index, (expected, got) in enumerate(zip(want, found, strict=True)):
        assert (expected is None) == (got is None) == (wanted is not None and not wanted[index])
        for each in [] if got is None else [in_torch(got), expected.to_torch()]:
            assert torch.equal(each.nan_to_num(7), whole[index].nan_to_num(7))
    for target, expected in zip(jitted[count:], eager[count:], strict=True):
        assert torch.equal(in_torch(target).nan_to_num(7), expected.to_torch().nan_to_num(7))
        indices = [index for index, each in enumerate(want) if each is expected]
        assert indices or not expected.to_torch().any()


def in_torch(value):
    return value if isinstance(value, torch.Tensor) else value.to_torch()


@pytest.mark.parametrize("graph_capture", [False, True])
def test_outputs_of_gradients_that_do_not_fit_are_refused_in_programs_too(graph_capture, cpu_device):
    g, x, y, other = (
        ttnn.from_torch(torch.randn(3, extent), layout=TILE, device=cpu_device) for extent in (40, 40, 40, 41)
    )
    half = ttnn.from_torch(torch.randn(3, 40), ttnn.bfloat16, layout=TILE, device=cpu_device)
    for call, text in {
        (lambda g, x, y, out: ttnn.mul_bw(g, x, y, are_required_outputs=[True])): "for each of 2 gradients",  # noqa: ARG005
        (lambda g, x, y, out: ttnn.mul_bw(g, x, y, input_grad=out)): "writes into",
        (lambda g, x, y, out: ttnn.exp_bw(g, x, other_grad=y)): "for a second",  # noqa: ARG005
        (lambda g, x, y, out: ttnn.exp_bw(g, x, input_grad=y, output_tensor=y)): "two names of one",  # noqa: ARG005
        (lambda g, x, y, out: ttnn.exp_bw(g, x, input_grad=3)): "`input_grad` must be a tensor, got 3",  # noqa: ARG005
    }.items():
        for out in (other, half):
            with pytest.raises(TtnnJitError, match=text):
                jit(graph_capture=graph_capture)(call)(g, x, y, out)
            with pytest.raises(TtnnJitError, match=text.replace("writes into", "write into")):
                call(g, x, y, out)


def test_mismatched_shapes_are_refused(cpu_device):
    g, x = (ttnn.from_torch(torch.randn(3, extent), device=cpu_device) for extent in (40, 39))
    with pytest.raises(TtnnJitError, match="shapes that do not broadcast"):
        ttnn.tanh_bw(g, x)


IN_TORCH = {
    "real": torch.real,
    "imag": torch.imag,
    "angle": torch.angle,
    "conj": torch.conj_physical,
    "polar": lambda z: torch.polar(z.real, z.imag),
}


@pytest.mark.parametrize("name", IN_TORCH)
def test_a_gradient_of_complex_numbers_equals_autograd(name, cpu_device):
    generator = torch.Generator().manual_seed(4)
    z = torch.complex(*(torch.rand((3, 40), generator=generator) * 2 + 0.1 for _ in range(2)))
    leaf = z.to(torch.complex128).requires_grad_()
    result = IN_TORCH[name](leaf)
    grad = torch.randn((2, 3, 40), generator=generator)
    g = torch.complex(grad[0], grad[1]) if result.is_complex() else grad[0]
    (want,) = torch.autograd.grad(result, leaf, g.to(result.dtype))

    def on_device(x):
        if x.is_complex():
            return ttnn.complex_tensor(on_device(x.real.contiguous()), on_device(x.imag.contiguous()))
        return ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=cpu_device)

    (found,) = getattr(ttnn, f"{name}_bw")(on_device(g), on_device(z))
    got = torch.complex(*(ttnn.to_torch(part).double() for part in (found.real, found.imag)))
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    with pytest.raises(TtnnJitError, match=f"`input_tensor` of {name}_bw"):
        getattr(ttnn, f"{name}_bw")(on_device(g), on_device(z.real.contiguous()))


@pytest.mark.parametrize("dim", [None, 0, -1])
def test_the_gradient_of_prod_is_the_product_of_the_other_elements_even_with_zeros(dim, cpu_device):
    x = torch.tensor([[2.0, 0.0, -3.0], [0.0, 0.0, 5.0], [1.5, 2.0, 4.0]])
    shape = {None: (1, 1), 0: (1, 3), -1: (3,)}[dim]
    g = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    leaf = x.double().requires_grad_()
    product = torch.prod(leaf) if dim is None else torch.prod(leaf, dim)
    (want,) = torch.autograd.grad(product, leaf, g.double().reshape(product.shape))
    tensors = [ttnn.from_torch(each, device=cpu_device) for each in (g, x)]
    (got,) = ttnn.prod_bw(*tensors) if dim is None else ttnn.prod_bw(*tensors, dim=dim)
    torch.testing.assert_close(ttnn.to_torch(got).double(), want, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_the_gradient_of_a_weight_is_the_sum_of_its_rows(dtype, target):
    device = ttnn.open_device(device_id=0, target=target)
    indices = torch.tensor([[3, 0, 3, 6, 3], [1, 1, 0, 5, 6]])
    weight, grad = torch.zeros(7, 64), torch.randn(2, 5, 64, generator=torch.Generator().manual_seed(1)).to(dtype)
    want = EMBEDDING_BW.golden(torch, indices, weight, grad.double())
    tensors = [
        ttnn.from_torch(indices, dtype=ttnn.uint32, device=device),
        *(ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (weight.to(dtype), grad)),
    ]

    def program(indices, weight, grad):
        return ttnn.embedding_bw(indices, weight, grad)

    for call in (program, *(jit(graph_capture=each)(program) for each in (False, True))):
        got = ttnn.to_torch(call(*tensors))
        assert got.dtype is dtype
        torch.testing.assert_close(got.double(), want, rtol=BOUND[dtype], atol=BOUND[dtype])
    ttnn.close_device(device)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttnn.repeat_bw(x, x, (2, 1)), "is not that of"),
        (lambda x: ttnn.repeat_bw(x, x, (2,)), "do not repeat a tensor of 2 dimensions"),
        (lambda x: ttnn.prod_bw(x, x, 1), "is not that of products along dimension 1"),
        (lambda x: ttnn.polygamma_bw(x, x, 30), "an integer from 0 to 29"),
        (lambda x: ttnn.embedding_bw(x, x, x), "does not take FLOAT32"),
        (lambda x: ttnn.embedding_bw(ttnn.typecast(x, ttnn.int32), x, x), "has no row of 40 elements for each of 120"),
    ],
)
@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_mismatched_gradient_is_refused_at_its_location(call, message, graph_capture):
    with pytest.raises(TtnnJitError, match=message) as raised:
        jit(graph_capture=graph_capture)(call)(torch.ones(3, 40))
    assert "^" in str(raised.value)
