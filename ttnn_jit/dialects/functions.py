"""The functions of a module: entry points, kernels and the call graph.

As in tt-mlir, a public function with a body is an entry point, unless it has a ``tt.function_type`` other than
``"forward_device"``; private functions are called by others. Kernels are functions that launches refer to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.ops.public_names import names_within_one_edit

MAX_OPERATIONS = 100_000
"""The limit of one program, called functions included: it stops the trace of an endless loop."""

KERNEL = "d2m.kernel"
"""Unit attribute of a function that is the body of a kernel."""

_FUNCTION_TYPE = "tt.function_type"
_RUN_BY_USERS = StringAttr("forward_device")


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """Every function that has a body, kernels included."""
    return [op for op in ops_of(module.body.block) if isinstance(op, FuncOp) and op.body.first_block is not None]


def is_kernel(function: FuncOp) -> bool:
    """Whether it is the body of a kernel."""
    return KERNEL in function.attributes


def entry_points(module: ModuleOp) -> list[FuncOp]:
    """The functions that are programs, in order."""
    return [function for function in functions_of(module) if _is_entry_point(function)]


def _is_entry_point(function: FuncOp) -> bool:
    visibility = function.sym_visibility
    is_public = visibility is None or visibility.data == "public"
    return is_public and not is_kernel(function) and function.attributes.get(_FUNCTION_TYPE) in {None, _RUN_BY_USERS}


def entry_point(module: ModuleOp, name: str | None = None) -> FuncOp:
    """The entry point `name`; without a name, the only entry point.

    Raises:
        CompileError: There is none, or there are several and no name is given.
    """
    found = [each for each in entry_points(module) if name in {None, each.sym_name.data}]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"@{each.sym_name.data}" for each in entry_points(module))
    if not known:
        message, instead = "the module has no entry point", "a function that has a body and is not private is one"
    elif name is None:
        message, instead = f"the module has {len(found)} entry points: {known}", "name one: `--entry NAME`"
    else:
        message, instead = f"the module has no entry point @{name}", f"it has {known}"
    raise CompileError(message, location=location_of(module), help=instead)


def single_function(module: ModuleOp) -> FuncOp:
    """The one function with a body.

    Raises:
        CompileError: The module has none, or several.
    """
    functions = functions_of(module)
    if len(functions) != 1:
        raise CompileError(
            f"a program is one function, the module has {len(functions)}",
            location=location_of(module),
            help="`inline` has calls become what they call" if functions else None,
        )
    return functions[0]


def calls_of(function: FuncOp) -> list[CallOp]:
    """The calls in a function's body, in order; nested regions have none."""
    return [op for op in ops_of(function.body.block) if isinstance(op, CallOp)]


def verify_call(call: CallOp) -> None:
    """Requires a call in a function's body whose types are those of a function of the module.

    Raises:
        CompileError: It is nested in a region, its callee is unknown, or the types differ.
    """
    caller = call.parent_op()
    module = caller.parent_op() if isinstance(caller, FuncOp) else None
    if not isinstance(module, ModuleOp):
        raise CompileError("a call stands in the body of a function", help="a kernel calls none: write its ops out")
    name = call.callee.root_reference.data
    functions = {op.sym_name.data: op for op in ops_of(module.body.block) if isinstance(op, FuncOp)}
    callee = functions.get(name)
    if callee is None:
        near = " or ".join(f"@{each}" for each in names_within_one_edit(name, functions))
        instead = f"did you mean {near}?" if near else "define it in this module"
        raise CompileError(f"it calls @{name}, and the module has no such function", help=instead)
    _require_types(f"argument of @{name}", callee.function_type.inputs.data, call.operand_types)
    _require_types(f"result of @{name}", callee.function_type.outputs.data, call.result_types)


def _require_types(what: str, wanted: Sequence[Attribute], given: Sequence[Attribute]) -> None:
    if len(wanted) != len(given):
        raise CompileError(f"there are {len(wanted)} {what.replace(' ', 's ', 1)}, the call has {len(given)}")
    for index, (one, other) in enumerate(zip(wanted, given, strict=True)):
        if one != other:
            raise CompileError(
                f"the {what} #{index} is {one}, the call has {other}", help="no call casts or moves a tensor"
            )


def call_graph_post_order(module: ModuleOp, callers: Iterable[FuncOp]) -> list[FuncOp]:
    """`callers` and all functions that they reach, once each, in post-order of the call graph.

    Raises:
        CompileError: The calls are recursive, or a callee has no body.
    """
    functions = {function.sym_name.data: function for function in functions_of(module)}
    done: dict[FuncOp, None] = {}
    for caller in callers:
        active: dict[FuncOp, Iterator[CallOp]] = {caller: iter(calls_of(caller))}
        while active:
            function, calls = next(reversed(active.items()))
            call = next(calls, None)
            if call is None:
                done[function] = None
                del active[function]
            elif (callee := _callee(call, functions)) in active:
                raise _recursion(call, [*active], callee)
            elif callee not in done:
                active[callee] = iter(calls_of(callee))
    return [*done]


def _callee(call: CallOp, functions: dict[str, FuncOp]) -> FuncOp:
    name = call.callee.root_reference.data
    if name not in functions:
        raise CompileError(
            f"`func.call` calls @{name}, which has no body", location=location_of(call), help="define it in this module"
        )
    return functions[name]


def _recursion(call: CallOp, active: Sequence[FuncOp], callee: FuncOp) -> CompileError:
    cycle = [*active[active.index(callee) :], callee]
    return CompileError(
        f"@{callee.sym_name.data} calls itself: {' -> '.join(f'@{each.sym_name.data}' for each in cycle)}",
        location=location_of(call),
        help="a program runs every call once, in order: write the repetitions out",
    )
