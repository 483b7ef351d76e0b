"""Functions of the host API that programs may call: what they call and make is written into the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar

from ttnn_jit.foreign.values import ABSENT, own_attribute
from ttnn_jit.ops.operation import Operation
from ttnn_jit.specs.tensor_spec import MemoryConfig, TensorSpec

P = ParamSpec("P")
T = TypeVar("T")

Creator = Callable[[Callable[..., Any], Sequence[Any], Mapping[str, Any]], Any]
"""From such a function and a call's arguments to what stands for its result."""


class Maker(Protocol):
    """Who writes what such a function makes; its `spec` says where it would lie outside a program."""

    def filled(self, number: float, spec: TensorSpec) -> Any:
        """A tensor of one number."""

    def made(self, operation: Operation, statics: Sequence[Any], spec: TensorSpec) -> Any:
        """The result of an operation without operands."""

    def generator(self, seed: int | None) -> tuple[Any, Any]:
        """What a draw reads: of a generator with that seed, or of the one that calls share."""

    def count_draw(self) -> None:
        """Has the generator that calls share go on to its next draw."""

    def laid_out(self, tensor: Any, spec: TensorSpec) -> Any:
        """The elements of a tensor of the program as `spec` says, which has its shape and dtype."""

    def with_requested_layout(self, tensor: Any, config: MemoryConfig) -> Any:
        """`tensor`, which says from here on that it lies as `config` does."""


CREATOR: ContextVar[Creator | None] = ContextVar("creator of tensors in a program", default=None)
"""Who takes the calls of such functions, in a trace."""
_MAKER: ContextVar[Maker | None] = ContextVar("maker of tensors in a program", default=None)
CREATES = "__ttnn_creates__"
"""The attribute by which programs know such a function: what it was made of."""
_INTERPRETED = "__ttnn_interpreted__"


def creation_of(function: Any) -> Callable[..., Any] | None:
    """What such a function was made of; None of every other object."""
    found = own_attribute(function, CREATES)
    return None if found is ABSENT else found


def interpreted_in_programs(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, which makes values of attributes: programs may call it, and guards see what it reads."""
    setattr(function, _INTERPRETED, True)
    return function


def is_interpreted(function: Any) -> bool:
    """Whether a function was marked by `interpreted_in_programs`."""
    return own_attribute(function, _INTERPRETED) is True


def maker() -> Maker | None:
    """Who makes the tensor that is asked for; None outside programs."""
    return _MAKER.get()


@contextmanager
def creations_taken(creator: Creator) -> Iterator[None]:
    """In its body calls of such functions go to `creator`."""
    token = CREATOR.set(creator)
    try:
        yield
    finally:
        CREATOR.reset(token)


@contextmanager
def making(chosen: Maker) -> Iterator[None]:
    """In its body such functions run themselves, and `chosen` makes their tensors."""
    taken, token = CREATOR.set(None), _MAKER.set(chosen)
    try:
        yield
    finally:
        _MAKER.reset(token)
        CREATOR.reset(taken)
