"""The callable objects of the `ttnn` namespace: ``ttnn.exp(x)`` is a one-op program through the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache import statistics
from ttnn_jit.diagnostics.changing_arguments import ChangingArguments
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError, UnsupportedFunction
from ttnn_jit.dispatch.lru_programs import Key, LruPrograms
from ttnn_jit.dispatch.warm_calls import WarmCalls
from ttnn_jit.foreign.pytrees import flatten, leaves, map_leaves
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.foreign.values import atom_key
from ttnn_jit.ops import BoundCall, Operation, bind
from ttnn_jit.ops.host_ops import interpreted_in_programs
from ttnn_jit.ops.language.parameter import OUTPUT, OUTPUT_OF_SEVERAL
from ttnn_jit.ops.result_options import (
    NO_OPTIONS,
    OUTPUT_KEYWORDS,
    PER_RESULT_KINDS,
    Outputs,
    ResultOptions,
    bind_options,
    option_of,
)
from ttnn_jit.ops.traced_calls import redirect_to_program, traceable
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.compile_lock import compiles
from ttnn_jit.runtime.device import ONE_DEVICE_HELP, Device, implicit_cpu_device
from ttnn_jit.runtime.libraries import TTNN, tensor_library_of
from ttnn_jit.runtime.tensors.tensor import (
    Tensor,
    check_tensor,
    elements_of,
    foreign_tensor_help,
    specs_of,
    stored_as,
    write_elements,
)
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.mutable_values import frozen
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, TensorSpec
from ttnn_jit.ttnn.calling.eager_documentation import documentation
from ttnn_jit.ttnn.calling.eager_precision import with_eager_precision
from ttnn_jit.ttnn.calling.eager_warm_calls import allows_warm_calls, make_warm_call, view_call
from ttnn_jit.ttnn.calling.foreign_operands import call_with_copies, foreign_view, has_foreign_operand, is_foreign
from ttnn_jit.ttnn.calling.numbers_in_tensors import with_numbers_in_tensors

if TYPE_CHECKING:
    import inspect

    from ttnn_jit.compiler.templates_on_demand import TemplatesOnDemand
    from ttnn_jit.runtime.programs.program import Program
    from ttnn_jit.specs.target import SystemDesc
    from ttnn_jit.ttnn.calling.golden_calls import GoldenCall


class _Signature:
    """The attribute ``__signature__`` of operations, computed on access; their class has none."""

    def __get__(self, operation: TtnnOperation | None, owner: type) -> inspect.Signature:
        from ttnn_jit.ops.signature import signature_of

        if operation is None:
            raise AttributeError("__signature__")
        return signature_of(tuple(operation.__ttnn_overloads__))


@traceable
class TtnnOperation(WarmCalls):
    """A function of the namespace. Calls run eagerly, unless an argument is a tracer.

    An alias (``ttnn.swish``) is a separate object with its own name, since `@jit` refuses it under that name. A second
    name of one function in ttnn (``ttnn.mul``) is the same object here too.

    Tensors must be on one device. The result has the memory config, dtype and layout of the first tensor. Programs are
    cached by the metadata of the arguments, never by their data.
    """

    __signature__ = _Signature()

    def __init__(self, name: str, overloads: tuple[Operation, ...]) -> None:
        super().__init__()
        self.__name__ = self.__qualname__ = f"ttnn.{name}"
        self.__module__ = "ttnn.decorators"
        self.python_fully_qualified_name = self.__name__
        self.__ttnn_overloads__: Iterable[Operation] = overloads
        self.__doc__ = documentation(overloads)
        self._reset_caches()
        statistics.register(self)

    def __copy__(self) -> TtnnOperation:
        """The operation itself, as for functions."""
        return self

    def __deepcopy__(self, _: object) -> TtnnOperation:
        return self

    @property
    def num_entries(self) -> int:
        """Programs in this operation's memory cache."""
        return len(self._programs)

    def clear(self) -> None:
        """Drop every cached program."""
        self._reset_caches()
        self._forget()

    def _reset_caches(self) -> None:
        self._changing = ChangingArguments(self.__name__)
        self._programs: LruPrograms[Program] = LruPrograms(self._changing)
        # Views compile nothing, so evicted ones are not reported.
        self._views: LruPrograms[tuple[TensorSpec | None]] = LruPrograms(ChangingArguments(self.__name__))
        vars(self).pop("_templates", None)

    @cached_property
    def _templates(self) -> TemplatesOnDemand:
        from ttnn_jit.compiler.templates_on_demand import TemplatesOnDemand

        # An operation reads only its operands. Nobody is warned: the sizes of one operation are those of whole models.
        return TemplatesOnDemand(None, lambda compilation: compilation, lambda _: None)

    def _slow_path(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run eagerly, or record the call if an argument is a tracer.

        Raises:
            ArgumentError: The arguments do not fit the operation or each other.
            DeallocatedError: A tensor was deallocated.
        """
        args, kwargs = tuple(map(frozen, args)), {name: frozen(value) for name, value in kwargs.items()}
        if (found := redirect_to_program(self, args, kwargs)) is not NotImplemented:
            return found
        self._check_depth(args, kwargs)
        if has_foreign_operand((*args, *kwargs.values())):
            return self._call_with_copies(args, kwargs)
        return self._run(args, kwargs)

    def _call_with_copies(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result for arguments with tensors of another library."""
        overloads = self.__ttnn_overloads__
        given = {name: option_of(overloads, name) for name in kwargs}
        outputs = {name for name, each in given.items() if each and each.kind in {OUTPUT, OUTPUT_OF_SEVERAL}}
        found = call_with_copies(self._run, args, kwargs, outputs)
        own, options = bind_options(self.__name__, overloads, kwargs)
        if not any(operation.is_view for operation in overloads) or not options.change_nothing:
            return found
        bound = bind(overloads, args, own, lambda value: COMPUTE_TYPE if is_foreign(value) else None)
        return foreign_view(bound) if bound.operation.is_view else found

    def _check_depth(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        for index, value in enumerate(args):
            flatten(value, f"argument {index} of {self.__name__}")
        for name, value in kwargs.items():
            flatten(value, f"`{name}` of {self.__name__}")

    def golden_function(self, *args: Any, **kwargs: Any) -> Any:
        """The golden of a call on torch tensors, with its activations; `out` receives the result."""
        result, out = self.golden_call(args, kwargs)(), kwargs.get("out")
        if out is None:
            return result
        from ttnn_jit.ttnn.calling.golden_calls import copied_into

        return copied_into(out, result)

    def golden_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> GoldenCall:
        """The golden call on torch tensors: the declaration that is called, and its golden."""
        require_torch("golden_function", "goldens are stated in torch: `pip install torch`")
        from ttnn_jit.ttnn.calling.golden_calls import golden_call

        return golden_call(self.__name__, self.__ttnn_overloads__, self._golden_of, args, kwargs)

    def bound_call(self, args: Sequence[Any], kwargs: Mapping[str, Any], target: SystemDesc) -> BoundCall:
        """The bound call on ttnn tensors, with the precision of `target`.

        Raises:
            ArgumentError: The arguments do not fit the operation.
        """
        own, options = bind_options(self.__name__, self.__ttnn_overloads__, kwargs)
        return with_eager_precision(self._bound(args, own), target, options)

    def written_tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arguments that a call writes to: an operand that is updated in place, and tensors for results."""
        target = self._target(args, kwargs)
        outputs = leaves([value for name, value in kwargs.items() if name in OUTPUT_KEYWORDS])
        return [each for each in (target, *outputs) if each is not None]

    def _golden_of(self, operation: Operation) -> Callable[..., Any]:
        """The golden of an operation, in torch."""
        return operation.golden

    def _run(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        own, options = bind_options(self.__name__, self.__ttnn_overloads__, kwargs) if kwargs else (kwargs, NO_OPTIONS)
        if options.outputs is not None:
            return self._run_into(options.outputs, args, kwargs)
        target = self._target(args, kwargs)
        if target is not None:
            options = options.into(self.__name__, target)
        bound = self._bound(args, own)
        tensors = _tensors_of(bound)
        if _is_host_movement(bound, tensors):
            return self._run_for_host(args, kwargs, options.output_tensor)
        device = _one_device(self.__name__, tensors, bound)
        for queue in options.queues:
            device.require_queue(queue, self.__name__)
        bound, options = self._resolved(bound, options, target, device)
        return self._run_on(device, bound, options, args, kwargs)

    def program_of(self, *args: Any, **kwargs: Any) -> Program:
        """The program of a call on device tensors, compiled if it is new; a caller of many equal calls keeps it.

        Raises:
            ArgumentError: The arguments do not fit the operation.
        """
        own, options = bind_options(self.__name__, self.__ttnn_overloads__, kwargs)
        bound = self._bound(args, own)
        device = _one_device(self.__name__, _tensors_of(bound), bound)
        bound, options = self._resolved(bound, options, None, device)
        key = (device.target, bound.operation, options.key, *bound.key(specs_of(bound.operands)))
        return self._programs.get(key) or self._compile(key, bound, device, options)

    def _run_into(self, outputs: Outputs, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        outputs.check(self.__name__, _is_tensor)
        named = {name: option_of(self.__ttnn_overloads__, name) for name in kwargs}
        others = {
            name: kwargs[name] for name, each in named.items() if each is None or each.kind not in PER_RESULT_KINDS
        }
        return outputs.selected(self.__name__, self._run(args, others), partial(_checked_write, self.__name__))

    def _resolved(
        self, bound: BoundCall, options: ResultOptions, target: Tensor | None, device: Device
    ) -> tuple[BoundCall, ResultOptions]:
        """The call with its precision, and the complete result options."""
        if device.recorder is None:  # a trace keeps the numbers that it was captured with
            bound = with_numbers_in_tensors(bound, device)
        if not options.change_nothing:
            if options.output_tensor is not None:
                _check_device(self.__name__, options.output_tensor, device)
            options = options.resolved(self.__name__, bound, _is_tensor)
        bound = with_eager_precision(bound, device.target, options)
        return bound, replace(options, in_place=True) if _is_unaliased(target, bound) else options

    def _run_on(
        self,
        device: Device,
        bound: BoundCall,
        options: ResultOptions,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        key = (device.target, bound.operation, options.key, *bound.key(specs_of(bound.operands)))
        tensors = _tensors_of(bound)
        if options.change_nothing and bound.operation.is_view and (view := self._view(key, bound)):
            (tensor,) = tensors
            self._remember_call(partial(view_call, tensor.spec, view, device.target), args, kwargs, tensors)
            return Tensor(view, device, tensor.memory(self.__name__))
        runs_now = device.recorder is None  # otherwise elements are known only at replay
        program = self._programs.get(key)
        output = None if options.in_place else options.output_tensor
        if program is not None and runs_now and output is None and allows_warm_calls(program, bound.operation, options):
            write = partial(make_warm_call, bound.operation, program, device.target)
            self._remember_call(write, args, kwargs, tensors)
        if options.output_tensor is not None:
            self._check_output(options.output_tensor, program, bound, options)
        program = program or self._compile(key, bound, device, options)  # refuses unsupported dtypes
        if bound.operation.check is not None and runs_now:
            _check_elements(self.__name__, bound)
        if output is not None:
            return program.run_into(output, *tensors)
        result = program(*tensors)
        return bound.operation.packed(result if isinstance(result, tuple) else (result,))

    def _check_output(self, output: Tensor, program: Program | None, bound: BoundCall, options: ResultOptions) -> None:
        """Refuse an `output_tensor` that is deallocated, or whose spec is not that of the result."""
        output.memory(self.__name__)
        if program is None:
            (by_rule,) = bound.operation.results(specs_of(bound.operands), bound.attributes)
            expected = by_rule.with_(dtype=options.dtype, memory_config=options.memory_config)
        else:
            expected = program.plan.outputs[0]
        if output.spec is not expected:
            raise ShapeError(f"{self.__name__} has a result of {expected}, and writes into a tensor of {output.spec}")

    def _run_for_host(self, args: Sequence[Any], kwargs: Mapping[str, Any], output: Tensor | None) -> Any:
        """Run a movement of host tensors, whose result is on the host, as in ttnn."""
        device = implicit_cpu_device()
        if output is not None and output.device() is not None:
            raise ArgumentError(
                f"{self.__name__}: `output_tensor` is on {output.device()}, the operands on the host",
                help="move these to it: `tensor.to(device)`",
            )
        on_device = map_leaves(
            (tuple(args), dict(kwargs)), lambda leaf: leaf.to(device) if isinstance(leaf, Tensor) else leaf
        )
        result = self._run(*on_device)
        if output is None:
            return map_leaves(result, partial(_on_host, self.__name__))
        write_elements(result, output, self.__name__)
        return output

    def _bound(self, args: Sequence[Any], own: Mapping[str, Any]) -> BoundCall:
        try:
            return bind(self.__ttnn_overloads__, args, own, _dtype_of)
        except ArgumentError as error:
            foreign = (foreign_tensor_help(value) for value in (*args, *own.values()))
            raise ArgumentError(error.message, help=next(filter(None, foreign), error.help)) from None

    def _view(self, key: Key, bound: BoundCall) -> TensorSpec | None:
        """The spec of the result if it is a view of its operand's memory, else None."""
        known = self._views.get(key)
        if known is None:
            from ttnn_jit.ops.movement.view_rules import is_view_on_device, view_chains

            (operand,) = specs_of(bound.operands)
            assert isinstance(operand, TensorSpec), "it is a movement of one tensor"
            chains = view_chains(bound.operation, operand, bound.attributes)
            results = bound.operation.results([operand], bound.attributes)
            known = (results[0] if all(is_view_on_device(operand, chain) for chain in chains) else None,)
            self._views.put(key, known, self._forget)
        return known[0]

    def _target(self, _args: Sequence[Any], _kwargs: Mapping[str, Any]) -> Tensor | None:
        """The operand that the operation updates in place; None if the result is a new tensor."""
        return None

    @compiles
    def _compile(self, key: Key, bound: BoundCall, device: Device, options: ResultOptions) -> Program:
        from ttnn_jit.compiler.request import OperationRequest

        options = replace(options, output_tensor=None)  # the program fits any tensor of the same spec
        request = OperationRequest(bound.operation, specs_of(bound.operands), bound.attributes, device.target, options)
        parts = (device.target, bound.operation, *bound.key_without_sizes(request.operands))
        family = (options.key_without_sizes, *parts)
        compilation = self._templates.compilation(family, request, _no_hidden_inputs, use_disk=True).compilation
        program = compilation.program
        if not compilation.by_template:
            self._count_compiled(bound)
        self._programs.put(key, program, self._forget, warns=not compilation.by_template)
        return program

    def _count_compiled(self, bound: BoundCall) -> None:
        """Count the values that were compiled for: a warning suggests a tensor for an operand that keeps changing."""
        for parameter, value, part in bound.keys(specs_of(bound.operands)):
            if parameter.is_operand and isinstance(value, (int, float)):
                self._changing.count_number(f"`{parameter.name}`", atom_key(value))
            else:
                self._changing.count(f"`{parameter.name}`", part)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def _no_hidden_inputs(_: object) -> tuple[()]:
    return ()


def function_of(operation: Operation) -> Callable[..., Tensor]:
    """The eager function of an operation with one result, under the operation's name."""
    return TtnnOperation(operation.name, (operation,))


class InPlaceOperation(TtnnOperation):
    """An operation that updates an operand in place, and returns it."""

    def _call_with_copies(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        result, target = super()._call_with_copies(args, kwargs), self._written_argument(args, kwargs)
        library = tensor_library_of(target)
        if library is not None and result is not target:
            library.write(target, result)
        return target

    def _target(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
        target = self._written_argument(args, kwargs)
        check_tensor(target, f"{self.__name__}: the operand that it writes into")
        return target  # type: ignore[no-any-return]  # as was checked

    def _written_argument(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        (operation, *_) = self.__ttnn_overloads__
        return operation.written_argument(args, kwargs)


def _tensors_of(bound: BoundCall) -> tuple[Tensor, ...]:
    return tuple(value for value in bound.operands if isinstance(value, Tensor))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _check_device(name: str, output: Any, device: Device) -> None:
    check_tensor(output, f"{name}: `output_tensor`")
    if output.device() is not device:
        raise ArgumentError(f"{name}: `output_tensor` is not on {device}")


def _checked_write(name: str, target: Tensor, given: Tensor) -> Tensor:
    if (target.shape, target.dtype, target.device()) != (given.shape, given.dtype, given.device()):
        raise ShapeError(
            f"{name}: a tensor to write into is {target.spec} on {target.device()}, "
            f"the gradient {given.spec} on {given.device()}"
        )
    write_elements(given, target, name)
    return target


def _is_unaliased(target: Tensor | None, bound: BoundCall) -> bool:
    """Whether `target` is the operand that is written, and no other operand aliases its memory."""
    written = bound.operation.written_operand
    others = [each for index, each in enumerate(bound.operands) if index != written and isinstance(each, Tensor)]
    if target is None or bound.operands[written] is not target:
        return False
    return not any(TTNN.share_memory(target, other, target.spec, other.spec) for other in others)


def _check_elements(name: str, bound: BoundCall) -> None:
    assert bound.operation.check is not None, "the operation declares a check"
    try:
        bound.operation.check(
            *(None if each is None else elements_of(each, name) for each in bound.operands), *bound.attributes
        )
    except ShapeError as error:
        raise ShapeError(f"{name}: {error.message}", help=error.help) from None


def _dtype_of(value: Any) -> DataType | None:
    return value.dtype if isinstance(value, Tensor) else None


def _one_device(name: str, tensors: Sequence[Tensor], bound: BoundCall) -> Device:
    device = tensors[0].device()
    for tensor in tensors:
        other = tensor.device()
        if other is None:
            raise ArgumentError(
                f"{name}: {_operand_name(bound, tensor)} is on the host",
                help="move it to a device: `ttnn.from_torch(..., device=device)` or `tensor.to(device)`",
            )
        if other is not device:
            raise ArgumentError(
                f"{name}: the tensors are on different devices, {device} and {other}", help=ONE_DEVICE_HELP
            )
    assert device is not None
    return device


def _is_host_movement(bound: BoundCall, tensors: Sequence[Tensor]) -> bool:
    """Whether a call is a movement of host tensors, which ttnn supports too."""
    if any(tensor.device() is not None for tensor in tensors):
        return False
    return bound.operation.only_moves(specs_of(bound.operands), bound.attributes)


def _on_host(name: str, tensor: Tensor) -> Tensor:
    return stored_as(tensor, tensor.spec.with_(memory_config=HOST_MEMORY_CONFIG), None, name)


def _operand_name(bound: BoundCall, tensor: Tensor) -> str:
    operands, index = bound.operation.operands, [value is tensor for value in bound.operands].index(True)
    return f"element {index} of `{operands[0].name}`" if bound.operation.is_variadic else f"`{operands[index].name}`"


def get_golden_function(operation: TtnnOperation) -> Callable[..., Any]:
    """The golden of an operation, a function of torch tensors (ttnn.get_golden_function).

    Raises:
        ArgumentError: `operation` is not an operation.
    """
    if not isinstance(operation, TtnnOperation):
        raise ArgumentError(f"{operation!r} is no ttnn operation")
    return operation.golden_function


@interpreted_in_programs
def get_fallback_function(operation: TtnnOperation) -> TtnnOperation:
    """The function that runs an operation on the host (ttnn.get_fallback_function): the operation itself.

    Raises:
        ArgumentError: `operation` is not an operation.
    """
    if not isinstance(operation, TtnnOperation):
        raise ArgumentError(f"{operation!r} is no ttnn operation")
    return operation


__all__ = ["TtnnOperation", "UnsupportedFunction", "get_fallback_function", "get_golden_function"]
