"""Functions that jax shards over eight devices compute the same after stablehlo-pipeline, and after the pass to TTIR.

These tests run under `make oracle`. XLA partitions the function by its own propagation of shardings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms import pipeline

pytestmark = pytest.mark.oracle

jax = pytest.importorskip("jax", reason="jax is an extra of its own: `pip install -e .[oracle]`")
jax.config.update("jax_num_cpu_devices", 8)  # before the first call of any test
jnp, lax = jax.numpy, jax.lax
P = jax.sharding.PartitionSpec

RANDOM = np.random.default_rng(0)
MESHES = {
    shape: lambda shape=shape: jax.make_mesh(shape, ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    for shape in ((2, 4), (1, 8), (4, 2))
}


def floats(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def numbers(limit: int, *shape: int) -> Any:
    return RANDOM.integers(0, limit, shape).astype(np.int32)


def attention(x, query, key, value, output):
    batch, length, width = x.shape
    parts = [(x @ each).reshape(batch, length, 8, width // 8).transpose(0, 2, 1, 3) for each in (query, key, value)]
    weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", *parts[:2]) / 2, -1)
    found = jnp.einsum("bhqk,bhkd->bhqd", weights, parts[2]).transpose(0, 2, 1, 3)
    return found.reshape(batch, length, width) @ output + x


def normalized(x, weight):
    away = x - x.mean(-1, keepdims=True)
    return away / jnp.sqrt((away**2).mean(-1, keepdims=True) + 1e-5) * weight


def convolution(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


SQUARE = (32, 32)
CASES: dict[str, tuple[Callable[..., Any], Sequence[Any], Sequence[Any]]] = {
    "multilayer perceptron": (
        lambda x, w, b, v: jax.nn.gelu(x @ w + b) @ v,
        (floats(8, 16), floats(16, 32), floats(32), floats(32, 16)),
        (P("x"), P(None, "y"), P("y"), P("y")),
    ),
    "attention": (
        attention,
        (floats(4, 6, 32), *(floats(*SQUARE) for _ in range(4))),
        (P("x"), P(None, "y"), P(None, "y"), P(None, "y"), P("y")),
    ),
    "norm": (normalized, (floats(8, 32), floats(32)), (P("x", "y"), P("y"))),
    "softmax": (lambda x: jax.nn.softmax(x, -1), (floats(8, 32),), (P("x", "y"),)),
    "columns of an embedding": (lambda t, i: t[i].sum(1), (floats(64, 16), numbers(64, 8, 4)), (P(None, "y"), P("x"))),
    "rows of an embedding": (lambda t, i: t[i].sum(1), (floats(64, 16), numbers(64, 8, 4)), (P("y"), P("x"))),
    "images": (convolution, (floats(4, 8, 8, 8), floats(3, 3, 8, 16)), (P("x"), P(None, None, None, "y"))),
    "features": (convolution, (floats(4, 8, 8, 8), floats(3, 3, 8, 16)), (P("x", None, None, "y"), P(None, None, "y"))),
    "gradient": (
        jax.grad(lambda w, x: (jnp.tanh(x @ w) ** 2).mean()),
        (floats(16, 32), floats(8, 16)),
        (P(None, "y"), P("x")),
    ),
    "reductions and sorts": (
        lambda x: (x.argmax(1), x.max(0), jnp.sort(x, 0), jnp.cumsum(x, 1), lax.top_k(x, 3)),
        (floats(8, 16),),
        (P("x", "y"),),
    ),
    "cache": (
        lambda cache, new, at: lax.dynamic_update_slice(cache, new, (0, at, 0)),
        (floats(4, 16, 8), floats(4, 1, 8), np.int32(5)),
        (P("x", None, "y"), P("x"), P()),
    ),
    "two axes": (lambda x, w: (x @ w).sum(), (floats(16, 8), floats(8, 16)), (P(("x", "y")), P(None, ("x", "y")))),
}


@pytest.mark.parametrize("shape", MESHES)
@pytest.mark.parametrize("name", CASES)
def test_a_sharded_function(name, shape):
    function, arguments, specs = CASES[name]
    mesh = MESHES[shape]()
    shardings = tuple(jax.sharding.NamedSharding(mesh, each) for each in specs)
    compiled = jax.jit(function, in_shardings=shardings)
    text, wanted = compiled.lower(*arguments).as_text(), jax.tree.leaves(compiled(*arguments))
    inputs = [torch.from_numpy(np.array(each)) for each in arguments]
    for passes in ("stablehlo-pipeline", "stablehlo-to-ttir-pipeline"):
        (module,) = parse_texts(text, "text")
        pipeline.run_passes(module, pipeline.parse_passes(passes))
        text = op_text(module)
        assert ("sdy.manual_computation" in text) == (passes == "stablehlo-pipeline")
        (parsed,) = parse_texts(text, "text")
        found = TextModule(parsed, PRESETS["cpu"], shape).program("main")(*inputs)
        for own, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(own.numpy(), np.asarray(other), rtol=2e-4, atol=2e-5)


def constrained(mesh, *axes):
    return jax.sharding.NamedSharding(mesh, P(*axes))


def mesh_of(order, shape, names):
    return jax.sharding.Mesh(np.array(jax.devices())[list(order)].reshape(shape), names)


def of_two_meshes(x, w):
    """Of devices 2x4, and of the same devices 4x2."""
    other = mesh_of(range(8), (4, 2), ("a", "b"))
    hidden = lax.with_sharding_constraint(jnp.tanh(x @ w), constrained(other, "a", "b"))
    return lax.with_sharding_constraint(hidden.T, constrained(other, None, ("a", "b"))).sum(0)


def cut_unevenly(x, w):
    mesh = mesh_of(range(8), (2, 4), ("x", "y"))
    return lax.with_sharding_constraint((x @ w)[:, :6], constrained(mesh, "x", "y")).sum(1)


def manual_along_rows(x, w):
    mesh = mesh_of(range(8), (2, 4), ("x", "y"))

    def rows(own, weight):
        return lax.psum(jnp.tanh(own @ weight), "x")

    mapped = jax.shard_map(rows, mesh=mesh, in_specs=(P("x"), P()), out_specs=P(), axis_names={"x"})
    return mapped(x, w) + 1


@pytest.mark.parametrize("function", [of_two_meshes, cut_unevenly, manual_along_rows])
def test_meshes_beside_the_first(function):
    mesh = mesh_of(range(8), (2, 4), ("x", "y"))
    arguments = (floats(8, 16), floats(16, 8))
    compiled = jax.jit(function, in_shardings=(constrained(mesh, "x"), constrained(mesh, None, "y")))
    text, wanted = compiled.lower(*arguments).as_text(), np.asarray(compiled(*arguments))
    (module,) = parse_texts(text, "text")
    pipeline.run_passes(module, pipeline.parse_passes("stablehlo-pipeline"))
    (parsed,) = parse_texts(op_text(module), "text")
    (own,) = TextModule(parsed, PRESETS["cpu"], mesh_of_text(parsed)).program("main")(*map(torch.from_numpy, arguments))
    assert "sdy.manual_computation" in op_text(module)
    np.testing.assert_allclose(own.numpy(), wanted, rtol=2e-4, atol=2e-5)
