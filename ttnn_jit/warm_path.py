"""How a call finds the function that runs its program again: generated once per number of parameters.

A warm call is: this file's method, and a function of `ttnn_jit.runtime.warm_caller`, which checks the guards and runs
the kernels. The method tries the programs that came last, which compare the call's metadata and constants with their
own (a polymorphic inline cache); failing that, it looks the metadata of tensors up in a table. Whatever is no warm call
(the first with its metadata, one with keywords or containers, one whose guards fail) goes the long way.
"""

from __future__ import annotations

import enum
import operator
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.errors import TtnnJitError
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.runtime.warm_caller import STALE
from ttnn_jit.tracebacks import for_the_user

if TYPE_CHECKING:
    import torch

WarmCall = Callable[..., Any]
"""Runs a program on the tensors of one call, or returns `STALE`."""


class _Missing(enum.Enum):
    MISSING = "missing"


def _not_warm(*_: object) -> Any:
    return STALE


INLINE_CACHE_ENTRIES = 4  # each that does not apply costs about 0.1 us


class WarmCalls:
    """What a function of `positional` parameters, -1 for a function of others, remembers of its calls."""

    def __init__(self, positional: int) -> None:
        self._shortcut_arguments = positional
        self._latest: tuple[WarmCall, ...] = ()  # each compares all of a call; newest first
        self._inline: WarmCall = _not_warm  # the first of them that applies
        # By open target and specs, or by `torch_key`: calls of tensors alone.
        self._warm: dict[tuple[Any, ...], WarmCall] = {}
        # By the type of a first argument that is no ttnn tensor.
        self._warm_foreign: dict[type, WarmCall] = {}

    def _forget(self) -> None:
        self._latest, self._inline = (), _not_warm
        self._warm.clear()

    def _remember(
        self, warm: WarmCall, key: tuple[Any, ...], values: Sequence[Any], given: int, tensors: Sequence[Any]
    ) -> None:
        """Have calls like this one take the short way.

        Args:
            warm: Runs the program on such tensors.
            key: Of the call.
            values: Its arguments, by parameter.
            given: How many of them were given, by position; the others are defaults.
            tensors: The tensors among them, and inside of them.
        """
        if len(values) != self._shortcut_arguments:  # keyword-only ones; or the function's code was replaced
            return
        if type(tensors[0]) is not Tensor and not is_plain_torch(tensors):
            return
        if len(values) == given == len(tensors) and all(map(operator.is_, tensors, values)):
            self._remember_by_metadata(warm, key, tensors)
        call_of = calls_like(values, given, tensors)
        if call_of is None:
            return
        checked = warm if type(tensors[0]) is Tensor else torch_checked(warm, tensors)
        if checked is not None:
            self._latest = (call_of(checked), *self._latest)[:INLINE_CACHE_ENTRIES]
            self._inline = first_of(self._latest, len(values))

    def _remember_by_metadata(self, warm: WarmCall, key: tuple[Any, ...], tensors: Sequence[Any]) -> None:
        kind = type(tensors[0])
        if kind is Tensor:
            self._warm[key] = warm
            return
        self._warm_foreign[kind] = self._warm_foreign.get(kind) or torch_warm_call(len(tensors), self._warm)
        self._warm[torch_key(tensors)] = warm


@cache
def call_method(count: int) -> Callable[..., Any]:
    """The ``__call__`` of a function of `count` positional parameters, at least one.

    Its object is a `WarmCalls` with ``_call_any``, the long way.
    """
    names = [f"a{i}" for i in range(count)]
    lines = [
        f"def __call__(self, {', '.join(f'{name}=MISSING' for name in names)}, /, *rest, **keywords):",
        " if not rest and not keywords:",
        f"  result = self._inline({', '.join(names)})",
        "  if result is not STALE:",
        "   return result",
        "  try:",
        "   if type(a0) is Tensor:",
        f"    warm = self._warm[a0._device.open_target, {', '.join(f'{name}.spec' for name in names)}]",
        "   else:",
        "    warm = self._warm_foreign[type(a0)]",
        "  except (KeyError, AttributeError):",
        "   pass",
        "  else:",
        f"   result = warm({', '.join(names)})",
        "   if result is not STALE:",
        "    return result",
        f" given = [value for value in ({', '.join(names)},) if value is not MISSING]",
        " try:",
        "  return self._call_any((*given, *rest), keywords)",
        " except TtnnJitError as error:",
        "  __tracebackhide__ = True",  # for pytest and IPython
        "  raise for_the_user(error)",
    ]
    scope: dict[str, Any] = {"MISSING": _Missing.MISSING, "Tensor": Tensor, "STALE": STALE}
    scope |= {"TtnnJitError": TtnnJitError, "for_the_user": for_the_user, "__name__": __name__}
    return _defined("__call__", lines, scope)


def first_of(calls: Sequence[WarmCall], count: int) -> WarmCall:
    """The first of `calls` of `count` arguments that applies."""
    return calls[0] if len(calls) == 1 else _first_of(len(calls), count)(*calls)


@cache
def _first_of(calls: int, count: int) -> Callable[..., WarmCall]:
    arguments = ", ".join(f"a{i}" for i in range(count))
    lines = [f"def bind({', '.join(f'w{i}' for i in range(calls))}):", f" def call({arguments}):"]
    for i in range(calls):
        lines += [f"  result = w{i}({arguments})", "  if result is not STALE: return result"]
    return _defined("bind", [*lines, "  return STALE", " return call"], {"STALE": STALE})


