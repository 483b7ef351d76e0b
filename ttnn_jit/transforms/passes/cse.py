"""cse: common subexpression elimination."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.dialects.ttir import FullOp
from ttnn_jit.dialects.ttnn import HOIST
from ttnn_jit.dialects.writing.editing import erase, ops_of, replace_uses
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.transforms.function_bodies import has_no_effects
from ttnn_jit.transforms.kernels.pass_bases import FunctionPass


@dataclass(frozen=True)
class CSE(FunctionPass):
    """Replaces an op without side effects by an equal earlier op.

    On targets that fuse trees only, ops tagged ``ttnn.hoist_generic_via_d2m`` stay: one value with two users would have
    to be stored between kernels. Returned values stay too: two results are two tensors.
    """

    name = "cse"

    def change(self, block: Block, target: SystemDesc) -> None:
        """Eliminates common subexpressions in one function."""
        eliminate_common_subexpressions(block, keep_tagged=not target.fuses_multi_user_values)


_Operands = tuple[type[Operation], tuple[SSAValue, ...], FloatAttr | None]
_Attributes = tuple[tuple[tuple[str, Attribute], ...], tuple[Attribute, ...]]


def eliminate_common_subexpressions(block: Block, *, keep_tagged: bool) -> None:
    """Replaces each op of `block` that equals an earlier one by that one.

    Attributes, which are slow to hash, are compared only for ops of one class with equal operands, and with one number
    if they are constants.
    """
    first_of: dict[_Operands, Operation] = {}
    others_of: dict[_Operands, list[tuple[_Attributes, Operation]]] = {}
    last = block.last_op
    returned = set(last.operands) if isinstance(last, ReturnOp) else set()
    for op in ops_of(block):
        if not op.results or (keep_tagged and HOIST in op.attributes) or not has_no_effects(op):
            continue
        if not returned.isdisjoint(op.results):
            continue
        operands = type(op), tuple(op.operands), _number(op)
        other = first_of.setdefault(operands, op)
        if other is op:
            continue
        known = others_of.setdefault(operands, [(_attributes(other), other)])
        attributes = _attributes(op)
        first = next((each for own, each in known if own == attributes), None)
        if first is None:
            known.append((attributes, op))
        else:
            for old, new in zip(op.results, first.results, strict=True):
                replace_uses(old, new)
            erase(op)


def _number(op: Operation) -> FloatAttr | None:
    """The number of a constant."""
    number = op.properties["fill_value"] if isinstance(op, FullOp) else None
    return number if isinstance(number, FloatAttr) else None


def _attributes(op: Operation) -> _Attributes:
    return (*sorted(op.properties.items()), *sorted(op.attributes.items())), tuple(op.result_types)
