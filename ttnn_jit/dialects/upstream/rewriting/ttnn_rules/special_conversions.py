"""Operations of TTIR that become more, or something else, than their namesake in TTNN."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.const_eval import kept_value
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i64,
    integer,
    integers_in,
    listed,
    parsed,
    shape_of,
    si32,
    ttnn_shape,
    ui32,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, mesh_of, operand_named, operands_by_name
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import number_of, unmoved
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, data_type_attribute, has_layout, laid_out
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_conversions import Conversion, namesake, refuse, with_operands

CONVERSIONS: dict[str, Conversion] = {}
"""Name of an operation of TTIR -> what it becomes; the others become their namesake."""
_CHANNELS_OF_GROUPS = 3
"""The dimension of channels of a group norm that names none."""


def _of(*names: str) -> Callable[[Conversion], Conversion]:
    def add(conversion: Conversion) -> Conversion:
        CONVERSIONS.update(dict.fromkeys(names, conversion))
        return conversion

    return add


def relaid(type_: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """A tensor type of another shape, with the layout of a tensor in the same memory."""
    assert isinstance(type_, TensorType)
    made = TensorType(type_.get_element_type(), [*shape])
    if not has_layout(type_):
        return made
    view = LayoutView(type_)
    return laid_out(made, tiled=view.tiled, memory=view.memory)


def reshaped(value: SSAValue, shape: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue:
    """A ``ttnn.reshape`` of a value; itself if it has the shape."""
    if shape_of(value.type) == tuple(shape):
        return value
    return rewriter.value("ttnn.reshape", {"input": value}, {"shape": listed(shape)}, relaid(value.type, shape), at)


def permuted(value: SSAValue, order: Sequence[int], rewriter: Rewriter, at: Operation) -> SSAValue:
    """A ``ttnn.permute`` of a value; itself if the order is its own."""
    if [*order] == [*range(len(order))]:
        return value
    type_ = relaid(value.type, [shape_of(value.type)[each] for each in order])
    return rewriter.value("ttnn.permute", {"input": value}, {"permutation": dense_i64(order)}, type_, at)


def _result(op: Operation) -> TensorType[Attribute]:
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    return type_


@_of("ttir.squeeze", "ttir.unsqueeze")
def _reshape(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    properties = {"shape": listed(shape_of(_result(op)))}
    return [rewriter.value("ttnn.reshape", {"input": op.operands[0]}, properties, _result(op), op)]


@_of("ttir.broadcast")
def _repeat(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    counts = {"repeat_dims": ttnn_shape(integers_in(op.properties["broadcast_dimensions"]))}
    return [rewriter.value("ttnn.repeat", {"input": op.operands[0]}, counts, _result(op), op)]


@_of("ttir.concat")
def _concat(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    dim = integers_in(op.properties["dim"])[0] % len(shape_of(op.operands[0].type))
    properties = {"dim": integer(dim, si32)}
    return [rewriter.value("ttnn.concat", {"inputs": [*op.operands]}, properties, _result(op), op)]


@_of("ttir.empty")
def _empty(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    type_ = _result(op)
    view = LayoutView(type_)
    properties = {
        "shape": ttnn_shape(shape_of(type_)),
        "dtype": data_type_attribute(type_.get_element_type()),
        "layout": view.layout(),
        "memory_config": view.memory_config() if view.on_device else None,
    }
    if not view.on_device:
        return [rewriter.value("ttnn.zeros", {}, properties, type_, op)]
    return [rewriter.value("ttnn.empty", {"device": rewriter.device(op)}, properties, type_, op)]


@_of("ttir.to_layout")
def _to_layout(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    type_ = _result(op)
    view = LayoutView(type_)
    properties = {
        "layout": view.layout(),
        "dtype": data_type_attribute(type_.get_element_type()),
        "memory_config": view.memory_config(),
    }
    return [rewriter.value("ttnn.to_layout", {"input": op.operands[0]}, properties, type_, op)]


@_of("ttir.argmax")
def _argmax(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    dims = integers_in(op.properties.get("dim_arg"))
    if 1 < len(dims) < len(shape_of(op.operands[0].type)):
        raise refuse(op, "TTNN reduces one dimension, or all")
    properties = {
        "dim": _of_row(rewriter, "ttnn.argmax", "dim", dims[0]) if len(dims) == 1 else None,
        "keep_dim": op.properties["keep_dim"],
        "use_multicore": boolean(False),
    }
    return [rewriter.value("ttnn.argmax", {"input": op.operands[0]}, properties, _result(op), op)]


@_of("ttir.prod")
def _prod(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    dims = integers_in(op.properties.get("dim_arg"))
    if 1 < len(dims) < len(shape_of(op.operands[0].type)):
        raise refuse(op, "TTNN reduces one dimension, or all")
    properties = {
        "dim_arg": _of_row(rewriter, "ttnn.prod", "dim_arg", dims[0]) if len(dims) == 1 else None,
        "keep_dim": op.properties["keep_dim"],
    }
    return [rewriter.value("ttnn.prod", {"input": op.operands[0]}, properties, _result(op), op)]


def _of_row(rewriter: Rewriter, name: str, attribute: str, value: int) -> Attribute:
    """An integer in the type that the row of this version says."""
    row = rewriter.row(name)
    assert row is not None
    kind = next(each.kind for each in row.attributes if each.name == attribute)
    return parsed(f"{value} : {kind.removesuffix('Attr').lower()}")


@_of("ttir.pow")
def _pow(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    exponent = number_of(kept_value(unmoved(op.operands[1])))
    if exponent is None or exponent < 0:  # `ttnn.pow_scalar` takes no negative exponent
        operands = {"lhs": op.operands[0], "rhs": op.operands[1]}
        return [rewriter.value("ttnn.pow_tensor", operands, {}, _result(op), op)]
    properties = {"rhs": integer(exponent) if isinstance(exponent, int) else FloatAttr(exponent, f32)}
    return [rewriter.value("ttnn.pow_scalar", {"lhs": op.operands[0]}, properties, _result(op), op)]


@_of("ttir.pad")
def _pad(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    view = LayoutView(_result(op))
    properties = {
        "padding": op.properties["padding"],
        "value": op.properties["value"],
        "use_multicore": boolean(True),
        "memory_config": view.memory_config() if view.on_device else None,
    }
    return [rewriter.value("ttnn.pad", {"input": op.operands[0]}, properties, _result(op), op)]


@_of("ttir.arange")
def _arange(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    if integers_in(op.properties["arange_dimension"])[0] != len(shape_of(_result(op))) - 1:
        raise refuse(op, "TTNN counts along the last dimension")
    return namesake(op, rewriter)


@_of("ttir.rms_norm", "ttir.layer_norm")
def _norm(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    normalized = integers_in(op.properties["normalized_shape"])
    if normalized != [shape_of(op.operands[0].type)[-1]]:
        raise refuse(op, "TTNN normalises the last dimension")
    return namesake(op, rewriter)


@_of("ttir.group_norm")
def _group_norm(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    """TTNN takes channels last: [batch, 1, positions, channels]."""
    x = op.operands[0]
    (axis,) = integers_in(op.properties.get("channel_dim")) or [_CHANNELS_OF_GROUPS]
    order = [*(dim for dim in range(len(shape_of(x.type))) if dim != axis), axis]
    moved = permuted(x, order, rewriter, op)
    shape = shape_of(moved.type)
    flat = reshaped(moved, (shape[0], 1, math.prod(shape[1:-1]), shape[-1]), rewriter, op)
    properties = {name: op.properties.get(name) for name in ("num_groups", "epsilon")}
    value = rewriter.value("ttnn.group_norm", operands_by_name(op) | {"input": flat}, properties, flat.type, op)
    inverse = [order.index(dim) for dim in range(len(order))]
    return [permuted(reshaped(value, shape, rewriter, op), inverse, rewriter, op)]


@_of("ttir.batch_norm_inference", "ttir.batch_norm_training")
def _batch_norm(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    if len(shape_of(op.operands[0].type)) != 4 or integers_in(op.properties["dimension"]) != [1]:
        raise refuse(op, "TTNN normalises dimension 1 of tensors of rank 4")
    return namesake(op, rewriter) if len(op.results) == 1 else _batch_norm_in_place(op, rewriter)


def _batch_norm_in_place(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    """TTNN's training writes its running mean and variance, and has one result."""
    given = operands_by_name(op)
    names = ("operand", "running_mean", "running_variance", "scale", "offset")
    own = ("input", "running_mean", "running_var", "weight", "bias")
    operands = {new: given[old] for new, old in zip(own, names, strict=True)}
    properties = {name: op.properties.get(name) for name in ("epsilon", "momentum")}
    value = rewriter.value("ttnn.batch_norm_training", operands, properties, _result(op), op)
    return [value, op.operands[3], op.operands[4]]


