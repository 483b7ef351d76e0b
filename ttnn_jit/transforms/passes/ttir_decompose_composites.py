"""ttir-decompose-composites: operations that are written in terms of others, in these terms."""

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
from ttnn_jit.dialects.writing.creation import remade
from ttnn_jit.dialects.writing.editing import erase, insert_before, ops_of, take_ops
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
    """Every composite becomes what its declaration says, with float32 between the ops.

    Every reduction becomes reductions of one dimension each, the last one first, with float32 between them. What lies
    between is in no L1 but in shards, for a chip streams it. Operations
    on block floats become casts, and operations on what these unpack to (`ttnn_jit.transforms.unpacked_operands`).
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
    return take_ops(builder.block)


def _as_read(spec: TensorSpec) -> TensorSpec:
    """A tensor as operations read it: block floats are unpacked on the way, and lie in no shards then."""
    return spec.with_(memory_config=DRAM_MEMORY_CONFIG) if spec.dtype.is_block_float else spec


def _is_kept(op: ReductionOp) -> bool:
    """Whether it reduces one dimension, of floats."""
    return len(op.axes) == 1 and not dtype_of(op.operands[0].type).is_integer


class DecompositionBuilder(FunctionBuilder):
    """Writes the ops that `op` stands for; results are float32, but for integers and what moves, casts or is a routine.

    All of them stand where `op` does.
    """

    def __init__(self, op: Operation) -> None:
        super().__init__(TTIR, "", Numerics.IEEE, None)
        self._location = op.location

    def location_attribute(self, location: Location | None) -> LocationAttr:  # noqa: ARG002 - one for all
        """That of the op that is decomposed."""
        return self._location

    def results(
        self, operation: Declared, operands: Sequence[Operand], attributes: Sequence[Any], *_: Any, **__: Any
    ) -> tuple[TensorOperand, ...]:
        """What a call of `operation` gives."""
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
        """A tensor of one number, which is float32 unless it is an integer."""
        if not spec.dtype.is_integer:
            number, spec = as_float32(number), spec.with_(dtype=COMPUTE_TYPE)
        return super().filled(number, streamed(spec), location)

    def reduced(
        self, operation: Reduction, operands: Sequence[Operand], statics: Sequence[Any], dtype: DataType
    ) -> TensorOperand:
        """What a reduction over any dimensions stands for."""
        (tensor,) = (each for each in operands if isinstance(each, tuple))
        _, (axes, keepdim) = operation.canonicalized([tensor[1]], statics)
        of_integers = operation.of_integers if tensor[1].dtype.is_integer else None
        for axis in reversed(axes):
            shape = tuple(tensor[1].shape)
            own = dtype if axis == axes[0] or of_integers is not None else COMPUTE_TYPE
            (spec,) = operation.results([tensor[1]], ((axis,), keepdim))
            in_columns = axis < len(shape) - 1 and shape[axis] > 0  # a loop of none is the innermost
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
        """`operand` as elements of `dtype`; block floats, which lie in tiles, are rounded to where it is written."""
        spec = operand[1]
        if dtype in {spec.dtype, *BLOCK_FLOATS}:
            return operand
        wanted = spec.with_(dtype=dtype)
        return self.finished(operand, wanted), wanted

    def finished(self, operand: TensorOperand, wanted: TensorSpec) -> SSAValue:
        """The value of the last op, of the type that is wanted: it rounds to it; a copy where no op may."""
        last = self.block.last_op
        result, spec = operand
        is_last = last is not None and [*last.results] == [result] and result.first_use is None
        moves = isinstance(last, MovementOp) and spec.dtype is not wanted.dtype
        if last is None or not is_last or moves:
            ((copied, _),) = self._write(COPY, (), (operand,), wanted)
            return copied
        return result if spec == wanted else _retyped(last, wanted)


def _retyped(last: Operation, wanted: TensorSpec) -> SSAValue:
    """`last` again, with a result of another type."""
    again = remade(last, last.operands, (tensor_type(wanted),))
    insert_before(again, last)
    erase(last)
    return again.results[0]


def streamed(spec: TensorSpec) -> TensorSpec:
    """The tensor outside of L1, if it is not sharded."""
    own = spec.memory_config
    return spec if own.is_sharded() else spec.with_(memory_config=DRAM_MEMORY_CONFIG)
