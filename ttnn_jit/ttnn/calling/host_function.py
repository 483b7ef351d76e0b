"""Functions of the host API: the signature is the declaration, and `@host_function` adds what no signature states."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from ttnn_jit.diagnostics.errors import ArgumentError, CallError, TtnnJitError
from ttnn_jit.diagnostics.tracebacks import keep_user_frames_of_call, user_location
from ttnn_jit.dispatch.observers import OBSERVERS, ON_FIRST_OBSERVER, call_with_observers, is_compiled
from ttnn_jit.ops.host_ops import CREATES, EXCHANGES, OPS, HostOps
from ttnn_jit.ops.result_options import QUEUE_KEYWORDS
from ttnn_jit.ops.traced_calls import flat_arguments, redirect_to_program, redirect_to_trace
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor, mesh_of_arguments, on_every_device
from ttnn_jit.runtime.native.generated import define
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.hardware_config import HardwareConfig
from ttnn_jit.specs.tensor_spec import Shape
from ttnn_jit.ttnn.calling.eager_ops import EAGER
from ttnn_jit.ttnn.calling.foreign_operands import call_with_copies, has_foreign_operand
from ttnn_jit.ttnn.calling.shared_parameters import VARIADIC

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

CHIP_ONLY = "chooses among ways to compute the same on a chip"
"""The reason why most parameters without effect have none."""

_CLASSES_WITHOUT_BINDING: dict[str, frozenset[type]] = {
    "None": frozenset({type(None)}),
    "int": frozenset({int}),
    "float": frozenset({int, float}),
    "bool": frozenset({bool}),
    "str": frozenset({str}),
    "Iterable[int]": frozenset({tuple, list, Shape}),
}
"""Type in an annotation -> the classes whose instances need no binding; a class in an annotation is its own entry."""


_ANYTHING = frozenset({"Any", "object", "torch.Tensor"})
"""Types in annotations whose values the body checks itself."""


@dataclass(frozen=True, eq=False)
class HostFunction:
    """The declaration of a host function.

    Attributes:
        function: The body, with the signature; a body that makes tensors takes `HostOps` as `_ops` first.
        name: The qualified name, ``ttnn.experimental.dropout``.
        in_programs: Whether jitted functions may call it.
        exchanges: Whether it is a collective, which takes the tensors of a mesh whole.
        over_meshes: Whether a call with a mesh, or with a tensor of one, is repeated on each of its devices.
        shares_memory: Whether results with equal elements on the devices of a mesh share memory.
        accepts_foreign: Whether it takes torch tensors and numpy arrays while a jitted function runs as plain Python.
        is_observed: Whether hooks, the tracer and graphs observe its calls.
        aliases: Parameter -> further keywords for it, from other versions of ttnn.
        no_effect: Why its calls change nothing; empty for a function with an effect.
        without_effect: Parameter -> why no result depends on it.
    """

    function: Callable[..., Any]
    name: str
    in_programs: bool = False
    exchanges: bool = False
    over_meshes: bool = False
    shares_memory: bool = False
    accepts_foreign: bool = False
    is_observed: bool = False
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    no_effect: str = ""
    without_effect: Mapping[str, str] = field(default_factory=dict)

    @property
    def takes_ops(self) -> bool:
        """Whether the body has the hidden first parameter `_ops`, by which it makes or lays out tensors."""
        return self.function.__code__.co_varnames[:1] == (OPS,)

    @cached_property
    def signature(self) -> inspect.Signature:
        """The public signature: the items of a ``**keywords: Unpack[...]`` are separate keywords."""
        own = inspect.signature(self.function)
        shown = [*own.parameters.values()][self.takes_ops :]
        return own.replace(parameters=[each for one in shown for each in self._unpacked(one)])

    def _unpacked(self, parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
        items = self.items_of(parameter)
        if not items:
            yield parameter
        for keyword, (text, _) in items.items():
            yield inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=text)

    def items_of(self, parameter: inspect.Parameter) -> Mapping[str, tuple[str, str]]:
        """Keyword -> the annotation and its module, for the items of ``**keywords: Unpack[...]``; else empty."""
        name, _, items = _annotation_text(parameter.annotation).removesuffix("]").partition("[")
        if name != "Unpack":
            return {}
        annotations = self.function.__globals__[items].__annotations__
        return {
            keyword: (each.__forward_arg__, each.__forward_module__ or self.function.__module__)
            for keyword, each in annotations.items()
        }

    @cached_property
    def parameters(self) -> tuple[Any, ...]:
        """A `HostParameter` for each parameter, read from the signature."""
        from ttnn_jit.ttnn.calling.host_parameters import HostParameter, kind_of

        homes = {
            keyword: home
            for each in inspect.signature(self.function).parameters.values()
            for keyword, (_, home) in self.items_of(each).items()
        }
        return tuple(
            HostParameter(
                each.name,
                kind_of(_annotation_text(each.annotation), homes.get(each.name, self.function.__module__)),
                None if each.default is each.empty else each.default,
                self.aliases.get(each.name, ()),
                is_required=each.default is each.empty and each.kind not in VARIADIC,
                is_positional=each.kind not in {each.KEYWORD_ONLY, each.VAR_KEYWORD},
                is_keyword_variadic=each.kind is each.VAR_KEYWORD,
                without_effect=self.without_effect.get(each.name, self.no_effect),
            )
            for each in self.signature.parameters.values()
        )

    @cached_property
    def classes_without_binding(self) -> Mapping[str, frozenset[type] | None]:
        """Parameter -> the classes whose instances need no binding; None: every class."""
        home = inspect.unwrap(self.function).__globals__
        found = {}
        for each in self.signature.parameters.values():
            classes = [self._classes(text, home) for text in _union_members(each.annotation)]
            found[each.name] = None if None in classes else frozenset[type]().union(*filter(None, classes))
        return found

    @cached_property
    def integer_sequences(self) -> tuple[str, ...]:
        """The parameters that may be sequences of integers."""
        parameters = self.signature.parameters.values()
        return tuple(each.name for each in parameters if "Sequence[int]" in _union_members(each.annotation))

    def _classes(self, text: str, home: Mapping[str, Any]) -> frozenset[type] | None:
        """The classes that one type of an annotation accepts without binding; None: every class.

        Classes of meshes and foreign tensors need the general path, hence the conditions; but collectives take tensors
        of meshes as they are.
        """
        if text in _ANYTHING and not self.over_meshes and not self.accepts_foreign:
            return None
        found: Any = home.get(text)
        if found is Tensor and self.exchanges:
            return frozenset([Tensor, MeshTensor])
        own = isinstance(found, type) and not issubclass(found, HardwareConfig)  # a config's fields need checks
        return frozenset([found]) if own else _CLASSES_WITHOUT_BINDING.get(text, frozenset())

    def run(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call in general: in a program or eagerly, with binding of arguments, and with observers."""
        for taken in (redirect_to_trace, redirect_to_program) if self.in_programs else ():
            if (found := taken(call, args, kwargs)) is not NotImplemented:
                return found
        kwargs = self._canonical_keywords(args, kwargs)
        if OBSERVERS and self.is_observed:
            return call_with_observers(self._dispatched, call, args, kwargs)
        return self._dispatched(*args, **kwargs)

    def run_in_program(self, ops: HostOps[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call in a program; tensors are made on the program's device, unless the call names one."""
        try:
            kwargs = self._canonical_keywords(args, kwargs)
            given = {each.name for each, _ in zip(self._positional, args, strict=False)} | kwargs.keys()
            if "device" in self._named.keys() - given and not self._named["device"].is_required:
                kwargs["device"] = None
            return self._bound(ops, *args, **kwargs)
        except BaseException as error:
            self.report_at_call_site(args, kwargs, error)
            raise

    def _canonical_keywords(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords under the names of the signature, without queues."""
        if kwargs and not kwargs.keys().isdisjoint(QUEUE_KEYWORDS):
            self._pop_queue(args, kwargs)
        return self.without_aliases(kwargs) if self.aliases and kwargs else kwargs

    def _pop_queue(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Remove a command queue that is no parameter from `kwargs`: ttnn accepts one for every operation.

        Raises:
            ArgumentError: The device of a tensor lacks the queue.
        """
        values = flat_arguments([*args, *kwargs.values()])
        devices = {value.device() for value in values if isinstance(value, Tensor)}
        own = {each.name for each in self.parameters}
        for name in QUEUE_KEYWORDS:
            if name in kwargs and name not in own:
                queue = kwargs.pop(name)
                for device in filter(None, devices):
                    device.require_queue(queue, self.function.__name__)

    def without_aliases(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords of a call with aliases replaced by the parameters' names.

        Raises:
            ArgumentError: A parameter is given under two names.
        """
        renamed: dict[str, Any] = {}
        for name, value in kwargs.items():
            own = next((each for each, names in self.aliases.items() if name in names), name)
            if own in renamed:
                raise ArgumentError(f"{self.function.__name__} got two values for `{own}`")
            renamed[own] = value
        return renamed

    def _dispatched(self, *args: Any, **kwargs: Any) -> Any:
        """Dispatch a call: on copies of foreign tensors, on each device of a mesh, or directly."""
        if self.accepts_foreign and has_foreign_operand((*args, *kwargs.values())):
            return call_with_copies(lambda given, named: self._dispatched(*given, **named), args, kwargs)
        mesh = mesh_of_arguments((*args, *kwargs.values())) if self.over_meshes else None
        if mesh is not None:
            return on_every_device(mesh, functools.partial(self._bound, EAGER), args, kwargs, share=self.shares_memory)
        return self._bound(EAGER, *args, **kwargs)

    @cached_property
    def _positional(self) -> tuple[Any, ...]:
        """The parameters that may be passed by position."""
        return tuple(each for each in self.parameters if each.is_positional)

    @cached_property
    def _named(self) -> Mapping[str, Any]:
        """Name -> parameter."""
        return {each.name: each for each in self.parameters}

    @cached_property
    def _variadic(self) -> Any:
        """The variadic parameter of keywords; None if there is none."""
        return next((each for each in self.parameters if each.is_keyword_variadic), None)

    def _bound(self, ops: HostOps[Any], *args: Any, **kwargs: Any) -> Any:
        """Run the body with every argument bound by its kind; Python's TypeError if the signature does not fit."""
        body = functools.partial(self.function, ops) if self.takes_ops else self.function
        try:
            own, by_name = self.arguments(ops, self.function.__name__, args, kwargs)
        except ArgumentError:
            self._check_signature(args, kwargs)
            raise
        if self.has_typed_keywords:
            self._check_signature(args, kwargs)
        return body(*own, **by_name)

    @cached_property
    def has_typed_keywords(self) -> bool:
        """Whether its ``**keywords`` have the type ``Unpack[...]``."""
        return "Unpack" in str(self.function.__annotations__)

    def _check_signature(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if (refusal := self._signature_error(args, kwargs)) is not None:
            raise TypeError(refusal) from None

    def arguments(
        self, ops: HostOps[Any], called: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The bound positional and keyword arguments of a call of `called`.

        Raises:
            ArgumentError: A value has the wrong type.
        """
        named, rest = self._named, self._variadic
        own = [
            self._value(ops, called, one.name, one, value) for one, value in zip(self._positional, args, strict=False)
        ]
        by_name = {name: self._value(ops, called, name, named.get(name, rest), value) for name, value in kwargs.items()}
        return [*own, *args[len(own) :]], by_name

    def _value(self, ops: HostOps[Any], called: str, name: str, parameter: Any, value: Any) -> Any:
        """The bound value of an argument."""
        if parameter is None:
            return value
        if value is None and name == "device":
            value = ops.device
        classes = self.classes_without_binding[parameter.name]
        if classes is None or type(value) in classes:
            return value
        return parameter.kind.bind(value, None, f"`{name}` of {called}")

    def call_text(self, called: str) -> str:
        """The text of a call of `called` with its positional parameters, for error messages."""
        own = self.signature.parameters.values()
        bare = [each.replace(annotation=each.empty) for each in own if each.kind is not each.KEYWORD_ONLY]
        return f"`{called}({', '.join(map(str, bare))})`"

    def _signature_error(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """Python's message for a call that does not fit the signature; None if it fits."""
        try:
            self._without_body(*args, **kwargs)
        except TypeError as error:
            return str(error)
        return None

    @cached_property
    def _without_body(self) -> Callable[..., None]:
        """A function with the signature, which does nothing."""
        name, empty = self.function.__name__, inspect.Parameter.empty
        bare = [
            each.replace(annotation=empty, default=empty if each.default is empty else ...)
            for each in self.signature.parameters.values()
        ]
        head = inspect.Signature(bare)  # prints the default `...` as `Ellipsis`
        made: Callable[..., None] = define(name, [f"def {name}{head}:", "    pass"], {}, self.name)
        return made

    def report_at_call_site(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException) -> None:
        """Trim the traceback of an error of a call to the user's frame.

        Raises:
            CallError: The call does not fit the signature; the text is Python's.
        """
        is_python = isinstance(error, TypeError) and not isinstance(error, TtnnJitError)
        refusal = self._signature_error(args, kwargs) if is_python else None
        if refusal is None:
            if not is_compiled(args, kwargs):  # the compiler reads the frames
                keep_user_frames_of_call(error)
            return
        raise CallError(refusal, location=user_location(), help=self._parameters_text()) from None

    def _parameters_text(self) -> str:
        """The names of the parameters, for error messages; those that are passed only by name come last."""
        parameters = self.signature.parameters.values()
        free = ", ".join(f"`{each.name}`" for each in parameters if each.kind is not each.KEYWORD_ONLY)
        by_name = ", ".join(f"`{each.name}`" for each in parameters if each.kind is each.KEYWORD_ONLY)
        texts = [*([free] if free else []), *([f"by name only {by_name}"] if by_name else [])]
        return f"it takes {'; '.join(texts) or 'nothing'}"


_MODULE_PREFIX = re.compile(r"\b(?:ttnn_jit|collections|typing)[\w.]*\.")


def _union_members(annotation: Any) -> list[str]:
    """The members of a union that is written with ``|``."""
    return _annotation_text(annotation).split(" | ")


def _annotation_text(annotation: Any) -> str:
    """The source text of an annotation, also in a file that evaluates its annotations."""
    return annotation if isinstance(annotation, str) else _MODULE_PREFIX.sub("", inspect.formatannotation(annotation))


class _BodyWithOps(Protocol[P, T_co]):
    """A body with the hidden first parameter `_ops`."""

    def __call__(self, _ops: HostOps[Any], *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class _Decorator(Protocol):
    """The type of the decorator: it maps a body to the public function."""

    @overload
    def __call__(self, function: _BodyWithOps[P, T], /) -> Callable[P, T]: ...

    @overload
    def __call__(self, function: Callable[P, T], /) -> Callable[P, T]: ...


def host_function(  # noqa: PLR0913 - each is a fact of its own
    *,
    name: str = "",
    in_programs: bool = False,
    exchanges: bool = False,
    over_meshes: bool = False,
    shares_memory: bool = False,
    accepts_foreign: bool = False,
    observed: bool = True,
    aliases: Mapping[str, str] | None = None,
    no_effect: str = "",
    chip_only: str = "",
    without_effect: Mapping[str, str] | None = None,
    golden: Callable[..., Any] | None = None,
) -> _Decorator:
    """The decorator of a host function; it declares what the signature does not state.

    Lists of names are texts with spaces between the names.

    Args:
        name: The name relative to ``ttnn``, if that is not the function's: ``experimental.dropout``.
        in_programs: Jitted functions may call it: it makes tensors only through `_ops`, and calls only operations.
        exchanges: It is a collective: jitted functions may call it, and it takes the tensors of a mesh whole.
        over_meshes: A call with a mesh, or with a tensor of one, is repeated on each device.
        shares_memory: Results with equal elements on the devices of a mesh share memory: it makes nothing else.
        accepts_foreign: It takes torch tensors and numpy arrays while a jitted function runs as plain Python.
        observed: It is one of ttnn's operations: hooks, the tracer and graphs observe its calls.
        aliases: Parameter -> further keywords for it.
        no_effect: Why its calls change nothing.
        chip_only: Parameters that only choose how a chip computes, and change no result.
        without_effect: Reason -> other parameters that are accepted and change no result.
        golden: Its ``golden_function``, of torch, if ttnn's has one.
    """

    def declare(function: Callable[..., Any]) -> Any:
        by_reason = {CHIP_ONLY: chip_only, **(without_effect or {})}
        declared = HostFunction(
            function,
            f"ttnn.{name or function.__name__}",
            in_programs=in_programs or exchanges,
            exchanges=exchanges,
            over_meshes=over_meshes,
            shares_memory=shares_memory,
            accepts_foreign=accepts_foreign,
            is_observed=observed,
            aliases={own: tuple(names.split()) for own, names in (aliases or {}).items()},
            no_effect=no_effect,
            without_effect={own: reason for reason, names in by_reason.items() for own in names.split()},
        )
        public = _public_function(declared)
        if exchanges:
            setattr(public, EXCHANGES, True)
        if golden is not None:
            vars(public)["golden_function"] = golden
        return public

    return declare


def _public_function(declared: HostFunction) -> Callable[..., Any]:
    """The public function of a declaration."""
    is_bare = not (declared.is_observed or declared.in_programs or declared.signature.parameters)
    call = declared.function if is_bare else _with_direct_call(declared)
    if declared.in_programs:
        vars(call)[CREATES] = declared.run_in_program
    if declared.takes_ops or declared.has_typed_keywords:
        vars(call)["__signature__"] = declared.signature
        call.__annotations__ = {name: text for name, text in call.__annotations__.items() if name != OPS}
    vars(call).update(python_fully_qualified_name=declared.name, __ttnn_host_function__=declared)
    return call


def _with_direct_call(declared: HostFunction) -> Callable[..., Any]:
    """A function that generates its direct call at its first call, and takes the general path while it is observed."""
    direct: FunctionType | None = None

    def dispatch(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal direct
        if not OBSERVERS:
            from ttnn_jit.ttnn.calling import direct_calls

            direct = direct or direct_calls.make_direct_call(declared, call, scope)
            call.__defaults__, call.__kwdefaults__ = direct.__defaults__, direct.__kwdefaults__
            call.__code__ = direct.__code__
            ON_FIRST_OBSERVER.append(restore)
            if OBSERVERS:  # another thread has added an observer meanwhile
                restore()
            return call(*args, **kwargs)
        return declared.run(call, args, kwargs)

    def restore() -> None:
        call.__code__ = _general_call.__code__

    scope: dict[str, Any] = {"_dispatch": dispatch, "_declared": declared, "__name__": __name__}
    call = FunctionType(_general_call.__code__, scope, declared.function.__name__)
    functools.update_wrapper(call, declared.function)
    return call


def _general_call(*args: Any, **kwargs: Any) -> Any:
    """The code of a function of `_with_direct_call` without a direct call, or while it is observed."""
    scope = globals()
    try:
        return scope["_dispatch"](args, kwargs)
    except BaseException as error:
        scope["_declared"].report_at_call_site(args, kwargs, error)
        raise


def declaration_of(function: Any) -> HostFunction | None:
    """The declaration of a host function; None for every other object."""
    found = vars(function).get("__ttnn_host_function__") if isinstance(function, FunctionType) else None
    return found if isinstance(found, HostFunction) else None
