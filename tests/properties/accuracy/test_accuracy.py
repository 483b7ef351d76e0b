"""Every operation, dtype and mode over a dense fixed sample: no error beyond what the declaration states."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import mpmath
import pytest
import torch

import ttnn_jit
from benchmarks.accuracy import sums
from benchmarks.accuracy.measure import BFLOAT16, FLOAT32, Mode, cases, measured, ulp_errors
from benchmarks.accuracy.page import COLUMNS, page
from benchmarks.accuracy.references import derivative_of_digamma, error_in_ulp, in_float64
from ttnn_jit import ttnn
from ttnn_jit.ops import OVERLOADS, operations_on
from ttnn_jit.specs.dtypes import FLOATS

CASES = list(cases())
FRACTION = 0.005  # of the sample of `make accuracy`


@pytest.fixture(autouse=True)
def one_thread():
    """Limits torch's threads, which wait for each other longer than they compute beside other workers."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("dtype", [FLOAT32, BFLOAT16], ids=lambda dtype: dtype.mlir)
@pytest.mark.parametrize("operation", operations_on(FLOATS), ids=lambda operation: operation.ttnn_name)
def test_no_error_is_beyond_the_stated_bound(operation, dtype):
    for found in measured(operation, dtype, FRACTION):
        assert found.max_ulp <= found.bound, (found.mode, found.worst)
        assert found.as_on_cpu, found.mode


EXPONENTS = (
    0.5, -0.5, 1 / 3, 0.25, 0.75, 1.5, -1.5, 2.5, 7.5, -3.25, 2, 3, 4, 5, 10, 100, -1, -2, 0.1, 1e-3, 1e3, 1.0078125,
)  # fmt: skip


def test_pow_of_every_bfloat16_is_within_the_error_of_the_rounded_float32_result():
    """The bound of a float32 within 1.5 units, rounded once more: half a unit of bfloat16 and 1.5 of its 2**-16."""
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    x = every.repeat(len(EXPONENTS))
    y = torch.tensor(EXPONENTS).bfloat16().repeat_interleave(len(every))
    errors = ulp_errors(ttnn_jit.jit(lambda x, y: ttnn.pow(x, y))(x, y), torch.pow(x.double(), y.double()))
    assert errors.max() <= 0.5 + 1.5 * 2.0**-16
    assert (errors > 0.5).double().mean() < 1e-5


@pytest.mark.parametrize(("order", "worst"), [(3, 134323920.0), (9, 0.030171072110533714), (10, 0.0019281404092907906)])
def test_polygamma_is_within_its_bound_at_the_worst_samples_of_every_order(order, worst):
    (polygamma,) = OVERLOADS["polygamma"]
    got = float(ttnn_jit.jit()(lambda x: ttnn.polygamma(x, order))(torch.tensor([worst])))
    with mpmath.workprec(400):
        exact = mpmath.polygamma(order, mpmath.mpf(worst))
    assert error_in_ulp(got, exact, 23) <= polygamma.probe.max_ulp


@pytest.mark.parametrize("order", [1, 2, 5, 10, 11, 20, 30])
def test_polygamma_of_every_order_is_accurate_below_zero_too(order):
    """Products of n factors lose a unit per factor; ttnn supports orders to 10, torch any order."""
    generator = torch.Generator().manual_seed(order)
    special = torch.tensor([0.0, -1.0, -2.0, -0.5, -1.5, 0.5, 1.0, 1e-30, -1e-30, 1e30, -200.25, 3e38])
    x = torch.cat([special, torch.rand(116, generator=generator) * 60 - 30])
    got = ttnn_jit.jit()(lambda x: ttnn.polygamma(x, order))(x)
    with mpmath.workprec(400):
        want = torch.tensor([float(derivative_of_digamma(mpmath.mpf(each), order)) for each in x.tolist()]).double()
    errors = ulp_errors(got, want)
    assert errors.max() <= (20 if order <= 10 else 40), x[errors.argmax()]
    (polygamma,) = OVERLOADS["polygamma"]
    golden = polygamma.golden(torch, x.double(), order)
    torch.testing.assert_close(golden.float(), want.float(), rtol=1e-6, atol=1e-42)


def test_every_operation_is_measured_in_every_dtype_under_every_mode():
    assert set(CASES) == {(operation, dtype) for operation in operations_on(FLOATS) for dtype in FLOATS}
    few = [case for case in CASES if case[0].name in {"digamma", "where"}]
    rows = [row for case in few for row in measured(*case, 1e-5)]
    assert {(row.operation, row.dtype, row.mode) for row in rows} == {(*case, mode) for case in few for mode in Mode}
    lines = [line for line in page(rows, 1e-5).splitlines() if line.startswith("| `")]
    assert [len(line.split(" | ")) for line in lines] == [len(COLUMNS)] * 2


def elementwise_lines():
    """The committed page's table of operations that work element by element."""
    text = (Path(__file__).parents[3] / "docs" / "accuracy.md").read_text().partition(sums.BEGIN)[0]
    return [line for line in text.splitlines() if line.startswith("| `")]


def worst_arguments():
    """The entries of the committed page, by operation."""
    lines = (line.split(" | ") for line in elementwise_lines())
    cells = {line[0].split("`")[1]: line[COLUMNS.index("worst argument")] for line in lines}
    for operation in operations_on(FLOATS):
        if worst := cells.get(operation.signature, "").strip():
            yield operation, [float(value) for value in worst.split(", ")]


def test_no_neighbour_of_a_worst_argument_on_the_page_exceeds_the_bound():
    found = list(worst_arguments())
    assert len(found) > 40
    for operation, values in found:
        near = [torch.tensor([v]).view(torch.int32) + torch.arange(-500, 501, dtype=torch.int32) for v in values]
        operands = [bits.view(torch.float32) for bits in near]
        call = partial(getattr(ttnn, operation.name), **operation.fixed_keywords)
        got = ttnn_jit.jit(lambda *xs: call(*xs, *operation.tested_attributes))(*operands)  # noqa: B023 - called here
        exact = in_float64(operation, operation.golden, operands)
        errors = ulp_errors(got, exact)
        errors[(got.double() - exact).abs() <= operation.probe.max_absolute] = 0
        assert errors.max() <= operation.probe.max_ulp, (operation, [float(o[errors.argmax()]) for o in operands])


def test_the_committed_page_has_a_line_for_every_operation():
    lines = [line.split("`")[1] for line in elementwise_lines()]
    assert lines == [operation.signature for operation in operations_on(FLOATS)]
    assert {FLOAT32, BFLOAT16} == {dtype for _, dtype in CASES}
