"""`batch_norm`: one of two operations, and the statistics of the layer, which training writes."""

from __future__ import annotations

from ttnn_jit.ops.normalization.channel_norms import BATCH_NORM_INFERENCE, BATCH_NORM_TRAINING
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling.eager_functions import identity
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation, function_of
from ttnn_jit.ttnn.calling.eager_ops import in_requested_memory
from ttnn_jit.ttnn.calling.host_function import host_function

_INFERENCE = function_of(BATCH_NORM_INFERENCE)
_TRAINING = TtnnOperation(BATCH_NORM_TRAINING.name, (BATCH_NORM_TRAINING,))


@host_function(
    in_programs=True,
    of_a_chip="compute_kernel_config",
)
def batch_norm(  # noqa: PLR0913 - as ttnn has it
    input: Tensor,  # noqa: A002 - ttnn's name
    *,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    training: bool = False,
    eps: float = 1e-5,
    momentum: float = 0.1,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """The channels of a tensor, its dimension 1, normalised (ttnn.batch_norm).

    Args:
        input: Of shape [N, C, ...].
        running_mean: The mean of each channel, C elements; likewise the others.
        running_var: Their variances.
        training: Channels are normalised by their own mean and variance (by their number of elements), to which
            `running_mean` and `running_var` are moved in place, where they are given; else by these two.
        eps: Added to variances.
        momentum: The share of its own numbers in what a channel's running ones become.
        weight: What normalised channels are multiplied by.
        bias: What is added to them then.
        output: The tensor to write into and return.
        memory_config: Where the result lies; where `input` does, if it is omitted.
        compute_kernel_config: How a chip computes.

    Raises:
        ArgumentError, CompileError: An argument does not fit; without `training`, one of the two is missing.
    """
    norm = {
        "running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias, "eps": eps,
    }  # fmt: skip
    if not training:
        return _INFERENCE(input, **norm, memory_config=memory_config, output_tensor=output)
    result, mean, variance = _TRAINING(input, momentum=momentum, **norm)
    for statistic, new in ((running_mean, mean), (running_var, variance)):
        if statistic is not None:
            identity(new, output_tensor=statistic)
    return in_requested_memory(result, memory_config, output)
