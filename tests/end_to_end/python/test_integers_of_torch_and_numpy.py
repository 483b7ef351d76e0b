"""Integers and bools of torch and numpy are what they are there: computed exactly, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError, DTypeError
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.ttnn.calling.foreign_operands import accepting_foreign_operands

BOTH = pytest.mark.parametrize("capture", [False, True], ids=["ast", "capture"])
LIBRARIES = pytest.mark.parametrize("numpy", [False, True], ids=["torch", "numpy"])

SMALL = torch.tensor([-5, 2, 32767, -32768], dtype=torch.int16)
WIDE = torch.tensor([-5, 2, 2**33, -(2**62)])
SQUARE = WIDE.reshape(2, 2)
MASK = torch.tensor([True, False, True, False])
X = torch.tensor([0.5, -1.5, 2.0, 3.0])


def given(x, numpy):
    return x.numpy() if numpy else x


def equal(found, expected):
    found = torch.as_tensor(found)
    return found.dtype is expected.dtype and torch.equal(found, expected)


COMPUTED = {
    "int16 < 0": (lambda a: ttnn.lt(a, 0), [SMALL], (SMALL < 0).to(torch.int16)),
    "int16 + 1 wraps": (lambda a: a + 1, [SMALL], SMALL + 1),
    "int16 * int16": (lambda a: a * a, [SMALL], SMALL * SMALL),
    "int16 + 0.5": (lambda a: a + 0.5, [SMALL], SMALL + 0.5),
    "int16 / int16": (lambda a: ttnn.divide(a, a), [SMALL], SMALL / SMALL),
    "int16 + float32": (lambda a, x: a + x, [SMALL, X], SMALL + X),
    "int16 + int32": (lambda a, b: a + b, [SMALL, SMALL.int() * 70000], SMALL + SMALL.int() * 70000),
    "int16 + uint8": (lambda a, b: a + b, [SMALL, MASK.byte()], SMALL + MASK.byte()),
    "int16 | bool": (lambda a, m: a | m, [SMALL, MASK], SMALL | MASK),
    "bool + bool is or": (lambda m: m + m, [MASK], MASK + MASK),
    "bool * bool": (lambda m: m * m, [MASK], MASK * MASK),
    "~bool": (lambda m: ~m, [MASK], ~MASK),
    "bool & bool": (lambda m: m & m, [MASK], MASK),
    "bool ^ True": (lambda m: m ^ True, [MASK], ~MASK),
    "not bool": (lambda m: ttnn.logical_not(m), [MASK], ~MASK),
    "bool == False": (lambda m: ttnn.eq(m, False), [MASK], ~MASK),
    "bool * float32": (lambda m, x: m * x, [MASK, X], MASK * X),
    "bool * 0.5": (lambda m: m * 0.5, [MASK], MASK * 0.5),
    "where bool": (lambda m, x: ttnn.where(m, x, 0.0), [MASK, X], torch.where(MASK, X, 0.0)),
    "where bool of numbers": (lambda m: ttnn.where(m, 0.5, 0.25), [MASK], torch.where(MASK, 0.5, 0.25)),
    "where int64": (lambda i, x: ttnn.where(i, x, 0.0), [WIDE - 2, X], torch.where(WIDE != 2, X, 0.0)),
    "where int64 of int16": (lambda i, a: ttnn.where(i, a, 0), [WIDE, SMALL], SMALL),
    "int64 to float32": (lambda i: ttnn.typecast(i, ttnn.float32), [WIDE], WIDE.float()),
    "int64 to int32": (lambda i: ttnn.typecast(i, ttnn.int32), [WIDE], WIDE.int()),
    "int64 to bool": (lambda i: ttnn.typecast(i, torch.bool), [WIDE - 2], WIDE != 2),
    "int16 to int64": (lambda a: ttnn.typecast(a, torch.int64), [SMALL], SMALL.long()),
    "float32 to int64": (lambda x: ttnn.typecast(x * 1e15, torch.int64), [X], (X * 1e15).long()),
    "int64 reshaped": (lambda i: ttnn.reshape(i, (2, 2)), [WIDE], WIDE.reshape(2, 2)),
    "int64 permuted": (lambda i: ttnn.permute(ttnn.reshape(i, (2, 2)), (1, 0)), [WIDE], WIDE.reshape(2, 2).T),
    "int64 sliced": (lambda i: i[1:3], [WIDE], WIDE[1:3]),
    "int64 joined": (lambda i: ttnn.concat([i, i], 0), [WIDE], torch.cat([WIDE, WIDE])),
    "int64 padded": (lambda i: ttnn.pad(i, ((1, 2),), -1), [WIDE], torch.nn.functional.pad(WIDE, (1, 2), value=-1)),
    "int64 repeated": (lambda i: ttnn.repeat(i, (3,)), [WIDE], WIDE.repeat(3)),
    "int64 gathered": (lambda i, p: ttnn.gather(i, 0, p), [WIDE, torch.tensor([3, 0])], WIDE[[3, 0]]),
    "bool moved": (lambda m: ttnn.concat([m, m], 0)[1:], [MASK], torch.cat([MASK, MASK])[1:]),
    "rows of int64": (lambda p, i: ttnn.embedding(p, i), [torch.tensor([1, 0]), SQUARE], SQUARE[[1, 0]]),
}  # fmt: skip


@LIBRARIES
@BOTH
@pytest.mark.parametrize("name", COMPUTED)
def test_they_are_computed_as_in_torch(name, capture, numpy):
    program, operands, expected = COMPUTED[name]
    function = jit(graph_capture=capture)(program)
    for _ in range(3):
        assert equal(function(*(given(each, numpy) for each in operands)), expected)


REFUSED = {
    "int64 + 1": (lambda i: i + 1, [WIDE], "`add` does not take INT64 tensors"),
    "int64 < 0": (lambda i: ttnn.lt(i, 0), [WIDE], "`lt` does not take INT64 tensors"),
    "int64 == int64": (lambda i: ttnn.eq(i, i), [WIDE], "`eq` does not take INT64 tensors"),
    "int64 * float32": (lambda i, x: i * x, [WIDE, X], "`multiply` does not take INT64 tensors"),
    "sum of int64": (lambda i: ttnn.sum(i), [WIDE], "`sum` does not take INT64 tensors"),
    "bool + 1": (lambda m: m + 1, [MASK], "is 1 beside a tensor of bools, which torch would compute in int64"),
    "bool - bool": (lambda m: m - m, [MASK], "`subtract` does not take BOOL tensors"),
    "sum of bool": (lambda m: ttnn.sum(m), [MASK], "`sum` does not take BOOL tensors"),
    "int16 + 70000": (lambda a: a + 70000, [SMALL], "is 70000, and INT16 holds -32768 to 32767"),
    "index of bool": (lambda m, x: ttnn.gather(x, 0, m), [MASK, X], "`index` of `gather` does not take BOOL tensors"),
    "pad with 2**40": (lambda i: ttnn.pad(i, ((1, 2),), 2**40), [WIDE], "programs hold numbers of 32 bits"),
}


@LIBRARIES
@BOTH
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_arithmetic_is_refused_by_name_at_its_location(name, capture, numpy):
    program, operands, message = REFUSED[name]
    with pytest.raises(CompileError) as raised:
        jit(graph_capture=capture)(program)(*(given(each, numpy) for each in operands))
    assert message in str(raised.value)
    assert "test_integers_of_torch_and_numpy.py" in str(raised.value)
    assert raised.value.help


@LIBRARIES
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint64, torch.float16, torch.float64])
def test_other_types_are_refused_with_the_cast_to_write(dtype, numpy):
    with pytest.raises(
        DTypeError, match=rf"of (torch\.)?{str(dtype).removeprefix('torch.')} are not supported"
    ) as raised:
        jit()(lambda x: ttnn.add(x, x))(given(torch.ones(3, dtype=dtype), numpy))
    assert raised.value.help.startswith("cast it: ")


def test_numbers_of_another_byte_order_are_refused():
    with pytest.raises(TypeError, match="are not supported"):
        jit()(lambda ids: ttnn.add(ids, 1))(np.arange(3, dtype=">i8"))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(5, 4)
        self.register_buffer("position_ids", torch.tensor([[3, 0, 4]]))
        self.register_buffer("mask", torch.tensor([[[True], [False], [True]]]))

    def forward(self, x):
        rows = ttnn.embedding(self.position_ids, self.table.weight)
        return ttnn.where(self.mask, ttnn.add(x, rows), 0.0)


@BOTH
def test_buffers_of_modules_are_indices_and_masks(capture):
    model = Model().requires_grad_(False)
    x = torch.randn(1, 3, 4)
    function = jit(graph_capture=capture)(lambda x: model.forward(x))
    for _ in range(2):
        rows = model.table.weight[model.position_ids]
        assert torch.equal(function(x), torch.where(model.mask, x + rows, 0.0))
        model.position_ids = torch.tensor([[1, 1, 2]])


def added(x, y):
    x += y
    return x


def flipped(x, y):
    x &= y
    ttnn.logical_not_(x)
    return x


def masked(x, y):
    x[y] = 7.0
    return x


def part(x, y):
    x[1:3] = y[:2]
    return x


WRITES = {
    "int16 += int16": (added, SMALL, SMALL, SMALL + SMALL),
    "int16 += bool": (added, SMALL, MASK, SMALL + MASK),
    "bool += bool": (added, MASK, ~MASK, MASK + ~MASK),
    "bool &= bool": (flipped, MASK, MASK, ~MASK),
    "float32[bool] = number": (masked, X, MASK, torch.where(MASK, 7.0, X)),
    "int64[1:3] = int64": (part, WIDE, WIDE, torch.cat([WIDE[:1], WIDE[:2], WIDE[3:]])),
    "bool[1:3] = bool": (part, MASK, ~MASK, torch.cat([MASK[:1], ~MASK[:2], MASK[3:]])),
}


@LIBRARIES
@BOTH
@pytest.mark.parametrize("name", WRITES)
def test_they_are_written_as_in_torch(name, capture, numpy):
    program, x, y, expected = WRITES[name]
    function = jit(graph_capture=capture)(program)
    for _ in range(3):
        written = given(x.clone(), numpy)
        assert function(written, given(y.clone(), numpy)) is written
        assert equal(written, expected)


@BOTH
@pytest.mark.parametrize(
    ("x", "y"),
    [(MASK, SMALL), (MASK, X), (SMALL, X), (WIDE, SMALL)],
    ids=["bool int16", "bool float", "int16 float", "int64"],
)
def test_a_result_that_its_tensor_does_not_hold_is_not_written(x, y, capture):
    written = x.clone()
    with pytest.raises(CompileError, match=r"is not written into a tensor of|does not take INT64 tensors"):
        jit(graph_capture=capture)(added)(written, y)
    assert torch.equal(written, x)


@pytest.mark.parametrize(
    "name", ["int16 < 0", "not bool", "where bool", "where int64", "int64 repeated", "rows of int64", "int16 / int16"]
)
@LIBRARIES
def test_plain_python_computes_them_so_too(name, numpy):
    program, operands, expected = COMPUTED[name]
    with accepting_foreign_operands(PRESETS["cpu"]):
        found = program(*(given(each, numpy) for each in operands))
    assert equal(found, expected)


@BOTH
def test_floats_that_numpy_lacks_come_back_as_float32(capture):
    x = np.linspace(-7.0, 7.0, 1000, dtype=np.float32)
    expected = torch.from_numpy(x).to(torch.bfloat16).float().numpy()
    calls = {
        "one": (lambda x: ttnn.typecast(x, ttnn.bfloat16), lambda found: found),
        "large": (lambda x: ttnn.repeat(ttnn.typecast(x, ttnn.bfloat16), (2000,)), lambda found: found[:1000]),
        "nested": (lambda x: {"a": [x, ttnn.typecast(x, ttnn.bfloat16)]}, lambda found: found["a"][1]),
        "scalar": (lambda x: ttnn.typecast(x[0:1], ttnn.bfloat16)[0], lambda found: found),
    }
    for name, (program, of) in calls.items():
        function = jit(graph_capture=capture)(program)
        for _ in range(3):
            found = of(function(x))
            assert found.dtype == np.float32
            assert np.array_equal(found, expected[0] if name == "scalar" else expected)


def test_no_class_of_elements_of_ttnn_is_one_of_theirs():
    assert {dtype.name for dtype in ttnn.DataType}.isdisjoint({"INT16", "BOOL", "INT64"})
    assert not hasattr(ttnn, "int16")
    for dtype in (ttnn.DataType.INT16, ttnn.DataType.BOOL, ttnn.DataType.INT64):
        for make in (
            lambda dtype=dtype: ttnn.from_torch(X, dtype=dtype),
            lambda dtype=dtype: ttnn.zeros((2, 2), dtype=dtype),
            lambda dtype=dtype: ttnn.typecast(ttnn.from_torch(X), dtype),
        ):
            with pytest.raises(DTypeError, match=f"ttnn has no tensors of {dtype.name}"):
                make()
    assert ttnn.from_torch(WIDE).dtype is ttnn.uint32
    assert ttnn.from_torch(MASK).dtype is ttnn.uint8
    assert ttnn.from_torch(SMALL).dtype is ttnn.uint16
