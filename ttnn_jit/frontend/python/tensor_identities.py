"""Which tensors of a program are one object: that it asks is read, as what an attribute is.

Each tensor of the call has a stand-in of its own, so that one program serves calls with one tensor twice and calls with
two. Where a function asks more than whether two such are one, or those two are, it is interpreted anew with one
stand-in for each object, which is what C compares in containers; and the program is that of calls alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
from ttnn_jit.frontend.tensors.program_tensor import TensorArgument
from ttnn_jit.guards.reads import TENSOR_STEP, Path, same_objects

if TYPE_CHECKING:
    from ttnn_jit.frontend.python.interpreter import Interpreter
    from ttnn_jit.frontend.tensors.proxy import ProxyTensor


SHARED_MEMORY = "whether two tensors are one object is not told of tensors in one memory that the function writes into"
"""They have one stand-in."""
SHARED_MEMORY_HELP = "pass one tensor, or a copy"


class IdentityQueryError(BaseException):
    """The function asks which tensors are one object, and every tensor of the call has a stand-in of its own."""


def path_of_tensor(number: int) -> Path:
    """Where the tensor of that number among those of the call is found."""
    return ((TENSOR_STEP, number),)


def merge_same_objects(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for which tensors that are one object have one stand-in."""
    numbers = iter(same_objects(*tensors_of(arguments)))

    def numbered(argument: Any) -> Any:
        if type(argument) is not TensorArgument:
            return argument
        number = next(numbers)
        return argument if argument.memory is not None else replace(argument, memory=number)

    return {name: map_leaves(value, numbered) for name, value in arguments.items()}


def tensors_of(arguments: Mapping[str, Any]) -> list[Any]:
    """The tensors of a call, in order; an object that nobody else has in place of one that is not known."""
    given = (leaf for leaf in leaves([*arguments.values()]) if type(leaf) is TensorArgument)
    return [object() if leaf.tensor is None else leaf.tensor for leaf in given]


def guard_identity(recorder: ReadRecorder, tensors: Sequence[Any]) -> None:
    """Record that the program depends on which of the `tensors` of the call are one object."""
    recorder.record_identities([path_of_tensor(number) for number in range(len(tensors))], tensors)


def is_same_object(interpreter: Interpreter, left: Any, right: Any) -> bool:
    """``left is right``, of which one is a tensor of the program."""
    recorder = interpreter.recorder
    found, others = recorder.occurrences_of(left), recorder.occurrences_of(right)
    if not (found and others):
        return left is right
    _require_distinct_proxies(interpreter, left, right)
    if left is not right:
        recorder.record_identities([found[0][0], others[0][0]], [found[0][1], others[0][1]])
    return left is right


def record_native_comparison(interpreter: Interpreter, tensors: Iterable[ProxyTensor]) -> None:
    """Record that C asks which of these are one object: it compares items so, and hashes keys."""
    inputs = [tensor for tensor in tensors if interpreter.recorder.occurrences_of(tensor)]
    if not inputs:
        return
    if not interpreter.recorder.tracks_identity:
        raise IdentityQueryError
    _require_distinct_proxies(interpreter, *inputs)
    interpreter.compared_inputs |= {id(tensor): tensor for tensor in inputs}


def guard_comparisons(interpreter: Interpreter) -> None:
    """Record that those which C compared are objects of their own: each stand-in is for one."""
    occurrences = [interpreter.recorder.occurrences_of(tensor)[0] for tensor in interpreter.compared_inputs.values()]
    interpreter.recorder.record_identities([path for path, _ in occurrences], [tensor for _, tensor in occurrences])


def object_of(interpreter: Interpreter, tensor: Any) -> Any:
    """The object that a tensor of the program stands for, as containers of the user's world hold it.

    Raises:
        UnseenInTraceError: A trace would look for what stands for it.
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
    """See to it that each stand-in is for one object, and each object has one.

    Raises:
        IdentityQueryError: They have not been made so yet.
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
