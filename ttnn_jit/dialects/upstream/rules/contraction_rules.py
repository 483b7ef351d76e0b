"""Products of matrices: inner dimensions, batches, bias, the shape of the result."""

from __future__ import annotations

from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.view import View, broadcast, fail, joined, require


def verify_matmul(op: Operation) -> None:
    """``matmul`` and ``linear``, which has a bias."""
    view = View(op)
    first, second = view.shape("a"), view.shape("b")
    ranks = len(first), len(second)
    require(ranks[0] >= 1, "Input A must be at least a 1D tensor")
    require(ranks[1] >= 1, "Input B must be at least a 1D tensor")
    if ranks[0] == 1:
        first.insert(0, 1)
    elif view.integer("transpose_a"):
        first[-2:] = first[-1], first[-2]
    if ranks[1] == 1:
        second.append(1)
    elif view.integer("transpose_b"):
        second[-2:] = second[-1], second[-2]
    if first[-1] != second[-2]:
        fail(f"Input A[-1]({first[-1]}) and B[-2]({second[-2]}) must have matching inner dimensions")
    expected = _batches(first[:-2], second[:-2]) + first[-2:-1] * (ranks[0] > 1) + second[-1:] * (ranks[1] > 1)
    _verify_result([*view.result().get_shape()], _with_bias(view, expected))


def _batches(first: list[int], second: list[int]) -> list[int]:
    found = broadcast(first, second)
    if found is None:
        fail(
            f"Batch dimensions of input A({joined(first)}) and B({joined(second)}) are not broadcast compatible",
        )
    return found


def _with_bias(view: View, expected: list[int]) -> list[int]:
    if not view.has("bias"):
        return expected
    bias = view.shape("bias")
    require(len(bias) >= 1, "Bias must be at least a 1D tensor")
    found = broadcast(expected, bias)
    if found is None:
        fail(
            f"Bias shape({joined(bias)}) is not broadcast compatible with the matmul output shape({joined(expected)})",
        )
    return found


def _verify_result(output: list[int], expected: list[int]) -> None:
    if not expected:
        require(len(output) >= 1, "Scalar output is not supported, output must be at least a 1D tensor")
        require(output == [1], "Scalar output must be a 1D tensor of size 1")
        return
    if len(output) != len(expected):
        fail(f"Output shape rank({len(output)}) must match the expected output shape rank({len(expected)})")
    for index, (got, wanted) in enumerate(zip(output, expected, strict=True)):
        if got != wanted:
            fail(
                f"Output shape dimension[{index}]({got}) doesn't match the expected output shape "
                f"dimension[{index}]({wanted})"
            )


CONTRACTIONS = dict.fromkeys(("ttir.matmul", "ttir.linear", "ttnn.matmul"), (verify_matmul,))
