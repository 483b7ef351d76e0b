"""Declarations that a user's tile operations become, one per name and body."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops import ELEMENTWISE
from ttnn_jit.ops.elementwise import DeviceForm, Elementwise, Forms
from ttnn_jit.ops.parameter import TENSOR, TENSOR_OR_NUMBER, Parameter
from ttnn_jit.ops.tile_body import PYTHON_BODY, ScalarFunction, TileBody, TracedBody

_DECLARED: dict[tuple[str, str], Elementwise] = {}
_BY_TILE_NAME: dict[str, Elementwise] = {}


def declare(name: str, body: TileBody, golden: Callable[..., Any] | None = None) -> Elementwise:
    """The operation `name` that computes `body`; equal names and bodies are one operation.

    Args:
        name: The Python name.
        body: What it computes.
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
        forms=Forms(device=_device_form(body)),
        ttnn_name="tile_op",
        ttir_name="tile_op",
        tile_name=f"tile_op.{identity}",
        body=body.text,
        is_local=isinstance(body, ScalarFunction) and body.is_local,
    )
    _DECLARED[name, body.text] = _BY_TILE_NAME[operation.tile_name] = operation
    return operation


def declared(name: str, text: str) -> Elementwise:
    """The operation that the IR calls `name` and whose body it spells `text`.

    Raises:
        ArgumentError: The text is no body, or names a Python function that this process has not defined.
    """
    known = _DECLARED.get((name, text))
    if known is not None:
        return known
    if PYTHON_BODY in text:
        raise ArgumentError(
            f"tile operation `{name}` is Python that this process has not seen: {text!r}",
            help="import the module that defines it, and call it once, before this text is read",
        )
    return declare(name, TracedBody.parse(text))


def of_tile_name(tile_name: str) -> Elementwise:
    """The user's operation whose tile op codegen knows by this name."""
    return _BY_TILE_NAME[tile_name]


class _Names:
    """An emit protocol that returns the name of the function that is called."""

    def __getattr__(self, name: str) -> Callable[..., str]:
        return lambda *_: name


def _device_functions() -> Mapping[str, str]:
    """Function of the emit protocol -> the one that a chip target has in its place."""
    formed = [(each, each.forms.device) for each in ELEMENTWISE if each.forms.device is not None]
    operands = [object()]
    return {o.emit(_Names(), *operands * o.arity): form.emit(_Names(), *operands * o.arity) for o, form in formed}


def _device_form(body: TileBody) -> DeviceForm | None:
    """What the body is where chip targets have formulas of their own for functions in it; None where they have not."""
    if isinstance(body, ScalarFunction) or (own := body.renamed(_device_functions())) == body:
        return None
    return DeviceForm("With the formulas of chip targets.", own.emit, _no_golden, (-math.inf, math.inf))


def _source(body: TileBody) -> str:
    if isinstance(body, ScalarFunction):
        return f"compiled by numba, one element at a time, because {body.reason}"
    return f"traced, {len(body.calls)} steps, compiled like a built-in"


def _no_golden(*_: Any) -> Any:
    raise ArgumentError("this tile operation was made without a golden", help="pass `golden=` to `tile_op`")
