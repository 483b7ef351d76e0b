"""Rotary position embeddings: each pair of channels is rotated by an angle that depends on the position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, MacroOperation, Ops, Value
from ttnn_jit.ops.language.axes import is_broadcast_to
from ttnn_jit.ops.language.parameter import FLAG, OPTIONAL_COUNT, TENSOR, Parameter
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.specs.target import TILE_WIDTH

Extents = Sequence[int]

_OPERAND = Parameter("input_tensor", TENSOR, aliases=("input", "input_tensor_a"))
_COS = Parameter("cos_cache", TENSOR, aliases=("cos_cached", "cos"))
_SIN = Parameter("sin_cache", TENSOR, aliases=("sin_cached", "sin"))


# --- The angles -----------------------------------------------------------------------------------------------------


def _check_angles(x: Extents, cos: Extents, sin: Extents) -> None:
    """Refuses cosines and sines whose shapes differ, or that do not have the channels of `x`."""
    if len(x) != 4 or len(cos) != 4:
        raise ShapeError(
            f"a tensor of shape {list(x)} is not rotated by cosines of shape {list(cos)}",
            help="both have four dimensions, the last of them channels",
        )
    if tuple(cos) != tuple(sin):
        raise ShapeError(f"the cosines have shape {list(cos)}, and the sines {list(sin)}")
    if x[-1] % 2 or x[-1] == 0 or cos[-1] != x[-1]:
        raise ShapeError(
            f"rows of {x[-1]} channels are not rotated by {cos[-1]} cosines",
            help="the number of channels is even, and there is one cosine for each",
        )


def _check_rows(x: Extents, angles: Extents, cos: Extents) -> None:
    """Refuses angles that do not broadcast to `x`."""
    if not is_broadcast_to(angles, x):
        raise ShapeError(f"cosines of shape {list(cos)} do not broadcast to a tensor of shape {list(x)}")


def _rotated(x: Any, other: Any, cos: Any, sin: Any) -> Any:
    return x * cos + other * sin


# --- Channels i and i + n/2 -----------------------------------------------------------------------------------------


def _rotate_half(ops: Ops, x: Any) -> Any:
    """The halves (a, b) of every row as (-b, a)."""
    *before, width = x.shape
    halves = ops.flip(ops.reshape(x, (*before, 2, width // 2)), len(before))
    exchanged = ops.reshape(halves, x.shape)
    is_first = arange(ops, width, x) < float(width // 2)
    return ops.where(is_first, -exchanged, exchanged)


def _rotate_half_in_torch(torch: Any, x: Any) -> Any:
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def _positions(x: Extents, token: int | None) -> tuple[int, int]:
    return (0, x[2]) if token is None else (token, token + 1)


def _check_halves(x: Extents, cos: Extents, sin: Extents, token: int | None) -> None:
    _check_angles(x, cos, sin)
    begin, end = _positions(x, token)
    if begin < 0 or end > cos[2]:
        raise ShapeError(
            f"there are angles for {cos[2]} positions, and none for position {end - 1 if begin >= 0 else begin}"
        )
    _check_rows(x, (*cos[:2], end - begin, cos[3]), cos)


def _halves(ops: Ops, x: Any, cos: Any, sin: Any, token: int | None) -> Any:
    begin, end = _positions(x.shape, token)
    angles = (ops.part(each, 2, begin, end) for each in (cos, sin))
    return _rotated(x, _rotate_half(ops, x), *angles)


def _halves_in_torch(torch: Any, x: Any, cos: Any, sin: Any, token: int | None) -> Any:
    rows = slice(x.shape[2]) if token is None else slice(token, token + 1)
    return x * cos[:, :, rows] + _rotate_half_in_torch(torch, x) * sin[:, :, rows]


ROTARY_EMBEDDING = Composite(
    name="experimental.rotary_embedding",
    parameters=(_OPERAND, _COS, _SIN, Parameter("token_index", OPTIONAL_COUNT, aliases=("token_idx",))),
    summary=("Rotates channels i and i + n/2 of every row by the angle of its position, or of position `token_index`."),
    decompose=_halves,
    canonicalize=_check_halves,
    golden=_halves_in_torch,
    examples=(
        (((2, 3, 5, 40), (1, 1, 8, 40), (1, 1, 8, 40)), (None,)),
        (((1, 2, 33, 64), (1, 1, 40, 64), (1, 1, 40, 64)), (37,)),
    ),
)


def _rows_of_mode(x: Extents, cos: Extents, is_decode: bool) -> int:
    """The number of rows of angles that are used: one for each position; in decode mode one for all heads of a user."""
    return 1 if is_decode else min(x[2], cos[2])


def _check_mode(x: Extents, cos: Extents, sin: Extents, is_decode: bool) -> None:
    _check_angles(x, cos, sin)
    _check_rows(x, (*cos[:2], _rows_of_mode(x, cos, is_decode), cos[3]), cos)


def _halves_of_mode(ops: Ops, x: Any, cos: Any, sin: Any, is_decode: bool) -> Any:
    rows = _rows_of_mode(x.shape, cos.shape, is_decode)
    return _rotated(x, _rotate_half(ops, x), *(ops.part(each, 2, 0, rows) for each in (cos, sin)))


ROTARY_EMBEDDING_HF = Composite(
    name="experimental.rotary_embedding_hf",
    parameters=(_OPERAND, _COS, _SIN, Parameter("is_decode_mode", FLAG, default=False)),
    summary="Rotates channels i and i + n/2 of every row by the angle of its position; in decode mode, of its user.",
    decompose=_halves_of_mode,
    canonicalize=_check_mode,
    golden=lambda torch, x, cos, sin, is_decode: _halves_in_torch(torch, x, cos, sin, 0 if is_decode else None),
    examples=(
        (((1, 3, 5, 40), (1, 1, 8, 40), (1, 1, 8, 40)), (False,)),
        (((1, 4, 3, 64), (1, 4, 1, 64), (1, 4, 1, 64)), (True,)),
    ),
)


# --- Channels 2i and 2i + 1 -----------------------------------------------------------------------------------------


def _check_pairs(x: Extents, cos: Extents, sin: Extents, trans_mat: Extents, is_decode: bool) -> None:
    _check_mode(x, cos, sin, is_decode)
    if (
        x[-1] % TILE_WIDTH
        or len(trans_mat) < 2
        or trans_mat[-1] != TILE_WIDTH
        or trans_mat[-2] % TILE_WIDTH
        or trans_mat[-2] == 0
    ):
        raise ShapeError(
            f"rows of {x[-1]} channels are not rotated by a matrix of shape {list(trans_mat)}",
            help=f"the matrix is {TILE_WIDTH} by {TILE_WIDTH}, and rows are whole groups of {TILE_WIDTH} channels",
        )


def _pairs(ops: Ops, x: Any, cos: Any, sin: Any, trans_mat: Any, is_decode: bool) -> Any:
    square = ops.slice(
        trans_mat, (0,) * len(trans_mat.shape), (*(1 for _ in trans_mat.shape[:-2]), TILE_WIDTH, TILE_WIDTH)
    )
    matrix = ops.reshape(square, (TILE_WIDTH, TILE_WIDTH))
    other = ops.reshape(ops.matmul(ops.reshape(x, (-1, TILE_WIDTH)), matrix), x.shape)
    rows = _rows_of_mode(x.shape, cos.shape, is_decode)
    return _rotated(x, other, *(ops.part(each, 2, 0, rows) for each in (cos, sin)))


def _pairs_in_torch(torch: Any, x: Any, cos: Any, sin: Any, trans_mat: Any, is_decode: bool) -> Any:
    rows = slice(1 if is_decode else x.shape[2])
    block = trans_mat.reshape(-1, *trans_mat.shape[-2:])[0, :32]
    other = torch.cat([part @ block for part in x.split(32, -1)], -1)
    return x * cos[:, :, rows] + other * sin[:, :, rows]


ROTARY_EMBEDDING_LLAMA = Composite(
    name="experimental.rotary_embedding_llama",
    parameters=(_OPERAND, _COS, _SIN, Parameter("trans_mat", TENSOR), Parameter("is_decode_mode", FLAG, default=False)),
    summary=(
        "Rotates channels 2i and 2i + 1 of every row by the angle of its position, in decode mode of its user: the row "
        "times cosines, plus each 32 channels of it times `trans_mat`, times sines."
    ),
    decompose=_pairs,
    canonicalize=_check_pairs,
    golden=_pairs_in_torch,
    examples=(
        (((1, 3, 5, 64), (1, 1, 8, 64), (1, 1, 8, 64), (1, 1, 32, 32)), (False,)),
        (((1, 4, 3, 32), (1, 4, 32, 32), (1, 4, 32, 32), (1, 1, 128, 32)), (True,)),
    ),
)


def _queries_and_keys(ops: Ops, query: Value, key: Value, cos: Value, sin: Value, trans_mat: Value) -> list[Value]:
    ranks = {len(each.shape) for each in (query, key, cos, sin)}
    users = (query.shape[1], key.shape[1]) if ranks == {4} else (0, 0)
    if ranks != {4} or cos.shape[1] != sum(users):
        raise ShapeError(
            f"angles of shape {list(cos.shape)} are not for queries {list(query.shape)} and keys {list(key.shape)}",
            help="all are [1, users, heads, channels]; the angles of queries come before those of keys",
        )
    middle = users[0]
    found = []
    for x, begin, end in ((query, 0, middle), (key, middle, sum(users))):
        angles = (ops.sliced(each, 1, begin, end) for each in (cos, sin))
        found.append(ops.call(ROTARY_EMBEDDING_LLAMA, [x, *angles, trans_mat], True))
    return found


def _queries_and_keys_in_torch(torch: Any, query: Any, key: Any, cos: Any, sin: Any, trans_mat: Any) -> tuple[Any, Any]:
    middle = query.shape[1]
    return (
        _pairs_in_torch(torch, query, cos[:, :middle], sin[:, :middle], trans_mat, True),
        _pairs_in_torch(torch, key, cos[:, middle:], sin[:, middle:], trans_mat, True),
    )


ROTARY_EMBEDDING_LLAMA_FUSED_QK = MacroOperation(
    name="experimental.rotary_embedding_llama_fused_qk",
    parameters=(
        Parameter("q_input_tensor", TENSOR),
        Parameter("k_input_tensor", TENSOR),
        _COS,
        _SIN,
        Parameter("trans_mat", TENSOR),
    ),
    summary="`rotary_embedding_llama` of queries and of keys in decode mode; the angles of both are concatenated.",
    decompose=_queries_and_keys,
    result_container=tuple,
    golden=_queries_and_keys_in_torch,
)

OPERATIONS = (ROTARY_EMBEDDING, ROTARY_EMBEDDING_HF, ROTARY_EMBEDDING_LLAMA, ROTARY_EMBEDDING_LLAMA_FUSED_QK)
