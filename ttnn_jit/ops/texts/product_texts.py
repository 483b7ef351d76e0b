"""Products of tensors, where their attributes or shapes are not those of a call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.contraction.sparse_products import SPARSE_MATMUL as SPARSE_PRODUCTS
from ttnn_jit.ops.elementwise.activation_text import activated_in_torch, extremes_in_torch
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.element_goldens import (
    GoldenOfElements,
    elements_of_operands,
    elements_of_product,
    index_of_places,
    sums_of_products,
)
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, text
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType


def _transposed(x: Any, *, if_true: bool) -> Any:
    return x.transpose(-2, -1) if if_true and x.dim() > 1 else x


def _product_in_torch(torch: Any, call: TextCall) -> Any:
    found = torch.matmul(_transposed(call.a, if_true=call.transpose_a), _transposed(call.b, if_true=call.transpose_b))
    return found if found.dim() else found.reshape(1)


def _matmul(ops: Ops, call: TextCall) -> Value:
    options = {} if call.activation is None else {"activation": call.activation}
    a, b = _in_words(ops, call.a, call.b)
    found: Value = ops.matmul(a, b, transpose_a=call.transpose_a, transpose_b=call.transpose_b, **options)
    return found


def _in_words(ops: Ops, *operands: Value | None) -> list[Any]:
    """Operands of integers in 64 bits, which have loops of products: sums of them are exact modulo 2**64."""
    is_integer = any(each is not None and each.spec.dtype.is_integer for each in operands)
    return [each if each is None or not is_integer else ops.rounded(each, DataType.INT64) for each in operands]


def _require_product_of_matrices(call: TextCall) -> None:
    """Refuses dimensions, which some texts state, that are not those of a product of batches of matrices."""
    rank = len(call.a.shape), len(call.b.shape)
    batch = tuple(range(rank[0] - 2))
    usual = {"lhs": (batch, (rank[0] - 1,)), "rhs": (batch if rank[0] == rank[1] else (), (rank[1] - 2,))}
    for side, (batches, contracted) in usual.items():
        for name, wanted in ((f"batch_dims_{side}", batches), (f"contract_dims_{side}", contracted)):
            stated = getattr(call, name)
            if stated is not None and (tuple(stated) != wanted or call.transpose_a or call.transpose_b):
                raise ShapeError(f"`{name}` is {[*stated]}, and {[*wanted]} is that of a product of matrices")


def _linear(ops: Ops, call: TextCall) -> Value:
    _require_product_of_matrices(call)
    flags = {"transpose_a": call.transpose_a, "transpose_b": call.transpose_b}
    a, b, bias = _in_words(ops, call.a, call.b, call.bias)
    is_row = bias is None or math.prod(bias.shape) == bias.shape[-1]
    if is_row and len(call.a.shape) + len(call.b.shape) > 2:
        row: Value = ops.linear(a, b, bias=bias, activation=call.activation, **flags)
        return row
    # The bias of a call is a row: another one is added to the product in float32.
    if not a.spec.dtype.is_integer:
        a, b, bias = (None if each is None else ops.rounded(each, COMPUTE_TYPE) for each in (a, b, bias))
    product = ops.matmul(a, b, **flags)
    product = product if product.shape else ops.reshape(product, (1,))
    found: Value = product if bias is None else product + bias
    return found if call.activation is None else getattr(ops, call.activation)(found)


def _linear_in_torch(torch: Any, call: TextCall) -> Any:
    found = _product_in_torch(torch, call)
    found = found if call.bias is None else found + call.bias
    return activated_in_torch(torch, found, call.activation)


_TERMS = 32
"""Products of a tile, after which DST holds their sum in bfloat16."""
_MANTISSAS = 10, 9
"""Bits after the hidden one of the first factor and of the second that reach the matrix engine."""
_OTHER_ROUNDINGS = 3
"""Roundings of one element to the other neighbour.