def calls_like(values: Sequence[Any], given: int, tensors: Sequence[Any]) -> Callable[[WarmCall], WarmCall] | None:
    """From a `WarmCall` of `tensors` to one of all parameters, for calls whose other arguments are those of `values`.

    The first `given` values were given, the others are defaults. None where a value is neither one of `tensors` nor a
    plain constant: the tensors inside of a list, say, are not compared here.
    """
    among = set(map(id, tensors))
    conditions, constants = [], []
    for i, value in enumerate(values):
        tensor = id(value) in among
        condition = "" if tensor else _equality(i, value)
        if condition is None:
            return None
        conditions.append(condition if i < given else f"a{i} is MISSING")
        constants.append(None if tensor else value)
    if conditions.count("") != len(tensors):
        return None
    bind = _call_like(tuple(conditions))
    return lambda warm: bind(warm, *constants)


def _equality(index: int, value: Any) -> str | None:
    """An expression that is true where argument `index` is the same constant as `value`; None if there is none."""
    argument, constant = f"a{index}", f"C{index}"
    if value is None or isinstance(value, (bool, enum.Enum)):
        return f"{argument} is {constant}"
    if type(value) not in {int, float, str} or value != value:  # noqa: PLR0124 - of a NaN, the bits count
        return None
    same = f"type({argument}) is {type(value).__name__} and {argument} == {constant}"
    return same if value else f"{same} and repr({argument}) == {repr(value)!r}"  # -0.0 == 0.0


@cache
def _call_like(conditions: tuple[str, ...]) -> Callable[..., WarmCall]:
    """From a `WarmCall` of tensors and the constants of a call to one of all its arguments; "": one is a tensor."""
    arguments = [f"a{i}" for i in range(len(conditions))]
    tensors = ", ".join(name for name, condition in zip(arguments, conditions, strict=True) if not condition)
    compared = " and ".join(filter(None, conditions))
    if not compared:
        return lambda warm, *_: warm
    lines = [
        f"def bind(warm, {', '.join(f'C{i}' for i in range(len(conditions)))}):",
        f" def call({', '.join(arguments)}):",
        f"  return warm({tensors}) if {compared} else STALE",
        " return call",
    ]
    return _defined("bind", lines, {"STALE": STALE, "MISSING": _Missing.MISSING})


def torch_checked(warm: WarmCall, tensors: Sequence[torch.Tensor]) -> WarmCall | None:
    """`warm`, the `WarmCall` for `tensors`, for any: it compares their metadata with those of `tensors`.

    None where torch has no guard for that; for one tensor given twice, which the guard always refuses and the table
    serves; and where gradients are wanted: what that means, `torch.no_grad` decides.
    """
    from ttnn_jit.torch_private import metadata_guard

    if any(tensor.requires_grad for tensor in tensors) or len(set(map(id, tensors))) < len(tensors):
        return None
    check = metadata_guard(tensors)
    return None if check is None else _checked_call(len(tensors))(check, warm)


@cache
def _checked_call(count: int) -> Callable[[Callable[..., bool], WarmCall], WarmCall]:
    from ttnn_jit.torch_private import dispatch_modes

    names = [f"a{i}" for i in range(count)]
    arguments = ", ".join(names)
    lines = [
        "def checked(check, warm):",
        f" def call({arguments}):",
        "  try:",
        f"   if {' or '.join(f'{name}.is_nested' for name in names)}: return STALE",
        "  except (AttributeError, TtnnJitError): return STALE",  # no torch tensor; one that is being traced
        f"  return warm({arguments}) if check({arguments}) and not dispatch_modes() else STALE",
        " return call",
    ]
    scope = {"STALE": STALE, "dispatch_modes": dispatch_modes(), "TtnnJitError": TtnnJitError}
    return _defined("checked", lines, scope)


def torch_warm_call(count: int, table: dict[Any, WarmCall]) -> WarmCall:
    """The `WarmCall` of a function of `count` torch tensors, which finds another in `table` under `torch_key`."""
    import torch

    from ttnn_jit.torch_private import dispatch_modes

    names = [f"a{i}" for i in range(count)]
    plain = [f"type({name}) is Plain" for name in names]
    wants_grad = " or ".join(f"{name}.requires_grad" for name in names)
    lines = [
        f"def find({', '.join(names)}):",
        " try:",
        f"  if not ({' and '.join([*plain, *(f'{name}.is_cpu' for name in names)])}): return STALE",
        f"  if {' or '.join(f'{name}.is_neg()' for name in names)}: return STALE",
        f"  if grad_enabled() and ({wants_grad}): return STALE",
        "  if dispatch_modes(): return STALE",
        f"  warm = table[{', '.join(f'{name}.shape, {name}.stride(), {name}.dtype' for name in names)}]",
        " except (KeyError, AttributeError, RuntimeError):",  # a sparse tensor has no strides
        "  return STALE",
        f" return warm({', '.join(names)})",
    ]
    scope = {"Plain": torch.Tensor, "STALE": STALE, "grad_enabled": torch.is_grad_enabled, "table": table}
    scope["dispatch_modes"] = dispatch_modes()
    return _defined("find", lines, scope)


def is_plain_torch(tensors: Sequence[Any]) -> bool:
    """Whether these are torch tensors of no subclass."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and all(type(tensor) is torch_module.Tensor for tensor in tensors)


def torch_key(tensors: Sequence[Any]) -> tuple[Any, ...]:
    """What decides which program torch tensors run, of those that are dense on the CPU and want no gradient."""
    return tuple(part for tensor in tensors for part in (tensor.shape, tensor.stride(), tensor.dtype))


def _defined(name: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    exec(compile("\n".join(lines), f"<ttnn_jit {name}>", "exec"), scope)  # text of our own making
    function: Callable[..., Any] = scope[name]
    return function
