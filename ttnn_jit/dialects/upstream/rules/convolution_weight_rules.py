"""Convolutions over volumes, and what prepares the weights of convolutions over images."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.view import View, joined, require


def verify_conv3d(op: Operation) -> None:
    """Ranks, windows, channels and groups of a convolution over volumes."""
    view = View(op)
    require(len(view.shape("input")) == 5, "input must be a 5D tensor [N, D, H, W, C]")
    weight = view.shape("weight")
    require(
        len(weight) in {2, 5},
        "weight must be either a 5D tensor [O, C/G, kD, kH, kW] (raw) or a 2D tensor [kD*kH*kW*C/G, O] (prepared)",
    )
    bias = view.shape("bias") if view.has("bias") else None
    require(bias is None or len(bias) == 2, "bias must be a 2D tensor [1, O]")
    require(len(view.result().get_shape()) == 5, "result must be a 5D tensor [N, D_out, H_out, W_out, O]")
    kernel = _triple(view, "kernel_size", 1, ">= 1")
    _triple(view, "stride", 1, "> 0")
    _triple(view, "padding", 0, ">= 0")
    mode = view.attribute("padding_mode")
    if isinstance(mode, StringAttr):
        require(mode.data in {"zeros", "replicate"}, f"padding_mode must be 'zeros' or 'replicate', got: {mode.data}")
    groups = view.integer("groups", 1)
    require(groups >= 1, f"groups must be >= 1, got: {groups}")
    _verify_channels(view, weight, kernel, bias)


def _triple(view: View, name: str, least: int, said: str) -> list[int]:
    values = view.integers(name)
    require(len(values) == 3, f"{name} must have 3 values, got: {len(values)}")
    require(min(values) >= least, f"{name} values must be {said}, got: ({joined(values, ', ')})")
    return values


def _verify_channels(view: View, weight: Sequence[int], kernel: Sequence[int], bias: Sequence[int] | None) -> None:
    given, groups = view.integer("in_channels"), view.integer("groups", 1)
    made = weight[0] if len(weight) == 5 else view.integer("out_channels")
    require(given % groups == 0, f"in_channels ({given}) must be divisible by groups ({groups})")
    require(made % groups == 0, f"out_channels ({made}) must be divisible by groups ({groups})")
    if len(weight) == 2:
        wanted = given // groups * kernel[0] * kernel[1] * kernel[2]
        require(
            weight[0] == wanted, f"weight flattened dimension ({weight[0]}) must equal kD*kH*kW*C_in/groups ({wanted})"
        )
    else:
        require(
            [*weight[2:]] == [*kernel],
            f"weight kernel dimensions ({joined(weight[2:], ', ')}) must match kernel_size ({joined(kernel, ', ')})",
        )
    if bias is not None:
        require(bias[1] == made, f"bias output channels ({bias[1]}) must match weight output channels ({made})")
        require(bias[0] == 1, f"bias first dimension must be 1, got {bias[0]}")


def verify_prepared_weights(op: Operation) -> None:
    """Weights that are prepared have the extents that the attributes say."""
    view = View(op)
    shape = view.shape("weight_tensor")
    require(len(shape) == 4, "Weight must be a 4D tensor")
    form = view.attribute("weights_format")
    require(isinstance(form, StringAttr) and form.data == "OIHW", "Only `OIHW` weights format is currently supported")
    made, given, groups = view.integer("out_channels"), view.integer("in_channels"), view.integer("groups", 1)
    require(
        shape[0] == made,
        f"Expected output channels attribute ({made}) to match the first dimension of the weight tensor ({shape[0]})",
    )
    require(
        shape[1] == given // groups,
        f"Expected input channels attribute ({given}) to match the number of input channels per group "
        f"({shape[1] // groups})",
    )
    kernel = view.integers("kernel_size")
    require(len(kernel) == 2, "Expected kernel size attribute to be a 2D tensor")
    for what, which, size, own in zip(("height", "width"), ("third", "fourth"), kernel, shape[2:], strict=True):
        require(
            size == own,
            f"Expected kernel {what} attribute ({size}) to match the {which} dimension of the weight tensor ({own})",
        )
    for name, counts in (("stride", {2}), ("dilation", {2}), ("padding", {2, 4})):
        require(len(view.integers(name)) in counts, f"Expected {name} attribute to be a 2D tensor")


CONVOLUTION_WEIGHTS = {
    "ttnn.conv3d": (verify_conv3d,),
    "ttnn.prepare_conv2d_weights": (verify_prepared_weights,),
}
"""Name of an operation -> its rules."""
