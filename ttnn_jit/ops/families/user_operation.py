"""Declarations of users' tile operations, one per name and body."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.language.parameter import TENSOR, TENSOR_OR_NUMBER, Parameter
from ttnn_jit.ops.language.tile_body import PYTHON_BODY, ScalarFunction, TileBody, TracedBody

_DECLARED: dict[tuple[str, str], Elementwise] = {}
_BY_TILE_NAME: dict[str, Elementwise] = {}


def declare(name: str, body: TileBody, golden: Callable[..., Any] | None = None) -> Elementwise:
    """The operation `name` that computes `body`; equal names and bodies are one operation.

    Args:
        name: The Python name.
        body: Its computation.
        golden: An independent statement in torch, ``golden(torch, *operands)``.
    """
    known = _DECLARED.get((name, body.text))
    if known is not None:
        return known
    identity = hashlib.sha256(f"{name} {body.text}".encode()).hexdigest()[:16]
    kind = TENSOR if len(body.parameters) == 1 else TENSOR_OR_NUMBER
    operation = Elementwise(
        name=name,
        parameters=tuple(Parameter(parameter, kind) for parameter in body.parameters),
        summary=f"The user's tile operation `{name}`.",
        source=_source(body),
        emit=body.emit,
        golden=golden or _no_golden,
        ttnn_name="tile_op",
        tile_name=f"tile_op.{identity}",
        body=body.text,
        is_local=isinstance(body, ScalarFunction) and body.is_local,
    )
    _DECLARED[name, body.text] = _BY_TILE_NAME[operation.tile_name] = operation
    return operation


def declared(name: str, text: str) -> Elementwise:
    """The operation with this name and text of a body in the IR.

    Raises:
        ArgumentError: The text is no body, or the digest of a Python function that this process has not defined.
    """
    known = _DECLARED.get((name, text))
    if known is not None:
        return known
    if PYTHON_BODY in text:
        raise ArgumentError(
            f"tile operation `{name}` is a Python function that this process has not defined: {text!r}",
            help="import the module that defines it, and call it once, before this text is read",
        )
    return declare(name, TracedBody.parse(text))


def of_tile_name(tile_name: str) -> Elementwise:
    """The user's operation with this `tile_name`."""
    return _BY_TILE_NAME[tile_name]


def _source(body: TileBody) -> str:
    if isinstance(body, ScalarFunction):
        return f"compiled by numba, one element at a time, because {body.reason}"
    return f"traced, {len(body.calls)} steps, compiled like a built-in"


def _no_golden(*_: Any) -> Any:
    raise ArgumentError("this tile operation was made without a golden", help="pass `golden=` to `tile_op`")
