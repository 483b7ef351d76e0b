"""Single uses of shapes: the bits of a compile of each size, and one program for many where a use fixes nothing."""

import importlib.util

import pytest
import torch

import ttnn_jit
from ttnn_jit.cache.statistics import COUNTERS

KEEPING = {
    "a reshape to a product": "ttnn.reshape(x, (x.shape[0] * x.shape[1],))",
    "a view of unpacked sizes": "(lambda rows, columns: x.view(rows * columns))(*x.shape)",
    "a slice to the half": "x[: x.shape[0] // 2]",
    "a slice from the end": "x[-(x.shape[0] // 2) :]",
    "a remainder": "x[: divmod(x.shape[0], 4)[0] * 4]",
    "a named tuple": "x.reshape(Pair(*x.shape).rows * 16)",
    "a dataclass": "x.reshape(Area(x.shape[0], 16).size())",
    "a size made longer": "x.reshape(x.shape + (1,))",
    "a part of a size": "x.reshape(x.shape[:1].numel(), *x.shape[1:])",
    "a test of the class": "x * 2.0 if isinstance(x.shape, torch.Size) and type(x.shape) is torch.Size else x",
    "a test for None": "x if (x.shape[0] if len(x.shape) > 1 else None) is None else x * 2.0",
    "a test for an int": "x * 2.0 if type(x.shape[0]) is int and isinstance(x.size(0), int) else x",
    "a reduction of sizes": "x.reshape(functools.reduce(lambda a, b: a * b, x.shape, 1))",
    "an accumulated product": "x.reshape([*itertools.accumulate(x.shape, lambda a, b: a * b)][-1])",
    "a shape of ttnn": "ttnn.reshape(x, ttnn.Shape([x.shape[0], 4, 4]))",
    "a padding to tiles": "ttnn.pad(x, [(0, -x.shape[0] % 32), (0, 0)], 0.0)",
    "a part of a hidden tensor": "x + WEIGHT[: x.shape[0]]",
    "the rest of a hidden tensor": "ttnn.concat([x, WEIGHT[x.shape[0] :]], dim=0)",
    "a created tensor": "ttnn.concat([x, ttnn.zeros((x.shape[0], 16), dtype=ttnn.float32)], dim=0)",
    "a broadcast created tensor": "x + ttnn.full((x.shape[0], 1), 2.5, dtype=ttnn.float32)",
    "halves in another order": "ttnn.concat(list(reversed(ttnn.chunk(x, 2, dim=0))), dim=0)",
    "a write into a part": "written(x)",
    "an exception that is caught": "(lambda: guarded(x.shape[0], x))()",
    "a pattern": "matched(x)",
    "a mean": "x * (1.0 / x.shape[0])",
    "a product with a float": "x * (x.shape[0] * 1.5 + 2.5 * x.shape[0] - x.shape[0] // 2.0 + x.shape[0] % 1.5)",
    "a number": "x * x.shape[0]",
    "roots and powers": "x * (math.sqrt(x.shape[0]) + float(x.shape[0]) ** 2 / math.exp(-1 / x.shape[0]))",
}  # fmt: skip
FIXING = {
    "a text": 'x * float(len(f"{x.shape[0]:04d}{x.shape}{x.shape[0]!r}")) * float("%d" % x.shape[0])',
    "a key": "x * {x.shape[0]: 2.0, (x.shape[1], 1): 1.0}[x.shape[0]]",
    "a set": "x * float(len({x.shape[0], x.shape[1], 32}))",
    "a member of a set": "x * (2.0 if x.shape[0] in {7, 33} else 1.0)",
    "a member of a range": "x * (2.0 if x.shape[0] in range(5, 60) else 1.0)",
    "an enumeration": "x * Kind(min(x.shape[0], 8)).factor",
    "a cached function": "x + float(cached(x.shape[0]))",
    "functions of numpy": "x * float(numpy.prod(x.shape) + numpy.sqrt(x.shape[0]))",
    "a number of numpy": "x * float(numpy.float32(1.5) * x.shape[0] + x.shape[0] * numpy.int64(3))",
    "functions of math": "x * float(math.gcd(x.shape[0], 32) + math.isqrt(x.shape[0]) + math.comb(x.shape[0], 2))",
    "bits": "x * float(x.shape[0].bit_length() + (x.shape[0] & 7) + (x.shape[0] >> 1) + (1 << x.shape[0] % 5))",
    "attributes of an int": "x * float(x.shape[0].real + x.shape[0].numerator) if hasattr(x.shape[0], 'real') else x",
    "powers": "x * float(2 ** (x.shape[0] % 3) + x.shape[0] ** 0.5 + pow(x.shape[0], 2, 7))",
    "an item of a list": "x * [1.0, 2.0, 4.0][x.shape[0] % 3] * FACTORS[: x.shape[0] % 3 + 1][-1]",
    "a repeated list": "x * float(len([0] * x.shape[0]) + len('ab' * x.shape[0]))",
    "a limit of a deque": "x * float(collections.deque([1, 2, 3], maxlen=x.shape[0])[0])",
    "a size of torch": "x.reshape(torch.Size((x.shape[0] * 2, 8)))",
    "an abstract class": "x * (2.0 if isinstance(x.shape[0], numbers.Integral) else 3.0)",
    "a range": "x * float(sum(range(x.shape[0])))",
    "an arranged tensor": "ttnn.reshape(ttnn.arange(0, x.shape[0], 1, dtype=ttnn.float32), (-1, 1)) * x",
    "the rows of a tensor": "sum((row for row in x), start=0.0)",
}  # fmt: skip
"""Expressions of a torch tensor of n rows and 16 columns that keep n open, and that fix it."""

