"""Structural verification: each op's own rules, then that every value is defined where it is used.

xDSL's verifier accepts a use before its definition, so dominance is checked here.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.locations import location_of
from ttnn_jit.errors import CompileError


class InvalidModule(CompileError):  # noqa: N818 - it names what was found, as ttnn_jit.errors does
    """A module is not text of these dialects, or breaks a rule of theirs.

    The location is the place in the user's file that the op comes from; of text, the place in the text.
    """


def verify(module: Operation) -> None:
    """Checks `module` and everything in it.

    Raises:
        InvalidModule: An op breaks a rule of its own, or uses a value that is not defined before it.
    """
    for op in module.walk():
        _verify_op(op)
    for region in module.regions:
        _verify_region(region, set())


def _verify_op(op: Operation) -> None:
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException as error:
        raise InvalidModule(f"'{op.name}' op: {error}", location=location_of(op)) from error


def _verify_region(region: Region, visible: set[SSAValue]) -> None:
    blocks = tuple(region.blocks)
    if len(blocks) > 1 and region.parent is not None:
        reason = f"'{region.parent.name}' op: a region has one block, for no op here branches; got {len(blocks)}"
        raise InvalidModule(reason, location=location_of(region.parent))
    for block in blocks:
        _verify_block(block, visible)


def _verify_block(block: Block, visible: set[SSAValue]) -> None:
    """Checks the ops of `block`; leaves `visible` as it was."""
    defined: list[SSAValue] = list(block.args)
    visible.update(defined)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                reason = f"'{op.name}' op: operand #{index} is not defined before it is used"
                raise InvalidModule(reason, location=location_of(op))
        for region in op.regions:
            _verify_region(region, set() if op.has_trait(IsolatedFromAbove) else visible)
        defined += op.results
        visible.update(op.results)
    visible.difference_update(defined)
