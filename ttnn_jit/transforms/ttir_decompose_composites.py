"""ttir-decompose-composites: operations that are written in terms of others, in these terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.dialects import ttir
from ttnn_jit.dialects.creation import remade
from ttnn_jit.dialects.declared_ops import CompositeOp, MovementOp, ReductionOp
from ttnn_jit.dialects.editing import ops_of
from ttnn_jit.dialects.layout import dtype_of, spec_of, tensor_type
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.ttnn import HOISTED
from ttnn_jit.ops import COPY, Elementwise, Movement, Reduction, Routine, Typecast
from ttnn_jit.ops import Operation as Declared
from ttnn_jit.ops.decomposition import Decomposed, Operand, Ops, Value, specs_of
from ttnn_jit.ops.kinds import as_float32
from ttnn_jit.specs.dtypes import BLOCK_FLOATS, COMPUTE_TYPE
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, DataType, TensorSpec
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild
from ttnn_jit.transforms.passes import FunctionPass
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
    ops = TensorOps(op)
    operands = [None if each is None else Value(ops, _as_read(spec_of(each.type)), values[each]) for each in op.placed]
    if isinstance(op, ReductionOp):
        results = [ops.reduced(op.operation, operands, op.statics, spec_of(op.results[0].type).dtype)]
    else:
        results = op.operation.written_out(ops, operands, op.statics)
    for value, result in zip(op.results, results, strict=True):
        values[value] = ops.finished(result, spec_of(value.type))
    return ops.written


def _as_read(spec: TensorSpec) -> TensorSpec:
    """A tensor as operations read it: block floats are unpacked on the way, and lie in no shards then."""
    return spec.with_(memory_config=DRAM_MEMORY_CONFIG) if spec.dtype.is_block_float else spec


def _is_kept(op: ReductionOp) -> bool:
    """Whether it reduces one dimension, of floats."""
    return len(op.axes) == 1 and not dtype_of(op.operands[0].type).is_integer


class TensorOps(Ops):
    """Writes the ops that `op` stands for; results are float32, but for integers and what moves, casts or is a routine.

    Attributes:
        written: Those written so far.
    """

    def __init__(self, op: Operation) -> None:
        self.written: list[Operation] = []
        self._location: LocationAttr = op.location

    def results(self, operation: Declared, operands: Sequence[Operand], *statics: Any) -> list[Value]:
        """What a call of `operation` gives."""
        if isinstance(operation, Reduction):
            return [self.reduced(operation, operands, statics, COMPUTE_TYPE)]
        specs = specs_of(operands)
        called, own = operation.written(specs, statics)
        if isinstance(called, Decomposed):
            return called.written_out(self, operands, own)
        found = operation.results(specs, statics)
        if not (found[0].dtype.is_integer or isinstance(operation, Movement | Routine | Typecast)):
            found = tuple(each.with_(dtype=COMPUTE_TYPE) for each in found)
        return self._write(called, own, operands, *map(streamed, found))

    def filled(self, number: float, spec: TensorSpec) -> Value:
        """A tensor of one number."""
        return Value(self, streamed(spec), self._full(number, streamed(spec)))

    def reduced(
        self, operation: Reduction, operands: Sequence[Operand], statics: Sequence[Any], dtype: DataType
    ) -> Value:
        """What a reduction over any dimensions stands for."""
        (tensor,) = (each for each in operands if isinstance(each, Value))
        _, (axes, keepdim) = operation.written([tensor.spec], statics)
        of_integers = operation.of_integers if tensor.spec.dtype.is_integer else None
        for axis in reversed(axes):
            own = dtype if axis == axes[0] or of_integers is not None else COMPUTE_TYPE
            (spec,) = operation.results([tensor.spec], ((axis,), keepdim))
            in_columns = axis < len(tensor.shape) - 1 and tensor.shape[axis] > 0  # a loop of none is the innermost
            written = of_integers[in_columns] if of_integers else operation
            (tensor,) = self._write(written, ((axis,), keepdim), (tensor,), streamed(spec.with_(dtype=own)))
        return tensor

    def _write(
        self, operation: Declared, statics: Sequence[Any], operands: Sequence[Operand], *specs: TensorSpec
    ) -> list[Value]:
        values = [
            each.handle if isinstance(each, Value) else each if each is None else self._full(each, specs[0])
            for each in operands
        ]
        op = ttir.OP_OF[operation].make(
            [value for value in values if value is not None],
            *map(tensor_type, specs),
            properties=properties_of(operation, statics, values),
            attributes=dict(HOISTED) if isinstance(operation, Elementwise) else {},
            location=self._location,
        )
        self.written.append(op)
        return [Value(self, spec, value) for spec, value in zip(specs, op.results, strict=True)]

    def _full(self, number: float, spec: TensorSpec) -> SSAValue:
        exact = spec.dtype.is_integer
        wanted = spec if exact else spec.with_(dtype=COMPUTE_TYPE)
        op = ttir.FullOp.make(number if exact else as_float32(number), tensor_type(wanted), self._location)
        self.written.append(op)
        return op.results[0]

    def rounded(self, x: Value, dtype: DataType) -> Value:
        """`x` as elements of `dtype`; block floats, which lie in tiles, are rounded to where the result is written."""
        if dtype in {x.spec.dtype, *BLOCK_FLOATS}:
            return x
        wanted = x.spec.with_(dtype=dtype)
        return Value(self, wanted, self.finished(x, wanted))

    def finished(self, result: Value, wanted: TensorSpec) -> SSAValue:
        """The value of the last op, of the type that is wanted: it rounds to it; a copy where no op may."""
        last = self.written[-1] if self.written else None
        is_last = last is not None and [*last.results] == [result.handle] and last.results[0].first_use is None
        moves = isinstance(last, MovementOp) and result.spec.dtype is not wanted.dtype
        if last is None or not is_last or moves:
            (copied,) = self._write(COPY, (), (result,), wanted)
            return copied.handle  # type: ignore[no-any-return]
        return last.results[0] if result.spec == wanted else self._retyped(last, wanted)

    def _retyped(self, last: Operation, wanted: TensorSpec) -> SSAValue:
        """`last` again, with a result of another type."""
        again = remade(last, last.operands, (tensor_type(wanted),))
        last.operands = []
        self.written[-1] = again
        return again.results[0]


def streamed(spec: TensorSpec) -> TensorSpec:
    """The tensor outside of L1, if it is not sharded."""
    own = spec.memory_config
    return spec if own.is_sharded() else spec.with_(memory_config=DRAM_MEMORY_CONFIG)
