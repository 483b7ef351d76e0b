"""inline: replaces calls by the bodies of their callees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.argument_notes import updates_of
from ttnn_jit.dialects.functions import (
    MAX_OPERATIONS,
    call_graph_post_order,
    calls_of,
    entry_point,
    functions_of,
    is_kernel,
)
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild


@dataclass(frozen=True)
class Inline(ModulePass):
    """Replaces every `func.call` by the ops of its callee; private functions without callers are erased.

    An inlined op has its own location with the call as call site. Fusion treats inlined ops like any others.
    """

    name = "inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Inlines the calls of every function of the module `op`."""
        functions = [function for function in functions_of(op) if not is_kernel(function)]
        called = {call.callee.root_reference.data for function in functions for call in calls_of(function)}
        gone = [function for function in functions if function.sym_name.data in called and _is_private(function)]
        _inline_into([function for function in functions if function not in gone], call_graph_post_order(op, functions))
        for function in gone:
            op.body.block.erase_op(function)


def reduce_to_entry_point(module: ModuleOp, name: str | None = None) -> None:
    """Reduces `module` to the entry point `name`, or to the only one, with its calls inlined.

    Raises:
        CompileError: There is no such entry point, or there are several and no name; or a call cannot be inlined.
    """
    entry = entry_point(module, name)
    _inline_into([entry], call_graph_post_order(module, (entry,)))
    for op in ops_of(module.body.block):
        if isinstance(op, FuncOp) and op is not entry:
            module.body.block.erase_op(op)


def _is_private(function: FuncOp) -> bool:
    return function.sym_visibility is not None and function.sym_visibility.data == "private"


def _inline_into(callers: Iterable[FuncOp], functions: Sequence[FuncOp]) -> None:
    """Inlines the calls in `callers`; `functions` are these and all that they reach, in post-order of calls."""
    _require_inlinable(functions)
    bodies = {function.sym_name.data: function.body.block for function in functions}
    for caller in callers:
        if calls_of(caller):
            bodies[caller.sym_name.data] = rebuild(caller.body.block, partial(_inlined, bodies))


def _require_inlinable(functions: Iterable[FuncOp]) -> None:
    """Refuses calls of functions that update their arguments, and calls that expand to too many operations."""
    counts: dict[str, int] = {}
    callees: dict[str, FuncOp] = {}
    for function in functions:
        count = len(ops_of(function.body.block))
        for call in calls_of(function):
            callee = callees[call.callee.root_reference.data]
            _require_pure(call, callee)
            count += counts[callee.sym_name.data]
            if count > MAX_OPERATIONS:
                raise CompileError(
                    f"@{function.sym_name.data} has more than {MAX_OPERATIONS} operations, those of its calls included",
                    location=location_of(call),
                    help="make what it calls entry points, and run these one after the other",
                )
        name = function.sym_name.data
        callees[name], counts[name] = function, count


def _require_pure(call: CallOp, callee: FuncOp) -> None:
    for argument, result in updates_of(callee):
        raise CompileError(
            f"`func.call` calls @{callee.sym_name.data}, which writes into its argument #{argument}",
            location=location_of(call),
            help=f"only programs do: take `ttcore.updated_by` off the argument, and use result #{result}",
        )


class _Activation:
    """A body that is being copied in place of a call.

    Args:
        call: The call.
        values: Value of the calling body -> its copy.
        bodies: Function name -> body.
        location: The location of the call, with its call stack.

    Attributes:
        call: The call.
        location: The location of the call, with its call stack.
        values: Value of the body -> its copy.
        ops: The ops of the body that are not copied yet.
    """

    def __init__(
        self, call: CallOp, values: Mapping[SSAValue, SSAValue], bodies: Mapping[str, Block], location: LocationAttr
    ) -> None:
        self.call = call
        self.location = location
        body = bodies[call.callee.root_reference.data]
        operands = [values[operand] for operand in call.operands]
        self.values: dict[SSAValue, SSAValue] = dict(zip(body.args, operands, strict=True))
        self.ops = iter(ops_of(body))


def _inlined(bodies: Mapping[str, Block], op: Operation, values: ValueMap) -> Iterable[Operation] | None:
    """The ops that replace a call: copies of the callee's ops, with nested calls replaced likewise."""
    if not isinstance(op, CallOp):
        return None
    copies: list[Operation] = []
    active = [_Activation(op, values, bodies, op.location)]
    while active:
        innermost = active[-1]
        inner = next(innermost.ops)
        own = innermost.values
        if isinstance(inner, ReturnOp):
            active.pop()
            around = active[-1].values if active else values
            around.update(zip(innermost.call.results, (own[value] for value in inner.operands), strict=True))
        elif isinstance(inner, CallOp):
            active.append(_Activation(inner, own, bodies, CallSiteLoc(inner.location, innermost.location)))
        else:
            copies.append(inner.clone(own))
            for copied in copies[-1].walk():
                copied.location = CallSiteLoc(copied.location, innermost.location)
    return copies
