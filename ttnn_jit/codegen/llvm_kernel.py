"""A kernel's body as LLVM text: the steps over SIMD registers, inside the loop of kernels/tile_loop.py.

A step's tile becomes one SSA value per vector, so DST slots are registers and a fused kernel reads and writes memory
once. Constants stand in the text as splats, which the backend keeps in memory operands or registers as it sees fit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ttnn_jit.codegen.steps import Apply, Cast, Constant, KernelBody, Load, Store, operands_of
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_vector import LlvmVector, ModuleText
from ttnn_jit.kernels.tile_loop import BODY_BLOCK, Access, TileLoop, VectorText
from ttnn_jit.ops import OPERATIONS, Operation, user_operation
from ttnn_jit.ops.emit import Value
from ttnn_jit.target import HOST_COSTS, Numerics
from ttnn_jit.tensor_spec import DataType

OPERATION_OF_TILE = {operation.tile_name: operation for operation in OPERATIONS}
"""Name of a tile op, without its dialect -> the operation."""


def operation_of_tile(tile_name: str) -> Operation:
    """The operation, declared or a user's, that a step names."""
    return OPERATION_OF_TILE.get(tile_name) or user_operation.of_tile_name(tile_name)


# Two vectors a chunk keep 128 bytes per stream in flight, which bodies bound by memory need. With more live tiles they
# would spill; and the longer ones are bound by arithmetic, where two vectors gain nothing and double the compile time.
# Of bfloat16 alone, though, two vectors are one load, and narrowing them costs no shuffle: without the instruction that
# rounds to bfloat16, a body of one function gains a fifth.
_MOST_LIVE_FOR_TWO_VECTORS = 10
_MOST_LINES_FOR_TWO_VECTORS = 24
_MOST_LINES_FOR_A_PAIR = 64

_NAME = "kernel"


