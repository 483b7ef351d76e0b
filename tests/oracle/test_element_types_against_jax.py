"""Texts that jax writes in halves, doubles and integers of all widths compute here what XLA computes on the CPU.

These tests run under `make oracle`. Integers and flags are equal; floats differ by a few units of their type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS

pytestmark = pytest.mark.oracle

jax = pytest.importorskip("jax", reason="jax is an extra of its own: `pip install -e .[oracle]`")
jnp, lax = jax.numpy, jax.lax
nn, special = jax.nn, jax.scipy.special

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def sixty_four_bits():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def numbers(dtype: str, *shape: int) -> Any:
    if dtype.startswith("float"):
        return RANDOM.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def check(function: Callable[..., Any], *arguments: Any) -> None:
    """A function runs, has XLA's element types and numbers, and each of its ops is its golden."""
    compiled = jax.jit(function, keep_unused=True)
    (module,) = parse_texts(compiled.lower(*arguments).as_text(), "text")
    text = TextModule(module, PRESETS["cpu"])
    inputs = [torch.from_numpy(np.array(each)) for each in jax.tree.leaves(arguments)]
    wanted = [np.asarray(each) for each in jax.tree.leaves(compiled(*arguments))]
    for found, exact in zip(text.program("main")(*inputs), wanted, strict=True):
        own = found.numpy()
        assert (own.shape, own.dtype) == (exact.shape, exact.dtype)
        if exact.dtype.kind in "iub":
            np.testing.assert_array_equal(own, exact)
        else:
            bound = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}[exact.dtype.name]
            np.testing.assert_allclose(own, exact, rtol=bound, atol=bound * max(1.0, np.abs(exact).max()))
    wrong = [each for each in GoldenRun(text, "main", inputs).compared() if not each.matches]
    assert not wrong, (wrong[0].op.name, wrong[0].verdicts)


_UNARY = "exp log1p sin cos tanh sinh arctan expm1 cbrt abs sign floor exp2 square isfinite"


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", _UNARY.split())
def test_functions(name, dtype):
    check(getattr(jnp, name), np.abs(numbers(dtype, 5, 7)))


OF_FLOATS = {
    "softmax": nn.softmax,
    "gelu": nn.gelu,
    "logsumexp": nn.logsumexp,
    "erf": special.erf,
    "erfinv": lambda x: special.erfinv(jnp.tanh(x)),
    "lgamma": special.gammaln,
    "product": lambda x: x @ x.T,
    "batched product": lambda x: jnp.einsum("ij,kj->jik", x, x),
    "constants": lambda x: x * np.asarray(0.1, x.dtype) + np.asarray(1 / 3, x.dtype),
    "gradient": jax.grad(lambda x: jnp.sum(jnp.tanh(x) * jnp.exp(x))),
    "norm": lambda x: (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5),
    "sort": lambda x: jnp.sort(x, axis=1),
    "largest": lambda x: lax.top_k(x, 3),
    "running sum": lambda x: jnp.cumsum(x, axis=1),
    "scattered": lambda x: x.at[:, 2].add(1),
    "bits": lambda x: lax.bitcast_convert_type(x, {2: np.int16, 8: np.int64}[x.dtype.itemsize]),
    "powers": lambda x: jnp.abs(x) ** x,
    "remainder": lambda x: jnp.remainder(x, x.T.reshape(x.shape)),
}


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", OF_FLOATS)
def test_floats(name, dtype):
    check(OF_FLOATS[name], numbers(dtype, 5, 7))


OF_INTEGERS = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, -x),
    "quotients": lambda x, y: (lax.div(x, y), lax.rem(x, y), x // y, x % y),
    "order": lambda x, y: (x < y, x >= y, jnp.maximum(x, y), jnp.minimum(x, y), jnp.where(x > y, x, y)),
    "bits": lambda x, y: (x & y, x | y, x ^ y, ~x, lax.population_count(x), lax.clz(x)),
    "shifts": lambda x, y: (x << 3, lax.shift_right_logical(x, y & 7), lax.shift_right_arithmetic(x, y & 7)),
    "reductions": lambda x, _: (x.sum(1), x.max(1), x.min(0), x.argmax(1), jnp.cumsum(x, axis=1), x.prod(1)),
    "sorted": lambda x, _: jnp.sort(x, axis=1),
    "casts": lambda x, _: (x.astype("float16"), x.astype("float32"), x.astype("float64"), x.astype("int8")),
    "product": lambda x, y: x @ y.T,
    "moved": lambda x, y: (jnp.pad(x, 1), x[:, ::-1], jnp.concatenate([x, y]), x[:, [1, 3]], x.at[:, 2].add(1)),
    "power": lambda x, _: (x**3, jnp.abs(x), jnp.sign(x)),
}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int64", "uint64"])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers(name, dtype):
    second = numbers(dtype, 5, 7)
    check(OF_INTEGERS[name], numbers(dtype, 5, 7), np.where(second == 0, np.asarray(1, dtype), second))


RANDOM_NUMBERS = {
    "uniform": lambda seed: jax.random.uniform(jax.random.PRNGKey(seed), (5,), np.float64),
    "normal": lambda seed: jax.random.normal(jax.random.PRNGKey(seed), (5,), np.float64),
    "narrow": lambda seed: jax.random.normal(jax.random.PRNGKey(seed), (5,), np.float32),
    "integers": lambda seed: jax.random.randint(jax.random.PRNGKey(seed), (5,), 0, 100),
    "bits": lambda seed: jax.random.bits(jax.random.PRNGKey(seed), (5,), np.uint64),
    "permutation": lambda seed: jax.random.permutation(jax.random.PRNGKey(seed), 8),
}


@pytest.mark.parametrize("name", RANDOM_NUMBERS)
def test_random_numbers_are_jaxs(name):
    check(RANDOM_NUMBERS[name], np.int64(7))