MODULE = """\
import collections, dataclasses, enum, functools, itertools, math, numbers
from typing import NamedTuple
import numpy, torch
from ttnn_jit import ttnn

WEIGHT, FACTORS = torch.randn(400, 16), (1.0, 2.0, 5.0)

class Pair(NamedTuple):
    rows: int
    columns: int

@dataclasses.dataclass
class Area:
    rows: int
    columns: int = 2

    def size(self):
        return self.rows * self.columns

class Kind(enum.Enum):
    TWO, SEVEN, MANY = 2, 7, 8

    @property
    def factor(self):
        return float(self.value)

@functools.lru_cache(None)
def cached(number):
    assert type(number) is int, type(number)
    return number * 2

def written(x):
    y = x + 0.0
    y[1 : x.shape[0] // 2 + 1] += 1.0
    return y

def guarded(rows, x):
    try:
        if rows > 40:
            raise ValueError(rows)
        return x * 2.0
    except ValueError:
        return x * 3.0

def matched(x):
    match x.shape:
        case (7, _):
            return x * 7.0
        case (rows, 16) if rows % 2:
            return x * 3.0
        case _:
            return x

def f(x):
    return {expression}
"""
SIZES = (31, 2, 7, 33, 32, 64, 100, 41)


def results(tmp_path, expression):
    """The calls that compiled nothing, of all whose bits are those of a compile of their size."""
    path = tmp_path / "uses.py"
    path.write_text(MODULE.replace("{expression}", expression), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("uses", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generic, exact = (ttnn_jit.jit(enable_cache=False, dynamic=dynamic)(module.f) for dynamic in (None, False))
    served = 0
    for rows in SIZES:
        x = torch.arange(16.0 * rows).reshape(rows, 16) / 8 - 7
        before = COUNTERS.compiles
        result = generic(x)
        served += COUNTERS.compiles == before
        expected = exact(x)
        assert torch.equal(result, expected), rows
        assert torch.equal(generic(x), expected), f"second call of {rows}"
    return served


@pytest.mark.parametrize("use", KEEPING)
def test_a_use_that_keeps_sizes_open_has_one_program_for_many(tmp_path, use):
    assert results(tmp_path, KEEPING[use]) >= 3


@pytest.mark.parametrize("use", FIXING)
def test_a_use_that_fixes_sizes_gets_plain_ints(tmp_path, use):
    assert results(tmp_path, FIXING[use]) <= len(SIZES) // 2
