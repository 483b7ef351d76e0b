"""Sampling of tokens from logits, as `ttnn.sampling` has it."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import TextCall, text
from ttnn_jit.ops.movement.sequences import ARANGE
from ttnn_jit.ops.selection.selections import SORT
from ttnn_jit.ops.texts.elementwise_texts import uniform_numbers
from ttnn_jit.specs.dtypes import COMPUTE_TYPE


def _sampled(ops: Ops, call: TextCall) -> Value:
    """One of the candidates of each user: its index is where the sum of their probabilities passes a uniform number.

    Candidates are the `k` largest values, and of these the ones that are preceded by a probability below `p`; the
    largest is always one. Values are multiplied by `temp`, the reciprocal temperature, as the kernel of a chip does.
    """
    users, width = call.input_values.shape[-2:]

    def column(numbers: Value) -> Value:
        return ops.reshaped(ops.typecast(numbers, COMPUTE_TYPE), (users, 1))

    values = ops.reshaped(ops.typecast(call.input_values, COMPUTE_TYPE), (users, width)) * column(call.temp)
    probabilities, order = ops.results(SORT, [ops.softmax(values, -1)], -1, True, False)
    before = ops.cumsum(probabilities, -1) - probabilities
    numbers = ops.call(ARANGE, [], 0, width, 1, COMPUTE_TYPE, call.result.layout)
    rank = ops.reshaped(numbers, (1, width))
    is_candidate = ops.lt(rank, column(call.k)) * ops.maximum(ops.lt(before, column(call.p)), ops.eq(rank, 0.0))
    masses = ops.cumsum(probabilities * is_candidate, -1)
    wanted = ops.reshaped(uniform_numbers(ops, call), (users, 1)) * ops.max(masses, -1, True)
    place = ops.sum(ops.le(masses, wanted), -1, True)
    chosen = ops.gather(order, 1, ops.typecast(ops.minimum(place, width - 1.0), order.spec.dtype))
    tokens = ops.gather(ops.reshaped(call.input_indices, (users, width)), 1, chosen)
    return ops.reshaped(ops.typecast(tokens, call.result.dtype), tuple(call.result.shape))


def _shape_in_torch(torch: Any, call: TextCall) -> Any:
    """Zeros of its shape: which token is drawn depends on the generator."""
    users = call.input_values.shape[-2]
    return torch.zeros((users,) if call.input_values.dim() == 2 else (1, 1, 1, users), dtype=torch.int64)


SAMPLING = text(
    "ttir.sampling ttnn.sampling",
    "input_values input_indices k p temp",
    _sampled,
    _shape_in_torch,
    is_random=True,
    seed=0,
)

TEXTS = (SAMPLING,)
