"""How a call finds the function that runs its program again: generated once per number of parameters.

A warm call is: this file's method, and a function of `ttnn_jit.runtime.warm_caller`, which checks the guards and runs
the kernels. The method tries the program that served last, which compares the tensors' metadata with its own (an inline
cache of one entry); failing that, it looks the metadata up in a table. Whatever is no warm call (the first with its
metadata, one with scalars, keywords or containers, one whose guards fail) goes the long way.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
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


def not_warm(*_: object) -> Any:
    """The `WarmCall` of a call that must go the long way."""
    return STALE


@cache
def call_method(count: int) -> Callable[..., Any]:
    """The ``__call__`` of a function of `count` positional parameters, at least one.

    Its object has ``_latest``, a `WarmCall` that compares all metadata; ``_warm``, from the open target and the specs
    of ttnn tensors to a `WarmCall`; ``_warm_foreign``, from another type of tensor to one; and ``_call_any``, the long
    way.
    """
    names = [f"a{i}" for i in range(count)]
    lines = [
        f"def __call__(self, {', '.join(f'{name}=MISSING' for name in names)}, /, *rest, **keywords):",
        " if not rest and not keywords:",
        f"  result = self._latest({', '.join(names)})",
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


def torch_checked(warm: WarmCall, tensors: tuple[torch.Tensor, ...]) -> WarmCall:
    """`warm`, the `WarmCall` for `tensors`, for any: it compares their metadata with those of `tensors`.

    torch's own guard compares sizes, strides, dtype, device, type, wanted gradients and dispatch keys (sparse, negated,
    fake, batched ...) of all tensors in the time that two attributes of one take. It calls one tensor given twice
    another case, which the table serves.
    """
    import torch

    shapes: list[Any] = [list(tensor.shape) for tensor in tensors]
    strides: list[Any] = [list(tensor.stride()) for tensor in tensors]
    guards = torch._C._dynamo.guards.TensorGuards(*tensors, dynamic_dims_sizes=shapes, dynamic_dims_strides=strides)
    return _checked_call(len(tensors))(guards.check, warm)


@cache
def _checked_call(count: int) -> Callable[[Callable[..., bool], WarmCall], WarmCall]:
    arguments = ", ".join(f"a{i}" for i in range(count))
    lines = [
        "def checked(check, warm):",
        f" def call({arguments}):",
        f"  return warm({arguments}) if check({arguments}) and not dispatch_modes() else STALE",
        " return call",
    ]
    return _defined("checked", lines, {"STALE": STALE, "dispatch_modes": _dispatch_modes()})


def _dispatch_modes() -> Callable[[], int]:
    """How many modes would see torch's operations; a tracer might be among them."""
    import torch

    modes: Callable[[], int] = torch._C._len_torch_dispatch_stack
    return modes


def torch_warm_call(count: int, table: dict[Any, WarmCall]) -> WarmCall:
    """The `WarmCall` of a function of `count` torch tensors, which finds another in `table` under `torch_key`."""
    import torch

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
    scope["dispatch_modes"] = _dispatch_modes()
    return _defined("find", lines, scope)


def is_plain_torch(tensors: tuple[Any, ...]) -> bool:
    """Whether these are torch tensors of no subclass."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and all(type(tensor) is torch_module.Tensor for tensor in tensors)


def torch_key(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """What decides which program torch tensors run, of those that are dense on the CPU and want no gradient."""
    return tuple(part for tensor in tensors for part in (tensor.shape, tensor.stride(), tensor.dtype))


def _defined(name: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    exec(compile("\n".join(lines), f"<ttnn_jit {name}>", "exec"), scope)  # text of our own making
    function: Callable[..., Any] = scope[name]
    return function