@lru_cache(maxsize=1024)
def kernel_text(body: KernelBody, isa: HostIsa) -> str:
    """A module with one function ``void k_<hash>(ptr pointers, ptr params)``; see `ttnn_jit.codegen.launch`.

    The name is a hash of the text, so that equal names mean equal code.
    """
    text, lines = _text(body, isa, 1)
    most_lines = _MOST_LINES_FOR_A_PAIR if _gains_by_pairs(body, isa) else _MOST_LINES_FOR_TWO_VECTORS
    if lines <= most_lines and body.live_tiles <= _MOST_LIVE_FOR_TWO_VECTORS:
        text, _ = _text(body, isa, 2)
    instructions = lines / isa.lanes
    text = f"; predicted: {round(1000 * instructions / HOST_COSTS.vector_instructions_per_ns)} ps per element\n{text}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return text.replace(f"@{_NAME}(", f"@k_{digest}(", 1)


def _gains_by_pairs(body: KernelBody, isa: HostIsa) -> bool:
    moving = [stream for stream in body.streams if stream.access is not Access.SCALAR]
    by_instruction = body.numerics is Numerics.DEVICE and isa.avx512_bf16
    pairs = all(stream.dtype is DataType.BFLOAT16 and stream.access is Access.CONTIGUOUS for stream in moving)
    return pairs and not by_instruction


def _text(body: KernelBody, isa: HostIsa, unroll: int) -> tuple[str, int]:
    """The module's text with `unroll` vectors a chunk, and the number of lines of its steps."""
    module = ModuleText()
    builder = LlvmVector(isa, module, prefix="v", block=BODY_BLOCK)
    function = TileLoop(_NAME, body.streams, body.rank, _BodyEmitter(body, builder), isa.lanes, unroll).text()
    return f"{function}\n{module.text()}\n", len(builder.lines)


def kernel_picoseconds(text: str) -> int:
    """The predicted arithmetic per element on one thread that `kernel_text` states, at least 1."""
    found = re.search(r"^; predicted: (\d+) ps", text)
    assert found is not None, "the text is no kernel's"
    return max(1, int(found.group(1)))


def kernel_name(text: str) -> str:
    """The symbol that `kernel_text` defines."""
    found = re.search(r"@(k_[0-9a-f]{16})\(", text)
    assert found is not None, "the text is no kernel's"
    return found.group(1)


def emission_order(body: KernelBody) -> list[int]:
    """Indices of the steps, those first that depend on the shortest chains of others.

    The module's order keeps few tiles live, and so is one long chain of dependences: of a tree of 31 inputs with a
    sigmoid at every node it takes 1.3 to 1.5 times as long as this one, on 32 registers and on 16, spills included.
    """
    depths: list[int] = []
    for step in body.steps:
        depths.append(1 + max((depths[operand] for operand in operands_of(step)), default=0))
    return sorted(range(len(depths)), key=depths.__getitem__)


@dataclass(frozen=True, slots=True)
class BothSigns:
    """The steps that are f(x) and f(-x) of one f and one x, which share work; x is the tile of `argument`."""

    argument: int
    plain: int
    negated: int


def both_signs(body: KernelBody) -> dict[int, BothSigns]:
    """The pair of every step that belongs to one."""
    found: dict[tuple[str, int], dict[bool, int]] = {}
    for index, step in enumerate(body.steps):
        if isinstance(step, Apply) and operation_of_tile(step.tile_name).emit_both_signs is not None:
            for operand in operands_of(step):
                argument, is_negated = _without_sign(body, operand)
                found.setdefault((step.tile_name, argument), {}).setdefault(is_negated, index)
    pairs = [
        BothSigns(argument, signs[False], signs[True]) for (_, argument), signs in found.items() if len(signs) == 2
    ]
    return {index: pair for pair in pairs for index in (pair.plain, pair.negated)}


def _without_sign(body: KernelBody, index: int) -> tuple[int, bool]:
    """The step whose tile, or its negation (True), the step at `index` has.

    The chips round what neg makes of an input, which changes a NaN or a denormal that the host put there. So neg's
    tile counts as a negation only for functions whose own rounding hides that: to all of these, a NaN and +infinity
    mean +infinity there, and a denormal zero.
    """
    match step := body.steps[index]:
        case Load(stream):
            first = next(k for k, other in enumerate(body.steps) if isinstance(other, Load) and other.stream == stream)
            return first, False
        case Cast(operand) if step.dtype is DataType.FLOAT32:
            return _without_sign(body, operand)
        case Apply("tile_neg", (int() as operand,)) if step.dtype in (DataType.FLOAT32, body.dtype_of(operand)):
            argument, negated = _without_sign(body, operand)
            return argument, not negated
        case _:
            return index, False


class _BodyEmitter:
    """Writes one vector's steps per call."""

    def __init__(self, body: KernelBody, builder: LlvmVector) -> None:
        self._body = body
        self._builder = builder
        self._order = emission_order(body)
        self._both_signs = both_signs(body)
        self._outputs = [k for k, stream in enumerate(body.streams) if stream.written]

    def __call__(self, inputs: Sequence[str]) -> VectorText:
        start = len(self._builder.lines)
        values: dict[int, Value] = {}
        results: dict[int, Value] = {}
        exact: dict[int, Value] = {}
        for index in self._order:
            step = self._body.steps[index]
            if isinstance(step, Store):
                results[step.stream] = values[step.operand]
            else:
                values[index] = self._value(index, values, exact, inputs)
        return self._builder.lines[start:], [results[k] for k in self._outputs]

    def _value(self, index: int, values: Mapping[int, Value], exact: dict[int, Value], inputs: Sequence[str]) -> Value:
        """The tile of a step; `exact` holds tiles that are known before they are rounded."""
        builder, numerics = self._builder, self._body.numerics
        match step := self._body.steps[index]:
            case Load():
                return inputs[step.stream]
            case Cast():
                same = step.dtype is self._body.dtype_of(step.operand)
                if same or step.dtype is DataType.FLOAT32 or self._is_bfloat16(step.operand):
                    return values[step.operand]
                return builder.round_to(values[step.operand], step.dtype, numerics)
            case Apply():
                if index not in exact:
                    exact |= self._computed(index, step, values)
                if self._needs_no_rounding(step):
                    return exact[index]
                return builder.round_to(exact[index], step.dtype, numerics)

    def _computed(self, index: int, step: Apply, values: Mapping[int, Value]) -> dict[int, Value]:
        """The tile of an op before it is rounded, and that of its pair."""
        builder, operation = self._builder, operation_of_tile(step.tile_name)
        pair = self._both_signs.get(index)
        if pair is not None and operation.emit_both_signs is not None:
            plain, negated = operation.emit_both_signs(builder, values[pair.argument])
            return {pair.plain: plain, pair.negated: negated}
        operands = [
            builder.const(operand.value) if isinstance(operand, Constant) else values[operand]
            for operand in step.operands
        ]
        numbers = [number.value for number in step.numbers]
        return {index: operation.tile_body(self._body.numerics)(builder, *operands, *numbers)}

    def _needs_no_rounding(self, step: Apply) -> bool:
        """Whether the result is bfloat16 because the tiles are that it is chosen from."""
        tiles = [operand for operand in step.operands if isinstance(operand, int)]
        chosen = operation_of_tile(step.tile_name).chooses and len(tiles) == len(step.operands)
        return chosen and not step.numbers and all(map(self._is_bfloat16, tiles))

    def _is_bfloat16(self, index: int) -> bool:
        """Whether rounding the step's tile to bfloat16 would return it."""
        match step := self._body.steps[index]:
            case Cast() if step.dtype is DataType.FLOAT32:
                return self._is_bfloat16(step.operand)
            case Load() if self._body.numerics is Numerics.DEVICE:
                # A NaN or denormal that the host put there is rounded like a result.
                return False
            case Apply() if self._needs_no_rounding(step):
                return True
            case _:
                return self._body.dtype_of(index) is DataType.BFLOAT16
