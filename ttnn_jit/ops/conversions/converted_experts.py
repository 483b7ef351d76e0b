"""Custom calls whose namesakes TTIR has: exchanges between devices, of mixtures of experts and of norms."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ttnn_jit.ops.conversions.converted_targets import CALL, attributes_of_call, limit_in
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.decomposition import Ops
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, Role, TextCall, TextOperation
from ttnn_jit.ops.texts import exchange_goldens, text_operations
from ttnn_jit.ops.texts.exchange_texts import by_group, folded, groups_along


def _exchange(name: str, operands: str, *, room: str = "tt", indices: str = "", **defaults: Any) -> Conversion:
    """A call ``ROOM.NAME`` that is ``ttir.NAME``, with operands in its order, of which `indices` are numbers."""
    names = [each.rstrip("?") for each in operands.split()]

    def inner(call: TextCall) -> tuple[TextOperation, TextCall]:
        operation = text_operations()[f"ttir.{name}"]
        given = [vars(call)[each] for each in names]
        sizes = [int(each is not None) for each in given]
        present = [each for each in given if each is not None]
        found = TextCall(operation.bound(present, sizes, attributes_of_call(call, defaults)), call.results)
        found.mesh = call.mesh
        return operation, found

    def convert(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
        given = [vars(call)[each] for each in names]
        return ops.results(f"ttir.{name}", given, call.results, **attributes_of_call(call, defaults))

    def write(ops: Any, call: TextCall) -> Any:
        operation, found = inner(call)
        return operation.write(ops, found)

    def golden(torch: Any, call: TextCall) -> Any:
        operation, found = inner(call)
        return operation.golden(torch, found)

    assigned = tuple(each for each in names if each == "expert_mapping")
    limits = {each: partial(limit_in, f"ttir.{name}", each) for each in indices.split()}
    options = {"role": Role.EXCHANGES, "index_limits": limits, "assignments": assigned, **CALL}
    made = conversion(f"stablehlo.custom_call@{room}.{name}", operands, convert, golden, **options)
    return replace(made, write=write, golden=golden)


_MAPPED: dict[str, Any] = {"num_devices": 1, "cluster_axis": 0}
_COMBINE = _exchange(
    "all_to_all_combine",
    "input_tensor expert_metadata expert_mapping",
    indices="expert_metadata",
    **_MAPPED,
    num_experts_per_tok=2,
    output_shard_dim=2,
)


def _summed_over_others(combine: Conversion) -> Conversion:
    """The combination of results, summed along the other axis of the mesh, whose devices have other experts."""

    def other_axis(call: Any, columns: int) -> int | None:
        given = attributes_of_call(call, _MAPPED)
        count = int(given["num_devices"])
        return int(given["cluster_axis"] == 0) if count > 1 and columns > count else None

    def convert(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
        found: list[Tensor] = combine.converted(ops, call)
        axis = other_axis(call, call.expert_mapping.shape[3])
        if axis is None:
            return found
        return [ops.same("ttir.all_reduce", found[0], reduce_type="sum", cluster_axis=axis)]

    def write(ops: Ops, call: TextCall) -> list[Any]:
        found: list[Any] = combine.write(ops, call)  # type: ignore[arg-type]
        axis = other_axis(call, call.expert_mapping[0].shape[3])
        if axis is None:
            return found

        def summed(group: list[Any], _: list[int]) -> list[Any]:
            return [folded(ops, group, "sum")] * len(group)

        return by_group(summed, found, groups_along(call.mesh, axis))

    def golden(torch: Any, call: TextCall) -> list[Any]:
        found: list[Any] = combine.golden(torch, call)
        axis = other_axis(call, call.expert_mapping[0].shape[3])
        if axis is None:
            return found
        along = TextCall({"cluster_axis": axis}, call.results)
        along.mesh = call.mesh
        return exchange_goldens.by_device(
            exchange_goldens.reduced(exchange_goldens.along_axis(torch, along, found), "sum")
        )

    return replace(combine, convert=convert, write=write, golden=golden)


TEXTS = (
    _exchange("all_to_all_dispatch", "input_tensor expert_indices expert_mapping", indices="expert_indices", **_MAPPED),
    _summed_over_others(_COMBINE),
    _exchange(
        "distributed_rms_norm", "input weight? residual?", room="tenstorrent", cluster_axis=REQUIRED, epsilon=1e-5
    ),
    _exchange(
        "moe_expert_token_remap",
        "topk_tensor expert_mapping expert_metadata",
        indices="expert_metadata",
        reduction_size=16,
    ),
)
