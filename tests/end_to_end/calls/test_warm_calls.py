"""Later calls, which take the fast path, refuse and detect the same as the first call."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
import torch

from tests.end_to_end.calls.warm_functions import on, warmed
from tests.programs import add_tree_8_to_1, cosh
from ttnn_jit import cache_info, jit, ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, DeviceError, TtnnJitError
from ttnn_jit.runtime.memory.buffer import HOST_POOL

SCALE = 2.0


def add(a, b):
    return ttnn.add(a, b)


@pytest.fixture
def device():
    with ttnn.open_device(device_id=0) as opened:
        yield opened


def test_every_warm_call_counts_as_a_hit_and_gives_a_tensor_of_its_own(device):
    x = on(device, 32, 32)
    compiled = warmed(cosh, x)
    before = cache_info().memory_hits
    first, second = compiled(x), compiled(x)
    assert cache_info().memory_hits == before + 2
    assert first is not second
    assert first.buffer_address() != second.buffer_address()
    assert torch.equal(first.to_torch(), second.to_torch())


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_a_nested_tensor_is_refused_where_a_plain_one_was_expected():
    compiled = warmed(cosh, torch.randn(4, 4))
    nested = torch.nested.nested_tensor([torch.randn(4), torch.randn(4)])
    with pytest.raises(ArgumentError, match="got a nested tensor"):
        compiled(nested)


def test_a_warm_call_sees_a_changed_global(monkeypatch):
    def scaled(x):
        return ttnn.multiply(x, SCALE)

    x = torch.randn(4, 4)
    compiled = warmed(scaled, x)
    for value in (3.0, 2.0, 3.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        for _ in range(3):
            assert torch.equal(compiled(x), x * value)


def test_a_warm_call_refuses_a_closed_device_and_deallocated_tensors():
    device = ttnn.open_device(device_id=0)
    x, y = on(device, 32, 32), on(device, 32, 32)
    compiled = warmed(add, x, y)
    y.deallocate()
    with pytest.raises(DeallocatedError):
        compiled(x, y)
    ttnn.close_device(device)
    with pytest.raises(DeviceError):
        compiled(x, x)


def test_a_warm_call_refuses_tensors_of_two_devices(device):
    x = on(device, 32, 32)
    compiled = warmed(add, x, x)
    with ttnn.open_device(device_id=1) as other, pytest.raises(ArgumentError, match="different devices"):
        compiled(x, on(other, 32, 32))


def test_keywords_defaults_and_wrong_counts_take_the_slow_path():
    x = torch.randn(4, 4)

    def power(a, b=None):
        return ttnn.add(a, a) if b is None else ttnn.add(a, b)

    compiled = warmed(power, x, x)
    assert torch.equal(compiled(x, b=x), x + x)
    assert torch.equal(compiled(x), x + x)
    for given, named in (((), {}), ((x, x, x), {}), ((x,), {"c": x})):
        with pytest.raises(ArgumentError, match="Invalid arguments"):
            compiled(*given, **named)


def test_a_warm_call_refuses_torch_tensors_that_the_first_would_refuse():
    x = torch.randn(4, 4)
    compiled = warmed(cosh, x)
    for refused in (
        x.clone().requires_grad_(),
        x.to(torch.float64),
        x.to_sparse(),
        x.to("meta"),
        torch.nn.Parameter(x),
    ):
        with pytest.raises(TtnnJitError):
            compiled(refused)
    with torch.no_grad():
        assert torch.equal(compiled(x.clone().requires_grad_()), compiled(x))


def test_warm_calls_distinguish_shapes_strides_and_dtypes_of_torch_tensors():
    inputs = [
        torch.randn(4, 6),
        torch.randn(6, 4).T,
        torch.randn(4, 12)[:, ::2],
        torch.randn(4, 6).to(torch.bfloat16),
        torch.randn(1, 6).expand(4, 6),
        torch.randn(24),
        torch.randn(()),
        torch.randn(0, 3),
    ]
    compiled = jit(add)
    for _ in range(4):
        for x in inputs:
            result = compiled(x, x)
            assert torch.equal(result, x + x)
            assert result.dtype is x.dtype
            assert result.is_contiguous()


def test_warm_calls_with_two_tensors_and_with_one_twice_alternate():
    x, y = torch.randn(4, 6), torch.randn(4, 6)
    compiled = warmed(add, x, y)
    for _ in range(3):
        assert torch.equal(compiled(x, y), x + y)
        assert torch.equal(compiled(x, x), x + x)
        with torch.inference_mode():
            assert torch.equal(compiled(x, torch.ones(4, 6)), x + 1)


def test_warm_calls_distinguish_specs_and_targets_of_ttnn_tensors(device):
    a, b = on(device, 32, 32), on(device, 64, 32)
    compiled = jit(cosh)
    with ttnn.open_device(device_id=1, target="cpu") as cpu, ttnn.open_device(device_id=2) as other:
        c, d = on(cpu, 32, 32), on(other, 32, 32)
        for _ in range(4):
            for x in (a, b, c, d):
                result = compiled(x)
                assert result.device() is x.device()
                assert torch.allclose(result.to_torch(), x.to_torch().cosh(), rtol=1e-6)


CONSTANTS = [2.0, 3.0, 0.0, -0.0, 2, True, False, 0, math.inf, math.nan, 2.5, "relu", None]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_warm_calls_distinguish_constants(times, target):
    @jit()
    def tagged(x, constant=2.0):
        if constant is None or isinstance(constant, str):
            return ttnn.add(x, 100.0)
        # 1 / -0.0 and 1 / 0.0 differ, though the zeros are equal.
        return ttnn.divide(x, ttnn.multiply(x, constant)) if constant == 0 else ttnn.add(x, constant)

    with ttnn.open_device(target=target) as device:
        ones = ttnn.ones((32, 32), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
        given, convert = (torch.ones(32, 32), torch.clone) if target == "cpu" else (ones, ttnn.to_torch)
        for constant in [*CONSTANTS, 2.0, *CONSTANTS[::-1]]:
            expected = ttnn.to_torch(tagged.func(ones, constant))
            for _ in range(times):
                assert torch.allclose(convert(tagged(given, constant)), expected, rtol=0, atol=0, equal_nan=True)
            assert torch.equal(convert(tagged(given)), torch.full((32, 32), 3.0))


def test_a_warm_call_with_constants_and_defaults_stays_within_a_budget_of_bytecode(device):
    @jit()
    def scaled(x, scale, offset=1.0, negated=False):
        return ttnn.neg(x) if negated else ttnn.add(ttnn.multiply(x, scale), offset)

    x = on(device, 32, 32)
    for tensor, budget in ((x, 195), (torch.ones(32, 32), 155)):
        for scale in (2.0, 3.0):  # alternately: both programs are kept
            for _ in range(3):
                scaled(tensor, scale)
        assert opcodes_of(lambda tensor=tensor: scaled(tensor, 3.0)) <= budget


def test_a_default_that_is_mutated_is_noticed_when_warm():
    def picked(x, which=[0]):  # noqa: B006 - the point
        return ttnn.add(x, float(which[0]))

    x = torch.ones(4, 4)
    compiled = warmed(picked, x)
    picked.__defaults__[0][0] = 5
    assert torch.equal(compiled(x), x + 5)


@pytest.mark.parametrize("times", [0, 1, 4])
def test_defaults_that_are_replaced_are_noticed(times):
    def scaled(x, factor=2.0, *, offset=1.0):
        return ttnn.add(ttnn.multiply(x, factor), offset)

    def positional(x, factor=2.0):
        return ttnn.multiply(x, factor)

    x = torch.ones(4, 4)
    for function, replaced in ((scaled, 6.0), (positional, 5.0)):
        compiled = jit(function)
        for _ in range(times):
            compiled(x)
        function.__defaults__ = (5.0,)
        for _ in range(3):
            assert torch.equal(compiled(x), torch.full((4, 4), replaced))
    scaled.__kwdefaults__ = {"offset": 3.0}
    assert torch.equal(jit(scaled)(x), torch.full((4, 4), 8.0))


@pytest.mark.parametrize("times", [0, 1, 4])
def test_code_that_is_replaced_is_noticed_and_other_parameters_are_refused(times):
    def written(x, factor):
        return ttnn.multiply(x, factor)

    x = torch.ones(4, 4)
    compiled = jit(written)
    for _ in range(times):
        compiled(x, factor=5.0)
    written.__code__ = (lambda x, factor: ttnn.add(x, factor)).__code__
    for _ in range(3):
        assert torch.equal(compiled(x, factor=5.0), torch.full((4, 4), 6.0))
    written.__code__ = (lambda factor, x: ttnn.subtract(x, factor)).__code__
    for _ in range(2):
        with pytest.raises(
            ArgumentError, match=r"written was given other parameters .*: \(factor, x\)\nhelp: jit it again"
        ):
            compiled(x, factor=5.0)
    assert torch.equal(jit(written)(factor=5.0, x=x), torch.full((4, 4), -4.0))


def test_keywords_name_the_same_arguments_as_positions():
    @jit()
    def mixed(first, /, x, scale=2.0, *, shift=0.0):
        return ttnn.subtract(ttnn.multiply(x, scale), ttnn.add(first, shift))

    @jit()
    def plain(self, type, result=3.0, MISS=4.0):  # noqa: A002, N803 - names that a generated call has too, perhaps
        return ttnn.subtract(ttnn.multiply(self, result), ttnn.multiply(type, MISS))

    scaled = jit(lambda x, scale: ttnn.multiply(x, scale))
    a, b = torch.randn(4, 6), torch.randn(4, 6)
    for _ in range(5):
        assert torch.equal(mixed(a, x=b), b * 2.0 - a)
        assert torch.equal(mixed(a, scale=3.0, x=b), b * 3.0 - a)
        assert torch.equal(mixed(a, b, shift=1.0), b * 2.0 - (a + 1.0))
        assert torch.equal(plain(a, b), a * 3.0 - b * 4.0)
        assert torch.equal(plain(type=b, self=a), a * 3.0 - b * 4.0)
        assert torch.equal(plain(type=a, self=b), b * 3.0 - a * 4.0)
        assert torch.equal(plain(a, type=b, MISS=5.0), a * 3.0 - b * 5.0)
        assert torch.equal(plain(a, b, MISS=5.0, result=1.0), a - b * 5.0)
        assert torch.equal(plain(a, b, 5.0), a * 5.0 - b * 4.0)
        for zero in (0.0, -0.0, 0, False):
            result = torch.signbit(scaled(torch.ones(2, 2), scale=zero))
            assert result.all() == result.any() == (str(zero) == "-0.0")
    for call in (
        lambda: plain(a, self=b),
        lambda: plain(a, b, unknown=1.0),
        lambda: mixed(first=a, x=b),
        lambda: plain(a),
    ):
        with pytest.raises((ArgumentError, TypeError)):
            call()


def arrays():
    return [
        np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32),
        np.arange(24, dtype=np.float32).reshape(6, 4).T,
        np.arange(48, dtype=np.float32).reshape(4, 12)[:, ::2],
        np.arange(24, dtype=np.float32).reshape(4, 6)[::-1, ::-1],
        np.broadcast_to(np.float32(2.0), (4, 6)),
        np.array(3.0, np.float32),
        np.zeros((0, 6), np.float32),
        np.ones((512, 1024), np.float32),
    ]


def test_warm_calls_distinguish_shapes_and_strides_of_numpy_arrays():
    compiled = jit(lambda a, b, scale=2.0: ttnn.add(a, ttnn.multiply(b, scale)))
    for _ in range(4):
        for x in arrays():
            for result, expected in ((compiled(x, x), x * 3), (compiled(x, x, scale=3.0), x * 4)):
                assert np.array_equal(result, expected)
                assert result.dtype == np.float32
                assert result.flags.writeable
                assert result.flags.c_contiguous
                assert not np.shares_memory(result, x)


def test_a_warm_call_refuses_numpy_arrays_that_the_first_would_refuse():
    x = arrays()[0]
    compiled = warmed(cosh, x)
    for refused in (x.astype(">f4"), x.astype(np.float64), np.ma.array(x, mask=x > 0), x.view(np.recarray)):
        with pytest.raises(TtnnJitError):
            compiled(refused)
    read_only = x.copy()
    read_only.flags.writeable = False
    assert np.array_equal(compiled(read_only), compiled(x))


def test_a_warm_call_with_keywords_or_numpy_arrays_stays_within_a_budget_of_bytecode():
    compiled = jit(lambda x, scale=2.0, shift=1.0: ttnn.add(ttnn.multiply(x, scale), shift))
    for tensor, budget in ((torch.ones(32, 32), 155), (np.ones((32, 32), np.float32), 155)):
        for _ in range(3):
            compiled(tensor, shift=3.0)
        assert opcodes_of(lambda tensor=tensor: compiled(tensor, shift=3.0)) <= budget


def test_a_function_that_returns_its_argument_returns_that_object_when_warm(device):
    def both(a, b):
        return {"sum": ttnn.add(a, b), "given": (a, [b])}

    for make in (lambda: on(device, 32, 32), lambda: torch.randn(4, 4)):
        a, b = make(), make()
        result = warmed(both, a, b)(a, b)
        assert result["given"][0] is a
        assert result["given"][1][0] is b


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_big_torch_results_lie_in_the_pool_and_outlive_the_call(dtype):
    x, y = torch.randn(2, 1024, 512).to(dtype)[..., None, :], torch.randn(2, 1024, 1, 512).to(dtype)
    compiled = warmed(add, x, y)
    live = HOST_POOL.statistics().live_bytes
    results = [compiled(x, y) for _ in range(3)]
    assert HOST_POOL.statistics().live_bytes == live + sum(result.nbytes for result in results)
    assert len({result.data_ptr() for result in results}) == 3
    assert all(torch.equal(result, x + y) for result in results)
    view = results.pop()[1:]
    results.clear()
    assert HOST_POOL.statistics().live_bytes == live + 2 * view.nbytes
    assert torch.equal(view, (x + y)[1:])


def of_any_number(first, factor=1.0, *tensors, **named):
    total = first * factor
    for tensor in (*tensors, *named.values()):
        total = total + tensor
    return total


def of_keywords(x, *, scale=2.0, shift=0.0):
    return x * scale + shift


@pytest.mark.parametrize(
    ("function", "rest", "named"),
    [
        (of_any_number, (), {}),
        (of_any_number, (2.0, 3.0), {}),
        (of_any_number, (2.0, 3.0), {"more": 1}),
        (of_keywords, (), {"scale": 3.0, "shift": 1.0}),
    ],
)
def test_functions_of_any_number_of_arguments_and_of_keywords_take_the_fast_path(
    function, rest, named, device, monkeypatch
):
    x = on(device, 32, 32)
    compiled = jit(function)
    for _ in range(3):
        first = compiled(x, *rest, **named)
    monkeypatch.setattr(compiled, "_slow_path", None)
    assert torch.equal(compiled(x, *rest, **named).to_torch(), first.to_torch())


@pytest.mark.parametrize("times", [1, 3])
def test_calls_of_any_number_of_arguments_are_distinguished(times, device):
    x, y = on(device, 32, 32), on(device, 32, 32)
    calls = [
        ((x,), {}),
        ((x, 1.0, y), {}),
        ((y, 1.0, x), {}),
        ((x, 1.0, x, y), {}),
        ((x, 2.0), {}),
        ((x, 2), {}),
        ((x, True), {}),
        ((x, 0.0), {}),
        ((x, -0.0), {}),
        ((x, -0.0, -0.0), {}),
        ((x,), {"y": y}),
        ((x,), {"y": y, "z": 2.0}),
        ((x, 1.0, y), {"z": 2.0}),
        ((x,), {"factor": 2.0}),
        ((x,), {"factor": math.nan}),
        ((), {"first": x, "factor": 2.0}),
    ]
    compiled = jit(of_any_number)
    expected = [of_any_number(*args, **kwargs).to_torch() for args, kwargs in calls]
    for _ in range(2):
        for (args, kwargs), result in zip(calls, expected, strict=True):
            for _ in range(times):
                got = compiled(*args, **kwargs).to_torch()
                assert torch.equal(got.nan_to_num(7.0), result.nan_to_num(7.0))
                assert torch.equal(got.signbit(), result.signbit())


def test_defaults_of_such_functions_that_are_mutated_or_replaced_are_noticed_when_warm(device, monkeypatch):
    def picked(x, *, which=[2.0], offset=1.0):  # noqa: B006 - the point
        return x * which[0] + offset

    x = on(device, 32, 32)
    compiled = warmed(picked, x)
    picked.__kwdefaults__["which"][0] = 5.0
    assert torch.equal(compiled(x).to_torch(), (x * 5.0 + 1.0).to_torch())
    scaled = jit(of_keywords)
    for scale in (2.0, 3.0, 2.0):
        monkeypatch.setitem(of_keywords.__kwdefaults__, "scale", scale)
        for _ in range(3):
            assert torch.equal(scaled(x).to_torch(), (x * scale + 0.0).to_torch())
            assert torch.equal(scaled(x, shift=1.0).to_torch(), (x * scale + 1.0).to_torch())
    offset = warmed(of_any_number, x)
    monkeypatch.setattr(of_any_number, "__defaults__", (5.0,))
    assert torch.equal(offset(x).to_torch(), (x * 5.0).to_torch())


def test_a_warm_call_of_any_number_of_arguments_refuses_what_the_first_would_refuse():
    device = ttnn.open_device(device_id=0)
    x, y = on(device, 32, 32), on(device, 32, 32)
    compiled = warmed(of_any_number, x, 1.0, y)
    with ttnn.open_device(device_id=1) as other, pytest.raises(ArgumentError, match="different devices"):
        compiled(x, 1.0, on(other, 32, 32))
    with pytest.raises(ArgumentError, match="torch tensors and ttnn tensors in one call"):
        compiled(x, 1.0, torch.randn(32, 32))
    with pytest.raises(ArgumentError, match="no tensor among them"):
        compiled(2.0)
    y.deallocate()
    with pytest.raises(DeallocatedError):
        compiled(x, 1.0, y)
    ttnn.close_device(device)
    with pytest.raises(DeviceError):
        compiled(x, 1.0, x)


def opcodes_of(call):
    """Bytecode instructions that `call` executes, including its own few: an interpreter's work, without a clock."""
    count = 0

    def tracer(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    ("function", "inputs", "ttnn_budget", "torch_budget"),
    [(cosh, 1, 160, 115), (add_tree_8_to_1, 8, 255, 196)],
)
def test_a_warm_call_stays_within_its_budget_of_bytecode(function, inputs, ttnn_budget, torch_budget, device):
    given = [torch.randn(32, 32).to(torch.bfloat16) for _ in range(inputs)]
    held = [ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device) for tensor in given]
    for tensors, budget in ((held, ttnn_budget), (given, torch_budget)):
        compiled = warmed(function, *tensors)
        assert opcodes_of(lambda tensors=tensors, compiled=compiled: compiled(*tensors)) <= budget


