"""Random programs of reads and writes, on arguments that may share memory, equal torch and numpy."""

from __future__ import annotations

import numpy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.properties.loops.test_mixed_operation_families import function_of
from ttnn_jit import ttnn
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.dialects.argument_notes import updates_of
from ttnn_jit.dialects.functions import single_function
from ttnn_jit.interpreters.tile_interpreter import interpret

SHAPE = (4, 6)
STAGE = "d2m-insert-dst-register-access"


@st.composite
def indices(draw, shape):
    """An index, as text, and the shape of its result."""
    parts, extents = [], []
    for extent in shape[: draw(st.integers(1, len(shape)))]:
        if draw(st.integers(0, 3)) == 0:
            parts.append(str(draw(st.integers(-extent, extent - 1))))
            continue
        start, stop, step = (
            draw(st.integers(0, extent - 1)),
            draw(st.integers(-extent, extent)),
            draw(st.integers(1, 3)),
        )
        bounds = (draw(st.sampled_from([start, None])), draw(st.sampled_from([stop, None])), step)
        parts.append(":".join("" if bound is None else str(bound) for bound in bounds))
        extents.append(len(range(extent)[slice(*bounds)]))
    extents += shape[len(parts) :]
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(parts)))
        given = [part for part in parts[:at] if ":" in part]
        parts.insert(at, "None")
        extents.insert(len(given), 1)
    return ", ".join(parts), tuple(extents)


def fits(shape, part):
    return len(shape) <= len(part) and all(a in {1, b} for a, b in zip(shape[::-1], part[::-1], strict=False))


@st.composite
def operands(draw, values, part, *, into_slice):
    """A number, or a tensor that broadcasts to a slice, as text.

    It is a copy where it may overlap in part with what is written: torch refuses that, or leaves the result open.
    """
    named = [(name, is_slice) for name, shape, is_slice in values if fits(shape, part)]
    if not named or not draw(st.integers(0, 4)):
        return draw(st.sampled_from(["2.0", "-1.0"]))
    name, is_slice = draw(st.sampled_from(named))
    return f"({name} + 0.0)" if is_slice or into_slice else name


@st.composite
def programs(draw, *, methods):
    """The source of a function that reads and writes slices of its arguments, and its results."""
    values, lines = [("a", SHAPE, False), ("b", SHAPE, False)], []
    kinds = ["slice", "compute", "update", "update", "item", "item", "again"] + ["method"] * methods
    for number in range(draw(st.integers(1, 7))):
        (name, shape, is_slice), kind = draw(st.sampled_from(values)), draw(st.sampled_from(kinds))
        made = None
        if kind == "slice" and shape:
            index, made = draw(indices(shape))
            lines.append(f"v{number} = {name}[{index}]")
            is_slice = True
        elif kind == "compute":
            other = draw(operands(values, shape, into_slice=False))
            lines.append(f"v{number} = {name} {draw(st.sampled_from('+-'))} {other}")
            made, is_slice = shape, False
        elif kind == "item" and shape:
            index, part = draw(indices(shape))
            symbol = draw(st.sampled_from(["=", "=", "+=", "-="]))
            lines.append(f"{name}[{index}] {symbol} {draw(operands(values, part, into_slice=True))}")
        elif kind == "method":
            other = draw(operands(values, shape, into_slice=is_slice))
            lines.append(f"{name}.{draw(st.sampled_from(['add_', 'sub_']))}({other})")
        elif kind == "again":
            lines.append(f"v{number} = {name}")
            made = shape
        else:
            other = draw(operands(values, shape, into_slice=is_slice))
            lines.append(f"{name} {draw(st.sampled_from(['+=', '-=']))} {other}")
        if made is not None and all(made):
            values.append((f"v{number}", made, is_slice))
    returned = draw(st.lists(st.sampled_from([name for name, *_ in values]), min_size=1, max_size=3))
    return "\n    ".join(["def program(a, b):", *lines, f"return {', '.join(returned)},"]) + "\n"


ARGUMENTS = {
    "apart": ((8, 6), lambda memory: (memory[:4], memory[4:])),
    "twice": ((4, 6), lambda memory: (memory, memory)),
    "interleaved": ((4, 12), lambda memory: (memory[:, ::2], memory[:, 1::2])),
    "transposed": ((12, 4), lambda memory: (memory[:6].T, memory[6:].T)),
}


def called(function, memory, views):
    """The results of a call, with their memory at that time; and the indices of arguments among them."""
    arguments = views(memory)
    results = function(*arguments)
    found = [torch.as_tensor(result).clone() for result in results]
    return found, [[result is argument for argument in arguments] for result in results]


def check(source, layout, graph_capture, convert):
    shape, views = ARGUMENTS[layout]
    before = torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(len(source))).float()
    plain = function_of(source, ttnn)
    expected = convert(before)
    results, _ = called(plain, expected, views)
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(plain)
    for function in (jitted, jitted, jitted, jitted, ttnn_jit.jit(graph_capture=graph_capture)(plain)):
        memory = convert(before)
        found, _ = called(function, memory, views)
        assert torch.equal(torch.as_tensor(memory), torch.as_tensor(expected)), source
        assert all(map(torch.equal, found, results)), source
    return plain


@settings(max_examples=40, deadline=None)
@given(source=programs(methods=True), layout=st.sampled_from(sorted(ARGUMENTS)), graph_capture=st.booleans())
def test_random_programs_write_as_in_torch(source, layout, graph_capture):
    check(source, layout, graph_capture, torch.clone)


@settings(max_examples=15, deadline=None)
@given(source=programs(methods=False), layout=st.sampled_from(sorted(ARGUMENTS)), graph_capture=st.booleans())
def test_random_programs_write_as_in_numpy(source, layout, graph_capture):
    check(source, layout, graph_capture, lambda memory: memory.numpy().copy())


@settings(max_examples=15, deadline=None)
@given(source=programs(methods=True))
def test_both_frontends_and_the_interpreter_write_the_same(source):
    a, b = (torch.randint(-3, 4, SHAPE).float() for _ in range(2))
    function = function_of(source, ttnn)
    ast, traced = (ttnn_jit.jit(graph_capture=capture)(function) for capture in (False, True))
    text = ast.ir(a, b)
    assert text == traced.ir(a, b)
    assert print_module(parse_module(text)) == text
    arrays = [a.numpy().copy(), b.numpy().copy()]
    module = parse_module(ast.ir(a, b, stage=STAGE))
    ast(a, b)
    values = interpret(module, arrays)
    for index, result in updates_of(single_function(module)):
        assert numpy.array_equal(values[result].reshape(SHAPE), (a, b)[index].numpy())
