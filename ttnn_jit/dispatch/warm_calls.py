"""The warm path of jitted and eager calls: a table from the metadata of a call to the function that runs its program.

The functions are generated (`ttnn_jit.runtime.programs.warm_caller`). Jitted functions with plain parameters try a
quicker path first (`ttnn_jit.calls.fast_path`). A call that is not in the table, or whose guard fails, takes the slow
path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_user_frames
from ttnn_jit.dispatch.lru_programs import MAX_PROGRAMS
from ttnn_jit.foreign.container_items import PYTHONS_SCALARS
from ttnn_jit.foreign.values import atom_key, is_atom
from ttnn_jit.runtime.libraries import TensorLibrary, WarmCall
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.native.generated import MISS, define
from ttnn_jit.runtime.tensors.tensor import Tensor


def always_miss(*_: object, **__: object) -> Any:
    """The `WarmCall` that never applies."""
    return MISS


_SPEC = attrgetter("spec")

MAX_REMEMBERED_CALLS = 4 * MAX_PROGRAMS
"""The limit of remembered calls of one function; when it is reached, the table is cleared and fills again by use."""


class WarmCalls(ABC):
    """A callable object that remembers its calls: a jitted function, or an eager operation."""

    __slots__ = ("_warm", "_warm_foreign")  # reading the ``__dict__`` of an object makes its other attributes slower

    def __init__(self) -> None:
        # By `call_key`, or by the `table_key` of a tensor library.
        self._warm: dict[tuple[object, ...] | None, WarmCall] = {}
        # By the type of the first argument, if that is not a ttnn tensor, and the number of arguments.
        self._warm_foreign: dict[tuple[type, int], WarmCall] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program for these arguments; compile it first if their metadata is new.

        Raises:
            ArgumentError: The arguments break a rule, or do not fit the parameters or each other; nothing was compiled.
            CompileError: The function is not in the supported language; the text points into its source.
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
            except (LookupError, AttributeError):  # another kind of argument, or a call that is not remembered
                found = self._warm_foreign.get((type(args[0]), len(args))) if args and not kwargs else None
                run = found or self._warm.get(call_key(args, kwargs), always_miss)
            result = run(*args, **kwargs) if kwargs else run(*args)
            if result is not MISS:
                return result
            return self._slow_path(args, kwargs)
        except TtnnJitError as error:
            keep_user_frames(error)
            raise

    @abstractmethod
    def _slow_path(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call that is not remembered, or whose remembered program does not apply."""

    def _remember_call(
        self, make_warm: Callable[[], WarmCall], args: Sequence[Any], kwargs: Mapping[str, Any], tensors: Sequence[Any]
    ) -> None:
        """Remember the function that `make_warm` makes for calls of the same key.

        The function takes the `tensors` of the call; if some are not among its arguments, nothing is remembered.
        """
        key, places = call_key(args, kwargs), _places_of(tensors, args, kwargs)
        if key is not None and places is not None:
            is_plain = not kwargs and len(tensors) == len(args)
            self._remember_key(
                key, make_warm() if is_plain else _passing_tensors(len(args), tuple(kwargs), places)(make_warm())
            )

    def _remember_metadata(self, warm: WarmCall, library: TensorLibrary, tensors: Sequence[Any]) -> None:
        """Remember `warm` for calls whose arguments are tensors of `library` with the metadata of these."""
        key = library.table_key(tensors)
        if key is None:
            return
        self._remember_key(key, warm)
        place = type(tensors[0]), len(tensors)
        look_up = self._warm_foreign.get(place) or library.look_up(len(tensors), self._warm)
        if look_up is not None:
            self._warm_foreign[place] = look_up

    def _remember_key(self, key: tuple[object, ...], call: WarmCall) -> None:
        """Remember `call` for calls of `key`; several keys may share a program."""
        if len(self._warm) >= MAX_REMEMBERED_CALLS:
            self._forget()
        self._warm[key] = call

    def _forget(self) -> None:
        self._warm.clear()


def call_key(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[object, ...] | None:
    """The key of a call: all that determines its program.

    None if an argument is neither a ttnn tensor, on a device or on a mesh, nor an atom, nor a list of atoms, whose key
    are its present items.
    """
    parts: list[object] = [None]
    for value in args:
        part = value.spec if type(value) is Tensor else _key_of_constant(value)
        if part is None:
            return None
        if type(value) is Tensor:
            parts[0] = value._device and value._device.open_target
        parts.append(part)
    for name, value in kwargs.items():
        part = value.spec if type(value) is Tensor else _key_of_constant(value)
        if part is None:
            return None
        parts += name, part
    return tuple(parts)


def _key_of_constant(value: Any) -> tuple[object, ...] | None:
    """The part of a key for a value that is no tensor of a device, such as a tensor of a mesh."""
    kind = type(value)
    if kind is MeshTensor:
        return value.spec, value.mesh.shape, value.topology
    try:
        if kind in PYTHONS_SCALARS or is_atom(value):
            return atom_key(value)
        return (kind, atom_key(tuple(value))) if kind is list and is_atom(tuple(value)) else None
    except RecursionError:
        return None  # the slow path names the argument


_TENSORS = (Tensor, MeshTensor)


def _places_of(tensors: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int | str, ...] | None:
    """The index or the name of each of `tensors` in a call; None if some are not its arguments, or none is positional.

    A tensor that is given twice has no place of its own, unless all of them are positional and in order.
    """
    indices = tuple(index for index, value in enumerate(args) if type(value) in _TENSORS)
    names = tuple(name for name, value in kwargs.items() if type(value) in _TENSORS)
    if not indices or len(indices) + len(names) != len(tensors):
        return None
    if not names:
        return indices
    places: dict[int, int | str] = {id(args[index]): index for index in indices}
    places.update((id(kwargs[name]), name) for name in names)
    found = [places.get(id(tensor)) for tensor in tensors]
    return None if None in found or len(places) != len(tensors) else tuple(found)  # type: ignore[arg-type]  # checked


@cache
def _passing_tensors(
    count: int, names: tuple[str, ...], places: tuple[int | str, ...]
) -> Callable[[WarmCall], WarmCall]:
    """From a `WarmCall` to one of `count` arguments and of keywords, of which it passes on those at `places`."""
    given = ", ".join([*(f"_{i}" for i in range(count)), "/", *names])
    taken = ", ".join(f"_{place}" if isinstance(place, int) else place for place in places)
    return define("bind", ["def bind(_warm):", f" return lambda {given}: _warm({taken})"], {})
