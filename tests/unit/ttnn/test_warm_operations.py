"""An eager operation with known tensor specs goes straight to its program, and stays correct."""

import itertools
import math

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, DeviceError


@pytest.fixture
def device():
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)


def on(device, *shape):
    return ttnn.from_torch(torch.randn(shape), layout=ttnn.TILE_LAYOUT, device=device)


def warmed(operation, *tensors):
    for _ in range(3):
        result = operation(*tensors)
    return result


def test_every_warm_call_has_the_bits_of_the_first(device):
    x, y = on(device, 32, 64), on(device, 32, 64)
    first = ttnn.add(x, y)
    assert torch.equal(ttnn.to_torch(warmed(ttnn.add, x, y)), ttnn.to_torch(first))
    assert torch.equal(ttnn.to_torch(ttnn.add(y, y)), ttnn.to_torch(y) * 2)


def test_a_warm_call_looks_up_neither_a_declaration_nor_a_key(device, monkeypatch):
    x = on(device, 32, 32)
    first = warmed(ttnn.exp, x)
    monkeypatch.setattr("ttnn_jit.ttnn.calling.eager_operation.bind", None)
    monkeypatch.setattr("ttnn_jit.dispatch.warm_calls.atom_key", None)
    assert torch.equal(ttnn.to_torch(ttnn.exp(x)), ttnn.to_torch(first))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ttnn.multiply(x, 2.0),
        lambda x: 2 * x,
        lambda x: ttnn.where(x, 1.0, x),
        lambda x: ttnn.clamp(x, min=0.0, max=1.0),
        lambda x: ttnn.add(x, x, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG),
        lambda x: ttnn.exp(x, queue_id=0),
        lambda x: ttnn.permute(x, (1, 0)),
        lambda x: ttnn.exp(x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)]),
    ],
)
def test_a_warm_call_with_numbers_or_keywords_looks_up_no_declaration(device, call, monkeypatch):
    x = on(device, 32, 32)
    first = warmed(call, x)
    monkeypatch.setattr("ttnn_jit.ttnn.calling.eager_operation.bind", None)
    again = call(x)
    assert again.spec is first.spec
    assert torch.equal(again.to_torch(), first.to_torch())


def test_numbers_of_warm_calls_are_distinguished_by_type_and_bits(device):
    x = ttnn.ones((32, 32), ttnn.float32, ttnn.TILE_LAYOUT, device)
    for _ in range(3):
        quotients = [ttnn.divide(x, number).to_torch()[0, 0].item() for number in (0.0, -0.0, math.nan, 2, 2.0)]
        assert quotients[:2] + quotients[3:] == [math.inf, -math.inf, 0.5, 0.5]
        assert math.isnan(quotients[2])


def test_a_warm_call_with_tensors_among_keywords_looks_up_no_declaration_and_keeps_their_places(device, monkeypatch):
    x, *rows = on(device, 32, 32), *(on(device, 1, 32) for _ in range(3))
    calls = [
        lambda weight, bias: ttnn.layer_norm(x, weight=weight, bias=bias),
        lambda weight, bias: ttnn.layer_norm(x, bias=bias, weight=weight),
        lambda weight, bias: ttnn.layer_norm(x, epsilon=0.5, weight=weight, bias=bias),
    ]
    wanted = [[call(*pair).to_torch() for pair in itertools.permutations(rows, 2)] for call in calls]
    assert torch.equal(*map(torch.stack, wanted[:2]))
    assert not torch.equal(wanted[0][0], wanted[0][1])
    monkeypatch.setattr("ttnn_jit.ttnn.calling.eager_operation.bind", None)
    for call, expected in zip(calls, wanted, strict=True):
        for pair, result in zip(itertools.permutations(rows, 2), expected, strict=True):
            assert torch.equal(call(*pair).to_torch(), result)


def test_a_tensor_that_is_given_twice_takes_no_other_s_place(device):
    x, row, other = on(device, 32, 32), on(device, 1, 32), on(device, 1, 32)
    expected = ttnn.layer_norm(x, bias=row, weight=other).to_torch()
    ttnn.layer_norm.clear()
    for _ in range(3):
        ttnn.layer_norm(x, bias=row, weight=row)
    for _ in range(3):
        assert torch.equal(ttnn.layer_norm(x, bias=row, weight=other).to_torch(), expected)


def test_a_list_that_changes_between_warm_calls_is_noticed(device):
    x, activations = on(device, 32, 32), ["abs"]
    warmed(lambda x: ttnn.neg(x, activations=activations), x)
    activations.append("neg")
    assert torch.equal(ttnn.neg(x, activations=activations).to_torch(), -x.to_torch().abs())


def test_keywords_outside_the_key_and_tensors_among_keywords_have_their_effect(device):
    x, y = on(device, 32, 32), on(device, 32, 32)
    difference = x.to_torch() - y.to_torch()
    for _ in range(4):
        assert torch.equal(ttnn.subtract(x, y, sub_core_grids=[1]).to_torch(), difference)
        assert torch.equal(ttnn.subtract(x, y, activations=["neg"]).to_torch(), -difference)
        assert torch.equal(ttnn.subtract(input_tensor_b=y, input_tensor_a=x).to_torch(), difference)
        assert torch.equal(ttnn.subtract(input_tensor_a=y, input_tensor_b=x).to_torch(), -difference)
        with pytest.raises(ArgumentError, match="must be a tensor or a number, got list"):
            ttnn.subtract(x, [y])


