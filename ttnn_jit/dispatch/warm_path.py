"""How a call finds the function that runs its program again: generated once per names of parameters.

A warm call is: this file's method, and a function of `ttnn_jit.runtime.warm_caller`, which checks the guards and runs
the kernels. The method has the names of the function's parameters, so that Python puts keywords in their places. It
tries the programs that came last, which compare the call's metadata and constants with their own (a polymorphic inline
cache); failing that, it looks the metadata of tensors up in a table. Whatever is no warm call (the first with its
metadata, one whose guards fail) goes the long way.
"""

from __future__ import annotations

import enum
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_users_frames
from ttnn_jit.foreign.container_items import fields_of, is_named_tuple, is_record, items_of
from ttnn_jit.foreign.numpy_array import are_plain_numpy
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.runtime.warm_caller import STALE

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
        self, warm: WarmCall, key: tuple[Any, ...], values: Sequence[Any], given: Sequence[bool], tensors: Sequence[Any]
    ) -> None:
        """Have calls like this one take the short way.

        Args:
            warm: Runs the program on such tensors.
            key: Of the call.
            values: Its arguments, by parameter.
            given: Which of them were given; the others are defaults.
            tensors: The tensors among them, and inside of them.
        """
        if len(values) != self._shortcut_arguments:  # keyword-only ones; or the function's code was replaced
            return
        of_torch = is_plain_torch(tensors)
        if not (of_torch or type(tensors[0]) is Tensor or are_plain_numpy(tensors)):
            return
        if all(given) and len(values) == len(tensors) and all(map(operator.is_, tensors, values)):
            self._remember_by_metadata(warm, key, tensors)
        call_of = calls_like(values, given, tensors)
        if call_of is None:
            return
        checked = torch_checked(warm, tensors) if of_torch else warm
        if checked is not None:
            self._latest = (call_of(checked), *self._latest)[:INLINE_CACHE_ENTRIES]
            self._inline = first_of(self._latest, len(values))

    def _remember_by_metadata(self, warm: WarmCall, key: tuple[Any, ...], tensors: Sequence[Any]) -> None:
        kind = type(tensors[0])
        if kind is Tensor:
            self._warm[key] = warm
        if not is_plain_torch(tensors):
            return
        self._warm_foreign[kind] = self._warm_foreign.get(kind) or torch_warm_call(len(tensors), self._warm)
        self._warm[torch_key(tensors)] = warm


OWN_NAMES = "ttnn_jit_"
"""How the names begin that a generated ``__call__`` has beside those of the parameters."""


@cache
def call_method(parameters: tuple[str, ...], positional_only: int) -> Callable[..., Any]:
    """The ``__call__`` of a function of these parameters, at least one, of which the first may be given by place alone.

    Its object is a `WarmCalls` with ``_call_any``, the long way.
    """
    given = [f"{name}=ttnn_jit_MISSING" for name in parameters]
    given.insert(positional_only, "/")
    first, every = parameters[0], ", ".join(parameters)
    self = ["ttnn_jit_self", *([] if positional_only else ["/"])]
    given = given if positional_only else given[1:]
    lines = [
        f"def __call__({', '.join([*self, *given])}, *ttnn_jit_rest, **ttnn_jit_keywords):",
        " try:",
        "  if not ttnn_jit_rest and not ttnn_jit_keywords:",
        f"   ttnn_jit_result = ttnn_jit_self._inline({every})",
        "   if ttnn_jit_result is not ttnn_jit_STALE:",
        "    return ttnn_jit_result",
        "   try:",
        f"    if ttnn_jit_type({first}) is ttnn_jit_Tensor:",
        f"     ttnn_jit_key = {first}._device.open_target, {', '.join(f'{name}.spec' for name in parameters)}",
        "     ttnn_jit_warm = ttnn_jit_self._warm[ttnn_jit_key]",
        "    else:",
        f"     ttnn_jit_warm = ttnn_jit_self._warm_foreign[ttnn_jit_type({first})]",
        "   except ttnn_jit_NOTHING:",
        "    pass",
        "   else:",
        f"    ttnn_jit_result = ttnn_jit_warm({every})",
        "    if ttnn_jit_result is not ttnn_jit_STALE:",
        "     return ttnn_jit_result",
        f"  ttnn_jit_args, ttnn_jit_named = ttnn_jit_given(ttnn_jit_NAMES, ({every},))",
        "  ttnn_jit_named |= ttnn_jit_keywords",
        "  return ttnn_jit_self._call_any((*ttnn_jit_args, *ttnn_jit_rest), ttnn_jit_named)",
        " except ttnn_jit_ERROR as ttnn_jit_error:",
        "  ttnn_jit_keep_users_frames(ttnn_jit_error)",
        "  raise",
    ]
    scope = {"MISSING": _Missing.MISSING, "Tensor": Tensor, "STALE": STALE, "type": type, "given": _given}
    scope |= {"ERROR": TtnnJitError, "NOTHING": (KeyError, AttributeError), "keep_users_frames": keep_users_frames}
    names = {"NAMES": parameters, **scope}
    return _defined(
        "__call__", lines, {"__name__": __name__, **{OWN_NAMES + name: value for name, value in names.items()}}
    )


