"""convert-ttnn-to-ttir: ops of TTNN become ops of TTIR, without devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import ttir, ttnn
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.writing.creation import counterpart
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.product_precision import ProductPrecision
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import MathFidelity
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild
from ttnn_jit.transforms.kernels.pass_bases import FunctionPass


@dataclass(frozen=True)
class ConvertTTNNToTTIR(FunctionPass):
    """Every compute op becomes its TTIR namesake, and ``ttnn.full`` becomes ``ttir.full``.

    ``ttnn.get_device`` and ``ttnn.deallocate`` are erased. Discardable attributes stay, such as
    ``ttnn.hoist_generic_via_d2m``. Under device numerics each matrix product gets an explicit precision: its own or
    that of the options.

    Attributes:
        math_fidelity: Name of the MathFidelity of products without one.
        fp32_dest_acc: Whether products without a precision accumulate in float32; those with float32 results always do.
    """

    name = "convert-ttnn-to-ttir"

    math_fidelity: str = MathFidelity.HiFi4.name
    fp32_dest_acc: bool = False

    def change(self, block: Block, target: SystemDesc) -> None:
        """Converts one function."""
        rebuild(block, partial(_to_ttir, self._precisely if target.numerics is Numerics.DEVICE else _statics))

    def _precisely(self, op: ttnn.TensorOp) -> Sequence[Any]:
        """The attributes of `op`, with the precision of a product."""
        index = op.operation.precision_index
        if index is None or (op.statics[index] is None and not op.operation.has_default_precision):
            return op.statics
        statics = [*op.statics]
        fp32 = self.fp32_dest_acc or dtype_of(op.result.type) is COMPUTE_TYPE
        requested = ProductPrecision(None, fp32) if statics[index] is None else ProductPrecision.of(statics[index])
        statics[index] = str(requested.or_fidelity(MathFidelity[self.math_fidelity]))
        return statics


def _require_no_device(op: Operation) -> None:
    """Refuses a call with a device as argument, since TTIR has no devices."""
    if isinstance(op, CallOp) and any(isinstance(value.type, ttnn.DeviceType) for value in (*op.operands, *op.results)):
        raise CompileError(
            f"`func.call` hands a device to @{op.callee.root_reference.data}, and there is none in TTIR",
            location=location_of(op),
            help="ask for it there, by `ttnn.get_device`, or run `inline` first",
        )


def _statics(op: ttnn.TensorOp) -> Sequence[Any]:
    return op.statics


def _to_ttir(
    statics: Callable[[ttnn.TensorOp], Sequence[Any]], op: Operation, values: ValueMap
) -> Iterable[Operation] | None:
    if isinstance(op, ttnn.TensorOp):
        properties = properties_of(op.operation, statics(op), op.declared_operands)
        return values.replaced(op, counterpart(ttir.OP_OF[op.operation], op, values.operands(op), properties))
    _require_no_device(op)
    return without_device(op, values)


def without_device(op: Operation, values: ValueMap) -> Iterable[Operation] | None:
    """The replacement of ops with devices or memory: nothing, or a `ttir.full`."""
    if isinstance(op, ttnn.FullOp):
        properties = {"fill_value": op.fill_value, "shape": ttir.full_shape(op.shape.data)}
        return values.replaced(op, counterpart(ttir.FullOp, op, (), properties))
    return () if isinstance(op, ttnn.GetDeviceOp | ttnn.DeallocateOp) else None
