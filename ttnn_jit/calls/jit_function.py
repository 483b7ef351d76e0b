"""`JitFunction`, the result of `jit`: a function that is compiled for the metadata of its arguments."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache import statistics
from ttnn_jit.calls.bound_functions import BoundFunctions, call_query
from ttnn_jit.calls.fast_path import with_fast_path
from ttnn_jit.calls.first_call import check_options, compile_variant, fetch_hidden, read_guard, request_of
from ttnn_jit.calls.function_signature import CallSignature, plain_parameters
from ttnn_jit.calls.settings import Settings
from ttnn_jit.calls.variants import Variant, Variants
from ttnn_jit.compiler.shared_programs import SharedPrograms
from ttnn_jit.diagnostics.changing_arguments import ChangingArguments
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.diagnostics.tracebacks import user_frames_only
from ttnn_jit.dispatch.arguments import Arguments, tensor_proxies
from ttnn_jit.dispatch.lru_programs import Key
from ttnn_jit.dispatch.placement import Placement, check_devices, placement
from ttnn_jit.dispatch.warm_calls import WarmCalls
from ttnn_jit.foreign.container_items import PYTHONS_CONTAINERS
from ttnn_jit.guards.bound_objects import call_arguments, is_bound
from ttnn_jit.ops.traced_calls import traceable
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.compile_lock import compiles, compiling
from ttnn_jit.runtime.libraries import MESH, TTNN, TensorLibrary, WarmCall, tensor_library_of
from ttnn_jit.runtime.programs.random_state import on_device_of
from ttnn_jit.specs.options import USER_PASSES

if TYPE_CHECKING:
    from ttnn_jit.compiler.report import Report
    from ttnn_jit.compiler.request import FunctionRequest
    from ttnn_jit.compiler.templates_on_demand import TemplatesOnDemand
    from ttnn_jit.specs.meshes.machine import MachineLike


def _sharing(settings: Settings, shared: SharedPrograms, copy: types.FunctionType) -> JitFunction:
    """The jitted function of a bound copy."""
    made = JitFunction(copy, settings)
    made._shared = shared
    return made


@traceable
class JitFunction(WarmCalls):
    """A function that is compiled at the first call with new metadata of arguments, and then runs native code.

    `__new__` makes an instance of a subclass with a generated ``__call__`` (`ttnn_jit.calls.fast_path`) if the
    parameters allow one.

    Attributes:
        func: The Python function.
        receiver: Returns the instance on which the function was looked up, or None.
        fallback_used: Whether the last call ran the plain function instead; only with ``fallback=True``.
    """

    __slots__ = ("__dict__", "__weakref__", "receiver")

    fallback_used = False

    def __new__(cls, function: Callable[..., Any] | JitFunction, _: Settings) -> JitFunction:
        """An instance of the subclass whose ``__call__`` has the function's parameters.

        Raises:
            ArgumentError: `function` is not a Python function.
        """
        plain = plain_parameters(inspect.signature(_python_function(function)))
        made: JitFunction = object.__new__(with_fast_path(plain, cls, JitFunction))
        return made

    def __init__(self, function: Callable[..., Any] | JitFunction, settings: Settings) -> None:
        super().__init__()
        self.receiver: Callable[[], Any] = _no_receiver
        self._receiver_views: dict[int, JitFunction] = {}  # by the instance that it was looked up on
        plain = _python_function(function)
        functools.update_wrapper(self, plain)
        self.func = plain
        self.__ttnn_jit_wrapped__ = plain
        self._settings = settings
        self._signature = CallSignature(plain)
        changing = ChangingArguments(plain.__name__)
        self._variants = Variants(plain.__name__, changing)
        self._shared = SharedPrograms()
        self._bound = BoundFunctions(plain, functools.partial(_sharing, settings, self._shared), changing)
        if not is_bound(plain):  # a bound copy is counted and cleared with its original
            statistics.register(self)

    def __reduce__(self) -> str:
        """Copied and pickled like Python functions, by the qualified name."""
        return self.func.__qualname__

    @property
    def python_fully_qualified_name(self) -> str:
        """The name in hooks and graphs."""
        return f"{self.func.__module__}.{self.func.__qualname__}"

    @property
    def num_entries(self) -> int:
        """The number of programs in this function's memory cache, for a method those of all instances."""
        return len(self._variants) + sum(function.num_entries for function in self._bound.functions())

    @property
    def served_one_call(self) -> bool:
        """Whether every program of it was called once."""
        return self._variants.served_one_call

    @cached_property
    def _templates(self) -> TemplatesOnDemand:
        from ttnn_jit.compiler.templates_on_demand import TemplatesOnDemand

        guard_of = functools.partial(read_guard, self.func)
        shared = self._shared if is_bound(self.func) else None
        return TemplatesOnDemand(self._settings.dynamic, guard_of, self._variants.warn_once, shared)

    def clear(self) -> None:
        """Forget every program."""
        with compiling():
            self._variants.clear()
            self._templates.clear()
            self._bound.clear()
            self._shared.clear()
            self._forget()

    # --- Calls --------------------------------------------------------------------------------------------------------

    def _slow_path(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._bound.has_receiver(args):
            return self._bound_method(args[0])(*args[1:], **kwargs)
        trees, named = self._signature.flatten(args, kwargs)
        proxies = tensor_proxies(leaf for tree in (*trees, *named.values()) for leaf in tree.leaves)
        if any(tensor_library_of(proxy) is None for proxy in proxies):
            return self._plain(*args, **kwargs)  # a call from another function that is traced is inlined
        if objects := self._signature.objects(trees, named):
            return self._bound_to(objects)(*self._without_objects(objects, args), **_remaining(kwargs, objects))
        self._signature.follow_changes()
        arguments = self._signature.bind(trees, named)
        where = self._placement(arguments)
        is_recorded = where.library.records(arguments.tensors)
        if is_recorded:  # a replay sees what is written to one part of a tensor of a mesh
            where.library.separate(arguments.tensors)
        if (mode := where.library.ignored_mode(self.func.__name__)) is not None:
            self._variants.warn_once(mode)
        key = (id(where.target), *arguments.key(), *self._user_passes())
        found = self._variants.find(key, arguments.tensors)
        variant, hidden = found or self._miss(key, arguments, where)
        if variant.program.plan.updates and (same := where.library.same_memory(arguments.tensors)):
            key = (*key, same)
            found = self._variants.find(key, arguments.tensors)
            variant, hidden = found or self._miss(key, arguments, where, same)
        if is_recorded and where.library.separate(hidden):
            return self._slow_path(args, kwargs)
        here = on_device_of(hidden, where.library, arguments.tensors)
        check_devices(self.func.__name__, arguments.tensors, zip(variant.hidden, here, strict=True))
        if found is not None and self._is_remembered() and not is_recorded:
            make_warm = functools.partial(variant.warm, hidden)
            self._remember(make_warm, where.library, arguments, args, kwargs)
        return variant.program if self._settings.compile_only else variant.run(*arguments.tensors, *here)

    def _placement(self, arguments: Arguments) -> Placement:
        return placement(arguments, self._settings.target, self.func.__name__)

    def _user_passes(self) -> tuple[object, ...]:
        """The current passes behind the names in the options, which are part of the cache key."""
        return tuple(USER_PASSES.values()) if self._settings.options.extra_pipeline_options else ()

    def _is_remembered(self) -> bool:
        """Whether later calls may take the fast path, which checks only arguments and guards."""
        return not (self._settings.compile_only or self._settings.debug or self._user_passes())

    @compiles
    def _miss(
        self, key: Key, arguments: Arguments, where: Placement, same: tuple[int, ...] = ()
    ) -> tuple[Variant, tuple[Any, ...]]:
        found = self._variants.find(key, arguments.tensors)
        if found is not None:
            return found
        check_options(self._settings, where)
        request = request_of(self.func, self._settings, arguments, where, same)
        variant, fetched = compile_variant(
            request, self._settings, where, self._templates, self._key_without_sizes(arguments, where, same)
        )
        self._variants.add(key, variant, arguments, self._forget)
        hidden: Sequence[Any] | None = () if not variant.hidden else fetched or variant.fetch(arguments.tensors)
        # Another thread may have changed a value that was read.
        return self._miss(key, arguments, where, same) if hidden is None else (variant, tuple(hidden))

    def _key_without_sizes(self, arguments: Arguments, where: Placement, same: tuple[int, ...] = ()) -> Key:
        open_classes = {int, float} if self._settings.options.opens_floats else {int}
        return (id(where.target), same, *arguments.key_without_sizes(open_classes=open_classes))

    def _remember(
        self,
        make_warm: Callable[[], WarmCall | None],
        library: TensorLibrary,
        arguments: Arguments,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """Remember what `make_warm` makes, which takes tensors of `library`, for calls like this one.

        It is not made where it could not be remembered, for that takes as long as several calls.
        """
        has_containers = any(type(value) in PYTHONS_CONTAINERS for value in (*args, *kwargs.values()))
        tensors, is_own = arguments.tensors, library in {TTNN, MESH}
        are_alone = not kwargs and len(tensors) == len(args) and library.are_plain(tensors)
        if has_containers or not (is_own or are_alone) or not self._signature.has_fixed_defaults(arguments):
            return
        if (warm := make_warm()) is None:
            return
        if is_own:
            self._remember_call(lambda: warm, args, kwargs, tensors)
        else:
            self._remember_metadata(warm, library, tensors)

    def _remember_receiver(self, kind: type, call: WarmCall) -> None:
        """Remember `call` for calls of the method on instances of `kind`."""

    def _plain(self, *args: Any, **kwargs: Any) -> Any:
        """Call the plain Python function."""
        if not is_bound(self.func):
            return self.func(*args, **kwargs)
        bound = inspect.signature(self.func).bind(*args, **kwargs)
        positional, named = call_arguments(self.func, bound.arguments)
        return self.func(*positional, **named)

    # --- Methods, and arguments that are objects ----------------------------------------------------------------------

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        found = self._receiver_views.get(id(instance))
        if found is not None and found.receiver() is instance:
            return types.MethodType(found, instance)
        self._bound.is_method = True
        if instance is None:
            return self
        try:
            return types.MethodType(self._view_for(instance), instance)
        except TypeError:  # it cannot be weakly referenced, so that a call is refused
            return types.MethodType(self, instance)

    def _view_for(self, instance: Any) -> JitFunction:
        """A view of this function that shares its state and has `instance` as receiver; the same while it lives.

        Raises:
            TypeError: `instance` cannot be weakly referenced.
        """
        same: JitFunction = object.__new__(type(self))
        same.__dict__ = self.__dict__
        key, looked_up = id(instance), self._receiver_views
        same._warm, same._warm_foreign = self._warm, self._warm_foreign
        same.receiver = weakref.ref(instance, lambda _: looked_up.pop(key, None))
        looked_up[key] = same
        return same

    def _bound_method(self, instance: Any) -> JitFunction:
        method = self._bound.of_first(instance)
        self._remember_receiver(type(instance), self._bound.call)
        return method

    def _bound_to(self, objects: Mapping[str, Any]) -> JitFunction:
        if [*objects] == [*self._signature.names[:1]]:
            return self._bound_method(*objects.values())
        return self._bound.of(objects)

    def _without_objects(self, objects: Mapping[str, Any], args: tuple[Any, ...]) -> Iterator[Any]:
        """The positional arguments that are not `objects`."""
        names = (*self._signature.names[: len(args)], *("" for _ in range(len(args) - len(self._signature.names))))
        return (value for name, value in zip(names, args, strict=True) if name not in objects)

    # --- Looking into programs ----------------------------------------------------------------------------------------

    @call_query
    def request(self, *args: Any, **kwargs: Any) -> FunctionRequest:
        """The compile request of a call with these arguments."""
        function, arguments = self._bound_with(args, kwargs)
        return request_of(function.func, function._settings, arguments, function._placement(arguments))

    @property
    def keeps_on_disk(self) -> bool:
        """Whether its programs are kept on disk, where the disk cache is turned on."""
        return self._settings.enable_cache

    @call_query
    def template_misses(self, *args: Any, **kwargs: Any) -> list[str] | None:
        """Why no template in memory serves a call with these arguments. None if one does; empty if there is none."""
        function, arguments = self._bound_with(args, kwargs)
        where = function._placement(arguments)
        request = request_of(function.func, function._settings, arguments, where)
        key = function._key_without_sizes(arguments, where)
        return function._templates.misses(key, request, functools.partial(fetch_hidden, request))

    def _bound_with(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[JitFunction, Arguments]:
        """The jitted function that a call with these arguments reaches, without its objects, and the others."""
        if self._bound.has_receiver(args):
            return self._bound_method(args[0])._bound_with(args[1:], kwargs)
        trees, named = self._signature.flatten(args, kwargs)
        if objects := self._signature.objects(trees, named):
            others = [*self._without_objects(objects, tuple(args))]
            return self._bound_to(objects)._bound_with(others, _remaining(kwargs, objects))
        self._signature.follow_changes()
        return self, self._signature.bind(trees, named)

    @call_query
    @user_frames_only
    def ir(self, *args: Any, stage: str = "frontend", **kwargs: Any) -> str:
        """The text after `stage`: ``frontend``, a pass of ``ttnn-jit opt --list``, ``host``, ``codegen``, ``assembly``.

        The stages ``ttkernel`` and ``ttmetal`` are no part of a compile: they show what a chip's cores would run
        (docs/kernel_level.md), tensors of torch and numpy in tiles.

        Raises:
            ArgumentError: There is no such stage.
            PassError: A kernel cannot be written for a chip's cores.
        """
        from ttnn_jit.compiler import inspection

        return inspection.stage_text(JitFunction.request(self, *args, **kwargs), stage)

    @call_query
    @user_frames_only
    def explain(self, *args: Any, machine: MachineLike | None = None, **kwargs: Any) -> Report:
        """A report of the kernels, their use of DST, and why operations were not fused; ``str()`` formats it.

        docs/inspecting.md explains its lines.

        Args:
            args: Those of a call.
            machine: ``"n300"``, ``"t3000"``, ``"galaxy"``, or JSON or a file of it (docs/meshes.md): the report says
                what the collectives of the call cost on its links.
            kwargs: Those of a call.

        Raises:
            ArgumentError: There is no such machine, or the mesh of the call does not fit it.
        """
        from ttnn_jit.compiler import inspection

        return inspection.explain(JitFunction.request(self, *args, **kwargs), machine)

    def __repr__(self) -> str:
        hashes = [program.hash[:8] for program in self._variants.programs()]
        kept = f"programs {', '.join(hashes)}" if hashes else f"{self.num_entries} programs"
        return f"<JitFunction {self.func.__qualname__}, {kept}>"


def _no_receiver() -> None:
    """The receiver of a function that was not looked up on an instance."""


def _remaining(kwargs: Mapping[str, Any], objects: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name not in objects}


def _python_function(function: object) -> types.FunctionType:
    """The plain Python function: `function`, or the function of a jitted one.

    Raises:
        ArgumentError: It is not a Python function.
    """
    plain = function.func if isinstance(function, JitFunction) else function
    if not isinstance(plain, types.FunctionType):
        name = type_name(function)
        helps = {kind: f"write `@{kind}` above `@jit`" for kind in ("staticmethod", "classmethod", "property")}
        helps["functools.partial"] = "jit its function, and make a partial of what `jit` returns"
        helps["functools._lru_cache_wrapper"] = (
            "remove the cache: `jit` keeps programs, and computes results at each call"
        )
        helps["method"] = helps["type"] = "write `@jit` above a `def` in the class"
        raise ArgumentError(
            f"@jit takes a Python function, got {name}", help=helps.get(name, "define it with `def` or `lambda`")
        )
    return plain
