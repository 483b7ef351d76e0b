"""Windows: pooling, convolutions and their transposes, upsampling."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.view import View, fail, require
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class _Window:
    """The extents that a convolution or a pool slides over.

    Attributes:
        flattened: Whether batch, height and width are one dimension.
    """

    batch: int
    height: int
    width: int
    channels: int
    flattened: bool


def _compat(view: View) -> Any:
    return view.attribute("flattened_compat_info")


def _extent(compat: Any, name: str) -> int:
    return int(compat.value(name))


def _window(view: View, dims: tuple[int, int, int, int]) -> _Window:
    """The input's extents; `dims` are those of batch, height, width and channels."""
    shape = view.shape("input")
    compat = _compat(view)
    batch, height, width, channels = (shape[dim] for dim in dims)
    if compat is None:
        return _Window(batch, height, width, channels, flattened=False)
    batch, height, width = (_extent(compat, name) for name in ("batchSize", "inputHeight", "inputWidth"))
    return _Window(batch, height, width, channels, flattened=True)


def _verify_flattened(view: View, article: str, end: str) -> None:
    compat = _compat(view)
    if compat is None:
        return
    extents = [_extent(compat, name) for name in ("batchSize", "inputHeight", "inputWidth")]
    expected, actual = extents[0] * extents[1] * extents[2], view.shape("input")[2]
    if expected != actual:
        fail(
            f"{article} input tensor's flattened dimension ({actual}) does not match the product of batch_size * "
            f"input_height * input_width from FlattenedCompatInfo ({' * '.join(map(str, extents))} = {expected}){end}"
        )


def verify_pool(op: Operation) -> None:
    """A pool of two dimensions."""
    view = View(op)
    output = [*view.result().get_shape()]
    require(len(view.shape("input")) == 4, "input must be a 4D tensor")
    require(len(output) == 4, "output must be a 4D tensor")
    _verify_flattened(view, "the", "")
    kernel = view.pair("kernel", " for kernel attribute")
    stride = view.pair("stride", " for stride attribute")
    dilation = view.pair("dilation", " for dilation attribute")
    padding = view.quadruple("padding", " for padding attribute")
    for what, values in (("kernel size", kernel), ("stride", stride), ("dilation", dilation)):
        require(min(values) > 0, f"{what} attribute values must be > 0")
    require(min(padding) >= 0, "padding attribute values must be >= 0")
    window = _window(view, (0, 1, 2, 3))
    padded = (window.height + padding[0] + padding[2], window.width + padding[1] + padding[3])
    effective = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    if padded[0] < effective[0] or padded[1] < effective[1]:
        fail(
            f"effective kernel size ({effective[0]}, {effective[1]}) cannot be greater than the padded input size per "
            f"channel ({padded[0]}, {padded[1]})"
        )
    ceil = bool(view.integer("ceil_mode"))
    sizes = [_pooled(padded[at], effective[at], stride[at], ceil) for at in (0, 1)]
    if ceil:
        extents = (window.height + padding[0], window.width + padding[1])
        sizes = [size - ((size - 1) * stride[at] >= extents[at]) for at, size in enumerate(sizes)]
    _verify_pooled(window, output, sizes)


