"""The kinds of guards that a compile leaves; each can be left out, so that a test sees that it is needed."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch

from ttnn_jit.foreign.values import ABSENT
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
from ttnn_jit.guards import reads
from ttnn_jit.guards.reads import (
    ATTRIBUTE_STEP,
    BOUND,
    CALL_STEP,
    MODULE_STEP,
    STATE_STEP,
    STEP_KINDS,
    TENSOR_STEP,
    TYPE_STEP,
    Operand,
    Path,
    Read,
)

OPAQUE = "opaque"
_CODE = ((ATTRIBUTE_STEP, "__code__"),)
_DEFAULTS = ((ATTRIBUTE_STEP, "__defaults__"), (ATTRIBUTE_STEP, "__kwdefaults__"))
_OF_FUNCTIONS = _CODE + _DEFAULTS


def _ends_with(kind: str) -> Callable[[Read], bool]:
    return lambda read: read.path[-1][0] == kind and read.path[-1] not in _OF_FUNCTIONS


def _is_function_s(steps: Path, *, own: bool) -> Callable[[Read], bool]:
    """For reads of the compiled function's own code or defaults, or of those of its helpers."""
    return lambda read: read.path[-1] in steps and (len(read.path) == 1) is own


def _is_tensor(operand: Operand) -> bool:
    return operand[0] == "path" and operand[1][0][0] == TENSOR_STEP


_KINDS = (dict, list, tuple, collections.OrderedDict)

KINDS: dict[str, Callable[[Read], bool]] = {
    # What is kept never changes, and of a module what is absent or an attribute of it.
    **{kind: _ends_with(kind) for kind in STEP_KINDS if kind not in (STATE_STEP, MODULE_STEP)},
    "absent": lambda read: read.value is ABSENT,
    "tensors as objects": lambda read: read.path[0][0] == CALL_STEP and any(map(_is_tensor, read.path[0][1][1])),
    "class of a tensor": lambda read: read.path[-1][0] == TYPE_STEP and read.value is torch.Tensor,
    "class of a container": lambda read: read.path[-1][0] == TYPE_STEP and any(read.value is kind for kind in _KINDS),
    "code of a helper": _is_function_s(_CODE, own=False),
    "code of its own": _is_function_s(_CODE, own=True),
    "defaults of a helper": _is_function_s(_DEFAULTS, own=False),
    "defaults of its own": _is_function_s(_DEFAULTS, own=True),
    "function of a method": lambda read: read.path[0] == (ATTRIBUTE_STEP, BOUND),
    OPAQUE: lambda _: False,
}
"""By name, the reads that a kind of guard is made of; what is opaque has none, and the program is not kept."""


@contextmanager
def without(kind: str, met: set[str] | None = None) -> Iterator[None]:
    """Have compiles leave no guards of a kind; the kinds that they had to leave are added to `met`."""
    record, condition, opaque = ReadRecorder._record, reads._GuardWriter.condition, ReadRecorder.mark_opaque

    def left_out(read: Read) -> bool:
        if met is not None:
            met.update(name for name, belongs in KINDS.items() if belongs(read))
        return kind in KINDS and KINDS[kind](read)

    def recorded(recorder: ReadRecorder, path: Path | None, value: Any) -> None:
        if path is None or not left_out(Read(path, value)):
            record(recorder, path, value)

    def written(writer: Any, read: Read) -> str:
        return "" if left_out(read) else condition(writer, read)

    def told(recorder: ReadRecorder, *what: Any) -> None:
        if met is not None:
            met.add(OPAQUE)
        if kind != OPAQUE:
            opaque(recorder, *what)

    with (
        mock.patch.object(ReadRecorder, "_record", recorded),
        mock.patch.object(reads._GuardWriter, "condition", written),
        mock.patch.object(ReadRecorder, "mark_opaque", told),
    ):
        yield
