"""One launch as codegen sees it: a body, what it reads and writes, and the loops over that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ttnn_jit.codegen.launch import LoopNest, View, loop_nest_of
from ttnn_jit.codegen.steps import KernelBody, Load, SizeClass, Step, Store
from ttnn_jit.dialects.d2m import ViewLayoutOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.kernels.tile_loop import InnerAccess, Stream
from ttnn_jit.runtime.buffer import POOLED_RESULT_BYTES
from ttnn_jit.runtime.host_costs import last_cache_bytes
from ttnn_jit.specs.access import Access
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec

SHARE_OF_LAST_CACHE = 0.75
"""Stores are non-temporal in a kernel whose inputs, or whose outputs, exceed this multiple of the last cache, so that
no result would stay there for the next kernel. Inputs and outputs are not added up: ordinary stores are faster where
only both together exceed it (benchmarks/choices.py: `non-temporal stores`)."""


@dataclass(frozen=True)
class Operand:
    """What a kernel reads or writes: a tensor in memory, as a view has it.

    Attributes:
        value: The tensor.
        view: Which of its elements.
    """

    value: SSAValue
    view: View

    @staticmethod
    def of(value: SSAValue) -> Operand:
        """The tensor behind the views that `value` is of, and all of them as one."""
        access: Access | None = None
        while isinstance(value.owner, ViewLayoutOp):
            own = value.owner.access
            access, value = own if access is None else access.after(own), value.owner.input
        return Operand(value, View(spec_of(value.type), access))


@dataclass(frozen=True)
class Kernel:
    """One launch: a body, the tensors that it reads and writes, and the loops over them.

    Attributes:
        body: The kernel.
        inputs: What is read, distinct, in the order of the body's streams.
        outputs: What is written: `d2m.generic`'s results, by position.
        nest: The loops over them: extents, strides and offsets.
    """

    body: KernelBody
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    nest: LoopNest


COPY: Sequence[Step] = (Load(0, None), Store(0, 1))
"""The steps of a kernel that gives back what it reads."""


def kernel_over(
    inputs: tuple[Operand, ...],
    outputs: tuple[Operand, ...],
    steps: Sequence[Step],
    numerics: Numerics,
    *,
    joined: bool = False,
) -> Kernel:
    """The kernel of `steps`, whose streams are `inputs`, all distinct, and then `outputs`.

    Raises:
        NotStridedError: No loops walk all views together.
    """
    nest = loop_nest_of(tuple(each.view for each in inputs), tuple(each.view for each in outputs))
    read, written = (tuple(each.view.spec for each in operands) for operands in (inputs, outputs))
    far = nest.rank == 0 and _exceeds_last_cache(read, written)
    streams = tuple(
        Stream(spec.dtype, access, written=False) if k < len(inputs) else _written(spec, access, far)
        for k, (spec, access) in enumerate(zip((*read, *written), nest.accesses, strict=True))
    )
    size_class = SizeClass.of(math.prod(nest.extents))
    return Kernel(KernelBody(streams, nest.rank, tuple(steps), numerics, size_class, joined), inputs, outputs, nest)


def _exceeds_last_cache(read: Sequence[TensorSpec], written: Sequence[TensorSpec]) -> bool:
    """Whether a kernel reads or writes more than the last cache holds."""
    most = max(sum(spec.nbytes for spec in specs) for specs in (read, written))
    return most > SHARE_OF_LAST_CACHE * last_cache_bytes()


def _written(spec: TensorSpec, access: InnerAccess, far: bool) -> Stream:
    # Smaller results may lie in memory of numpy's, which is not aligned.
    nontemporal = far and access is InnerAccess.CONTIGUOUS and spec.nbytes >= POOLED_RESULT_BYTES
    return Stream(spec.dtype, access, written=True, nontemporal=nontemporal)
