"""Arguments of convolutions and pools along spatial dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, ShapeError
from ttnn_jit.ops.convolution.convolutions import Convolution
from ttnn_jit.ops.convolution.transposed_convolutions import TransposedConvolution
from ttnn_jit.ops.movement.windows import Pair, Windows
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.ttnn.calling.eager_functions import pad


def per_dimension(value: Any, what: str, rank: int) -> tuple[int, ...]:
    """An integer for each of `rank` dimensions; a single integer applies to all.

    Raises:
        ArgumentError: The number of integers is not `rank`.
    """
    if isinstance(value, int):
        return (value,) * rank
    if len(value) != rank:
        raise ArgumentError(f"{what} must be {rank} whole numbers, got {list(value)}")
    return tuple(value)


def padding_pairs(value: Any, what: str, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Any:
    """The padding before and after, for every dimension.

    `value` is a number, a number for each dimension, two numbers for each dimension, ``"same"``, which preserves the
    extents, or ``"valid"``, which is no padding.

    Raises:
        ArgumentError: `value` has another form, or no padding preserves the extents.
    """
    rank = len(kernel)
    if value == "same":
        if any(step != 1 for step in stride):
            raise ArgumentError(f'{what}="same" needs strides of 1, got {list(stride)}')
        wanted = (apart * (taps - 1) for taps, apart in zip(kernel, dilation, strict=True))
        return tuple((each // 2, each - each // 2) for each in wanted)
    if value == "valid":
        return ((0, 0),) * rank
    if isinstance(value, str):
        raise ArgumentError(f'{what} must be numbers, "same" or "valid", got {value!r}')
    if not isinstance(value, int) and len(value) == 2 * rank:
        return tuple(zip(value[::2], value[1::2], strict=True))
    return tuple((each, each) for each in per_dimension(value, what, rank))


def windows_of(name: str, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Windows:
    """The windows of a call of the function `name`.

    Raises:
        ArgumentError: An argument has the wrong number of elements.
        ShapeError: A number is too small.
    """
    kernel = per_dimension(kernel_size, f"`kernel_size` of {name}", rank)
    steps = per_dimension(stride, f"`stride` of {name}", rank)
    apart = per_dimension(dilation, f"`dilation` of {name}", rank)
    pairs: tuple[Pair, ...] = padding_pairs(padding, f"`padding` of {name}", kernel, steps, apart)
    with prefix_errors(name):
        return Windows(kernel, steps, pairs, apart)


def check_sizes(
    name: str,
    sizes: Convolution | TransposedConvolution,
    x: Sequence[int],
    weight: Sequence[int],
    bias: Sequence[int] | None,
) -> None:
    """Check that the sizes of a call of the function `name` are consistent, and fit the shapes of the operands.

    Raises:
        ShapeError: They are inconsistent, or do not fit.
    """
    with prefix_errors(name):
        sizes.check()
        sizes.check_operands(x, weight, bias)


def replicated(x: Any, windows: Windows) -> tuple[Any, Windows]:
    """`x` padded by replication of its edges, and the windows without padding."""
    around = ((0, 0), *windows.padding, (0, 0))
    return pad(x, around, mode="replicate"), replace(windows, padding=((0, 0),) * len(windows.padding))


def result_dtype(dtype: DataType | None, x: Any, what: str = "a convolution") -> Any:
    """The dtype of the result of `what`: `dtype`, or that of the input.

    Raises:
        DTypeError: The dtype is not a float type.
    """
    if dtype is None and isinstance(x.dtype, DataType) and x.dtype.is_integer:
        raise DTypeError(f"{what} takes floats, and the input is {x.dtype.name}")
    wanted = x.dtype if dtype is None else dtype
    if isinstance(wanted, DataType) and wanted.is_integer:
        raise DTypeError(f"the result of {what} has floats, and `dtype` is {wanted.name}")
    return wanted


@contextmanager
def prefix_errors(name: str) -> Iterator[None]:
    """Prefix shape errors in the body with the function `name`."""
    try:
        yield
    except ShapeError as error:
        raise ShapeError(f"{name}: {error.message}", help=error.help) from None
