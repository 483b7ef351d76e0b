"""convert-ttnn-to-ttir: the same graph without devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ttnn_jit.dialects import ttir, ttnn
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.transforms.function_bodies import ValueMap, function_blocks, rebuild


@dataclass(frozen=True)
class ConvertTTNNToTTIR(ModulePass):
    """Every compute op becomes its TTIR namesake, ``ttnn.full`` becomes ``ttir.full``; ``ttnn.get_device`` goes.

    Discardable attributes stay, above all ``ttnn.hoist_generic_via_d2m``.
    """

    name = "convert-ttnn-to-ttir"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Converts every function of the module `op`."""
        for block in function_blocks(op):
            rebuild(block, _to_ttir)


def _to_ttir(op: Operation, values: ValueMap) -> Iterable[Operation] | None:
    if isinstance(op, ttnn.TensorOp):
        new_op: Operation = ttir.OP_OF[op.operation].create(
            operands=[values[operand] for operand in op.operands],
            result_types=op.result_types,
            properties=properties_of(op.operation, op.statics, op.placed),
            attributes=op.attributes,
            location=op.location,
        )
    elif isinstance(op, ttnn.FullOp):
        new_op = ttir.FullOp.create(
            result_types=op.result_types,
            properties={"fill_value": op.fill_value, "shape": ttir.full_shape(op.shape.data)},
            attributes=op.attributes,
            location=op.location,
        )
    else:
        return () if isinstance(op, ttnn.GetDeviceOp) else None
    values.update(zip(op.results, new_op.results, strict=True))
    return (new_op,)
