"""Tests of identity between tensors of a program, which are recorded as reads.

Each tensor of the call has a proxy of its own, so that one program serves calls with one tensor twice and calls with
two tensors. If a function depends on identity in another way than ``is`` between distinct tensors, such as by C's
comparisons in containers, it is interpreted anew with one proxy for each object. That program serves calls with the
same identities only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
from ttnn_jit.frontend.tensors.program_tensor import TensorArgument
from ttnn_jit.guards.reads import TENSOR_STEP, Path, same_objects
from ttnn_jit.process.dataclass import replace

if TYPE_CHECKING:
    from ttnn_jit.frontend.python.interpreter import Interpreter
    from ttnn_jit.frontend.tensors.proxy import ProxyTensor


SHARED_MEMORY = "whether tensors in one memory that the function writes into are one object is not known"
"""Such tensors share a proxy."""
SHARED_MEMORY_HELP = "pass one tensor, or a copy"


class IdentityQueryError(BaseException):
    """The function depends on the identity of tensors, and each tensor of the call has a proxy of its own."""


def path_of_tensor(number: int) -> Path:
    """The path of the tensor with this index among those of the call."""
    return ((TENSOR_STEP, number),)


def merge_same_objects(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with a shared `memory`, and so one proxy, for tensors that are one object."""
    numbers = iter(same_objects(*tensors_of(arguments)))

    def numbered(argument: Any) -> Any:
        if type(argument) is not TensorArgument:
            return argument
        number = next(numbers)
        return argument if argument.memory is not None else replace(argument, memory=number)

    return {name: map_leaves(value, numbered) for name, value in arguments.items()}


def tensors_of(arguments: Mapping[str, Any]) -> list[Any]:
    """The tensors of a call, in order; a new object in place of an unknown tensor."""
    given = (leaf for leaf in leaves([*arguments.values()]) if type(leaf) is TensorArgument)
    return [object() if leaf.tensor is None else leaf.tensor for leaf in given]


def guard_identity(recorder: ReadRecorder, tensors: Sequence[Any]) -> None:
    """Record that the program depends on which of the `tensors` of the call are one object."""
    recorder.record_identities([path_of_tensor(number) for number in range(len(tensors))], tensors)


def is_same_object(interpreter: Interpreter, left: Any, right: Any) -> bool:
    """``left is right``, at least one of which is a proxy."""
    recorder = interpreter.recorder
    found, others = recorder.occurrences_of(left), recorder.occurrences_of(right)
    if not (found and others):
        return left is right
    _require_distinct_proxies(interpreter, left, right)
    if left is not right:
        recorder.record_identities([found[0][0], others[0][0]], [found[0][1], others[0][1]])
    return left is right


def record_native_comparison(interpreter: Interpreter, tensors: Iterable[ProxyTensor]) -> None:
    """Record that C compares the identity of these tensors, as items or keys of containers."""
    inputs = [tensor for tensor in tensors if interpreter.recorder.occurrences_of(tensor)]
    if not inputs:
        return
    if not interpreter.recorder.tracks_identity:
        raise IdentityQueryError
    _require_distinct_proxies(interpreter, *inputs)
    interpreter.compared_inputs |= {id(tensor): tensor for tensor in inputs}


def guard_comparisons(interpreter: Interpreter) -> None:
    """Record that the tensors whose identity C compared are distinct objects."""
    occurrences = [interpreter.recorder.occurrences_of(tensor)[0] for tensor in interpreter.compared_inputs.values()]
    interpreter.recorder.record_identities([path for path, _ in occurrences], [tensor for _, tensor in occurrences])


def object_of(interpreter: Interpreter, tensor: Any) -> Any:
    """The tensor that a proxy represents, which containers of the user's world hold.

    Raises:
        UnseenInTraceError: A trace would look up the proxy.
    """
    occurrences = interpreter.recorder.occurrences_of(tensor)
    if not occurrences:
        return tensor
    record_native_comparison(interpreter, [tensor])
    if interpreter.observes and occurrences[0][0][0][0] == TENSOR_STEP:
        interpreter.refuse_in_trace(
            "a trace does not look for a tensor of the call in a container from outside the function"
        )
    return occurrences[0][1]


def _require_distinct_proxies(interpreter: Interpreter, *tensors: ProxyTensor) -> None:
    """Require a one-to-one relation between these proxies and objects.

    Raises:
        IdentityQueryError: The proxies were not made by identity.
        UnsupportedFunction: Several objects lie in one memory that the function writes into.
    """
    occurrences = {id(tensor): interpreter.recorder.occurrences_of(tensor) for tensor in tensors}
    if interpreter.recorder.tracks_identity:
        if any(one is not found[0][1] for found in occurrences.values() for _, one in found):
            raise interpreter.unsupported(SHARED_MEMORY, location=interpreter.location(), help=SHARED_MEMORY_HELP)
        return
    objects = [id(found[0][1]) for found in occurrences.values()]
    if any(len(found) > 1 for found in occurrences.values()) or len({*objects}) < len(objects):
        raise IdentityQueryError
