"""Ops that may be computed by the short functions for bfloat16."""

from __future__ import annotations

import pytest

from tests.unit.codegen.programs import host_isa, kernel_of, scheduled
from ttnn_jit.codegen.bodies.body_analysis import between_bfloat16
from ttnn_jit.codegen.bodies.steps import Apply, KernelBody
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

F32, BF16 = DataType.FLOAT32, DataType.BFLOAT16


def body_of(calls: list[tuple], dtype: DataType, target: str) -> KernelBody:
    (body,) = read_kernels(scheduled([TensorSpec((32, 32), dtype, Layout.TILE)], calls, target=target))
    return body


def names_between(calls: list[tuple], dtype: DataType, target: str) -> list[str]:
    body = body_of(calls, dtype, target)
    chosen = [body.steps[index] for index in sorted(between_bfloat16(body))]
    return [step.tile_name for step in chosen if isinstance(step, Apply)]


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_kernel_of_one_op_between_bfloat16_uses_a_short_body(target: str) -> None:
    assert names_between([("exp", 0)], BF16, target) == ["tile_exp"]
    assert names_between([("exp", 0)], F32, target) == []


def test_a_chip_rounds_every_op_and_cpu_only_the_last() -> None:
    assert names_between([("exp", 0), ("tanh", 1)], BF16, "wormhole_b0") == ["tile_exp", "tile_tanh"]
    assert names_between([("exp", 0), ("tanh", 1)], BF16, "cpu") == []


def test_such_an_op_is_computed_by_its_short_body() -> None:
    divides = {
        dtype: "fdiv" in kernel_of(body_of([("tanh", 0)], dtype, "cpu"), host_isa()).text for dtype in (F32, BF16)
    }
    assert divides == {F32: False, BF16: True}
