"""One launch as codegen sees it: a kernel, its operands, and the loops over them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from ttnn_jit.codegen.bodies.steps import (
    MANY_STREAMS,
    TWO_VECTORS,
    Apply,
    Cast,
    Constant,
    KernelBody,
    Load,
    Product,
    Reduced,
    SizeClass,
    Step,
    Store,
    contracted_streams,
)
from ttnn_jit.codegen.schedules.kernel import Contract, ContractedLoops, Copy, Kernel, LoopNest, Repack
from ttnn_jit.codegen.schedules.launch import (
    LaunchLoops,
    View,
    blocked,
    contraction_loops_of,
    in_transposed_blocks,
    interchanged,
    launch_loops_of,
    reduction_loops_of,
    row_loops,
)
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.nest.limits import LINE, rows_of_a_tile
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.ops import COPY as COPYING
from ttnn_jit.ops.families.reduction import SHORT_ROW
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.memory.buffer import POOLED_RESULT_BYTES
from ttnn_jit.runtime.plans.host_costs import last_cache_bytes
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

SHARE_OF_LAST_CACHE = 0.75
"""Stores are non-temporal in a kernel whose inputs, or whose outputs, exceed this multiple of the last-level cache, so
that no result would stay there for the next kernel. Inputs and outputs are not added up: ordinary stores are faster
where only the sum exceeds it (benchmarks/kernels/choices.py: `non-temporal stores`)."""


@dataclass(frozen=True)
class Operand:
    """An input or output of a kernel: a view of a tensor in memory.

    Attributes:
        value: The tensor.
        view: The view of its elements.
    """

    value: PlanValue
    view: View

    def __hash__(self) -> int:
        return hash(self.value)  # one value has few views, and steps look operands up often

    @property
    def access(self) -> Access:
        """The map from the operand's elements to those of the tensor."""
        return self.view.access or Access.identity(self.view.shape)

    def viewed(self, access: Access | None) -> Operand:
        """Another view of the tensor."""
        return Operand(self.value, View(self.view.spec, access))

    def through(self, access: Access) -> Operand:
        """The view composed with an access."""
        return self.viewed(access if self.view.access is None else access.compose(self.view.access))

    @staticmethod
    def new(spec: TensorSpec) -> Operand:
        """All elements of a new tensor that the module does not have."""
        return Operand(PlanValue(spec), View(spec))


def is_elementwise(op: Operation) -> bool:
    """Whether `op` is a kernel all of whose loops are parallel."""
    return isinstance(op, GenericOp) and all(kind.data == "parallel" for kind in op.iterator_types)


@dataclass(frozen=True)
class BoundKernel:
    """One launch: a kernel, the tensors that it reads and writes, and the loops over them.

    Attributes:
        kernel: The kernel.
        inputs: The distinct inputs, in the order of the kernel's streams.
        outputs: The outputs: the results of `d2m.generic`, by position.
        loops: The loops over the operands: extents, strides and offsets.
        axis: The reduced dimension of the shape that `inputs` broadcast to; None if there is none.
    """

    kernel: Kernel
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    loops: LaunchLoops
    axis: int | None = None

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Inputs, then outputs: one operand per stream of the kernel."""
        return (*self.inputs, *self.outputs)

    def with_operands(self, operands: Sequence[Operand]) -> BoundKernel:
        """The launch with other operands, as many."""
        count = len(self.inputs)
        return replace(self, inputs=tuple(operands[:count]), outputs=tuple(operands[count:]))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that all operands broadcast to."""
        return broadcast_shape(each.view.shape for each in self.operands)

    @property
    def elements(self) -> int:
        """The number of elements that its loops visit."""
        return math.prod(self.loops.extents)

    @property
    def is_map(self) -> bool:
        """Whether every output element depends on one element of each input."""
        kernel = self.kernel
        return isinstance(kernel, Copy) or (isinstance(kernel, LoopNest) and kernel.body.reduced is None)

    @property
    def steps(self) -> Sequence[Step]:
        """The elementwise steps; none for a kernel that converts block floats or calls a routine."""
        if isinstance(self.kernel, LoopNest | Contract):
            return self.kernel.body.steps
        return COPY if isinstance(self.kernel, Copy) and not isinstance(self.kernel.move, Repack) else ()

    @property
    def body(self) -> KernelBody:
        """The steps of a loop nest, or of a product."""
        assert isinstance(self.kernel, LoopNest | Contract), "it has steps"
        return self.kernel.body

    @property
    def sized_body(self) -> KernelBody:
        """The body with the size class of its loops."""
        return replace(self.body, size_class=SizeClass.of(self.elements))

    @property
    def product(self) -> Contract:
        """The kernel of a product's launch."""
        assert isinstance(self.kernel, Contract), "it contracts"
        return self.kernel

    def over(self, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...]) -> BoundKernel:
        """The steps of a loop nest, or of a product, over other operands.

        Raises:
            NotStridedError: No loops walk them.
        """
        body = self.body
        return kernel_over(inputs, outputs, body.steps, body.numerics, is_fused=body.is_fused, axis=self.axis)


