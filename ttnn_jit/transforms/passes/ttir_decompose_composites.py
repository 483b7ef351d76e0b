"""ttir-decompose-composites: decomposes composite operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects.declared_ops import CompositeOp, MovementOp, ReductionOp
from ttnn_jit.dialects.function_builder import TTIR, FunctionBuilder, Operand, TensorOperand, specs_of
from ttnn_jit.dialects.layout import dtype_of, spec_of, tensor_type
from ttnn_jit.dialects.ttnn import HOISTED
from ttnn_jit.dialects.writing.creation import clone_with
from ttnn_jit.dialects.writing.editing import detach_all, erase, insert_before, ops_of
from ttnn_jit.ops import COPY, Elementwise, Movement, Reduction, Routine, Typecast
from ttnn_jit.ops import Operation as Declared
from ttnn_jit.ops.families.decomposition import Decomposed
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.specs.dtypes import BLOCK_FLOATS, COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, DataType, TensorSpec
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild
from ttnn_jit.transforms.kernels.pass_bases import FunctionPass
from ttnn_jit.transforms.unpacked_operands import unpack_block_floats


@dataclass(frozen=True)
class TTIRDecomposeComposites(FunctionPass):
    """Replaces every composite by the decomposition of its declaration, with float32 intermediates.

    A reduction of several dimensions becomes reductions of one dimension each, the last dimension first, with float32
    intermediates. Intermediates that are not sharded are in DRAM, since a chip streams them. Operations on block floats
    become casts and operations on unpacked elements (`ttnn_jit.transforms.unpacked_operands`).
    """

    name = "ttir-decompose-composites"

    def change(self, block: Block, target: SystemDesc) -> None:
        """Rewrites one function."""
        if any(isinstance(op, CompositeOp | ReductionOp) for op in ops_of(block)):
            block = rebuild(block, _rewrite)
        unpack_block_floats(block, target.numerics)


def _rewrite(op: Operation, values: ValueMap) -> Iterable[Operation] | None:
    if not isinstance(op, CompositeOp | ReductionOp) or (isinstance(op, ReductionOp) and _is_kept(op)):
        return None
    builder = DecompositionBuilder(op)
    operands = [None if each is None else (values[each], _as_read(spec_of(each.type))) for each in op.declared_operands]
    if isinstance(op, ReductionOp):
        results = [builder.reduced(op.operation, operands, op.statics, spec_of(op.results[0].type).dtype)]
    else:
        results = [*builder.decomposed(op.operation, operands, op.statics, None)]
    for value, result in zip(op.results, results, strict=True):
        values[value] = builder.finished(result, spec_of(value.type))
    return detach_all(builder.block)


def _as_read(spec: TensorSpec) -> TensorSpec:
    """The spec of an operand as operations read it: block floats are unpacked, and then not sharded."""
    return spec.with_(memory_config=DRAM_MEMORY_CONFIG) if spec.dtype.is_block_float else spec


def _is_kept(op: ReductionOp) -> bool:
    """Whether it reduces a single dimension of floats."""
    return len(op.axes) == 1 and not dtype_of(op.operands[0].type).is_integer


class DecompositionBuilder(FunctionBuilder):
    """Builds the ops to which `op` decomposes, with its location.

    Results are float32, except for integers and for results of movements, casts and routines.
    """

    def __init__(self, op: Operation) -> None:
        super().__init__(TTIR, "", Numerics.IEEE, None)
        self._location = op.location

    def location_attribute(self, location: Location | None) -> LocationAttr:  # noqa: ARG002 - one for all
        """The location of the decomposed op."""
        return self._location

    def results(
        self, operation: Declared, operands: Sequence[Operand], attributes: Sequence[Any], *_: Any, **__: Any
    ) -> tuple[TensorOperand, ...]:
        """The results of `operation`."""
        if isinstance(operation, Reduction):
            return (self.reduced(operation, operands, attributes, COMPUTE_TYPE),)
        specs = specs_of(operands)
        called, own = operation.canonicalized(specs, attributes)
        if isinstance(called, Decomposed):
            return self.decomposed(called, operands, own, None)
        found = operation.results(specs, attributes)
        if not (found[0].dtype.is_integer or isinstance(operation, Movement | Routine | Typecast)):
            found = tuple(each.with_(dtype=COMPUTE_TYPE) for each in found)
        return self._write(called, own, operands, *map(streamed, found))

    def filled(self, number: float, spec: TensorSpec, location: Location | None) -> TensorOperand:
        """A tensor filled with one number, float32 unless it is an integer."""
        if not spec.dtype.is_integer:
            number, spec = as_float32(number), spec.with_(dtype=COMPUTE_TYPE)
        return super().filled(number, streamed(spec), location)

    def reduced(
        self, operation: Reduction, operands: Sequence[Operand], statics: Sequence[Any], dtype: DataType
    ) -> TensorOperand:
        """The result of a reduction over any dimensions, as reductions of one dimension each."""
        (tensor,) = (each for each in operands if isinstance(each, tuple))
        _, (axes, keepdim) = operation.canonicalized([tensor[1]], statics)
        of_integers = operation.of_integers if tensor[1].dtype.is_integer else None
        for axis in reversed(axes):
            shape = tuple(tensor[1].shape)
            own = dtype if axis == axes[0] or of_integers is not None else COMPUTE_TYPE
            (spec,) = operation.results([tensor[1]], ((axis,), keepdim))
            in_columns = axis < len(shape) - 1 and shape[axis] > 0  # an empty loop is the innermost
            written = of_integers[in_columns] if of_integers else operation
            (tensor,) = self._write(written, ((axis,), keepdim), (tensor,), streamed(spec.with_(dtype=own)))
        return tensor

    def _write(
        self, operation: Declared, statics: Sequence[Any], operands: Sequence[Operand], *specs: TensorSpec
    ) -> tuple[TensorOperand, ...]:
        return self.write(
            operation, operands, statics, specs, None, HOISTED if isinstance(operation, Elementwise) else {}
        )

    def rounded(self, operand: TensorOperand, dtype: DataType, location: Location | None) -> TensorOperand:  # noqa: ARG002
        """`operand` as elements of `dtype`; of block floats `operand` itself, which is rounded when it is packed."""
        spec = operand[1]
        if dtype in {spec.dtype, *BLOCK_FLOATS}:
            return operand
        wanted = spec.with_(dtype=dtype)
        return self.finished(operand, wanted), wanted

    def finished(self, operand: TensorOperand, wanted: TensorSpec) -> SSAValue:
        """The final value with the spec `wanted`: the last op rounds to it, or else a copy does."""
        last = self.block.last_op
        result, spec = operand
        is_last = last is not None and [*last.results] == [result] and result.first_use is None
        moves = isinstance(last, MovementOp) and spec.dtype is not wanted.dtype
        if last is None or not is_last or moves:
            ((copied, _),) = self._write(COPY, (), (operand,), wanted)
            return copied
        return result if spec == wanted else _retyped(last, wanted)


def _retyped(last: Operation, wanted: TensorSpec) -> SSAValue:
    """A copy of `last` with another result type."""
    again = clone_with(last, last.operands, (tensor_type(wanted),))
    insert_before(again, last)
    erase(last)
    return again.results[0]


def streamed(spec: TensorSpec) -> TensorSpec:
    """The spec outside L1, unless it is sharded."""
    own = spec.memory_config
    return spec if own.is_sharded() else spec.with_(memory_config=DRAM_MEMORY_CONFIG)
