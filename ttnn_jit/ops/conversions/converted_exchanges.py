"""Collectives of StableHLO. Replica groups hold numbers of devices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, Role, TextCall
from ttnn_jit.ops.texts import exchange_goldens
from ttnn_jit.ops.texts.exchange_texts import (
    by_group,
    check_devices,
    folded,
    parts_of,
    sources,
)

# --- Groups of devices ------------------------------------------------------------------------------------------------


def _groups(call: TextCall) -> list[list[int]]:
    """The groups; a device that no group has is refused."""
    numbers, count = call.replica_groups, math.prod(call.mesh)
    if not isinstance(numbers, DenseNumbers) or len(numbers.shape) != 2:
        raise ShapeError("`replica_groups` lists no groups of devices")
    groups, size = numbers.shape
    values = numbers.numbers * (groups * size) if numbers.splat is not None else numbers.numbers
    found = [[int(each) for each in values[at * size : (at + 1) * size] if each >= 0] for at in range(groups)]
    found = found if any(found) else [[*range(count)]]
    named = [each for group in found for each in group]
    check_devices(named, count)
    if sorted(named) != [*range(count)]:
        raise ShapeError(
            f"its groups have the devices {sorted(named)}, and the mesh has {count}", help="`--mesh 2x4` names a mesh"
        )
    return found


def _cluster_axis(ops: TtirOps, call: ConversionCall) -> int:
    """The axis of the mesh along which the groups lie.

    Raises:
        ShapeError: They lie along none.
    """
    mesh = ops.mesh
    call.mesh = mesh
    groups = sorted(_groups(call))
    for axis, extent in enumerate(mesh):
        step = math.prod(mesh[axis + 1 :])
        starts = [at for at in range(math.prod(mesh)) if at // step % extent == 0]
        if groups == [[start + index * step for index in range(extent)] for start in starts]:
            return axis
    raise ShapeError(f"its groups lie along no axis of the mesh {'x'.join(map(str, mesh))}, as those of TTIR do")


OnGroup = Callable[[TextCall, list[Any], Callable[[str], Any], Any, Any], list[Any]]
InTorch = Callable[[Any, TextCall], exchange_goldens.ForGroup]


def _of_group(
    name: str,
    convert: Callable[[TtirOps, ConversionCall], Tensor],
    on_group: OnGroup,
    in_torch: InTorch,
    **attributes: Any,
) -> Conversion:
    """An exchange in groups: ``on_group(call, tensors, fold, join, part)`` gives the result of each device.

    Several tensors are exchanged one after the other.
    """

    def write(ops: Ops, call: TextCall) -> list[Value]:
        def found(tensors: list[Any], _: list[int]) -> list[Any]:
            return on_group(call, tensors, lambda kind: folded(ops, tensors, kind), ops.concat, ops.part)

        groups = _groups(call)
        return [each for inputs in call.operands for each in by_group(found, inputs, groups)]

    def golden(torch: Any, call: TextCall) -> list[Any]:
        found = in_torch(torch, call)
        return [
            each
            for inputs in call.operands
            for each in exchange_goldens.by_listed_group(torch, inputs, call.replica_groups, found)
        ]

    made = conversion(name, "operands*", convert, golden, role=Role.EXCHANGES, **_CHANNEL, **attributes)
    return replace(made, write=write, golden=golden)


_CHANNEL: dict[str, Any] = {"channel_handle": None, "use_global_device_ids": False}
_KINDS = {"ttir.sum": "sum", "ttir.prod": "prod", "ttir.max": "max", "ttir.min": "min"}


def _kind(call: TextCall) -> str:
    """The name of the reduction that its region is.

    Raises:
        ShapeError: It is none that collectives have.
    """
    single = call.computation.single
    kind = _KINDS.get(single.reduction) if single is not None else None
    if kind is None:
        raise ShapeError("its `computation` is no sum, product, maximum or minimum")
    return kind


Convert = Callable[[TtirOps, ConversionCall], Any]


def _exchanged_as(name: str, **given: Convert) -> Convert:
    """The exchange of TTIR with attributes made of the call."""

    def convert(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
        attributes = {name: value(ops, call) for name, value in given.items()}
        pairs = zip(call.operands, call.results, strict=True)
        return [ops.op(name, [each], kind.shape, kind.element, **attributes) for each, kind in pairs]

    return convert


_SUMMED = _exchanged_as("ttir.all_reduce", reduce_type=lambda _, call: _kind(call), cluster_axis=_cluster_axis)


def _all_reduced(ops: TtirOps, call: ConversionCall) -> Any:
    """A sum; TTIR reduces over devices in no other way, so that other tensors are gathered and then reduced."""
    kind = _kind(call)
    if kind == "sum":
        return _SUMMED(ops, call)
    axis = _cluster_axis(ops, call)
    found = []
    for x in call.operands:
        apart = ops.reshape(x, (1, *x.shape))
        shape = (ops.mesh[axis], *x.shape)
        wide = ops.op("ttir.all_gather", [apart], shape, x.element, all_gather_dim=0, cluster_axis=axis)
        found.append(ops.reduced(f"ttir.{kind}", wide, (0,)))
    return found


ALL_REDUCE = _of_group(
    "stablehlo.all_reduce",
    _all_reduced,
    lambda call, tensors, fold, *_: [fold(_kind(call))] * len(tensors),
    lambda torch, call: exchange_goldens.reduced_group(torch, _kind(call)),
    replica_groups=REQUIRED,
    regions=("computation",),
)
ALL_GATHER = _of_group(
    "stablehlo.all_gather",
    _exchanged_as("ttir.all_gather", all_gather_dim=lambda _, call: call.all_gather_dim, cluster_axis=_cluster_axis),
    lambda call, tensors, _, join, __: (
        [join(tensors, call.all_gather_dim)] * len(tensors) if len(tensors) > 1 else tensors
    ),
    lambda torch, call: exchange_goldens.gathered_group(torch, call.all_gather_dim),
    moves=True,
    replica_groups=REQUIRED,
    all_gather_dim=REQUIRED,
)


def _scattered(call: TextCall, tensors: list[Any], fold: Callable[[str], Any], _: Any, part: Any) -> list[Any]:
    return parts_of(fold(_kind(call)), call.scatter_dimension, len(tensors), part)


REDUCE_SCATTER = _of_group(
    "stablehlo.reduce_scatter",
    _exchanged_as(
        "ttir.reduce_scatter",
        reduce_type=lambda _, call: _kind(call),
        scatter_dim=lambda _, call: call.scatter_dimension,
        cluster_axis=_cluster_axis,
    ),
    _scattered,
    lambda torch, call: exchange_goldens.scattered_group(torch, _kind(call), call.scatter_dimension),
    replica_groups=REQUIRED,
    scatter_dimension=REQUIRED,
    regions=("computation",),
)


def _all_to_all(call: TextCall, tensors: list[Any], _: Any, join: Any, part: Any) -> list[Any]:
    if len(tensors) != call.split_count:
        raise ShapeError(f"it cuts tensors into {call.split_count} parts for groups of {len(tensors)} devices")
    cut = [parts_of(each, call.split_dimension, call.split_count, part) for each in tensors]
    return [join([each[index] for each in cut], call.concat_dimension) for index in range(len(tensors))]


ALL_TO_ALL = _of_group(
    "stablehlo.all_to_all",
    _exchanged_as(
        "ttir.all_to_all",
        split_dim=lambda _, call: call.split_dimension,
        concat_dim=lambda _, call: call.concat_dimension,
        split_count=lambda _, call: call.split_count,
        replica_groups=lambda _, call: call.replica_groups,
    ),
    _all_to_all,
    lambda torch, call: exchange_goldens.exchanged_group(
        torch, call.split_dimension, call.concat_dimension, call.split_count
    ),
    moves=True,
    replica_groups=REQUIRED,
    split_dimension=REQUIRED,
    concat_dimension=REQUIRED,
    split_count=REQUIRED,
)


def _named_groups(call: TextCall) -> list[list[int]]:
    """The groups of a broadcast, each from its first device; other devices get zeros."""
    numbers = call.replica_groups
    groups, size = numbers.shape
    values = numbers.numbers * (groups * size) if numbers.splat is not None else numbers.numbers
    found = [[int(each) for each in values[at * size : (at + 1) * size]] for at in range(groups)]
    check_devices([each for group in found for each in group], math.prod(call.mesh))
    return found


def _broadcast(ops: Ops, call: TextCall) -> list[Value]:
    (inputs,) = call.operands
    results = [ops.filled(0, call.result)] * len(inputs)
    for group in _named_groups(call):
        for device in group:
            results[device] = inputs[group[0]]
    return results


def _broadcast_in_torch(torch: Any, call: TextCall) -> list[Any]:
    return exchange_goldens.by_listed_group(
        torch, call.operands[0], call.replica_groups, exchange_goldens.first_of_group
    )


BROADCAST = replace(
    conversion(
        "stablehlo.collective_broadcast",
        "operands*",
        _exchanged_as("ttir.collective_broadcast", replica_groups=lambda _, call: call.replica_groups),
        _broadcast_in_torch,
        role=Role.EXCHANGES,
        moves=True,
        replica_groups=REQUIRED,
        channel_handle=None,
        has_dynamic_root=False,
    ),
    write=_broadcast,
    golden=_broadcast_in_torch,
)


def _sent(ops: Ops, call: TextCall) -> list[Value]:
    given, inputs = sources(call), call.operand
    nothing = ops.filled(0, call.result)
    return [inputs[given[each]] if each in given else nothing for each in range(len(inputs))]


def _sent_in_torch(torch: Any, call: TextCall) -> list[Any]:
    return exchange_goldens.permuted(torch, call.operand, call.source_target_pairs)


PERMUTE = replace(
    conversion(
        "stablehlo.collective_permute",
        "operand",
        lambda ops, call: ops.same(
            "ttir.collective_permute", call.operand, source_target_pairs=call.source_target_pairs
        ),
        _sent_in_torch,
        role=Role.EXCHANGES,
        moves=True,
        source_target_pairs=REQUIRED,
        channel_handle=None,
    ),
    write=_sent,
    golden=_sent_in_torch,
)


def no_number_of_a_device(*_: Any) -> Any:
    """Refuses an op that TTIR cannot say.

    Raises:
        ShapeError: Always.
    """
    raise ShapeError("TTIR has no number of a device")


PARTITION = replace(
    conversion(
        "stablehlo.partition_id stablehlo.replica_id",
        "",
        no_number_of_a_device,
        no_number_of_a_device,
        role=Role.EXCHANGES,
    ),
    write=lambda ops, call: [ops.filled(device, call.result) for device in range(math.prod(call.mesh))],
    golden=lambda torch, call: [
        torch.tensor(device).to(call.result.dtype.torch) for device in range(math.prod(call.mesh))
    ],
)

TEXTS = (
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_TO_ALL,
    BROADCAST,
    PERMUTE,
    PARTITION,
)
