"""Destinations of operations of TTIR, which texts before December 2025 have."""

from __future__ import annotations

from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.verifying import has_destination, is_valid_without_destination
from ttnn_jit.dialects.writing.editing import erase, insert_before


def drop_destinations(module: Operation, rewriter: Rewriter) -> None:
    """Leaves out the tensor that an operation only writes, where it is one of the operation's last operands.

    A convolution's destination would otherwise be read as its bias.
    """
    for op in [*module.walk()]:
        if op.parent is None or not has_destination(op) or not is_valid_without_destination(op):
            continue
        destination = op.operands[-1].owner
        made = type(op).create(
            operands=op.operands[:-1],
            result_types=[each.type for each in op.results],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        made.location = op.location
        insert_before(made, op)
        rewriter.replace(op, made.results)
        if isinstance(destination, Operation) and destination.results[0].first_use is None:
            erase(destination)
