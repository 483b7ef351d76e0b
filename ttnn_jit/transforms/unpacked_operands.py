"""Rewrites operations on block floats to operations on unpacked elements, which kernels compute with."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit import ops
from ttnn_jit.dialects import ttir
from ttnn_jit.dialects.declared_ops import CollectiveOp, ContractionOp, MovementOp, RoutineOp, TypecastOp
from ttnn_jit.dialects.layout import dtype_of, is_packed, spec_of, tensor_type
from ttnn_jit.dialects.writing.creation import clone_with
from ttnn_jit.dialects.writing.editing import ops_of
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, DataType
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild


def unpack_block_floats(block: Block, numerics: Numerics) -> None:
    """Inserts casts that unpack operands of block floats, and casts that pack the float32 results of operations.

    Under IEEE numerics only contractions and the user's casts read packed results. Other operations read the float32
    value that was packed, as they would inside one kernel.
    """
    if any(map(is_packed, (*block.args, *(result for op in ops_of(block) for result in op.results)))):
        rebuild(block, _Unpacking(numerics).rewrite)


def _has_block_floats(op: Operation) -> bool:
    return not isinstance(op, ReturnOp) and any(map(is_packed, (*op.operands, *op.results)))


class _Unpacking:
    """The rewriting of one function.

    Attributes:
        unpacked: (packed value, element type) -> its unpacked value.
        exact: Packed value -> the float32 value that was packed, which other operations read instead.
    """

    def __init__(self, numerics: Numerics) -> None:
        self._numerics = numerics
        self.unpacked: dict[tuple[SSAValue, DataType], SSAValue] = {}
        self.exact: dict[SSAValue, SSAValue] = {}
        self._written: list[Operation] = []

    def rewrite(self, op: Operation, values: ValueMap) -> Iterable[Operation] | None:
        """The ops that replace `op`."""
        if not _has_block_floats(op):
            return None
        self._written = []
        if isinstance(op, TypecastOp):
            values[op.results[0]] = self._cast_by_user(op, values[op.operands[0]])
        elif isinstance(op, ttir.FullOp):
            values[op.results[0]] = self._full(op)
        elif isinstance(op, RoutineOp) and op.packs_rows:
            self._on_packed_rows(op, values)
        elif isinstance(op, ttir.TensorOp) and not isinstance(op, CollectiveOp):  # which moves packed elements
            self._on_unpacked(op, values)
        else:
            return None
        return self._written

    def _cast_by_user(self, op: TypecastOp, operand: SSAValue) -> SSAValue:
        """The user's cast, by way of the types that packing takes and unpacking gives; it rounds to its own type."""
        wanted, source = dtype_of(op.results[0].type), dtype_of(operand.type)
        if source.is_block_float:
            whole = wanted.is_integer or (wanted.is_upper_half and self._numerics is Numerics.DEVICE)
            through = COMPUTE_TYPE if whole or wanted.is_compute_type else source.unpacked
            operand = self._unpack(operand, through, op)
        elif source.is_integer:
            operand = self._cast(operand, COMPUTE_TYPE, op)
        return self._typed(operand, op.results[0].type, op)

    def _full(self, op: ttir.FullOp) -> SSAValue:
        dtype = dtype_of(op.result.type)
        number = dtype.rounded(op.fill_value.value.data)
        full = ttir.FullOp.make(number, _unpacked_type(op.result.type, COMPUTE_TYPE), op.location)
        self._written.append(full)
        packed = self._typed(full.result, op.result.type, op)
        self.exact[packed] = full.result
        return packed

    def _on_packed_rows(self, op: RoutineOp, values: ValueMap) -> None:
        """Rewrites an op that packs its own result: its operands are unpacked."""
        updated, *read = (values[operand] for operand in op.operands)
        numbers = (self._numbers(each, COMPUTE_TYPE, op) if is_packed(each) else each for each in read)
        again = clone_with(op, [updated, *numbers])
        self._written.append(again)
        values[op.results[0]] = again.results[0]

    def _on_unpacked(self, op: ttir.TensorOp, values: ValueMap) -> None:
        given = [values[operand] for operand in op.operands]
        dtype = self._operand_type(op, filter(is_packed, given))
        operands = [
            self._numbers(new, dtype, op) if is_packed(old) else new
            for old, new in zip(op.operands, given, strict=True)
        ]
        kept = dtype if isinstance(op, MovementOp) and dtype is not None else COMPUTE_TYPE
        types = [_unpacked_type(each.type, kept) if is_packed(each) else each.type for each in op.results]
        again = clone_with(op, operands, types)
        self._written.append(again)
        for old, new in zip(op.results, again.results, strict=True):
            values[old] = self._pack(new, old.type, op) if is_packed(old) else new

    def _operand_type(self, op: Operation, packed: Iterable[SSAValue]) -> DataType | None:
        """The element type to which packed operands are unpacked; None if each may have its own."""
        if isinstance(op, RoutineOp):
            return COMPUTE_TYPE
        if not isinstance(op, MovementOp):
            return None
        held = {dtype_of(self.exact.get(value, value).type) for value in packed}
        return COMPUTE_TYPE if COMPUTE_TYPE in held else held.pop().unpacked

    def _numbers(self, packed: SSAValue, dtype: DataType | None, op: Operation) -> SSAValue:
        exact = None if isinstance(op, ContractionOp) else self.exact.get(packed)
        if exact is None:
            return self._unpack(packed, dtype or dtype_of(packed.type).unpacked, op)
        return exact if dtype is None else self._cast(exact, dtype, op)

    def _unpack(self, packed: SSAValue, dtype: DataType, op: Operation) -> SSAValue:
        known = self.unpacked.get((packed, dtype))
        if known is None:
            known = self.unpacked[packed, dtype] = self._cast(packed, dtype, op)
        return known

    def _pack(self, value: SSAValue, packed: Attribute, op: Operation) -> SSAValue:
        result = self._typed(value, packed, op)
        if self._numerics is Numerics.IEEE:
            self.exact[result] = value
        return result

    def _cast(self, value: SSAValue, dtype: DataType, op: Operation) -> SSAValue:
        return self._typed(value, _unpacked_type(value.type, dtype), op)

    def _typed(self, value: SSAValue, wanted: Attribute, op: Operation) -> SSAValue:
        """`value`, cast to the element type of `wanted`."""
        if value.type == wanted:
            return value
        cast = ttir.OP_OF[ops.TYPECAST].make((value,), wanted, location=op.location)
        self._written.append(cast)
        return cast.results[0]


def _unpacked_type(type_: Attribute, dtype: DataType) -> TensorType[Attribute]:
    """The type of unpacked elements; they are not in L1, which holds the packed tensor."""
    return tensor_type(spec_of(type_).with_(dtype=dtype, memory_config=DRAM_MEMORY_CONFIG))
