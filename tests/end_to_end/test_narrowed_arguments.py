"""Bools and 64-bit integers of torch and numpy are what `from_torch` makes of them, read where they lie."""

from __future__ import annotations

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError

BOTH = pytest.mark.parametrize("capture", [False, True], ids=["ast", "capture"])
LAID = {
    "dense": lambda t: t,
    "transposed": lambda t: t.T.contiguous().T,
    "strided": lambda t: torch.stack([t, t], -1)[..., 1],
}
FAMILIES = {"torch": lambda t: t, "numpy": lambda t: t.numpy()}

IDS = st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=12).map(torch.tensor)


def is_right(found, expected):
    return torch.equal(torch.as_tensor(found).to(expected.dtype), expected)


PROGRAMS = [
    ("x ids", lambda x, ids: ttnn.embedding(ids, x), lambda x, ids: x[ids]),
    ("x ids", lambda x, ids: ttnn.gather(x, 0, ids), lambda x, ids: torch.gather(x, 0, ids)),
    ("x mask", lambda x, mask: ttnn.where(mask, x, 0.0), lambda x, mask: torch.where(mask, x, 0.0)),
    ("x mask", lambda x, mask: ttnn.where(mask, x, ttnn.neg(x)), lambda x, mask: torch.where(mask, x, -x)),
    ("ids mask", lambda ids, mask: ttnn.where(mask, ids, 7), lambda ids, mask: torch.where(mask, ids, 7)),
    ("ids", lambda ids: ttnn.typecast(ids, ttnn.float32), lambda ids: ids.float()),
    ("x mask", lambda x, mask: x * ttnn.typecast(mask, ttnn.float32), lambda x, mask: x * mask),
    ("ids", lambda ids: ttnn.eq(ids, 2), lambda ids: ids == 2),
    ("mask", lambda mask: ttnn.logical_not(mask), lambda mask: ~mask),
    ("ids", lambda ids: ttnn.add(ids, 1), lambda ids: ids + 1),
]
"""Names of operands, a program, and the same in torch."""


@BOTH
@pytest.mark.parametrize("laid", LAID)
@pytest.mark.parametrize("family", FAMILIES)
def test_masks_and_indices_give_what_torch_gives(family, laid, capture):
    generator = torch.Generator().manual_seed(len(laid))
    values = {
        "x": torch.randn(5, 6, generator=generator),
        "ids": torch.randint(0, 5, (5, 6), generator=generator),
        "mask": torch.rand(5, 6, generator=generator) < 0.5,
    }
    for names, program, reference in PROGRAMS:
        operands = [values[name] for name in names.split()]
        jitted, expected = jit(graph_capture=capture)(program), reference(*operands)
        for _ in range(3):
            assert is_right(jitted(*(FAMILIES[family](LAID[laid](each)) for each in operands)), expected)


@settings(max_examples=20, deadline=None)
@given(ids=IDS, numpy_array=st.booleans())
def test_of_a_64_bit_integer_the_low_half_is_read(ids, numpy_array):
    given_ = ids.numpy() if numpy_array else ids
    assert is_right(jit()(lambda ids: ttnn.add(ids, 1))(given_), ((ids & 0xFFFFFFFF) + 1) & 0xFFFFFFFF)
    placed = ttnn.to_torch(ttnn.from_torch(ids))
    assert is_right(jit()(lambda ids: ttnn.reshape(ids, (-1,)))(given_), placed.long() & 0xFFFFFFFF)


@BOTH
@pytest.mark.parametrize("value", [torch.arange(4), torch.arange(4) > 1])
@pytest.mark.parametrize("family", FAMILIES)
def test_they_come_back_as_they_are_and_are_not_written(family, value, capture):
    given_ = FAMILIES[family](value.clone())
    same = jit(graph_capture=capture)(lambda x: (x, ttnn.eq(x, 0)))(given_)
    assert same[0] is given_
    for _ in range(2):
        with pytest.raises(
            ArgumentError, match=r"argument 0, which the function writes into, holds .*, which it reads"
        ):
            jit(graph_capture=capture)(lambda x: ttnn.add_(x, x))(given_)
    assert is_right(given_, value)


def test_a_float_chooses_no_integers():
    with pytest.raises(CompileError, match="got tensors of FLOAT32 and UINT32"):
        jit()(lambda x, ids: ttnn.where(x, ids, ids))(torch.ones(3), torch.arange(3))


def test_numbers_of_another_byte_order_are_refused():
    with pytest.raises(TypeError, match="are not supported"):
        jit()(lambda ids: ttnn.add(ids, 1))(numpy.arange(3, dtype=">i8"))
