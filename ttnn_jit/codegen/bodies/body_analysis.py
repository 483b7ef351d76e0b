"""Analyses of a kernel's body: emission order, pairs f(x) and f(-x), bfloat16 ops, and NaN propagation."""

from __future__ import annotations

from ttnn_jit.codegen.bodies.steps import Apply, Cast, KernelBody, Load, LookUp, Step, operands_of
from ttnn_jit.ops import OPERATIONS, Elementwise, Reduction
from ttnn_jit.ops.declared import DECLARED
from ttnn_jit.ops.families import user_operation
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics

OPERATION_OF_TILE = {operation.tile_name: operation for operation in DECLARED if isinstance(operation, Elementwise)}
"""From the name of a tile op, without its dialect, to the operation."""


def operation_of_tile(tile_name: str) -> Elementwise:
    """The operation of a step, declared or a user's."""
    return OPERATION_OF_TILE.get(tile_name) or user_operation.of_tile_name(tile_name)


REDUCTION_OF_TILE = {operation.tile_name: operation for operation in OPERATIONS if isinstance(operation, Reduction)}
"""From the name of a tile op to the reduction."""


def emission_order(body: KernelBody) -> list[int]:
    """Indices of the steps by depth in the dependence graph.

    The module's order, which minimises live tiles, is close to one long dependence chain: slower on a CPU than this
    order in spite of its spills (docs/dst_scheduling.md, measured by benchmarks/kernels/dst_order.py).
    """
    depths: list[int] = []
    for step in body.steps:
        depths.append(1 + max((depths[operand] for operand in operands_of(step)), default=0))
    return sorted(range(len(depths)), key=depths.__getitem__)


@dataclass(frozen=True, slots=True)
class BothSigns:
    """The steps that compute f(x) and f(-x) for the same f and x and share work; the step `argument` computes x."""

    argument: int
    plain: int
    negated: int


def both_signs(body: KernelBody) -> dict[int, BothSigns]:
    """The pair of every step that has one; steps with bfloat16 results have shorter bodies of their own."""
    found: dict[tuple[str, int], dict[bool, int]] = {}
    for index, step in enumerate(body.steps):
        if isinstance(step, Apply) and step.dtype.is_compute_type and _has_both_signs(step):
            (operand,) = operands_of(step)
            argument, is_negated = _without_sign(body, operand)
            found.setdefault((step.tile_name, argument), {}).setdefault(is_negated, index)
    pairs = [
        BothSigns(argument, signs[False], signs[True]) for (_, argument), signs in found.items() if len(signs) == 2
    ]
    return {index: pair for pair in pairs for index in (pair.plain, pair.negated)}


def _has_both_signs(step: Apply) -> bool:
    return operation_of_tile(step.tile_name).implementations.both_signs is not None


def between_bfloat16(body: KernelBody) -> set[int]:
    """The ops whose operands are all bfloat16 and whose results are rounded to bfloat16 before any use."""
    readers: dict[int, list[Step]] = {}
    for step in body.steps:
        for operand in operands_of(step):
            readers.setdefault(operand, []).append(step)

    def is_rounded(index: int, step: Apply) -> bool:
        casts = all(isinstance(reader, Cast) and reader.dtype.is_upper_half for reader in readers.get(index, ()))
        return step.dtype.is_upper_half or casts

    def is_bfloat16(index: int) -> bool:
        step = body.steps[index]
        widened = isinstance(step, Cast) and step.dtype.is_compute_type
        return is_bfloat16(operands_of(step)[0]) if widened else body.dtype_of(index).is_upper_half

    return {
        index
        for index, step in enumerate(body.steps)
        if isinstance(step, Apply)
        and is_rounded(index, step)
        and all(is_bfloat16(each) for each in step.operands if isinstance(each, int))
    }


def _negates(step: Apply) -> bool:
    return operation_of_tile(step.tile_name).algebra.negates


def _without_sign(body: KernelBody, index: int) -> tuple[int, bool]:
    """The step whose tile equals the tile at `index`, or, with True, its negation."""
    match step := body.steps[index]:
        case Load(stream):
            first = next(k for k, other in enumerate(body.steps) if isinstance(other, Load) and other.stream == stream)
            return first, False
        case Cast(operand) if step.dtype.is_compute_type and not body.dtype_of(operand).is_integer:
            return _without_sign(body, operand)
        case Apply(_, (int() as operand,)) if step.dtype.is_compute_type and _negates(step):
            argument, negated = _without_sign(body, operand)
            return argument, not negated
        case _:
            return index, False


_MIN_ROUNDINGS = 3
"""Least roundings for which one NaN check at the end is faster (benchmarks/kernels/choices.py: `NaN at the end`)."""


def propagates_nan(body: KernelBody) -> bool:
    """Whether every NaN that device numerics would replace propagates to the only result, where one check suffices."""
    rounds = 0
    for step in body.steps:
        match step:
            case Apply():
                operation = operation_of_tile(step.tile_name)
                if not operation.algebra.propagates_nan:
                    return False
                rounds += not operation.algebra.selects_operand and step.dtype.is_upper_half
            case LookUp():
                return False
            case Cast() if step.dtype.is_integer:
                return False
            case _:
                pass
    one_result = sum(stream.written for stream in body.streams) == 1
    on_device = body.numerics is Numerics.DEVICE and body.is_all_bfloat16 and not any(s.forwarded for s in body.streams)
    return on_device and one_result and rounds >= _MIN_ROUNDINGS
