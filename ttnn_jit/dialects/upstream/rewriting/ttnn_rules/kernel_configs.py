"""How a chip's kernels compute: the `compute_config` of operations of TTNN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Attribute, Operation

from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, parsed, shape_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute

_CONFIG = "compute_config"
_OF_ITS_LINKS = {"ttnn.reduce_scatter"}
"""Operations whose config is that of the sums on the way between devices: no default reaches it."""

_PRODUCTS = {"ttnn.matmul", "ttnn.linear"}
_LONG_SUM = 50_000
"""Products of bf16 with more terms than these are added in f32, whatever was asked for (tt-metal #46101)."""

_SUMS_IN_F32 = {"fp32_dest_acc_en": "true", "packer_l1_acc": "true"}


def config_of(values: Mapping[str, str]) -> Attribute | None:
    """``#ttnn.device_compute_kernel_config<math_fidelity = hifi4>``; None if no value is given."""
    stated = ", ".join(f"{name} = {value}" for name, value in values.items())
    return parsed(f"#ttnn.device_compute_kernel_config<{stated}>") if stated else None


def configure(op: Operation, default: Attribute | None, rewriter: Rewriter) -> bool:
    """Completes the config of an operation that has one by the values of `default`; whether it changed."""
    if not _takes_config(op, rewriter):
        return False
    given = op.properties.get(_CONFIG)
    forced = config_of(_SUMS_IN_F32) if _is_long_product(op) else None
    values = {**_values(default), **_values(given), **_values(forced)}
    if not values or values == _values(given):
        return False
    kind = given or default or forced
    assert isinstance(kind, TableAttribute)
    order = [each.name for each in kind.rows[0].parameters]
    op.properties[_CONFIG] = type(kind)(tuple((name, values[name]) for name in order if name in values))
    rewriter.changes += 1
    return True


def _values(config: Attribute | None) -> dict[str, Any]:
    return dict(config.data) if isinstance(config, TableAttribute) else {}


def _takes_config(op: Operation, rewriter: Rewriter) -> bool:
    row = rewriter.row(op.name) if op.name.startswith("ttnn.") and op.name not in _OF_ITS_LINKS else None
    return row is not None and any(each.name == _CONFIG for each in row.attributes)


def _is_long_product(op: Operation) -> bool:
    if op.name not in _PRODUCTS or not isinstance(element_of(op.results[0]), BFloat16Type):
        return False
    shape = shape_of(op.operands[0].type)
    transposed = op.properties.get("transpose_a") == boolean(True)
    return shape[-2 if transposed and len(shape) > 1 else -1] > _LONG_SUM
