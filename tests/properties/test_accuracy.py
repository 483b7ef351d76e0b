"""Every operation, dtype and numerics over a dense fixed sample: no error beyond what the declaration states."""

from __future__ import annotations

import pytest

from benchmarks.accuracy import cases, measured, page
from ttnn_jit.target import Numerics

CASES = list(cases())
FRACTION = 0.004  # of the sample of `make accuracy`


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize(
    ("operation", "dtype", "numerics"), CASES, ids=[f"{o.ttnn_name}-{d.mlir}-{n.name.lower()}" for o, d, n in CASES]
)
def test_no_error_is_beyond_the_stated_bound(device, operation, dtype, numerics):
    found = measured(operation, dtype, numerics, FRACTION, device)
    assert found.max_ulp <= found.bound, found.worst


def test_the_page_has_a_line_for_every_operation(device):
    rows = [measured(*case, 1e-6, device) for case in CASES if case[0].name in {"digamma", "add", "where"}]
    text = page(rows, 1e-6)
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == [
        operation.signature for operation in dict.fromkeys(row.operation for row in rows)
    ]
    assert Numerics.DEVICE in {row.numerics for row in rows}