@pytest.mark.parametrize(
    ("operation", "tensors", "keywords"),
    [
        (ttnn.leaky_relu, 1, {"negative_slope": 0.5}),
        (ttnn.clamp, 1, {"min": 0.25}),
        (ttnn.div, 2, {"rounding_mode": "floor"}),
        (ttnn.gelu, 1, {"fast_and_approximate_mode": True}),
        (ttnn.exp, 1, {"activations": ["neg"]}),
        (ttnn.exp, 1, {"dtype": ttnn.bfloat16}),
        (ttnn.exp, 1, {"memory_config": ttnn.L1_MEMORY_CONFIG}),
    ],
)  # fmt: skip
def test_keywords_of_one_call_do_not_affect_the_next(device, operation, tensors, keywords):
    given = [on(device, 32, 32) for _ in range(tensors)]
    operation.clear()
    plain, requested = operation(*given), operation(*given, **keywords)
    for _ in range(3):
        for first, again in ((requested, operation(*given, **keywords)), (plain, operation(*given))):
            assert again.spec is first.spec
            assert torch.equal(again.to_torch(), first.to_torch())


OPERANDS = [
    ("x", "y"), ("y", "x"), ("x", "row"), ("x", 0.0), ("x", -0.0), ("x", 1), ("x", True), ("x", math.nan), (2.0, "x"),
]  # fmt: skip
KEYWORDS = [{}, {"rounding_mode": "floor"}, {"dtype": ttnn.bfloat16}, {"activations": ["neg"]}, {"core_grid": [1]}]


def test_no_warm_call_affects_the_results_of_the_others(device):
    x, y = on(device, 2, 4), on(device, 2, 4)
    tensors = {"x": x, "y": y, "row": ttnn.typecast(on(device, 1, 4), ttnn.bfloat16)}

    def run(operands, keywords):
        result = ttnn.divide(*(tensors.get(operand, operand) for operand in operands), **keywords)
        return result.spec, result.to_torch().float().numpy().tobytes()

    calls = list(itertools.product(OPERANDS, KEYWORDS))
    alone = []
    for call in calls:
        ttnn.divide.clear()
        alone.append(run(*call))
    for warm in calls:
        ttnn.divide.clear()
        for _ in range(3):
            run(*warm)
        assert [run(*call) for call in calls] == alone


def test_errors_are_reported_on_a_warm_call_too(device):
    x, y = on(device, 32, 32), on(device, 32, 32)
    warmed(ttnn.add, x, y)
    warmed(lambda tensor: ttnn.multiply(tensor, 2.0), x)
    with pytest.raises(ArgumentError, match="different devices"):
        ttnn.add(x, on(ttnn.open_device(device_id=1), 32, 32))
    ttnn.deallocate(y)
    with pytest.raises(DeallocatedError):
        ttnn.add(x, y)
    with pytest.raises(DeallocatedError):
        ttnn.multiply(y, 2.0)
    ttnn.close_device(device)
    for call in (lambda: ttnn.add(x, x), lambda: ttnn.multiply(x, 2.0)):
        with pytest.raises(DeviceError):
            call()


def test_a_jitted_function_records_a_warm_operation(device):
    x = on(device, 32, 32)
    warmed(ttnn.add, x, x)
    doubled = ttnn_jit.jit(graph_capture=True)(lambda v: ttnn.add(v, v))
    assert torch.equal(ttnn.to_torch(doubled(x)), ttnn.to_torch(x) * 2)


def test_a_tile_operation_follows_changes_of_its_function(device):
    x = on(device, 32, 32)
    operation = ttnn_jit.tile_op(lambda v: v * SCALES["now"])
    SCALES["now"] = 2.0
    warmed(operation, x)
    SCALES["now"] = 4.0
    assert torch.equal(ttnn.to_torch(operation(x)), ttnn.to_torch(x) * 4)


def test_clear_forgets_warm_programs(device):
    x = on(device, 32, 32)
    warmed(ttnn.abs, x)
    ttnn.abs.clear()
    assert ttnn.abs.num_entries == 0
    ttnn.abs(x)
    assert ttnn.abs.num_entries == 1


SCALES = {"now": 1.0}


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize(
    ("in_place", "alone"),
    [
        (ttnn.softmax_in_place, lambda x: ttnn.softmax(x, -1)),
        (
            lambda x: ttnn.transformer.attention_softmax_(x, head_size=16),
            lambda x: ttnn.softmax(ttnn.multiply(x, 0.25), -1),
        ),
        (lambda x: ttnn.add_(x, x), lambda x: ttnn.add(x, x)),
        (lambda x: ttnn.multiply_(x, 0.5), lambda x: ttnn.multiply(x, 0.5)),
    ],
)
def test_an_operation_that_writes_into_its_operand_does_so_at_every_call(target, in_place, alone):
    device = ttnn.open_device(device_id=0, target=target)
    x = on(device, 64, 32)
    for _ in range(4):
        expected = ttnn.to_torch(alone(x))
        assert in_place(x) is x
        torch.testing.assert_close(ttnn.to_torch(x), expected, rtol=0.02, atol=0.02)
