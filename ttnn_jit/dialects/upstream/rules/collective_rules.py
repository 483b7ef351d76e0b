"""Collectives: dimensions, kinds of reductions, groups of devices."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation

from ttnn_jit.dialects.upstream.rules.view import View, fail, joined, require


def verify_all_gather(op: Operation) -> None:
    """The gathered dimension."""
    view = View(op)
    dim, rank = view.integer("all_gather_dim"), len(view.shape("input"))
    what = "dimension for all gather" if op.name.startswith("ttir.") else "gather dimension for all reduce"
    require(
        -rank <= dim < rank,
        f"Invalid {what} op. Gather dimension must be >= to input tensor rank or < -input tensor rank, got "
        f"gather_dim = {dim}",
    )


def verify_reduce_scatter(op: Operation) -> None:
    """The reduction, and the scattered dimension."""
    view = View(op)
    is_ttir = op.name.startswith("ttir.")
    _require_reduction(
        view, {"sum", "max", "min"} if is_ttir else {"sum"}, "reduce scatter", "op" if is_ttir else "type"
    )
    dim, rank = view.integer("scatter_dim"), len(view.shape("input"))
    what = "dimension" if is_ttir else "scatter dimension"
    require(
        -rank <= dim < rank,
        f"Invalid {what} for reduce scatter op. Scatter dimension must be >= to input tensor rank or < -input tensor "
        f"rank, got scatter_dim = {dim}",
    )


def verify_all_reduce(op: Operation) -> None:
    """The reduction."""
    _require_reduction(View(op), {"sum"}, "all reduce")


def _require_reduction(view: View, allowed: set[str], what: str, which: str = "op") -> None:
    kind: Any = view.attribute("reduce_type")
    data = getattr(kind, "data", None)
    said = data if isinstance(data, str | None) else kind.value("value")
    require(kind is None or said in allowed, f"Invalid reduction {which} for {what} op.")


def verify_permute_of_devices(op: Operation) -> None:
    """Pairs of devices, each of which sends and receives once."""
    pairs = View(op).attribute("source_target_pairs")
    shape, flat = elements_of(pairs)
    require(len(shape) == 2, f"The rank of source target pairs must be 2, got rank = {len(shape)}")
    for start in (0, 1):
        devices = flat[start::2]
        require(len(set(devices)) == len(devices), "There are duplicate 'src' or 'dest' devices in source target pairs")


def verify_broadcast_to_devices(op: Operation) -> None:
    """Types, and the groups of devices."""
    view = View(op)
    require(view.type("input") == view.result(), "input and output must have the same type")
    _verify_groups(view)


def _verify_groups(view: View) -> list[int]:
    """The shape of ``replica_groups``, which is valid."""
    shape, flat = elements_of(view.attribute("replica_groups"))
    require(len(shape) == 2, "replica_groups must be a 2D array")
    for index, device in enumerate(flat):
        require(device >= 0, "replica_groups values must be positive")
        last = len(flat) - 1
        require(device <= last, f"replica_groups values must be in the range [0, {last}], got {device}")
        require(device not in flat[:index], "replica_groups must not contain duplicate values")
    return shape


def verify_all_to_all(op: Operation) -> None:
    """A dimension split among devices and another concatenated from them."""
    view = View(op)
    shape, output = view.shape("input"), [*view.result().get_shape()]
    split, concat, count = (view.integer(name) for name in ("split_dim", "concat_dim", "split_count"))
    last = len(shape) - 1
    require(0 <= split <= last, f"splitDim must be in the range [0, {last}], got {split}")
    require(count > 0, "splitCount must be a positive integer")
    require(shape[split] % count == 0, "splitDim size must be divisible by splitCount")
    require(0 <= concat <= last, f"concatDim must be in the range [0, {last}], got {concat}")
    shape[split] //= count
    shape[concat] *= count
    if shape != output:
        fail(f"Output shape mismatch: expected = <{joined(shape, ', ')}> output = <{joined(output, ', ')}>")
    require(view.type("input").element_type == view.result().element_type, "Input and output element types must match")
    groups = _verify_groups(view)
    require(groups[1] == count, "replicaGroup count must match splitCount")


def elements_of(attribute: Attribute | None) -> tuple[list[int], list[int]]:
    """The shape and the flat elements of a dense attribute of integers."""
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        values: Any = attribute.get_values()
        return [*attribute.get_shape()], [int(value) for value in values]
    splat: Any = attribute
    shape = [*splat.type.get_shape()]
    count = 1
    for extent in shape:
        count *= extent
    return shape, [int(splat.element.value.data)] * count


COLLECTIVES = {
    "ttir.all_gather": (verify_all_gather,),
    "ttnn.all_gather": (verify_all_gather,),
    "ttir.reduce_scatter": (verify_reduce_scatter,),
    "ttnn.reduce_scatter": (verify_reduce_scatter,),
    "ttir.all_reduce": (verify_all_reduce,),
    "ttnn.all_reduce": (verify_all_reduce,),
    "ttir.collective_permute": (verify_permute_of_devices,),
    "ttnn.collective_permute": (verify_permute_of_devices,),
    "ttir.collective_broadcast": (verify_broadcast_to_devices,),
    "ttir.all_to_all": (verify_all_to_all,),
}