def _given(names: Sequence[str], values: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments among `values`: those before the first that is missing, and by name those after it."""
    missing = [value is _Missing.MISSING for value in values]
    count = missing.index(True) if any(missing) else len(values)
    return values[:count], {names[i]: values[i] for i in range(count, len(values)) if not missing[i]}


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


def calls_like(
    values: Sequence[Any], given: Sequence[bool], tensors: Sequence[Any]
) -> Callable[[WarmCall], WarmCall] | None:
    """From a `WarmCall` of `tensors` to one of all parameters, for calls whose other arguments are those of `values`.

    Those that are not `given` are defaults. None where a value is none of `tensors`, no plain constant and no container
    of such.
    """
    among = set(map(id, tensors))
    operands: list[str] = []
    conditions: list[str] = []
    constants: list[Any] = []
    for i, value in enumerate(values):
        if not given[i]:
            if items_of(value) is not None or _equality("", "", value) is None:
                return None  # what a default holds may change
            conditions.append(f"a{i} is MISSING")
            continue
        for place, part in _parts(f"a{i}", value):
            if id(part) in among:
                operands.append(place)
                continue
            condition = _equality(place, f"C{len(constants)}", part)
            if condition is None:
                return None
            conditions.append(condition)
            constants.append(part if items_of(part) is None else [*part] if type(part) is dict else type(part))
    if len(operands) != len(tensors):
        return None
    bind = _call_like(len(values), tuple(operands), tuple(conditions), len(constants))
    return lambda warm: bind(warm, *constants)


def _parts(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """`value`, an argument or an item at `place`, and what it contains, in the order of its leaves."""
    yield place, value
    if isinstance(value, (list, tuple, dict)):
        keyed = value.items() if isinstance(value, dict) else enumerate(value)
        steps = {f"[{key!r}]": item for key, item in keyed}
    else:
        steps = {f".{name}": item for name, item in fields_of(value).items()} if is_record(value) else {}
    for step, item in steps.items():
        yield from _parts(place + step, item)


def _equality(place: str, constant: str, value: Any) -> str | None:
    """An expression that is true where `place` holds the same constant, or container, as `value`; None if none is."""
    kind = type(value)
    if value is None or isinstance(value, (bool, enum.Enum)):
        return f"{place} is {constant}"
    same_type = f"type({place}) is {kind.__name__}"
    if kind is dict:
        return f"{same_type} and [*{place}] == {constant}" if all(type(key) is str for key in value) else None
    if kind in {list, tuple} or is_named_tuple(value):
        return f"type({place}) is {constant} and len({place}) == {len(value)}"
    if is_record(value):  # one that lacks a field is of another kind than one that has it
        return f"type({place}) is {constant}" if len(fields_of(value)) == len(kind.__dataclass_fields__) else None
    if kind not in {int, float, str} or value != value:  # noqa: PLR0124 - of a NaN, the bits count
        return None
    same = f"{same_type} and {place} == {constant}"
    return same if value else f"{same} and repr({place}) == {repr(value)!r}"  # -0.0 == 0.0


@cache
def _call_like(
    count: int, operands: tuple[str, ...], conditions: tuple[str, ...], constants: int
) -> Callable[..., WarmCall]:
    """From a `WarmCall` of the tensors at `operands`, and the constants of a call, to one of all its arguments."""
    if not conditions:
        return lambda warm, *_: warm
    tensors = ", ".join(f"t{i}" for i in range(len(operands)))
    lines = [
        f"def bind(warm, {', '.join(f'C{i}' for i in range(constants))}):",
        f" def call({', '.join(f'a{i}' for i in range(count))}):",
        "  try:",
        f"   if not ({' and '.join(conditions)}): return STALE",
        f"   {tensors} = {', '.join(operands)}",
        "  except AttributeError:",  # a record that lacks a field
        "   return STALE",
        f"  return warm({tensors})",
        " return call",
    ]
    return _defined("bind", lines, {"STALE": STALE, "MISSING": _Missing.MISSING})


def torch_checked(warm: WarmCall, tensors: Sequence[torch.Tensor]) -> WarmCall | None:
    """`warm`, the `WarmCall` for `tensors`, for any: it compares their metadata with those of `tensors`.

    None where torch has no guard for that; for one tensor given twice, which the guard always refuses and the table
    serves; and where gradients are wanted: what that means, `torch.no_grad` decides.
    """
    from ttnn_jit.foreign.torch_private import metadata_guard

    if any(tensor.requires_grad for tensor in tensors) or len(set(map(id, tensors))) < len(tensors):
        return None
    check = metadata_guard(tensors)
    return None if check is None else _checked_call(len(tensors))(check, warm)


@cache
def _checked_call(count: int) -> Callable[[Callable[..., bool], WarmCall], WarmCall]:
    from ttnn_jit.foreign.torch_private import dispatch_modes

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

    from ttnn_jit.foreign.torch_private import dispatch_modes

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
