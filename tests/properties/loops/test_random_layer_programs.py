"""Random programs of model layers and movements equal torch in float64."""

from __future__ import annotations

import linecache
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from ttnn_jit import jit, ttnn

MOST = 20_000
"""The elements of a value."""
ACTIVATIONS = {None: lambda y: y, "relu": torch.relu, "silu": functional.silu, "gelu": functional.gelu}


class InTorch:
    """The functions that the programs call, in torch."""

    softmax, sum, mean, tanh, tril = torch.softmax, torch.sum, torch.mean, torch.tanh, torch.tril
    concat, permute, reshape, flip, roll = torch.cat, torch.permute, torch.reshape, torch.flip, torch.roll
    cumsum, repeat_interleave = torch.cumsum, torch.repeat_interleave

    @staticmethod
    def linear(x, weight, bias, activation):
        return ACTIVATIONS[activation](x @ weight if bias is None else x @ weight + bias)

    @staticmethod
    def layer_norm(x, weight, bias, epsilon):
        return functional.layer_norm(x, x.shape[-1:], weight, bias, epsilon)

    @staticmethod
    def rms_norm(x, weight, epsilon):
        return functional.rms_norm(x, x.shape[-1:], weight, epsilon)

    @staticmethod
    def pad(x, padding, value):
        return functional.pad(x, [each for pair in reversed(padding) for each in pair], value=value)

    @staticmethod
    def split(x, size, dim):
        return torch.split(x, size, dim)

    @staticmethod
    def add_(x, y):
        return x.add_(y)


Shape = tuple[int, int]
STATEMENTS: dict[str, Callable[[Shape], Shape]] = {
    "ttnn.layer_norm({x}, weight={row}, bias={other_row}, epsilon=0.25)": lambda s: s,
    "ttnn.rms_norm({x}, weight={row}, epsilon=0.25)": lambda s: s,
    "ttnn.softmax({x}, {dim})": lambda s: s,
    "ttnn.sum({x}, 1, True)": lambda s: (s[0], 1),
    "ttnn.mean({x}, 0, True)": lambda s: (1, s[1]),
    "ttnn.concat([{x}, {x}], 1)": lambda s: (s[0], 2 * s[1]),
    "ttnn.permute({x}, (1, 0))": lambda s: (s[1], s[0]),
    "ttnn.pad({x}, ((1, 0), (2, 3)), value=0.5)": lambda s: (s[0] + 1, s[1] + 5),
    "ttnn.cumsum({x}, {dim})": lambda s: s,
    "ttnn.flip({x}, ({dim},))": lambda s: s,
    "ttnn.roll({x}, 2, {dim})": lambda s: s,
    "ttnn.split({x}, 2, 1)[0]": lambda s: (s[0], min(2, s[1])),
    "ttnn.repeat_interleave({x}, 2, 0)": lambda s: (2 * s[0], s[1]),
    "ttnn.tril({x})": lambda s: s,
    "ttnn.add_({x} * 1.0, {x})": lambda s: s,
    "ttnn.tanh({x}) * 0.5 + {x}": lambda s: s,
    "{x}[:, ::2]": lambda s: (s[0], (s[1] + 1) // 2),
}


@st.composite
def programs(draw):
    """The source of a function of a tensor and of weights, and their shapes."""
    shape = draw(st.sampled_from([1, 2, 5, 32, 33])), draw(st.sampled_from([2, 3, 16, 32, 40, 65]))
    values, weights, lines = [("x", shape)], {}, []

    def weight(*extents):
        name = f"w{len(weights)}"
        weights[name] = extents
        return draw(st.sampled_from([name, None])) if len(extents) == 1 else name

    for number in range(draw(st.integers(2, 7))):
        name, own = draw(st.sampled_from(values[-3:]))
        if draw(st.integers(0, 4)) == 0:
            columns = draw(st.sampled_from([1, 7, 32, 48]))
            activation = draw(st.sampled_from([*ACTIVATIONS]))
            text = f"ttnn.linear({name}, {weight(own[1], columns)}, bias={weight(columns)}, activation={activation!r})"
            made = own[0], columns
        else:
            form = draw(st.sampled_from([*STATEMENTS]))
            rows = {row_name: weight(own[1]) if f"{{{row_name}}}" in form else "" for row_name in ("row", "other_row")}
            text, made = form.format(x=name, dim=draw(st.sampled_from([0, 1, -1])), **rows), STATEMENTS[form](own)
        if made[0] * made[1] <= MOST:
            lines.append(f"    v{number} = {text}")
            values.append((f"v{number}", made))
    returned = dict.fromkeys([draw(st.sampled_from(values))[0], values[-1][0]])
    head = f"def program({', '.join(['x', *weights])}):"
    return "\n".join([head, *lines, f"    return {', '.join(returned)},"]), [shape, *weights.values()]


def function_of(source, namespace):
    file = f"<layers {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope = {"ttnn": namespace}
    exec(compile(source, file, "exec"), scope)
    return scope["program"]


@pytest.mark.parametrize("graph_capture", [False, True])
@settings(max_examples=25, deadline=None)
@given(program=programs(), seed=st.integers(0, 99))
def test_random_layer_programs_equal_torch(graph_capture, program, seed):
    source, shapes = program
    generator = torch.Generator().manual_seed(seed)
    tensors = [
        torch.randn(shape, generator=generator) / (shape[0] ** 0.5 if len(shape) == 2 else 1) for shape in shapes
    ]
    want = function_of(source, InTorch)(*(x.double() for x in tensors))
    got = jit(graph_capture=graph_capture)(function_of(source, ttnn))(*(x.clone() for x in tensors))
    for found, expected in zip(got, want, strict=True):
        torch.testing.assert_close(found.double(), expected, rtol=2e-3, atol=2e-3)
