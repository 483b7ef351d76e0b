"""Which `ttnn.deallocate` frees a buffer: of several values in one buffer the last, and none of what is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, shape_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import TILE, LayoutView, has_layout
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.dialects.writing.editing import erase

_FREES = "ttnn.deallocate"
_FREES_ITS_IMAGE = {"ttnn.conv2d", "ttnn.conv_transpose2d"}


def keep_arguments(function: FuncOp, kept: Set[SSAValue], rewriter: Rewriter) -> None:
    """Erases what frees arguments in `kept`, or results of functions that run once."""
    for op in [each for each in function.walk() if each.name == _FREES]:
        value = op.operands[0]
        if value in kept or owner_named(value, "ttcore.load_cached") is not None:
            erase(op)
            rewriter.changes += 1


def force_last(function: FuncOp, rewriter: Rewriter) -> None:
    """Of several values that lie in one buffer only the last is freed, by force; none if it is freed elsewhere."""
    ops = [*function.walk()]
    frees = [op for op in ops if op.name == _FREES]
    counts = Counter(_buffer(op.operands[0]) for op in frees)
    elsewhere = {_buffer(value) for op in ops for value in _freed_elsewhere(op)}
    forced = set()
    for op in reversed(frees):
        buffer = _buffer(op.operands[0])
        if counts[buffer] < 2 and buffer not in elsewhere:
            continue
        if buffer in elsewhere or buffer in forced:
            erase(op)
        else:
            op.properties["force"] = boolean(True)
            forced.add(buffer)
        rewriter.changes += 1


def _freed_elsewhere(op: Operation) -> list[SSAValue]:
    """What an operation gives to the caller, or frees itself."""
    return [*op.operands] if isinstance(op, ReturnOp) else freed_by(op)


def freed_by(op: Operation) -> list[SSAValue]:
    """What a convolution frees itself: its image in L1, if its config says so."""
    config = op.properties.get("conv2d_config") if op.name in _FREES_ITS_IMAGE else None
    if not isinstance(config, TableAttribute) or config.value("deallocate_activation") != boolean(True):
        return []
    image = op.operands[0]
    return [image] if LayoutView(image.type).memory == "l1" else []


def _buffer(value: SSAValue) -> SSAValue:
    """The value whose buffer a value lies in: that before reshapes that are views."""
    while (view := owner_named(value, "ttnn.reshape")) is not None and _is_view(view):
        value = view.operands[0]
    return value


def _is_view(op: Operation) -> bool:
    """Whether a reshape moves no element: the last dimension stays, and so does the padding of rows in tiles."""
    source, target = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if not source or not target or source[-1] != target[-1]:
        return False
    if not has_layout(op.operands[0].type) or not LayoutView(op.operands[0].type).tiled:
        return True
    rows = [shape[-2] if len(shape) > 1 else 1 for shape in (source, target)]
    return rows[0] == rows[1] or all(each % TILE == 0 for each in rows)
