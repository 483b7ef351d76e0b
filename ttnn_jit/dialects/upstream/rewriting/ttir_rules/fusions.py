"""Operations of TTIR that together are one: activations, softmax, biases, means."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerType, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.const_eval import CONV2D_WEIGHT
from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i32,
    integer,
    integers_in,
    listed,
    shape_of,
    si32,
    splat_number,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import (
    Rewriter,
    has_one_user,
    operand_named,
    operands_by_name,
    owner_named,
    users_of,
)
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.operation_groups import reduction_names
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, is_float, number_of
from ttnn_jit.dialects.upstream.rules.view import broadcast

_CONVOLUTIONS = ("ttir.conv2d", "ttir.convolution", "ttir.conv_transpose2d", "ttir.conv3d")

TAGS = Rules()
FUSIONS = Rules()
PERMUTED_PRODUCTS = Rules()
KEPT_DIMENSIONS = Rules()


def without_broadcast(value: SSAValue) -> SSAValue:
    """A value before it is broadcast."""
    while (made := owner_named(value, "ttir.broadcast")) is not None:
        value = made.operands[0]
    return value


def _with_number(op: Operation, number: float) -> SSAValue | None:
    """The other operand, if one operand of a commutative operation is a number."""
    left, right = op.operands[:2]
    if number_of(right) == number:
        return left
    return right if number_of(left) == number else None


@TAGS.of("ttir.conv2d", "ttir.convolution")
def tag_weight(op: Operation, rewriter: Rewriter) -> bool:
    """The argument that is a convolution's weight says so."""
    value = op.operands[1]
    if (cast := owner_named(value, "ttir.typecast")) is not None:
        value = cast.operands[0]
    function = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    if not isinstance(function, FuncOp) or not isinstance(value, BlockArgument):
        return False
    count = len(function.body.block.args)
    given = [*(function.arg_attrs or [DictionaryAttr({})] * count)]
    if CONV2D_WEIGHT in given[value.index].data:
        return False
    given[value.index] = DictionaryAttr({**given[value.index].data, CONV2D_WEIGHT: UnitAttr()})
    function.arg_attrs = ArrayAttr(given)
    rewriter.changes += 1
    return True


@FUSIONS.of("ttir.maximum")
def relu(op: Operation, rewriter: Rewriter) -> bool:
    """``maximum(x, 0)``."""
    source = _with_number(op, 0)
    if source is None or source.type != op.results[0].type:
        return False
    rewriter.replace(op, [rewriter.value("ttir.relu", {"input": source}, {}, op.results[0].type, op)])
    return True


@FUSIONS.of("ttir.minimum")
def relu6(op: Operation, rewriter: Rewriter) -> bool:
    """``minimum(relu(x), 6)``."""
    source = _with_number(op, 6)
    inner = owner_named(source, "ttir.relu") if source is not None else None
    if inner is None or not has_one_user(inner.results[0]) or inner.results[0].type != op.results[0].type:
        return False
    rewriter.replace(op, [rewriter.value("ttir.relu6", {"input": inner.operands[0]}, {}, op.results[0].type, op)])
    return True


@FUSIONS.of("ttir.div")
def hardsigmoid(op: Operation, rewriter: Rewriter) -> bool:
    """``relu6(x + 3) / 6``."""
    inner = owner_named(op.operands[0], "ttir.relu6")
    if inner is None or number_of(op.operands[1]) != 6 or not has_one_user(inner.results[0]):
        return False
    add = owner_named(inner.operands[0], "ttir.add")
    source = _with_number(add, 3) if add is not None else None
    if add is None or source is None or not has_one_user(add.results[0]) or source.type != op.results[0].type:
        return False
    rewriter.replace(op, [rewriter.value("ttir.hardsigmoid", {"input": source}, {}, op.results[0].type, op)])
    return True


@FUSIONS.of("ttir.multiply")
def silu(op: Operation, rewriter: Rewriter) -> bool:
    """``x * sigmoid(x)``, also where the sigmoid is taken of a cast of `x`."""
    for index in (0, 1):
        other = op.operands[1 - index]
        value = op.operands[index]
        cast = owner_named(value, "ttir.typecast")
        inner = owner_named(cast.operands[0] if cast else value, "ttir.sigmoid")
        if inner is None or not has_one_user(inner.results[0]):
            continue
        source = inner.operands[0]
        widened = owner_named(source, "ttir.typecast") if cast is not None else None
        read = widened.operands[0] if widened is not None else source
        if read is other and other.type == op.results[0].type:
            rewriter.replace(op, [rewriter.value("ttir.silu", {"input": other}, {}, op.results[0].type, op)])
            return True
    return False


