"""The module `ttnn.operations.moreh`: reductions and norms by the names of moreh's, made of others.

Programs may call all of them. What is made of several operations is computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.eager_ops import in_requested_memory
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.shared_parameters import takes
from ttnn_jit.ttnn.namespace.names_on_demand import names_of
from ttnn_jit.ttnn.tensors.transfers import in_float32

__all__ = ["abs_pow", "cumsum", "layer_norm", "logsoftmax", "mean", "norm", "softmax", "softmin", "sum"]


@dataclass(frozen=True)
class _Arguments:
    """What every call says.

    Attributes:
        output: A tensor for the result.
        memory_config: Where the result lies.
        compute_kernel_config: How a chip computes.
    """

    input: Tensor
    _: KW_ONLY
    output: Tensor | None = None
    memory_config: MemoryConfig | None = None
    compute_kernel_config: object = None

    @property
    def result_options(self) -> dict[str, Any]:
        """The result options that are given; a call with keywords takes longer, hence no others."""
        if self.output is None and self.memory_config is None:
            return {}
        return {"output_tensor": self.output, "memory_config": self.memory_config}

    def in_requested_memory(self, result: Tensor) -> Tensor:
        """A result with the options."""
        return in_requested_memory(result, self.memory_config, self.output)


@dataclass(frozen=True)
class _SumArguments(_Arguments):
    dim: int | Sequence[int] | None = None
    keepdim: bool = False


@host_function(name="operations.moreh.sum", in_programs=True, of_a_chip="compute_kernel_config")
@takes(_SumArguments)
def sum(given: _SumArguments) -> Tensor:  # noqa: A001 - moreh's name
    """The sum along dimensions, all of them where none is given (ttnn.operations.moreh.sum)."""
    return ttnn.sum(given.input, given.dim, given.keepdim, **given.result_options)


@dataclass(frozen=True)
class _MeanArguments(_Arguments):
    dim: int | Sequence[int] | None = None
    _: KW_ONLY
    keepdim: bool = False
    divisor: int | None = None


@host_function(name="operations.moreh.mean", in_programs=True, of_a_chip="compute_kernel_config")
@takes(_MeanArguments)
def mean(given: _MeanArguments) -> Tensor:
    """The sum along dimensions by `divisor`, or by their number of elements (ttnn.operations.moreh.mean)."""
    if given.divisor is None:
        return ttnn.mean(given.input, given.dim, given.keepdim, **given.result_options)
    return ttnn.sum(given.input, given.dim, given.keepdim, scalar=1.0 / given.divisor, **given.result_options)


@dataclass(frozen=True)
class _DimArguments(_Arguments):
    dim: int


@host_function(name="operations.moreh.cumsum", in_programs=True, of_a_chip="compute_kernel_config")
@takes(_DimArguments)
def cumsum(given: _DimArguments) -> Tensor:
    """The sums of the elements up to each along `dim` (ttnn.operations.moreh.cumsum)."""
    return ttnn.cumsum(given.input, given.dim, **given.result_options)


moreh_cumsum = cumsum


@dataclass(frozen=True)
class _NormArguments(_Arguments):
    p: float = 2.0
    dim: int | Sequence[int] | None = None
    keepdim: bool = False


@host_function(name="operations.moreh.norm", in_programs=True, of_a_chip="compute_kernel_config")
@takes(_NormArguments)
def norm(given: _NormArguments) -> Tensor:
    """The norm of the order `p` along dimensions (ttnn.operations.moreh.norm)."""
    return ttnn.norm(given.input, given.dim, given.keepdim, p=given.p, **given.result_options)


@dataclass(frozen=True)
class _PowerArguments(_Arguments):
    p: float


@host_function(name="operations.moreh.abs_pow", in_programs=True, of_a_chip="compute_kernel_config")
@takes(_PowerArguments)
def abs_pow(given: _PowerArguments) -> Tensor:
    """The power `p` of absolute values (ttnn.operations.moreh.abs_pow)."""
    return given.in_requested_memory(in_float32(lambda x: ttnn.pow(ttnn.abs(x), given.p), given.input))


@dataclass(frozen=True)
class _SoftmaxArguments(_DimArguments):
    """Of `softmax` and its kin.

    Attributes:
        strategy: How a chip computes it.
    """

    _: KW_ONLY
    strategy: object = None


@host_function(name="operations.moreh.softmax", in_programs=True, of_a_chip="strategy compute_kernel_config")
@takes(_SoftmaxArguments)
def softmax(given: _SoftmaxArguments) -> Tensor:
    """`softmax` along `dim` (ttnn.operations.moreh.softmax)."""
    return ttnn.softmax(given.input, given.dim, **given.result_options)


@host_function(name="operations.moreh.softmin", in_programs=True, of_a_chip="strategy compute_kernel_config")
@takes(_SoftmaxArguments)
def softmin(given: _SoftmaxArguments) -> Tensor:
    """`softmax` of -x along `dim` (ttnn.operations.moreh.softmin)."""
    return ttnn.softmax(ttnn.neg(given.input), given.dim, **given.result_options)


@host_function(name="operations.moreh.logsoftmax", in_programs=True, of_a_chip="strategy compute_kernel_config")
@takes(_SoftmaxArguments)
def logsoftmax(given: _SoftmaxArguments) -> Tensor:
    """The logarithm of `softmax` along `dim`, without the error of either (ttnn.operations.moreh.logsoftmax)."""

    def computed(x: Tensor) -> Tensor:
        x = ttnn.subtract(x, ttnn.max(x, given.dim, keepdim=True))
        return ttnn.subtract(x, ttnn.log(ttnn.sum(ttnn.exp(x), given.dim, keepdim=True)))

    return given.in_requested_memory(in_float32(computed, given.input))


@dataclass(frozen=True)
class _LayerNormArguments(_Arguments):
    """Of `layer_norm`.

    Attributes:
        input: At least as many dimensions.
        normalized_dims: At least 1.
        eps: Added to variances.
        gamma: What normalised elements are multiplied by, of the shape of these dimensions.
        beta: What is added to them then.
        output: A tensor for the result; likewise `mean`, and `rstd`.
        mean: For the means of the rows.
        rstd: For what their differences from it are multiplied by.
    """

    normalized_dims: int
    eps: float = 1e-5
    gamma: Tensor | None = None
    beta: Tensor | None = None
    _: KW_ONLY
    mean: Tensor | None = None
    rstd: Tensor | None = None


@host_function(name="operations.moreh.layer_norm", in_programs=True, of_a_chip="compute_kernel_config")
@takes(_LayerNormArguments)
def layer_norm(given: _LayerNormArguments) -> list[Tensor]:
    """The last `normalized_dims` dimensions as `layer_norm` has rows (ttnn.operations.moreh.layer_norm).

    Returns:
        The result, the means, and the reciprocals of the deviations, both without these dimensions.

    Raises:
        ShapeError: There are no such dimensions.
    """
    shape, first = tuple(given.input.shape), axis_of(-given.normalized_dims, len(given.input.shape))
    flat = ttnn.reshape(given.input, (*shape[:first], -1))
    numbers = {"weight": given.gamma, "bias": given.beta}
    shaped: dict[str, Any] = {name: ttnn.reshape(value, (-1,)) for name, value in numbers.items() if value is not None}
    result = ttnn.reshape(ttnn.layer_norm(flat, epsilon=given.eps, **shaped), shape)

    def reciprocal(x: Tensor) -> Tensor:
        return ttnn.rsqrt(ttnn.add(ttnn.var(x, -1, correction=False), given.eps))

    means = ttnn.mean(flat, -1, output_tensor=given.mean)
    return [
        given.in_requested_memory(result),
        means,
        in_requested_memory(in_float32(reciprocal, flat), None, given.rstd),
    ]


__getattr__ = names_of("operations.moreh", __all__)