def _pooled(padded: int, kernel: int, stride: int, ceil: bool) -> int:
    return (-((kernel - padded) // stride) if ceil else (padded - kernel) // stride) + 1


def _verify_pooled(window: _Window, output: list[int], sizes: list[int]) -> None:
    if not window.flattened and window.batch != output[0]:
        fail(
            f"batch size from the input tensor ({window.batch}) must match the first dimension of the output tensor "
            f"({output[0]})"
        )
    if output[3] != window.channels:
        fail(
            f"number of output channels from the output tensor ({output[3]}) must match the number of input channels "
            f"({window.channels})"
        )
    if not window.flattened and [*output[1:3]] != sizes:
        fail(
            f"output tensor height and width dimension ({output[1]}, {output[2]}) do not match the expected dimensions "
            f"({sizes[0]}, {sizes[1]})"
        )
    product = sizes[0] * sizes[1] * window.batch
    if window.flattened and product != output[2]:
        fail(
            f"output tensor's flattened dimension ({output[2]}) does not match the product of batch_size * "
            f"output_height * output_width ({window.batch} * {sizes[0]} * {sizes[1]} = {product})"
        )


def verify_indices(op: Operation) -> None:
    """The second result of a pool with indices."""
    values, indices = (result.type for result in op.results)
    assert isinstance(values, TensorType)
    assert isinstance(indices, TensorType)
    require(values.get_shape() == indices.get_shape(), "Pooled values and indices must have the same shape")
    require(isinstance(indices.element_type, IntegerType), "Indices result must have integer element type")


def verify_global_pool(op: Operation) -> None:
    """An average over all of height and width."""
    view = View(op)
    shape, output = view.shape("input"), [*view.result().get_shape()]
    require(
        len(shape) >= 2,
        "input tensor must have at least 2 dimensions for global average pooling over 2 spatial dimensions",
    )
    require(len(output) == len(shape), "output tensor must have the same rank as input tensor")
    require(shape[0] == output[0], "batch dimension must remain the same between input and output")
    require(output[-2] == 1 and output[-3] == 1, "spatial dimensions must be reduced to 1")
    require(shape[-1] == output[-1], "channel dimension must remain the same between input and output")


def verify_convolution(op: Operation) -> None:
    """A convolution of two dimensions of TTIR."""
    view = View(op)
    output = [*view.result().get_shape()]
    for name in ("input", "weight", "bias"):
        if view.has(name):
            require(len(view.shape(name)) == 4, f"{name} must be a 4D tensor")
    require(len(output) == 4, "output must be a 4D tensor")
    _verify_flattened(view, "The", ".")
    names = ("batch_dim", "height_dim", "width_dim", "channel_dim")
    batch, height, width, channels = (view.integer(name, default) for default, name in enumerate(names))
    window = _window(view, (batch, height, width, channels))
    if not window.flattened:
        output = [output[dim] for dim in (batch, height, width, channels)]
    stride = view.pair("stride", " for stride")
    padding = view.quadruple("padding", " for padding")
    dilation = view.pair("dilation", " for dilation")
    require(min(stride) > 0, "Stride attribute values must be > 0.")
    require(min(dilation) > 0, "Dilation attribute values must be > 0.")
    require(min(padding) >= 0, "Padding attribute values must be >= 0.")
    _verify_convolved(view, window, view.shape("weight"), (stride, padding, dilation), output)


def verify_convolution_of_ttnn(op: Operation) -> None:
    """A convolution of two dimensions of TTNN, whose extents are attributes."""
    view = View(op)
    output = [*view.result().get_shape()]
    for what, shape in (("Input", view.shape("input")), ("Weight", view.shape("weight"))):
        require(len(shape) == 4, f"{what} must be a 4D tensor")
    require(not view.has("bias") or len(view.shape("bias")) == 4, "Bias must be a 4D tensor")
    require(len(output) == 4, "Output must be a 4D tensor")
    stride, padding, dilation = _numbers_of_ttnn(view)
    weight = _weight_of_ttnn(view)
    batch, height, width = (view.integer(name) for name in ("batch_size", "input_height", "input_width"))
    flattened, expected = view.shape("input")[2], batch * height * width
    if flattened != expected:
        fail(
            f"The input tensor's flattened dimension ({flattened}) does not match the product of batch_size_attr * "
            f"input_height_attr * input_width_attr ({batch} * {height} * {width} = {expected})."
        )
    window = _Window(batch, height, width, view.shape("input")[3], flattened=True)
    _verify_convolved(view, window, weight, (stride, padding, dilation), output)


def _numbers_of_ttnn(view: View) -> tuple[list[int], list[int], list[int]]:
    """Stride, padding at the top, left, bottom and right, and dilation."""
    kernel, stride, padding, dilation = (
        view.integers(name) for name in ("kernel_size", "stride", "padding", "dilation")
    )
    require(len(kernel) == 2, f"Kernel size attribute must have two values, got: {len(kernel)}")
    for what, values in (("Stride", stride), ("Padding", padding), ("Dilation", dilation)):
        shown = f"({', '.join(map(str, values))})"
        if what == "Padding":
            require(len(values) in {2, 4}, f"Padding attribute must have two or four values, got: {len(values)}")
            require(min(values) >= 0, f"Padding attribute values must be greater than or equal to 0, got: {shown}")
        else:
            require(len(values) == 2, f"{what} attribute must have two values, got: {len(values)}")
            require(min(values) >= 1, f"{what} attribute values must be greater than 0, got: {shown}")
    # Top, bottom, left and right, as ttnn has them.
    return stride, padding * 2 if len(padding) == 2 else [padding[each] for each in (0, 2, 1, 3)], dilation


def _weight_of_ttnn(view: View) -> list[int]:
    """The shape that the attributes give the weight, which may lie prepared in another one."""
    groups, channels = view.integer("groups", 1), view.integer("in_channels")
    expected = [view.integer("out_channels"), channels // groups, *view.integers("kernel_size")]
    owner = view.values["weight"][0].owner
    if getattr(owner, "name", "") in {"ttnn.prepare_conv2d_weights", "ttcore.load_cached"}:
        return expected
    weight = view.shape("weight")
    messages = (
        f"Expected output channels attribute ({expected[0]}) to match the output channels in the weight tensor",
        f"Expected input channels / groups attribute ({channels}/{groups}) = {expected[1]} to match the number of "
        "input channels per group in the weight tensor",
        f"Expected kernel height attribute ({expected[2]}) to match the kernel height in the weight tensor",
        f"Expected kernel width attribute ({expected[3]}) to match the kernel width in the weight tensor",
    )
    for message, wanted, got in zip(messages, expected, weight, strict=True):
        require(wanted == got, f"{message} ({got}).")
    return expected


def _verify_convolved(
    view: View, window: _Window, weight: list[int], numbers: tuple[list[int], list[int], list[int]], output: list[int]
) -> None:
    """Channels, the kernel and the result; `numbers` are stride, padding and dilation."""
    stride, padding, dilation = numbers
    kernel, weights = weight[2:], weight[0]
    _verify_groups(view, window, weight)
    padded = (window.height + padding[0] + padding[2], window.width + padding[1] + padding[3])
    effective = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    if padded[0] < effective[0] or padded[1] < effective[1]:
        fail(
            f"The effective kernel size ({effective[0]}, {effective[1]}) cannot be greater than the padded input size "
            f"per channel ({padded[0]}, {padded[1]})."
        )
    sizes = [(padded[at] - effective[at]) // stride[at] + 1 for at in (0, 1)]
    if not window.flattened and window.batch != output[0]:
        fail(
            f"Batch size from the input tensor ({window.batch}) must match the first dimension of the output tensor "
            f"({output[0]})"
        )
    product = sizes[0] * sizes[1] * window.batch
    if window.flattened and product != output[2]:
        fail(
            f"The output tensor's flattened dimension ({output[2]}) does not match the product of batch_size * "
            f"output_height * output_width ({window.batch} * {sizes[0]} * {sizes[1]} = {product})."
        )
    if output[3] != weights:
        fail(
            f"The number of output channels from the output tensor ({output[3]}) must match the number of output "
            f"channels in the weight tensor ({weights}). "
        )
    if not window.flattened and [*output[1:3]] != sizes:
        fail(
            f"The output tensor height and width dimension ({output[1]}, {output[2]}) do not match the expected "
            f"dimensions ({sizes[0]}, {sizes[1]})."
        )


def _verify_groups(view: View, window: _Window, weight: list[int]) -> None:
    groups = view.integer("groups", 1)
    if window.channels % groups:
        fail(
            f"The number of input channels from the input tensor ({window.channels}) is not divisible by the number of "
            f"groups ({groups})."
        )
    if weight[0] % groups:
        fail(
            f"The number of output channels from the weight tensor ({weight[0]}) is not divisible by the number of "
            f"groups ({groups})."
        )
    if window.channels // groups != weight[1]:
        fail(
            f"The number of input channels per group ({window.channels}) must match the number of input channels in "
            f"the weight tensor ({weight[1]})."
        )
    bias = view.shape("bias")[view.integer("channel_dim", 3)] if view.has("bias") else weight[0]
    if bias != weight[0]:
        fail(
            f"The number of output channels from the weight tensor ({weight[0]}) must match the number of output "
            f"channels in the bias tensor ({bias})."
        )


def verify_transposed_convolution(op: Operation) -> None:
    """A transposed convolution of TTIR."""
    view = View(op)
    _verify_flattened(view, "The", ".")
    shape, weight, output = view.shape("input"), view.shape("weight"), [*view.result().get_shape()]
    for what, each in (("Input", shape), ("Output", output), ("Weight", weight)):
        require(len(each) == 4, f"{what} must be a 4D tensor")
    if view.has("bias"):
        require(len(view.shape("bias")) == 4, "Bias must be a 4D tensor")
    compat = _compat(view)
    require(compat is not None or shape[0] == output[0], "Batch size of input and output tensors must match")
    stride = view.pair("stride", " for stride")
    require(min(stride) >= 1, "Stride values must be greater than 0")
    padding = view.quadruple("padding", " for padding")
    require(min(padding) >= 0, "Padding values must be greater or equal than 0")
    extra = view.pair("output_padding", " for output padding")
    require(min(extra) >= 0, "Output padding values must be greater or equal than 0")
    dilation = view.pair("dilation", " for dilation")
    require(min(dilation) >= 1, "Dilation values must be greater than 0")
    _verify_transposed_channels(view, shape, weight, output)
    window = _window(view, (0, view.integer("height_dim", 1), view.integer("width_dim", 2), 3))
    pads = (padding[0] + padding[2], padding[1] + padding[3])
    extents = (window.height, window.width)
    sizes = [
        (extents[at] - 1) * stride[at] - pads[at] + dilation[at] * (weight[2 + at] - 1) + extra[at] + 1 for at in (0, 1)
    ]
    _verify_transposed_size(view, window, sizes, output)


def _verify_transposed_channels(view: View, shape: list[int], weight: list[int], output: list[int]) -> None:
    groups, dim = view.integer("groups", 1), view.integer("channel_dim", 3)
    for what, count, of in (("input", shape[dim], "input"), ("output", output[dim], "output")):
        if count % groups:
            fail(
                f"Number of {what} channels from {of} tensor must be divisible by the number of groups. Got {count} "
                f"{what} channels and {groups} groups."
            )
    if shape[dim] != weight[0]:
        fail(
            "Number of input channels from input tensor must match the first dimension of the weight tensor. Got "
            f"{shape[dim]} input channels and {weight[0]} in the weight tensor."
        )
    if output[dim] // groups != weight[1]:
        fail(
            "Number of output channels per group must match the second dimension of the weight tensor. Got "
            f"{output[dim] // groups} output channels per group and {weight[1]} in the weight tensor."
        )
    if view.has("bias") and view.shape("bias")[dim] != output[dim]:
        fail(
            f"Mismatch in bias tensor dimensions. Bias tensor has {view.shape('bias')[dim]} channels, but the output "
            f"tensor has {output[dim]} channels."
        )


def _verify_transposed_size(view: View, window: _Window, sizes: list[int], output: list[int]) -> None:
    if min(sizes) < 0:
        fail(
            f"Given input size per channel: ({window.height} x {window.width}). Calculated output size per channel: "
            f"({sizes[0]} x {sizes[1]}). Output size is too small"
        )
    got = [output[view.integer("height_dim", 1)], output[view.integer("width_dim", 2)]]
    if not window.flattened and got != sizes:
        fail(
            "Mismatch between expected output size per channel and got output tensor dimensions. Expected: "
            f"({sizes[0]} x {sizes[1]}), got: ({got[0]} x {got[1]})."
        )
    expected = window.batch * sizes[0] * sizes[1]
    if window.flattened and expected != output[2]:
        fail(f"Mismatch between expected flattened NHW dim size. Expected: {expected}, got: {output[2]}.")


def verify_upsample(op: Operation) -> None:
    """An upsampling of height and width."""
    view = View(op)
    shape, output = view.shape("input"), [*view.result().get_shape()]
    require(len(shape) == 4, f"Expected rank of input tensor is 4, got rank {len(shape)}")
    require(len(output) == 4, f"Expected rank of output tensor is 4, got rank {len(output)}")
    scale = view.pair("scale_factor")
    require(min(scale) > 0, f"Scale factors H = {scale[0]} and W = {scale[1]} must be positive integers")
    for letter, at, factor in (("H", 1, scale[0]), ("W", 2, scale[1])):
        if shape[at] * factor != output[at]:
            fail(
                f"Expected output {letter} dimension to be input {letter} dimension * scale{letter} = "
                f"{shape[at] * factor}, got {output[at]}"
            )
    for letter, at in (("N", 0), ("C", 3)):
        if shape[at] != output[at]:
            fail(f"Expected output {letter} dimension to be {shape[at]}, got {output[at]}")
    mode: Any = view.attribute("mode")
    if mode is not None and mode.data not in {"nearest", "bilinear"}:
        fail(f'Expected modes are (nearest, bilinear), got "{mode.data}"')


WINDOWS = {
    "ttir.avg_pool2d": (verify_pool,),
    "ttir.max_pool2d": (verify_pool,),
    "ttir.max_pool2d_with_indices": (verify_pool, verify_indices),
    "ttir.global_avg_pool2d": (verify_global_pool,),
    "ttir.conv2d": (verify_convolution,),
    "ttnn.conv2d": (verify_convolution_of_ttnn,),
    "ttir.conv_transpose2d": (verify_transposed_convolution,),
    "ttir.upsample2d": (verify_upsample,),
    "ttnn.upsample": (verify_upsample,),
}
