"""The results of a function: flattens tuples, lists and dicts into values and a structure of indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.container_items import is_record, names_and_items
from ttnn_jit.foreign.pytrees import NOTHING, leaves, map_leaves
from ttnn_jit.foreign.values import own_attributes
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.writing.frontend_request import FrontendRequest
from ttnn_jit.frontend.writing.result import FrontendResult
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Results:
    """The results of a function.

    Attributes:
        values: The returned values, then the values that are written into inputs.
        structure: None for a single returned tensor, NOTHING for a function that returns nothing, else the returned
            containers with indices of values, and None, as leaves.
        updates: For each input that is written: the index of its new value.
    """

    values: list[SSAValue]
    structure: Any
    updates: dict[SSAValue, int]


def results_of(
    returned: Any, inputs: Sequence[ProgramTensor], name: str, location: Location, help_text: str | None
) -> Results:
    """The results of a function that returned `returned` and has written into some of its `inputs`.

    Raises:
        CompileError: There is no result, or a returned value is no tensor.
    """
    written = [tensor for tensor in inputs if tensor.writes]
    if returned is None and not written:
        raise CompileError(f"`{name}` returns nothing", location=location, help=help_text)
    updates = [tensor.operand[0] for tensor in written]
    indices = {id(tensor): index for index, tensor in enumerate(written)}
    if returned is None:
        return Results(updates, NOTHING, _updates(written, 0))
    values: list[SSAValue] = []
    count = sum(leaf is not None and id(leaf) not in indices for leaf in leaves(returned))

    def index_of(leaf: Any) -> int | None:
        if leaf is None:
            return None
        if not isinstance(leaf, ProxyTensor):
            raise CompileError(
                f"`{name}` returns {_described(leaf)}, which is no tensor",
                location=location,
                help="a jitted function returns tensors and None, alone or in tuples, lists, dicts and dataclasses",
            )
        if leaf.deallocated_at is not None:
            raise CompileError(
                f"`{name}` returns a tensor that was deallocated at {leaf.deallocated_at}", location=location
            )
        if id(leaf) in indices:
            return count + indices[id(leaf)]
        values.append(leaf.operand[0])
        return len(values) - 1

    _refuse_hidden_tensors(returned, name, location)
    structure = map_leaves(returned, index_of)
    if not values and not written:
        raise CompileError(f"`{name}` returns no tensor", location=location, help=help_text)
    is_one = isinstance(returned, ProxyTensor) and not written
    return Results([*values, *updates], None if is_one else structure, _updates(written, count))


def frontend_result(
    request: FrontendRequest,
    emitter: AbstractEmitter,
    recorder: ReadRecorder,
    returned: Any,
    header: Location,
    help_text: str = "end it with `return` and the tensors that it computes",
) -> FrontendResult:
    """The frontend's result for the function that `request` names.

    Args:
        request: The request.
        emitter: The emitter that wrote the operations.
        recorder: The recorder with the reads.
        returned: The value that the function returned.
        header: The location of errors.
        help_text: The help text of the error for a function without results.

    Raises:
        CompileError: As `results_of`.
    """
    results = results_of(returned, emitter.inputs, request.function.__name__, header, help_text)
    return FrontendResult(
        emitter.builder.finish(results.values, request.layout, results.updates),
        recorder.take_reads(),
        results.structure,
        opaque=recorder.opaque,
        warnings=(*emitter.warnings, *recorder.warnings),
        kernel_operands=emitter.builder.kernel_operands,
    )


def _refuse_hidden_tensors(value: Any, name: str, location: Location) -> None:
    """Refuse a container with a tensor in an attribute that is no item: a call cannot set such an attribute."""
    container = names_and_items(value)
    if container is None:
        return
    names, items = container
    of_items = names if names is not None and is_record(value) else ()
    for attribute, held in own_attributes(value).items():
        if attribute not in of_items and any(type(leaf) is ProxyTensor for leaf in leaves(held)):
            raise CompileError(
                f"`{name}` returns a {type(value).__name__} whose `{attribute}`, a tensor, is none of its fields",
                location=location,
                help=f"make `{attribute}` a field, or return it beside the {type(value).__name__}",
            )
    for item in items:
        _refuse_hidden_tensors(item, name, location)


def _updates(written: Sequence[ProgramTensor], first: int) -> dict[SSAValue, int]:
    return {tensor.argument: first + index for index, tensor in enumerate(written)}


def _described(leaf: Any) -> str:
    if isinstance(leaf, (bool, int, float, str)):
        return repr(leaf)
    return f"a {type(leaf).__name__}"
