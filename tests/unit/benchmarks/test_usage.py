"""The page on the use of ttnn in public programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import usage
from ttnn_jit import ttnn

ROOT = Path(usage.__file__).parents[1]
ELSEWHERE = {"bfloat8_b", "bfloat4_b", "DataType.BFLOAT8_B", "DataType.BFLOAT4_B", "ir"}
"""Names without arithmetic that are missing: block floats, and the Python bindings of a compiler's IR."""


def test_the_usage_page_is_current():
    assert (ROOT / "docs" / "usage.md").read_text(encoding="utf-8") == usage.page()


def test_every_used_name_without_arithmetic_is_supported_with_every_used_keyword():
    for use in usage.uses():
        if use.set == "A" and use.name not in ELSEWHERE:
            assert usage.status(use.name) in usage.STATUSES[:2], use.name
            value = usage._resolved(use.name)
            assert all(usage.accepts(value, keyword) for keyword in use.keywords), use
        if use.set == "keywords":
            assert usage.status(use.name) in usage.STATUSES[:2], use.name


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("exp", "honoured"),
        ("Topology.Ring", "accepted, no effect"),
        ("generic_op", "refused, with a reason"),
        ("view_of_nothing", "not here yet"),
        ("UnaryOpType.NO_SUCH", "not here yet"),
        ("exp(queue_id=)", "honoured"),
        ("exp(no_such=)", "not here yet"),
        ("from_device(blocking=)", "accepted, no effect"),
    ],
)
def test_the_status_of_a_name_is_that_of_the_namespace(name, status):
    assert usage.status(name) == status


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *(
            (name, True)
            for name in ("matmul", "add_", "conv2d", "all_gather", "moe", "generic_op", "dropout_of_tomorrow")
        ),
        *((name, False) for name in ("SDPAProgramConfig", "Topology.Ring", "bfloat8_b", "execute_trace", "to_dtype")),
    ],
)
def test_operations_are_functions_that_compute_or_move_tensors(name, is_one):
    category = "Host API, creation, configs" if name == "to_dtype" else "Matmul, linear, attention"
    assert usage.is_operation(usage.Use("A", category, name, 1, {})) is is_one


def test_the_target_shares_are_reached():
    named = [use for use in usage.uses() if use.set != "keywords"]
    operations = [use for use in named if usage.is_operation(use)]
    honoured = usage.STATUSES[:1]
    assert usage.OMITTED + (1 - usage.OMITTED) * usage._share(named, honoured) >= 0.96
    assert usage._share(operations, honoured) >= 0.93


def test_names_are_counted_once_and_uses_are_numbers():
    found = usage.uses()
    assert len({use.name for use in found}) == len(found) > 250
    assert all(use.uses > 0 and min(use.keywords.values(), default=1) > 0 for use in found)
    total = sum(use.uses for use in found if use.set != "keywords")
    assert f"| all | {total} |" in usage.page()


def test_an_operation_takes_its_own_keywords_their_aliases_and_those_of_results():
    assert all(usage.accepts(ttnn.softmax, keyword) for keyword in ("dim", "memory_config", "compute_kernel_config"))
    assert usage.accepts(ttnn.slice, "starts") == usage.accepts(ttnn.slice, "slice_start")
    assert not usage.accepts(ttnn.to_torch, "no_such")
