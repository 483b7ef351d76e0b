"""Kernels whose data exceeds the last cache use non-temporal stores where these are possible."""

from __future__ import annotations

import ctypes
import re

import numpy
import pytest
import torch

from tests.programs import add_tree_8_to_1, cosh
from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.schedules import bound_kernel
from ttnn_jit.compiler import driver, stored_programs
from ttnn_jit.diagnostics.errors import ArgumentError

MEGABYTE_OF_ELEMENTS = 1 << 18


@pytest.fixture
def nothing_fits(monkeypatch):
    """Every kernel counts as larger than the caches, and no cached program is used."""
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
    monkeypatch.setattr(stored_programs, "IN_MEMORY", {})
    monkeypatch.setattr(bound_kernel, "SHARE_OF_LAST_CACHE", 0)


@pytest.mark.parametrize(
    ("function", "rows", "around"),
    [(cosh, 192, False), (cosh, 193, True), (add_tree_8_to_1, 24, False), (add_tree_8_to_1, 25, True)],
)
def test_a_kernel_whose_data_exceeds_the_caches_stores_non_temporally(monkeypatch, function, rows, around):
    monkeypatch.setattr(bound_kernel, "last_cache_bytes", lambda: 16 << 20)
    inputs = [torch.empty(rows, 1 << 14) for _ in range(1 if function is cosh else 8)]  # rows of 64 KB
    text = jit(function).ir(*inputs, stage="codegen")
    assert ("!nontemporal" in text) is around
    assert ("fence seq_cst" in text) is around


@pytest.mark.usefixtures("nothing_fits")
def test_rows_with_gaps_and_small_results_are_stored_temporally():
    wide = torch.randn(1024, 2048)[:, :1024]
    assert "!nontemporal" not in jit(add_tree_8_to_1).ir(*[torch.randn(64)] * 8, stage="codegen")
    assert "!nontemporal" not in jit(cosh).ir(wide, stage="codegen")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("extra", [0, 1, 31, 4097])
def test_no_bit_depends_on_the_kind_of_store(monkeypatch, nothing_fits, dtype, extra):  # noqa: ARG001
    x = torch.randn(2 * MEGABYTE_OF_ELEMENTS + extra).to(dtype)
    around = jit(cosh)(x)
    monkeypatch.setattr(stored_programs, "IN_MEMORY", {})
    monkeypatch.setattr(bound_kernel, "SHARE_OF_LAST_CACHE", 1e9)
    assert torch.equal(jit(cosh)(x), around)


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize(
    ("moved", "golden"),
    [
        (lambda x: ttnn.pad(x, [(1, 1), (1, 1)], 7.0), lambda x: torch.nn.functional.pad(x, (1, 1, 1, 1), value=7.0)),
        (lambda x: ttnn.concat([x, x, x], 0), lambda x: torch.cat([x, x, x])),
    ],
    ids=["pad", "concat"],
)
def test_rows_that_start_within_a_cache_line_are_stored_temporally(moved, golden):
    x = torch.randn(513, 1021)
    text = jit(moved).ir(x, stage="host")
    stores = re.findall(r" writes .*strides \[1\](?: from element (\d+))?(, non-temporal stores)?", text)
    assert {bool(past) for begin, past in stores if int(begin or 0) % 16 == 0} == {True}
    assert {bool(past) for begin, past in stores if int(begin or 0) % 16} == {False}
    assert torch.equal(jit(moved)(x), golden(x))


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("columns", [1024, 1031])
def test_rows_that_start_at_cache_lines_are_copied_non_temporally(columns):
    x = torch.randn(3, 1100, columns)
    parts = jit(lambda x: ttnn.concat([x, x], 1))
    assert ("non-temporal" in parts.ir(x, stage="host")) == (1100 * columns % 16 == 0)
    assert torch.equal(parts(x), torch.cat([x, x], 1))
    assert torch.equal(jit(lambda x: x[:, 8:, 16:])(x), x[:, 8:, 16:])


@pytest.mark.usefixtures("nothing_fits")
def test_numpy_results_are_aligned_for_non_temporal_stores():
    x = numpy.random.default_rng(0).standard_normal((513, 1025), numpy.float32)[1:, 1:]
    result = jit(cosh)(numpy.ascontiguousarray(x))
    assert result.ctypes.data % 64 == 0
    assert numpy.array_equal(result, jit(cosh)(x))


def test_unaligned_memory_is_refused():
    x = torch.randn(MEGABYTE_OF_ELEMENTS)
    compiled = driver.compile_program(jit(cosh).request(x), use_disk=False).program
    memory = ctypes.create_string_buffer(4 * MEGABYTE_OF_ELEMENTS + 128)
    start = -(-ctypes.addressof(memory) // 64) * 64
    compiled.run(x.data_ptr(), start)
    with pytest.raises(ArgumentError, match="multiple of 64"):
        compiled.run(x.data_ptr(), start + 16)
