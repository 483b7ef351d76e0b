"""Calls that stand for one op of a text, with results of the element types and shapes that the text says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.function_builder import FunctionOps
from ttnn_jit.dialects.text_calls.tensor_types import spec_of_element
from ttnn_jit.frontend.ir.lowered_text import Constant, Source
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.ops import TYPECAST
from ttnn_jit.ops.families.decomposition import Operand as Called
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.ops.families.text_operation import DenseNumbers, TextCall, TextOperation
from ttnn_jit.ops.language.operation import Operation as DeclaredOperation
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.ops.texts.wide_calls import WideOps
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, IEEE_HALVES, WIDE_FLOATS, DataType
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, Layout, TensorSpec


class TextBuilder(ModuleBuilder):
    """A builder without the rules of ``@jit``, whose tensors are dense rows on the host."""

    computes_wide = True

    def _in_argument_memory(self, spec: TensorSpec) -> TensorSpec:
        return spec


class ProgramOfText(Protocol):
    """The program under construction, as an op adds to it."""

    builder: TextBuilder

    def input(self, source: Source, spec: TensorSpec) -> Value:
        """A further input of the program."""


class OpsOfText(WideOps, FunctionOps):
    """The calls of one op."""

    def __init__(self, program: ProgramOfText, location: Location | None) -> None:
        super().__init__(program.builder, location)
        self._program = program

    def called(self, operation: DeclaredOperation, operands: Sequence[Called], *statics: Any) -> list[Value]:
        """The results of an operation; what has no operands lies on the host too, for a device in tiles."""
        if operation.parameters and not operation.operands:
            tiled = [Layout.TILE if isinstance(each, Layout) else each for each in statics]
            (spec,) = operation.results((), statics)
            made = self._program.builder.made(
                operation, tiled, spec.with_(memory_config=HOST_MEMORY_CONFIG), self._location
            )
            return [self.value(made)]
        return FunctionOps.results(self, operation, operands, *statics)

    def cast(self, x: Value, dtype: DataType) -> Value:
        """`x` cast as the builder rounds; block floats are packed by tiles, whatever the layout of `x`."""
        if dtype.is_block_float and x.spec.layout is not Layout.TILE:
            spec = x.spec.with_(dtype=dtype, layout=Layout.TILE)
            operands = [(x.handle, x.spec)]
            ((handle, made),) = self._program.builder.write(TYPECAST, operands, (dtype,), (spec,), self._location)
            return Value(self, made, handle)
        return FunctionOps.rounded(self, x, dtype)

    def filled_short(self, number: float, spec: TensorSpec) -> Value:
        """The result of a `full` that is appended to the function; a float64 is cast from a float32."""
        if spec.dtype not in WIDE_FLOATS:
            return FunctionOps.filled(self, number, spec)
        return self.cast(FunctionOps.filled(self, float(number), spec.with_(dtype=COMPUTE_TYPE)), spec.dtype)

    def single(self, number: float, spec: TensorSpec) -> Value:
        """An input of the program with this number."""
        return self.rebound(self._program.input(Constant(DenseNumbers(tuple(spec.shape), (number,))), spec))

    def constant(self, numbers: DenseNumbers, spec: TensorSpec) -> Value:
        """An input of the program, or a fill."""
        if numbers.splat is not None:
            return self.filled(numbers.splat, spec)
        if len(numbers.numbers) != spec.volume:
            raise ShapeError(f"{len(numbers.numbers)} numbers are no tensor of shape {list(spec.shape)}")
        return self._program.input(Constant(numbers), spec)

    def in_text(
        self,
        name: str,
        operands: Sequence[Any],
        types: Sequence[tuple[Sequence[int], str]],
        attributes: Mapping[str, Any],
    ) -> list[Value]:
        """The results of the op by its declaration."""
        operation = text_operations()[name]
        listed = [one if isinstance(one, list) else [] if one is None else [one] for one in operands]
        given = [each for one in listed for each in one]
        specs = tuple(spec_of_element(*each) for each in types)
        return computed(
            self, operation, TextCall(operation.bound(given, [*map(len, listed)], attributes), specs), given
        )

    def rebound(self, value: Value) -> Value:
        """`value` with calls at the place of this op."""
        return Value(self, value.spec, value.handle)


def check_shape(result: Value, spec: TensorSpec) -> None:
    """Refuses a result of another shape than the text says."""
    if tuple(result.spec.shape) != tuple(spec.shape):
        raise ShapeError(f"it results in {list(result.spec.shape)}, and the text says {list(spec.shape)}")


def computed(ops: WideOps, operation: TextOperation, call: TextCall, operands: Sequence[Value]) -> list[Value]:
    """The results of a call, of the element types and shapes that its text says.

    Raises:
        CompileError: The operands do not fit the operation, or results have other shapes.
    """
    widens = _is_widened(operation, [each.spec for each in operands], call.results)

    def given(value: Any) -> Any:
        if isinstance(value, list):
            return [given(each) for each in value]
        is_float = isinstance(value, Value) and not value.spec.dtype.is_integer
        return ops.rounded(value, COMPUTE_TYPE) if widens and is_float else value

    own = TextCall({name: given(value) for name, value in vars(call).items()}, call.results)
    ops.keeps_wide = _keeps_wide([each.spec for each in operands], call.results)
    found = operation.write(ops, own)
    ops.keeps_wide = False
    results = [*found] if isinstance(found, list | tuple) else [found]
    made = [ops.rounded(each, spec.dtype) for each, spec in zip(results, call.results, strict=True)]
    # A text writes the result of a product of two vectors as a tensor of one element.
    made = [
        each if each.shape else ops.reshaped(each, (1,) * len(spec.shape))
        for each, spec in zip(made, call.results, strict=True)
    ]
    for result, spec in zip(made, call.results, strict=True):
        check_shape(result, spec)
    return made


def _is_widened(operation: TextOperation, operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> bool:
    """Whether the floats of an op are computed as float32: it mixes them with narrower ones, or has several steps.

    IEEE halves always are, but where an op only moves them. Floats of 64 bits never are.
    """
    dtypes = {each.dtype for each in (*operands, *results)}
    floats = {dtype for dtype in dtypes if not dtype.is_integer}
    if floats & WIDE_FLOATS or (operation.moves and len(floats) == 1):
        return False
    widest = COMPUTE_TYPE in floats and len(floats) > 1
    return widest or bool(floats & IEEE_HALVES) or (operation.in_float32 and bool(floats))


def _keeps_wide(operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> bool:
    """Whether all floats of an op have 64 bits: no step is computed in fewer."""
    dtypes = {each.dtype for each in (*operands, *results) if not each.dtype.is_integer}
    return bool(dtypes) and dtypes <= WIDE_FLOATS
