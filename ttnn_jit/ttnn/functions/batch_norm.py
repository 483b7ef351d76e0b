"""`batch_norm`: the operation of inference, or that of training with in-place updates of the running statistics."""

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
    chip_only="compute_kernel_config",
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
    """A tensor normalized per channel, its dimension 1 (ttnn.batch_norm).

    Args:
        input: A tensor of shape [N, C, ...].
        running_mean: The mean of each channel, C elements, like the other parameters.
        running_var: The variance of each channel.
        training: Normalize by the mean and the biased variance of the batch, and update `running_mean` and
            `running_var` in place, if they are given; otherwise normalize by these two.
        eps: Added to variances.
        momentum: Weight of the batch's statistics in the updates.
        weight: Factor of each normalized channel.
        bias: Added to each channel after that.
        output: The tensor that receives the result, and is returned.
        memory_config: Memory config of the result; that of `input` when omitted.
        compute_kernel_config: Precision on a chip.

    Raises:
        ArgumentError, CompileError: An argument does not fit, or a running statistic is missing without `training`.
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
