"""Ops of StableHLO and Shardy that say how tensors are cut into shards, and those that cut and join them.

Shardings that only say where the parts of a tensor lie change no number: outside of manual computations every device
computes with whole tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.conversions.converted_exchanges import no_number_of_a_device
from ttnn_jit.ops.conversions.converted_targets import ATTRIBUTES_OF_CALLS
from ttnn_jit.ops.conversions.shardings import Tiling, tiling_of_axes, tiling_of_text
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.decomposition import Ops
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion
from ttnn_jit.ops.families.sharding_rule import pointwise
from ttnn_jit.ops.families.text_operation import REQUIRED, Role, TextCall
from ttnn_jit.ops.texts import exchange_goldens

_SHARDING = "mhlo.sharding"


def _same(*names: str, **attributes: Any) -> Conversion:
    """An op whose result is its operand: what it says is where the parts lie."""
    return conversion(
        " ".join(names),
        "input",
        lambda _, call: call.input,
        lambda _, call: call.input,
        moves=True,
        sharded_by=pointwise,
        **attributes,
    )


_CALL: dict[str, Any] = dict.fromkeys(ATTRIBUTES_OF_CALLS)
SHARDING = _same(
    "stablehlo.custom_call@Sharding",
    "stablehlo.custom_call@tt.mark_argument",
    "stablehlo.custom_call@tt.sharding_constraint",
    "stablehlo.custom_call@xla.sdy.FuncResultSharding",
    "stablehlo.custom_call@annotate_device_placement",
    states_parts=(_SHARDING,),
    **_CALL,
    **{_SHARDING: None},
)
CONSTRAINT = _same(
    "sdy.sharding_constraint",
    "sdy.reshard",
    "sdy.data_flow_edge",
    "sdy.all_gather",
    "sdy.all_slice",
    "sdy.all_to_all",
    "sdy.all_reduce",
    "sdy.reduce_scatter",
    "sdy.collective_permute",
    "sdy.replicated_to_unreduced",
    "sdy.sharded_to_unreduced",
    states_parts=("sharding", "out_sharding"),
    **dict.fromkeys(
        (
            "sharding",
            "out_sharding",
            "gathering_axes",
            "slicing_axes",
            "reduction_axes",
            "reduce_scatter_axes",
            "params",
            "axes",
            "should_propagate",
        )
    ),
)


def _stated(call: TextCall, kind: str) -> str:
    given = vars(call).get(kind)
    if not isinstance(given, str):
        raise ShapeError(f"neither it nor the op before it says `{_SHARDING}`")
    return given


def _tiling(call: TextCall, attribute: str) -> Tiling:
    return tiling_of_text(_stated(call, attribute), len(call.input[0].shape), len(call.input))


def _cut(ops: Ops, call: TextCall) -> list[Any]:
    tiling = _tiling(call, PRODUCER + _SHARDING)
    return [tiling.part_of(each, device, ops.part) for device, each in enumerate(call.input)]


def _cut_in_torch(torch: Any, call: TextCall) -> list[Any]:
    return exchange_goldens.cut_by_tiles(torch, call.input, *_tiling(call, PRODUCER + _SHARDING))


def _joined(ops: Ops, call: TextCall) -> list[Any]:
    return [_tiling(call, _SHARDING).whole(call.input, ops.concat)] * len(call.input)


def _joined_in_torch(torch: Any, call: TextCall) -> list[Any]:
    return [exchange_goldens.joined_by_tiles(torch, call.input, *_tiling(call, _SHARDING))] * len(call.input)


PRODUCER = "producer:"
"""Before the name of an attribute of the op that makes the first operand."""


def mesh_shard(ops: TtirOps, x: Tensor, kind: Tensor, direction: str, tiling: Tiling) -> Tensor:
    """`x` cut into shards, ``full_to_shard``, or joined, ``shard_to_full``."""
    cuts = math.prod(tiling.counts) > 1
    return ops.op(
        "ttir.mesh_shard",
        [x],
        kind.shape,
        kind.element,
        shard_type="devices" if cuts else "replicate",
        shard_direction=direction,
        shard_shape=(*tiling.counts, *(1,) * (x.rank - len(tiling.counts))) if cuts else (1,),
        shard_dims=dimensions_of_mesh(tiling, ops.mesh) if cuts else (-1,),
    )


def _annotated_shard(ops: TtirOps, call: ConversionCall, direction: str, sharding: str) -> Tensor:
    tiling = tiling_of_text(sharding, call.input.rank, math.prod(ops.mesh))
    return mesh_shard(ops, call.input, call.result, direction, tiling)


def dimensions_of_mesh(tiling: Tiling, mesh: Sequence[int]) -> tuple[int, ...]:
    """The dimension that each axis of a mesh cuts, -1 for one that cuts none; several may cut one, in their order.

    Raises:
        ShapeError: The parts do not lie along the axes.
    """
    found = []
    for axis, extent in enumerate(mesh):
        step = math.prod(mesh[axis + 1 :])
        first, second = tiling.places[0], tiling.places[step if extent > 1 else 0]
        differing = [dim for dim, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]]
        found.append(differing[0] if len(differing) == 1 else -1)
    axes = [{"name": axis, "size": extent} for axis, extent in enumerate(mesh)]
    along = [[each for each in axes if found[each["name"]] == dim] for dim in range(len(tiling.counts))]
    if tiling_of_axes(along, axes) != tiling:
        raise ShapeError("its parts do not lie along the axes of the mesh, as those of TTIR do")
    return tuple(found)


FULL_TO_SHARD = replace(
    conversion(
        "stablehlo.custom_call@SPMDFullToShardShape",
        "input",
        lambda ops, call: _annotated_shard(ops, call, "full_to_shard", _stated(call, PRODUCER + _SHARDING)),
        no_number_of_a_device,
        role=Role.EXCHANGES,
        moves=True,
        **_CALL,
        **{_SHARDING: None, PRODUCER + _SHARDING: None},
    ),
    write=_cut,
    golden=_cut_in_torch,
)
SHARD_TO_FULL = replace(
    conversion(
        "stablehlo.custom_call@SPMDShardToFullShape",
        "input",
        lambda ops, call: _annotated_shard(ops, call, "shard_to_full", _stated(call, _SHARDING)),
        no_number_of_a_device,
        role=Role.EXCHANGES,
        moves=True,
        **_CALL,
        **{_SHARDING: None},
    ),
    write=_joined,
    golden=_joined_in_torch,
)


def _in_the_region(*_: Any) -> Any:
    raise ShapeError("its region is run on shards, and the pass does not cut it out")


MANUAL = conversion(
    "sdy.manual_computation",
    "tensors*",
    _in_the_region,
    _in_the_region,
    role=Role.SHARDS,
    in_shardings=REQUIRED,
    out_shardings=REQUIRED,
    manual_axes=REQUIRED,
)
NAMED = conversion(
    "sdy.named_computation",
    "operands*",
    _in_the_region,
    _in_the_region,
    role=Role.RUNS_REGION,
    name="",
    in_shardings=None,
    out_shardings=None,
)

TEXTS = (SHARDING, CONSTRAINT, FULL_TO_SHARD, SHARD_TO_FULL, MANUAL, NAMED)
