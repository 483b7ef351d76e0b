"""Texts of StableHLO that jax writes compute here what XLA computes on the CPU.

These tests run under `make oracle`, which installs jax; it is too large to have beside every run of the tests. Integers
and flags are equal. Floats differ by what sums and products in another order differ.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms import pipeline

pytestmark = pytest.mark.oracle

jax = pytest.importorskip("jax", reason="jax is an extra of its own: `pip install -e .[oracle]`")
jnp, lax = jax.numpy, jax.lax

RANDOM = np.random.default_rng(0)
Arrays = tuple[Any, ...]


def floats(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def small(*shape: int) -> Any:
    return RANDOM.integers(-50, 50, shape).astype(np.int32)


def words(*shape: int) -> Any:
    return RANDOM.integers(-(2**31), 2**31, shape).astype(np.int32)


def unsigned(*shape: int) -> Any:
    return RANDOM.integers(0, 2**32, shape, dtype=np.uint64).astype(np.uint32)


def flags(*shape: int) -> Any:
    return RANDOM.integers(0, 2, shape).astype(bool)


def narrow(*shape: int) -> Any:
    return jnp.asarray(floats(*shape), "bfloat16")


def as_torch(array: Any) -> torch.Tensor:
    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).bfloat16()
    return torch.from_numpy(np.array(array))


def as_numpy(tensor: torch.Tensor) -> Any:
    return tensor.float().numpy() if tensor.dtype is torch.bfloat16 else tensor.numpy()


def text_module(text: str) -> TextModule:
    (module,) = parse_texts(text, "text")
    return TextModule(module, PRESETS["cpu"])


def assert_equal(found: torch.Tensor, wanted: Any, *, is_narrow: bool) -> None:
    wanted = np.asarray(wanted)
    wanted = wanted.astype(np.float32) if wanted.dtype.name == "bfloat16" else wanted
    own = as_numpy(found)
    assert (own.shape, own.dtype) == (wanted.shape, wanted.dtype)
    if wanted.dtype.kind in "iub":
        np.testing.assert_array_equal(own, wanted)
    else:
        np.testing.assert_allclose(own, wanted, rtol=3e-2 if is_narrow else 2e-4, atol=2e-5)


def check(function: Callable[..., Any], *arguments: Any) -> None:
    """The text of a function runs, alone and after the pass to TTIR, and each of its ops is its golden."""
    compiled = jax.jit(function)
    text = compiled.lower(*arguments).as_text()
    wanted = jax.tree.leaves(compiled(*arguments))
    inputs = [as_torch(each) for each in jax.tree.leaves(arguments)]
    is_narrow = any(each.dtype is torch.bfloat16 for each in inputs)
    module = text_module(text)
    for found, each in zip(module.program("main")(*inputs), wanted, strict=True):
        assert_equal(found, each, is_narrow=is_narrow)
    wrong = [each for each in GoldenRun(module, "main", inputs).compared() if not each.matches]
    assert not wrong, (wrong[0].op.name, wrong[0].failures)


def check_pass(function: Callable[..., Any], *arguments: Any) -> None:
    """The module that the pass leaves computes the same, after it was printed and parsed."""
    text = jax.jit(function).lower(*arguments).as_text()
    (module,) = parse_texts(text, "text")
    pipeline.run_passes(module, pipeline.parse_passes("stablehlo-to-ttir-pipeline"))
    converted = op_text(module)
    assert "stablehlo." not in converted.replace("mhlo.", "")
    inputs = [as_torch(each) for each in jax.tree.leaves(arguments)]
    wanted = jax.tree.leaves(jax.jit(function)(*arguments))
    for found, each in zip(text_module(converted).program("main")(*inputs), wanted, strict=True):
        assert_equal(found, each, is_narrow=False)


# --- Elementwise ------------------------------------------------------------------------------------------------------

_UNARY = """
exp expm1 log1p sin cos tan tanh sqrt floor ceil round sign abs negative sinh cosh arcsinh cbrt square isfinite isnan
arctan
"""


@pytest.mark.parametrize("name", _UNARY.split())
def test_functions_of_floats(name):
    check(getattr(jnp, name), floats(7, 33) * 3)


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctanh"])
def test_functions_of_floats_below_one(name):
    check(getattr(jnp, name), np.tanh(floats(40)) * 0.9)


BINARY = "add sub mul div rem max min"


@pytest.mark.parametrize("name", BINARY.split())
@pytest.mark.parametrize("kinds", [(floats, floats), (words, small), (words, words), (unsigned, unsigned)])
def test_arithmetic(name, kinds):
    first, second = (kind(400) for kind in kinds)
    check(getattr(lax, name), first, second)


@pytest.mark.parametrize("name", ["div", "rem"])
def test_division_by_zero_is_that_of_xla(name):
    check(getattr(lax, name), small(60), small(60) // 20)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.parametrize("kind", [words, unsigned, flags])
def test_bits(name, kind):
    check(getattr(lax, name), kind(60), kind(60))


@pytest.mark.parametrize("name", ["shift_left", "shift_right_logical", "shift_right_arithmetic"])
def test_shifts_by_more_bits_than_there_are(name):
    check(getattr(lax, name), words(80), small(80))
    check(getattr(lax, name), unsigned(80), (unsigned(80) % 40).astype(np.uint32))


@pytest.mark.parametrize("name", ["population_count", "clz", "bitwise_not"])
def test_functions_of_bits(name):
    check(getattr(lax, name), words(50))
    check(getattr(lax, name), unsigned(50) >> np.uint32(7))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint32", "bool", "int16", "uint8", "uint16"])
@pytest.mark.parametrize("kind", [floats, words, unsigned, flags])
def test_casts(kind, dtype):
    x = kind(60)
    check(lambda x: x.astype(dtype), x * 100 if kind is floats else x)


def test_casts_of_numbers_without_an_integer():
    x = np.array([np.nan, np.inf, -np.inf, 1e20, -1e20, 2.7, -2.7], np.float32)
    check(lambda x: x.astype("int32"), x)


def test_bits_of_floats():
    x = np.array([0, -0.0, 1, -1, np.inf, -np.inf, 1e-40, -1e-45, 3e38, 1.17549435e-38, 0.1], np.float32)
    check(lambda x: lax.bitcast_convert_type(x, jnp.int32), x)
    bits = np.array([0, 1, 2**23 - 1, 2**23, 0x7F7FFFFF, 0x3F800000, 0x7F800000], np.uint32)
    check(lambda x: lax.bitcast_convert_type(x, jnp.float32), bits)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("kind", [floats, small, unsigned, flags])
def test_comparisons(name, kind):
    x, y = kind(60), kind(60)
    x, y = (np.round(x), np.round(y)) if kind is floats else (x, y)
    check(getattr(lax, name), x, y)


# --- Reductions, windows, sorts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, None])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin", "cumsum", "var"])
def test_reductions(name, axis):
    check(lambda x: getattr(jnp, name)(x, axis=axis), floats(4, 6, 5))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "cumsum"])
@pytest.mark.parametrize("kind", [words, unsigned])
def test_reductions_of_integers(name, kind):
    check(lambda x: getattr(jnp, name)(x, axis=1), kind(4, 6))


@pytest.mark.parametrize(("combine", "start"), [(lax.bitwise_or, 0), (lax.bitwise_and, -1), (lax.bitwise_xor, 0)])
def test_reducers_that_ttir_has_not(combine, start):
    check(lambda x: lax.reduce(x, np.int32(start), combine, (1,)), words(4, 7))


def test_reductions_from_another_first_value_of_narrow_and_of_no_elements():
    check(lambda x: lax.reduce(x, np.float32(3), lax.add, (1,)), floats(4, 7))
    check(lambda x: x.sum(1), narrow(4, 300))
    check(lambda x: x.sum(0), floats(0, 3))


def test_windows():
    x = floats(2, 9, 9, 3)
    check(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), x)
    check(lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), x)
    spread = {"base_dilation": (2, 1), "window_dilation": (1, 2)}
    check(lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 2), (2, 1), ((1, 2), (0, 1)), **spread), floats(5, 6))
    check(lax.cumlogsumexp, floats(9))


def test_gradients_of_windows_select_and_scatter():
    def loss(x):
        return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()

    check(jax.grad(loss), floats(2, 7, 7, 3))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sorts(axis):
    check(lambda x: jnp.sort(x, axis=axis), floats(4, 6, 5))
    check(lambda x: jnp.argsort(x, axis=axis), small(4, 6, 5) // 20)


def test_sorts_by_several_keys_and_of_nan():
    check(lambda a, b: lax.sort((a, b), num_keys=2), small(40) // 10, floats(40))
    check(jnp.sort, np.where(RANDOM.random((4, 9)) > 0.2, floats(4, 9), np.nan).astype(np.float32))


# --- Movement, indices ------------------------------------------------------------------------------------------------

X = floats(4, 6, 5)
MOVEMENTS = {
    "transpose": (lambda x: jnp.transpose(x, (2, 0, 1)), X),
    "flip": (lambda x: x[::-1, :, ::2], X),
    "pad": (lambda x: lax.pad(x, np.float32(2.5), ((1, -2, 2), (-1, 3, 0), (0, 0, 1))), X),
    "pad by a number of the program": (lambda x, v: lax.pad(x, v, ((1, -2, 2), (-1, 3, 0), (0, 0, 1))), X, floats()),
    "pad of large integers": (lambda x: lax.pad(x, np.int32(123456789), ((1, 2, 1),)), small(5)),
    "pad of flags": (lambda x: lax.pad(x, True, ((1, 2, 1),)), flags(5)),
    "concatenate": (lambda x, y: jnp.concatenate([x, y], 1), floats(3, 4), floats(3, 2)),
    "tile": (lambda x: jnp.tile(x, (2, 3)), floats(3, 4)),
    "tril": (jnp.tril, floats(4, 4)),
    "roll": (lambda x: jnp.roll(x, 2, 1), floats(4, 4)),
    "outer": (lambda x: x[:, None] * x[None], floats(9)),
    "slice held inside": (
        lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)),
        floats(5, 6),
        np.int32(-7),
        np.int32(9),
    ),
    "slice by unsigned": (lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3)), floats(5, 6), np.uint32(2**31 + 5)),
    "update": (
        lambda x, y, i, j: lax.dynamic_update_slice(x, y, (i, j)),
        floats(5, 6),
        floats(2, 3),
        np.int32(2),
        np.int32(9),
    ),
    "take": (lambda x, i: jnp.take(x, i, axis=0), floats(9, 4), small(7)),
    "take along": (lambda x, i: jnp.take_along_axis(x, i, 1), floats(3, 9), small(3, 5) % 9),
    "two indices": (lambda x, i, j: x[i, j], floats(9, 4), small(7) % 9, small(7) % 4),
    "indices in the middle": (lambda x, i: x[:, i], floats(9, 4), small(2, 2) % 4),
    "batched slices": (
        lambda x, i: jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (3,)))(x, i),
        floats(4, 9),
        small(4) % 7,
    ),
    "batched scatter": (
        lambda x, i, y: jax.vmap(lambda x, i, y: x.at[i].add(y))(x, i, y),
        floats(4, 9),
        small(4, 3) % 9,
        floats(4, 3),
    ),
    "scatter of columns": (lambda x, i, y: x.at[:, i].set(y), floats(9, 4), np.array([1, 3], np.int32), floats(9, 2)),
    "scatter of integers": (lambda x, i, y: x.at[i].add(y), small(9), small(6) % 9, small(6)),
    "counts": (lambda x: jnp.bincount(x, length=5), abs(small(30)) % 5),
}


@pytest.mark.parametrize("name", MOVEMENTS)
def test_movement(name):
    function, *arguments = MOVEMENTS[name]
    check(function, *arguments)
    check_pass(function, *arguments)


@pytest.mark.parametrize("name", ["set", "add", "multiply", "max", "min"])
@pytest.mark.parametrize("index", [[1, 5, 7], [1, 50, -1]])
def test_scatters_leave_out_what_lies_outside(name, index):
    check(lambda x, i, y: getattr(x.at[i], name)(y), floats(9, 4), np.array(index, np.int32), floats(3, 4))


# --- Products ---------------------------------------------------------------------------------------------------------

PRODUCTS = {
    "matrices": (jnp.dot, floats(4, 5), floats(5, 6)),
    "vectors": (jnp.dot, floats(5), floats(5)),
    "integers": (jnp.dot, small(4, 5), small(5, 6)),
    "batches": (lambda a, b: jnp.einsum("bqhd,bkhd->bhqk", a, b), floats(2, 3, 4, 5), floats(2, 6, 4, 5)),
    "several dimensions": (lambda a, b: jnp.tensordot(a, b, axes=((0, 2), (1, 0))), floats(3, 4, 5), floats(5, 3, 2)),
    "narrow": (jnp.dot, narrow(4, 5), narrow(5, 6)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    check(*PRODUCTS[name])


CONVOLUTIONS = {
    "valid": {"padding": "VALID"},
    "strides": {"padding": "SAME", "window_strides": (2, 2)},
    "uneven": {"padding": ((1, 2), (0, 3))},
    "dilated": {"padding": "SAME", "rhs_dilation": (2, 2)},
    "spread": {"padding": ((2, 2), (2, 2)), "lhs_dilation": (2, 3)},
    "cut": {"padding": ((-1, 0), (0, -1))},
    "groups": {"padding": "SAME", "feature_group_count": 3},
    "batch groups": {"padding": "SAME", "batch_group_count": 3},
    "channels last": {"padding": "SAME", "dimension_numbers": ("NHWC", "HWIO", "NHWC")},
    "batch second": {"padding": "SAME", "dimension_numbers": ("CNHW", "OIHW", "NCHW")},
}
_OPERANDS = {
    "groups": ((3, 6, 9, 8), (9, 2, 3, 3)),
    "channels last": ((3, 9, 8, 6), (3, 3, 6, 9)),
    "batch second": ((6, 3, 9, 8), (9, 6, 3, 3)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    shapes = _OPERANDS.get(name, ((3, 6, 9, 8), (9, 6, 3, 3)))
    options = {"window_strides": (1, 1)} | CONVOLUTIONS[name]
    arguments = [floats(*each) for each in shapes]
    check(lambda x, w: lax.conv_general_dilated(x, w, **options), *arguments)
    check_pass(lambda x, w: lax.conv_general_dilated(x, w, **options), *arguments)


@pytest.mark.parametrize("rank", [1, 3])
def test_convolutions_of_other_ranks(rank):
    extents = (5, 6, 7)[:rank]
    check(
        lambda x, w: lax.conv_general_dilated(x, w, (1,) * rank, "SAME"),
        floats(2, 3, *extents),
        floats(4, 3, *(3,) * rank),
    )


# --- Control flow -----------------------------------------------------------------------------------------------------

CONTROL = {
    "counted": (lambda x: lax.fori_loop(0, 5, lambda i, a: a * 2 + i, x), floats(4)),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(3), x), floats(6, 3)),
    "first": (lambda p, x: lax.cond(p > 0, lambda x: x * 2, lambda x: -x, x), np.float32(1), floats(5)),
    "second": (lambda p, x: lax.cond(p > 0, lambda x: x * 2, lambda x: -x, x), np.float32(-1), floats(5)),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x), np.int32(1), floats(5)),
    "switch beyond": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x), np.int32(9), floats(5)),
    "calls": (lambda x: jax.jit(lambda y: y + 1)(x) * jax.jit(lambda y: y + 1)(x), floats(3)),
}


@pytest.mark.parametrize("name", CONTROL)
def test_control_flow(name):
    check(*CONTROL[name])


# --- Models -----------------------------------------------------------------------------------------------------------


def normed(x, scale, offset):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + offset


def attention(query, key, value):
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / 2
    scores = jnp.where(jnp.tril(jnp.ones((5, 5), bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)


def perceptron(first, bias, second, x):
    return jax.nn.gelu(x @ first + bias) @ second


def convnet(kernel, weight, x):
    x = jax.nn.relu(lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ weight


MODELS = {
    "layer norm": (normed, floats(4, 16), floats(16), floats(16)),
    "attention": (attention, floats(2, 5, 3, 4), floats(2, 5, 3, 4), floats(2, 5, 3, 4)),
    "perceptron": (perceptron, floats(8, 16), floats(16), floats(16, 4), floats(3, 8)),
    "convnet": (convnet, floats(3, 3, 3, 4) * 0.3, floats(64, 10) * 0.3, floats(2, 8, 8, 3)),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    check(*MODELS[name])
    check_pass(*MODELS[name])


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_models(name):
    function, *arguments = MODELS[name]
    every = tuple(range(len(arguments)))
    check(lambda *given: jax.grad(lambda *own: (function(*own) ** 2).mean(), every)(*given), *arguments)


# --- Random programs --------------------------------------------------------------------------------------------------

STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "multiply": operator.mul,
    "maximum": lambda x, y: jnp.maximum(x, y),
    "where": lambda x, y: jnp.where(x > y, x, y * 2),
    "sum": lambda x, y: x + y.sum(-1, keepdims=True),
    "transpose": lambda x, y: (x.T + y.T).T,
    "roll": lambda x, y: jnp.roll(x, 1, 0) - y,
    "tanh": lambda x, y: jnp.tanh(x) + y,
    "softmax": lambda x, y: jax.nn.softmax(x) * y,
    "dot": lambda x, y: (x @ y.T) @ x / 8,
    "cumsum": lambda x, y: jnp.cumsum(x, 0) / 8 + y,
    "slice": lambda x, y: x.at[1:].set(y[:-1]),
    "sort": lambda x, y: jnp.sort(x, 1) + y,
    "integers": lambda x, y: (x * 4).astype("int32").astype("float32") / 4 + y,
}


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6),
    st.integers(2, 6),
    st.integers(1, 7),
    st.integers(0, 2**31),
)
def test_random_programs(steps, rows, columns, seed):
    def program(x, y):
        for each in steps:
            x, y = STEPS[each](x, y), x
        return x, y

    source = np.random.default_rng(seed)
    x, y = (source.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    check(program, x, y)
