"""ttir-decompose-composites: operations that are written in terms of others, in these terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit import ops
from ttnn_jit.dialects import system_desc_of, ttir
from ttnn_jit.dialects.declared_ops import CompositeOp, MovementOp, ReductionOp
from ttnn_jit.dialects.editing import ops_of
from ttnn_jit.dialects.layout import dtype_of, spec_of, tensor_type
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.ttnn import HOISTED
from ttnn_jit.ops.composite import as_tuple
from ttnn_jit.ops.kinds import as_float32
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.ops.sequences import ARANGE
from ttnn_jit.specs.dtypes import BLOCK_FLOATS, COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, DataType, TensorSpec
from ttnn_jit.transforms.function_bodies import ValueMap, function_blocks, rebuild
from ttnn_jit.transforms.unpacked_operands import unpack_block_floats


@dataclass(frozen=True)
class TTIRDecomposeComposites(ModulePass):
    """Every composite becomes what its declaration says, with float32 between the ops.

    Every reduction becomes reductions of one dimension each, the last one first, with float32 between them. What lies
    between is in no L1 but in shards, for a chip streams it. Operations
    on block floats become casts, and operations on what these unpack to (`ttnn_jit.transforms.unpacked_operands`).
    """

    name = "ttir-decompose-composites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Rewrites every function of the module `op`."""
        for block in function_blocks(op):
            if any(isinstance(inner, CompositeOp | ReductionOp) for inner in ops_of(block)):
                rebuild(block, _rewrite)
        for block in function_blocks(op):
            unpack_block_floats(block, system_desc_of(op).numerics)


def _rewrite(op: Operation, values: ValueMap) -> Iterable[Operation] | None:
    if not isinstance(op, CompositeOp | ReductionOp) or (isinstance(op, ReductionOp) and _is_kept(op)):
        return None
    builder = TensorBuilder(op)
    operands = [None if each is None else Tensor(values[each], _as_read(spec_of(each.type))) for each in op.placed]
    if isinstance(op, ReductionOp):
        (operand,) = (each for each in operands if each is not None)
        results = (builder.reduced(op, operand),)
    else:
        results = as_tuple(op.operation.decompose(builder, *operands, *op.statics))
    for value, result in zip(op.results, results, strict=True):
        values[value] = builder.finished(result, spec_of(value.type))
    return builder.ops


def _as_read(spec: TensorSpec) -> TensorSpec:
    """A tensor as operations read it: block floats are unpacked on the way, and lie in no shards then."""
    return spec.with_(memory_config=DRAM_MEMORY_CONFIG) if spec.dtype.is_block_float else spec


def _is_kept(op: ReductionOp) -> bool:
    """Whether it reduces one dimension, of floats."""
    return len(op.axes) == 1 and not dtype_of(op.operands[0].type).is_integer


@dataclass(frozen=True)
class Tensor:
    """A value of the decomposition."""

    value: SSAValue
    spec: TensorSpec

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return tuple(self.spec.shape)


