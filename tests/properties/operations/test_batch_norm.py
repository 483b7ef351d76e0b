"""`batch_norm`, whose statistics are updated in training, in every executor against torch in float64."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import HealthCheck, given, settings

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError

MODES = {
    "eager": lambda function: function,
    "interpreted": ttnn_jit.jit(graph_capture=False),
    "traced": ttnn_jit.jit(graph_capture=True),
}


def training(x, mean, var, weight, bias):
    return ttnn.batch_norm(
        x, running_mean=mean, running_var=var, training=True, eps=1e-3, momentum=0.25, weight=weight, bias=bias
    )


def inference(x, mean, var, weight, bias):
    return ttnn.batch_norm(x, running_mean=mean, running_var=var, eps=1e-3, weight=weight, bias=bias)


def operands(shape, seed, *, given):
    generator = torch.Generator().manual_seed(seed)
    per_channel = (1, shape[1], *[1] * (len(shape) - 2))
    numbers = [torch.rand(per_channel, generator=generator) + 0.5 for _ in range(4)]
    return torch.randn(shape, generator=generator) * 2 + 1, [
        number if there else None for number, there in zip(numbers, given, strict=True)
    ]


def in_float64(x, mean, var, weight, bias, *, is_training):
    flat = [None if each is None else each.double().reshape(-1) for each in (mean, var, weight, bias)]
    own = (None, None) if is_training else flat[:2]
    return torch.nn.functional.batch_norm(x.double(), *own, *flat[2:], training=is_training, eps=1e-3)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.tuples(st.integers(2, 4), st.integers(1, 40), st.integers(1, 35), st.integers(2, 9)),
    rank=st.integers(2, 4),
    given=st.lists(st.booleans(), min_size=4, max_size=4),
    mode=st.sampled_from(list(MODES)),
    seed=st.integers(0, 99),
)
def test_training_normalises_by_the_batch_and_updates_the_statistics_in_place(
    shape, rank, given, mode, seed, cpu_device
):
    x, numbers = operands(shape[:rank], seed, given=given)
    on_device = [
        None if each is None else ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device)
        for each in (x, *numbers)
    ]
    got = MODES[mode](training)(*on_device)
    want = in_float64(x, *numbers, is_training=True)
    torch.testing.assert_close(ttnn.to_torch(got).double(), want, rtol=1e-4, atol=1e-4)
    axes = (0, *range(2, x.dim()))
    batch = x.double().mean(axes, True), x.double().var(axes, correction=0, keepdim=True)
    for old, new, found in zip(numbers, on_device[1:], batch, strict=False):
        if old is not None:
            want = 0.75 * old.double() + 0.25 * found
            torch.testing.assert_close(ttnn.to_torch(new).double(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_inference_normalises_by_the_statistics_and_does_not_change_them(mode, dtype, device, cpu_device):
    x, numbers = operands((3, 33, 5, 32), 5, given=[True] * 4)
    x, numbers = x.to(dtype), [each.to(dtype) for each in numbers]
    want = in_float64(x, *numbers, is_training=False)
    bound = {torch.float32: 1e-5, torch.bfloat16: 2.0**-7}[dtype]
    for where in (cpu_device, device) if mode == "eager" else (cpu_device,):
        on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=where) for each in (x, *numbers)]
        got = MODES[mode](inference)(*on_device)
        assert got.dtype is on_device[0].dtype
        torch.testing.assert_close(ttnn.to_torch(got).double(), want, rtol=bound, atol=bound)
        assert torch.equal(ttnn.to_torch(on_device[1]), numbers[0])


def test_the_statistics_of_torchs_tensors_are_written_by_a_jitted_function():
    x, numbers = operands((4, 7, 6), 1, given=[True] * 4)
    before = numbers[0].clone()
    result = ttnn_jit.jit()(training)(x, *numbers)
    want = in_float64(x, *numbers, is_training=True)
    torch.testing.assert_close(result.double(), want, rtol=1e-5, atol=1e-5)
    moved = 0.75 * before + 0.25 * x.mean((0, 2), keepdim=True)
    torch.testing.assert_close(numbers[0], moved, rtol=1e-5, atol=1e-6)


def test_a_result_is_written_into_the_callers_tensor(cpu_device):
    x, numbers = operands((2, 5, 32, 32), 2, given=[True] * 4)
    on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device) for each in (x, *numbers)]
    for is_training in (False, True):
        output = ttnn.zeros_like(on_device[0])
        got = ttnn.batch_norm(
            on_device[0], running_mean=on_device[1], running_var=on_device[2], training=is_training, output=output
        )
        assert got is output
        want = torch.nn.functional.batch_norm(
            x.double(), *(each.double().reshape(-1) for each in numbers[:2]), training=is_training
        )
        torch.testing.assert_close(ttnn.to_torch(output).double(), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttnn.batch_norm(x), "`running_mean` and `running_var`"),
        (lambda x: ttnn.batch_norm(x, running_mean=x, running_var=x), "`running_mean` has 160 elements"),
        (lambda x: ttnn.batch_norm(x, training=1.0), "`training` of batch_norm must be True or False"),
        (lambda x: ttnn.batch_norm(x[0], training=True), r"a tensor of shape \[40\] has no channels"),
        (lambda x: ttnn.group_norm(x, num_groups=3), "do not make 3 equal groups"),
        (lambda x: ttnn.group_norm(x, num_groups=2, weight=x[:1, :39]), "39 numbers are 40 channels"),
        (
            lambda x: ttnn.group_norm(x, num_groups=2, weight=ttnn.reshape(x[:, :16], (64,))),
            r"64 numbers are 40 channels in \[1, 2\] chunks",
        ),
        (lambda x: ttnn.group_norm(x), "`group_norm` lacks its argument `num_groups`"),
        (lambda x: ttnn.std_hw(x[0]), "no rows and columns"),
        (lambda x: ttnn.rms_norm_post_all_gather(x, x), r"`stats` has shape \[4, 40\]"),
    ],
)
@pytest.mark.parametrize("graph_capture", [False, True])
def test_mismatched_operands_of_a_norm_are_refused_at_their_location(call, message, graph_capture):
    with pytest.raises(CompileError, match=message) as caught:
        ttnn_jit.jit(graph_capture=graph_capture)(call)(torch.randn(4, 40))
    assert caught.value.location.file == __file__


def test_training_keeps_its_digits_far_from_zero(cpu_device):
    x = torch.randn(2, 5, 6, 7, generator=torch.Generator().manual_seed(1)).mul(64).round() / 64 + 2.0**17
    got = ttnn.to_torch(training(ttnn.from_torch(x, device=cpu_device), None, None, None, None))
    want = in_float64(x, None, None, None, None, is_training=True)
    torch.testing.assert_close(got.double(), want, rtol=4e-6, atol=8e-6)
