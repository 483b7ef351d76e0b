"""Serialization of the paths of reads, so that another process can resolve them."""

from __future__ import annotations

import functools
import json
from typing import Any

from ttnn_jit.foreign.values import NoStableIdentityError
from ttnn_jit.guards.reads import ARGUMENT_STEP, CALL_STEP, Operand, Path, Step, atom_operand

_SERIALIZABLE_TYPES = frozenset({str, int, bool, float, type(None)})


def path_to_json(path: Path) -> str:
    """A path as text; `path_from_json` is the inverse.

    Raises:
        NoStableIdentityError: A key in the path is of a kind that cannot be serialized.
    """
    return json.dumps([_step_to_json(step) for step in path])


def _step_to_json(step: Step) -> list[Any]:
    kind, name = step
    if kind == CALL_STEP:
        function, operands = name
        return [kind, [function, [_operand_to_json(operand) for operand in operands]]]
    if kind == ARGUMENT_STEP:
        return [kind, [name[0], *map(_step_to_json, name[1:])]]
    return [kind, _require_serializable(name)]


def _operand_to_json(operand: Operand) -> list[Any]:
    if operand[0] == "path":
        return ["path", [_step_to_json(step) for step in operand[1]]]
    return ["atom", _require_serializable(operand[2])]


def _require_serializable(name: Any) -> Any:
    if type(name) not in _SERIALIZABLE_TYPES:
        raise NoStableIdentityError(f"a {type(name).__name__} in a path cannot be serialized")
    return name


@functools.lru_cache(maxsize=4096)
def path_from_json(text: str) -> Path:
    """The inverse of `path_to_json`."""
    return _path_from_json(json.loads(text))


def _path_from_json(steps: list[Any]) -> Path:
    return tuple(_step_from_json(kind, name) for kind, name in steps)


def _step_from_json(kind: str, name: Any) -> Step:
    if kind == ARGUMENT_STEP:
        return kind, (name[0], *(_step_from_json(*step) for step in name[1:]))
    if kind != CALL_STEP:
        return kind, name
    function, operands = name
    return kind, (function, tuple(_operand_from_json(which, value) for which, value in operands))


def _operand_from_json(which: str, value: Any) -> Operand:
    return (which, _path_from_json(value)) if which == "path" else atom_operand(value)
