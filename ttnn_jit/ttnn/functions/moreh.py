"""The module `ttnn.operations.moreh`: reductions and norms under moreh's names, composed of other operations.

Jitted functions may call all of them. A composite of several operations computes in float32 and rounds once.
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
from ttnn_jit.ttnn.namespace.names_on_demand import submodule_getattr
from ttnn_jit.ttnn.tensors.transfers import in_float32

__all__ = ["abs_pow", "cumsum", "layer_norm", "logsoftmax", "mean", "norm", "softmax", "softmin", "sum"]


@dataclass(frozen=True)
class _Arguments:
    """Arguments of every function.

    Attributes:
        output: The tensor that receives the result.
        memory_config: Memory config of the result.
        compute_kernel_config: Precision on a chip.
    """

    input: Tensor
    _: KW_ONLY
    output: Tensor | None = None
    memory_config: MemoryConfig | None = None
    compute_kernel_config: object = None

    @property
    def result_options(self) -> dict[str, Any]:
        """The keywords of the given result options; empty without any, since calls with keywords take longer."""
        if self.output is None and self.memory_config is None:
            return {}
        return {"output_tensor": self.output, "memory_config": self.memory_config}

    def in_requested_memory(self, result: Tensor) -> Tensor:
        """The result with the result options applied."""
        return in_requested_memory(result, self.memory_config, self.output)


@dataclass(frozen=True)
class _SumArguments(_Arguments):
    dim: int | Sequence[int] | None = None
    keepdim: bool = False


@host_function(name="operations.moreh.sum", in_programs=True, chip_only="compute_kernel_config")
@takes(_SumArguments)
def sum(arguments: _SumArguments) -> Tensor:  # noqa: A001 - moreh's name
    """The sum along dimensions, by default all (ttnn.operations.moreh.sum)."""
    return ttnn.sum(arguments.input, arguments.dim, arguments.keepdim, **arguments.result_options)


@dataclass(frozen=True)
class _MeanArguments(_Arguments):
    dim: int | Sequence[int] | None = None
    _: KW_ONLY
    keepdim: bool = False
    divisor: int | None = None


@host_function(name="operations.moreh.mean", in_programs=True, chip_only="compute_kernel_config")
@takes(_MeanArguments)
def mean(arguments: _MeanArguments) -> Tensor:
    """The sum along dimensions, divided by `divisor` or by the number of elements (ttnn.operations.moreh.mean)."""
    if arguments.divisor is None:
        return ttnn.mean(arguments.input, arguments.dim, arguments.keepdim, **arguments.result_options)
    return ttnn.sum(
        arguments.input, arguments.dim, arguments.keepdim, scalar=1.0 / arguments.divisor, **arguments.result_options
    )


@dataclass(frozen=True)
class _DimArguments(_Arguments):
    dim: int


@host_function(name="operations.moreh.cumsum", in_programs=True, chip_only="compute_kernel_config")
@takes(_DimArguments)
def cumsum(arguments: _DimArguments) -> Tensor:
    """The cumulative sum along `dim` (ttnn.operations.moreh.cumsum)."""
    return ttnn.cumsum(arguments.input, arguments.dim, **arguments.result_options)


moreh_cumsum = cumsum


@dataclass(frozen=True)
class _NormArguments(_Arguments):
    p: float = 2.0
    dim: int | Sequence[int] | None = None
    keepdim: bool = False


@host_function(name="operations.moreh.norm", in_programs=True, chip_only="compute_kernel_config")
@takes(_NormArguments)
def norm(arguments: _NormArguments) -> Tensor:
    """The `p`-norm along dimensions (ttnn.operations.moreh.norm)."""
    return ttnn.norm(arguments.input, arguments.dim, arguments.keepdim, p=arguments.p, **arguments.result_options)


@dataclass(frozen=True)
class _PowerArguments(_Arguments):
    p: float


@host_function(name="operations.moreh.abs_pow", in_programs=True, chip_only="compute_kernel_config")
@takes(_PowerArguments)
def abs_pow(arguments: _PowerArguments) -> Tensor:
    """Absolute values raised to the power `p` (ttnn.operations.moreh.abs_pow)."""
    return arguments.in_requested_memory(in_float32(lambda x: ttnn.pow(ttnn.abs(x), arguments.p), arguments.input))


@dataclass(frozen=True)
class _SoftmaxArguments(_DimArguments):
    """Arguments of `softmax`, `softmin` and `logsoftmax`.

    Attributes:
        strategy: Algorithm on a chip.
    """

    _: KW_ONLY
    strategy: object = None


@host_function(name="operations.moreh.softmax", in_programs=True, chip_only="strategy compute_kernel_config")
@takes(_SoftmaxArguments)
def softmax(arguments: _SoftmaxArguments) -> Tensor:
    """`softmax` along `dim` (ttnn.operations.moreh.softmax)."""
    return ttnn.softmax(arguments.input, arguments.dim, **arguments.result_options)


@host_function(name="operations.moreh.softmin", in_programs=True, chip_only="strategy compute_kernel_config")
@takes(_SoftmaxArguments)
def softmin(arguments: _SoftmaxArguments) -> Tensor:
    """`softmax` of -x along `dim` (ttnn.operations.moreh.softmin)."""
    return ttnn.softmax(ttnn.neg(arguments.input), arguments.dim, **arguments.result_options)


@host_function(name="operations.moreh.logsoftmax", in_programs=True, chip_only="strategy compute_kernel_config")
@takes(_SoftmaxArguments)
def logsoftmax(arguments: _SoftmaxArguments) -> Tensor:
    """The logarithm of `softmax` along `dim`, computed as x - max - log(sum) (ttnn.operations.moreh.logsoftmax)."""

    def computed(x: Tensor) -> Tensor:
        x = ttnn.subtract(x, ttnn.max(x, arguments.dim, keepdim=True))
        return ttnn.subtract(x, ttnn.log(ttnn.sum(ttnn.exp(x), arguments.dim, keepdim=True)))

    return arguments.in_requested_memory(in_float32(computed, arguments.input))


@dataclass(frozen=True)
class _LayerNormArguments(_Arguments):
    """Arguments of `layer_norm`.

    Attributes:
        input: A tensor of rank `normalized_dims` or more.
        normalized_dims: Number of trailing dimensions to normalize over, at least 1.
        eps: Added to variances.
        gamma: Factor of normalized elements, with the shape of the normalized dimensions.
        beta: Added to them after that, with the same shape.
        output: The tensor that receives the result.
        mean: The tensor that receives the means.
        rstd: The tensor that receives the reciprocal standard deviations.
    """

    normalized_dims: int
    eps: float = 1e-5
    gamma: Tensor | None = None
    beta: Tensor | None = None
    _: KW_ONLY
    mean: Tensor | None = None
    rstd: Tensor | None = None


@host_function(name="operations.moreh.layer_norm", in_programs=True, chip_only="compute_kernel_config")
@takes(_LayerNormArguments)
def layer_norm(arguments: _LayerNormArguments) -> list[Tensor]:
    """`layer_norm` over the last `normalized_dims` dimensions (ttnn.operations.moreh.layer_norm).

    Returns:
        The result, the means, and the reciprocal standard deviations; the latter two without these dimensions.

    Raises:
        ShapeError: There are no such dimensions.
    """
    shape, first = tuple(arguments.input.shape), axis_of(-arguments.normalized_dims, len(arguments.input.shape))
    flat = ttnn.reshape(arguments.input, (*shape[:first], -1))
    numbers = {"weight": arguments.gamma, "bias": arguments.beta}
    shaped: dict[str, Any] = {name: ttnn.reshape(value, (-1,)) for name, value in numbers.items() if value is not None}
    result = ttnn.reshape(ttnn.layer_norm(flat, epsilon=arguments.eps, **shaped), shape)

    def reciprocal(x: Tensor) -> Tensor:
        return ttnn.rsqrt(ttnn.add(ttnn.var(x, -1, correction=False), arguments.eps))

    means = ttnn.mean(flat, -1, output_tensor=arguments.mean)
    return [
        arguments.in_requested_memory(result),
        means,
        in_requested_memory(in_float32(reciprocal, flat), None, arguments.rstd),
    ]


__getattr__ = submodule_getattr("operations.moreh", __all__)
