"""Rows that a product reads from a copy, made a block at a time: windows of few channels are in no memory whole.

A copy that no loops of a product can walk would be written to memory, and read from there. A block of its rows stays in
the cache between the launch that copies it and the one that multiplies it. Bits are those of the whole: an element of a
product depends on its row and its column alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ttnn_jit.codegen.bound_kernel import BoundKernel, Operand
from ttnn_jit.codegen.host.copy_folding import only_copies
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan, Readers
from ttnn_jit.codegen.kernel import Contract
from ttnn_jit.specs.access import Access
from ttnn_jit.specs.index_expressions import Const, Dim, substitute, total
from ttnn_jit.specs.strided_walk import NotStridedError
from ttnn_jit.specs.tensor_spec import TensorSpec

MOST_BYTES = 1 << 20
"""Of a block, which stays in a core's second cache; up to twice as many are left whole (benchmarks/convolution.py)."""

MOST_BLOCKS = 64
"""Of a copy: a launch costs a microsecond, and a compile some hundred."""


def block_rows(plan: HostPlan) -> HostPlan:
    """The launches with copies cut into blocks that a product alone reads, as its rows; it is cut likewise."""
    if plan.isa is None:
        return plan
    launches: list[HostLaunch] = []
    readers = plan.readers
    for launch in plan.launches:
        blocks = _blocks(launches[-1], launch, readers) if launches else None
        if blocks is None:
            launches.append(launch)
        else:
            launches[-1:] = blocks
    return replace(plan, launches=tuple(launches))


def _blocks(copy: HostLaunch, product: HostLaunch, readers: Readers) -> list[HostLaunch] | None:
    """Both launches block by block; None if they run whole."""
    if not _is_read_as_rows(copy, product, readers):
        return None
    for size in _sizes(copy.bound):
        try:
            return list(_cut(copy, product, size))
        except NotStridedError:
            continue  # blocks of so many rows are in no loops of the copy's own
    return None


def _is_read_as_rows(copy: HostLaunch, product: HostLaunch, readers: Readers) -> bool:
    """Whether a product has what a launch copies as its left operand, and nothing else reads it."""
    if not isinstance(product.bound.kernel, Contract) or not only_copies(copy.bound):
        return False
    value, (left, _) = copy.bound.outputs[0].value, product.bound.product.factors
    places = [k for k, each in enumerate(product.bound.inputs) if each.value is value]
    return places == [left] and len(readers(value)) == 1


def _sizes(copy: BoundKernel) -> Iterator[int]:
    """The rows that a block may have, all blocks alike: the most that fit first, then more, where too many are left."""
    spec = copy.outputs[0].view.spec
    *batch, rows, columns = (1, 1, *spec.shape)
    nbytes = rows * columns * spec.dtype.itemsize
    if math.prod(batch) != 1 or nbytes <= 2 * MOST_BYTES:
        return
    wanted = min(-(-nbytes // MOST_BYTES), MOST_BLOCKS)
    for count in (*range(wanted, MOST_BLOCKS + 1), *range(wanted - 1, 1, -1)):
        if rows % count == 0:
            yield rows // count


def _cut(copy: HostLaunch, product: HostLaunch, size: int) -> Iterator[HostLaunch]:
    """Launch after launch.

    Raises:
        NotStridedError: No loops walk a block.
    """
    whole = copy.bound.outputs[0].view.spec
    *batch, rows, columns = tuple(whole.shape)
    block = TensorSpec((*batch, size, columns), whole.dtype)
    rows_of_copy = Operand.new(block)
    for first in range(0, rows, size):
        part = range(first, first + size)
        yield changed(copy, (rows_of(copy.bound.inputs[0], rows, part),), (rows_of_copy,))
        yield of_rows(product, _of_block(product, rows_of_copy), rows, part)


def _of_block(product: HostLaunch, block: Operand) -> Operand:
    """The rows of a block as a product's left operand."""
    access = product.bound.inputs[product.bound.product.factors[0]].view.access
    if access is None:
        return block
    extents = (*access.extents[:-2], block.view.shape[-2], access.extents[-1])
    return block.viewed(Access(extents, access.coordinates))


def of_rows(product: HostLaunch, left: Operand, rows: int, part: range) -> HostLaunch:
    """These of the rows that a product's result has, with `left` as the rows of the left operand."""
    place, _ = product.bound.product.factors
    inputs = [rows_of(each, rows, part) for each in product.bound.inputs]
    inputs[place] = left
    return changed(product, tuple(inputs), tuple(rows_of(each, rows, part) for each in product.bound.outputs))


def changed(launch: HostLaunch, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...]) -> HostLaunch:
    """A launch with other operands.

    Raises:
        NotStridedError: No loops walk them.
    """
    return HostLaunch(launch.ops, launch.bound.over(inputs, outputs))


def rows_of(operand: Operand, rows: int, part: range) -> Operand:
    """These rows of an operand, or all of one that is broadcast along them."""
    shape = operand.view.shape
    if len(shape) < 2 or shape[-2] != rows:
        return operand
    access = operand.view.access or Access.identity(shape)
    axis = len(shape) - 2
    indices = [total((Dim(k), Const(part.start))) if k == axis else Dim(k) for k, _ in enumerate(shape)]
    extents = (*shape[:-2], len(part), shape[-1])
    coordinates = tuple(substitute(expr, indices) for expr in access.coordinates)
    return operand.viewed(Access(extents, coordinates))
