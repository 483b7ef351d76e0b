"""Random programs of views, of writes through them and of reads: what torch and numpy make of them, or an error."""

from __future__ import annotations

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.properties.calls.test_updates import ARGUMENTS, called, indices
from tests.properties.loops.test_families_together import function_of
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.ops.movement.view_rules import reshaped_strides

BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
NAMES = {"ttnn": ttnn, "torch": torch, "numpy": numpy}


@st.composite
def shapes(draw, volume):
    """Extents that hold so many elements."""
    extents = []
    for factor in (2, 2, 2, 3):
        if volume % factor == 0:
            volume //= factor
            extents.append(factor)
    extents = draw(st.permutations([*extents, volume]))
    while len(extents) > 3:
        index = draw(st.integers(0, len(extents) - 2))
        extents[index : index + 2] = [extents[index] * extents[index + 1]]
    return tuple(extents)


@st.composite
def views(draw, name, value, library):
    """A movement of the tensor `name`, as text: methods and functions of the library."""
    rank, shape = len(value.shape), draw(shapes(int(numpy.prod(value.shape))))
    first, second = (draw(st.integers(-rank, rank - 1)) if rank else 0 for _ in range(2))
    order, axis = tuple(draw(st.permutations(range(rank)))), draw(st.integers(-rank - 1, rank))
    index = draw(indices(tuple(value.shape)))[0] if rank else "None"
    transposed = f"{name}.T" if rank == 2 else f"{name}.reshape(-1)"
    own = {
        "torch": [
            f"{name}.view({', '.join(map(str, shape))})", f"{name}.transpose({first}, {second})", f"{name}.mT",
            f"{name}.permute({order})", f"{name}.unsqueeze({axis})", f"{name}.clone()", f"{name}.contiguous()",
            f"torch.permute({name}, {order})", f"{name}.flatten()", f"{name}[None].expand(2, {'-1, ' * rank})",
        ],
        "numpy": [
            f"{name}.transpose({', '.join(map(str, order))})", f"numpy.expand_dims({name}, {axis})", f"{name}.copy()",
            f"{name}.flatten()", f"numpy.transpose({name}, {order})", f"numpy.ravel({name})",
        ],
    }  # fmt: skip
    kinds = [
        f"{name}.reshape({shape})", f"{name}.reshape(-1)", transposed, f"{name}.swapaxes({first}, {second})",
        f"{name}[{index}]", f"{name}.squeeze()", f"{name}.ravel()", f"{library}.reshape({name}, {shape})",
    ]  # fmt: skip
    return draw(st.sampled_from([*kinds, *own[library]]))


@st.composite
def writes(draw, name, value, values):
    """A write into a tensor, as text; of another one a copy, for torch refuses what overlaps in part."""
    other = draw(st.sampled_from(["2.0", "-1.0", *(f"({each} + 0.0)" for each in values)]))
    whole = [f"{name} += {other}", f"{name} -= {other}", f"{name}[...] = {other}"]
    if not value.shape:
        return draw(st.sampled_from(whole))
    index, _ = draw(indices(tuple(value.shape)))
    return draw(st.sampled_from([*whole, f"{name}[{index}] = {other}", f"{name}[{index}] += {other}"]))


@st.composite
def programs(draw, library):
    """The source of a function whose every statement the library carries out, and the layout of its arguments."""
    layout = draw(st.sampled_from(sorted(ARGUMENTS)))
    memory = torch.ones(ARGUMENTS[layout][0])
    a, b = ARGUMENTS[layout][1](memory if library == "torch" else memory.numpy())
    scope, lines = {"a": a, "b": b}, []
    for number in range(draw(st.integers(2, 9))):
        values = {name: value for name, value in scope.items() if name not in NAMES and name[0] != "_"}
        name = draw(st.sampled_from(sorted(values)))
        kind = draw(st.sampled_from(["view", "view", "write", "compute"]))
        if kind == "view":
            line = f"v{number} = {draw(views(name, values[name], library))}"
        elif kind == "write":
            line = draw(writes(name, values[name], sorted(values)))
        else:
            line = f"v{number} = {name} + {draw(st.sampled_from([*sorted(values), '1.0']))}"
        try:
            exec(line, NAMES, scope)
        except (RuntimeError, ValueError, TypeError, IndexError):
            continue
        made = scope.get(f"v{number}")
        if made is not None and (not isinstance(made, torch.Tensor | numpy.ndarray) or 0 in made.shape):
            del scope[f"v{number}"]
            continue
        lines.append(line)
    returned = draw(st.lists(st.sampled_from(sorted(scope)), min_size=1, max_size=3))
    return "\n    ".join(["def program(a, b):", *lines, f"return {', '.join(returned)},"]) + "\n", layout


def check(source, layout, graph_capture, convert):
    shape, views = ARGUMENTS[layout]
    before = torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(len(source))).float()
    plain = function_of(source, ttnn)
    plain.__globals__.update(NAMES)
    expected = convert(before)
    results, _ = called(plain, expected, views)
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(plain)
    for _ in range(3):
        memory = convert(before)
        try:
            found, _ = called(jitted, memory, views)
        except CompileError as error:
            refused = str(error)
        else:
            refused = ""
        if refused:
            assert "whether they share memory is not known" in refused, source
            assert torch.equal(torch.as_tensor(memory), before)
            return
        assert torch.equal(torch.as_tensor(memory), torch.as_tensor(expected)), source
        assert all(map(torch.equal, found, results)), source


