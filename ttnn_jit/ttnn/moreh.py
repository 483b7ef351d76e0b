"""The module `ttnn.operations.moreh`: reductions and norms by the names of moreh's, made of others.

Programs may call all of them. What is made of several operations is computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.ops.axes import axis_of
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn import eager_functions as ttnn
from ttnn_jit.ttnn.eager_ops import placed
from ttnn_jit.ttnn.host_function import host_function
from ttnn_jit.ttnn.names_on_demand import names_of
from ttnn_jit.ttnn.transfers import in_float32

__all__ = ["abs_pow", "cumsum", "layer_norm", "logsoftmax", "mean", "norm", "softmax", "softmin", "sum"]


@host_function(name="operations.moreh.sum", in_programs=True, of_a_chip="compute_kernel_config")
def sum(  # noqa: A001 - moreh's name
    input: Tensor,  # noqa: A002 - moreh's name
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """The sum along dimensions, all of them where none is given (ttnn.operations.moreh.sum)."""
    return ttnn.sum(input, dim, keepdim, output_tensor=output, memory_config=memory_config)


@host_function(name="operations.moreh.mean", in_programs=True, of_a_chip="compute_kernel_config")
def mean(
    input: Tensor,  # noqa: A002 - moreh's name
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool = False,
    divisor: int | None = None,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """The sum along dimensions by `divisor`, or by their number of elements (ttnn.operations.moreh.mean)."""
    if divisor is None:
        return ttnn.mean(input, dim, keepdim, output_tensor=output, memory_config=memory_config)
    return ttnn.sum(input, dim, keepdim, scalar=1.0 / divisor, output_tensor=output, memory_config=memory_config)


@host_function(name="operations.moreh.cumsum", in_programs=True, of_a_chip="compute_kernel_config")
def cumsum(
    input: Tensor,  # noqa: A002 - moreh's name
    dim: int,
    *,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """The sums of the elements up to each along `dim` (ttnn.operations.moreh.cumsum)."""
    return ttnn.cumsum(input, dim, output_tensor=output, memory_config=memory_config)


moreh_cumsum = cumsum


@host_function(name="operations.moreh.norm", in_programs=True, of_a_chip="compute_kernel_config")
def norm(
    input: Tensor,  # noqa: A002 - moreh's name
    p: float = 2.0,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """The norm of the order `p` along dimensions (ttnn.operations.moreh.norm)."""
    return ttnn.norm(input, dim, keepdim, p=p, output_tensor=output, memory_config=memory_config)


@host_function(name="operations.moreh.abs_pow", in_programs=True, of_a_chip="compute_kernel_config")
def abs_pow(
    input: Tensor,  # noqa: A002 - moreh's name
    p: float,
    *,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """The power `p` of absolute values (ttnn.operations.moreh.abs_pow)."""
    return placed(in_float32(lambda x: ttnn.pow(ttnn.abs(x), p), input), memory_config, output)


@host_function(name="operations.moreh.softmax", in_programs=True, of_a_chip="strategy compute_kernel_config")
def softmax(
    input: Tensor,  # noqa: A002 - moreh's name
    dim: int,
    *,
    output: Tensor | None = None,
    strategy: object = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """`softmax` along `dim` (ttnn.operations.moreh.softmax); `strategy` says how a chip computes it."""
    return ttnn.softmax(input, dim, output_tensor=output, memory_config=memory_config)


@host_function(name="operations.moreh.softmin", in_programs=True, of_a_chip="strategy compute_kernel_config")
def softmin(
    input: Tensor,  # noqa: A002 - moreh's name
    dim: int,
    *,
    output: Tensor | None = None,
    strategy: object = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """`softmax` of -x along `dim` (ttnn.operations.moreh.softmin)."""
    return ttnn.softmax(ttnn.neg(input), dim, output_tensor=output, memory_config=memory_config)


@host_function(name="operations.moreh.logsoftmax", in_programs=True, of_a_chip="strategy compute_kernel_config")
def logsoftmax(
    input: Tensor,  # noqa: A002 - moreh's name
    dim: int,
    *,
    output: Tensor | None = None,
    strategy: object = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """The logarithm of `softmax` along `dim`, without the error of either (ttnn.operations.moreh.logsoftmax)."""

    def computed(x: Tensor) -> Tensor:
        x = ttnn.subtract(x, ttnn.max(x, dim, keepdim=True))
        return ttnn.subtract(x, ttnn.log(ttnn.sum(ttnn.exp(x), dim, keepdim=True)))

    return placed(in_float32(computed, input), memory_config, output)


@host_function(name="operations.moreh.layer_norm", in_programs=True, of_a_chip="compute_kernel_config")
def layer_norm(  # noqa: PLR0913 - as moreh has it
    input: Tensor,  # noqa: A002 - moreh's name
    normalized_dims: int,
    eps: float = 1e-5,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    output: Tensor | None = None,
    mean: Tensor | None = None,
    rstd: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> list[Tensor]:
    """The last `normalized_dims` dimensions as `layer_norm` has rows (ttnn.operations.moreh.layer_norm).

    Args:
        input: At least as many dimensions.
        normalized_dims: At least 1.
        eps: Added to variances.
        gamma: What normalised elements are multiplied by, of the shape of these dimensions.
        beta: What is added to them then.
        output: A tensor for the result; likewise `mean`, and `rstd`.
        mean: For the means of the rows.
        rstd: For what their differences from it are multiplied by.
        memory_config: Where the result lies.
        compute_kernel_config: How a chip computes.

    Returns:
        The result, the means, and the reciprocals of the deviations, both without these dimensions.

    Raises:
        ShapeError: There are no such dimensions.
    """
    shape, first = tuple(input.shape), axis_of(-normalized_dims, len(input.shape))
    flat = ttnn.reshape(input, (*shape[:first], -1))
    numbers = {"weight": gamma, "bias": beta}
    given: dict[str, Any] = {name: ttnn.reshape(value, (-1,)) for name, value in numbers.items() if value is not None}
    result = ttnn.reshape(ttnn.layer_norm(flat, epsilon=eps, **given), shape)

    def reciprocal(x: Tensor) -> Tensor:
        return ttnn.rsqrt(ttnn.add(ttnn.var(x, -1, correction=False), eps))

    means = ttnn.mean(flat, -1, output_tensor=mean)
    return [
        placed(result, memory_config, output),
        means,
        placed(in_float32(reciprocal, flat), None, rstd),
    ]


__getattr__ = names_of("operations.moreh", __all__)