def weighted(x, *weights):
    return sum((x * each for each in weights), x)


def test_torch_tensors_of_any_number_take_the_fast_path(monkeypatch):
    compiled = jit(weighted)
    tensors = [torch.randn(4, 8) for _ in range(5)]
    counts = (1, 3, 4, 2)
    expected = [weighted(*tensors[:count]) for count in counts]
    for _ in range(3):
        for count in counts:
            compiled(*tensors[:count])
    monkeypatch.setattr(compiled, "_slow_path", None)
    for count, result in zip(counts, expected, strict=True):
        assert torch.equal(compiled(*tensors[:count]), result)


def test_torch_tensors_of_any_number_are_distinguished():
    x, y, other = torch.randn(4, 8), torch.randn(4, 8), torch.randn(8, 4)
    calls = [(x, y), (x, x), (x, y, x), (x,), (x, y.bfloat16()), (other.t(), y), (x.bfloat16(), y.bfloat16()), (other,)]
    compiled, expected = jit(weighted), [jit(weighted)(*given) for given in calls]
    for _ in range(4):
        for given, result in zip(calls, expected, strict=True):
            assert torch.equal(compiled(*given), result)
    with pytest.raises(ArgumentError, match="requires grad"):
        compiled(x.clone().requires_grad_(), y)
