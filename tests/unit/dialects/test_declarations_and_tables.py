"""One class per op name: what this compiler declares agrees with tt-mlir's tables, or stands here.

A text of tt-mlir becomes an op of the declared class. Where the property names differ, whoever executes it translates.
"""

from __future__ import annotations

import pytest

from ttnn_jit.dialects.declared_ops import DeclaredOp
from ttnn_jit.dialects.ttir import TTIR
from ttnn_jit.dialects.ttnn import TTNN
from ttnn_jit.dialects.upstream import tables

_CONVOLUTION = {"batch_size", "compute_config", "dtype", "in_channels", "input_height", "input_width", "kernel_size"}
_POOL = {"batch_size", "channels", "dtype", "input_height", "input_width", "kernel_size", "layout"}
OTHER_PROPERTIES = {
    "ttir.arange": {"dtype", "layout"},
    "ttir.avg_pool2d": {*_POOL, "divisor_override"},
    "ttir.batch_norm_inference": {"eps"},
    "ttir.batch_norm_training": {"eps"},
    "ttir.chunked_scaled_dot_product_attention": {"chunk_start_idx"},
    "ttir.collective_permute": {"cluster_axis"},
    "ttir.conv2d": {*_CONVOLUTION, "activation", "layout", "out_channels"},
    "ttir.conv3d": {"activation", "batch_size", "compute_config", "dilation", "dtype", "in_channels", "input_extents"}
    | {"kernel_size", "layout", "out_channels"},
    "ttir.conv_transpose2d": {*_CONVOLUTION, "activation", "layout", "mirror_kernel", "out_channels"},
    "ttir.dropout": {"probability"},
    "ttir.embedding": {"layout"},
    "ttir.global_avg_pool2d": {"dtype"},
    "ttir.group_norm": {"output_layout"},
    "ttir.leaky_relu": {"slope"},
    "ttir.linear": {"activation", "compute_config"},
    "ttir.matmul": {"compute_config"},
    "ttir.max_pool2d": _POOL,
    "ttir.rand": {"layout", "shape"},
    "ttir.scaled_dot_product_attention_decode": {"cur_pos", "sliding_window_size"},
    "ttir.typecast": {"dtype"},
    "ttnn.argmax": {"dim_arg"},
    "ttnn.avg_pool2d": {"divisor_override", "dtype", "layout"},
    "ttnn.batch_norm_inference": {"eps"},
    "ttnn.batch_norm_training": {"eps"},
    "ttnn.chunked_scaled_dot_product_attention": {"chunk_start_idx"},
    "ttnn.collective_permute": {"cluster_axis"},
    "ttnn.conv2d": {"activation", "layout"},
    "ttnn.conv3d": {"activation", "dilation", "input_extents", "layout"},
    "ttnn.conv_transpose2d": {"activation", "layout", "mirror_kernel"},
    "ttnn.dropout": {"probability"},
    "ttnn.embedding": {"layout"},
    "ttnn.group_norm": {"output_layout"},
    "ttnn.leaky_relu": {"slope"},
    "ttnn.max_pool2d": {"dtype", "layout"},
    "ttnn.rand": {"shape"},
    "ttnn.repeat": {"repeat_dimensions"},
    "ttnn.scaled_dot_product_attention_decode": {"cur_pos"},
    "ttnn.upsample": {"scale_height", "scale_width"},
}
"""Operation -> the declared properties that no version of tt-mlir has."""

OTHER_OPERANDS = {
    f"{dialect}.{name}"
    for dialect in ("ttir", "ttnn")
    for name in ("dropout", "layer_norm", "rand", "rms_norm", "sparse_matmul")
} | {"ttir.chunked_scaled_dot_product_attention", "ttnn.collective_permute", "ttnn.mesh_shard"}
"""Operations that are declared with another number of operands than any version has."""

OPERATIONS = [
    op
    for dialect in (TTIR, TTNN)
    for op in dialect.operations
    if issubclass(op, DeclaredOp) and not isinstance(op.operation, property) and tables.operation_rows(op.name)
]


def test_most_declared_operations_are_tt_mlirs():
    assert len(OPERATIONS) > 200


def test_declared_properties_are_those_of_the_tables_but_for_these():
    found = {}
    for op in OPERATIONS:
        names = {attribute.name for row in tables.operation_rows(op.name) for attribute in row.attributes}
        other = {attribute.property_name for attribute in op.operation.attributes} - names
        found |= {op.name: other} if other else {}
    assert found == OTHER_PROPERTIES


def test_declared_operands_are_those_of_the_tables_but_for_these():
    found = set()
    for op in OPERATIONS:
        counts = [
            (sum(not each.count for each in row.operands), len(row.operands)) for row in tables.operation_rows(op.name)
        ]
        if not op.operation.is_variadic and not any(least <= op.operation.arity <= most for least, most in counts):
            found.add(op.name)
    assert found == OTHER_OPERANDS


@pytest.mark.parametrize("dialect", [TTIR, TTNN], ids=["ttir", "ttnn"])
def test_the_reader_makes_the_declared_class(dialect):
    from ttnn_jit.dialects.upstream.context import UpstreamContext

    context = UpstreamContext.make()
    assert all(context.get_optional_op(op.name) is op for op in dialect.operations)


def test_several_results_have_the_names_of_the_tables():
    several = {op.name: op.operation.result_names for op in OPERATIONS if op.operation.result_names}
    assert several.keys() >= {"ttir.topk", "ttnn.sort", "ttir.batch_norm_training"}
    rows = {name: {tuple(each.name for each in row.results) for row in tables.operation_rows(name)} for name in several}
    # tt-mlir's op of ttnn writes the statistics in place.
    assert {name for name, names in several.items() if names not in rows[name]} == {"ttnn.batch_norm_training"}
