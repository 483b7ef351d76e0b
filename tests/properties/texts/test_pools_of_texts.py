"""Pools of texts against torch in float64: other padding at each end, dilation and windows beyond the padding at once.

ttnn's functions take no dilation of a mean, and pad the images of `max_pool2d_indices` themselves.
"""

from __future__ import annotations

import math

import hypothesis.strategies as st
import torch
from hypothesis import assume, example, given, settings

from tests.properties.operations.test_convolutions import assert_near, channels_first, f32, random
from tests.properties.operations.test_pools import DILATIONS, pools, windows_of
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS


@st.composite
def pools_of_texts(draw):
    """Arguments of a pool, its padding (top, bottom, left, right), its dilation, and whether a window may exceed it."""
    arguments, dilation = draw(pools()), draw(DILATIONS)
    spans = [apart * (taps - 1) + 1 for taps, apart in zip(arguments[4], dilation, strict=True)]
    ends = [draw(st.integers(0, span // 2)) for span in spans for _ in range(2)]
    assume(all(arguments[1 + each] + sum(ends[2 * each : 2 * each + 2]) >= spans[each] for each in range(2)))
    return arguments, ends, dilation, draw(st.booleans())


def results_of(name, x, case, results, extra=""):
    """The results of one op, each compared with its golden."""
    (*_, kernel, stride, _), (top, bottom, left, right), dilation, ceil = case
    numbers = {"kernel": kernel, "stride": stride, "dilation": dilation, "padding": (top, left, bottom, right)}
    attributes = ", ".join(f"{each} = array<i32: {', '.join(map(str, given))}>" for each, given in numbers.items())
    types = [f"tensor<{'x'.join(map(str, shape))}x{element}>" for shape, element in results]
    of_x = f"tensor<{'x'.join(map(str, x.shape))}xf32>"
    values = ", ".join(f"%0#{k}" for k in range(len(types))) if len(types) > 1 else "%0"
    (module,) = parse_texts(
        f"""
        func.func @main(%x: {of_x}) -> ({", ".join(types)}) {{
          %0{f":{len(types)}" if len(types) > 1 else ""} = "ttir.{name}"(%x)
            <{{{attributes}, ceil_mode = {str(ceil).lower()}{extra}}}> : ({of_x}) -> ({", ".join(types)})
          return {values} : {", ".join(types)}
        }}""",
        "pool.mlir",
    )
    module = TextModule(module, PRESETS["cpu"], (1,))
    compared = GoldenRun(module, "main", [x]).compared()
    assert [reason for each in compared for reason in each.failures] == []
    return module.program("main")(x)


@settings(max_examples=20, deadline=None)
@given(case=pools_of_texts(), counts_padding=st.booleans())
@example(case=([1, 8, 8, 3, [3, 3], [2, 2], None], [1, 1, 1, 1], [2, 2], True), counts_padding=True)
@example(case=([1, 7, 9, 3, [3, 3], [3, 3], None], [1, 2, 1, 2], [2, 2], True), counts_padding=False)
def test_a_mean_with_dilation_counts_the_taps_inside(case, counts_padding):
    arguments, ends, dilation, ceil = case
    x = random((*arguments[:3], arguments[3]), f32, 1)
    want, magnitudes, counted = (
        windows_of(each, fill, arguments, ends, dilation, ceil).sum((-2, -1))
        for each, fill in (
            (x.double(), 0.0),
            (x.double().abs(), 0.0),
            (torch.ones_like(x).double(), float(counts_padding)),
        )
    )
    assume((counted > 0).all())
    want, magnitudes = ((each / counted).permute(0, 2, 3, 1) for each in (want, magnitudes))
    (got,) = results_of(
        "avg_pool2d", x, case, [(want.shape, "f32")], f", count_include_pad = {str(counts_padding).lower()}"
    )
    assert_near(got, want, magnitudes, 12, f32)


@settings(max_examples=6, deadline=None)  # numba compiles each
@given(case=pools_of_texts())
@example(case=([1, 7, 9, 3, [3, 3], [3, 3], None], [1, 2, 1, 2], [2, 2], False))
def test_the_indices_of_maxima_name_the_largest_elements(case):
    arguments, ends, dilation, ceil = case
    batch, height, width, channels, *_ = arguments
    x = random((batch, height, width, channels), f32, 1)
    want = windows_of(x, -math.inf, arguments, ends, dilation, ceil).amax((-2, -1)).permute(0, 2, 3, 1)
    assume(want.isfinite().all())
    got, index = results_of("max_pool2d_with_indices", x, case, [(want.shape, "f32"), (want.shape, "i32")])
    assert torch.equal(got, want)
    rows = channels_first(x).reshape(batch, channels, height * width).permute(0, 2, 1)
    found = rows.gather(1, index.long().reshape(batch, -1, channels)).reshape(want.shape)
    assert torch.equal(found, want)
