"""Tokens drawn from logits: `ttnn.sampling`, made of other operations."""

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


@host_function(in_programs=True, of_a_chip="sub_core_grids")
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
    """One of its indices for each user, drawn by softmax(values * temp) within top-k and top-p (ttnn.sampling).

    Of the values in descending order the first `k` may be drawn, and of these such as have less than `p` before them;
    the first always may. Their order and sums are those of float32.

    Args:
        input_values_tensor: Logits [1, 1, users, width].
        input_indices_tensor: What a draw of each of them gives: integers of that shape.
        k: [users], integers.
        p: [users], floats.
        temp: [users], floats: 1 over the temperature.
        seed: Of the draws, 1 or more; without one, or with 0, the generator's that `manual_seed` seeds.
        sub_core_grids: Without effect.
        output_tensor: Where the result is written.

    Returns:
        [1, 1, 1, users], of uint32, in rows.

    Raises:
        ShapeError: The tensors do not fit each other.
        ArgumentError: An argument is no tensor, or the seed no whole number of at least 0.
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
    """The index that is drawn for each user, in a column."""
    users, width = tuple(values.shape)[2:]
    scaled = ttnn.multiply(_tiled(typecast(values, COMPUTE_TYPE)), temp)
    probabilities, indices = ttnn.sort(ttnn.softmax(scaled, 3), 3, True)
    before = ttnn.subtract(ttnn.cumsum(probabilities, 3), probabilities)
    numbers = arange(0, width, dtype=COMPUTE_TYPE, device=values.device())
    rank = _tiled(ttnn.reshape(numbers, (1, 1, 1, width)))
    is_first = ttnn.eq(rank, 0.0)
    may_be = ttnn.multiply(ttnn.lt(rank, k), ttnn.maximum(ttnn.lt(before, p), is_first))
    masses = ttnn.cumsum(ttnn.multiply(probabilities, may_be), 3)
    whole = ttnn.slice(masses, (0, 0, 0, width - 1), (1, 1, users, width))
    # from 0 to 1, which it is not, for each user, in a column
    uniform = rand((1, 1, users, 1), dtype=COMPUTE_TYPE, layout=Layout.TILE, device=values.device(), seed=seed)
    passed = ttnn.le(masses, ttnn.multiply(uniform, whole))
    return ttnn.gather(indices, 3, typecast(ttnn.sum(passed, 3, True), indices.dtype))


def _column(numbers: Tensor) -> Tensor:
    """One number for each user, as floats in a column."""
    return _tiled(ttnn.reshape(typecast(numbers, COMPUTE_TYPE), (1, 1, -1, 1)))


def _tiled(tensor: Tensor) -> Tensor:
    return to_layout(tensor, Layout.TILE)
