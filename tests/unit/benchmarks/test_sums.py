"""The section of docs/accuracy.md on summing operations: complete, and within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.accuracy import sums
from ttnn_jit.ops.families.reduction import roundings

PAGE = (Path(__file__).parents[3] / "docs" / "accuracy.md").read_text()
CASES = list(sums.cases())


@pytest.mark.parametrize(("operation", "dtype"), CASES, ids=[f"{one.name}-{dtype}" for one, dtype in CASES])
def test_an_operation_that_sums_is_measured_within_its_bound_and_is_on_the_page(operation, dtype):
    found = sums.measured(operation, dtype, (33, 1000))
    assert all(bound is None or error <= bound for error, bound in zip(found.errors, found.bounds, strict=True))
    assert all(error < 0.6 for error in found.errors) or dtype is torch.float32
    assert f"| `{operation.name}` | {str(dtype).removeprefix('torch.')} |" in PAGE


def test_the_section_replaces_the_previous_one():
    text = sums.section([sums.measured(*CASES[0], (33,))], (33,))
    page = sums.with_section("# Page\n\ntext\n", text)
    assert page == f"# Page\n\ntext\n\n{text}"
    assert sums.with_section(page, text) == page
    assert sums.with_section(PAGE, text).count(sums.BEGIN) == 1


@pytest.mark.parametrize(("extent", "most"), [(1, 6), (32, 6), (33, 7), (4096, 133), (4097, 134), (3 * 4096, 135)])
def test_the_number_of_roundings_of_an_element_in_a_sum(extent, most):
    assert roundings(extent) == most
