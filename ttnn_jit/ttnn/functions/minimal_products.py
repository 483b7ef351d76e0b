"""`experimental.minimal_matmul`: `linear`, with blocks of its own on a chip."""

from __future__ import annotations

from typing import Any

from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.program_configs import MinimalMatmulConfig
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.host_function import host_function


@host_function(name="experimental.minimal_matmul", in_programs=True, over_meshes=True, of_a_chip="config")
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
    """The product of matrices, plus a bias, then a function (ttnn.experimental.minimal_matmul): `linear`.

    Args:
        input_tensor: Rows in the last two dimensions.
        weight_tensor: Columns, as many rows as `input_tensor` has columns.
        bias_tensor: What is added to each row.
        fused_activation: An operation of one tensor, as `activations` of `linear` take it.
        config: Blocks of a chip; checked.
        memory_config: Where the result lies.
        dtype: Its element type.
        compute_kernel_config: How exactly a chip computes.

    Raises:
        ArgumentError: A config of another kind.
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
