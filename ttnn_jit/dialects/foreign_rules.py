"""Rules of MLIR for ops of xDSL's dialects that xDSL does not check and that passes here rely on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.argument_notes import verify_updates
from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.ttcore import system_desc_of


def verify_foreign(op: Operation) -> None:
    """Checks `op` after its own `verify` has passed.

    Raises:
        VerifyException: It breaks a rule.
    """
    rule = _RULES.get(type(op))
    if rule is not None:
        rule(op)


def require_projection(indexing_map: AffineMap, dims: int) -> None:
    """Requires a map of `dims` dimensions whose results are dimensions or constants.

    Raises:
        VerifyException: It is another map.
    """
    if indexing_map.num_dims != dims or indexing_map.num_symbols:
        raise VerifyException(f"every indexing map needs one dimension per iterator type, {dims}")
    for result in indexing_map.results:
        known = isinstance(result, AffineConstantExpr) or (
            isinstance(result, AffineDimExpr) and 0 <= result.position < dims
        )
        if not known:
            raise VerifyException(
                f"an indexing map gives dimensions and constants, got {affine_map_text(indexing_map)}"
            )


def require_parallel_output(written: Sequence[AffineExpr], kinds: Sequence[str]) -> None:
    """Requires an output map whose results are exactly the parallel dimensions.

    Raises:
        VerifyException: A result is a reduction dimension, or a parallel dimension is missing.
    """
    followed = {result.position for result in written if isinstance(result, AffineDimExpr)}
    for dim, kind in enumerate(kinds):
        if (kind == "parallel") != (dim in followed):
            raise VerifyException(
                f"the output's map {'follows' if dim in followed else 'lacks'} d{dim}, which is {kind}"
            )


def _linalg_generic(op: LinalgGenericOp) -> None:
    if len(op.outputs) != 1 or op.results:
        raise VerifyException(
            f"one output, a memref, is known here, got {len(op.outputs)} and {len(op.results)} results"
        )
    for indexing_map in op.indexing_maps:
        require_projection(indexing_map.data, len(op.iterator_types.data))
    kinds = [kind.data.value for kind in op.iterator_types]
    require_parallel_output(op.indexing_maps.data[-1].data.results, kinds)
    output = op.body.block.args[-1]
    if output.first_use is not None and all(kind == "parallel" for kind in kinds):
        raise VerifyException("the block does not read the output's element: every dimension is parallel")
    last = op.body.block.last_op
    if not isinstance(last, LinalgYieldOp) or [value.type for value in last.operands] != [output.type]:
        raise VerifyException(f"the block ends with linalg.yield of the output's element, {output.type}")


def _subview(op: memref.SubviewOp) -> None:
    source, result = _memref(op.source), _memref(op.result)
    windows = (op.static_offsets, op.static_sizes, op.static_strides)
    rank = source.get_num_dims()
    if any(len(window) != rank for window in windows):
        raise VerifyException(f"a view of {source} needs {rank} offsets, sizes and strides")
    if any(size < 1 for size in op.static_sizes.get_values() if size != DYNAMIC_INDEX):
        raise VerifyException(f"a view has sizes of at least 1, got {list(op.static_sizes.get_values())}")
    if result.get_shape() != op.static_sizes.get_values() or result.element_type != source.element_type:
        raise VerifyException(f"a view of sizes {list(op.static_sizes.get_values())} of {source} is no {result}")


def _memref(value: SSAValue) -> MemRefType[Attribute]:
    if not isinstance(value.type, MemRefType):
        raise VerifyException(f"expected a memref, got {value.type}")
    return value.type


def _tile_loop(op: affine.ForOp) -> None:
    for bound in (op.lowerBoundMap, op.upperBoundMap):
        _require_one_result(bound)
    if op.step.value.data < 1:
        raise VerifyException(f"a loop's step is at least 1, got {op.step.value.data}")
    _require_terminator(op, op.body.block.last_op, affine.YieldOp)


def _require_one_result(bound: AffineMapAttr) -> None:
    if len(bound.data.results) != 1:
        raise VerifyException(f"a bound is one number, got {affine_map_text(bound.data)}")


def _block_loop(op: scf.ForOp) -> None:
    _require_terminator(op, op.body.block.last_op, scf.YieldOp)


def _require_terminator(op: Operation, last: Operation | None, kind: type[Operation]) -> None:
    if not isinstance(last, kind):
        raise VerifyException(f"the body of {op.name} ends with {kind.name}")


def _constant(op: arith.ConstantOp) -> None:
    type_: Attribute | None = getattr(op.value, "type", None)
    if type_ != op.result.type:
        raise VerifyException(f"a constant has its value's type, {type_}, got {op.result.type}")


def _module(op: ModuleOp) -> None:
    system_desc_of(op)


_RULES: dict[type[Operation], Callable[[Any], None]] = {
    ModuleOp: _module,
    FuncOp: verify_updates,
    LinalgGenericOp: _linalg_generic,
    memref.SubviewOp: _subview,
    affine.ForOp: _tile_loop,
    scf.ForOp: _block_loop,
    arith.ConstantOp: _constant,
}
