"""Binds the arguments of a call and writes its operations into the module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, ShapeError
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.frontend.tensors.creations import create
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.tensors.requested_results import activate_operands, note_layouts, relaid_out, results_of
from ttnn_jit.frontend.tensors.tensor_metadata import ttnn_equivalent
from ttnn_jit.frontend.tensors.views import note_views, strides_of_result
from ttnn_jit.frontend.tensors.writes import is_proxy, update_in_place, write_output, write_outputs
from ttnn_jit.frontend.unsupported import host_function_error, outside_tensor_help, unsupported_function
from ttnn_jit.frontend.writing.module_builder import TensorOperand
from ttnn_jit.ops import ALIASES, IN_PLACE, BoundCall, Collective, Operation, bind, overloads_of
from ttnn_jit.ops.host_ops import creation_of
from ttnn_jit.ops.language.binding import with_precision
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions, bind_options
from ttnn_jit.process.dataclass import replace
from ttnn_jit.runtime.libraries import NUMPY, TORCH
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig


def plain_name(function: Any) -> str:
    """The name of an operation without its namespace: ``ttnn.exp`` is ``exp``."""
    return str(getattr(function, "__name__", type(function).__name__)).removeprefix("ttnn.")


class Emitter(AbstractEmitter):
    """Binds the arguments of calls, and writes their operations; each frontend supplies the current location."""

    def tensor(self, made: TensorOperand, *, is_argument: bool = False) -> ProxyTensor:
        """The proxy of a tensor of the program."""
        return ProxyTensor(self, *made, is_argument=is_argument)

    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call to an object of the `ttnn` namespace.

        Raises:
            UnsupportedFunction: It is no operation, or an alias that only eager ttnn has.
            CompileError: The arguments do not fit the operation or each other.
        """
        creation = creation_of(function)
        if creation is not None:
            return create(self, creation, args, kwargs)
        if self.library in _OF_ANOTHER_LIBRARY:
            args = [ttnn_equivalent(value) for value in args]
            kwargs = {name: ttnn_equivalent(value) for name, value in kwargs.items()}
        name = plain_name(function)
        overloads = overloads_of(function) or ()
        if not overloads:
            raise host_function_error(name, self.callee_location())
        if name in ALIASES:
            raise unsupported_function(name, self.callee_location())
        own, options = self._options(name, overloads, kwargs) if kwargs else (kwargs, NO_OPTIONS)
        if name in IN_PLACE:
            return update_in_place(self, name, overloads, args, own, options)
        if options.output_tensor is not None:
            return write_output(self, overloads, args, own, options)
        if options.outputs is not None:
            return write_outputs(self, options.outputs, overloads, args, own, options)
        return self.emit(overloads, args, own, options)

    def _options(
        self, name: str, overloads: Sequence[Operation], kwargs: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], ResultOptions]:
        """The operation's own keywords, and the result options; a kernel's result keeps its operands' layout."""
        own, options = self.locate_errors(bind_options, f"ttnn.{name}", overloads, kwargs)
        for keyword in (key for key, value in kwargs.items() if isinstance(value, MemoryConfig) and key not in own):
            self.warnings[f"`{keyword}` on an operation is ignored inside a jitted function"] = None
        if options.output_tensor is not None:
            options = replace(options, output_tensor=self.operand(options.output_tensor))
        if options.outputs is not None:
            outputs = replace(options.outputs, targets=tuple(map(self.operand, options.outputs.targets)))
            self.locate_errors(outputs.check, f"ttnn.{name}", is_proxy)
            options = replace(options, outputs=outputs)
        return own, options

    def emit(
        self,
        overloads: Sequence[Operation],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: ResultOptions = NO_OPTIONS,
    ) -> Any:
        """The result of the first of `overloads` that takes these arguments, with the result `options`.

        Several results are a tuple, or a list.
        """
        args = [self.operand(value) for value in args]
        bound = self._bind(overloads, args, {name: self.operand(value) for name, value in kwargs.items()})
        options = self.locate_errors(options.resolved, f"ttnn.{bound.operation.name}", bound, is_proxy)
        if self.builder.target.numerics is Numerics.IEEE:
            bound = with_precision(bound, lambda _: None)
        location, what = self.location(), f"`{bound.operation.name}`"
        operands: Sequence[Any] = [
            self.live_operand(value, what) if isinstance(value, ProxyTensor) else value for value in bound.operands
        ]
        if bound.operation.reads_layout:
            tensors = zip(bound.operands, operands, strict=True)
            operands = [relaid_out(self, *each) if isinstance(each[0], ProxyTensor) else each[1] for each in tensors]
        operands, applied = self.locate_errors(activate_operands, self.builder, operands, location, options)
        results = self.locate_errors(
            results_of, self.builder, bound.operation, operands, bound.attributes, location, applied
        )
        proxies = tuple(ProxyTensor(self, value, spec) for value, spec in results)
        self._note_memory(bound, proxies, options)
        note_layouts(self, bound, proxies, applied)
        return bound.operation.packed(proxies)

    def exchanged(
        self,
        name: str,
        collective: Collective,
        tensors: Sequence[ProgramTensor],
        statics: tuple[Any, ...],
        cluster_axis: int | None,
    ) -> list[ProgramTensor]:
        """The results of a collective of the function `name` between the devices of the program.

        Raises:
            CompileError: The attributes do not fit the operands or the mesh.
        """
        builder, location = self.builder, self.location()
        operands = [self.live_operand(self.operand(each), f"`{name}`") for each in tensors]
        try:
            written, own = collective.in_program(builder.devices, cluster_axis, statics)
            return [self.tensor(made) for made in builder.exchanged(written, operands, own, location)]
        except (ArgumentError, ShapeError) as error:
            raise CompileError(f"{name}: {error.message}", location=location, help=error.help) from None

    def _note_memory(self, bound: BoundCall, results: Sequence[ProxyTensor], options: ResultOptions) -> None:
        """Note which results of a call are views of an operand, and the strides of the others."""
        if self.library in _OF_ANOTHER_LIBRARY:
            given = [value for value in bound.operands if isinstance(value, ProxyTensor)]
            for result in results:
                result.strides_in_elements = strides_of_result(result.spec.shape, given)
        if bound.operation.is_view and options.change_nothing:
            note_views(self, bound.operation, bound.operands[0], bound.attributes, results)

    def _bind(self, overloads: Sequence[Operation], args: Sequence[Any], kwargs: Mapping[str, Any]) -> BoundCall:
        for value in (*args, *kwargs.values()):
            if type(value) not in _PLAIN and not is_numpy_scalar(value) and (outside := outside_tensor_help(value)):
                raise CompileError(
                    f"`{overloads[0].name}` got a {type(value).__name__} that no name, attribute or item leads to",
                    location=self.location(),
                    help=outside,
                )
        return self.locate_errors(bind, overloads, args, kwargs, _dtype_of)


_PLAIN = frozenset({ProxyTensor, int, float, bool, str, type(None)})
"""Classes of most arguments; none of them is a tensor of another library."""


_OF_ANOTHER_LIBRARY = frozenset({TORCH, NUMPY})
"""Libraries with element types of their own, whose movements give views or copies, depending on the strides."""


def _dtype_of(value: Any) -> DataType | None:
    return value.spec.dtype if isinstance(value, ProxyTensor) else None
