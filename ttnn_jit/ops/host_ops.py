"""Functions of the host API that programs may call, and the protocol of their bodies.

A body creates, draws, lays out and frees tensors through its parameter `ops`. The caller passes `ops`: outside programs
`ttnn_jit/ttnn/calling/eager_ops.py`, in a program `ttnn_jit/frontend/tensors/creations.py`. A body calls operations and
other host functions by their names: an argument of a program redirects such a call (ops/traced_calls.py).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar

from ttnn_jit.foreign.values import ABSENT, own_attribute
from ttnn_jit.ops.families.decomposition import Ops
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec

P = ParamSpec("P")
T = TypeVar("T")
Tensor = TypeVar("Tensor")
Draws: TypeAlias = Callable[[Tensor, Tensor, MemoryConfig | None], Tensor]
"""From the state of a generator (ops/selection/random_numbers.py) and the memory config of the result to the result."""


OPS = "_ops"
"""The first parameter of functions over `HostOps`, which users do not see."""


class HostOps(Ops, Generic[Tensor]):
    """The protocol of host functions; values are tensors, eager ones or those of a program.

    Attributes:
        device: The device of a new tensor where the call names none; None: the host.
    """

    device: Any = None

    def results(self, operation: Operation, operands: Sequence[Any], *statics: Any) -> list[Any]:
        """The results of a call of the function with the operation's name."""
        names = (each.name for each in (*operation.operands, *operation.attributes))
        values = (operands, *statics) if operation.is_variadic else (*operands, *statics)
        found: Any = getattr(self, operation.name)(**dict(zip(names, values, strict=True)))
        return [found] if operation.gives_one_tensor else [*found]

    @abstractmethod
    def filled(self, number: float, spec: TensorSpec, device: Any = None, /) -> Any:
        """A tensor of `spec` with `number` in every element."""

    @abstractmethod
    def made(
        self,
        operation: Operation,
        statics: Sequence[Any],
        spec: TensorSpec,
        device: Any,
        elements: Callable[[], Any],
        /,
    ) -> Tensor:
        """The result of an operation without operands; ``elements()`` computes the same elements in numpy."""

    @abstractmethod
    def drawn(self, seed: int | None, draws: Draws[Tensor], device: Any, config: MemoryConfig | None, /) -> Tensor:
        """The result of `draws` in `config`, with a generator of `seed`, or with the shared generator."""

    @abstractmethod
    def with_memory_config(self, call: Callable[..., Any], arguments: Sequence[Any], config: MemoryConfig, /) -> Tensor:
        """The result of `call` in `config`; a program records `config` as requested, and keeps the result in DRAM."""

    @abstractmethod
    def with_layout(self, tensor: Tensor, spec: TensorSpec, device: Any, name: str, /) -> Tensor:
        """`tensor` in the layout and memory config of `spec`; errors name the function `name`."""

    @abstractmethod
    def free(self, tensor: Tensor, /) -> None:
        """Free the memory of `tensor`; a program frees its tensors itself."""


Creation: TypeAlias = Callable[[HostOps[Any], Sequence[Any], Mapping[str, Any]], Any]
"""A host function: from `ops` and a call's arguments to its result."""

CREATES = "__ttnn_creates__"
"""The attribute of a host function that holds its `Creation`."""
EXCHANGES = "__ttnn_exchanges__"
"""The attribute of a host function that takes the tensors of a mesh whole: it is not repeated on each device."""
_INTERPRETED = "__ttnn_interpreted__"


def creation_of(function: Any) -> Creation | None:
    """The `Creation` of a host function; None for every other object."""
    found = own_attribute(function, CREATES)
    return None if found is ABSENT else found


def interpreted_in_programs(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator: programs may call `function` for attribute values, and guards cover the values that it reads."""
    setattr(function, _INTERPRETED, True)
    return function


def is_interpreted(function: Any) -> bool:
    """Whether a function was marked by `interpreted_in_programs`."""
    return own_attribute(function, _INTERPRETED) is True
