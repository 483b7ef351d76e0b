"""`ttnn.sampling`: random tokens from logits, composed of other operations."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType, Layout
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.eager_ops import in_requested_memory
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.random_tensors import rand
from ttnn_jit.ttnn.tensors.tensor_creation import arange
from ttnn_jit.ttnn.tensors.transfers import to_layout, typecast


@host_function(in_programs=True, chip_only="sub_core_grids")
def sampling(
    input_values_tensor: Tensor,
    input_indices_tensor: Tensor,
    k: Tensor,
    p: Tensor,
    temp: Tensor,
    *,
    seed: int | None = None,
    sub_core_grids: object = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """One token for each user, drawn from softmax(values * temp) with top-k and top-p filters (ttnn.sampling).

    Candidates are the `k` largest values, and of these the ones that are preceded by a probability below `p` in
    descending order. The largest value is always a candidate. Sorting and sums are in float32.

    Args:
        input_values_tensor: Logits [1, 1, users, width].
        input_indices_tensor: The tokens of the logits, integers of the same shape.
        k: Number of candidates per user, integers [users].
        p: Probability bound per user, floats [users].
        temp: Reciprocal temperature per user, floats [users].
        seed: Seed of the draws, at least 1; with None or 0 the generator that `manual_seed` seeds is used.
        sub_core_grids: Without effect.
        output_tensor: The tensor that receives the result.

    Returns:
        Tokens [1, 1, 1, users], UINT32, ROW_MAJOR.

    Raises:
        ShapeError: The shapes do not fit each other.
        ArgumentError: An argument is not a tensor, or the seed is not an integer of at least 0.
    """
    tensors = {"input_indices_tensor": input_indices_tensor, "k": k, "p": p, "temp": temp}
    shape = tuple(input_values_tensor.shape)
    if len(shape) != 4 or shape[:2] != (1, 1):
        raise ShapeError(f"`input_values_tensor` of sampling is [1, 1, users, width], not {list(shape)}")
    for name, tensor in tensors.items():
        wanted = shape if tensor is input_indices_tensor else shape[2:3]
        if tuple(tensor.shape) != wanted:
            raise ShapeError(f"`{name}` of sampling is {list(wanted)} beside such values, not {list(tensor.shape)}")
    chosen = _drawn(_column(k), _column(p), _column(temp), input_values_tensor, seed)
    tokens = typecast(ttnn.gather(_tiled(typecast(input_indices_tensor, DataType.INT32)), 3, chosen), DataType.UINT32)
    return in_requested_memory(
        to_layout(ttnn.reshape(tokens, (1, 1, 1, shape[2])), Layout.ROW_MAJOR), None, output_tensor
    )


def _drawn(k: Tensor, p: Tensor, temp: Tensor, values: Tensor, seed: int | None) -> Tensor:
    """The drawn index of each user, in a column."""
    users, width = tuple(values.shape)[2:]
    scaled = ttnn.multiply(_tiled(typecast(values, COMPUTE_TYPE)), temp)
    probabilities, indices = ttnn.sort(ttnn.softmax(scaled, 3), 3, True)
    before = ttnn.subtract(ttnn.cumsum(probabilities, 3), probabilities)
    numbers = arange(0, width, dtype=COMPUTE_TYPE, device=values.device())
    rank = _tiled(ttnn.reshape(numbers, (1, 1, 1, width)))
    is_first = ttnn.eq(rank, 0.0)
    is_candidate = ttnn.multiply(ttnn.lt(rank, k), ttnn.maximum(ttnn.lt(before, p), is_first))
    masses = ttnn.cumsum(ttnn.multiply(probabilities, is_candidate), 3)
    total = ttnn.slice(masses, (0, 0, 0, width - 1), (1, 1, users, width))
    # a column of uniform numbers in [0, 1), one per user
    uniform = rand((1, 1, users, 1), dtype=COMPUTE_TYPE, layout=Layout.TILE, device=values.device(), seed=seed)
    passed = ttnn.le(masses, ttnn.multiply(uniform, total))
    return ttnn.gather(indices, 3, typecast(ttnn.sum(passed, 3, True), indices.dtype))


def _column(numbers: Tensor) -> Tensor:
    """One float for each user, in a column."""
    return _tiled(ttnn.reshape(typecast(numbers, COMPUTE_TYPE), (1, 1, -1, 1)))


def _tiled(tensor: Tensor) -> Tensor:
    return to_layout(tensor, Layout.TILE)
