"""Functions of the host API that programs may call, and the protocol over which they are written.

A body says by `ops` what it makes, draws, lays out and frees. Who calls gives it: outside programs that is
`ttnn_jit/ttnn/calling/eager_ops.py`, in a program `ttnn_jit/frontend/tensors/creations.py`. Operations and other such
functions it calls by their names: an argument that belongs to a program says so itself (ops/traced_calls.py).
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
"""From the state of a generator (ops/selection/random_numbers.py), and where the result lies, to that."""


OPS = "_ops"
"""The first parameter of functions whose bodies are written over them, which users do not see."""


class HostOps(Ops, Generic[Tensor]):
    """What bodies of such functions are written over; values are tensors, eager ones or a program's.

    Attributes:
        device: Where tensors go of which a call names no device; None: on the host.
    """

    device: Any = None

    def results(self, operation: Operation, operands: Sequence[Any], *statics: Any) -> list[Any]:
        """What the function of that name gives."""
        names = (each.name for each in (*operation.operands, *operation.attributes))
        values = (operands, *statics) if operation.is_variadic else (*operands, *statics)
        found: Any = getattr(self, operation.name)(**dict(zip(names, values, strict=True)))
        return [found] if operation.gives_one_tensor else [*found]

    @abstractmethod
    def filled(self, number: float, spec: TensorSpec, device: Any = None, /) -> Any:
        """A tensor of one number."""

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
        """The result of an operation without operands, whose elements in numpy are `elements()`."""

    @abstractmethod
    def drawn(self, seed: int | None, draws: Draws[Tensor], device: Any, config: MemoryConfig | None, /) -> Tensor:
        """What `draws` makes of a generator's state, where `config` says: with that seed, or that calls share."""

    @abstractmethod
    def requested(self, call: Callable[..., Any], arguments: Sequence[Any], config: MemoryConfig, /) -> Tensor:
        """What `call` makes, where `config` says; one of a program says so, and lies in DRAM."""

    @abstractmethod
    def with_layout(self, tensor: Tensor, spec: TensorSpec, device: Any, name: str, /) -> Tensor:
        """A copy as `spec` says, which differs in layout and memory config at most, for the function `name`."""

    @abstractmethod
    def free(self, tensor: Tensor, /) -> None:
        """Give its memory back; that of a program's tensor is the program's."""


Creation: TypeAlias = Callable[[HostOps[Any], Sequence[Any], Mapping[str, Any]], Any]
"""From what such a function is written over, and a call's arguments, to what it gives."""

CREATES = "__ttnn_creates__"
"""The attribute by which programs know such a function: its `Creation`."""
_INTERPRETED = "__ttnn_interpreted__"


def creation_of(function: Any) -> Creation | None:
    """How programs call such a function; None of every other object."""
    found = own_attribute(function, CREATES)
    return None if found is ABSENT else found


def interpreted_in_programs(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, which makes values of attributes: programs may call it, and guards see what it reads."""
    setattr(function, _INTERPRETED, True)
    return function


def is_interpreted(function: Any) -> bool:
    """Whether a function was marked by `interpreted_in_programs`."""
    return own_attribute(function, _INTERPRETED) is True