class TensorBuilder:
    """Writes the ops that `op` stands for: ``builder.<name>(...)`` is called as ``ttnn.<name>``, and float32.

    Attributes:
        ops: Those written so far.
    """

    def __init__(self, op: Operation) -> None:
        self.ops: list[Operation] = []
        self._location: LocationAttr = op.location

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        overloads = ops.OVERLOADS.get(name)
        if overloads is None:
            raise AttributeError(name)

        def call(*args: Any, **kwargs: Any) -> Tensor:
            bound = ops.bind(overloads, args, kwargs, _dtype_of)
            return self.apply(bound.operation, bound.operands, bound.attributes)

        return call

    def apply(
        self, operation: ops.Operation, operands: Sequence[Tensor | float | None], statics: Sequence[Any]
    ) -> Tensor:
        """A call of `operation`, which may have no name in the namespace."""
        if isinstance(operation, ops.Reduction):
            return self._reduce(operation, operands, statics, COMPUTE_TYPE)
        specs = [operand.spec if isinstance(operand, Tensor) else operand for operand in operands]
        if isinstance(operation, ops.Composite):
            _, written = operation.written(specs, statics)
            inner: Tensor = operation.decompose(self, *operands, *written)
            return inner
        (spec,) = operation.results(specs, statics)
        if not isinstance(operation, ops.Movement | ops.Routine | ops.Typecast):
            spec = spec.with_(dtype=COMPUTE_TYPE)
        return self._write(*operation.written(specs, statics), operands, spec)

    def places(self, extent: int, like: Tensor) -> Tensor:
        """The numbers 0, 1, ... below `extent`, in a tensor that lies where `like` does."""
        spec = interleaved(like.spec).with_(shape=(extent,), dtype=COMPUTE_TYPE)
        return self._write(ARANGE, (0, extent, 1, COMPUTE_TYPE, spec.layout), (), spec)

    def counted(self, like: Tensor, first: int, extent: int, step: int) -> Tensor:
        """So many numbers from `first` on, `step` apart, of the element type of `like`, and lying where it does."""
        spec = interleaved(like.spec).with_(shape=(extent,))
        return self._write(ARANGE, (first, first + extent * step, step, spec.dtype, spec.layout), (), spec)

    def exact(self, operation: ops.Operation, *operands: Tensor | float) -> Tensor:
        """A call of an operation on integers, whose result has their element type."""
        (spec,) = operation.results([each.spec if isinstance(each, Tensor) else each for each in operands], ())
        return self._write(operation, (), operands, spec)

    def filled(self, number: float, shape: Sequence[int], like: Tensor) -> Tensor:
        """A tensor of one number, which lies as `like` does."""
        spec = like.spec.with_(shape=shape, dtype=COMPUTE_TYPE, memory_config=like.spec.memory_config.unsharded)
        return Tensor(self._full(number, streamed(spec)), streamed(spec))

    def reduced(self, op: ReductionOp, operand: Tensor) -> Tensor:
        """What a reduction over any dimensions stands for."""
        return self._reduce(op.operation, (operand,), op.statics, spec_of(op.results[0].type).dtype)

    def _reduce(
        self, operation: ops.Reduction, operands: Sequence[Any], statics: Sequence[Any], dtype: DataType
    ) -> Tensor:
        tensor: Tensor = operands[0]
        _, (axes, keepdim) = operation.written([tensor.spec], statics)
        of_integers = operation.of_integers if tensor.spec.dtype.is_integer else None
        for axis in reversed(axes):
            own = dtype if axis == axes[0] or of_integers is not None else COMPUTE_TYPE
            (spec,) = operation.results([tensor.spec], ((axis,), keepdim))
            in_columns = axis < len(tensor.shape) - 1 and tensor.shape[axis] > 0  # a loop of none is the innermost
            written = of_integers[in_columns] if of_integers else operation
            tensor = self._write(written, ((axis,), keepdim), (tensor,), spec.with_(dtype=own))
        return tensor

    def _write(
        self,
        operation: ops.Operation,
        statics: Sequence[Any],
        operands: Sequence[Tensor | float | None],
        spec: TensorSpec,
    ) -> Tensor:
        return self._written(operation, statics, operands, streamed(spec))

    def _written(
        self,
        operation: ops.Operation,
        statics: Sequence[Any],
        operands: Sequence[Tensor | float | None],
        spec: TensorSpec,
    ) -> Tensor:
        values = [
            each.value if isinstance(each, Tensor) else each if each is None else self._full(each, spec)
            for each in operands
        ]
        op = ttir.OP_OF[operation].make(
            [value for value in values if value is not None],
            tensor_type(spec),
            properties=properties_of(operation, statics, values),
            attributes=dict(HOISTED) if isinstance(operation, ops.Elementwise) else {},
            location=self._location,
        )
        self.ops.append(op)
        return Tensor(op.results[0], spec)

    def _full(self, number: float, spec: TensorSpec) -> SSAValue:
        exact = spec.dtype.is_integer
        wanted = spec if exact else spec.with_(dtype=COMPUTE_TYPE)
        op = ttir.FullOp.make(number if exact else as_float32(number), tensor_type(wanted), self._location)
        self.ops.append(op)
        return op.results[0]

    def rounded(self, x: Tensor, dtype: DataType) -> Tensor:
        """`x` as elements of `dtype`; block floats, which lie in tiles, are rounded to where the result is written."""
        if dtype in {x.spec.dtype, *BLOCK_FLOATS}:
            return x
        wanted = x.spec.with_(dtype=dtype)
        return Tensor(self.finished(x, wanted), wanted)

    def finished(self, result: Tensor, wanted: TensorSpec) -> SSAValue:
        """The value of the last op, of the type that is wanted: it rounds to it; a copy where no op may."""
        last = self.ops[-1] if self.ops else None
        is_last = last is not None and last.results[0] is result.value and result.value.first_use is None
        moves = isinstance(last, MovementOp) and result.spec.dtype is not wanted.dtype
        if last is None or not is_last or moves:
            return self._written(ops.COPY, (), (result,), wanted).value
        if result.spec != wanted:
            return self._retyped(last, wanted)
        return result.value

    def _retyped(self, last: Operation, wanted: TensorSpec) -> SSAValue:
        """`last` again, with a result of another type."""
        again = type(last).create(
            operands=list(last.operands),
            result_types=(tensor_type(wanted),),
            properties=dict(last.properties),
            attributes=dict(last.attributes),
            location=self._location,
        )
        last.operands = []
        self.ops[-1] = again
        return again.results[0]


def streamed(spec: TensorSpec) -> TensorSpec:
    """The tensor outside of L1, if it is not sharded."""
    own = spec.memory_config
    return spec if own.is_sharded() else spec.with_(memory_config=DRAM_MEMORY_CONFIG)


def _dtype_of(value: Any) -> DataType | None:
    return value.spec.dtype if isinstance(value, Tensor) else None