COPY: Sequence[Step] = (Load(0, None), Store(0, 1))
"""The steps of a kernel that copies its input."""


def kernel_over(
    inputs: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    steps: Sequence[Step],
    numerics: Numerics,
    *,
    is_fused: bool = False,
    axis: int | None = None,
    loops: LaunchLoops | None = None,
) -> BoundKernel:
    """A launch of the kernel of `steps`, whose streams are the distinct `inputs` and then `outputs`; it reduces `axis`.

    `loops` defaults to loops over all elements of the operands.

    Raises:
        NotStridedError: No loops walk all views together.
    """
    if loops is None:
        loops, steps = _loops_and_steps(inputs, outputs, steps, axis)
    if axis is not None and not loops.reduced:  # the results have no elements
        return kernel_over(inputs, outputs, steps_of_empty_results(inputs, outputs), numerics, loops=loops)
    walks_memory = (loops.rank == 0 or _only_move(steps)) and not loops.reduced
    streams = streams_of(inputs, outputs, loops, walks_memory=walks_memory)
    has_tails = loops.rank > 0 and len(streams) > MANY_STREAMS and loops.extents[-1] % TWO_VECTORS != 0
    body = KernelBody(streams, loops.rank, tuple(steps), numerics, is_fused=is_fused, has_tails=has_tails)
    if any(isinstance(step, Product) for step in steps):
        return BoundKernel(Contract(body, _contracted(loops, steps)), inputs, outputs, loops, axis)
    if axis is not None:
        (loop,) = loops.reduced
        body = replace(body, reduced=Reduced(loop, loops.moves_along(loop), _has_short_rows(loops)))
    return BoundKernel(LoopNest(body), inputs, outputs, loops, axis)


def _loops_and_steps(
    inputs: tuple[Operand, ...], outputs: tuple[Operand, ...], steps: Sequence[Step], axis: int | None
) -> tuple[LaunchLoops, Sequence[Step]]:
    views = tuple(each.view for each in inputs), tuple(each.view for each in outputs)
    if axis is None:
        loops = launch_loops_of(*views)
        return (loops if _only_move(steps) else blocked(loops)), steps
    every = (*views[0], *views[1])
    shape = broadcast_shape(view.shape for view in every)
    if any(isinstance(step, Product) for step in steps):
        return _contraction(every, shape, steps)
    return reduction_loops_of(every, shape, axis), steps


def with_loops_of_copy(bound: BoundKernel) -> BoundKernel:
    """A copy with the loops that suit it: blocked, or interchanged; any other launch unchanged.

    They are chosen when all copies that others can read through are gone.
    """
    if not isinstance(bound.kernel, LoopNest) or not bound.body.only_moves:
        return bound
    loops, body = _copying(bound.loops, bound.inputs, bound.outputs), bound.body
    if loops is bound.loops:
        return bound
    return kernel_over(bound.inputs, bound.outputs, body.steps, body.numerics, is_fused=body.is_fused, loops=loops)


def _only_move(steps: Sequence[Step]) -> bool:
    return all(isinstance(step, Load | Store) for step in steps)