@FUSIONS.of("ttir.typecast")
def silu_between_casts(op: Operation, rewriter: Rewriter) -> bool:
    """``x * sigmoid(x)`` in a wider type, cast back to the type of `x`."""
    product = owner_named(op.operands[0], "ttir.multiply")
    if product is None or not has_one_user(product.results[0]):
        return False
    casts = [owner_named(value, "ttir.typecast") for value in product.operands[:2]]
    for cast, other in (casts, casts[::-1]):
        inner = owner_named(cast.operands[0], "ttir.sigmoid") if cast is not None else None
        if inner is None or other is None or inner.operands[0] is not other.operands[0]:
            continue
        source = inner.operands[0]
        if source.type == op.results[0].type and has_one_user(inner.results[0]):
            rewriter.replace(op, [rewriter.value("ttir.silu", {"input": source}, {}, source.type, op)])
            return True
    return False


@FUSIONS.of("ttir.div")
def softmax(op: Operation, rewriter: Rewriter) -> bool:
    """``exp(x) / sum(exp(x))`` along one dimension."""
    exp = owner_named(op.operands[0], "ttir.exp")
    total = owner_named(without_broadcast(op.operands[1]), "ttir.sum")
    if exp is None or total is None or total.operands[0] is not exp.results[0]:
        return False
    dims, keeps = integers_in(total.properties.get("dim_arg")), total.properties.get("keep_dim") == boolean(True)
    if len(dims) != 1 or not keeps or len(users_of(exp.results[0])) != 2 or not has_one_user(total.results[0]):
        return False
    type_ = op.results[0].type
    if exp.operands[0].type != type_ or not is_float(element_of(exp.results[0])):
        return False
    properties = {"dimension": integer(dims[0] % len(shape_of(type_)), si32), "numericStable": boolean(False)}
    rewriter.replace(op, [rewriter.value("ttir.softmax", {"input": exp.operands[0]}, properties, type_, op)])
    return True


@FUSIONS.of("ttir.softmax")
def stable_softmax(op: Operation, rewriter: Rewriter) -> bool:
    """``softmax(x - max(x))``."""
    difference = owner_named(op.operands[0], "ttir.subtract")
    if difference is None or not has_one_user(difference.results[0]):
        return False
    source = difference.operands[0]
    greatest = owner_named(without_broadcast(difference.operands[1]), "ttir.max")
    if greatest is None or greatest.operands[0] is not source or source.type != op.results[0].type:
        return False
    dims = [dim % len(shape_of(source.type)) for dim in integers_in(greatest.properties.get("dim_arg"))]
    if dims != integers_in(op.properties["dimension"]) or greatest.properties.get("keep_dim") != boolean(True):
        return False
    properties = {**op.properties, "numericStable": boolean(True)}
    rewriter.replace(op, [rewriter.value("ttir.softmax", {"input": source}, properties, op.results[0].type, op)])
    return True


@FUSIONS.of("ttir.reshape")
def reduction_keeps_dims(op: Operation, rewriter: Rewriter) -> bool:
    """A reduction whose dimensions a reshape restores keeps them."""
    inner = owner_named(op.operands[0], *reduction_names())
    if inner is None or not has_one_user(inner.results[0]) or inner.properties.get("keep_dim") == boolean(True):
        return False
    if _kept_shape(inner) != shape_of(op.results[0].type):
        return False
    properties = {**inner.properties, "keep_dim": boolean(True)}
    value = rewriter.value(inner.name, {"input": inner.operands[0]}, properties, op.results[0].type, op)
    rewriter.replace(op, [value])
    return True


def _kept_shape(reduction: Operation) -> tuple[int, ...]:
    """The shape of a reduction's result if it keeps its dimensions."""
    shape = shape_of(reduction.operands[0].type)
    given = integers_in(reduction.properties.get("dim_arg"))
    dims = {dim % len(shape) for dim in given} if given else {*range(len(shape))}
    return tuple(1 if index in dims else extent for index, extent in enumerate(shape))


@KEPT_DIMENSIONS.of(*reduction_names())
def reduction_is_reshaped(op: Operation, rewriter: Rewriter) -> bool:
    """A reduction that drops its dimensions keeps them, and a reshape drops them: the inverse of the rule above."""
    if op.properties.get("keep_dim") == boolean(True):
        return False
    type_, properties = with_shape(op.results[0].type, _kept_shape(op)), {**op.properties, "keep_dim": boolean(True)}
    value = rewriter.value(op.name, {"input": op.operands[0]}, properties, type_, op)
    rewriter.replace(op, [reshape(value, shape_of(op.results[0].type), rewriter, op)])
    return True


