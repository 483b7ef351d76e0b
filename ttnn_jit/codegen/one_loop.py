"""Kernels of a program that the host runs as one: a target's rules say what a generic holds, not what a loop holds.

Every step of a kernel is rounded as its target says, a stored tile included, so a consumer that takes the tile from its
producer's step reads the bits that it would have loaded: what is saved is memory, and a launch. A tensor that nothing
else reads is never stored. Bound: the bytes of the distinct tensors that enter and leave the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from ttnn_jit.codegen.kernel_body import Kernel, kernel_over
from ttnn_jit.codegen.steps import Load, Step, Store, with_operands
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.target import PRESETS
from ttnn_jit.tensor_spec import TensorSpec

_MOST_LIVE = PRESETS["cpu"].dst_tiles
"""Tiles of a loop: what the host's own target allows a kernel."""


@dataclass(frozen=True)
class _Loop:
    """Kernels that become one, and the ops that they come from."""

    kernel: Kernel
    ops: frozenset[Operation]


def in_one_loop(kernels: Iterable[tuple[Operation, Kernel]]) -> list[Kernel]:
    """Fewer kernels that write the same tensors, those left out that only one of them would read.

    Args:
        kernels: In program order, each with its op, whose results are what it writes.
    """
    loops: list[_Loop] = []
    for op, kernel in kernels:
        found = _Loop(kernel, frozenset([op]))
        while (last := _last_producer(loops, found)) is not None and _moves_to_end(loops, last):
            joined = _joined(loops[last], found)
            if joined is None:
                break
            found = joined
            del loops[last]
        loops.append(found)
    return [loop.kernel for loop in loops]


def _last_producer(loops: Sequence[_Loop], reader: _Loop) -> int | None:
    """The last of `loops` that `reader` reads a result of."""
    read = set(reader.kernel.inputs)
    return next((k for k in reversed(range(len(loops))) if read.intersection(loops[k].kernel.outputs)), None)


def _moves_to_end(loops: Sequence[_Loop], index: int) -> bool:
    """Whether no later loop reads what the one at `index` writes."""
    written = set(loops[index].kernel.outputs)
    return not any(written.intersection(loop.kernel.inputs) for loop in loops[index + 1 :])


def _joined(producer: _Loop, consumer: _Loop) -> _Loop | None:
    """The loop that does the work of both; None if they do not run over the same elements, or hold too much."""
    spaces = {_space(spec_of(value.type)) for loop in (producer, consumer) for value in loop.kernel.outputs}
    if len(spaces) > 1:
        return None
    ops = producer.ops | consumer.ops
    kernel = _concatenated(producer.kernel, consumer.kernel, ops)
    return _Loop(kernel, ops) if kernel.body.live_tiles <= _MOST_LIVE else None


def _space(spec: TensorSpec) -> object:
    """What specs have in common whose elements are met in one order."""
    return tuple(spec.shape), spec.layout, spec.strides


def _concatenated(first: Kernel, second: Kernel, ops: frozenset[Operation]) -> Kernel:
    """The steps of both, a tensor loaded once, and none stored that is read by `ops` alone."""
    steps: list[Step] = []
    tile_of: dict[SSAValue, int] = {}
    stored: dict[SSAValue, int] = {}
    for kernel in (first, second):
        tensors = (*kernel.inputs, *kernel.outputs)
        places: dict[int, int] = {}
        for index, step in enumerate(kernel.body.steps):
            match step:
                case Store():
                    stored[tensors[step.stream]] = tile_of[tensors[step.stream]] = places[step.operand]
                case Load() if tensors[step.stream] in tile_of:
                    places[index] = tile_of[tensors[step.stream]]
                case _:
                    places[index] = len(steps)
                    if isinstance(step, Load):
                        tile_of[tensors[step.stream]] = len(steps)
                    steps.append(with_operands(step, places.__getitem__))
    inputs = tuple(value for value in dict.fromkeys((*first.inputs, *second.inputs)) if value not in stored)
    outputs = tuple(value for value in stored if any(use.operation not in ops for use in value.uses))
    streams = {value: k for k, value in enumerate((*inputs, *outputs))}
    # A load's stream is still one of its own kernel's.
    loaded = {tile_of[value]: streams[value] for value in inputs}
    steps = [replace(step, stream=loaded[k]) if isinstance(step, Load) else step for k, step in enumerate(steps)]
    steps += [Store(stored[value], streams[value]) for value in outputs]
    return kernel_over(inputs, outputs, steps, first.body.numerics, joined=True)
