"""replicate-non-splittable-values: what stays sharded is, part by part, what it is whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.transforms.texts.registry import text_passes

SHARDED = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {}]>]>}'
MESH = 'sdy.mesh @mesh = <["x"=%d, "y"=2]>\n'


def is_kept(text, devices, extra=""):
    module = parse_upstream(MESH % devices + extra + text)
    (one,) = text_passes("replicate-non-splittable-values", "")
    one.apply(None, module)
    (op,) = [each for each in module.walk() if "sdy.sharding" in each.attributes]
    return '"x"' in str(op.attributes["sdy.sharding"])


def sliced(start, limit, stride, size, devices):
    rows = len(range(start, limit, stride))
    return is_kept(
        f"func.func @f(%a: tensor<{size}x2xf32>) -> tensor<{rows}x2xf32> {{\n"
        f"  %0 = stablehlo.slice %a [{start}:{limit}:{stride}, 0:2] {SHARDED} : (tensor<{size}x2xf32>)"
        f" -> tensor<{rows}x2xf32>\n  return %0 : tensor<{rows}x2xf32>\n}}",
        devices,
    )


@given(st.data())
def test_a_slice_that_stays_sharded_is_the_slices_of_its_parts(data):
    devices, width = data.draw(st.sampled_from([2, 4])), data.draw(st.integers(1, 8))
    size = devices * width
    start, stride = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, 5))
    limit = data.draw(st.one_of(st.just(size), st.integers(start + 1, size)))
    whole = np.arange(size)
    of_parts = np.concatenate([part[start::stride] for part in np.split(whole, devices)])
    if sliced(start, limit, stride, size, devices):
        assert np.array_equal(of_parts, whole[start:limit:stride])


def test_slices_of_whole_dimensions_and_of_every_second_element_stay_sharded():
    assert sliced(0, 8, 1, 8, 2)
    assert sliced(1, 8, 2, 8, 2)
    assert not sliced(0, 4, 1, 8, 2)
    assert not sliced(0, 6, 2, 6, 2), "an odd part breaks the interleaving"


@pytest.mark.parametrize(("rows", "kept"), [([1, 2, 1, 2], True), ([1, 2, 3, 4], False), ([5, 5, 5, 5], True)])
def test_a_constant_whose_parts_are_equal_stays_sharded(rows, kept):
    numbers = ", ".join(f"[{each}.0, 0.0]" for each in rows)
    text = f"func.func @f() {{\n %0 = stablehlo.constant {SHARDED} dense<[{numbers}]> : tensor<4x2xf32>\n return\n}}"
    assert is_kept(text, 2) is kept


@pytest.mark.parametrize(("dim", "kept"), [(0, False), (1, True)])
def test_an_iota_over_a_whole_dimension_stays_sharded(dim, kept):
    text = f"func.func @f() {{\n %0 = stablehlo.iota dim = {dim} {SHARDED} : tensor<4x2xf32>\n return\n}}"
    assert is_kept(text, 2) is kept
    assert is_kept(text, 1), "one device holds all"


def test_several_meshes_are_refused():
    with pytest.raises(CompileError, match="only supports a single shardy mesh"):
        is_kept("func.func @f() { return }", 2, 'sdy.mesh @other = <["x"=2]>\n')