@settings(max_examples=60, deadline=None)
@given(program=programs("torch"), graph_capture=st.booleans())
def test_views_are_written_as_torch_writes_them(program, graph_capture):
    check(*program, graph_capture, torch.clone)


@settings(max_examples=40, deadline=None)
@given(program=programs("numpy"), graph_capture=st.booleans())
def test_views_are_written_as_numpy_writes_them(program, graph_capture):
    check(*program, graph_capture, lambda memory: memory.numpy().copy())


@settings(max_examples=15, deadline=None)
@given(program=programs("torch"))
def test_both_frontends_write_one_text_for_views(program):
    source, layout = program
    function = function_of(source, ttnn)
    function.__globals__.update(NAMES)
    arguments = ARGUMENTS[layout][1](torch.ones(ARGUMENTS[layout][0]))
    texts = []
    for graph_capture in (False, True):
        try:
            texts.append(ttnn_jit.jit(graph_capture=graph_capture)(function).ir(*arguments))
        except CompileError as error:
            texts.append(error.message)
    assert texts[0] == texts[1]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_strides_of_a_reshape_are_those_that_numpy_finds(data):
    start = numpy.zeros((4, 6, 2), numpy.int8)[:: data.draw(st.sampled_from([1, 2])), :: data.draw(st.integers(1, 2))]
    array = start.transpose(data.draw(st.permutations(range(3)))) if data.draw(st.booleans()) else start
    new = data.draw(shapes(array.size))
    found = reshaped_strides(array.shape, array.strides, new)
    try:
        expected = array.view()
        expected.shape = new
    except AttributeError:
        assert found is None
    else:
        assert found is not None
        pairs = zip(found, expected.strides, new, strict=True)
        assert all(mine == theirs or extent == 1 for mine, theirs, extent in pairs)


@BOTH
def test_a_write_into_an_expanded_tensor_is_an_error_as_in_torch(graph_capture):
    def run(x):
        wide = x.expand(4, 6)
        wide += 1.0
        return wide

    x = torch.ones(1, 6)
    with pytest.raises(RuntimeError, match="refers to a single memory location"):
        run(x.clone())
    with pytest.raises(CompileError, match="several elements lie at one address") as refused:
        ttnn_jit.jit(graph_capture=graph_capture)(run)(x)
    assert "wide += 1.0" in str(refused.value)
    assert torch.equal(x, torch.ones(1, 6))


@BOTH
def test_a_reshape_that_may_be_a_copy_is_refused_where_that_matters(graph_capture):
    def run(x, write):
        flat = (x + 1.0).reshape(-1)
        if write:
            flat += 1.0
        return flat

    jitted = ttnn_jit.jit(graph_capture=graph_capture)(run)
    x = torch.ones(4, 6).T
    assert torch.equal(jitted(x, False), run(x, False))
    assert torch.equal(jitted(x.contiguous(), True), run(x, True))
    with pytest.raises(CompileError, match="not contiguous") as refused:
        jitted(x, True)
    assert "flat += 1.0" in str(refused.value)


@BOTH
def test_torch_views_that_there_are_not_are_refused_as_torch_does(graph_capture):
    def run(x):
        return x.view(-1)

    x = torch.ones(4, 6).T
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        run(x)
    with pytest.raises(CompileError, match=r"strides \[1, 6\] has no view of shape \[24\]"):
        ttnn_jit.jit(graph_capture=graph_capture)(run)(x)


@BOTH
def test_a_view_that_is_returned_is_memory_of_its_own_and_an_argument_itself(graph_capture):
    def run(x):
        flat = x.view(-1)
        flat += 1.0
        return flat, x.T, x.contiguous()

    x = torch.zeros(4, 6)
    flat, transposed, same = ttnn_jit.jit(graph_capture=graph_capture)(run)(x)
    assert same is x
    flat.zero_()
    transposed.zero_()
    assert torch.equal(x, torch.ones(4, 6))


FOUND = torch.zeros(4, 6)


@BOTH
def test_views_of_a_tensor_that_the_function_finds_are_written_at_every_call(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def run(x):
        flat = FOUND.view(-1)
        flat += 1.0
        FOUND.T.add_(1.0)
        return x + FOUND

    FOUND.zero_()
    for times in (1, 2, 3):
        assert torch.equal(run(torch.zeros(4, 6)), torch.full((4, 6), 2.0 * times))
        assert torch.equal(FOUND, torch.full((4, 6), 2.0 * times))


def test_a_trace_refuses_memory_of_a_found_tensor_that_it_does_not_follow():
    @ttnn_jit.jit(graph_capture=True)
    def run(x):
        diagonal = FOUND.diagonal()
        diagonal += 1.0
        return x + FOUND

    FOUND.zero_()
    with pytest.raises(CompileError, match="`diagonal` returns a view of a tensor that the function finds"):
        run(torch.zeros(4, 6))
    assert not FOUND.any()
