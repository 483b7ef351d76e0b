"""Softmax, norms and masked scores written by hand, in any spelling: one launch, which reads its input once.

Stated by the bytes of the plan: those of the distinct tensors that enter and leave. The numbers are torch's in float64.
"""

from __future__ import annotations

import linecache
import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn

ROWS, COLUMNS, EPSILON, SCALE = 24, 40, 1e-3, 0.25


class CanonicalCall:
    """Draws one of several spellings of an expression; statements that it needs come first."""

    def __init__(self, draw, shape):
        self.draw, self.shape, self.lines = draw, shape, []

    def one_of(self, *ways):
        return self.draw(st.sampled_from(ways))

    def named(self, text):
        """The expression, or a name for it."""
        if self.draw(st.booleans()):
            return f"({text})"
        self.lines.append(f"    v{len(self.lines)} = {text}")
        return f"v{len(self.lines) - 1}"

    def of_rows(self, text, *, finish="{}"):
        """A reduction of rows that broadcasts to them, and the expression `finish` of its results."""
        last = self.one_of("-1", str(len(self.shape) - 1), "dim=-1")
        row = (*self.shape[:-1], 1)
        way = self.one_of("kept", "reshaped", "unsqueezed", "repeated", "finished before")
        kept = f"{text}, {last}, {'keepdim=' if 'dim' in last else ''}True)"
        if way == "kept":
            return self.named(finish.format(self.named(kept)))
        if way == "repeated":
            times = (*(1 for _ in row[1:]), self.shape[-1])
            return self.named(f"ttnn.repeat({finish.format(self.named(kept))}, {times})")
        bare = f"{text}, {last})"
        if way == "finished before":
            return self.named(f"ttnn.reshape({finish.format(self.named(bare))}, {row})")
        moved = f"ttnn.reshape({bare}, {row})" if way == "reshaped" else f"ttnn.unsqueeze({bare}, {len(row) - 1})"
        return self.named(finish.format(self.named(moved)))

    def minus(self, x, y):
        return self.named(self.one_of(f"{x} - {y}", f"ttnn.subtract({x}, {y})", f"ttnn.add({x}, ttnn.neg({y}))"))

    def times(self, x, y):
        return self.named(self.one_of(f"{x} * {y}", f"ttnn.multiply({x}, {y})", f"ttnn.multiply({y}, {x})"))

    def plus(self, x, y):
        return self.named(self.one_of(f"{x} + {y}", f"ttnn.add({x}, {y})", f"ttnn.add({y}, {x})"))

    def over(self, x, y):
        return self.named(self.one_of(f"{x} / {y}", f"ttnn.divide({x}, {y})", f"{x} * ttnn.reciprocal({y})"))

    def square(self, x):
        return self.named(self.one_of(f"{x} * {x}", f"ttnn.square({x})", f"ttnn.pow({x}, 2.0)"))

    def mean(self, x):
        """An operand that broadcasts to the rows."""
        if self.draw(st.booleans()):
            return self.of_rows(f"ttnn.mean({x}")
        return self.of_rows(f"ttnn.sum({x}", finish=self.one_of(f"({{}} / {COLUMNS})", f"({{}} * {1 / COLUMNS!r})"))

    def by_root(self, x, variance):
        near = self.plus(variance, str(EPSILON))
        return self.named(
            self.one_of(
                f"{x} * ttnn.rsqrt({near})", f"{x} / ttnn.sqrt({near})", f"{x} * ttnn.reciprocal(ttnn.sqrt({near}))"
            )
        )


def softmax(spelling, x):
    top = spelling.of_rows(f"ttnn.max({x}")
    if spelling.draw(st.booleans()):
        weights = spelling.named(f"ttnn.exp({spelling.minus(x, top)})")
        return spelling.over(weights, spelling.of_rows(f"ttnn.sum({weights}"))
    written = spelling.named(f"ttnn.exp({x} - {top})")
    return spelling.over(f"ttnn.exp({spelling.minus(x, top)})", spelling.of_rows(f"ttnn.sum({written}"))


def scores(spelling, x):
    scaled = spelling.named(spelling.one_of(f"{x} * {SCALE}", f"{x} / {1 / SCALE}", f"ttnn.multiply({x}, {SCALE})"))
    return softmax(spelling, spelling.plus(scaled, "w"))


def layer_norm(spelling, x):
    mean = spelling.mean(x)
    centred = spelling.minus(x, mean)
    variance = spelling.mean(spelling.square(centred))
    return spelling.plus(spelling.times(spelling.by_root(centred, variance), "w"), "b")


def rms_norm(spelling, x):
    return spelling.times(spelling.by_root(x, spelling.mean(spelling.square(x))), "w")


def called(spelling, x):
    """The operation of that name."""
    return spelling.one_of(
        f"ttnn.softmax({x}, -1)",
        f"ttnn.softmax({x}, dim={len(spelling.shape) - 1})",
        f"ttnn.softmax({x}, dim=-1, numeric_stable=True)",
    )


functional = torch.nn.functional
PROGRAMS = {
    "softmax": (softmax, lambda x, *_: x.softmax(-1), 0),
    "called": (called, lambda x, *_: x.softmax(-1), 0),
    "scores": (scores, lambda x, w, _: (x * SCALE + w).softmax(-1), 1),
    "layer_norm": (layer_norm, lambda x, w, b: functional.layer_norm(x, x.shape[-1:], w, b, EPSILON), 2),
    "rms_norm": (rms_norm, lambda x, w, _: functional.rms_norm(x, x.shape[-1:], w, EPSILON), 1),
}


@st.composite
def spellings(draw):
    """The source of a program, its kind, and the shape of its first argument."""
    name = draw(st.sampled_from(sorted(PROGRAMS)))
    shapes = st.sampled_from([(ROWS, COLUMNS), (2, ROWS // 2, COLUMNS), (2, 3, ROWS // 6, COLUMNS)])
    outer = draw(shapes)
    inner = outer if name == "scores" else draw(shapes)
    spelling = CanonicalCall(draw, inner)
    result = PROGRAMS[name][0](spelling, "x")
    reshapes = inner != outer
    lines = ["def program(x, w, b):", *([f"    x = ttnn.reshape(x, {inner})"] if reshapes else []), *spelling.lines]
    lines.append(f"    return {f'ttnn.reshape({result}, {outer})' if reshapes else result}")
    return "\n".join(lines), name, outer


def function_of(source):
    file = f"<spelling {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope = {"ttnn": ttnn}
    exec(compile(source, file, "exec"), scope)
    return scope["program"]


@settings(max_examples=40, deadline=None)
@given(program=spellings(), graph_capture=st.booleans(), dtype=st.sampled_from([torch.float32, torch.bfloat16]))
def test_a_row_function_is_one_launch_that_reads_its_input_once_in_every_spelling(program, graph_capture, dtype):
    source, name, shape = program
    _, golden, others = PROGRAMS[name]
    columns = shape if name == "scores" else (COLUMNS,)
    generator = torch.Generator().manual_seed(len(source))
    x, w, b = (torch.randn(extents, generator=generator).to(dtype) for extents in (shape, columns, columns))
    function = jit(graph_capture=graph_capture)(function_of(source))
    launches = function.explain(x, w, b).launches
    assert len(launches) == 1, source
    assert launches[0].nbytes == sum(each.nbytes for each in (x, *(w, b)[:others], x)), source
    want = golden(x.double(), w.double(), b.double())
    bound = 2e-6 if dtype is torch.float32 else 0.04
    torch.testing.assert_close(function(x, w, b).double(), want, rtol=bound, atol=bound * math.sqrt(COLUMNS) / 4)
