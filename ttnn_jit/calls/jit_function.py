"""What `jit` returns: a function that is compiled for the metadata of each call, and what can be asked of it."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache import statistics
from ttnn_jit.calls.bound_functions import BoundFunctions, call_query
from ttnn_jit.calls.fast_path import with_fast_path
from ttnn_jit.calls.first_call import check_options, compile_variant, request_of
from ttnn_jit.calls.function_signature import CallSignature, plain_parameters
from ttnn_jit.calls.settings import Settings
from ttnn_jit.calls.variants import Variant, Variants
from ttnn_jit.diagnostics.changing_arguments import ChangingArguments
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.diagnostics.tracebacks import raises_for_the_user
from ttnn_jit.dispatch.arguments import Arguments, tensor_stand_ins
from ttnn_jit.dispatch.kept_programs import Key
from ttnn_jit.dispatch.placement import Placement, check_devices, placement
from ttnn_jit.dispatch.warm_calls import WarmCalls
from ttnn_jit.guards.bound_objects import call_arguments, is_bound
from ttnn_jit.ops.traced_calls import traceable
from ttnn_jit.process.compile_lock import compiles, compiling
from ttnn_jit.runtime.libraries import TTNN, TensorLibrary, WarmCall
from ttnn_jit.runtime.programs.random_state import on_device_of
from ttnn_jit.specs.options import USER_PASSES
from ttnn_jit.ttnn.calling.mesh import mesh_among, on_every_device

if TYPE_CHECKING:
    from ttnn_jit.compiler.report import Report
    from ttnn_jit.compiler.request import FunctionRequest


@traceable
class JitFunction(WarmCalls):
    """A function that compiles at its first call, and runs native code while its arguments' metadata repeat.

    The subclass of `__new__` has a ``__call__`` of its own, `ttnn_jit.calls.fast_path`, where there can be one.

    Attributes:
        func: The function as it was written.
        receiver: Gives what it was looked up on, None if it was not.
        fallback_used: Whether the last call ran the plain function instead; only with ``fallback=True``.
    """

    __slots__ = ("__dict__", "__weakref__", "receiver")

    fallback_used = False

    def __new__(cls, function: Callable[..., Any] | JitFunction, _: Settings) -> JitFunction:
        """An object of the subclass whose ``__call__`` has the function's parameters.

        Raises:
            ArgumentError: It is no Python function.
        """
        plain = plain_parameters(inspect.signature(_python_function(function)))
        made: JitFunction = object.__new__(with_fast_path(plain, cls, JitFunction))
        return made

    def __init__(self, function: Callable[..., Any] | JitFunction, settings: Settings) -> None:
        super().__init__()
        self.receiver: Callable[[], Any] = _no_receiver
        self._looked_up: dict[int, JitFunction] = {}  # by the instance that it was looked up on
        plain = _python_function(function)
        functools.update_wrapper(self, plain)
        self.func = plain
        self.__ttnn_jit_wrapped__ = plain
        self._settings = settings
        self._signature = CallSignature(plain)
        changing = ChangingArguments(plain.__name__)
        self._variants = Variants(plain.__name__, changing)
        self._bound = BoundFunctions(plain, lambda copy: JitFunction(copy, settings), changing)
        if not is_bound(plain):  # or what it was copied from counts and clears it
            statistics.register(self)

    def __reduce__(self) -> str:
        """Copied and pickled as functions are: as themselves, by their global name."""
        return self.func.__qualname__

    @property
    def python_fully_qualified_name(self) -> str:
        """What hooks and graphs call it."""
        return f"{self.func.__module__}.{self.func.__qualname__}"

    @property
    def num_entries(self) -> int:
        """Programs in this function's memory cache; a method's are those of all instances."""
        return len(self._variants) + sum(function.num_entries for function in self._bound.functions())

    @property
    def served_one_call(self) -> bool:
        """Whether no program of it was called again."""
        return self._variants.served_one_call

    def clear(self) -> None:
        """Forget every program."""
        with compiling():
            self._variants.clear()
            self._bound.clear()
            self._forget()

    # --- Calls --------------------------------------------------------------------------------------------------------

    def _slow_path(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._bound.have_receiver(args):
            return self._method_of(args[0])(*args[1:], **kwargs)
        trees, named = self._signature.flatten(args, kwargs)
        stand_ins = tensor_stand_ins(leaf for tree in (*trees, *named.values()) for leaf in tree.leaves)
        mesh = mesh_among(stand_ins)
        if mesh is not None:
            return on_every_device(mesh, self, args, kwargs)
        if stand_ins:
            return self._plain(*args, **kwargs)  # traced from another function: inlined there
        if objects := self._signature.objects(trees, named):
            return self._of_objects(objects)(*self._without(objects, args), **_left(kwargs, objects))
        self._signature.follow_changes()
        arguments = self._signature.bind(trees, named)
        where = self._placement(arguments)
        if (unheeded := where.library.unheeded(self.func.__name__)) is not None:
            self._variants.say(unheeded)
        key = (id(where.target), *arguments.key(), *self._user_passes())
        found = self._variants.find(key, arguments.tensors)
        variant, hidden = found or self._miss(key, arguments, where)
        if variant.program.plan.updates and (same := where.library.same_memory(arguments.tensors)):
            key = (*key, same)
            found = self._variants.find(key, arguments.tensors)
            variant, hidden = found or self._miss(key, arguments, where, same)
        here = on_device_of(hidden, where.library, arguments.tensors)
        check_devices(self.func.__name__, arguments.tensors, zip(variant.hidden, here, strict=True))
        is_remembered = self._is_remembered() and not where.library.records(arguments.tensors)
        if found is not None and is_remembered and (warm := variant.warm(hidden)) is not None:
            self._remember(warm, where.library, arguments, args, kwargs)
        return variant.program if self._settings.compile_only else variant.run(*arguments.tensors, *here)

    def _placement(self, arguments: Arguments) -> Placement:
        return placement(arguments, self._settings.target, self.func.__name__)

    def _user_passes(self) -> tuple[object, ...]:
        """What the options' names of passes stand for now."""
        return tuple(USER_PASSES.values()) if self._settings.options.extra_pipeline_options else ()

    def _is_remembered(self) -> bool:
        """Whether a call may go to its program without a look at anything but arguments and guards."""
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
        variant = compile_variant(request, self._settings, where)
        self._variants.add(key, variant, arguments, self._forget)
        hidden = variant.fetch(arguments.tensors) if variant.hidden else ()
        # Another thread may have changed what was read meanwhile.
        return self._miss(key, arguments, where, same) if hidden is None else (variant, hidden)

    def _remember(
        self,
        warm: WarmCall,
        library: TensorLibrary,
        arguments: Arguments,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """Have calls like this one go to `warm`, which takes tensors of `library`."""
        if library is TTNN and self._signature.has_fixed_defaults(arguments):
            self._remember_call(lambda: warm, args, kwargs, len(arguments.tensors))

    def _remember_receiver(self, kind: type, call: WarmCall) -> None:
        """Have calls of the method on instances of `kind` go to `call`."""

    def _plain(self, *args: Any, **kwargs: Any) -> Any:
        """The function as it was written."""
        if not is_bound(self.func):
            return self.func(*args, **kwargs)
        bound = inspect.signature(self.func).bind(*args, **kwargs)
        positional, named = call_arguments(self.func, bound.arguments)
        return self.func(*positional, **named)

    # --- Methods, and arguments that are objects ----------------------------------------------------------------------

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        found = self._looked_up.get(id(instance))
        if found is not None and found.receiver() is instance:
            return types.MethodType(found, instance)
        self._bound.is_method = True
        if instance is None:
            return self
        try:
            return types.MethodType(self._looked_up_on(instance), instance)
        except TypeError:  # it cannot be weakly referenced, so that a call is refused
            return types.MethodType(self, instance)

    def _looked_up_on(self, instance: Any) -> JitFunction:
        """This function, with all of its state, that knows what it was looked up on: one while `instance` lives.

        Raises:
            TypeError: It cannot be weakly referenced.
        """
        same: JitFunction = object.__new__(type(self))
        same.__dict__ = self.__dict__
        key, looked_up = id(instance), self._looked_up
        same._warm, same.receiver = self._warm, weakref.ref(instance, lambda _: looked_up.pop(key, None))
        looked_up[key] = same
        return same

    def _method_of(self, instance: Any) -> JitFunction:
        method = self._bound.of_first(instance)
        self._remember_receiver(type(instance), self._bound.call)
        return method

    def _of_objects(self, objects: Mapping[str, Any]) -> JitFunction:
        if [*objects] == [*self._signature.names[:1]]:
            return self._method_of(*objects.values())
        return self._bound.of(objects)

    def _without(self, objects: Mapping[str, Any], args: tuple[Any, ...]) -> Iterator[Any]:
        """The arguments that are positional and are none of the `objects`."""
        names = (*self._signature.names[: len(args)], *("" for _ in range(len(args) - len(self._signature.names))))
        return (value for name, value in zip(names, args, strict=True) if name not in objects)

    # --- Looking into programs ----------------------------------------------------------------------------------------

    @call_query
    def request(self, *args: Any, **kwargs: Any) -> FunctionRequest:
        """What a call with these arguments would compile."""
        if self._bound.have_receiver(args):
            return self._method_of(args[0]).request(*args[1:], **kwargs)
        trees, named = self._signature.flatten(args, kwargs)
        if objects := self._signature.objects(trees, named):
            return self._of_objects(objects).request(*self._without(objects, args), **_left(kwargs, objects))
        self._signature.follow_changes()
        arguments = self._signature.bind(trees, named)
        return request_of(self.func, self._settings, arguments, self._placement(arguments))

    @call_query
    @raises_for_the_user
    def ir(self, *args: Any, stage: str = "frontend", **kwargs: Any) -> str:
        """The text after `stage`, the last to run: one that ``ttnn-jit opt --list`` names, ``codegen`` or ``assembly``.

        Raises:
            ArgumentError: No stage has that name.
        """
        from ttnn_jit.compiler import inspection

        return inspection.stage_text(JitFunction.request(self, *args, **kwargs), stage)

    @call_query
    @raises_for_the_user
    def explain(self, *args: Any, **kwargs: Any) -> Report:
        """What was fused, at which DST cost, and why the rest was not; ``str()`` of it reads well."""
        from ttnn_jit.compiler import inspection

        return inspection.explain(JitFunction.request(self, *args, **kwargs))

    def __repr__(self) -> str:
        hashes = [program.hash[:8] for program in self._variants.programs()]
        kept = f"programs {', '.join(hashes)}" if hashes else f"{self.num_entries} programs"
        return f"<JitFunction {self.func.__qualname__}, {kept}>"


def _no_receiver() -> None:
    """What a function was looked up on that is no method."""


def _left(kwargs: Mapping[str, Any], objects: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name not in objects}


def _python_function(function: object) -> types.FunctionType:
    """The function that was written: a jitted one may be jitted again.

    Raises:
        ArgumentError: It is no function of Python's.
    """
    plain = function.func if isinstance(function, JitFunction) else function
    if not isinstance(plain, types.FunctionType):
        name = type_name(function)
        helps = {kind: f"write `@{kind}` above `@jit`" for kind in ("staticmethod", "classmethod", "property")}
        helps["functools.partial"] = "jit its function, and make a partial of what `jit` returns"
        helps["functools._lru_cache_wrapper"] = (
            "leave the cache away: `jit` keeps programs, and results are new each time"
        )
        helps["method"] = helps["type"] = "write `@jit` above a `def` in the class"
        raise ArgumentError(
            f"@jit takes a Python function, got {name}", help=helps.get(name, "define it with `def` or `lambda`")
        )
    return plain
