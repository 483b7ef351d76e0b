"""The class of a tensor as an object, and the attributes that user code set on it.

A proxy has neither: the tensor itself, an argument or a hidden input, is queried, and the query is recorded as read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.foreign.values import ABSENT, has_member, is_a, own_attribute
from ttnn_jit.frontend.python.tensor_identities import SHARED_MEMORY, SHARED_MEMORY_HELP
from ttnn_jit.frontend.tensors.tensor_classes import runtime_class
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, TENSOR_STEP, TYPE_STEP, Path
from ttnn_jit.runtime.libraries import is_library_tensor

if TYPE_CHECKING:
    from ttnn_jit.frontend.python.interpreter import Interpreter
    from ttnn_jit.frontend.tensors.proxy import ProxyTensor


def is_instance(interpreter: Interpreter, tensor: ProxyTensor, cls: Any) -> bool:
    """``isinstance(tensor, cls)``.

    Raises:
        CompileError: Calls may pass tensors of that class and of others.
    """
    kind = runtime_class(tensor.emitter.library)
    if is_a(cls, type) and cls is not kind and (kind in cls.__mro__ or type(cls).__name__ == _DTYPE_METACLASS):
        message = f"whether a tensor is a `{cls.__name__}` is not known before the call"
        instead = f"ask for `{kind.__name__}`, or for its `.dtype`"
        raise interpreter.unsupported(message, location=interpreter.location(), help=instead)
    answer: bool = interpreter.natively(issubclass, kind, cls)
    if interpreter.observes and interpreter.natively(isinstance, tensor, cls) is not answer:
        interpreter.refuse_in_trace(f"whether a tensor is a `{cls.__name__}` is not known in a trace")
    return answer


_DTYPE_METACLASS = "tensortype"
"""The metaclass of classes such as `torch.FloatTensor`, whose check reads element types and devices."""


def class_of(interpreter: Interpreter, tensor: ProxyTensor) -> type:
    """``type(tensor)``, recorded as read if the program did not make the tensor."""
    if interpreter.observes:
        interpreter.refuse_in_trace("`type()` of a tensor gives another class in a trace")
    occurrence = _occurrence(interpreter, tensor)
    if occurrence is None:
        return runtime_class(tensor.emitter.library)
    path, found = occurrence
    interpreter.recorder.use(type(found), (*path, (TYPE_STEP, None)))
    return type(found)


def object_has(interpreter: Interpreter, tensor: ProxyTensor, name: str) -> bool:
    """``hasattr(tensor, name)``."""
    occurrence = _occurrence(interpreter, tensor)
    answer = _object_has(interpreter, tensor, occurrence, name)
    stands_in = interpreter.observes and (occurrence is None or occurrence[0][0][0] == TENSOR_STEP)
    if stands_in and interpreter.natively(hasattr, tensor, name) is not answer:
        interpreter.refuse_in_trace(f"whether a tensor has a `{name}` is not known in a trace")
    return answer


def _object_has(interpreter: Interpreter, tensor: ProxyTensor, occurrence: tuple[Path, Any] | None, name: str) -> bool:
    if occurrence is None:
        return has_member(runtime_class(tensor.emitter.library), name)
    path, found = occurrence
    interpreter.recorder.record_class(found, path)
    answer: bool = interpreter.natively(hasattr, found, name)
    if not answer:
        interpreter.recorder.record_absence((*path, (ATTRIBUTE_STEP, name)))
    elif own_attribute(found, name) is not ABSENT:
        held = interpreter.natively(getattr, found, name)
        interpreter.recorder.use(type(held), (*path, (ATTRIBUTE_STEP, name), (TYPE_STEP, None)))
    return answer


def attribute_of_object(interpreter: Interpreter, tensor: ProxyTensor, name: str) -> tuple[Any, Path] | None:
    """An attribute that user code set on a tensor, and its path; None if there is none."""
    occurrence = _occurrence(interpreter, tensor)
    if occurrence is None or has_member(type(occurrence[1]), name):
        return None
    path, found = occurrence
    interpreter.recorder.record_class(found, path)
    value = own_attribute(found, name)
    if value is ABSENT:
        interpreter.recorder.record_absence((*path, (ATTRIBUTE_STEP, name)))  # the program may catch that
        return None
    if interpreter.observes and path[0][0] == TENSOR_STEP:
        interpreter.refuse_in_trace(f"the proxy of an argument in a trace has no `{name}`")
    return value, (*path, (ATTRIBUTE_STEP, name))


def _occurrence(interpreter: Interpreter, tensor: ProxyTensor) -> tuple[Path, Any] | None:
    """The path and the tensor that a proxy represents; None for a tensor that the program computes.

    Raises:
        UnsupportedFunction: The proxy represents several tensors, because the function writes into their memory.
    """
    occurrences = interpreter.recorder.occurrences_of(tensor)
    if any(other is not occurrences[0][1] for _, other in occurrences):
        raise interpreter.unsupported(SHARED_MEMORY, location=interpreter.location(), help=SHARED_MEMORY_HELP)
    return occurrences[0] if occurrences and is_library_tensor(occurrences[0][1]) else None
