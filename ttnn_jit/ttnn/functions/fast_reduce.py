"""`fast_reduce_nc`: sums along the first dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.host_function import host_function


@host_function(name="experimental.fast_reduce_nc", in_programs=True, of_a_chip="compute_kernel_config sub_core_grids")
def fast_reduce_nc(
    input: Tensor,  # noqa: A002 - ttnn's name
    dims: int | Sequence[int],
    *,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
    sub_core_grids: object = None,
) -> Tensor:
    """The sum along dimensions, which stay with an extent of 1 (ttnn.experimental.fast_reduce_nc).

    Args:
        input: Any tensor of numbers that `sum` takes.
        dims: On a chip the first two; here any.
        output: The tensor to write into and return.
        memory_config: Where the result lies.
        compute_kernel_config: How a chip computes.
        sub_core_grids: On which of its cores.
    """
    return ttnn.sum(input, dims, True, output_tensor=output, memory_config=memory_config)
