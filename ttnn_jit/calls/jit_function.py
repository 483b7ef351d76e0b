"""One call of a jitted function: key, guards, the program from memory; on a miss the disk, then a compile."""

from __future__ import annotations

import functools
import inspect
import operator
import types
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ttnn_jit.cache import statistics
from ttnn_jit.diagnostics.changing_numbers import ChangingNumbers
from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.diagnostics.tracebacks import keep_users_frames, level_of_the_user, raises_for_the_user
from ttnn_jit.dispatch.arguments import (
    Family,
    Placement,
    argument_key,
    check_config_rules,
    check_max_grid,
    check_target_rules,
    is_tensor,
    is_traced,
    map_tensors,
    placement,
    spec_of,
    tensors_in,
    without_tensor,
)
from ttnn_jit.dispatch.results import runner_for, warm_runner_for
from ttnn_jit.dispatch.warm_path import OWN_NAMES, WarmCall, WarmCalls, call_method
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.foreign.pytrees import flatten, leaves
from ttnn_jit.guards.reads import Opaque, compile_guard, guard_text
from ttnn_jit.guards.receiver import RECEIVER, bound_to, follow_original, reads_of_original
from ttnn_jit.process.compile_lock import compiles, compiling
from ttnn_jit.runtime.program import Program
from ttnn_jit.runtime.warm_caller import STALE
from ttnn_jit.specs.options import USER_PASSES, CompileOptions
from ttnn_jit.specs.target import PRESETS, SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttnn.mesh import mesh_of, on_every_device
from ttnn_jit.ttnn.plain_python import as_callers_kind, foreign_operands

if TYPE_CHECKING:
    from ttnn_jit.compiler.driver import Compilation, Request
    from ttnn_jit.compiler.report import Report

VARIANTS_PER_KEY = 8  # programs kept for one key while globals or closures switch between values


@dataclass(frozen=True)
class Variant:
    """A program, and the guard that says whether it still is the program of the function.

    Attributes:
        guard: False once anything that the compile read has changed.
        program: The program.
        structure: None for one result, else a nest of tuples, lists and dicts with result indices as leaves.
        run: From the call's tensors to what the function returns.
        write_warm: Makes `warm`: at the second call, so that the first does not pay for it.
    """

    guard: Callable[[], bool]
    program: Program
    structure: Any
    run: Callable[..., Any]
    write_warm: Callable[[], WarmCall | None]

    @property
    def warm(self) -> WarmCall | None:
        """Guard and run in one, for a call whose metadata were compared; None where there is no such function."""
        # No cached_property: its lock, until Python 3.12 one for all objects, would be held in a forked child for ever.
        if "warm" not in vars(self):
            with compiling():
                vars(self)["warm"] = self.write_warm()
        written: WarmCall | None = vars(self)["warm"]
        return written


