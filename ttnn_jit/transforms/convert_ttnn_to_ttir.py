"""convert-ttnn-to-ttir: the same graph without devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ttnn_jit.dialects import operation_of, ttir, ttnn
from ttnn_jit.dialects.elementwise import properties_of
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
    if isinstance(op, ttnn.GetDeviceOp):
        return ()
    if isinstance(op, ttnn.FullOp):
        new_op: Operation = ttir.FullOp.create(
            result_types=op.result_types,
            properties={
                "fill_value": op.fill_value,
                "shape": DenseArrayBase.from_list(i32, list(op.shape.data)),
            },
            attributes=op.attributes,
            location=op.location,
        )
    elif isinstance(op, ttnn.TensorElementwiseOp) and (operation := operation_of(op)) is not None:
        new_op = ttir.OP_OF[operation].create(
            operands=[values[operand] for operand in op.operands],
            result_types=op.result_types,
            properties=properties_of(operation, op.numbers),
            attributes=op.attributes,
            location=op.location,
        )
    else:
        return None
    values[op.results[0]] = new_op.results[0]
    return (new_op,)