@FUSIONS.of("ttir.multiply")
def mean(op: Operation, rewriter: Rewriter) -> bool:
    """``sum(x) * (1 / n)``, where `n` is the number of terms; also behind a reshape."""
    for index in (0, 1):
        value = op.operands[index]
        moved = owner_named(value, "ttir.reshape")
        total = owner_named(moved.operands[0] if moved else value, "ttir.sum")
        factor = number_of(op.operands[1 - index])
        if total is None or factor is None or not has_one_user(total.results[0]) or not has_one_user(value):
            continue
        if value.type != op.results[0].type:
            continue
        shape = shape_of(total.operands[0].type)
        dims = integers_in(total.properties.get("dim_arg")) or [*range(len(shape))]
        count = math.prod(shape[dim] for dim in dims)
        if count == 0 or not math.isclose(float(factor), 1 / count, rel_tol=2**-8 if _is_narrow(op) else 2**-20):
            continue
        made = rewriter.value("ttir.mean", {"input": total.operands[0]}, total.properties, total.results[0].type, op)
        rewriter.replace(op, [made if moved is None else reshape(made, shape_of(op.results[0].type), rewriter, op)])
        return True
    return False


def _is_narrow(op: Operation) -> bool:
    return str(element_of(op.results[0])) == "bf16"


@FUSIONS.of("ttir.mean")
def spatial_mean(op: Operation, rewriter: Rewriter) -> bool:
    """A mean over the height and width of (N, H, W, C) is one over H * W."""
    source = op.operands[0]
    shape = shape_of(source.type)
    dims = sorted(dim % 4 for dim in integers_in(op.properties.get("dim_arg"))) if len(shape) == 4 else []
    if dims != [1, 2] or not has_one_user(op.results[0]):
        return False
    batch, height, width, channels = shape
    flat = reshape(source, (batch, 1, height * width, channels), rewriter, op)
    type_ = with_shape(op.results[0].type, (batch, 1, 1, channels))
    properties = {"keep_dim": boolean(True), "dim_arg": listed([2])}
    value = rewriter.value("ttir.mean", {"input": flat}, properties, type_, op)
    if op.properties.get("keep_dim") != boolean(True):
        value = reshape(value, (batch, channels), rewriter, op)
    rewriter.replace(op, [value])
    return True


@FUSIONS.of("ttir.add")
def convolution_with_bias(op: Operation, rewriter: Rewriter) -> bool:
    """A convolution and a number for each of its channels."""
    for index in (0, 1):
        convolution = owner_named(op.operands[index], *_CONVOLUTIONS)
        if convolution is None or not has_one_user(convolution.results[0]):
            continue
        if convolution.results[0].type != op.results[0].type:
            continue
        bias = without_broadcast(op.operands[1 - index])
        shape = shape_of(convolution.results[0].type)
        channel = channel_of(convolution)
        if shape_of(bias.type) != tuple(shape[dim] if dim == channel else 1 for dim in range(len(shape))):
            continue
        if (given := operand_named(convolution, "bias")) is not None:
            if shape_of(given.type) != shape_of(bias.type):
                continue
            bias = rewriter.value("ttir.add", {"lhs": given, "rhs": bias}, {}, bias.type, op)
        operands = {**operands_by_name(convolution), "bias": bias}
        value = rewriter.value(convolution.name, operands, convolution.properties, op.results[0].type, op)
        rewriter.replace(op, [value])
        return True
    return False


def channel_of(convolution: Operation) -> int:
    """The dimension of a convolution's result that has its channels."""
    layout = convolution.properties.get("convolution_layout")
    if layout is not None:
        return int(layout.value("outputFeatureDimension"))  # type: ignore[attr-defined]  # an attribute of the tables
    given = integers_in(convolution.properties.get("channel_dim"))
    return given[0] if given else len(shape_of(convolution.results[0].type)) - 1


