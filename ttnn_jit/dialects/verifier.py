"""Structural verification: the rules of each op, then dominance, which xDSL's verifier does not check."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.deallocation import DeallocateOp
from ttnn_jit.dialects.foreign_rules import verify_foreign
from ttnn_jit.dialects.functions import verify_call
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr


class InvalidModule(CompileError):  # noqa: N818 - it names what was found, as ttnn_jit.diagnostics.errors does
    """A module is not text of these dialects, or breaks one of their rules.

    The location is the op's location in the user's file; for a text, the position in the text.

    Attributes:
        further: What else is wrong, in other functions.
    """

    further: tuple[InvalidModule, ...] = ()


def verify(module: Operation) -> None:
    """Checks `module` and everything in it.

    Raises:
        InvalidModule: An op breaks one of its rules, or uses a value before its definition or after its deallocation.
    """
    for op in module.walk():
        _verify_op(op)
    for region in module.regions:
        _verify_region(region, set(), {})


def _verify_op(op: Operation) -> None:
    _verify_blocks(op)
    try:
        if isinstance(op, CallOp):
            verify_call(op)
        op.verify(verify_nested_ops=False)
        verify_foreign(op)
        _verify_layouts(op)
    except Exception as error:
        # A rule of xDSL's presupposes what other rules check, and may raise any exception where these do not hold.
        help_text = error.help if isinstance(error, TtnnJitError) else None
        raise InvalidModule(
            f"'{op.name}' op: {reason_of(error)}", location=enclosing_location(op), help=help_text
        ) from error


def _verify_blocks(op: Operation) -> None:
    for region in op.regions:
        blocks = len(region.blocks)
        if blocks != 1 and not (blocks == 0 and isinstance(op, FuncOp)):
            reason = f"'{op.name}' op: a region has one block, for no op here branches; got {blocks}"
            raise InvalidModule(reason, location=enclosing_location(op))


def _verify_layouts(op: Operation) -> None:
    """Refuses a layout that no tensor of that shape and element type has."""
    for value in (*op.results, *(value for region in op.regions for block in region.blocks for value in block.args)):
        type_ = value.type
        if isinstance(type_, TensorType) and isinstance(type_.encoding, TTNNLayoutAttr):
            spec = spec_of(type_)
            if isinstance(value, OpResult) and spec.strides and spec.span != (0, max(spec.volume - 1, 0)):
                raise VerifyException(f"a result lies in memory without gaps, got strides {list(spec.strides)}")


def enclosing_location(op: Operation) -> Location | None:
    """The location of `op` or else of its nearest ancestor: implicit terminators of loops have none."""
    around: Operation | None = op
    while around is not None:
        if (found := location_of(around)) is not None:
            return found
        around = around.parent_op()
    return None


def reason_of(error: Exception) -> str:
    """The message of an error, with its type unless the verifier raises it deliberately."""
    match error:
        case TtnnJitError():
            return error.message
        case VerifyException() | ValueError():
            return str(error)
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return f"{type(error).__name__}: {error}"


def _verify_region(region: Region, visible: set[SSAValue], freed: dict[SSAValue, Operation]) -> None:
    for block in region.blocks:
        _verify_block(block, visible, freed)


def _verify_block(block: Block, visible: set[SSAValue], freed: dict[SSAValue, Operation]) -> None:
    """Checks the ops of `block`; restores `visible`. `freed` maps deallocated values to their deallocation."""
    defined: list[SSAValue] = list(block.args)
    visible.update(defined)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                reason = f"'{op.name}' op: operand #{index} is not defined before it is used"
                raise InvalidModule(reason, location=enclosing_location(op))
            if operand in freed:
                where = enclosing_location(freed[operand])
                reason = f"'{op.name}' op: operand #{index} was deallocated{f' at {where}' if where else ''}"
                raise InvalidModule(reason, location=enclosing_location(op))
        for region in op.regions:
            _verify_region(region, set() if op.has_trait(IsolatedFromAbove) else visible, freed)
        if isinstance(op, DeallocateOp):
            freed[op.input] = op
        defined += op.results
        visible.update(op.results)
    visible.difference_update(defined)
