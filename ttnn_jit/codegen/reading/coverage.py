"""Checks that a kernel's loops visit every tile of its operands once, as its maps, iterator types and grid state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir.affine import AffineDimExpr

from ttnn_jit.codegen.reading.reader_values import Accumulation, BufferAccess, Index, LoopIndex, Window
from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.specs.tiles import tile_extents, tiles_of_core

LoopsOf = dict[int, tuple[Index, Index]]
"""From a dimension of a kernel to the block loop along it and the loop within the block."""


def check_accesses(generic: GenericOp, accesses: Sequence[BufferAccess], *, reorders: bool) -> LoopsOf:
    """The loops along the dimensions; the first of `accesses` is the store of an output.

    Raises:
        CompileError: Two accesses use different loops along one dimension, or a map permutes dimensions.
    """
    found: LoopsOf = {}
    for access in accesses:
        results = generic.indexing_maps.data[access.operand].data.results
        for dim, (result, loops) in enumerate(zip(results, access.loops, strict=True)):
            if not isinstance(result, AffineDimExpr):
                expected: tuple[Index, Index] = (0, 0)
            elif result.position != dim and not reorders:
                raise refusal(access.op, "its operand's indexing map reorders dimensions")
            else:
                expected = found.setdefault(result.position, loops)
            if loops != expected:
                raise refusal(access.op, "it does not meet the tile that the output's store names")
    return found


def check_shards(generic: GenericOp, windows: Sequence[Window], specs: Sequence[TensorSpec]) -> None:
    """Refuse operands with more tiles than the shards of all cores hold.

    Raises:
        CompileError: An operand has more tiles, or the grid does not have one extent per dimension of the output.
    """
    written = generic.indexing_maps.data[-1].data.results
    if len(generic.grid.data) != len(written):
        raise refusal(generic, f"its grid needs {len(written)} extents")
    cores = {
        result.position: extent
        for result, extent in zip(written, generic.grid.data, strict=True)
        if isinstance(result, AffineDimExpr)
    }
    for operand, (window, spec) in enumerate(zip(windows, specs, strict=True)):
        results = generic.indexing_maps.data[operand].data.results
        tiles = tile_extents(spec.shape, len(results))
        for result, extent, wanted in zip(results, window.sizes, tiles, strict=True):
            sharing = cores.get(result.position, 1) if isinstance(result, AffineDimExpr) else 1
            if extent < tiles_of_core(wanted, sharing):
                held = extent * sharing
                raise refusal(generic, f"operand {operand} has {wanted} tiles where its shards hold {held}")


def reduced_dimension(generic: GenericOp, accumulation: Accumulation, loops_of: LoopsOf) -> int:
    """The reduced dimension.

    Raises:
        CompileError: There is none, or a loop of another dimension runs between the initialization of the slot and the
            op.
    """
    reduced = [dim for dim, kind in enumerate(generic.iterator_types) if kind.data == "reduction"]
    if len(reduced) != 1:
        raise refusal(generic, f"one of its dimensions must be a reduction, {len(reduced)} are")
    outside, around = accumulation.outside, accumulation.around
    own = _moving(loops_of, reduced)
    others = _moving(loops_of, set(loops_of) - set(reduced))
    if around[: len(outside)] != outside or set(around[len(outside) :]) != own or set(outside) != others:
        raise refusal(
            accumulation.op, "the loops that it accumulates along are not those of the dimension that is reduced"
        )
    return reduced[0]


def _moving(loops_of: Mapping[int, tuple[Index, Index]], dims: Sequence[int] | set[int]) -> set[LoopIndex]:
    return {index for dim in dims for index in loops_of.get(dim, ()) if isinstance(index, LoopIndex)}


def tile_broadcast(read: TensorSpec, written: TensorSpec) -> str | None:
    """The broadcast within tiles that an elementwise kernel must apply to an operand; None if there is none."""
    matrices = ((1, 1, *spec.shape)[-2:] for spec in (read, written))
    rows_and_columns = tuple(own != full for own, full in zip(*matrices, strict=True))
    return {(True, True): "scalar", (True, False): "row", (False, True): "col"}.get(rows_and_columns)
