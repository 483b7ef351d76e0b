"""d2m-scalarize-const-tensors: constant tensors become scalar operands of tile ops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, SSAValue

from ttnn_jit.dialects import d2m, ttir
from ttnn_jit.dialects.builders import constant_number, number_attr
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.dialects.writing.editing import erase, insert_before, ops_of
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.transforms.kernels.generic_operands import erase_inputs
from ttnn_jit.transforms.kernels.kernel_body import generics_in, linalg_of
from ttnn_jit.transforms.kernels.pass_bases import FunctionPass


@dataclass(frozen=True)
class D2MScalarizeConstTensors(FunctionPass):
    """Replaces a kernel's input that ``ttir.full`` defines by an ``arith.constant`` in the kernel's body.

    The constant is an f32, rounded to the tensor's element type, or an i32. The input's circular buffer is erased, and
    it no longer prevents blocking.
    """

    name = "d2m-scalarize-const-tensors"

    def change(self, block: Block, target: SystemDesc) -> None:  # noqa: ARG002 - the same for all targets
        """Scalarizes in one function."""
        for generic in generics_in(block):
            scalarize(generic)
        for op in ops_of(block):
            if isinstance(op, ttir.FullOp) and op.result.first_use is None:
                erase(op)


def scalarize(generic: d2m.GenericOp) -> None:
    """Moves the constant inputs of one kernel into its body.

    If all inputs are constant, the first stays a tensor: a kernel computes with at least one tile.
    """
    inputs = generic.operands[:-1]
    constants = [number for number, value in enumerate(inputs) if isinstance(value.owner, ttir.FullOp)]
    if len(constants) == len(inputs):
        del constants[0]
    if not constants:
        return
    body = linalg_of(generic)
    block = body.body.block
    if any(isinstance(inner, d2m.AccumulatingOp) for inner in block.ops):
        return
    for number in constants:
        full = inputs[number].owner
        assert isinstance(full, ttir.FullOp)
        constant = constant_number(_rounded(full), full.location)
        assert block.first_op is not None, "a kernel's body ends with linalg.yield"
        insert_before(constant, block.first_op)
        _replace_tile(block.args[number], constant.results[0])
    erase_inputs(generic, body, constants)


def _rounded(full: ttir.FullOp) -> FloatAttr | IntegerAttr:
    value = full.fill_value
    return (
        number_attr(dtype_of(full.results[0].type).rounded(value.value.data)) if isinstance(value, FloatAttr) else value
    )


def _replace_tile(tile: SSAValue, scalar: SSAValue) -> None:
    """Replaces `tile`, and broadcasts and casts of it, by `scalar`."""
    for use in list(tile.uses):
        op = use.operation
        if isinstance(op, d2m.TileBcastOp | d2m.TileTypecastOp):
            _replace_tile(op.results[0], scalar)
            erase(op)
        else:
            op.operands[use.index] = scalar
