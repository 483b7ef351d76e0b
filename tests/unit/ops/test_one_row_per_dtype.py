"""An element type is defined in one row of traits: no other file branches on its members."""

from __future__ import annotations

import ast
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.dtypes import (
    BOOLS,
    COMPUTE_TYPE,
    FLOATS,
    IEEE_HALVES,
    INTEGERS,
    MOVABLE,
    WIDE_FLOATS,
    DataType,
    dtypes_in_torch,
    dtypes_made_of_torch,
    dtypes_of_numpy,
    dtypes_of_torch,
)

PACKAGE = Path(ttnn_jit.__file__).parent
LINKED = (path for room in ("cache", "kernels") for path in (PACKAGE / room).rglob("*.py"))
FILES = sorted(path for path in {*PACKAGE.rglob("*.py"), *LINKED} if path != PACKAGE / "specs" / "dtypes.py")
DTYPES = pytest.mark.parametrize("dtype", sorted(MOVABLE, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.mlir)


ALL_FLOATS = sorted(FLOATS | WIDE_FLOATS | IEEE_HALVES, key=lambda dtype: dtype.name)


def is_member(node):
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "DataType"


def branches(tree):
    """Comparisons with members, match cases, tables keyed by them or of them, and lists of them."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                parts = [node.left, *node.comparators]
            case ast.MatchValue():
                parts = [node.value]
            case ast.Dict():
                parts = [*node.keys, *node.values]
            case ast.Subscript():
                parts = [node.slice]
            case ast.Set() | ast.Tuple() | ast.List() if any(map(is_member, node.elts)):
                parts = node.elts
            case _:
                continue
        if any(is_member(inner) for part in parts if part is not None for inner in ast.walk(part)):
            yield node.lineno


def test_only_the_file_of_element_types_branches_on_them():
    texts = ((path, path.read_text(encoding="utf-8")) for path in FILES)
    naming = {path: list(branches(ast.parse(text))) for path, text in texts if DataType.__name__ in text}
    assert len(naming) > 10
    assert {path: lines for path, lines in naming.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "x is DataType.FLOAT32",
        "x in (DataType.FLOAT32, other)",
        "DataType.BFLOAT16 != y",
        "match x:\n    case DataType.FLOAT32: pass",
        "{DataType.FLOAT32: 1}",
        "{torch.float32: DataType.FLOAT32}",
        "sizes[DataType.FLOAT32]",
        "[f(x) for x in (DataType.FLOAT32, DataType.BFLOAT16)]",
        "frozenset({DataType.FLOAT32})",
    ],
)
def test_every_form_of_branch_is_detected(source):
    assert list(branches(ast.parse(source)))


def test_a_member_as_a_value_is_not_a_branch():
    assert not list(branches(ast.parse("x = DataType.FLOAT32\nf(DataType.BFLOAT16)")))


@DTYPES
def test_the_names_of_a_row_are_types_of_its_size(dtype):
    row = dtype.traits
    assert np.dtype(row.numpy).itemsize == dtype.torch.itemsize == dtype.itemsize
    sizes = {"double": 8, "float": 4, "half": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1}
    assert sizes[row.llvm] == dtype.itemsize
    assert dtypes_in_torch()[dtype.torch] is dtype
    assert (dtype.torch in dtypes_of_torch()) is not row.is_of_texts
    assert row.is_of_texts or dtype.is_upper_half or dtypes_of_numpy()[np.dtype(row.numpy)] is dtype
    assert row.is_foreign or not row.is_of_texts
    made = dtypes_made_of_torch().get(dtype.torch)
    assert made is dtype if not dtype.is_foreign else made is None or not made.is_foreign
    if dtype in BOOLS:
        assert (row.largest, dtype.values) == (1, range(2))
        return
    limits = (torch.iinfo if dtype.is_integer else torch.finfo)(dtype.torch)
    assert limits.max == row.largest
    assert not dtype.is_integer or dtype.values == range(limits.min, limits.max + 1)


@DTYPES
def test_the_format_of_an_element_in_a_buffer_is_that_of_numpys_array(dtype):
    array = np.arange(2).astype(dtype.traits.numpy)
    patterns = memoryview(array.tobytes()).cast(dtype.buffer_format)
    assert (len(patterns), patterns.tolist()) == (2, array.tolist())


@DTYPES
def test_an_element_that_is_stored_narrowed_is_narrower_than_its_compute_type(dtype):
    assert np.dtype(dtype.compute.numpy).itemsize == max(4, dtype.itemsize)
    assert dtype.is_compute_type == (dtype.itemsize >= 4)


@pytest.mark.parametrize("dtype", ALL_FLOATS, ids=lambda dtype: dtype.mlir)
def test_mantissa_and_exponent_are_torchs(dtype):
    limits = torch.finfo(dtype.torch)
    assert (limits.eps, limits.smallest_normal) == (2.0**-dtype.mantissa_bits, dtype.smallest_normal)


def test_a_compute_type_is_its_own_compute_type():
    assert COMPUTE_TYPE.is_compute_type
    assert {dtype for dtype in FLOATS if dtype.is_compute_type} == {COMPUTE_TYPE}


@pytest.mark.parametrize("dtype", ALL_FLOATS, ids=lambda dtype: dtype.mlir)
@given(st.floats(width=32))
def test_rounding_and_decoding_equal_torch(dtype, value):
    exact = torch.tensor(value, dtype=torch.float32)
    stored = exact.to(dtype.torch)
    expected = np.float64(stored.double().item())
    for got in (dtype.rounded(value), dtype.decoded(bytes(stored.reshape(1).view(torch.uint8).tolist()))):
        assert np.isnan(got) if np.isnan(expected) else struct.pack("d", got) == struct.pack("d", expected)


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.mlir)
@given(st.data())
def test_integers_are_decoded_as_in_torch(dtype, data):
    value = data.draw(st.integers(dtype.values[0], dtype.values[-1]))
    stored = torch.tensor([value], dtype=torch.int64).to(dtype.torch)
    assert dtype.decoded(bytes(stored.view(torch.uint8).tolist())) == value == dtype.checked_integer(value, "it")


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=lambda dtype: dtype.name), ids=lambda dtype: dtype.mlir)
def test_numbers_outside_an_integer_type_are_refused_by_its_name(dtype):
    for value in (dtype.values[0] - 1, dtype.values[-1] + 1, 2.5, 2.0, float("nan")):
        with pytest.raises(ArgumentError, match=dtype.name):
            dtype.checked_integer(value, "it")
