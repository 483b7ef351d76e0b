"""The fast path of functions with positional parameters only: a ``__call__`` that is generated for their names.

Python itself binds keywords to the generated parameters. The method tries the latest programs
(`ttnn_jit.calls.inline_cache`), then looks up the metadata of tensors in a table. A call that is not found there (the
first with its metadata, or one whose guards fail) takes the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from ttnn_jit.calls.function_signature import PlainParameters
from ttnn_jit.calls.inline_cache import Missing, call_matcher, try_in_order
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_user_frames
from ttnn_jit.dispatch.arguments import Arguments
from ttnn_jit.dispatch.observers import observe_new_class
from ttnn_jit.dispatch.warm_calls import WarmCalls, always_miss
from ttnn_jit.foreign.pytrees import LEAF
from ttnn_jit.runtime.libraries import TensorLibrary, WarmCall
from ttnn_jit.runtime.native.generated import MISS, define
from ttnn_jit.runtime.tensors.tensor import Tensor

T = TypeVar("T", bound=WarmCalls)

INLINE_CACHE_ENTRIES = 4  # each miss delays the entries after it

NAME_PREFIX = "ttnn_jit_"
"""The prefix of the names in a generated ``__call__`` that are not parameters."""


class PlainCalls(WarmCalls):
    """The remembered calls of a jitted function with plain parameters: a base of its generated class."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._latest: tuple[WarmCall, ...] = ()  # the entries of the inline cache, newest first
        self._inline: WarmCall = always_miss  # calls the first entry that applies
        # By the type of the first argument, if that is not a ttnn tensor; every parameter has one.
        self._warm_by_class: dict[type, WarmCall] = {}

    def _forget(self) -> None:
        super()._forget()
        self._latest, self._inline = (), always_miss

    def _remember(
        self, make_warm: Callable[[], WarmCall | None], library: TensorLibrary, arguments: Arguments, *_: object
    ) -> None:
        tensors, trees = arguments.tensors, arguments.trees
        if not library.are_plain(tensors) or (warm := make_warm()) is None:
            return
        if len(tensors) == len(trees) == len(arguments.given) and all(tree.treedef is LEAF for tree in trees.values()):
            self._remember_metadata(warm, library, tensors)
        call_of = call_matcher(arguments)
        if call_of is None:
            return
        comparing = library.with_metadata_guard(warm, tensors)
        if comparing is not None:
            self._latest = (call_of(comparing), *self._latest)[:INLINE_CACHE_ENTRIES]
            self._inline = try_in_order(self._latest, len(trees))

    def _remember_metadata(self, warm: WarmCall, library: TensorLibrary, tensors: Sequence[Any]) -> None:
        super()._remember_metadata(warm, library, tensors)
        kind = type(tensors[0])
        if (look_up := self._warm_foreign.get((kind, len(tensors)))) is not None:
            self._warm_by_class[kind] = look_up

    def _remember_receiver(self, kind: type, call: WarmCall) -> None:
        self._warm_by_class[kind] = call


@cache
def with_fast_path(parameters: PlainParameters | None, base: type[T], root: type[T]) -> type[T]:
    """The class of functions with these parameters: `base` with a generated ``__call__``, or `base` itself.

    If `base` is a subclass of `root` that wraps ``__call__``, it wraps the generated one.
    """
    if not parameters or not parameters[0] or any(name.startswith(NAME_PREFIX) for name in parameters[0]):
        return base
    method = _call_method(*parameters)
    method.__doc__ = root.__call__.__doc__
    fast = type(root.__name__, (PlainCalls, root), {"__call__": method, "__module__": root.__module__})
    observe_new_class(fast)
    return fast if base is root else type(base.__name__, (base, fast), {"__module__": base.__module__})


@cache
def _call_method(parameters: tuple[str, ...], positional_only: int) -> Callable[..., Any]:
    """The ``__call__`` of `PlainCalls` for these parameters, the first `positional_only` of which take no keyword."""
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
        f"     ttnn_jit_warm = ttnn_jit_self._warm_by_class[ttnn_jit_type({first})]",
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
        "  ttnn_jit_keep_user_frames(ttnn_jit_error)",
        "  raise",
    ]
    scope = {"MISSING": Missing.MISSING, "Tensor": Tensor, "MISS": MISS, "type": type, "given": _passed_arguments}
    scope |= {"ERROR": TtnnJitError, "NOTHING": (KeyError, AttributeError), "keep_user_frames": keep_user_frames}
    names = {"NAMES": parameters, **scope}
    own = {NAME_PREFIX + name: value for name, value in names.items()}
    return define("__call__", lines, {"__name__": __name__, **own})


def _passed_arguments(names: Sequence[str], values: Sequence[Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments among `values`: positional ones up to the first that is missing, then keyword ones."""
    is_missing = [value is Missing.MISSING for value in values]
    count = is_missing.index(True) if any(is_missing) else len(values)
    return values[:count], {names[i]: values[i] for i in range(count, len(values)) if not is_missing[i]}
