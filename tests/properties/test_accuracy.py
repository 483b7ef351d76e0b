"""Every operation, dtype and mode over a dense fixed sample: no error beyond what the declaration states."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.accuracy.measure import BFLOAT16, FLOAT32, Mode, cases, measured
from benchmarks.accuracy.page import COLUMNS, page
from ttnn_jit.ops import OPERATIONS

CASES = list(cases())
FRACTION = 0.005  # of the sample of `make accuracy`


@pytest.fixture(autouse=True)
def one_thread():
    """Beside other workers, threads of torch's wait for each other longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize(("operation", "dtype"), CASES, ids=[f"{o.ttnn_name}-{d.mlir}" for o, d in CASES])
def test_no_error_is_beyond_the_stated_bound(operation, dtype):
    for found in measured(operation, dtype, FRACTION):
        assert found.max_ulp <= found.bound, (found.mode, found.worst)
        assert found.as_on_cpu or operation.on_device is not None, found.mode


def test_every_operation_is_measured_in_every_dtype_under_every_mode():
    assert set(CASES) == {(operation, dtype) for operation in OPERATIONS for dtype in operation.dtypes}
    few = [case for case in CASES if case[0].name in {"digamma", "where"}]
    rows = [row for case in few for row in measured(*case, 1e-5)]
    assert {(row.operation, row.dtype, row.mode) for row in rows} == {(*case, mode) for case in few for mode in Mode}
    lines = [line for line in page(rows, 1e-5).splitlines() if line.startswith("| `")]
    assert [len(line.split(" | ")) for line in lines] == [len(COLUMNS)] * 2


def test_the_committed_page_has_a_line_for_every_operation():
    text = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text()
    lines = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert lines == [operation.signature for operation in OPERATIONS]
    assert {FLOAT32, BFLOAT16} == {dtype for _, dtype in CASES}
