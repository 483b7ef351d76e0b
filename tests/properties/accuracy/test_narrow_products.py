"""Products with fewer rows or columns than vector lanes, of operands between inaccessible pages."""

import ctypes
import itertools
import mmap

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit import ttnn

_LIBC = ctypes.CDLL(None, use_errno=True)
_PAGE = mmap.PAGESIZE


def _between_pages(tensor, *, at_end):
    """A copy of `tensor` that ends, or begins, at an unreadable page; and the object that keeps its memory alive."""
    nbytes = tensor.numel() * tensor.element_size()
    inside = -(-nbytes // _PAGE) * _PAGE
    memory = mmap.mmap(-1, inside + 2 * _PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (start, start + _PAGE + inside):
        assert _LIBC.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE), 0) == 0
    offset = _PAGE + (inside - nbytes if at_end else 0)
    copied = torch.frombuffer(memory, dtype=tensor.dtype, count=tensor.numel(), offset=offset).view(tensor.shape)
    copied.copy_(tensor)
    return copied


_EXTENT = st.sampled_from([1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65])


@st.composite
def _cases(draw):
    batch, rows, inner, columns = draw(st.integers(1, 3)), draw(_EXTENT), draw(_EXTENT), draw(_EXTENT)
    return (batch, rows, inner, columns), draw(st.booleans()), draw(st.booleans())


_PRODUCTS = {
    transposes: ttnn_jit.jit(
        lambda a, b, transpose_a=transposes[0], transpose_b=transposes[1]: ttnn.matmul(
            a, b, transpose_a=transpose_a, transpose_b=transpose_b
        )
    )
    for transposes in itertools.product((False, True), repeat=2)
}


@settings(max_examples=40, deadline=None)
@given(
    case=_cases(),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    at_end=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_narrow_products_read_nothing_beyond_their_operands(case, dtype, at_end, seed):
    (batch, rows, inner, columns), *transposes = case
    generator = torch.Generator().manual_seed(seed)
    a, b = (
        torch.randn(shape[:1] + shape[:0:-1] if is_transposed else shape, generator=generator).to(dtype)
        for shape, is_transposed in zip(((batch, rows, inner), (batch, inner, columns)), transposes, strict=True)
    )
    wanted = torch.matmul(
        *((x.mT if is_transposed else x).double() for x, is_transposed in zip((a, b), transposes, strict=True))
    )
    found = _PRODUCTS[tuple(transposes)](*(_between_pages(x, at_end=at_end) for x in (a, b)))
    bound = (inner + 1) * np.finfo(np.float32).eps + (2**-8 if dtype is torch.bfloat16 else 0)
    magnitudes = torch.matmul(
        *((x.mT if is_transposed else x).double().abs() for x, is_transposed in zip((a, b), transposes, strict=True))
    )
    assert ((found.double() - wanted).abs() <= bound * magnitudes).all()
