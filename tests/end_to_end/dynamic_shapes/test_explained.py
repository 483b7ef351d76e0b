"""What users are told of programs for many sizes: which use fixed a size, and which condition fails."""

import warnings
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests.end_to_end.dynamic_shapes import dynamic_model
from ttnn_jit import ttnn
from ttnn_jit.compiler.templates import MAX_TEMPLATES, MAX_UNSHARED

FILE = dynamic_model.__file__


def line_of(text):
    """The line of the model's source that contains `text`."""
    lines = Path(FILE).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def explained(function, *args):
    """The lines of `explain_miss` without that of the disk."""
    return ttnn_jit.explain_miss(function, *args).splitlines()[:-1]


def called(function, *sizes, **options):
    """The jitted function after calls with tensors of these rows."""
    jitted = ttnn_jit.jit(enable_cache=False, **options)(function)
    for rows in sizes:
        jitted(torch.randn(rows, 16))
    return jitted


def test_a_failing_condition_is_told_with_the_use_that_fixed_the_size():
    blocks = called(dynamic_model.blocks, 40, 41)
    first, *_, last = explained(blocks, torch.randn(70, 16))
    assert first == "template 1 of 1 needs x.shape[0] // 32 == 1: x.shape[0] // 32 is 2"
    assert last == f"    specialised on 2: `range(x.shape[0] // 32 + 1)` at {FILE}:{line_of('range(')}"


@pytest.mark.parametrize(
    ("function", "used", "value"),
    [
        (dynamic_model.halved, "int(0.5 * x.shape[0])", 20.5),
        (dynamic_model.named, 'f"{x.shape[0]} rows"', 41),
        (dynamic_model.looked_up, "SCALES.get(rows, 1.0)", 41),
        (dynamic_model.scaled, "math.lgamma(number)", 41),
        (dynamic_model.reshaped, "numpy.prod(x.shape)", 41),
        (dynamic_model.kept_by_a_cache, "doubled(x.shape[0])", 41),
    ],
)
def test_every_use_that_fixes_a_size_is_named_by_its_expression(function, used, value):
    *_, last = explained(called(function, 40, 41), torch.randn(43, 16))
    assert last == f"    specialised on {value}: `{used}` at {FILE}:{line_of(used)}"


def test_a_traced_function_is_told_the_use_that_fixed_the_size():
    traced = called(dynamic_model.halved, 40, 41, graph_capture=True)
    *_, last = explained(traced, torch.randn(43, 16))
    assert last == f"    specialised on 41: `x.shape` at {FILE}:{line_of('int(0.5 * x.shape[0])')}"


def test_a_traced_function_that_looks_at_no_shape_fixes_none():
    traced = called(dynamic_model.plain, 40, 41, graph_capture=True)
    before = ttnn_jit.cache_info().compiles
    assert traced(torch.randn(43, 16)).shape == (43, 16)
    assert ttnn_jit.cache_info().compiles == before


def test_sizes_in_containers_and_objects_have_names():
    def added(pair, weights, count):
        return ttnn.add(ttnn.multiply(pair[0], count), weights["w"])

    jitted = ttnn_jit.jit(enable_cache=False)(added)
    for rows in (40, 41):
        jitted((torch.randn(rows, 16),), {"w": torch.randn(rows, 16)}, 3)
    (line,) = explained(jitted, (torch.randn(43, 16),), {"w": torch.randn(1, 16)}, 3)
    assert line == (
        "template 1 of 1 needs weights['w'].shape[0] == pair[0].shape[0], as in the calls before: they are 1 and 43"
    )
    lines = explained(jitted, (torch.randn(43, 8),), {"w": torch.randn(43, 8)}, 4)
    assert [line.partition(" needs ")[2] for line in lines] == [
        "pair[0].shape[1] == 16: it is 8", "weights['w'].shape[1] == 16: it is 8", "count == 3: it is 4",
    ]  # fmt: skip


def test_sizes_that_a_template_serves_need_no_explanation():
    assert explained(called(dynamic_model.plain, 40, 41), torch.randn(43, 16)) == []


def test_too_many_templates_are_warned_of_once_with_what_keeps_failing():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        called(dynamic_model.halved, *range(40, 45 + MAX_TEMPLATES, 2), *range(100, 145 + MAX_TEMPLATES, 2))
    (text,) = [str(each.message) for each in caught if "programs for many sizes" in str(each.message)]
    assert text.startswith(
        f"halved compiles every size by itself that none of its {MAX_UNSHARED} programs for many sizes serves: "
        f"it was compiled for {MAX_TEMPLATES} sizes; what keeps failing"
    )
    assert f"what keeps failing: `int(0.5 * x.shape[0])` at {FILE}:{line_of('int(0.5 * x.shape[0])')} (docs" in text
