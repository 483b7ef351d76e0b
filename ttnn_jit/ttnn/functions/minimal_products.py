"""`experimental.minimal_matmul`: `linear` with another blocking on a chip."""

from __future__ import annotations

from typing import Any

from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.program_configs import MinimalMatmulConfig
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.host_function import host_function


@host_function(name="experimental.minimal_matmul", in_programs=True, over_meshes=True, chip_only="config")
def minimal_matmul(
    input_tensor: Tensor,
    weight_tensor: Tensor,
    bias_tensor: Tensor | None = None,
    fused_activation: Any = None,
    *,
    config: MinimalMatmulConfig | None = None,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """A matrix product, plus a bias, then an activation, like `linear` (ttnn.experimental.minimal_matmul).

    Args:
        input_tensor: Matrices [..., M, K].
        weight_tensor: Matrices [..., K, N].
        bias_tensor: A row of N elements, added to each row.
        fused_activation: A unary operation, in the form of the `activations` of `linear`.
        config: Blocking on a chip; checked.
        memory_config: Memory config of the result.
        dtype: Element type of the result.
        compute_kernel_config: Precision on a chip.

    Raises:
        ArgumentError: A config has the wrong type.
        CompileError: The tensors do not fit each other.
    """
    return ttnn.linear(
        input_tensor,
        weight_tensor,
        bias=bias_tensor,
        compute_kernel_config=compute_kernel_config,
        memory_config=memory_config,
        dtype=dtype,
        activations=None if fused_activation is None else [fused_activation],
    )
