"""How a kernel walks its operands: extents and strides of the loops, and the words that carry them to the kernel.

A kernel holds no extent; one launch passes, as i64 words, strides counted in elements::

    innermost extent, outer extents [rank], then per operand: innermost stride, outer strides [rank]

Operands are the kernel's distinct inputs, then its outputs. ``rank`` counts the loops around the innermost one, which
are listed from the inside out; the kernel knows it. An empty tensor has innermost extent 0 and rank 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.tile_loop import InnerAccess
from ttnn_jit.specs.tensor_spec import Shape, TensorSpec


@dataclass(frozen=True, slots=True)
class Walk:
    """The loops of one launch.

    Attributes:
        extents: Of the loops, outermost first, at least one; none is 1 but for a single element.
        strides: Per operand, the elements between neighbours along each loop; 0 where the operand is broadcast.
    """

    extents: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def accesses(self) -> tuple[InnerAccess, ...]:
        """How each operand is walked along the innermost loop."""
        return tuple(_ACCESS.get(strides[-1], InnerAccess.STRIDED) for strides in self.strides)

    @property
    def rank(self) -> int:
        """Loops around the innermost one."""
        return len(self.extents) - 1

    @property
    def params(self) -> tuple[int, ...]:
        """The words of the launch, in the order that this module documents."""
        words = [*reversed(self.extents)]
        for strides in self.strides:
            words += reversed(strides)
        return tuple(words)


_ACCESS = {1: InnerAccess.CONTIGUOUS, 0: InnerAccess.SCALAR}


@lru_cache(maxsize=4096)
def walk_of(inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...]) -> Walk:
    """The loops over all elements of `outputs`, to whose one shape the inputs are broadcast.

    Where the logical elements form one run, that run is walked. Else, operands that are stored alike are walked as
    they are stored, padding included, in one run. Else, the logical dimensions are loops, neighbours merged where
    every operand's strides allow it.
    """
    operands = (*inputs, *outputs)
    shape = outputs[0].shape
    if math.prod(shape) == 0:
        return Walk((0,), tuple((_inner_of_empty(spec, outputs[0]),) for spec in operands))
    logical = _merged(tuple(shape), tuple(broadcast_strides(spec, shape) for spec in operands))
    if len(logical.extents) == 1:
        return logical
    return _stored_run(operands, outputs[0]) or logical


def broadcast_strides(spec: TensorSpec, shape: Shape) -> tuple[int, ...]:
    """Element strides of `spec` along the dimensions of `shape`; 0 where it is broadcast.

    Raises:
        InternalError: `spec` does not broadcast to `shape`.
    """
    missing = len(shape) - len(spec.shape)
    if missing < 0 or any(own not in {1, full} for own, full in zip(spec.shape, tuple(shape)[missing:], strict=True)):
        raise InternalError(f"a tensor of shape {spec.shape} cannot be broadcast to {shape}")
    fitted = zip(spec.shape, spec.element_strides, tuple(shape)[missing:], strict=True)
    return (0,) * missing + tuple(0 if own != full else stride for own, stride, full in fitted)


def _inner_of_empty(spec: TensorSpec, output: TensorSpec) -> int:
    return 0 if spec.volume == 1 and spec is not output else 1


def _stored_run(operands: Sequence[TensorSpec], output: TensorSpec) -> Walk | None:
    """One loop over the stored elements of `output`, if every operand lies like it or is a single element."""
    strides = []
    for spec in operands:
        if spec.shape == output.shape and spec.layout is output.layout and spec.strides is None:
            strides.append((1,))
        elif spec.volume == 1 and output.volume != 1:
            strides.append((0,))
        else:
            return None
    return Walk((math.prod(output.padded_shape),), tuple(strides))


def _merged(extents: tuple[int, ...], strides: tuple[tuple[int, ...], ...]) -> Walk:
    """Loops without extents of 1, neighbours merged wherever the outer stride is the inner's times its extent."""
    columns = zip(*strides, strict=True) if extents else ()
    loops = [(extent, column) for extent, column in zip(extents, columns, strict=True) if extent != 1]
    merged: list[tuple[int, tuple[int, ...]]] = []
    for extent, column in loops:
        if merged and all(outer == inner * extent for outer, inner in zip(merged[-1][1], column, strict=True)):
            merged[-1] = (merged[-1][0] * extent, column)
        else:
            merged.append((extent, column))
    if not merged:
        merged = [(1, (1,) * len(strides))]
    return Walk(tuple(extent for extent, _ in merged), tuple(zip(*(column for _, column in merged), strict=True)))