class JitFunction(WarmCalls):
    """A function that compiles at its first call, and runs native code while its arguments' metadata repeat.

    Attributes:
        func: The function as it was written.
        fallback_used: Whether the last call ran the plain function instead; only with ``fallback=True``.
    """

    fallback_used = False

    def __new__(cls, function: Callable[..., Any] | JitFunction, *_: Any, **__: Any) -> JitFunction:
        """An object of the subclass whose ``__call__`` has the function's number of parameters.

        Raises:
            ArgumentError: It is no Python function.
        """
        signature = inspect.signature(_python_function(function))
        return object.__new__(_of_parameters(_plain_parameters(signature), cls))

    def __init__(
        self,
        function: Callable[..., Any] | JitFunction,
        options: CompileOptions,
        *,
        target: SystemDesc | None,
        enable_cache: bool,
        debug: bool,
        compile_only: bool,
    ) -> None:
        plain = _python_function(function)
        functools.update_wrapper(self, plain)
        self.func = plain
        self.__ttnn_jit_wrapped__ = plain
        self._options = options
        self._target = target
        self._enable_cache = enable_cache
        self._debug = debug
        self._compile_only = compile_only
        self._read_signature()
        super().__init__(self._positional)
        self._entries: dict[object, tuple[Variant, ...]] = {}
        self._scalars = ChangingNumbers(self.func.__name__)
        self._opaque_programs = 0
        self._is_method = False
        self._methods: dict[int, tuple[weakref.ref[Any], JitFunction]] = {}
        if not hasattr(plain, RECEIVER):  # or its method counts and clears it
            statistics.register(self)

    def __reduce__(self) -> str:
        """Copied and pickled as functions are: as themselves, by their global name."""
        return self.func.__qualname__

    @property
    def num_entries(self) -> int:
        """Programs in this function's memory cache; a method's are those of all instances."""
        own = sum(len(variants) for variants in tuple(self._entries.values()))
        return own + sum(method.num_entries for _, method in tuple(self._methods.values()))

    def clear(self) -> None:
        """Forget every program."""
        with compiling():
            self._entries.clear()
            self._methods.clear()
            self._forget()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function on these arguments; compile it first if their metadata is new.

        The subclass of `__new__` has the shortcut of `ttnn_jit.dispatch.warm_path` before this.

        Raises:
            ArgumentError: The arguments break a rule, or do not fit the signature; nothing was compiled.
            CompileError: The function is outside the language; the text points into its source.
        """
        try:
            return self._call_any(args, kwargs)
        except TtnnJitError as error:
            keep_users_frames(error)
            raise

    def _call_any(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call for which `ttnn_jit.dispatch.warm_path` finds nothing, or nothing yet."""
        if self._has_receiver(args):
            return self._method_of(args[0])(*args[1:], **kwargs)
        self._check_nests(args, kwargs)
        mesh = mesh_of((args, kwargs))
        if mesh is not None:
            return on_every_device(mesh, self, args, kwargs)
        if is_traced((args, kwargs)):
            return self._plain(*args, **kwargs)  # traced from another function: inlined there
        self._see_changes()
        values = args if not kwargs and len(args) == self._positional else self._bind(args, kwargs)
        tensors = list(tensors_in(values))
        where = self._placement(tensors, values)
        key = (id(where.target), *map(argument_key, values), *self._user_passes())
        variant = self._find(key)
        if variant is None:
            variant = self._miss(key, values, where)
        elif not (self._compile_only or self._debug or self._user_passes()) and variant.warm is not None:
            given = [i < len(args) or name in kwargs for i, name in enumerate(self._signature.parameters)]
            self._remember(variant.warm, key, values, given, tensors)
        return variant.program if self._compile_only else variant.run(*tensors)

    def _check_nests(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        names = tuple(self._signature.parameters)
        for place, value in enumerate(args):
            flatten(value, f"`{names[place]}`" if place < len(names) else f"argument {place}")
        for name, value in kwargs.items():
            flatten(value, f"`{name}`")

    def _user_passes(self) -> tuple[object, ...]:
        """What the options' names of passes stand for now."""
        return tuple(USER_PASSES.values()) if self._options.extra_pipeline_options else ()

    def _find(self, key: object) -> Variant | None:
        for variant in self._entries.get(key, ()):
            if variant.guard():
                statistics.count_memory_hit()
                return variant
        return None

    def _read_signature(self) -> None:
        self._written = _written(self.func)
        self._signature = inspect.signature(self.func)
        self._positional = _plain_positional_count(self._signature)

    def _see_changes(self) -> None:
        """Python lets a function's code and defaults be replaced.

        Raises:
            ArgumentError: The parameters are others now; Python has put the keywords of this call where the old ones
                were.
        """
        follow_original(self.func)
        written = _written(self.func)
        if len(written) == len(self._written) and all(map(operator.is_, self._written, written)):
            return
        before = _parameters(self._signature)
        if _parameters(inspect.signature(self.func)) != before:
            raise ArgumentError(
                f"{self.func.__name__} was given other parameters after it was jitted: {inspect.signature(self.func)}",
                help="jit it again",
            )
        self._read_signature()

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(
                f"Invalid arguments for function {self.func.__name__}: {error}",
                help=f"it is called as {self.func.__name__}{self._signature}",
            ) from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    @compiles
    def _miss(self, key: object, values: tuple[Any, ...], where: Placement) -> Variant:
        found = self._find(key)
        if found is not None:
            return found
        check_max_grid(self._options.max_grid, where.target)
        if self._options.memory_config is not None and where.family is Family.TTNN:
            check_config_rules("memory_config of the decorator", self._options.memory_config, where.target)
        request = self._request(values, where)
        named = ((name, leaf) for name, argument in request.arguments.items() for leaf in leaves(argument))
        for name, leaf in named:
            if isinstance(leaf, TensorSpec):
                check_target_rules(name, leaf, where.target)
        compilation = self._compile(request)
        variant = self._variant(compilation, where)
        self._entries[key] = (variant, *self._entries.get(key, ()))[:VARIANTS_PER_KEY]
        self._count_scalars(values)
        return variant

    def _variant(self, compilation: Compilation, where: Placement) -> Variant:
        program, structure = compilation.program, compilation.structure
        runner = runner_for(where.family, program, structure)
        if self._debug:
            from ttnn_jit.compiler.inspection import printing_runs

            runner = printing_runs(program, runner)
        reads = (*reads_of_original(self.func), *compilation.reads)
        if compilation.opaque is not None:
            self._count_opaque(compilation.opaque)
            return Variant(lambda: False, program, structure, runner, lambda: None)

        def warm() -> WarmCall | None:
            return warm_runner_for(where, program, structure, guard_text(self.func, reads))

        return Variant(compile_guard(self.func, reads), program, structure, runner, warm)

    def _count_opaque(self, opaque: Opaque) -> None:
        """Warn, the second time, of a program that serves one call only."""
        self._opaque_programs += 1
        if self._opaque_programs == 2:
            place = "" if opaque.location is None else f" at {opaque.location}"
            warnings.warn(
                f"{self.func.__name__} is compiled at every call, because a change of what it reads{place} could not "
                f"be seen: {opaque.what}; compute it before the call and pass the value as an argument",
                stacklevel=level_of_the_user(),
            )

    def _compile(self, request: Request) -> Compilation:
        from ttnn_jit.compiler import driver, inspection

        with foreign_operands(None):
            compilation = driver.compile_function(
                request,
                use_disk=self._enable_cache and not (self._debug or self._compile_only),
                observer=inspection.print_stage if self._debug else None,
                keep_texts=self._compile_only,
            )
        for text in compilation.warnings:
            warnings.warn(text, stacklevel=level_of_the_user())
        if self._compile_only:
            inspection.write_dump(compilation.program, self.func.__name__, self._options.backend)
        return compilation

    def _count_scalars(self, values: tuple[Any, ...]) -> None:
        for name, value in zip(self._signature.parameters, values, strict=True):
            if type(value) in {int, float} or is_numpy_scalar(value):
                self._scalars.count(f"`{name}`", argument_key(value))

    def _request(self, values: tuple[Any, ...], where: Placement) -> Request:
        from ttnn_jit.compiler import driver

        named = dict(zip(self._signature.parameters, values, strict=True))
        arguments = {name: map_tensors(value, spec_of) for name, value in named.items()}
        return driver.Request(self.func, arguments, where.target, self._options)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        self._is_method = True
        return self if instance is None else types.MethodType(self, instance)

    def _has_receiver(self, args: Sequence[Any]) -> bool:
        """Whether the first argument is what a method was looked up on: an instance, or the class of a classmethod.

        A tensor is none: one function may stand in a class and by itself.
        """
        if not args or is_tensor(args[0]):
            return False
        return self._is_method or isinstance(args[0], type)

    def _plain(self, *args: Any, **kwargs: Any) -> Any:
        """The function as it was written."""
        receiver = getattr(self.func, RECEIVER, None)
        return self.func(*args, **kwargs) if receiver is None else self.func(receiver.instance, *args, **kwargs)

    def _method_of(self, instance: Any) -> JitFunction:
        """The function of the other parameters, for this instance: what it reads of it is guarded, not part of keys."""
        key = id(instance)
        found = self._methods.get(key)
        if found is not None and found[0]() is instance:
            return found[1]
        try:
            reference = weakref.ref(instance, lambda _: self._methods.pop(key, None))
        except TypeError:
            raise ArgumentError(
                f"a method of {type(instance).__name__} cannot be compiled: its objects cannot be weakly referenced",
                help="add '__weakref__' to its `__slots__`, or `weakref_slot=True` to a dataclass",
            ) from None
        kind = FallbackJitFunction if isinstance(self, FallbackJitFunction) else JitFunction
        method = kind(
            bound_to(self.func, reference),
            self._options,
            target=self._target,
            enable_cache=self._enable_cache,
            debug=self._debug,
            compile_only=self._compile_only,
        )
        self._methods[key] = reference, method
        if self._positional > 1:
            self._warm_foreign[type(instance)] = self._warm_method
        return method

    def _warm_method(self, instance: Any, *args: Any) -> Any:
        """The `WarmCall` of a method: the instance's own function, which has a short way of its own."""
        found = self._methods.get(id(instance))
        return STALE if found is None or found[0]() is not instance else found[1](*args)

    def request(self, *args: Any, **kwargs: Any) -> Request:
        """What a call with these arguments would compile."""
        if self._has_receiver(args):
            return self._method_of(args[0]).request(*args[1:], **kwargs)
        self._check_nests(args, kwargs)
        self._see_changes()
        values = self._bind(args, kwargs)
        return self._request(values, self._placement(list(tensors_in(values)), values))

    def _placement(self, tensors: list[Any], values: Sequence[Any]) -> Placement:
        if not tensors:
            raise without_tensor(self.func.__name__, dict(zip(self._signature.parameters, values, strict=True)))
        return placement(tensors, self._target, PRESETS["cpu"])

    @raises_for_the_user
    def ir(self, *args: Any, stage: str = "frontend", **kwargs: Any) -> str:
        """The text after `stage`, without running: one that ``ttnn-jit opt --list`` names, ``codegen`` or ``assembly``.

        Raises:
            ArgumentError: No stage has that name.
        """
        from ttnn_jit.compiler import inspection

        return inspection.stage_text(self.request(*args, **kwargs), stage)

    @raises_for_the_user
    def explain(self, *args: Any, **kwargs: Any) -> Report:
        """What was fused, at which DST cost, and why the rest was not; ``str()`` of it reads well."""
        from ttnn_jit.compiler import inspection

        return inspection.explain(self.request(*args, **kwargs))

    def __repr__(self) -> str:
        hashes = [variant.program.hash[:8] for variants in tuple(self._entries.values()) for variant in variants]
        kept = f"programs {', '.join(hashes)}" if hashes else f"{self.num_entries} programs"
        return f"<JitFunction {self.func.__qualname__}, {kept}>"


_Parameters: TypeAlias = tuple[tuple[str, ...], int]
"""Names of parameters, and how many of them, from the first on, take no keyword."""

_CLASSES: dict[tuple[_Parameters | None, type], type[JitFunction]] = {}


def _of_parameters(parameters: _Parameters | None, base: type[JitFunction]) -> type[JitFunction]:
    """The class of functions of such parameters, made once."""
    key = parameters, base
    return _CLASSES.get(key) or _CLASSES.setdefault(key, _with_shortcut(parameters, base))


def _with_shortcut(parameters: _Parameters | None, base: type[JitFunction]) -> type[JitFunction]:
    """`base` with the shortcut for calls of functions of these `parameters`, where there can be one.

    What a subclass does around a call of `JitFunction` it does around the shortcut.
    """
    if not parameters or not parameters[0]:
        return base
    method = call_method(*parameters)
    method.__doc__ = JitFunction.__call__.__doc__
    shortcut = type("JitFunction", (JitFunction,), {"__call__": method, "__module__": __name__})
    return shortcut if base is JitFunction else type(base.__name__, (base, shortcut), {"__module__": __name__})


class FallbackJitFunction(JitFunction):
    """A jitted function that runs as plain Python where it cannot be compiled or run, and says so once.

    ttnn's operations take the torch tensors and numpy arrays of such a call as they are.
    """

    _warned = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it compiled, else as it was written, with a warning the first time.

        Raises:
            Exception: What the plain function raises, where the compiled one fails.
        """
        self.fallback_used = False
        try:
            return super().__call__(*args, **kwargs)
        except TtnnJitError as error:
            self.fallback_used = True
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"{self.func.__name__} runs as plain Python: {error.message}", stacklevel=level_of_the_user()
                )
        try:
            with foreign_operands(self._target or PRESETS["cpu"]):
                result = self._plain(*args, **kwargs)
            return as_callers_kind(result, (args, kwargs))
        except TtnnJitError as error:
            keep_users_frames(error)
            raise


def _python_function(function: object) -> types.FunctionType:
    """The function that was written: a jitted one may be jitted again.

    Raises:
        ArgumentError: It is no function of Python's.
    """
    plain = function.func if isinstance(function, JitFunction) else function
    if not isinstance(plain, types.FunctionType):
        name = type_name(function)
        ways = {kind: f"write `@{kind}` above `@jit`" for kind in ("staticmethod", "classmethod", "property")}
        ways["functools.partial"] = "jit its function, and make a partial of what `jit` returns"
        ways["functools._lru_cache_wrapper"] = (
            "leave the cache away: `jit` keeps programs, and results are new each time"
        )
        ways["method"] = ways["type"] = "write `@jit` above a `def` in the class"
        raise ArgumentError(
            f"@jit takes a Python function, got {name}", help=ways.get(name, "define it with `def` or `lambda`")
        )
    return plain


def _written(function: types.FunctionType) -> tuple[object, ...]:
    """The parts of a function that its signature is made of."""
    keywords = function.__kwdefaults__ or {}
    return function.__code__, function.__defaults__, *keywords, *keywords.values()


def _parameters(signature: inspect.Signature) -> list[tuple[str, object]]:
    return [(name, parameter.kind) for name, parameter in signature.parameters.items()]


def _plain_parameters(signature: inspect.Signature) -> _Parameters | None:
    """The parameters of a function all of whose arguments have a place; None if there are others."""
    kinds = [kind for _, kind in _parameters(signature)]
    if not {*kinds} <= {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}:
        return None
    if any(name.startswith(OWN_NAMES) for name in signature.parameters):
        return None
    return tuple(signature.parameters), kinds.count(inspect.Parameter.POSITIONAL_ONLY)


def _plain_positional_count(signature: inspect.Signature) -> int:
    """How many arguments a call by position alone has, -1 where binding must go through the signature."""
    parameters = _plain_parameters(signature)
    return -1 if parameters is None else len(parameters[0])
