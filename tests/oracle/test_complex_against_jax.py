"""Complex numbers and random bits of texts that jax writes are those of XLA on the CPU (`make oracle`)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS

pytestmark = pytest.mark.oracle

jax = pytest.importorskip("jax", reason="jax is an extra of its own: `pip install -e .[oracle]`")
jnp, lax = jax.numpy, jax.lax
RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def drawn(*shape):
    return (RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)).astype(np.complex64)


def results(function, *arguments):
    """What the text of a function gives here, and what XLA gives."""
    compiled = jax.jit(function)
    (module,) = parse_texts(compiled.lower(*arguments).as_text(), "text")
    given = [torch.from_numpy(each) for each in arguments]
    given = [torch.view_as_real(each) if each.is_complex() else each for each in given]
    found = TextModule(module, PRESETS["cpu"]).program("main")(*given)
    return found, [np.asarray(each) for each in jax.tree.leaves(compiled(*arguments))]


X, Y = drawn(4, 6), drawn(4, 6)
FUNCTIONS = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, x / y, x**y, -x),
    "functions": lambda x, _: (jnp.exp(x), jnp.log(x), jnp.sqrt(x), jnp.sin(x), jnp.cos(x), jnp.tanh(x), jnp.sign(x)),
    "near 0": lambda x, _: (jnp.expm1(x * 1e-3), jnp.log1p(x * 1e-3), lax.rsqrt(x), jnp.abs(x * 1e30)),
    "parts": lambda x, y: (jnp.real(x), jnp.imag(x), jnp.conj(x), lax.complex(jnp.real(x), jnp.imag(y)), jnp.angle(x)),
    "products": lambda x, y: (x @ y.T, jnp.einsum("ab,ab->a", x, y), jnp.sum(x, axis=0), jnp.mean(y)),
    "moves": lambda x, y: (jnp.concatenate([x, y], 1), x.T, x[::-1], jnp.where(jnp.real(x) > 0, x, y), jnp.roll(x, 1)),
    "gathers": lambda x, y: (x[jnp.array([2, 0])], jnp.pad(y, 1), lax.dynamic_slice(x, (1, 2), (2, 3)), x == y),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_complex_numbers(name):
    for own, wanted in zip(*results(FUNCTIONS[name], X, Y), strict=True):
        found = torch.view_as_complex(own).numpy() if np.iscomplexobj(wanted) else own.numpy()
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("length", [1, 2, 7, 16, 33, 60, 96, 1009, 1024])
def test_fourier_transforms(length):
    def transformed(x):
        return (
            *(jnp.fft.fft(x), jnp.fft.ifft(x, axis=1), jnp.fft.fft(x, axis=0)),
            *(jnp.fft.rfft(x.real), jnp.fft.irfft(x[..., : length // 2 + 1], length)),
            *(jnp.fft.fftn(x), jnp.fft.ifft2(x), jnp.fft.rfftn(x.real)),
        )

    for own, wanted in zip(*results(transformed, drawn(2, 4, length)), strict=True):
        found = torch.view_as_complex(own).numpy() if np.iscomplexobj(wanted) else own.numpy()
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=0, atol=5e-6 * np.sqrt(np.mean(np.abs(wanted) ** 2)))


STATES = np.array([1, 2], np.uint64), np.array([2**63 + 5, 2**64 - 3], np.uint64)
KINDS = ((3,), "uint32"), ((2, 3), "uint64"), ((5,), "uint8"), ((), "uint32"), ((3, 4, 5), "uint16"), ((3, 7), "uint32")


@pytest.mark.parametrize("state", STATES, ids=["small", "overflowing"])
@pytest.mark.parametrize("algorithm", ["RNG_DEFAULT", "RNG_THREE_FRY", "RNG_PHILOX"])
def test_random_bits(algorithm, state):
    chosen = getattr(lax.RandomAlgorithm, algorithm)
    for shape, dtype in KINDS:
        generated = results(lambda key, s=shape, d=dtype: lax.rng_bit_generator(key, s, d, algorithm=chosen), state)
        for own, wanted in zip(*generated, strict=True):
            assert np.array_equal(own.numpy(), wanted), (shape, dtype)
