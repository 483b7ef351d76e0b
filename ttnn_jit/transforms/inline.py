"""inline: calls become the bodies of what they call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.argument_notes import updates_of
from ttnn_jit.dialects.editing import ops_of
from ttnn_jit.dialects.functions import (
    MAX_OPERATIONS,
    callees_first,
    calls_of,
    entry_point,
    functions_of,
    is_kernel,
)
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild


@dataclass(frozen=True)
class Inline(ModulePass):
    """Every `func.call` becomes the ops of the function that it calls; private functions that were called go.

    An op keeps its place, and has that of the call behind it. What the module computes in the end is what it would
    compute if the bodies had stood there: fusion knows no calls.
    """

    name = "inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Inlines the calls of every function of the module `op`."""
        functions = [function for function in functions_of(op) if not is_kernel(function)]
        called = _inline(callees_first(op, functions))
        for function in functions:
            if function.sym_name.data in called and _is_private(function):
                op.body.block.erase_op(function)


def leave_entry_point(module: ModuleOp, name: str | None = None) -> None:
    """Leave of `module` the entry point `name`, or the one that there is, with its calls inlined.

    Raises:
        CompileError: There is no such entry point, or there are several and no name; or a call cannot be inlined.
    """
    entry = entry_point(module, name)
    _inline(callees_first(module, (entry,)))
    for op in ops_of(module.body.block):
        if isinstance(op, FuncOp) and op is not entry:
            module.body.block.erase_op(op)


def _is_private(function: FuncOp) -> bool:
    return function.sym_visibility is not None and function.sym_visibility.data == "private"


def _inline(functions: Iterable[FuncOp]) -> set[str]:
    """Inline the calls of `functions`, each of which stands behind those that it calls; the names of what is called."""
    flat: dict[str, FuncOp] = {}
    called: set[str] = set()
    for function in functions:
        calls = calls_of(function)
        count = len(ops_of(function.body.block))
        for call in calls:
            callee = flat[call.callee.root_reference.data]
            _require_pure(call, callee)
            called.add(callee.sym_name.data)
            count += len(ops_of(callee.body.block))
            if count > MAX_OPERATIONS:
                raise CompileError(
                    f"@{function.sym_name.data} has more than {MAX_OPERATIONS} operations, those of its calls included",
                    location=location_of(call),
                    help="make what it calls entry points, and run these one after the other",
                )
        if calls:
            rebuild(function.body.block, partial(_inlined, flat))
        flat[function.sym_name.data] = function
    return called


def _require_pure(call: CallOp, callee: FuncOp) -> None:
    for argument, result in updates_of(callee):
        raise CompileError(
            f"`func.call` calls @{callee.sym_name.data}, which writes into its argument #{argument}",
            location=location_of(call),
            help=f"only programs do: take `ttcore.updated_by` off the argument, and use result #{result}",
        )


def _inlined(functions: Mapping[str, FuncOp], op: Operation, values: ValueMap) -> Iterable[Operation] | None:
    if not isinstance(op, CallOp):
        return None
    body = functions[op.callee.root_reference.data].body.block
    made: dict[SSAValue, SSAValue] = {
        argument: values[operand] for argument, operand in zip(body.args, op.operands, strict=True)
    }
    *inner, returned = ops_of(body)
    copies = [each.clone(made) for each in inner]
    for copied in (each for copy in copies for each in copy.walk()):
        copied.location = CallSiteLoc(copied.location, op.location)
    values.update(zip(op.results, (made[value] for value in returned.operands), strict=True))
    return copies
