"""The eager functions of gradients, ``ttnn.<name>_bw``, one for each name that is declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit import ops
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.embedding_gradient import EMBEDDING_BW
from ttnn_jit.ops.operation import Operation
from ttnn_jit.runtime.tensor import Tensor, check_tensor, write_elements
from ttnn_jit.ttnn.eager_operation import TtnnOperation

if TYPE_CHECKING:
    from ttnn_jit.ops import BoundCall
    from ttnn_jit.specs.target import SystemDesc
    from ttnn_jit.ttnn.golden_calls import GoldenCall

_TARGETS = (("input_grad", "output_tensor", "input_a_grad"), ("other_grad", "input_b_grad"))
"""Names of what a gradient is written into, by its place."""
ARGUMENTS_OF_ALL = (*(name for names in _TARGETS for name in names), "are_required_outputs")
"""Names of what gradients take besides what operations do."""


class Gradient(TtnnOperation):
    """Of the gradients that it gives, some may be left out and some be written into tensors that there are."""

    def _run(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        own = dict(kwargs)
        targets = [self._target_named(names, own) for names in _TARGETS]
        required = own.pop("are_required_outputs", None)
        found = super()._run(args, own)
        if required is not None:
            found = self._required(found, required)
        if any(target is not None for target in targets[len(found) :]):
            raise ArgumentError(f"{self.__name__} gives one gradient, and `{_TARGETS[1][0]}` is for a second")
        for place, (given, target) in enumerate(zip(found, targets, strict=False)):
            if given is not None and target is not None:
                found[place] = self._written_into(target, given)
        return found

    def golden_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> GoldenCall:
        """The call on torch tensors, of all gradients."""
        return super().golden_call(args, _without_outputs(kwargs))

    def bound_call(self, args: Sequence[Any], kwargs: Mapping[str, Any], target: SystemDesc) -> BoundCall:
        """The call on tensors of ttnn, as precisely as `target` computes it."""
        return super().bound_call(args, _without_outputs(kwargs), target)

    def _target_named(self, names: Sequence[str], keywords: dict[str, Any]) -> Tensor | None:
        given = {name: value for name in names if (value := keywords.pop(name, None)) is not None}
        if len(given) > 1:
            raise ArgumentError(f"{self.__name__}: {' and '.join(given)} are names of one tensor")
        for name, value in given.items():
            check_tensor(value, f"{self.__name__}: `{name}`")
        return next(iter(given.values()), None)

    def _required(self, found: list[Any], required: Any) -> list[Any]:
        """The gradients, with None for those that nobody wants."""
        if not isinstance(required, list | tuple) or set(map(type, required)) - {bool} or len(required) < len(found):
            raise ArgumentError(
                f"{self.__name__}: `are_required_outputs` says True or False for each of {len(found)} gradients, "
                f"got {required!r}"
            )
        return [each if wanted else None for each, wanted in zip(found, required, strict=False)]

    def _written_into(self, target: Tensor, given: Tensor) -> Tensor:
        if (target.shape, target.dtype, target.device()) != (given.shape, given.dtype, given.device()):
            raise ShapeError(
                f"{self.__name__}: a tensor to write into is {target.spec} on {target.device()}, "
                f"the gradient {given.spec} on {given.device()}"
            )
        write_elements(given, target, self.__name__)
        return target


def _without_outputs(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name not in ARGUMENTS_OF_ALL}


def _by_name() -> dict[str, TtnnOperation]:
    declared: dict[str, tuple[Operation, ...]] = {}
    for operation in ops.declared_in(ops.GRADIENTS):
        declared[operation.name] = (*declared.get(operation.name, ()), operation)
    listed: dict[str, TtnnOperation] = {name: Gradient(name, overloads) for name, overloads in declared.items()}
    return {**listed, EMBEDDING_BW.name: TtnnOperation(EMBEDDING_BW.name, (EMBEDDING_BW,))}


GRADIENTS = _by_name()
"""Name -> its function."""

globals().update(GRADIENTS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