def _copying(nest: LaunchLoops, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> LaunchLoops:
    """The loops of a copy: blocked if it transposes, or interchanged if the innermost loop is short."""
    if len(inputs) == len(outputs) == 1:
        read, written = inputs[0].view.spec, outputs[0].view.spec
        found = in_transposed_blocks(nest, written.dtype.itemsize, far=is_far_transpose(read, written))
        if found is not None:
            return found
    return interchanged(blocked(nest))


SHARE_OF_TRANSPOSES = 0.25
"""Transposes whose operands together exceed this multiple of the last-level cache use non-temporal stores: their lines
miss the nearer caches one by one, which takes longer than reading them from memory (benchmarks/kernels/choices.py:
`far transposes`).
"""


def is_far_transpose(read: TensorSpec, written: TensorSpec) -> bool:
    """Whether a transpose of these tensors exceeds that share of the last-level cache."""
    return read.nbytes + written.nbytes > SHARE_OF_TRANSPOSES * last_cache_bytes()


def _contraction(
    operands: tuple[View, ...], shape: tuple[int, ...], steps: Sequence[Step]
) -> tuple[LaunchLoops, Sequence[Step]]:
    """The loops of a contraction and its steps; a product with a single column is computed with its operands swapped.

    The bits are the same, since multiplication commutes.
    """
    left, right = contracted_streams(steps)
    nest = contraction_loops_of(operands, shape, left, right)
    if nest.extents[-1] > 1 or not nest.reduced:
        return nest, steps
    swapped = contraction_loops_of(operands, shape, right, left)
    if swapped.extents[-1] == 1:
        return nest, steps
    return swapped, [step.swapped if isinstance(step, Product) else step for step in steps]


def streams_of(
    inputs: Sequence[Operand], outputs: Sequence[Operand], loops: LaunchLoops, *, walks_memory: bool = False
) -> tuple[Stream, ...]:
    """A kernel's operands as streams; with `walks_memory`, results that exceed the caches get non-temporal stores."""
    read, written = (tuple(each.view.spec for each in operands) for operands in (inputs, outputs))
    far = walks_memory and exceeds_last_cache(read, written)
    return tuple(
        Stream(spec.dtype, access, written=False)
        if k < len(inputs)
        else _written(spec, access, far and _begins_lines(spec, loops, k))
        for k, (spec, access) in enumerate(zip((*read, *written), loops.accesses, strict=True))
    )


def _has_short_rows(loops: LaunchLoops) -> bool:
    return all(loops.extents[-1 - each] <= SHORT_ROW for each in loops.reduced)


def _contracted(loops: LaunchLoops, steps: Sequence[Step]) -> ContractedLoops:
    count = len(loops.reduced)
    left, right = contracted_streams(steps)
    own = row_loops(loops, right)
    rows = math.prod(loops.extents[-1 - count - own : -1 - count])
    is_dots = loops.extents[-1] > 1 and loops.strides[left][-1] != 0
    has_windows = count > 1 and loops.strides[left][-2] == 1
    return ContractedLoops(left, right, _has_short_rows(loops), count, own, rows_of_a_tile(rows), has_windows, is_dots)


def filled_with(number: float, dtype: DataType) -> Sequence[Step]:
    """The steps of a kernel that fills its output with one number."""
    return (Apply(COPYING.tile_name, (Constant.of(number),), (), dtype, None), Store(0, 0))


def steps_of_empty_results(inputs: Sequence[Operand], outputs: Sequence[Operand]) -> Sequence[Step]:
    """The steps of a kernel whose results have no elements."""
    if not inputs:
        return filled_with(0, outputs[0].view.spec.dtype)
    casts = [Cast(0, output.view.spec.dtype, None) for output in outputs]
    return (Load(0, None), *casts, *(Store(1 + k, len(inputs) + k) for k, _ in enumerate(casts)))


def broadcast_shape(shapes: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """The shape that operands broadcast to."""
    padded = itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    extents = [next((extent for extent in column if extent != 1), 1) for column in padded]
    return tuple(reversed(extents))


def exceeds_last_cache(read: Sequence[TensorSpec], written: Sequence[TensorSpec]) -> bool:
    """Whether a kernel's inputs or outputs exceed the last-level cache."""
    most = max(sum(spec.nbytes for spec in specs) for specs in (read, written))
    return most > SHARE_OF_LAST_CACHE * last_cache_bytes()


def _begins_lines(spec: TensorSpec, nest: LaunchLoops, index: int) -> bool:
    """Whether every written row begins at a cache line, as a tile of block floats always does."""
    begins = (nest.offsets[index], *nest.strides[index][:-1])
    return spec.dtype.is_block_float or all(begin * spec.dtype.itemsize % LINE == 0 for begin in begins)


def _written(spec: TensorSpec, access: InnerAccess, far: bool) -> Stream:
    # Smaller results may lie in numpy's memory, which is not aligned.
    in_lines = access is InnerAccess.CONTIGUOUS or spec.dtype.is_block_float
    nontemporal = far and in_lines and spec.nbytes >= POOLED_RESULT_BYTES
    return Stream(spec.dtype, access, written=True, nontemporal=nontemporal)
