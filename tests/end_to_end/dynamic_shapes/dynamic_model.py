"""Functions that fix a size, each by another use; the tests find their lines by these texts."""

import functools
import math

import numpy

from ttnn_jit import ttnn

SCALES = {32: 2.0, 41: 3.0}


def plain(x):
    return ttnn.exp(ttnn.multiply(x, 0.5))


def blocks(x):
    for block in range(x.shape[0] // 32 + 1):
        x = ttnn.add(x, block)
    return x


def halved(x):
    return ttnn.multiply(x, int(0.5 * x.shape[0]))


def named(x):
    return ttnn.multiply(x, len(f"{x.shape[0]} rows"))


def looked_up(x):
    rows = x.shape[0]
    return ttnn.multiply(x, SCALES.get(rows, 1.0))


def gamma(number):
    return math.lgamma(number)


def scaled(x):
    return ttnn.multiply(x, gamma(x.shape[0]))


def reshaped(x):
    return ttnn.reshape(x, (int(numpy.prod(x.shape)),))


@functools.lru_cache
def doubled(number):
    assert type(number) is int
    return 2 * number


def kept_by_a_cache(x):
    return ttnn.multiply(x, doubled(x.shape[0]))
