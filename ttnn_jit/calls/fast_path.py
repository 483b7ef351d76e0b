"""The fast path of functions all of whose parameters have a position: a ``__call__`` generated for their names.

Python then puts keywords in their places. The method tries the programs that came last (`ttnn_jit.calls.inline_cache`);
failing that, it looks the metadata of tensors up in a table. Whatever is not found (the first call with its metadata,
one whose guards fail) takes the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from ttnn_jit.calls.function_signature import PlainParameters
from ttnn_jit.calls.inline_cache import Missing, calls_like, first_of
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_users_frames
from ttnn_jit.dispatch.arguments import Arguments
from ttnn_jit.dispatch.observers import observe_new_class
from ttnn_jit.dispatch.warm_calls import WarmCalls, not_warm
from ttnn_jit.foreign.pytrees import LEAF
from ttnn_jit.runtime.libraries import TensorLibrary, WarmCall
from ttnn_jit.runtime.native.generated import MISS, define
from ttnn_jit.runtime.tensors.tensor import Tensor

T = TypeVar("T", bound=WarmCalls)

INLINE_CACHE_ENTRIES = 4  # each that does not apply delays those after it

OWN_NAMES = "ttnn_jit_"
"""How the names begin that a generated ``__call__`` has beside those of the parameters."""


class PlainCalls(WarmCalls):
    """What a jitted function of plain parameters remembers of its calls: a base of the class made for them."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._latest: tuple[WarmCall, ...] = ()  # each compares all of a call; newest first
        self._inline: WarmCall = not_warm  # the first of them that applies
        # By the type of a first argument that is no ttnn tensor.
        self._warm_foreign: dict[type, WarmCall] = {}

    def _forget(self) -> None:
        super()._forget()
        self._latest, self._inline = (), not_warm

    def _remember(self, warm: WarmCall, library: TensorLibrary, arguments: Arguments, *_: object) -> None:
        tensors, trees = arguments.tensors, arguments.trees
        if not library.are_plain(tensors):
            return
        if len(tensors) == len(trees) == len(arguments.given) and all(tree.treedef is LEAF for tree in trees.values()):
            self._remember_metadata(warm, library, tensors)
        call_of = calls_like(arguments)
        if call_of is None:
            return
        comparing = library.comparing(warm, tensors)
        if comparing is not None:
            self._latest = (call_of(comparing), *self._latest)[:INLINE_CACHE_ENTRIES]
            self._inline = first_of(self._latest, len(trees))

    def _remember_metadata(self, warm: WarmCall, library: TensorLibrary, tensors: Sequence[Any]) -> None:
        key = library.table_key(tensors)
        if key is None:
            return
        self._remember_key(key, warm)
        kind = type(tensors[0])
        look_up = self._warm_foreign.get(kind) or library.look_up(len(tensors), self._warm)
        if look_up is not None:
            self._warm_foreign[kind] = look_up

    def _remember_receiver(self, kind: type, call: WarmCall) -> None:
        self._warm_foreign[kind] = call


@cache
def with_fast_path(parameters: PlainParameters | None, base: type[T], root: type[T]) -> type[T]:
    """The class of functions of such parameters: `base` with a ``__call__`` for them, where there can be one.

    What a subclass `base` of `root` does around a call of `root` it does around the fast path.
    """
    if not parameters or not parameters[0] or any(name.startswith(OWN_NAMES) for name in parameters[0]):
        return base
    method = _call_method(*parameters)
    method.__doc__ = root.__call__.__doc__
    fast = type(root.__name__, (PlainCalls, root), {"__call__": method, "__module__": root.__module__})
    observe_new_class(fast)
    return fast if base is root else type(base.__name__, (base, fast), {"__module__": base.__module__})


@cache
def _call_method(parameters: tuple[str, ...], positional_only: int) -> Callable[..., Any]:
    """The ``__call__`` of `PlainCalls` of these parameters, of which the first may be given by position alone."""
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
        "   if ttnn_jit_result is not ttnn_jit_MISS:",
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
        "    if ttnn_jit_result is not ttnn_jit_MISS:",
        "     return ttnn_jit_result",
        f"  ttnn_jit_args, ttnn_jit_named = ttnn_jit_given(ttnn_jit_NAMES, ({every},))",
        "  ttnn_jit_named |= ttnn_jit_keywords",
        "  return ttnn_jit_self._slow_path((*ttnn_jit_args, *ttnn_jit_rest), ttnn_jit_named)",
        " except ttnn_jit_ERROR as ttnn_jit_error:",
        "  ttnn_jit_keep_users_frames(ttnn_jit_error)",
        "  raise",
    ]
    scope = {"MISSING": Missing.MISSING, "Tensor": Tensor, "MISS": MISS, "type": type, "given": _given}
    scope |= {"ERROR": TtnnJitError, "NOTHING": (KeyError, AttributeError), "keep_users_frames": keep_users_frames}
    names = {"NAMES": parameters, **scope}
    own = {OWN_NAMES + name: value for name, value in names.items()}
    return define("__call__", lines, {"__name__": __name__, **own})


def _given(names: Sequence[str], values: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments among `values`: those before the first that is missing, and by name those after it."""
    missing = [value is Missing.MISSING for value in values]
    count = missing.index(True) if any(missing) else len(values)
    return values[:count], {names[i]: values[i] for i in range(count, len(values)) if not missing[i]}
