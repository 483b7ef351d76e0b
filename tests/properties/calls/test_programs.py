"""Random programs: fused, unfused, in source order, interpreted and eager calls give the same bits on a chip target."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.expressions import TENSORS, evaluate, expressions
from ttnn_jit import ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms import pipeline

SPECIALS = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, -1e-45, 3e38, 1.0, -2.5]


CHIP_AND_CPU = ("wormhole_b0", "cpu")


def data(seed, dtype, shape):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator) * 3
    where = torch.randint(0, values.numel(), (len(SPECIALS),), generator=generator)
    values.view(-1)[where] = torch.tensor(SPECIALS)
    return values.to(dtype)


def assert_same_bits(left, right):
    same = left.view(torch.uint8).reshape(-1, left.element_size()) == right.view(torch.uint8).reshape(
        -1, left.element_size()
    )
    assert (same.all(dim=1) | (left.isnan() & right.isnan()).reshape(-1)).all()


def scheduled(module, *, schedule=True, fuse=True):
    passes = pipeline.passes_between(CompileOptions(fuse=fuse), until=pipeline.SCHEDULED)
    chosen = [stage for stage in passes if schedule or stage.name != "d2m-op-scheduler"]
    pipeline.run_passes(module, chosen, verify_each=True)
    return module


def fits_in_source_order(module, capacity):
    peaks = [op.attributes["d2m.dst_peak_source_order"].value.data for op in module.walk() if op.name == "d2m.generic"]
    return max(peaks) <= capacity


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(expressions(), st.sampled_from([torch.float32, torch.bfloat16]), st.integers(0, 2**16))
def test_fused_is_eager_is_source_order_is_the_interpreter_bit_for_bit(expression, dtype, seed):
    target = PRESETS["wormhole_b0"]
    with ttnn.open_device(target=target) as device:
        tensors = [
            ttnn.from_torch(data(seed + k, dtype, (32, 64)), layout=ttnn.TILE_LAYOUT, device=device)
            for k in range(TENSORS)
        ]

        def program(a, b, c, d):
            return evaluate(expression, (a, b, c, d))

        arguments = {name: TensorArgument(t.spec) for name, t in zip("abcd", tensors, strict=True)}

        def module():
            return lower(FrontendRequest(program, arguments, target, graph_capture=True)).module

        expected = program(*tensors).to_torch()
        fused = scheduled(module())
        assert_same_bits(driver.compile_scheduled(fused)(*tensors).to_torch(), expected)
        variants = [scheduled(module(), fuse=False)]
        if fits_in_source_order(fused, target.dst_capacity(wide=dtype is torch.float32)):
            variants.append(scheduled(module(), schedule=False))
        for variant in variants:
            assert_same_bits(driver.compile_scheduled(variant)(*tensors).to_torch(), expected)
        arrays = [
            t.view(torch.uint16).numpy() if dtype is torch.bfloat16 else t.numpy()
            for t in (tensor.to_torch() for tensor in tensors)
        ]
        (interpreted,) = interpret(fused, arrays)
        assert_same_bits(torch.from_numpy(interpreted).view(dtype), expected)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(expressions(), st.sampled_from([torch.float32, torch.bfloat16]), st.sampled_from(CHIP_AND_CPU), st.booleans())
def test_the_text_of_every_stage_parses_back_to_itself(expression, dtype, target, locations):
    from ttnn_jit.dialects import parse_module, print_module
    from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

    element = DataType.FLOAT32 if dtype is torch.float32 else DataType.BFLOAT16
    spec = TensorSpec((32, 64), element, Layout.TILE)

    def program(a, b, c, d):
        return evaluate(expression, (a, b, c, d))

    module = lower(
        FrontendRequest(program, dict.fromkeys("abcd", TensorArgument(spec)), PRESETS[target], graph_capture=True)
    ).module

    def round_trip(_, left):
        text = print_module(left, locations=locations)
        assert print_module(parse_module(text), locations=locations) == text

    round_trip("frontend", module)
    pipeline.run(module, CompileOptions(), observer=round_trip)
