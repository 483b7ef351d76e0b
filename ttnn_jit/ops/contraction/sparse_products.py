"""Block-sparse products of matrices: a sparsity tensor selects the products, as in a mixture of experts.

A *group* is a pair of matrices, one of each operand; groups are counted in row-major order. A group is *wanted* where
its element of the sparsity is not zero; the result of every other group is zeros. Where the number of wanted groups is
given, only they are computed: their matrices are gathered, multiplied, and the products are scattered to their groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.ops.contraction.contractions import MATMUL
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.families.routine import Routine, RoutineLoops
from ttnn_jit.ops.language.parameter import DIMENSION, FLAG, IGNORED, OPTIONAL_COUNT, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim
from ttnn_jit.specs.dtypes import FLOATS, INDICES, DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Shape = Sequence[int]

# --- The matrices of the wanted groups --------------------------------------------------------------------------------


def _matrices_loop(load: Any, _store: Any) -> Any:
    """Writes the matrix number of each wanted group, in order; the remaining indices are 0."""

    def loop(wanted, ws, indices, ps, groups, count, step, matrices):  # type: ignore[no-untyped-def]
        held = 0
        for group in range(groups):
            if held < count and load(wanted[group * ws]) != 0.0:
                indices[held * ps] = (group // step) % matrices
                held += 1
        for index in range(held, count):
            indices[index * ps] = 0

    return loop


def _matrices_loops(wanted: Shape, count: int, *_: Any) -> RoutineLoops:
    extents = (wanted[0], count)
    return RoutineLoops(extents, 2, (Access(extents, (Dim(0),)), Access(extents, (Dim(1),))))


WANTED_MATRICES = Routine(
    name="wanted_matrices",
    parameters=(
        Parameter("wanted", TENSOR),
        Parameter("count", DIMENSION),
        Parameter("step", DIMENSION),
        Parameter("matrices", DIMENSION),
    ),
    summary="For each wanted group, in order: its number // `step` % `matrices`.",
    source="ttnn.sparse_matmul",
    loop=_matrices_loop,
    loops=_matrices_loops,
    result=lambda wanted, count, *_: (_index_spec(wanted, count),),
    operand_dtypes=(FLOATS,),
    constants=lambda _, step, matrices: (step, matrices),
    golden=lambda torch, wanted, count, step, matrices: torch.nn.functional.pad(
        wanted.nonzero()[:, 0] // step % matrices, (0, count)
    )[:count],
)


def _rank_loop(load: Any, _store: Any) -> Any:
    def loop(wanted, ws, ranks, rs, groups):  # type: ignore[no-untyped-def]
        held = 0
        for group in range(groups):
            ranks[group * rs] = held
            if load(wanted[group * ws]) != 0.0:
                held += 1

    return loop


RANK = Routine(
    name="rank_of_wanted",
    parameters=(Parameter("wanted", TENSOR),),
    summary="For each group the number of wanted groups before it.",
    source="ttnn.sparse_matmul",
    loop=_rank_loop,
    loops=lambda wanted: RoutineLoops(tuple(wanted), 1, (Access.identity(tuple(wanted)),) * 2),
    result=lambda wanted: (_index_spec(wanted, wanted.shape[0]),),
    operand_dtypes=(FLOATS,),
    golden=lambda torch, wanted: torch.cumsum(wanted != 0, 0) - (wanted != 0).long(),
)


def _chosen_loop(load: Any, _store: Any) -> Any:
    """Copies the matrix at an index, which is clamped to the valid range."""

    def loop(indices, tensor, ts, tr, tc, result, rr, rc, count, rows, columns):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        first = min(max(int(load(indices[0])), 0), count - 1) * ts
        for i in range(rows):
            if tc == rc == 1:  # a loop of its own, which the compiler turns into a memcpy
                for j in range(columns):
                    result[i * rr + j] = tensor[first + i * tr + j]
            else:
                for j in range(columns):
                    result[i * rr + j * rc] = tensor[first + i * tr + j * tc]

    return loop


def _chosen_loops(indices: Shape, tensor: Shape) -> RoutineLoops:
    extents = (*indices, *tensor[-3:])
    ones = (Const(0),) * (len(tensor) - 3)
    matrix = Access(extents, (*ones, Dim(1), Dim(2), Dim(3)))
    return RoutineLoops(extents, 3, (Access(extents, (Dim(0),)), matrix, Access(extents, (Dim(0), Dim(2), Dim(3)))))


CHOSEN = Routine(
    name="chosen_matrices",
    parameters=(Parameter("indices", TENSOR), Parameter("tensor", TENSOR)),
    summary="The matrices at these indices of a tensor with one batch dimension.",
    source="ttnn.sparse_matmul",
    loop=_chosen_loop,
    loops=_chosen_loops,
    result=lambda indices, tensor: (tensor.interleaved.with_(shape=(*indices.shape, *tuple(tensor.shape)[-2:])),),
    operand_dtypes=(INDICES, FLOATS),
    golden=lambda torch, indices, tensor: tensor.reshape(-1, *tensor.shape[-2:]).index_select(0, indices.long()),  # noqa: ARG005 - goldens are given torch
)


def _index_spec(wanted: TensorSpec, count: int) -> TensorSpec:
    return wanted.interleaved.with_(shape=(count,), dtype=DataType.UINT32, layout=Layout.ROW_MAJOR)


# --- Products ---------------------------------------------------------------------------------------------------------


def _batches(a: Shape, b: Shape, indices: Shape | None, a_is_sparse: bool) -> tuple[tuple[int, ...], ...]:
    """The batch dimensions of both operands, after `indices` have selected matrices, and of the result."""
    left, right = tuple(a[:-2]), tuple(b[:-2])
    if indices is not None:
        right = (*right[:-1], math.prod(indices))
    if not a_is_sparse:
        return left, right, (*left, *right)
    named, extents = MATMUL.extents(((*left, *a[-2:]), (*right, *b[-2:])), (False, False))
    return left, right, tuple(extents[label] for label in named.result[:-2])


def _check(
    a: Shape, b: Shape, sparsity: Shape, indices: Shape | None, nnz: int | None, a_is_sparse: bool, b_is_sparse: bool
) -> None:
    if min(len(a), len(b)) < 2 or a[-1] != b[-2]:
        raise ShapeError(
            f"matrices of shapes {list(a)} and {list(b)} have no product", help="columns of one are rows of the other"
        )
    if not a_is_sparse and not b_is_sparse:
        raise ShapeError(
            "neither operand is sparse", help="give `is_input_a_sparse` or `is_input_b_sparse`; or call `matmul`"
        )
    if indices is not None:
        _check_indexed(b, indices, nnz, b_is_sparse)
    try:
        *_, batch = _batches(a, b, indices, a_is_sparse)
    except CompileError as error:
        raise ShapeError(error.message, help=error.help) from None
    groups = math.prod(batch)
    if indices is None and math.prod(sparsity) != groups:
        raise ShapeError(f"a sparsity of shape {list(sparsity)} has no element for each of {groups} products")
    if nnz is not None and not 1 <= nnz <= groups:
        raise ShapeError(
            f"`nnz` is {nnz}, and there are {groups} products", help="it is the number of nonzeros, at least 1"
        )


def _check_indexed(b: Shape, indices: Shape, nnz: int | None, b_is_sparse: bool) -> None:
    if nnz is not None:
        raise ShapeError("`nnz` and `indices` are both given", help="the number of indices is the number of products")
    if not b_is_sparse or len(b) < 3 or math.prod(b[:-3]) != 1:
        raise ShapeError(
            f"`indices` select matrices along one batch dimension of `input_tensor_b`, which has shape {list(b)}"
        )
    if not 1 <= math.prod(indices) == indices[-1]:
        raise ShapeError(f"`indices` have shape {list(indices)}", help="they lie along the last dimension")


def _result(a: TensorSpec, b: TensorSpec, _: Any, indices: TensorSpec | None, *statics: Any) -> TensorSpec:
    *_batch, batch = _batches(a.shape, b.shape, None if indices is None else indices.shape, statics[1])
    return a.interleaved.with_(shape=(*batch, tuple(a.shape)[-2], tuple(b.shape)[-1]))


def _gathered_matrices(ops: Ops, tensor: Any, indices: Any) -> Any:
    """The matrices at these indices, counted over all batch dimensions of a tensor."""
    *batch, rows, columns = tensor.shape
    if len(batch) < 1 or math.prod(batch[:-1]) != 1:
        tensor = ops.reshape(tensor, (math.prod(batch), rows, columns))
    return ops.call(CHOSEN, [indices, tensor])


def _sparse_matmul(
    ops: Ops, a: Any, b: Any, sparsity: Any, indices: Any, nnz: int | None, a_is_sparse: bool, _: bool
) -> Any:
    if indices is not None:
        chosen_indices = ops.reshaped(indices, (math.prod(indices.shape),))
        chosen = _gathered_matrices(ops, b, chosen_indices)
        return _product(ops, a, ops.reshaped(chosen, (*b.shape[:-3], *chosen.shape)), a_is_sparse)
    left, right, batch = _batches(a.shape, b.shape, None, a_is_sparse)
    wanted = ops.reshaped(sparsity, (math.prod(batch),))
    steps = _steps(left, right, batch, a_is_sparse)
    if nnz is None or nnz == math.prod(batch) or steps is None:
        product = _product(ops, a, b, a_is_sparse)
    else:
        product = _wanted_products(ops, (a, b), wanted, nnz, steps)
        product = ops.reshaped(product, (*batch, a.shape[-2], b.shape[-1]))
    return ops.where(ops.reshaped(ops.ne(wanted, 0.0), (*batch, 1, 1)), product, 0.0)


def _product(ops: Ops, a: Any, b: Any, a_is_sparse: bool) -> Any:
    """The product of all groups."""
    if a_is_sparse:
        return ops.matmul(a, b, False, False)
    left, right = a.shape[:-2], b.shape[:-2]
    return ops.matmul(ops.reshaped(a, (*left, *[1] * len(right), *a.shape[-2:])), b, False, False)


def _steps(left: Shape, right: Shape, batch: Shape, a_is_sparse: bool) -> tuple[tuple[int, int], ...] | None:
    """Per operand (step, matrices): the matrix of a group is its number // step % matrices.

    None where the broadcast of the batch dimensions has no such form.
    """
    if not a_is_sparse:
        return (math.prod(right), math.prod(left)), (1, math.prod(right))
    for own in (left, right):
        inner = [extent for axis, extent in enumerate(own) if any(each != 1 for each in own[: axis + 1])]
        if inner and tuple(batch[-len(inner) :]) != tuple(inner):
            return None
    return (1, math.prod(left)), (1, math.prod(right))


def _wanted_products(ops: Ops, operands: Sequence[Any], wanted: Any, nnz: int, steps: Sequence[tuple[int, int]]) -> Any:
    """The products of the wanted groups at the indices of their groups; other groups hold arbitrary products."""
    indices = [ops.call(WANTED_MATRICES, [wanted], nnz, *each) for each in steps]
    a, b = (_gathered_matrices(ops, *each) for each in zip(operands, indices, strict=True))
    return _gathered_matrices(ops, ops.matmul(a, b, False, False), ops.call(RANK, [wanted]))


def _golden(torch: Any, a: Any, b: Any, sparsity: Any, indices: Any, _nnz: Any, a_is_sparse: bool, _: bool) -> Any:
    if indices is not None:
        b = b.index_select(-3, indices.reshape(-1).long())
    every = torch.matmul(a, b) if a_is_sparse else torch.einsum("amk,bkn->abmn", a.flatten(0, -3), b.flatten(0, -3))
    every = every.reshape(*_batches(a.shape, b.shape, None, a_is_sparse)[2], a.shape[-2], b.shape[-1])
    if indices is not None:
        return every
    return torch.where((sparsity != 0).reshape(*every.shape[:-2], 1, 1), every, 0.0)


def _check_count(_a: Any, _b: Any, sparsity: Any, indices: Any, nnz: int | None, *_: Any) -> None:
    if indices is not None or nnz is None:
        return
    found = sparsity.count_nonzeros()
    if found not in {None, nnz}:
        raise ShapeError(f"`nnz` is {nnz}, and {found} elements of the sparsity are not zero")


SPARSE_MATMUL = Composite(
    name="sparse_matmul",
    parameters=(
        Parameter("input_tensor_a", TENSOR),
        Parameter("input_tensor_b", TENSOR),
        Parameter("sparsity", TENSOR),
        Parameter("indices", OPTIONAL_TENSOR),
        Parameter("nnz", OPTIONAL_COUNT),
        Parameter("is_input_a_sparse", FLAG, default=False),
        Parameter("is_input_b_sparse", FLAG, default=True),
        Parameter("output_tile", IGNORED),
    ),
    summary="Products of matrices, zeros where the element of `sparsity` is zero; with `indices`, products with the "
    "matrices at these indices.",
    decompose=_sparse_matmul,
    canonicalize=_check,
    result=_result,
    operand_dtypes=(FLOATS, FLOATS, FLOATS, INDICES),
    golden=_golden,
    check=_check_count,
    examples=(
        (((1, 3, 8, 33), (1, 5, 33, 7), (1, 1, 3, 5), None), (None, False, True)),
        (((1, 5, 8, 33), (1, 5, 33, 7), (1, 1, 1, 5), None), (None, True, True)),
        (((3, 5, 8, 33), (1, 5, 33, 7), (1, 1, 3, 5), None), (None, True, False)),
    ),
)

OPERATIONS = (SPARSE_MATMUL,)
IN_PROGRAMS = (WANTED_MATRICES, RANK, CHOSEN)
"""The routines that `sparse_matmul` is decomposed to."""
