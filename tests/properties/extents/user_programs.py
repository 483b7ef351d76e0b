"""Random functions of a user's that compute on shapes, as source text, and random sequences of sizes.

A function takes a tensor `x` of n rows and m columns, perhaps a second one whose sizes are related to those of the
first, and an int. It computes whole numbers from shapes, branches on them, and slices, reshapes and computes tensors by
them. Some functions also use a number in a way that fixes it: as a float, a text, a key, a count of a loop.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

SIZES = (0, 1, 2, 3, 5, 7, 8, 16, 17, 31, 32, 33, 40, 63, 64, 65, 96, 100, 127, 128, 129, 200, 255, 256, 257, 300)
WIDTHS = (1, 3, 16, 32, 33)
SECOND = ("none", "same", "row", "column", "transposed", "half", "mostly")

HEADER = """\
import collections
import functools
import itertools
import math
from typing import NamedTuple

import numpy
import torch

from ttnn_jit import ttnn

STEP = 3
WEIGHTS = (0.5, 1.0, 2.0, 4.0)
NAMES = {7: "seven", 32: "tile", 33: "odd"}


class Extents(NamedTuple):
    rows: int
    columns: int


class Blocks:
    def __init__(self, rows, size):
        self.rows, self.size = rows, size

    @property
    def count(self):
        return -(-self.rows // self.size)

    def start(self, index):
        return min(index * self.size, self.rows)


def ceil_div(number, by=32):
    return -(-number // by)


def clamp(number, low, high):
    if number < low:
        return low
    return high if number > high else number


def halves(number):
    while number > 64:
        yield number
        number //= 2


"""

WHOLE: tuple[str, ...] = (
    "{a} // {k}", "{a} + {b}", "{a} - {b}", "{a} * {c}", "{a} % {k}", "-(-{a} // {k})", "max({a}, {b})",
    "min({a}, {c})", "abs({a} - {b})", "divmod({a}, {k})[0]", "divmod({a}, {k})[1]", "{a} ** 2", "pow({a}, 2)",
    "({a} if {a} > {c} else {b})", "sum(x.shape)", "math.prod(x.shape)", "x.shape[-1] * 2", "len(x.shape) + {a}",
    "ceil_div({a})", "ceil_div({a}, by={k})", "clamp({a}, {c}, {d})", "int({a})", "round({a})", "math.floor({a})",
    "sorted([{a}, {b}, {c}])[1]", "sum(i * e for i, e in enumerate(x.shape))", "sum(map(lambda e: e // 2, x.shape))",
    "functools.reduce(lambda p, e: p * e, x.shape, 1)", "[*itertools.accumulate(x.shape)][-1]",
    "Blocks({a}, {k}).count", "Blocks({a}, {k}).start(2)", "Extents(*x.shape).rows + STEP", "p + 1", "p * 2",
    "{a} % 7 + p",
    "max(x.shape, key=lambda e: e % 5)", "{{'n': {a}, 'm': {b}}}['n']", "(lambda e, by=STEP: e // by)({a})",
    "[{a}, {b}].index({b})", "collections.deque([{a}, {b}]).pop()", "({a} and {b})", "({a} or {b})", "not {a}",
    "local({a})", "sum(p * q for p, q in zip(x.shape, (1, 2)))",
)  # fmt: skip
"""Expressions of whole numbers; {a} and {b} are names, {k}, {c} and {d} constants, p is an int argument."""

WHOLE_OF: dict[str, tuple[str, ...]] = {
    "torch": ("x.numel() // {k}", "x.size(0)", "len(x)", "x.shape.numel()", "x.shape[1:].numel()", "x.size()[1]",
              "x.stride(0) if n > 1 and m > 1 else 1", "x.nbytes // 4", "math.prod(torch.Size((2, m)))"),
    "numpy": ("x.size // {k}", "len(x)", "x.nbytes // 4", "numpy.size(x)", "numpy.shape(x)[0]"),
    "ttnn": ("x.volume() // {k}", "x.padded_shape[-1]", "x.shape.rank + {a}", "x.shape.to_rank(4)[2]"),
}  # fmt: skip
"""Those that use the metadata of a library."""

CONDITIONS: tuple[str, ...] = (
    "{a} > {c}", "{a} <= {b}", "{a} == {b}", "{a} != {c}", "{a} % {k} == 0", "{c} <= {a} < {d}", "{a} in (1, 32, {c})",
    "not {a} > {c}", "{a} > {c} and {b} < {d}", "{a} == {c} or {b} == {d}", "x.shape[0] > x.shape[1]", "{a}",
    "{a} is None", "isinstance({a}, int) and {a} < {c}", "any(e > {c} for e in x.shape)", "{a} < {c} + 0.5",
    "tuple(x.shape) == ({a}, {b})", "x.shape == x.shape[::-1]", "type({a}) is int and {a} > 1",
)  # fmt: skip

EXITS: tuple[str, ...] = (
    "float({a} % 9)", "1.0 / ({a} * {a} + 1)", "{a} * 0.25", "float(len(f'{{{a}:d}}'))", "WEIGHTS[{a} % 4]",
    "{{{a}: 2.0}}.get({b}, 3.0)", "float(len({{{a}, {b}, 1}}))", "float(({a} & 7) + ({a} >> 1))", "float(a_name({a}))",
    "float(abs({a}).bit_length())", "float(numpy.sqrt(abs({a}) % 7))", "float(len([0] * (abs({a}) % 5)))",
    "float(sum(range(abs({a}) % 6)))", "float(math.gcd({a}, 12))", "float('%d' % ({a} % 4))", "0.5 * len(str({a}))",
    "float(int(str({a} % 7)))", "float(str({a}).count('3'))", "float({a} in {{3: 1, 32: 2}})", "{a} / 64",
    "float(hash_free({a}))",
)  # fmt: skip
"""Floats that use a number in a way that fixes it."""

TENSORS: tuple[str, ...] = (
    "ttnn.exp(ttnn.neg(ttnn.abs(t)))", "t * 0.5 + 1.0", "t[: {a} // 2 + 1]", "t[abs({a}) // 3 :]", "t[-1 - {a} // 4 :]",
    "t[clamp({a}, 0, 4) : clamp({b}, 5, 64)]", "t.reshape(-1)", "t.reshape(1, *t.shape)", "ttnn.relu(t) - t",
    "ttnn.reshape(t, (math.prod(t.shape),))", "t.reshape([*reversed(t.shape)])", "t + t", "ttnn.sum(t, dim=-1)",
    "ttnn.softmax(t, dim=-1)", "t.reshape(t.shape + (1,))", "t[::2]", "t[p:]", "t.reshape({k}, -1)",
)  # fmt: skip
TENSORS_OF: dict[str, tuple[str, ...]] = {
    "torch": ("t.view(t.numel())", "t.view(t.size(0), -1)", "torch.reshape(t, (t.numel(),))", "t.unsqueeze(0)"),
    "numpy": ("t.reshape(t.size)", "numpy.reshape(t, (-1,))", "t.T", "t.ravel()"),
    "ttnn": ("ttnn.reshape(t, (1, 1, *t.shape))", "ttnn.reshape(t, (t.volume(),))", "ttnn.unsqueeze(t, 0)"),
}


@dataclass
class Program:
    """A function with its text, and the sizes at which it is called.

    Attributes:
        text: The source of a module with a function `f`.
        second: The relation of the second tensor's sizes to those of the first.
        is_hidden: Whether the second tensor is a global `Y`, not an argument.
        sizes: The rows and columns, and the int argument, of the calls in order.
        has_exit: Whether the function fixes a number.
    """

    text: str
    second: str
    is_hidden: bool
    sizes: list[tuple[int, int, int]]
    has_exit: bool


def program_of(seed: int, library: str = "torch", calls: int = 24) -> Program:
    """The program of a seed, for tensors of a library."""
    draw = random.Random(seed)
    second = draw.choice(SECOND)
    is_hidden, has_exit = (
        second != "none" and draw.random() < (0.1 if library == "numpy" else 0.3),
        draw.random() < 0.15,
    )
    body = "\n".join(f"    {line}" for line in _body(draw, second, library, has_exit=has_exit))
    if is_hidden:
        body = f"    y = Y\n{body}"
    parameters = "x, p" if second == "none" or is_hidden else "x, y, p"
    text = f"{HEADER}def hash_free(number):\n    return len([number, number])\n\n\n"
    text += f'def a_name(number):\n    return len(NAMES.get(number, "none"))\n\n\ndef f({parameters}):\n{body}\n'
    return Program(text, second, is_hidden, _sizes(draw, calls), has_exit)


def _sizes(draw: random.Random, calls: int) -> list[tuple[int, int, int]]:
    """Sizes of which one extent varies, or two, or also the int."""
    widths = [draw.choice(WIDTHS)] if draw.random() < 0.6 else draw.sample(WIDTHS, 2)
    rows = SIZES if draw.random() < 0.3 else range(2, draw.choice((40, 300)))
    numbers = range(12) if draw.random() < 0.3 else (draw.randint(0, 4),)
    return [(draw.choice(rows), draw.choice(widths), draw.choice(numbers)) for _ in range(calls)]


def _body(draw: random.Random, second: str, library: str, *, has_exit: bool) -> Iterator[str]:
    names = ["n", "m", "p"]
    whole, tensors = WHOLE + WHOLE_OF[library], TENSORS + TENSORS_OF[library]
    yield draw.choice(("n, m = x.shape", "n = x.shape[0]; m = x.shape[-1]", "(n, m) = tuple(x.shape)"))
    yield "def local(number): return number + m // 2"
    yield "t = x"
    if second != "none":
        yield "k = y.shape[0]"
        names.append("k")
        yield {
            "transposed": "t = ttnn.matmul(x, y)",
            "half": "t = x * (1.0 if 2 * k == n else 2.0)",
            "mostly": "t = x if k == n else x - 1.0",
        }.get(second, "t = x + y")
    for index in range(draw.randint(2, 6)):
        kind = draw.random()
        if kind < 0.45:
            yield f"v{index} = {_filled(draw, whole, names)}"
            names.append(f"v{index}")
        elif kind < 0.65:
            yield f"if {_filled(draw, CONDITIONS, names)}:"
            yield f"    t = {_filled(draw, tensors, names)}"
            if draw.random() < 0.4:
                yield "else:"
                yield "    t = t - 2.0"
        elif kind < 0.75:
            yield f"for size in {draw.choice(('x.shape', 'halves(n)', '(n, 2, m)', 'zip(x.shape, x.shape[1:])'))}:"
            yield "    t = t * 1.25 if size else t"
        else:
            yield f"t = {_filled(draw, tensors, names)}"
    if has_exit:
        yield f"t = t * {_filled(draw, EXITS, names)}"
    yield f"return t if {_filled(draw, CONDITIONS, names)} else t + 1.0"


def _filled(draw: random.Random, templates: tuple[str, ...], names: list[str]) -> str:
    constants = (0, 1, 2, 3, 7, 31, 32, 33, 64, 100, 4096)
    low = draw.choice(constants)
    parts = {"a": draw.choice(names), "b": draw.choice(names), "k": draw.choice((2, 3, 4, 32))}
    return draw.choice(templates).format(**parts, c=low, d=low + draw.choice(constants))