A sum of 32 terms in float32 is off by some 2^-22 of itself, so that it is rounded otherwise than here with a
probability of 2^-13. That happens four times in a sum of 2^13 terms with a probability below 10^-7.
"""


def rounding_of_sums(torch: Any, left: Any, right: Any) -> Any:
    """By how much a product of matrices may be off whose sums are rounded to bfloat16 after every 32 terms.

    It is the error of that algorithm in float64, and the units by which other roundings of single terms change it.
    """
    left, right = (_cut(torch, each, bits) for each, bits in zip((left, right), _MANTISSAS, strict=True))
    by_row = right if right.dim() == 1 else right.transpose(0, -2)
    total = rounded = largest = torch.zeros((), dtype=torch.float64)
    tiles = range(0, left.shape[-1], _TERMS)
    for begin in tiles:
        rows = by_row[begin : begin + _TERMS]
        part = torch.matmul(left[..., begin : begin + _TERMS], rows if right.dim() == 1 else rows.transpose(0, -2))
        total, rounded = total + part, (rounded + part).bfloat16().double()
        largest = torch.maximum(largest, rounded.abs())
    return (rounded - total).abs() + min(len(tiles), _OTHER_ROUNDINGS) * _unit(torch, largest)


def _cut(torch: Any, x: Any, bits: int) -> Any:
    """`x` truncated toward zero to this many mantissa bits."""
    mantissa, exponent = torch.frexp(x)
    return torch.ldexp(torch.trunc(mantissa * 2.0 ** (bits + 1)), exponent - bits - 1)


def _accumulator_error(torch: Any, call: TextCall) -> Any:
    """By how much the activation of a product with its bias changes if the product is off, and steps are rounded."""
    a, b = _transposed(call.a, if_true=call.transpose_a), _transposed(call.b, if_true=call.transpose_b)
    off, total = rounding_of_sums(torch, a, b), _product_in_torch(torch, call)
    bias = vars(call).get("bias")
    if bias is not None:
        total = total + bias
        off = off + _unit(torch, total) / 2
    if call.activation is None:
        return call.in_result_shape(off.expand(total.shape))
    off = off.nan_to_num(nan=0.0, posinf=0.0)  # of sums that overflow
    exact = activated_in_torch(torch, total, call.activation)
    least, largest = extremes_in_torch(torch, total - off, total + off, call.activation)
    # At a pole the activation may be any number.
    return call.in_result_shape(torch.maximum(largest - exact, exact - least).clamp(max=torch.finfo(exact.dtype).max))


def _unit(torch: Any, x: Any) -> Any:
    """The unit in the last place of bfloat16."""
    return torch.exp2(x.abs().clamp(2.0**-126).log2().floor() - 7)


def _elements_of_matmul(torch: Any, call: TextCall, places: Any) -> GoldenOfElements | None:
    """The rows and columns whose products are summed, and the bias beside them."""
    a, b, bias = call.a, call.b, vars(call).get("bias")
    if a.dim() < 2 or b.dim() < 2 or call.activation is not None:
        return None
    a, b = _transposed(a, if_true=call.transpose_a), _transposed(b, if_true=call.transpose_b).mT
    batches = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    *batch, row, column = index_of_places(torch, places, (*batches, a.shape[-2], b.shape[-2]))
    left, right = (x.expand(*batches, *x.shape[-2:])[(*batch, at)] for x, at in ((a, row), (b, column)))
    if bias is not None:
        (bias,) = elements_of_operands(torch, [bias], places, (*batches, a.shape[-2], b.shape[-2]))
    return sums_of_products(left, right, bias)._replace(rounding=_rounding_of_elements)


def _rounding_of_elements(torch: Any, left: Any, right: Any, bias: Any = None) -> Any:
    """As `_accumulator_error`, of elements by their factors."""
    off = rounding_of_sums(torch, left.unsqueeze(1), right.unsqueeze(2)).reshape(-1)
    if bias is None:
        return off
    return off + _unit(torch, (left * right).sum(1) + bias) / 2


MATMUL = text(
    "ttir.matmul ttnn.matmul",
    "a b",
    _matmul,
    lambda torch, call: activated_in_torch(
        torch, call.in_result_shape(_product_in_torch(torch, call)), call.activation
    ),
    transpose_a=False,
    transpose_b=False,
    activation=None,
    accumulator_error=_accumulator_error,
    elements_at=_elements_of_matmul,
)
LINEAR = text(
    "ttir.linear ttnn.linear",
    "a b bias?",
    _linear,
    _linear_in_torch,
    batch_dims_lhs=None,
    batch_dims_rhs=None,
    contract_dims_lhs=None,
    contract_dims_rhs=None,
    transpose_a=False,
    transpose_b=False,
    activation=None,
    accumulator_error=_accumulator_error,
    elements_at=_elements_of_matmul,
)


def _free(rank: int, *used: Sequence[int]) -> list[int]:
    taken = {axis for axes in used for axis in axes}
    return [axis for axis in range(rank) if axis not in taken]


def _dot_general(ops: Ops, call: TextCall) -> Value:
    left, right = call.lhs, call.rhs
    batch, contracted = (call.batch_dims_lhs, call.batch_dims_rhs), (call.contract_dims_lhs, call.contract_dims_rhs)
    rows = _free(len(left.shape), batch[0], contracted[0])
    columns = _free(len(right.shape), batch[1], contracted[1])

    def extent(x: Value, axes: Sequence[int]) -> int:
        return math.prod(x.shape[axis] for axis in axes)

    def arranged(x: Value, *groups: Sequence[int]) -> Value:
        order = [axis for axes in groups for axis in axes]
        return x if order == sorted(order) else ops.permute(x, tuple(order))

    batches = extent(left, batch[0])
    a = ops.reshaped(
        arranged(left, batch[0], rows, contracted[0]), (batches, extent(left, rows), extent(left, contracted[0]))
    )
    b = ops.reshaped(
        arranged(right, batch[1], contracted[1], columns),
        (batches, extent(right, contracted[1]), extent(right, columns)),
    )
    return ops.reshaped(ops.matmul(*_in_words(ops, a, b)), call.result.shape)


def _dot_general_in_torch(torch: Any, call: TextCall) -> Any:
    left = [chr(97 + axis) for axis in range(call.lhs.dim())]
    right = [chr(110 + axis) for axis in range(call.rhs.dim())]
    paired = (*call.batch_dims_lhs, *call.contract_dims_lhs), (*call.batch_dims_rhs, *call.contract_dims_rhs)
    for own, other in zip(*paired, strict=True):
        right[other] = left[own]
    batch = [left[axis] for axis in call.batch_dims_lhs]
    rows = [left[axis] for axis in _free(len(left), call.batch_dims_lhs, call.contract_dims_lhs)]
    columns = [right[axis] for axis in _free(len(right), call.batch_dims_rhs, call.contract_dims_rhs)]
    equation = f"{''.join(left)},{''.join(right)}->{''.join([*batch, *rows, *columns])}"
    return call.in_result_shape(torch.einsum(equation, call.lhs, call.rhs))


def _axes(call: TextCall) -> list[Sequence[int]]:
    return [call.batch_dims_lhs, call.batch_dims_rhs, call.contract_dims_lhs, call.contract_dims_rhs]


DOT_GENERAL = text(
    "ttir.dot_general",
    "lhs rhs",
    _dot_general,
    _dot_general_in_torch,
    elements_at=lambda torch, call, places: elements_of_product(torch, call.lhs, call.rhs, _axes(call), places),
    batch_dims_lhs=REQUIRED,
    batch_dims_rhs=REQUIRED,
    contract_dims_lhs=REQUIRED,
    contract_dims_rhs=REQUIRED,
)


def _sparse_matmul(ops: Ops, call: TextCall) -> Value:
    """The products of all groups, zeros where the sparsity is 0: `nnz` says how many are wanted, and changes none."""
    wanted = ops.typecast(ops.ne(call.sparsity, 0), COMPUTE_TYPE)
    found: Value = ops.call(
        SPARSE_PRODUCTS, [call.a, call.b, wanted, None], None, call.is_input_a_sparse, call.is_input_b_sparse
    )
    return found


def _sparse_matmul_in_torch(torch: Any, call: TextCall) -> Any:
    """One product for each element of the sparsity."""
    a, b = call.a, call.b.flatten(0, -3)
    if call.is_input_a_sparse:
        products = torch.einsum("...emk,enk->...emn", a, b.mT)
    else:
        products = torch.einsum("...mk,enk->...emn", a, b.mT).unsqueeze(-4)
    wanted = (call.sparsity != 0).reshape(*products.shape[:-2], 1, 1)
    return call.in_result_shape(products.masked_fill(~wanted, 0.0))


SPARSE_MATMUL = text(
    "ttir.sparse_matmul ttnn.sparse_matmul",
    "a b sparsity",
    _sparse_matmul,
    _sparse_matmul_in_torch,
    is_input_a_sparse=False,
    is_input_b_sparse=True,
    nnz=None,
)

TEXTS = (MATMUL, LINEAR, DOT_GENERAL, SPARSE_MATMUL)
