"""How operations of TTNN become operations of TTIR again: the inverse of `ttnn_conversions`."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    dense_i32,
    dense_i64,
    integer,
    integers_in,
    listed,
    shape_of,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operands_by_name
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_conversions import (
    RENAMED,
    RENAMED_OPERANDS,
    default_of,
    of_kind,
    refuse,
)

_NAMES = {new: old for old, new in RENAMED.items()} | {"ttnn.pow_tensor": "ttir.pow"}
_OPERANDS = {(name, new): old for (name, old), new in RENAMED_OPERANDS.items()}

DROPPED = frozenset({"ttnn.deallocate", "ttnn.get_device"})
"""Operations of TTNN that TTIR has not: nothing is computed by them."""


def counterpart_name(op: Operation, rewriter: Rewriter) -> str:
    """The operation of TTIR that an operation of TTNN becomes; "" if there is none."""
    name = _NAMES.get(op.name, f"ttir.{op.name.partition('.')[2]}")
    return name if op.name.startswith("ttnn.") and rewriter.row(name) is not None else ""


def to_ttir(op: Operation, rewriter: Rewriter) -> list[SSAValue]:
    """Writes the operation of TTIR; the values of its results.

    Raises:
        CompileError: There is none, or it needs what `op` does not say.
    """
    name = counterpart_name(op, rewriter)
    row = rewriter.row(name) if name else None
    if row is None or _has_more(op):
        raise refuse(op)
    known = {each.name for each in row.operands}
    given = {_OPERANDS.get((op.name, key), key): value for key, value in operands_by_name(op).items()}
    operands = {key: value for key, value in given.items() if key in known}
    if name == "ttir.to_layout":
        operands["output"] = rewriter.value("ttir.empty", {}, {}, op.results[0].type, op)
    properties: dict[str, Attribute | None] = {}
    for each in row.attributes:
        value = _attribute(op, each.name)
        if value is None and not each.is_optional:
            value = default_of(each) if each.default else None
            if value is None and not each.default and each.kind != "UnitAttr":
                raise refuse(op, f"`{name}` needs `{each.name}`")
        properties[each.name] = None if value is None else of_kind(value, each.kind)
    made = rewriter.create(name, operands, properties, [each.type for each in op.results], op)
    return [*made.results]


def _has_more(op: Operation) -> bool:
    """Whether an operation computes more than its counterpart: an activation, or a scalar exponent."""
    return "activation" in op.properties or op.name in {"ttnn.pow_scalar"} or "conv2d_config" in op.properties


def _attribute(op: Operation, name: str) -> Attribute | None:
    """What an operation of TTNN says of an attribute of TTIR."""
    shape = shape_of(op.results[0].type) if op.results else ()
    match op.name, name:
        case ("ttnn.argmax", "dim_arg") | ("ttnn.prod", "dim_arg"):
            dims = integers_in(op.properties.get("dim", op.properties.get("dim_arg")))
            found: Attribute | None = listed(dims) if dims else None
        case (("ttnn.full" | "ttnn.zeros" | "ttnn.ones"), "shape"):
            found = dense_i32(shape)
        case "ttnn.arange", "arange_dimension":
            found = integer(len(shape) - 1)
        case (("ttnn.rms_norm" | "ttnn.layer_norm"), "normalized_shape"):
            found = dense_i64([shape[-1]])
        case (("ttnn.batch_norm_inference" | "ttnn.batch_norm_training"), "dimension"):
            found = integer(1)
        case "ttnn.repeat", "repeat_dimensions":
            found = dense_i64(op.properties["repeat_dims"].data)  # type: ignore[attr-defined]  # a shape
        case _:
            found = op.properties.get(name) if name != "layout" else None
    return found


def is_convertible(op: Operation, rewriter: Rewriter) -> bool:
    """Whether an operation of TTNN has a counterpart that says all of it."""
    return bool(counterpart_name(op, rewriter)) and not _has_more(op)
