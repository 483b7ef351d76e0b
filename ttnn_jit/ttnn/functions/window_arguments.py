"""Sizes along spatial dimensions, as callers of convolutions and pools give them."""

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
    """A whole number for each of `rank` dimensions; one stands for all.

    Raises:
        ArgumentError: There are more or fewer.
    """
    if isinstance(value, int):
        return (value,) * rank
    if len(value) != rank:
        raise ArgumentError(f"{what} must be {rank} whole numbers, got {list(value)}")
    return tuple(value)


def padding_pairs(value: Any, what: str, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Any:
    """The elements before and after, for every dimension.

    Written as a number, a number for each dimension, two numbers for each, one after the other, or ``"same"``, which
    keeps the extents, and ``"valid"``, which is none.

    Raises:
        ArgumentError: It is something else, or no padding keeps the extents.
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
    """The windows that a call of the function `name` means.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: A number is too small.
    """
    kernel = per_dimension(kernel_size, f"`kernel_size` of {name}", rank)
    steps = per_dimension(stride, f"`stride` of {name}", rank)
    apart = per_dimension(dilation, f"`dilation` of {name}", rank)
    pairs: tuple[Pair, ...] = padding_pairs(padding, f"`padding` of {name}", kernel, steps, apart)
    with refusals_of(name):
        return Windows(kernel, steps, pairs, apart)


def check_sizes(
    name: str,
    sizes: Convolution | TransposedConvolution,
    x: Sequence[int],
    weight: Sequence[int],
    bias: Sequence[int] | None,
) -> None:
    """Refuse sizes of a call of the function `name` that do not fit each other, and shapes that do not fit them.

    Raises:
        ShapeError: They do not fit.
    """
    with refusals_of(name):
        sizes.check()
        sizes.check_operands(x, weight, bias)


def replicated(x: Any, windows: Windows) -> tuple[Any, Windows]:
    """`x` with its edges repeated around it, and windows that add no zeros."""
    around = ((0, 0), *windows.padding, (0, 0))
    return pad(x, around, mode="replicate"), replace(windows, padding=((0, 0),) * len(windows.padding))


def result_dtype(dtype: DataType | None, x: Any, what: str = "a convolution") -> Any:
    """The element type of the result of `what`: the input's, unless another one is asked for.

    Raises:
        DTypeError: It has no floats.
    """
    if dtype is None and isinstance(x.dtype, DataType) and x.dtype.is_integer:
        raise DTypeError(f"{what} takes floats, and the input is {x.dtype.name}")
    wanted = x.dtype if dtype is None else dtype
    if isinstance(wanted, DataType) and wanted.is_integer:
        raise DTypeError(f"the result of {what} has floats, and `dtype` is {wanted.name}")
    return wanted


@contextmanager
def refusals_of(name: str) -> Iterator[None]:
    """In its body sizes that are refused are refused by the function `name`."""
    try:
        yield
    except ShapeError as error:
        raise ShapeError(f"{name}: {error.message}", help=error.help) from None
