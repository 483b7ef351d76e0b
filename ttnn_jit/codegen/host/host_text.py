"""The launches of a host program as text: their loops, sweeps and steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ttnn_jit.codegen.bodies.steps import Constant
from ttnn_jit.codegen.bodies.steps_text import steps_text
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand
from ttnn_jit.codegen.schedules.device_exchange import RankExchange
from ttnn_jit.codegen.schedules.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.schedules.kernel import Copy, LoopNest, Loops, Repack, Routine
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.codegen.schedules.sweep import Sweep
from ttnn_jit.nest.buffers import Buffer


def host_text(plan: HostPlan) -> str:
    """The host plan before kernels are emitted, with a block of lines per launch."""
    names: dict[PlanValue, str] = {}
    names |= {value: f"number {_number(value, constant)}" for value, constant in plan.constants.items()}
    return "".join(f"{line}\n" for number, own in enumerate(plan.launches) for line in _launch(number, own, names))


def _number(value: PlanValue, constant: Constant) -> str:
    return f"{constant.in_type(value.spec.dtype.compute):g}"


def bytes_of(bound: BoundKernel) -> int:
    """Bytes of the elements that a launch reads and writes, each tensor counted once.

    Loops over elements may meet a part of a tensor, such as a piece of a concatenation; others count all of theirs.
    """
    met: dict[PlanValue, int] = {}
    for operand, strides in zip(bound.operands, bound.loops.strides, strict=True):
        met[operand.value] = met.get(operand.value, 0) + _bytes_met(bound, operand, strides)
    specs = {each.value: each.view.spec for each in bound.operands}
    return sum(min(nbytes, specs[value].nbytes) for value, nbytes in met.items())


def _bytes_met(bound: BoundKernel, operand: Operand, strides: Sequence[int]) -> int:
    spec = operand.view.spec
    if not bound.steps or not bound.is_map or spec.dtype.is_block_float:
        return spec.nbytes
    pairs = zip(bound.loops.extents, strides, strict=True)
    elements = math.prod(extent for extent, stride in pairs if stride)
    return spec.nbytes if elements >= spec.volume else elements * spec.dtype.itemsize


def loops_text(nest: LaunchLoops) -> str:
    """The extents of a launch's loops, outermost first, with marks for reduced and unsplittable loops."""
    said = dict.fromkeys(nest.reduced, " reduced") | dict.fromkeys(nest.whole, " whole")
    return " x ".join(f"{extent}{said.get(nest.rank - index, '')}" for index, extent in enumerate(nest.extents))


def _launch(number: int, launch: HostLaunch, names: dict[PlanValue, str]) -> Iterator[str]:
    bound = launch.bound
    if isinstance(bound.kernel, RankExchange):
        yield f"exchange {number}: {', '.join(launch.operations)}, {launch.remark}"
        for index, operand in enumerate(bound.operands):
            yield f"  {'sends   ' if index < len(bound.inputs) else 'receives'} {_named(operand, names)}"
        return
    fused = f", fused from {len(launch.ops)} kernels" if len(launch.ops) > 1 else ""
    yield f"launch {number}: {', '.join(launch.operations)}{fused}, {bytes_of(bound):,} bytes"
    yield f"  loops {loops_text(bound.loops)}"
    if launch.remark:
        yield f"  {launch.remark}"
    for index, (operand, strides) in enumerate(zip(bound.operands, bound.loops.strides, strict=True)):
        yield f"  {_operand(index, operand, strides, bound, names)}"
    yield from (f"  {line}" for line in _kernel(bound))


def _operand(
    index: int, operand: Operand, strides: Sequence[int], bound: BoundKernel, names: dict[PlanValue, str]
) -> str:
    way = "reads " if index < len(bound.inputs) else "writes"
    start = bound.loops.offsets[index]
    offset = f" from element {start}" if start else ""
    hint = ", non-temporal stores" if bound.kernel.streams[index].nontemporal else ""
    return f"s{index} {way} {_named(operand, names)}, strides {list(strides)}{offset}{hint}"


def _named(operand: Operand, names: dict[PlanValue, str]) -> str:
    """The name of a tensor, which it gets at its first use, and its type."""
    spec = operand.view.spec
    name = names.setdefault(operand.value, f"%{sum(name.startswith('%') for name in names.values())}")
    return f"{name}: {'x'.join([*map(str, spec.shape), spec.dtype.mlir])}"


def _kernel(bound: BoundKernel) -> Iterator[str]:
    match bound.kernel:
        case Routine():
            yield f"call {bound.kernel.name}, whose own loops are the {bound.kernel.own} innermost"
        case Copy(move=Repack()):
            yield "pack s0 into s1, unpack it, or copy its tiles"
        case LoopNest() if bound.kernel.body.reduced:
            yield from _sweeps(bound.kernel)
        case _:
            yield from steps_text(bound.steps, range(len(bound.loops.strides)))


def _sweeps(nest: LoopNest) -> Iterator[str]:
    if nest.loops is Loops.TILE_ROWS:
        (nest,) = nest.all_of(LoopNest)
    for k, buffer in enumerate(nest.scratch, len(nest.streams)):
        if isinstance(buffer, Buffer):
            yield f"s{k} keeps  {buffer.kind.text} of {buffer.dtype.mlir}"
    for sweep in nest.all_of(Sweep):
        yield f"sweep over {'the row' if sweep.whole_row else 'one element'}"
        yield from (f"  {line}" for line in sweep.stage.lines())
        yield from (f"  s{fold.result} = {fold.tile_name} of s{fold.terms}" for fold in sweep.folds)
