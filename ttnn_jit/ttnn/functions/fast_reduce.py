"""`fast_reduce_nc`: sums along the first dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.host_function import host_function


@host_function(name="experimental.fast_reduce_nc", in_programs=True, chip_only="compute_kernel_config sub_core_grids")
def fast_reduce_nc(
    input: Tensor,  # noqa: A002 - ttnn's name
    dims: int | Sequence[int],
    *,
    output: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
    sub_core_grids: object = None,
) -> Tensor:
    """The sum along dimensions, which are kept with extent 1 (ttnn.experimental.fast_reduce_nc).

    Args:
        input: A tensor of a dtype that `sum` takes.
        dims: Any dimensions; on a chip only the first two.
        output: The tensor that receives the result, and is returned.
        memory_config: Memory config of the result.
        compute_kernel_config: Precision on a chip.
        sub_core_grids: Cores of a chip.
    """
    return ttnn.sum(input, dims, True, output_tensor=output, memory_config=memory_config)