@_of("ttir.embedding_backward")
def _embedding_backward(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    gradient = op.operands[2]
    shape = shape_of(gradient.type)
    flat = reshaped(gradient, (1, 1, math.prod(shape[:-1]), shape[-1]), rewriter, op)
    type_ = _result(op)
    properties = {
        "dtype": data_type_attribute(type_.get_element_type()),
        "memory_config": LayoutView(type_).memory_config(),
    }
    operands = with_operands(op, in_gradient=flat)
    return [rewriter.value("ttnn.embedding_bw", operands, properties, type_, op)]


@_of("ttir.mesh_shard")
def _mesh_shard(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    kind, direction = (str(op.properties[name]) for name in ("shard_type", "shard_direction"))
    if "identity" in kind:
        return namesake(op, rewriter)
    mesh, dims = mesh_of(op), integers_in(op.properties["shard_dims"])
    if "full_to_shard" in direction:
        placements = ["<replicate, -1 : i32>"] * len(mesh)
        if "devices" in kind:
            placements = [f"<{'shard' if dim >= 0 else 'replicate'}, {dim} : i32>" for dim in dims]
        extents = ", ".join(f"{extent} : ui32" for extent in mesh)
        config = parsed(
            f"#ttnn.mesh_mapper_config<placements = [{', '.join(placements)}], mesh_shape_override = [{extents}]>"
        )
        operands = {"input": op.operands[0], "mesh_device": rewriter.device(op)}
        return [rewriter.value("ttnn.distribute_tensor", operands, {"mapper_config": config}, _result(op), op)]
    composed = _composer_dims(dims, mesh, len(shape_of(op.operands[0].type))) if "devices" in kind else [(0, 1)]
    text = ", ".join(f"{dim} : i32" for dim, _ in composed), ", ".join(f"{extent} : ui32" for _, extent in composed)
    config = parsed(f"#ttnn.mesh_composer_config<dims = [{text[0]}], mesh_shape_override = [{text[1]}]>")
    operands = {"input": op.operands[0], "mesh_device": rewriter.device(op)}
    return [rewriter.value("ttnn.aggregate_tensor", operands, {"composer_config": config}, _result(op), op)]


def _composer_dims(dims: Sequence[int], mesh: Sequence[int], rank: int) -> list[tuple[int, int]]:
    """The dimension of the tensor that each dimension of the mesh composes, and how many devices of it."""
    found: list[tuple[int, int]] = []
    for index, dim in enumerate(dims):
        if dim >= 0:
            found.append((dim, mesh[index]))
        else:
            used = {*dims, *(each for each, _ in found)}
            found.append((next((d for d in range(rank - 1, -1, -1) if d not in used), -1), 1))
    return found


@_of("ttir.collective_broadcast")
def _collective_broadcast(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    type_, mesh = _result(op), mesh_of(op)
    properties = {
        "memory_config": LayoutView(type_).memory_config(),
        "dtype": data_type_attribute(type_.get_element_type()),
    }
    value = rewriter.value("ttnn.assign", {"input": op.operands[0]}, properties, type_, op)
    for group in _groups(op):
        for receiver in group[1:]:
            coordinates = {
                "sender_coord": dense_i64(_coordinate(group[0], mesh)),
                "receiver_coord": dense_i64(_coordinate(receiver, mesh)),
            }
            operands = {"input": op.operands[0], "optional_output_tensor": value}
            value = rewriter.value("ttnn.point_to_point", operands, coordinates, type_, op)
    return [value]


@_of("ttir.all_to_all_dispatch_metadata")
def _dispatch_with_scores(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    mapping = operand_named(op, "expert_mapping")
    assert mapping is not None, "every dispatch has it"
    rows = reshaped(mapping, shape_of(mapping.type)[-2:], rewriter, op)
    operands = with_operands(op, expert_mapping=rows)
    properties = {name: op.properties[name] for name in ("num_devices", "cluster_axis")}
    made = rewriter.create(
        "ttnn.all_to_all_dispatch_metadata", operands, properties, [each.type for each in op.results], op
    )
    return [*made.results]


@_of("ttir.moe_compute")
def _experts(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    """Experts on weights that are prepared: here two side by side, and a bias as a last row."""
    device, given = rewriter.device(op), operands_by_name(op)
    first = operand_named(op, "w0")
    assert first is not None, "every call has it"
    layers, experts, hidden, inner = shape_of(first.type)
    has_bias = operand_named(op, "bias_0") is not None
    sizes = {"hidden_size": integer(hidden, ui32), "intermediate_size": op.properties["intermediate_size"]}
    pair, last = (
        rewriter.value(
            f"ttnn.prepare_moe_compute_{name}_weights",
            {**{each: given[each] for each in operands if each in given}, "device": device},
            sizes,
            relaid(first.type, [layers, experts, *shape]),
            op,
        )
        for name, operands, shape in (
            ("w0_w1", ("w0", "w1", "bias_0", "bias_1"), (hidden + has_bias, 2 * inner)),
            ("w2", ("w2", "bias_2"), (inner + has_bias, hidden)),
        )
    )
    operands = {name: value for name, value in given.items() if name.startswith("tilize_")}
    operands |= {"matmul_w0_w1_tensor": pair, "matmul_w2_tensor": last, "device": device}
    kept = ("layer_id", "output_height_shard_dim", "intermediate_size", "activation_function", "cluster_axis")
    properties = {name: op.properties[name] for name in kept if name in op.properties}
    properties["has_bias"] = boolean(has_bias)
    return [rewriter.value("ttnn.moe_compute", operands, properties, _result(op), op)]


@_of("ttir.all_to_all")
def _all_to_all(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    source, mesh = op.operands[0], mesh_of(op)
    shape = [*shape_of(source.type)]
    split, into = (integers_in(op.properties[name])[0] for name in ("split_dim", "concat_dim"))
    groups = _groups(op)
    count = len(groups[0])
    size = shape[split] // count
    type_ = relaid(source.type, [size if index == split else extent for index, extent in enumerate(shape)])
    slices = [_slice(source, split, index * size, (index + 1) * size, type_, rewriter, op) for index in range(count)]
    result = _result(op)
    made = {
        "memory_config": LayoutView(result).memory_config(),
        "dtype": data_type_attribute(result.get_element_type()),
    }
    buffers = [rewriter.value("ttnn.assign", {"input": each}, made, type_, op) for each in slices]
    for group in groups:
        for sender, device in enumerate(group):
            for receiver, other in enumerate(group):
                if sender == receiver:
                    continue
                coordinates = {
                    "sender_coord": dense_i64(_coordinate(device, mesh)),
                    "receiver_coord": dense_i64(_coordinate(other, mesh)),
                }
                operands = {"input": slices[receiver], "optional_output_tensor": buffers[sender]}
                buffers[sender] = rewriter.value("ttnn.point_to_point", operands, coordinates, type_, op)
    return [rewriter.value("ttnn.concat", {"inputs": buffers}, {"dim": integer(into, si32)}, result, op)]


def _slice(
    source: SSAValue, dim: int, begin: int, end: int, type_: Attribute, rewriter: Rewriter, at: Operation
) -> SSAValue:
    shape = shape_of(source.type)
    begins = [begin if index == dim else 0 for index in range(len(shape))]
    ends = [end if index == dim else extent for index, extent in enumerate(shape)]
    properties = {"begins": listed(begins), "ends": listed(ends), "step": listed([1] * len(shape))}
    return rewriter.value("ttnn.slice_static", {"input": source}, properties, type_, at)


def _groups(op: Operation) -> list[list[int]]:
    groups = op.properties["replica_groups"]
    if not isinstance(groups, DenseIntOrFPElementsAttr):
        return [[0]]
    numbers = [int(each) for each in groups.get_values()]
    width = groups.type.get_shape()[-1]
    return [numbers[start : start + width] for start in range(0, len(numbers), width)]


def _coordinate(device: int, mesh: Sequence[int]) -> list[int]:
    found = []
    for extent in reversed(mesh):
        found.append(device % extent)
        device //= extent
    return found[::-1]


def sliding_window_of(op: Operation) -> tuple[int, int, int]:
    """Batch, height and width that `#ttir.flattened_compat` says.

    Raises:
        CompileError: The operation is not flattened.
    """
    info = op.properties.get("flattened_compat_info")
    if info is None or not hasattr(info, "value"):
        raise CompileError(
            f"'{op.name}' op only supports lowering to TTNN for flattened input tensors. Please run the "
            "FlattenSlidingWindow pass before lowering to TTNN",
            location=location_of(op),
        )
    return tuple(int(info.value(name)) for name in ("batchSize", "inputHeight", "inputWidth"))  # type: ignore[return-value]


def pair(op: Operation, name: str) -> list[int]:
    """Two integers of an attribute, or one for both."""
    found = integers_in(op.properties.get(name))
    return found * 2 if len(found) == 1 else found


def quadruple(op: Operation, name: str) -> list[int]:
    """Top, left, bottom and right of an attribute of one, two or four integers."""
    found = integers_in(op.properties.get(name))
    return found * (4 // len(found)) if found else [0] * 4


def bias_of(op: Operation) -> SSAValue | None:
    """The bias of a convolution."""
    return operand_named(op, "bias")
