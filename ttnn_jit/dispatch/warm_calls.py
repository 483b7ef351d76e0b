"""A call whose program is in memory goes straight to the function that runs it: the fast path of calls of any kind.

That function is one of `ttnn_jit.runtime.programs.warm_caller`. Here it is found by the metadata of all arguments;
jitted functions of plain parameters have a shorter way to it in front (`ttnn_jit.calls.fast_path`). Whatever is not
found, or does not apply any more, takes the slow path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_users_frames
from ttnn_jit.dispatch.kept_programs import PROGRAMS_KEPT
from ttnn_jit.foreign.container_items import PYTHONS_SCALARS
from ttnn_jit.foreign.values import atom_key, is_scalar_class
from ttnn_jit.runtime.libraries import WarmCall
from ttnn_jit.runtime.native.generated import MISS, define
from ttnn_jit.runtime.tensors.tensor import Tensor


def not_warm(*_: object) -> Any:
    """The `WarmCall` that never applies."""
    return MISS


_SPEC = attrgetter("spec")

CALLS_REMEMBERED = 4 * PROGRAMS_KEPT
"""Keys of calls of one function that go straight to a program; beyond, all are forgotten, and found again by use."""


class WarmCalls(ABC):
    """Something that is called with tensors, and remembers its calls: a jitted function, an eager operation."""

    __slots__ = ("_warm",)  # a look at the ``__dict__`` of an object makes its other attributes slower to find

    def __init__(self) -> None:
        # By `call_key`, or by the `table_key` of a library of tensors.
        self._warm: dict[tuple[object, ...] | None, WarmCall] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program of these arguments; compile it first if their metadata is new.

        Raises:
            ArgumentError: The arguments break a rule, or do not fit the parameters or each other; nothing was compiled.
            CompileError: The function is outside the language; the text points into its source.
            DeallocatedError: A tensor was deallocated.
        """
        try:
            try:
                # `call_key`, inlined: for a tensor and a tensor or number, for one tensor, for more of them
                device: Any  # None on the host
                if len(args) == 2 and not kwargs and type(args[0]) is Tensor:
                    first, second = args
                    device = first._device
                    if type(second) is Tensor:
                        run = self._warm[device.open_target, first.spec, second.spec]
                    elif type(second) in PYTHONS_SCALARS:
                        run = self._warm[device.open_target, first.spec, atom_key(second)]
                    else:
                        run = self._warm[call_key(args, kwargs)]
                elif kwargs or type(last := args[-1]) is not Tensor:
                    run = self._warm[call_key(args, kwargs)]
                elif len(args) == 1:
                    device = last._device
                    run = self._warm[device.open_target, last.spec]
                else:
                    device = last._device
                    run = self._warm[device.open_target, *map(_SPEC, args)]
            except (LookupError, AttributeError):  # something else is among them, or it is not remembered
                run = self._warm.get(call_key(args, kwargs), not_warm)
            result = run(*args)
            if result is not MISS:
                return result
            return self._slow_path(args, kwargs)
        except TtnnJitError as error:
            keep_users_frames(error)
            raise

    @abstractmethod
    def _slow_path(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of which nothing is remembered, or nothing that applies."""

    def _remember_call(
        self, write_warm: Callable[[], WarmCall], args: Sequence[Any], kwargs: Mapping[str, Any], tensors: int
    ) -> None:
        """Have calls of the same key go to the function that `write_warm` writes.

        That takes all `tensors` of the call; where not all of them stand in `args`, nothing is remembered.
        """
        indices = tuple(index for index, value in enumerate(args) if type(value) is Tensor)
        key = call_key(args, kwargs)
        if key is not None and len(indices) == tensors:
            self._remember_key(
                key, write_warm() if tensors == len(args) else _of_indices(len(args), indices)(write_warm())
            )

    def _remember_key(self, key: tuple[object, ...], call: WarmCall) -> None:
        """Have calls of `key` go to `call`; there are more keys than programs, for several may be one's."""
        if len(self._warm) >= CALLS_REMEMBERED:
            self._forget()
        self._warm[key] = call

    def _forget(self) -> None:
        self._warm.clear()


def call_key(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[object, ...] | None:
    """All of a call that decides which program it runs; None where something is neither a ttnn tensor nor a scalar."""
    parts: list[object] = [None]
    for value in args:
        kind = type(value)
        if kind is Tensor:
            parts.append(value.spec)
            parts[0] = value._device and value._device.open_target
        elif kind in PYTHONS_SCALARS or is_scalar_class(kind):
            parts.append(atom_key(value))
        else:
            return None
    for name, value in kwargs.items():
        kind = type(value)
        if not (kind in PYTHONS_SCALARS or is_scalar_class(kind)):
            return None
        parts += name, atom_key(value)
    return tuple(parts)


@cache
def _of_indices(count: int, indices: tuple[int, ...]) -> Callable[[WarmCall], WarmCall]:
    """From a `WarmCall` to one of `count` arguments, of which it takes those at `indices`."""
    given, taken = (", ".join(f"a{i}" for i in numbers) for numbers in (range(count), indices))
    return define("bind", ["def bind(warm):", f" return lambda {given}: warm({taken})"], {})
