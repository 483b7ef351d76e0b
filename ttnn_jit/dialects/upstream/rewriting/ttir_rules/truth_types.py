"""Truths in i1: comparisons and logic give booleans, which become numbers where numbers are read."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, with_element
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of

_COMPARISONS = {"ttir.eq", "ttir.ne", "ttir.ge", "ttir.gt", "ttir.le", "ttir.lt"}
_LOGIC = {
    "ttir.logical_and", "ttir.logical_or", "ttir.logical_xor", "ttir.logical_not", "ttir.reduce_and", "ttir.reduce_or",
}  # fmt: skip
_MOVEMENTS = {
    "ttir.slice_static", "ttir.reshape", "ttir.permute", "ttir.broadcast", "ttir.concat", "ttir.repeat",
    "ttir.repeat_interleave", "ttir.squeeze", "ttir.unsqueeze", "ttir.reverse", "ttir.transpose",
}  # fmt: skip
MAKES_TRUTHS = _COMPARISONS | _LOGIC
"""Operations whose results are 0 or 1."""


def narrow_truths(root: Operation, rewriter: Rewriter) -> None:
    """Gives results that are truths the type i1, and what moves them; other readers read a cast."""
    for op in [*root.walk()]:
        if op.name in MAKES_TRUTHS:
            for result in op.results:
                _narrow(result, rewriter)


def _narrow(value: SSAValue, rewriter: Rewriter) -> None:
    if element_of(value) == i1:
        return
    type_ = value.type
    value._type = with_element(type_, i1)
    rewriter.changes += 1
    kept = []
    for use in [*value.uses]:
        reader = use.operation
        if reader.name in _LOGIC or (reader.name in _MOVEMENTS and _moves_only(reader)):
            for result in reader.results:
                _narrow(result, rewriter)
        else:
            kept.append(use)
    if not kept:
        return
    assert isinstance(value.owner, Operation)
    after = value.owner.next_op
    assert after is not None, "a function ends with its return"
    conservative = {"conservative_folding": boolean(False)}
    cast = rewriter.value("ttir.typecast", {"input": value}, conservative, type_, after)
    for use in kept:
        use.operation.operands[use.index] = cast


def _moves_only(op: Operation) -> bool:
    """Whether everything that an operation moves is a truth: of several tensors each must be."""
    return all(element_of(value) == i1 or _is_truth(value) for value in op.operands)


def _is_truth(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, Operation):
        return False
    return owner.name in MAKES_TRUTHS or (owner.name in _MOVEMENTS and _moves_only(owner))
