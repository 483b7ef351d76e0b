"""Errors and help texts for values and functions that no program supports."""

from __future__ import annotations

import sys
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, UnsupportedFunction
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.values import has_member, is_a
from ttnn_jit.ops import ABSENT, ALIASES, FOREIGN_NAMES, OVERLOADS, nearest_names

UNSEEN_IDENTITY = "a trace does not see that a tensor which the function finds is one of the call"
"""For tests of identity: a trace uses a found tensor itself, but a proxy of the same tensor as an argument."""


class UnseenInTraceError(UnsupportedFunction):
    """The function depends on something that a trace cannot observe, so that a trace refuses it."""


class ChangeOutsideError(CompileError):
    """The program would change an object from outside it; a trace would carry the change out."""


def outside_tensor_help(value: Any) -> str | None:
    """The help text for a tensor that no guard can find again; None if `value` is no tensor."""
    if not is_a(value, type) and has_member(type(value), "shape") and has_member(type(value), "dtype"):
        return "a tensor is no constant of the program: make it before the call, and keep it where the call can find it"
    return None


def foreign_function_help(function: Any, name: str) -> str:
    """The help text for a function of another library or of the user's that cannot be compiled."""
    meant = FOREIGN_NAMES.get(name, name)
    if (operation := ALIASES.get(meant, meant)) in OVERLOADS:
        return f"the operation is `ttnn.{operation}`"
    if meant in ABSENT:
        return ABSENT[meant]
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", function)).__module__
    library = module.partition(".")[0]
    called = f"{library}.{name}" if library in sys.modules else name
    if not hasattr(sys.modules.get(library), name) and hasattr(function, "__self__"):
        called = f"{type_name(function.__self__)}.{name}"
    return (
        f"`{called}` would be called once, when the function is compiled: call it before, and pass its value or tensor "
        "as an argument"
    )


def unsupported_function(name: str, location: Location) -> UnsupportedFunction:
    """The error for a call that is no operation: why ttnn's is absent, or else the nearest names."""
    from ttnn_jit.ops.public_names import why_absent

    near = nearest_names(name)
    reason = None if name in ALIASES else why_absent(name)
    if reason is None and near:
        reason = f"did you mean {' or '.join(f'`{candidate}`' for candidate in near)}?"
    known = "`ttnn_jit.supported_ops()` lists the operations that are here"
    return UnsupportedFunction(f"Function {name} not supported", location=location, help=reason or known)


NO_AUTOCAST = "`torch.autocast` has no effect inside a compiled function"
"""For a function that enters an autocast context, which no program obeys."""


def host_function_error(name: str, location: Location) -> UnsupportedFunction:
    """The error for a call to a function of the host API, which no program contains."""
    return UnsupportedFunction(
        f"Function {name} not supported",
        location=location,
        help=f"`ttnn.{name}` runs on the host: call it before or after the jitted function",
    )
