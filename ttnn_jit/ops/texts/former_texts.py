"""Ops as former versions of tt-mlir wrote them (2024 to 2026), each by the op that took its place.

An op that has kept its name is declared as ``name@attribute``, with an attribute that only its former form has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.ops.families.conversion_protocol import Tensor, TtirOps
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.ops.families.dialect_conversion import RegionInText
from ttnn_jit.ops.families.text_operation import (
    REQUIRED,
    TextCall,
    TextOperation,
    TextOps,
    element_of,
    text,
)

Attributes = Callable[[TextCall], dict[str, Any]]


def _operands_of(call: TextCall, order: Sequence[str]) -> list[Any]:
    return [vars(call)[name.rstrip("?")] for name in order]


def _former(
    names: str,
    now: str,
    operands: str,
    attributes: Attributes | None = None,
    *,
    order: str = "",
    index: str = "",
    not_negative: tuple[str, ...] = (),
    **defaults: Any,
) -> TextOperation:
    """An op in terms of a present one.

    Args:
        names: Its names.
        now: The present op.
        operands: Its operands.
        attributes: The attributes of the present op; None: those that `defaults` names.
        order: Its operands in the order of the present op; "" for the same.
        index: An operand that is an index there by the same name.
        not_negative: As that of `TextOperation`.
        **defaults: Its attributes and their defaults.
    """
    from ttnn_jit.ops.texts import text_operations

    own = (order or operands).split()

    def given(call: TextCall) -> dict[str, Any]:
        return {name: vars(call)[name] for name in defaults} if attributes is None else attributes(call)

    def write(ops: TextOps, call: TextCall) -> list[Value]:
        types = [(each.shape, element_of(each.dtype)) for each in call.results]
        return ops.in_text(now, _operands_of(call, own), types, given(call))

    def golden(torch: Any, call: TextCall) -> Any:
        listed = [
            each if isinstance(each, list) else [] if each is None else [each] for each in _operands_of(call, own)
        ]
        operation = text_operations()[now]
        bound = operation.bound([each for one in listed for each in one], [*map(len, listed)], given(call))
        return operation.golden(torch, TextCall(bound, call.results))

    def limit(call: TextCall) -> int | None:
        return text_operations()[now].index_limits[index](TextCall(vars(call) | given(call), call.results))

    limits = {index: limit} if index else {}
    return text(names, operands, write, golden, index_limits=limits, not_negative=not_negative, **defaults)


# --- Windows, whose sizes were one number each ------------------------------------------------------------------------


def _pairs(names: Mapping[str, str], *, suffix: tuple[str, str] = ("_height", "_width")) -> Attributes:
    """Former names of pairs, without their suffixes -> present ones."""

    def attributes(call: TextCall) -> dict[str, Any]:
        return {now: tuple(vars(call)[name + each] for each in suffix) for name, now in names.items()}

    return attributes


def _sides(call: TextCall) -> dict[str, Any]:
    return {"padding": (call.padding_top, call.padding_left, call.padding_bottom, call.padding_right)}


def _named(*names: str) -> Attributes:
    return lambda call: {name: vars(call)[name] for name in names}


def _all(*parts: Attributes) -> Attributes:
    return lambda call: {name: value for part in parts for name, value in part(call).items()}


def _numbers(*names: str) -> dict[str, Any]:
    return dict.fromkeys((f"{name}_{side}" for name in names for side in ("height", "width")), REQUIRED)


_SIDES: dict[str, Any] = dict.fromkeys(("padding_top", "padding_left", "padding_bottom", "padding_right"), REQUIRED)
_STRIDES = {"stride": "stride", "dilation": "dilation"}
_ORIGINAL: dict[str, Any] = {"original_height": None, "original_width": None}
_TTNN_SIZES: dict[str, Any] = dict.fromkeys(("batch_size", "input_height", "input_width"), REQUIRED)
_PAIRS_OF_TTNN = {**_STRIDES, "kernel": "kernel_size", "padding": "padding"}

WINDOWS = (
    _former(
        "ttir.conv2d@stride_height",
        "ttir.conv2d",
        "input weight bias?",
        _all(_pairs(_STRIDES), _sides, _named("groups")),
        **_numbers("stride", "dilation"),
        **_SIDES,
        groups=1,
    ),
    *(
        _former(
            f"ttir.{name}@kernel_height",
            f"ttir.{name}",
            "input",
            _all(_pairs({**_STRIDES, "kernel": "kernel"}), _sides, _named("ceil_mode")),
            **_numbers("kernel", "stride", "dilation"),
            **_SIDES,
            **_ORIGINAL,
            ceil_mode=False,
        )
        for name in ("max_pool2d", "avg_pool2d")
    ),
    _former(
        "ttnn.conv2d@kernel_height",
        "ttnn.conv2d",
        "input weight bias?",
        _all(_pairs(_PAIRS_OF_TTNN), _named("in_channels", "out_channels", *_TTNN_SIZES, "groups")),
        **_numbers("kernel", "stride", "padding", "dilation"),
        **_TTNN_SIZES,
        in_channels=REQUIRED,
        out_channels=REQUIRED,
        groups=1,
    ),
    _former(
        "ttnn.max_pool2d@kernel_height",
        "ttnn.max_pool2d",
        "input",
        _all(_pairs(_PAIRS_OF_TTNN), _named("channels", "ceil_mode", *_TTNN_SIZES)),
        **_numbers("kernel", "stride", "padding", "dilation"),
        **_TTNN_SIZES,
        channels=REQUIRED,
        ceil_mode=False,
    ),
)

# --- Other names ------------------------------------------------------------------------------------------------------

_SLICE: dict[str, Any] = {"begins": REQUIRED, "ends": REQUIRED, "step": REQUIRED}
_BATCH_NORM = _named("epsilon", "dimension")


def _batch_norm_of_ttnn(call: TextCall) -> dict[str, Any]:
    return {"epsilon": call.epsilon}


RENAMED = (
    _former("ttir.slice", "ttir.slice_static", "input", **_SLICE),
    _former("ttnn.slice", "ttnn.slice_static", "input", **_SLICE),
    _former("ttir.select", "ttir.index_select", "input", dim=REQUIRED, begin=0, length=REQUIRED, stride=0),
    _former("ttir.clamp", "ttir.clamp_scalar", "input", min=REQUIRED, max=REQUIRED),
    _former("ttnn.clamp", "ttnn.clamp_scalar", "input", min=REQUIRED, max=REQUIRED),
    _former("ttir.power", "ttir.pow", "lhs rhs"),
    _former("ttnn.pow ttnn.power", "ttnn.pow_tensor", "lhs rhs"),
    _former("ttnn.div", "ttnn.divide", "lhs rhs"),
    _former("ttir.gather_dim", "ttir.gather", "input index", index="index", dim=REQUIRED),
    _former("ttir.scatter_in_dim", "ttir.scatter", "input index source", index="index", dim=REQUIRED),
    _former(
        "ttir.batch_norm",
        "ttir.batch_norm_inference",
        "operand scale offset mean variance",
        _BATCH_NORM,
        not_negative=("variance",),
        epsilon=REQUIRED,
        dimension=1,
        training=False,
    ),
    _former(
        "ttnn.batch_norm",
        "ttnn.batch_norm_inference",
        "input running_mean? running_var? weight? bias?",
        _batch_norm_of_ttnn,
        not_negative=("running_var",),
        training=False,
        epsilon=1e-5,
        momentum=0.1,
    ),
)

# --- Other attributes -------------------------------------------------------------------------------------------------


def _repeats(call: TextCall) -> dict[str, Any]:
    """How often each dimension of the operand is repeated in the result."""
    extents = (*call.input.shape,)
    wide = (1,) * (len(call.result.shape) - len(extents)) + extents
    return {"broadcast_dimensions": tuple(to // own for to, own in zip(call.result.shape, wide, strict=True))}


class _Replacement(RegionInText):
    """The region of a scatter that replaces elements."""

    single = None

    def convert(self, _: TtirOps, *arguments: Tensor) -> list[Tensor]:
        """The new elements."""
        return [*arguments[len(arguments) // 2 :]]

    def golden(self, _: Any, *arguments: Any) -> list[Any]:
        """The new elements."""
        return [*arguments[len(arguments) // 2 :]]

    def returned_argument(self, number: int) -> int | None:
        """The new element of the one operand."""
        return 1 + number

    def compares(self) -> tuple[int, str] | None:
        """None: it compares nothing."""
        return None


def _scattered(call: TextCall) -> TextCall:
    """The call as one of StableHLO."""
    numbers = {
        "updateWindowDims": call.update_window_dims,
        "insertedWindowDims": call.inserted_window_dims,
        "inputBatchingDims": call.input_batching_dims,
        "scatterIndicesBatchingDims": call.scatter_indices_batching_dims,
        "scatterDimsToOperandDims": call.scatter_dims_to_operand_dims,
        "indexVectorDim": call.index_vector_dim,
    }
    given = {
        "inputs": [call.input],
        "scatter_indices": call.scatter_indices,
        "updates": [call.update],
        "scatter_dimension_numbers": numbers,
        "update_computation": _Replacement(),
        "indices_are_sorted": call.indices_are_sorted,
        "unique_indices": call.unique_indices,
    }
    return TextCall(given, call.results)


def _now_scatter() -> TextOperation:
    from ttnn_jit.ops.texts import text_operations

    return text_operations()["stablehlo.scatter"]


SCATTER = text(
    "ttir.scatter@update_window_dims",
    "input scatter_indices update",
    lambda ops, call: _now_scatter().write(ops, _scattered(call)),
    lambda torch, call: _now_scatter().golden(torch, _scattered(call)),
    index_limits={
        "scatter_indices": lambda call: min(call.input.shape[axis] for axis in call.scatter_dims_to_operand_dims)
    },
    in_float32=True,
    **dict.fromkeys(("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"), REQUIRED),
    input_batching_dims=(),
    scatter_indices_batching_dims=(),
    index_vector_dim=REQUIRED,
    indices_are_sorted=False,
    unique_indices=False,
)

ATTRIBUTES = (
    _former("ttir.broadcast@dimension", "ttir.broadcast", "input", _repeats, dimension=REQUIRED),
    _former("ttnn.full@fillValue", "ttnn.full", "", lambda call: {"fill_value": call.fillValue}, fillValue=REQUIRED),
    _former("ttnn.repeat@shape", "ttnn.repeat", "input", lambda call: {"repeat_dims": call.shape}, shape=REQUIRED),
    _former("ttir.fill", "ttir.constant", "", value=REQUIRED),
)

TEXTS = (*WINDOWS, *RENAMED, *ATTRIBUTES, SCATTER)
