"""Generated parts of norms, attention, rotations, repeats and products: `ttir-fusing` keeps their results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.texts.passes_keep_results import after_passes, disagreement, results_of
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend.ir.texts import parse_texts

Shape = tuple[int, ...]
few = settings(max_examples=8, deadline=None)


@dataclass
class Text:
    """A function under construction; `value` returns the name of what it writes.

    Attributes:
        element: The element type of all tensors that say none.
    """

    element: str = "f32"
    arguments: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)

    def type_of(self, shape: Shape, element: str = "") -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element or self.element}>"

    def argument(self, *shape: int, element: str = "") -> str:
        name = f"%a{len(self.arguments)}"
        self.types[name] = self.type_of(shape, element)
        self.arguments.append(f"{name}: {self.types[name]}")
        return name

    def value(self, op: str, operands: list[str], shape: Shape, attributes: str = "", element: str = "") -> str:
        name, type_ = f"%{len(self.lines)}", self.type_of(shape, element)
        given = ", ".join(self.types[each] for each in operands)
        stated = f" <{{{attributes}}}>" if attributes else ""
        self.lines.append(f'  {name} = "ttir.{op}"({", ".join(operands)}){stated} : ({given}) -> {type_}')
        self.types[name] = type_
        return name

    def full(self, number: float, *shape: int, element: str = "") -> str:
        spelled = "0xFF800000" if number == -math.inf else f"{number:.9e}"
        stated = f"shape = array<i32: {', '.join(map(str, shape))}>, fill_value = {spelled} : f32"
        return self.value("full", [], shape, stated, element)

    def slice(self, source: str, begins: Shape, ends: Shape, steps: Shape | None = None) -> str:
        steps = steps or (1,) * len(begins)
        bounds = (("begins", begins), ("ends", ends), ("step", steps))
        stated = ", ".join(f"{name} = [{', '.join(f'{each} : i32' for each in values)}]" for name, values in bounds)
        shape = tuple(len(range(*each)) for each in zip(begins, ends, steps, strict=True))
        return self.value("slice_static", [source], shape, stated)

    def of(self, *results: str) -> str:
        types = ", ".join(self.types[each] for each in results)
        body = "\n".join(self.lines)
        head = f"func.func @f({', '.join(self.arguments)}) -> ({types})"
        return f"{head} {{\n{body}\n  return {', '.join(results)} : {types}\n}}\n"


def listed(values: Shape) -> str:
    return f"[{', '.join(f'{each} : i32' for each in values)}]"


def fused(text: str, passes: str = "ttir-fusing") -> str:
    """The text behind a pass, after its results were compared with those before."""
    (module,) = parse_texts(text, "model.mlir")
    wanted, inputs = results_of(module, None)
    after = after_passes(text, passes)
    found, _ = results_of(after, inputs)
    assert not disagreement(wanted, found)
    return print_module(after)


def norm(
    rows: int,
    width: int,
    *,
    weight: int = 0,
    power: bool = False,
    dim: int = 1,
    other: bool = False,
    cast: bool = False,
) -> str:
    text = Text("bf16" if cast else "f32")
    given = text.argument(rows, width)
    x = text.value("typecast", [given], (rows, width), element="f32") if cast else given
    base = text.argument(rows, width, element="f32") if other else x
    f32 = {"element": "f32"}
    two = text.full(2.0, rows, width, **f32) if power else base
    square = text.value("pow" if power else "multiply", [base, two], (rows, width), **f32)
    narrow = (rows, 1) if dim == 1 else (1, width)
    mean = text.value("mean", [square], narrow, f"dim_arg = [{dim} : i32], keep_dim = true", **f32)
    total = text.value("add", [mean, text.full(1e-5, *narrow, **f32)], narrow, **f32)
    scaled = text.value("multiply", [text.value("rsqrt", [total], narrow, **f32), x], (rows, width), **f32)
    if cast:
        scaled = text.value("typecast", [scaled], (rows, width))
    gamma = text.argument(weight or width)
    return text.of(text.value("multiply", [gamma, scaled], (rows, width)))


@few
@given(st.integers(1, 5), st.integers(2, 40), st.booleans(), st.booleans())
def test_a_mean_of_squares_becomes_an_rms_norm(rows, width, power, cast):
    assert '"ttir.rms_norm"' in fused(norm(rows, width, power=power, cast=cast))


@pytest.mark.parametrize(
    "text", [norm(4, 4, dim=0), norm(3, 8, weight=1), norm(3, 8, other=True)], ids=["axis", "weight", "other-operand"]
)
def test_near_misses_are_no_rms_norm(text):
    assert "rms_norm" not in fused(text)


def unit_vector(shape: Shape, dim: int, scale: float = 1.0) -> str:
    text = Text()
    x = text.argument(*shape)
    narrow = tuple(1 if index == dim else extent for index, extent in enumerate(shape))
    square = text.value("multiply", [x, x], shape)
    total = text.value("sum", [square], narrow, f"dim_arg = [{dim} : i32], keep_dim = true")
    length = text.value("sqrt", [total], narrow)
    clamped = text.value("clamp_scalar", [length], narrow, "min = 1.0e-12 : f32, max = 3.4028234e+38 : f32")
    unit = text.value("div", [x, clamped], shape)
    factor = text.full(scale * shape[dim] ** 0.5, *(1 for _ in shape))
    return text.of(text.value("multiply", [unit, factor], shape))


@few
@given(st.lists(st.integers(2, 7), min_size=2, max_size=4).map(tuple), st.data())
def test_a_unit_vector_times_the_root_of_its_length_becomes_an_rms_norm(shape, data):
    dim = data.draw(st.integers(0, len(shape) - 1))
    assert '"ttir.rms_norm"' in fused(unit_vector(shape, dim))
    assert "rms_norm" not in fused(unit_vector(shape, dim, scale=1.1))


@few
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple), st.integers(2, 4), st.data())
def test_merged_copies_become_repeats(shape, count, data):
    place = data.draw(st.integers(0, len(shape)))
    dim = data.draw(st.integers(0, len(shape) - 1))
    text = Text()
    wide = (*shape[:place], 1, *shape[place:])
    copied = (*shape[:place], count, *shape[place:])
    result = tuple(extent * count if index == dim else extent for index, extent in enumerate(shape))
    counts = ", ".join(str(count if index == place else 1) for index in range(len(wide)))
    inserted = text.value("reshape", [text.argument(*shape)], wide, f"shape = {listed(wide)}")
    copies = text.value("broadcast", [inserted], copied, f"broadcast_dimensions = array<i64: {counts}>")
    after = fused(text.of(text.value("reshape", [copies], result, f"shape = {listed(result)}")))
    if dim == place - 1:
        assert '"ttir.repeat_interleave"' in after
    elif dim == place:
        assert '"ttir.repeat"' in after


@few
@given(st.booleans(), st.booleans(), st.sampled_from(["none", "row", "all"]), st.integers(0, 1), st.data())
def test_a_slice_of_a_product_is_a_product_of_a_slice(transpose_a, transpose_b, bias, dim, data):
    rows, inner, columns = 5, 3, 7
    extent = (rows, columns)[dim]
    begin = data.draw(st.integers(0, extent - 2))
    end, step = data.draw(st.integers(begin + 1, extent - (begin == 0))), data.draw(st.integers(1, 3))
    text = Text()
    operands = [
        text.argument(*((inner, rows) if transpose_a else (rows, inner))),
        text.argument(*((columns, inner) if transpose_b else (inner, columns))),
    ]
    if bias != "none":
        operands.append(text.argument(*((columns,) if bias == "row" else (rows, columns))))
    flags = f"transpose_a = {str(transpose_a).lower()}, transpose_b = {str(transpose_b).lower()}"
    product = text.value("matmul" if bias == "none" else "linear", operands, (rows, columns), flags)
    bounds = [(0, rows, 1), (0, columns, 1)]
    bounds[dim] = (begin, end, step)
    begins, ends, steps = zip(*bounds, strict=True)
    after = fused(text.of(text.slice(product, begins, ends, steps)))
    assert after.index("slice_static") < after.index("ttir.matmul" if bias == "none" else "ttir.linear")


def products(flips: list[bool], *, shared: bool = True, biased: bool = False, widths: Shape = (2, 3, 4)) -> str:
    text = Text()
    a, results = text.argument(5, 6), []
    for flip, width in zip(flips, widths, strict=True):
        left = a if shared else text.argument(5, 6)
        operands = [left, text.argument(*((width, 6) if flip else (6, width)))]
        operands += [text.argument(width)] if biased else []
        flags = f"transpose_b = {str(flip).lower()}"
        results.append(text.value("linear" if biased else "matmul", operands, (5, width), flags))
    return text.of(*results)


@few
@given(st.lists(st.booleans(), min_size=3, max_size=3), st.booleans())
def test_three_products_of_one_operand_become_one(flips, biased):
    after = fused(products(flips, biased=biased))
    assert after.count('"ttir.linear"' if biased else '"ttir.matmul"') == 1


def test_products_of_several_operands_and_two_of_one_stay():
    assert fused(products([False] * 3, shared=False)).count('"ttir.matmul"') == 3
    assert fused(products([False] * 2, widths=(2, 3))).count('"ttir.matmul"') == 2


def guarded(text: Text, weights: str, scores: str, shape: Shape) -> str:
    """Zeros where all scores of a row are -infinity."""
    rows = (*shape[:3], 1)
    masked = text.value("eq", [scores, text.full(-math.inf, *shape)], shape)
    some = text.value(
        "reduce_or", [text.value("logical_not", [masked], shape)], rows, "dim_arg = [3 : i32], keep_dim = true"
    )
    none = text.value("logical_not", [some], rows)
    wide = text.value("broadcast", [none], shape, f"broadcast_dimensions = array<i64: 1, 1, 1, {shape[3]}>")
    return text.value("where", [wide, text.full(0.0, *shape), weights], shape)


def attention(scaled: str, mask: int, share: int, *, rows: int = 3, guard: bool = False) -> str:
    """Attention of two users with four heads; `mask` heads of a mask, 0 for none; `share` heads with one key."""
    text, heads, keys, size = Text(), 4, 5, 8
    query, shape = text.argument(2, heads, rows, size), (2, heads, rows, keys)
    pair = [text.argument(2, heads // share, keys, size) for _ in range(2)]
    if share > 1:
        stated = f"repeats = {share} : ui32, dim = 1 : si32"
        pair = [text.value("repeat_interleave", [each], (2, heads, keys, size), stated) for each in pair]
    key, value = pair
    one = text.full(0.25, 1, 1, 1, 1)
    if "q" in scaled:
        query = text.value("multiply", [query, one], (2, heads, rows, size))
    if "k" in scaled:
        key = text.value("multiply", [one, key], (2, heads, keys, size))
    key = text.value("permute", [key], (2, heads, size, keys), "permutation = array<i64: 0, 1, 3, 2>")
    scores = text.value("matmul", [query, key], shape)
    if "s" in scaled:
        scores = text.value("div", [scores, text.full(4.0, 1, 1, 1, 1)], shape)
    if mask:
        scores = text.value("add", [scores, text.argument(2, mask, rows, keys)], shape)
    weights = text.value("softmax", [scores], shape, "dimension = 3 : si32")
    weights = guarded(text, weights, scores, shape) if guard else weights
    return text.of(text.value("matmul", [weights, value], (2, heads, rows, size)))


@few
@given(
    st.sampled_from(["", "q", "k", "qk", "s", "qs"]),
    st.sampled_from([0, 1, 4]),
    st.sampled_from([1, 2, 4]),
    st.booleans(),
)
def test_attention_is_recognised_wherever_its_scale_stands(scaled, mask, share, guard):
    after = fused(attention(scaled, mask, share, guard=guard))
    assert '"ttir.scaled_dot_product_attention"' in after
    assert "ttir.softmax" not in after
    assert "repeat_interleave" not in after


def attention_with_sink(rows: int = 3, *, users: int = 1, kept: int = 5, scale: float = 0.25) -> str:
    text, heads, keys, size = Text(), 4, 5, 8
    shape, wide = (2, heads, rows, keys), (2, heads, rows, keys + 1)
    query, key, value = (text.argument(2, heads, each, size) for each in (rows, keys, keys))
    scores = text.value("matmul", [query, key], shape, "transpose_b = true")
    scores = text.value("multiply", [scores, text.full(scale, 1, 1, 1, 1)], shape)
    scores = text.value("add", [scores, text.argument(2, 1, rows, keys)], shape)
    counts = f"broadcast_dimensions = array<i64: {2 // users}, 1, {rows}, 1>"
    sink = text.value("broadcast", [text.argument(users, heads, 1, 1)], (2, heads, rows, 1), counts)
    weights = text.value("concat", [scores, sink], wide, "dim = 3 : si32")
    weights = text.value("softmax", [weights], wide, "dimension = 3 : si32")
    weights = text.slice(weights, (0, 0, 0, 5 - kept), (2, heads, rows, 10 - kept))
    return text.of(text.value("matmul", [weights, value], (2, heads, rows, size)))


@pytest.mark.parametrize("scale", [0.25, 1.0])
@pytest.mark.parametrize(("rows", "name"), [(3, "attention"), (1, "attention_decode")])
def test_a_column_that_only_the_softmax_sees_is_a_sink(rows, name, scale):
    text = attention_with_sink(rows, scale=scale)
    assert '"ttir.scaled_dot_product_attention"' in fused(text, "ttir-fusing{ir-version=2026-08}")
    assert f'"ttnn.scaled_dot_product_{name}"' in fused(text, "ttir-to-ttnn-backend-pipeline{ir-version=2026-08}")
    assert "scaled_dot_product" not in fused(text), "December 2025 has no sink"


@pytest.mark.parametrize("text", [attention_with_sink(users=2), attention_with_sink(kept=4)], ids=["users", "column"])
def test_near_misses_are_no_sink(text):
    assert "scaled_dot_product" not in fused(text, "ttir-fusing{ir-version=2026-08}")


@pytest.mark.parametrize("mask", [0, 1, 4])
def test_queries_of_one_position_become_a_decode(mask):
    after = fused(attention("s", mask, 2, rows=1), "ttir-to-ttnn-backend-pipeline")
    assert '"ttnn.scaled_dot_product_attention_decode"' in after


def rotation(shape: Shape, *, swapped: bool = False, heads: int = 1, half: int = 0, plain: bool = False) -> str:
    text, (users, count, rows, size) = Text(), shape
    middle = half or size // 2
    x, cos, sin = text.argument(*shape), text.argument(1, heads, rows, size), text.argument(1, heads, rows, size)
    low = text.slice(x, (0, 0, 0, 0), (users, count, rows, middle))
    high = text.slice(x, (0, 0, 0, middle), shape)
    negated = high if plain else text.value("neg", [high], (users, count, rows, size - middle))
    crossed = text.value("concat", [negated, low], shape, "dim = 3 : si32")
    products = [text.value("multiply", [x, cos], shape), text.value("multiply", [sin, crossed], shape)]
    return text.of(text.value("add", products[::-1] if swapped else products, shape))


def complex_rotation(shape: Shape, *, wrong: bool = False) -> str:
    text, (users, count, rows, size) = Text(), shape
    half = (users, count, rows, size // 2)
    x, cos, sin = text.argument(*shape), text.argument(1, 1, rows, size // 2), text.argument(1, 1, rows, size // 2)
    low, high = text.slice(x, (0, 0, 0, 0), half), text.slice(x, (0, 0, 0, size // 2), shape)
    factors = [(low, cos), (high, sin), (high, cos), (high if wrong else low, sin)]
    one, two, three, four = (text.value("multiply", [*each], half) for each in factors)
    parts = [text.value("subtract", [one, two], half), text.value("add", [three, four], half)]
    return text.of(text.value("concat", parts, shape, "dim = 3 : si32"))


_ROTATED = st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 4), st.sampled_from([2, 6, 8]))


@few
@given(_ROTATED, st.booleans(), st.booleans())
def test_rotations_become_composites(shape, swapped, is_complex):
    text = complex_rotation(shape) if is_complex else rotation(shape, swapped=swapped)
    assert 'composite_name = "rotary_embedding"' in fused(text)


@pytest.mark.parametrize("text", [rotation((2, 3, 4, 8)), complex_rotation((2, 3, 4, 8))], ids=["halves", "complex"])
def test_composites_are_promoted_or_inlined(text):
    assert '"ttnn.rotary_embedding"' in fused(text, "ttir-to-ttnn-backend-pipeline{composite-resolution=force-promote}")
    inlined = fused(text, "ttir-to-ttnn-backend-pipeline")
    assert "composite" not in inlined
    assert "rotary" not in inlined


@pytest.mark.parametrize(
    "text",
    [rotation((1, 2, 3, 8), half=3), rotation((1, 2, 3, 8), plain=True), complex_rotation((1, 2, 3, 8), wrong=True)],
    ids=["part", "sign", "half"],
)
def test_near_misses_are_no_rotation(text):
    assert "composite" not in fused(text)
