"""The sample of arguments, a function of the operation, its dtype and a fraction.

For one float32 operand: every n-th of all 2**32 bit patterns, and the neighbours of hard arguments: powers of two, the
ends of the intervals of range reduction and piecewise polynomials, denormals, the ends of the domain. For one bfloat16
operand: all 65,536. For several operands: combinations of special values, random bit patterns, the operation's domain,
operands that nearly cancel, and operands whose product is at an end of the range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import torch

from ttnn_jit.ops import Operation
from ttnn_jit.specs.tensor_spec import DataType

SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 1.2e-38, 3.3e38, -3.3e38)
STEP = 61
"""The step over all 2**32 float32, at the full fraction; prime, so that all bits of a mantissa vary."""
POINTS = 4_000_000
"""The number of random arguments of each kind, for several operands, at the full fraction."""
NEIGHBOURS = 24
"""The number of floats on each side of a hard argument, at the full fraction."""
CHUNK = 1 << 17
"""Arguments per call, such that they stay in a core's cache."""

TORCH_DTYPE = {DataType.FLOAT32: torch.float32, DataType.BFLOAT16: torch.bfloat16}


def chunks(
    operation: Operation, dtype: DataType, fraction: float, step: int | None = None
) -> Iterator[list[torch.Tensor]]:
    """The arguments, a tensor per operand, `CHUNK` of them at a time."""
    for columns in _cut(_parts(operation, dtype, fraction, step)):
        yield [torch.from_numpy(np.ascontiguousarray(column)).to(TORCH_DTYPE[dtype]) for column in columns]


def _parts(operation: Operation, dtype: DataType, fraction: float, step: int | None) -> Iterator[np.ndarray]:
    """Arrays with a float32 row per operand."""
    if operation.arity > 1:
        yield from _several(operation, fraction)
    elif dtype is DataType.BFLOAT16:
        yield (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)[None]
    else:
        yield hard_arguments(max(1, round(NEIGHBOURS * fraction)), step_of(fraction))[None]
        stride = step or step_of(fraction)
        for first in range(3 % stride, 2**32, stride * CHUNK):
            patterns = np.arange(first, min(first + stride * CHUNK, 2**32), stride, dtype=np.uint64)
            yield patterns.astype(np.uint32).view(np.float32)[None]


def _cut(parts: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    """The same arguments in pieces of one size, so that they share programs; the last may be smaller."""
    waiting: list[np.ndarray] = []
    for part in parts:
        joined = np.concatenate([*waiting, part], axis=1)
        whole = joined.shape[1] // CHUNK * CHUNK
        for first in range(0, whole, CHUNK):
            yield joined[:, first : first + CHUNK]
        waiting = [joined[:, whole:]]
    if waiting[0].size:
        yield waiting[0]


def step_of(fraction: float) -> int:
    """The step over all float32 at a fraction."""
    return max(1, int(STEP / fraction))


@lru_cache(maxsize=2)
def hard_arguments(neighbours: int, thinning: int = 1) -> np.ndarray:
    """Float32 numbers around the arguments at which an algorithm changes, of both signs; far multiples are thinned."""
    exponents = np.arange(-149, 128)
    arguments = [np.array([0.0, np.finfo(np.float32).max, *SPECIALS[10:12]])]
    arguments += [factor * 2.0**exponents for factor in (1.0, 1.25, 1.5, 1.75)]  # powers, pieces of mantissas, of x + 1
    octaves = 2.0 ** np.arange(1, 8)[:, None]
    pieces = (octaves * (1 + np.arange(4) / 4) - 1).ravel()
    arguments += [pieces, pieces / 2, pieces * math.sqrt(2)]  # of erf, of gelu
    few = min(300, max(20, 300 * 61 // thinning))
    arguments += [(np.arange(-few, few) + half) * math.log(2) for half in (0.0, 0.5)]  # of exp
    arguments += [np.arange(-few, few) + half for half in (0.0, 0.5)]  # of exp2, gamma, rounding
    arguments.append(np.arange(1, 20 * few) * math.pi / 4)  # of sin, cos and tan
    arguments.append(np.array([9.1, 14.6, 14.99, 20.0, 88.72284, 89.0, 91.0, 95.0, 103.97, 104.5, 112.0, 200.0]))
    arguments.append(np.array([math.sqrt(1 - math.exp(-5)), 1.46163214496836]))  # of erfinv, of digamma
    with np.errstate(over="ignore", under="ignore"):
        around = np.concatenate(arguments).astype(np.float32)
    bits = np.abs(around[np.isfinite(around)]).view(np.int32).astype(np.int64)
    near = np.unique(bits[:, None] + np.arange(-neighbours, neighbours + 1))
    near = near[(near >= 0) & (near <= 0x7F80_0000)]
    return np.concatenate([near, near | 0x8000_0000]).astype(np.uint32).view(np.float32)


def _several(operation: Operation, fraction: float) -> Iterator[np.ndarray]:
    arity, rng = operation.arity, np.random.default_rng(len(operation.name))
    grid = np.meshgrid(*[np.array(SPECIALS, np.float32)] * arity)
    yield np.stack([column.ravel() for column in grid])
    low, high = operation.probe.domain
    for first in range(0, max(2048, int(POINTS * fraction / arity)), CHUNK):
        count = min(CHUNK, max(2048, int(POINTS * fraction / arity)) - first)
        in_domain = rng.uniform(low, high, (arity, count)).astype(np.float32)
        patterns = rng.integers(0, 2**32, (arity, count), dtype=np.uint64).astype(np.uint32).view(np.float32)
        yield in_domain
        yield patterns
        yield _nearly_equal(in_domain, rng)
        yield _at_the_ends(patterns, rng)


def _nearly_equal(columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Operands that differ from the first in a few of its last bits, of either sign."""
    nudged = columns[:1].view(np.int32) + (rng.integers(-(2**16), 2**16, columns.shape) >> rng.integers(0, 17))
    result = nudged.astype(np.int32).view(np.float32) * rng.choice(np.float32([-1, 1]), columns.shape)
    result[0] = columns[0]
    return result


def _at_the_ends(patterns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Operands whose exponents have a sum or difference near an end of float32's range."""
    result = np.array(patterns)
    exponents = (result[0].view(np.int32) >> 23) & 0xFF
    for column in result[1:]:
        wanted = rng.choice([-149, -126, 127], len(column)) + rng.integers(-3, 4, len(column)) - (exponents - 127)
        wanted = np.clip(wanted * rng.choice([-1, 1], len(column)) + 127, 0, 254).astype(np.int32)
        column[:] = ((column.view(np.int32) & np.int32(-0x7F80_0001)) | (wanted << 23)).view(np.float32)
    return result
