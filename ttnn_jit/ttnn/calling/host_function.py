"""Functions of the host API: a signature is the declaration, and `@host_function` says what no signature says."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from ttnn_jit.diagnostics.errors import ArgumentError, CallError, TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_frames_of_a_call, user_location
from ttnn_jit.dispatch.observers import OBSERVERS, UNOBSERVED, is_compiled, told
from ttnn_jit.ops.host_ops import CREATES, OPS, HostOps
from ttnn_jit.ops.result_options import QUEUE_KEYWORDS
from ttnn_jit.ops.traced_calls import flat_arguments, redirect_to_program, redirect_to_trace
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.generated import define
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.hardware_config import HardwareConfig
from ttnn_jit.specs.tensor_spec import Shape
from ttnn_jit.ttnn.calling.eager_ops import EAGER
from ttnn_jit.ttnn.calling.mesh import mesh_among, on_every_device
from ttnn_jit.ttnn.calling.plain_python import call_on_copies, has_foreign_operand
from ttnn_jit.ttnn.calling.shared_parameters import OF_ANY

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

OF_A_CHIP = "chooses among ways to compute the same on a chip"
"""Why most parameters without effect have none."""

_TAKEN_AS_THEY_ARE: dict[str, frozenset[type]] = {
    "None": frozenset({type(None)}),
    "int": frozenset({int}),
    "float": frozenset({int, float}),
    "bool": frozenset({bool}),
    "str": frozenset({str}),
    "Iterable[int]": frozenset({tuple, list, Shape}),
}
"""A type of annotations -> classes of whose instances a body takes each as it is, as those of a class it names."""


_ANYTHING = frozenset({"Any", "object", "torch.Tensor"})
"""Types of annotations that leave it to the body what it takes."""


@dataclass(frozen=True, eq=False)
class HostFunction:
    """What is declared of a function of the host API.

    Attributes:
        function: Its body, with the signature; one that takes `_ops` first is written over them.
        name: As users write it, ``ttnn.experimental.dropout``.
        in_programs: Whether jitted functions may call it.
        over_meshes: Whether a call with a mesh, or a tensor of one, is that call on each of its devices.
        on_copies: Whether it takes torch tensors and numpy arrays, where a jitted function runs as plain Python.
        is_observed: Whether hooks, the tracer and graphs are told of its calls.
        aliases: Parameter -> further keywords that ttnn's versions have for it.
        no_effect: Why its calls change nothing; empty of one that is honoured.
        without_effect: Parameter -> why no result depends on it.
    """

    function: Callable[..., Any]
    name: str
    in_programs: bool = False
    over_meshes: bool = False
    on_copies: bool = False
    is_observed: bool = False
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    no_effect: str = ""
    without_effect: Mapping[str, str] = field(default_factory=dict)

    @property
    def takes_ops(self) -> bool:
        """Whether the body makes or lays out tensors itself, by a first parameter that users do not see."""
        return self.function.__code__.co_varnames[:1] == (OPS,)

    @cached_property
    def signature(self) -> inspect.Signature:
        """As users see it: with the items of a ``**keywords: Unpack[...]`` as keywords of their own."""
        own = inspect.signature(self.function)
        shown = [*own.parameters.values()][self.takes_ops :]
        return own.replace(parameters=[each for one in shown for each in self._unpacked(one)])

    def _unpacked(self, parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
        name, _, items = _text(parameter.annotation).removesuffix("]").partition("[")
        if name != "Unpack":
            yield parameter
            return
        for keyword, annotation in self.function.__globals__[items].__annotations__.items():
            text = annotation.__forward_arg__
            yield inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=text)

    @cached_property
    def parameters(self) -> tuple[Any, ...]:
        """A `HostParameter` for each parameter, read from the signature."""
        from ttnn_jit.ttnn.calling.host_parameters import HostParameter, kind_of

        return tuple(
            HostParameter(
                each.name,
                kind_of(_text(each.annotation), self.function.__module__),
                None if each.default is each.empty else each.default,
                self.aliases.get(each.name, ()),
                is_required=each.default is each.empty and each.kind not in OF_ANY,
                is_positional=each.kind not in {each.KEYWORD_ONLY, each.VAR_KEYWORD},
                takes_other_names=each.kind is each.VAR_KEYWORD,
                without_effect=self.without_effect.get(each.name, self.no_effect),
            )
            for each in self.signature.parameters.values()
        )

    @cached_property
    def taken_as_they_are(self) -> Mapping[str, frozenset[type] | None]:
        """Parameter -> the classes of whose instances its values need no binding; None: of any."""
        home = inspect.unwrap(self.function).__globals__
        found = {}
        for each in self.signature.parameters.values():
            classes = [self._classes(text, home) for text in _types(each.annotation)]
            found[each.name] = None if None in classes else frozenset[type]().union(*filter(None, classes))
        return found

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The parameters that may be several whole numbers."""
        parameters = self.signature.parameters.values()
        return tuple(each.name for each in parameters if "Sequence[int]" in _types(each.annotation))

    def _classes(self, text: str, home: Mapping[str, Any]) -> frozenset[type] | None:
        """The classes of one type of an annotation; None: every one, unless it may be that of a mesh, or foreign."""
        if text in _ANYTHING and not self.over_meshes and not self.on_copies:
            return None
        found: Any = home.get(text)
        own = isinstance(found, type) and not issubclass(found, HardwareConfig)  # whose fields are checked at the call
        return frozenset([found]) if own else _TAKEN_AS_THEY_ARE.get(text, frozenset())

    def run(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that may be one of a program, whose arguments may need binding, of which observers are told."""
        for taken in (redirect_to_trace, redirect_to_program) if self.in_programs else ():
            if (found := taken(call, args, kwargs)) is not NotImplemented:
                return found
        kwargs = self._own_keywords(args, kwargs)
        if OBSERVERS and self.is_observed:
            return told(self._dispatched, call, args, kwargs)
        return self._dispatched(*args, **kwargs)

    def over(self, ops: HostOps[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call in a program, on whose device lies what is made on none that the call names."""
        try:
            kwargs = self._own_keywords(args, kwargs)
            given = {each.name for each, _ in zip(self._positional, args, strict=False)} | kwargs.keys()
            if "device" in self._named.keys() - given and not self._named["device"].is_required:
                kwargs["device"] = None
            return self._bound(ops, *args, **kwargs)
        except BaseException as error:
            self.tell_as_called(args, kwargs, error)
            raise

    def _own_keywords(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Those of the signature, by its names."""
        if kwargs and not kwargs.keys().isdisjoint(QUEUE_KEYWORDS):
            self._take_queue(args, kwargs)
        return self.by_own_names(kwargs) if self.aliases and kwargs else kwargs

    def _take_queue(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Takes the command queue off `kwargs` that the function has no parameter for: every operation has one.

        Raises:
            ArgumentError: The device of a tensor lacks it.
        """
        values = flat_arguments([*args, *kwargs.values()])
        devices = {value.device() for value in values if isinstance(value, Tensor)}
        own = {each.name for each in self.parameters}
        for name in QUEUE_KEYWORDS:
            if name in kwargs and name not in own:
                queue = kwargs.pop(name)
                for device in filter(None, devices):
                    device.require_queue(queue, self.function.__name__)

    def by_own_names(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Keywords of a call, without aliases.

        Raises:
            ArgumentError: One parameter is given by two names.
        """
        renamed: dict[str, Any] = {}
        for name, value in kwargs.items():
            own = next((each for each, names in self.aliases.items() if name in names), name)
            if own in renamed:
                raise ArgumentError(f"{self.function.__name__} got two values for `{own}`")
            renamed[own] = value
        return renamed

    def _dispatched(self, *args: Any, **kwargs: Any) -> Any:
        """The call on copies of foreign tensors, on each device of a mesh, or as it is."""
        if self.on_copies and has_foreign_operand((*args, *kwargs.values())):
            return call_on_copies(lambda given, named: self._dispatched(*given, **named), args, kwargs)
        mesh = mesh_among((*args, *kwargs.values())) if self.over_meshes else None
        if mesh is not None:
            return on_every_device(mesh, functools.partial(self._bound, EAGER), args, kwargs)
        return self._bound(EAGER, *args, **kwargs)

    @cached_property
    def _positional(self) -> tuple[Any, ...]:
        """The parameters that a call may give by their position."""
        return tuple(each for each in self.parameters if each.is_positional)

    @cached_property
    def _named(self) -> Mapping[str, Any]:
        """Name -> its parameter."""
        return {each.name: each for each in self.parameters}

    @cached_property
    def _rest(self) -> Any:
        """The parameter of all other keywords; None if there is none."""
        return next((each for each in self.parameters if each.takes_other_names), None)

    def _bound(self, ops: HostOps[Any], *args: Any, **kwargs: Any) -> Any:
        """The call with every argument as its kind binds it; what fits no parameter, Python refuses."""
        body = functools.partial(self.function, ops) if self.takes_ops else self.function
        try:
            own, by_name = self.arguments(ops, self.function.__name__, args, kwargs)
        except ArgumentError:
            self._refuse(args, kwargs)
            raise
        if self.names_items:
            self._refuse(args, kwargs)
        return body(*own, **by_name)

    @property
    def names_items(self) -> bool:
        """Whether its ``**keywords`` are an `Unpack`, of which the body takes any."""
        return "Unpack" in str(self.function.__annotations__)

    def _refuse(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if (refusal := self._refusal(args, kwargs)) is not None:
            raise TypeError(refusal) from None

    def arguments(
        self, ops: HostOps[Any], called: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """What the body gets for the arguments of a call of `called`, by their own names.

        Raises:
            ArgumentError: A value is of another kind.
        """
        named, rest = self._named, self._rest
        own = [
            self._value(ops, called, one.name, one, value) for one, value in zip(self._positional, args, strict=False)
        ]
        by_name = {name: self._value(ops, called, name, named.get(name, rest), value) for name, value in kwargs.items()}
        return [*own, *args[len(own) :]], by_name

    def _value(self, ops: HostOps[Any], called: str, name: str, parameter: Any, value: Any) -> Any:
        """What the body gets for an argument."""
        if parameter is None:
            return value
        if value is None and name == "device":
            value = ops.device
        classes = self.taken_as_they_are[parameter.name]
        if classes is None or type(value) in classes:
            return value
        return parameter.kind.bind(value, None, f"`{name}` of {called}")

    def written(self, called: str) -> str:
        """How a call of `called` is written."""
        own = self.signature.parameters.values()
        bare = [each.replace(annotation=each.empty) for each in own if each.kind is not each.KEYWORD_ONLY]
        return f"`{called}({', '.join(map(str, bare))})`"

    def _refusal(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """What Python says of a call that lacks what the signature must have, or has more; None of others."""
        name, empty = self.function.__name__, inspect.Parameter.empty
        bare = [
            each.replace(annotation=empty, default=empty if each.default is empty else ...)
            for each in self.signature.parameters.values()
        ]
        head = inspect.Signature(bare)  # in which the default `...` is written `Ellipsis`
        try:
            define(name, [f"def {name}{head}:", "    pass"], {}, self.name)(*args, **kwargs)
        except TypeError as error:
            return str(error)
        return None

    def tell_as_called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException) -> None:
        """Has an error of a call end at the user's frame.

        Raises:
            CallError: The call is one that the function does not take; the text is Python's.
        """
        is_python = isinstance(error, TypeError) and not isinstance(error, TtnnJitError)
        refusal = self._refusal(args, kwargs) if is_python else None
        if refusal is None:
            if not is_compiled(args, kwargs):  # what compiles looks at the frames
                keep_frames_of_a_call(error)
            return
        known = ", ".join(f"`{name}`" for name in self.signature.parameters)
        help_ = f"it takes {known}" if known else "it takes nothing"
        raise CallError(refusal, location=user_location(), help=help_) from None


_MODULES = re.compile(r"\b(?:ttnn_jit|collections|typing)[\w.]*\.")


def _types(annotation: Any) -> list[str]:
    """The types that an annotation joins by ``|``."""
    return _text(annotation).split(" | ")


def _text(annotation: Any) -> str:
    """An annotation as it is written, in a file that has its annotations evaluated too."""
    return annotation if isinstance(annotation, str) else _MODULES.sub("", inspect.formatannotation(annotation))


class _OverOps(Protocol[P, T_co]):
    """A body with the first parameter that users do not see."""

    def __call__(self, _ops: HostOps[Any], *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class _Declaring(Protocol):
    """From a body to what users call."""

    @overload
    def __call__(self, function: _OverOps[P, T], /) -> Callable[P, T]: ...

    @overload
    def __call__(self, function: Callable[P, T], /) -> Callable[P, T]: ...


def host_function(  # noqa: PLR0913 - each is a fact of its own
    *,
    name: str = "",
    in_programs: bool = False,
    over_meshes: bool = False,
    on_copies: bool = False,
    observed: bool = True,
    aliases: Mapping[str, str] | None = None,
    no_effect: str = "",
    of_a_chip: str = "",
    without_effect: Mapping[str, str] | None = None,
) -> _Declaring:
    """The decorator of a function of ttnn; what its signature says is not said again.

    Args:
        name: Behind ``ttnn.``, where that is not the function's own: ``experimental.dropout``.
        in_programs: It makes tensors by a first parameter `_ops`, and operations alone: jitted functions may call it.
        over_meshes: A call with a mesh, or a tensor of one, is that call on each device.
        on_copies: It takes torch tensors and numpy arrays where a jitted function runs as plain Python.
        observed: It is one of ttnn's operations: hooks, the tracer and graphs are told of its calls.
        aliases: Parameter -> further keywords for it, in one text.
        no_effect: Why its calls change nothing.
        of_a_chip: The parameters, in one text, that choose how a chip does it, and change no result.
        without_effect: Reason -> other parameters, in one text, that are taken and change no result.
    """

    def declare(function: Callable[..., Any]) -> Any:
        by_reason = {OF_A_CHIP: of_a_chip, **(without_effect or {})}
        declared = HostFunction(
            function,
            f"ttnn.{name or function.__name__}",
            in_programs=in_programs,
            over_meshes=over_meshes,
            on_copies=on_copies,
            is_observed=observed,
            aliases={own: tuple(names.split()) for own, names in (aliases or {}).items()},
            no_effect=no_effect,
            without_effect={own: reason for reason, names in by_reason.items() for own in names.split()},
        )
        return _calling(declared)

    return declare


def _calling(declared: HostFunction) -> Callable[..., Any]:
    """What users call."""
    is_bare = not (declared.is_observed or declared.in_programs or declared.signature.parameters)
    call = declared.function if is_bare else _written_when_called(declared)
    if declared.in_programs:
        vars(call)[CREATES] = declared.over
    if declared.takes_ops or declared.names_items:
        vars(call)["__signature__"] = declared.signature
        call.__annotations__ = {name: text for name, text in call.__annotations__.items() if name != OPS}
    vars(call).update(python_fully_qualified_name=declared.name, __ttnn_host_function__=declared)
    return call


def _written_when_called(declared: HostFunction) -> Callable[..., Any]:
    """One function: its first call, and one while somebody observes, looks; others are the text of direct calls."""
    written: FunctionType | None = None

    def look(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal written
        if not OBSERVERS:
            from ttnn_jit.ttnn.calling import direct_calls

            written = written or direct_calls.write(declared, call, scope)
            call.__defaults__, call.__kwdefaults__ = written.__defaults__, written.__kwdefaults__
            call.__code__ = written.__code__
            UNOBSERVED.append(look_again)
            if OBSERVERS:  # since somebody began meanwhile, in another thread
                look_again()
            return call(*args, **kwargs)
        return declared.run(call, args, kwargs)

    def look_again() -> None:
        call.__code__ = _looking.__code__

    scope: dict[str, Any] = {"_look": look, "_declared": declared, "__name__": __name__}
    call = FunctionType(_looking.__code__, scope, declared.function.__name__)
    functools.update_wrapper(call, declared.function)
    return call


def _looking(*args: Any, **kwargs: Any) -> Any:
    """A call of a function whose globals are a scope of `_written_when_called`."""
    scope = globals()
    try:
        return scope["_look"](args, kwargs)
    except BaseException as error:
        scope["_declared"].tell_as_called(args, kwargs, error)
        raise


# --- Functions with several overloads ---------------------------------------------------------------------------------


def host_overload(**aliases: str) -> Callable[[Callable[..., Any]], HostFunction]:
    """The decorator of one overload, for `call_overload`: a declaration of its own, with these `aliases`."""
    return lambda function: HostFunction(
        function, function.__name__, aliases={own: tuple(names.split()) for own, names in aliases.items()}
    )


def call_overload(
    called: str, overloads: Sequence[HostFunction], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What the first of several overloads gives that takes the arguments of a call of `called`.

    Raises:
        ArgumentError: None does; it is told of the overload that takes most of what is given by position.
    """
    refused: list[tuple[int, ArgumentError]] = []
    for each in overloads:
        try:
            named = each.by_own_names(kwargs)
            each.signature.bind(*args, **named)
            own, by_name = each.arguments(EAGER, called, args, named)
        except ArgumentError as error:
            refused.append((_taken(each, args), error))
        except TypeError as error:
            help_ = f"it is written {' or '.join(one.written(called) for one in overloads)}"
            refused.append((_taken(each, args), ArgumentError(f"{called}: {error}", help=help_)))
        else:
            return each.function(*own, **by_name)
    raise max(refused, key=lambda one: one[0])[1].with_traceback(None)


def _taken(declared: HostFunction, args: Sequence[Any]) -> int:
    """How many arguments by position its parameters take, one after the other."""
    for count in range(len(args)):
        try:
            declared.arguments(EAGER, "", args[: count + 1], {})
        except ArgumentError:
            return count
    return len(args)


def declaration_of(function: Any) -> HostFunction | None:
    """What `@host_function` says of a function; None of every other object."""
    found = vars(function).get("__ttnn_host_function__") if isinstance(function, FunctionType) else None
    return found if isinstance(found, HostFunction) else None
