"""inline: calls of private functions are replaced by their bodies, in texts."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.writing.editing import erase, insert_before
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class InlineText(TextPass):
    """Replaces calls of functions of one block by their operations; private functions without callers are erased.

    A function that calls itself stays. A call with attributes, such as one of a function of the host, stays too.
    """

    name = "inline"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Inlines calls until none is left that can be."""
        functions = {each.sym_name.data: each for each in functions_of(module)}
        while calls := [
            (call, callee) for call, callee in _calls(module, functions) if not _recursive(callee, functions)
        ]:
            for call, callee in calls:
                _inline(call, callee, rewriter)
        called = {_callee(op) for op in module.walk()} - {""}
        for name, function in functions.items():
            if function.sym_visibility == StringAttr("private") and name not in called:
                erase(function)
                rewriter.changes += 1


def _callee(op: object) -> str:
    properties = getattr(op, "properties", {})
    named = properties.get("callee", properties.get("decomposition"))
    return named.root_reference.data if named is not None and hasattr(named, "root_reference") else ""


def _calls(module: ModuleOp, functions: dict[str, FuncOp]) -> list[tuple[CallOp, FuncOp]]:
    found = []
    for op in module.walk():
        callee = functions.get(_callee(op)) if isinstance(op, CallOp) and not op.attributes else None
        if callee is None or len(callee.body.blocks) != 1 or _recursive(callee, functions):
            continue
        assert isinstance(op, CallOp)
        found.append((op, callee))
    return found


def _recursive(function: FuncOp, functions: dict[str, FuncOp]) -> bool:
    """Whether a function calls itself, through others or not."""
    name, seen, open_ = function.sym_name.data, set[str](), [function]
    while open_:
        for op in open_.pop().walk():
            callee = _callee(op)
            if callee == name:
                return True
            if callee in functions and callee not in seen:
                seen.add(callee)
                open_.append(functions[callee])
    return False


def _inline(call: CallOp, callee: FuncOp, rewriter: Rewriter) -> None:
    block = callee.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, call.operands, strict=True))
    for op in block.ops:
        if isinstance(op, ReturnOp):
            rewriter.replace(call, [values.get(each, each) for each in op.operands])
            return
        insert_before(op.clone(values), call)