@FUSIONS.of("ttir.conv3d")
def convolution_of_padded(op: Operation, rewriter: Rewriter) -> bool:
    """Zeros around the images of a convolution are its padding, if as many lie before as behind."""
    pad = owner_named(op.operands[0], "ttir.pad")
    mode = op.properties.get("padding_mode")
    if pad is None or not has_one_user(pad.results[0]) or splat_number(pad.properties["value"]) != 0:
        return False
    if mode is not None and mode != StringAttr("zeros"):
        return False
    amounts, dims = integers_in(pad.properties["padding"]), _image_dims(op)
    before, behind = amounts[::2], amounts[1::2]
    if before != behind or any(amount and dim not in dims for dim, amount in enumerate(before)):
        return False
    own = integers_in(op.properties["padding"])
    own = own * len(dims) if len(own) == 1 else own
    padding = dense_i32([each + before[dim] for each, dim in zip(own, dims, strict=True)])
    operands = {**operands_by_name(op), "input": pad.operands[0]}
    value = rewriter.value(op.name, operands, {**op.properties, "padding": padding}, op.results[0].type, op)
    rewriter.replace(op, [value])
    return True


def _image_dims(convolution: Operation) -> list[int]:
    """The dimensions of depth, height and width of a convolution of three."""
    named = [integers_in(convolution.properties.get(f"{name}_dim")) for name in ("depth", "height", "width")]
    return [given[0] if given else index for index, given in enumerate(named, start=1)]


@FUSIONS.of("ttir.add")
def product_with_bias(op: Operation, rewriter: Rewriter) -> bool:
    """A product and what is added to it."""
    matmuls = [owner_named(value, "ttir.matmul") for value in op.operands[:2]]
    if (matmuls[0] is None) == (matmuls[1] is None):
        return False
    index = 0 if matmuls[0] is not None else 1
    product, bias = matmuls[index], op.operands[1 - index]
    assert product is not None
    if not has_one_user(product.results[0]) or not has_one_user(bias):
        return False
    if isinstance(element_of(bias), IntegerType):
        return False
    shape = broadcast(shape_of(product.results[0].type), shape_of(bias.type))
    if shape is None or tuple(shape) != shape_of(op.results[0].type):
        return False
    a, b = product.operands[:2]
    operands = {"a": a, "b": b, "bias": bias}
    value = rewriter.value("ttir.linear", operands, product.properties, op.results[0].type, op)
    rewriter.replace(op, [_annotated(value, product)])
    return True


def _annotated(value: SSAValue, product: Operation) -> SSAValue:
    """A value whose operation says what is said of the product that it replaces, such as its weight's data type."""
    assert isinstance(value.owner, Operation)
    value.owner.attributes.update(product.attributes)
    return value


@FUSIONS.of("ttir.add")
def reshaped_product_with_bias(op: Operation, rewriter: Rewriter) -> bool:
    """A reshaped product and what is added to it, where the sum may be taken before the reshape."""
    for index in (0, 1):
        moved = owner_named(op.operands[index], "ttir.reshape")
        product = owner_named(moved.operands[0], "ttir.matmul") if moved is not None else None
        bias = op.operands[1 - index]
        if moved is None or product is None or isinstance(element_of(bias), IntegerType):
            continue
        if not has_one_user(product.results[0]) or not has_one_user(moved.results[0]) or not has_one_user(bias):
            continue
        result, wide = shape_of(op.results[0].type), shape_of(product.results[0].type)
        shape = broadcast(wide, shape_of(bias.type))
        # The sum before the reshape is that after it where the bias runs along the last dimension alone.
        alone = math.prod(shape_of(bias.type)) == shape_of(bias.type)[-1] == wide[-1] == result[-1]
        if shape is None or tuple(shape) != wide or not alone or math.prod(wide) != math.prod(result):
            continue
        a, b = product.operands[:2]
        operands = {"a": a, "b": b, "bias": bias}
        linear = rewriter.value("ttir.linear", operands, product.properties, product.results[0].type, op)
        rewriter.replace(op, [reshape(linear, result, rewriter, op)])
        return True
    return False


@PERMUTED_PRODUCTS.of("ttir.matmul", "ttir.linear")
def product_of_permuted(op: Operation, rewriter: Rewriter) -> bool:
    """An operand whose last two dimensions a permute swaps is transposed by the product."""
    operands, properties = operands_by_name(op), dict(op.properties)
    changed = False
    for index, name in enumerate(("a", "b")):
        permute = owner_named(op.operands[index], "ttir.permute")
        if permute is None:
            continue
        order = integers_in(permute.properties["permutation"])
        rank = len(order)
        if rank < 2 or order != [*range(rank - 2), rank - 1, rank - 2]:
            continue
        operands[name] = permute.operands[0]
        properties[f"transpose_{name}"] = boolean(properties.get(f"transpose_{name}") != boolean(True))
        changed = True
    if changed:
        for name in ("a", "b"):
            properties.setdefault(f"transpose_{name}", boolean(False))
        value = rewriter.value(op.name, operands, properties, op.results[0].type, op)
        rewriter.replace(op, [_annotated(value, op)])
    return changed
