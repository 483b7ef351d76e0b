"""A kernel's body as LLVM text: the steps over SIMD registers, inside the loop of kernels/tile_loop.py.

A step's tile becomes one SSA value per vector, so DST slots are registers and a fused kernel reads and writes memory
once. Constants stand in the text as splats, which the backend keeps in memory operands or registers as it sees fit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ttnn_jit.codegen.body_analysis import (
    between_bfloat16,
    both_signs,
    emission_order,
    operation_of_tile,
    spreads_nan,
)
from ttnn_jit.codegen.relay import MOST_INPUTS, Relay, relay_of
from ttnn_jit.codegen.steps import Apply, Cast, Constant, Elements, KernelBody, Load, LookUp, Store, operands_of
from ttnn_jit.codegen.tables import Parted, parts_of_one_word
from ttnn_jit.kernels.bfloat16_words import Bfloat16Words, Vectors
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_float import SELECTED_QUICKLY, ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.kernels.loop_constants import calls_functions, hoisted
from ttnn_jit.kernels.relayed import Turn, relayed
from ttnn_jit.kernels.tabulated import ENTRIES, tabulated
from ttnn_jit.kernels.tile_loop import BODY_BLOCK, Access, Chunk, TileLoop
from ttnn_jit.target import HOST_COSTS, Numerics

# Two vectors a chunk keep 128 bytes per stream in flight, which bodies bound by memory need. With more live tiles they
# would spill; and the longer ones are bound by arithmetic, where two vectors gain nothing and double the compile time.
# Of bfloat16 alone, though, two vectors are one load without a shuffle, and one instruction rounds both: longer bodies
# gain a sixth, those of many roundings two thirds, where registers hold both.
_MOST_LIVE_FOR_TWO_VECTORS = 10
_MOST_LINES_FOR_TWO_VECTORS = 24
_MOST_LINES_FOR_A_PAIR = {16: 64, 32: 200}
"""By the number of vector registers. Twice as many where ops are short: what waits for the op before it gains two
thirds, as it leaves the units idle."""
_MOST_LINES_OF_A_SHORT_OP = 10

_REGISTERS_TO_SPARE = 32
"""From here on, inputs are loaded early, and f(x) and f(-x) are taken of two vectors. Of 16, one register more costs
sin and sigmoid a tenth."""

_NAME = "kernel"


@lru_cache(maxsize=1024)
def kernel_text(body: KernelBody, isa: HostIsa) -> str:
    """A module with one function ``void k_<hash>(ptr pointers, ptr params)``; see `ttnn_jit.codegen.launch`.

    The name is a hash of the text, so that equal names mean equal code.
    """
    direct = _written(body, isa)
    table = _table(body, isa) if body.elements is Elements.MANY else None
    if table is not None:
        text, picoseconds = _with_table(direct, table, isa)
    elif (relay := relay_of(body, direct.instructions, direct.loop.unroll)) is not None:
        text, picoseconds = _relayed(relay, body, isa)
    else:
        text, picoseconds = _as_pays(body, direct, isa), direct.picoseconds
    text = f"; predicted: {round(picoseconds)} ps per element\n{text}\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return text.replace(f"@{_NAME}(", f"@k_{digest}(", 1)


def _as_pays(body: KernelBody, direct: _Written, isa: HostIsa) -> str:
    """The definitions of the loop: fewer elements than many never pay back what optimising it takes.

    Untouched by LLVM's passes it takes 1.3 to 7 ms less to assemble, a third, and runs 0 to 7 % longer, as long as its
    constants lie in registers; or else if it is long, as operands in memory cost x86 little beside its length. For few
    elements its instructions are selected quickly, too: half of the time again, and of 32 registers 3 to 13 % longer;
    of 16, half as long again.
    """
    standing = _as_it_stands(body, direct, isa) if body.elements is not Elements.MANY else None
    if standing is None:
        return _module_text([direct.definition()], [direct])
    quickly = body.elements is Elements.FEW and isa.registers >= _REGISTERS_TO_SPARE
    head = [SELECTED_QUICKLY] if quickly else []
    return "\n".join([*head, _module_text([standing], [direct])])


def _as_it_stands(body: KernelBody, direct: _Written, isa: HostIsa) -> str | None:
    """The loop for a code generator that does not optimise it; None if it would run much longer so."""
    if isa.neon or not _is_narrow(body) or calls_functions(direct.loop.lines):
        return None
    if not body.rank and isa.registers >= _REGISTERS_TO_SPARE:
        in_registers = hoisted(direct.loop.lines, _MOST_CONSTANTS_IN_REGISTERS)
        if in_registers is not None:
            return direct.loop.definition_as_it_stands(*in_registers)
    if len(direct.lines) >= _LINES_OF_A_LONG_BODY:
        return direct.loop.definition_as_it_stands((), direct.loop.lines)
    return None


def _is_narrow(body: KernelBody) -> bool:
    """Whether few streams are read, all in vectors: many would all be loaded first, and elements move in a loop."""
    inputs = sum(not stream.written for stream in body.streams)
    return inputs <= MOST_INPUTS and all(stream.access is not Access.STRIDED for stream in body.streams)


_MOST_CONSTANTS_IN_REGISTERS = 24
"""Of 32 registers; gelu's 23 cost it 4 % of the time there, and in memory a quarter."""
_LINES_OF_A_LONG_BODY = 150
"""Of 100 lines, those with more constants than registers take a quarter longer."""


@dataclass(frozen=True)
class _Table:
    """What a kernel may look up: the parts of its body, and the function of one word as text."""

    parted: Parted
    function: _Written


def _table(body: KernelBody, isa: HostIsa) -> _Table | None:
    """The longest part of a body that pays to be looked up."""
    tables = [_Table(parted, _written(parted.function, isa)) for parted in parts_of_one_word(body)]
    return max(filter(_pays, tables), key=lambda table: table.function.picoseconds, default=None)


def _pays(table: _Table) -> bool:
    # A function of the user's may be none of its argument: it may count, or draw random numbers.
    lanes = table.function.loop.lanes
    least = _INSTRUCTIONS_OF_LOOKUPS[lanes] * (1 if table.parted.is_whole else _beside(table.parted, lanes))
    return table.function.usual_instructions >= least and not table.function.module.scalar_functions


def _beside(parted: Parted, lanes: int) -> float:
    """How much longer lookups take than alone."""
    return _BESIDE_PAIRS if parted.looks_up_loaded_words and lanes >= _FEWEST_WORDS else _BESIDE_OTHERS


def _with_table(direct: _Written, table: _Table, isa: HostIsa) -> tuple[str, float]:
    """The definitions of a kernel that looks up, and its predicted picoseconds per element."""
    beside = table.parted.looks_up_loaded_words and not table.parted.is_whole
    unroll = 2 if beside or isa.lanes < _FEWEST_WORDS else 1
    look_up = _written(table.parted.rest, isa, unroll)
    definitions = [look_up.definition("ttnn_jit.look_up"), table.function.definition("ttnn_jit.function")]
    chosen = tabulated(_NAME, "ttnn_jit.look_up", "ttnn_jit.function")
    picoseconds = direct.picoseconds - table.function.picoseconds + 1000 / HOST_COSTS.lookups_per_ns
    ops = [operation_of_tile(step.tile_name) for step in table.parted.function.steps if isinstance(step, Apply)]
    head = f"; looked up, in tensors of {ENTRIES} elements and more: {', '.join(operation.name for operation in ops)}"
    return "\n".join([head, _module_text(definitions, [look_up, table.function]), chosen]), picoseconds


def _relayed(relay: Relay, body: KernelBody, isa: HostIsa) -> tuple[str, float]:
    """The definitions of a kernel that runs in parts, and its predicted picoseconds per element."""
    names = [f"ttnn_jit.part{k}" for k in range(len(relay.parts))]
    turns = [Turn(name, part.operands) for name, part in zip(names, relay.parts, strict=True)]
    parts = [_written(part.body, isa, relay.vectors, fences=False) for part in relay.parts]
    definitions = [part.definition(name) for name, part in zip(names, parts, strict=True)]
    # First: functions of the user's, at the end, are modules of their own.
    chosen = relayed(_NAME, body.streams, relay.scratches, turns, relay.stretch)
    return "\n".join([chosen, _module_text(definitions, parts)]), sum(part.picoseconds for part in parts)


_FEWEST_WORDS = 16
"""Of a chunk that is looked up: 8 give 4.8 elements per ns where 16 give 6.1, and 32 no more. But 32 gain a fifth where
loaded words are looked up beside other steps, and lose an eighth where these compute the words."""


@dataclass(frozen=True)
class _Written:
    """A body's loop, the lines of its steps off rare paths, their number by step, what they need."""

    loop: TileLoop
    lines: list[str]
    instructions: Mapping[int, int]
    module: ModuleText

    def definition(self, name: str | None = None) -> str:
        """The function; under a `name`, only its module sees it."""
        text = self.loop.definition()
        if name is None:
            return text
        return text.replace(f"define void @{self.loop.name}(", f"define internal void @{name}(", 1)

    @property
    def picoseconds(self) -> float:
        """The predicted arithmetic per element, as every line's instruction takes as long."""
        elements = self.loop.unroll * self.loop.lanes
        return 1000 * len(self.lines) / (elements * HOST_COSTS.vector_instructions_per_ns)

    @property
    def usual_instructions(self) -> float:
        """Of a vector; a division counts as what can be done beside it."""
        divisions = sum(" = fdiv " in line or "@llvm.sqrt." in line for line in self.lines)
        return (len(self.lines) + (_INSTRUCTIONS_OF_A_DIVISION - 1) * divisions) / self.loop.unroll


def _usual(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are instructions, off the rare paths."""
    rare = False
    for line in lines:
        rare = line.endswith(".rare:") or (rare and not line.endswith(".after:"))
        if not rare and " = bitcast " not in line:
            yield line


_INSTRUCTIONS_OF_A_DIVISION = 8
_INSTRUCTIONS_OF_LOOKUPS = {16: 24, 8: 22, 4: 16}
"""By lanes: of a vector whose elements take as long as looked up, with some entries in the second cache. Narrow vectors
are issued more often."""
_BESIDE_OTHERS = 1.25
"""How much longer lookups take beside other steps."""
_BESIDE_PAIRS = 0.85
"""The same of loaded words beside steps of two vectors: these run while the words are fetched. Of functions that are
multiplied by another input, silu of 22 instructions gains a quarter, log of 16 a twelfth, and sqrt of 11 loses one."""


def _written(body: KernelBody, isa: HostIsa, unroll: int | None = None, *, fences: bool = True) -> _Written:
    """The body with `unroll` vectors a chunk: those that suit it, if None."""
    if unroll is None:
        one = _written(body, isa, 1, fences=fences)
        suits_two = len(one.lines) <= _most_lines_for_two(body, one, isa)
        two = suits_two and body.live_tiles <= _MOST_LIVE_FOR_TWO_VECTORS
        return _written(body, isa, 2, fences=fences) if two else one
    module = ModuleText()
    builder = LlvmVector(isa, module, prefix="v", block=BODY_BLOCK)
    emitter = _BodyEmitter(body, builder, unroll)
    early = unroll == 1 and isa.registers >= _REGISTERS_TO_SPARE and body.elements is not Elements.FEW
    loop = TileLoop(_NAME, body.streams, body.rank, emitter, isa.lanes, unroll, early, fences)
    return _Written(loop, list(_usual(loop.lines)), emitter.instructions, module)


def _most_lines_for_two(body: KernelBody, one: _Written, isa: HostIsa) -> int:
    if not body.of_words:
        return _MOST_LINES_FOR_TWO_VECTORS
    if isa.registers < _REGISTERS_TO_SPARE and both_signs(body):
        return 0  # f(x) and f(-x) of one vector hold as much as two vectors
    ops = sum(isinstance(step, Apply) for step in body.steps)
    return _MOST_LINES_FOR_A_PAIR[isa.registers] * (2 if len(one.lines) <= _MOST_LINES_OF_A_SHORT_OP * ops else 1)


def _module_text(definitions: Sequence[str], functions: Sequence[_Written]) -> str:
    """The `definitions` of functions, and once each what they need of their module."""
    module = ModuleText()
    for written in functions:
        module.declarations |= dict.fromkeys(written.loop.declarations) | written.module.declarations
        module.functions |= written.module.functions
        module.scalar_functions |= written.module.scalar_functions
    return "\n".join([*definitions, module.text()])


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


class _BodyEmitter:
    """Writes the steps of a chunk of `unroll` vectors, each step for all of them before the next."""

    def __init__(self, body: KernelBody, builder: LlvmVector, unroll: int) -> None:
        self._body = body
        self._builder = builder
        self._unroll = unroll
        self._words = Bfloat16Words(builder, body.numerics, interleaved=body.of_words)
        self._order = emission_order(body)
        self._both_signs = both_signs(body)
        self._between_bfloat16 = between_bfloat16(body)
        self._inputs = [k for k, stream in enumerate(body.streams) if not stream.written]
        self._outputs = [k for k, stream in enumerate(body.streams) if stream.written]
        self.instructions: dict[int, int] = {}

    def __call__(self, inputs: Sequence[Chunk]) -> tuple[Sequence[str], Sequence[Chunk]]:
        if self._builder.isa.avx512_bf16 and spreads_nan(self._body):
            return self._builder.lines, [[self._looked_over(inputs)]]
        return self._builder.lines, self._results(inputs)

    def _looked_over(self, inputs: Sequence[Chunk]) -> str:
        """The words of the one result: NaN on the way are looked for in it, and replaced only where one is found."""
        careful = self._words
        self._words = Bfloat16Words(self._builder, careful.numerics, careful.interleaved, leaves_nan=True)
        words = self._only_words(inputs)
        self._words = careful
        count = self._unroll * self._builder.isa.lanes
        return self._builder.unless_nan(words, count, lambda: self._only_words(inputs))

    def _only_words(self, inputs: Sequence[Chunk]) -> str:
        ((words,),) = self._results(inputs)
        return words

    def _results(self, inputs: Sequence[Chunk]) -> list[Chunk]:
        loaded = dict(zip(self._inputs, inputs, strict=True))
        values: dict[int, Vectors] = {}
        results: dict[int, Chunk] = {}
        exact: dict[int, Vectors] = {}
        lines = self._builder.lines
        for index in self._order:
            before = len(lines)
            match step := self._body.steps[index]:
                case Load():
                    values[index] = self._widened(step.stream, loaded[step.stream])
                case Store():
                    results[step.stream] = self._narrowed(step.stream, values[step.operand])
                case _:
                    values[index] = self._value(index, step, values, exact)
            self.instructions.setdefault(index, sum(1 for _ in _usual(lines[before:])))
        return [results[k] for k in self._outputs]

    def _widened(self, k: int, chunk: Chunk) -> Vectors:
        stream = self._body.streams[k]
        if stream.dtype.is_compute_type or stream.access is Access.SCALAR:
            return tuple(chunk)
        return self._words.widened(chunk[0], self._unroll)

    def _narrowed(self, k: int, vectors: Vectors) -> Chunk:
        return vectors if self._body.streams[k].dtype.is_compute_type else [self._words.narrowed(vectors)]

    def _value(
        self, index: int, step: Apply | Cast | LookUp, values: Mapping[int, Vectors], exact: dict[int, Vectors]
    ) -> Vectors:
        """The tile of a step; `exact` holds tiles that are known before they are rounded."""
        match step:
            case LookUp():
                return self._words.looked_up(values[step.operand])
            case Cast():
                same = step.dtype is self._body.dtype_of(step.operand)
                if same or step.dtype.is_compute_type or self._is_bfloat16(step.operand):
                    return values[step.operand]
                return self._words.rounded(values[step.operand], step.dtype)
            case Apply():
                if index not in exact:
                    exact |= self._computed(index, step, values)
                if step.dtype.is_compute_type or self._needs_no_rounding(index, step):
                    return exact[index]
                if self._chooses_among(step, self._is_stored_as_bfloat16):
                    return self._words.flushed(exact[index])
                return self._words.rounded(exact[index], step.dtype)

    def _power_of_words(self, index: int, step: Apply) -> float | None:
        """The power of its operand that an op is, if it takes words to words."""
        of_words = self._builder.isa.avx512_vbmi and index in self._between_bfloat16
        return operation_of_tile(step.tile_name).forms.power if of_words else None

    def _computed(self, index: int, step: Apply, values: Mapping[int, Vectors]) -> dict[int, Vectors]:
        """The tile of an op before it is rounded, and that of its pair."""
        builder, operation = self._builder, operation_of_tile(step.tile_name)
        pair = self._both_signs.get(index)
        if pair is not None and operation.forms.both_signs is not None:
            both = [operation.forms.both_signs(builder, vector) for vector in values[pair.argument]]
            plain, negated = zip(*both, strict=True)
            return {pair.plain: plain, pair.negated: negated}
        power = self._power_of_words(index, step)
        if power is not None:
            (operand,) = operands_of(step)
            return {index: self._words.power(values[operand], power, step.tile_name, operation.emit)}
        emit, numbers = operation.tile_body(self._body.numerics), [number.value for number in step.numbers]
        if operation.forms.bfloat16 is not None and index in self._between_bfloat16:
            emit = operation.forms.bfloat16
        operands = [self._operand(operand, values) for operand in step.operands]
        return {index: tuple(emit(builder, *vectors, *numbers) for vectors in zip(*operands, strict=True))}

    def _operand(self, operand: int | Constant, values: Mapping[int, Vectors]) -> Vectors:
        if isinstance(operand, Constant):
            return (self._builder.const(operand.value),) * self._unroll
        return values[operand]

    def _needs_no_rounding(self, index: int, step: Apply) -> bool:
        """Whether the result is bfloat16 because it is made as words, or the tiles are that it is chosen from."""
        return self._power_of_words(index, step) is not None or self._chooses_among(step, self._is_bfloat16)

    def _chooses_among(self, step: Apply, holds: Callable[[int], bool]) -> bool:
        """Whether the result is one of the step's tiles, of each of which `holds` is true."""
        tiles = [operand for operand in step.operands if isinstance(operand, int)]
        chosen = operation_of_tile(step.tile_name).laws.chooses and len(tiles) == len(step.operands)
        return chosen and not step.numbers and all(map(holds, tiles))

    def _is_bfloat16(self, index: int) -> bool:
        """Whether rounding the step's tile to bfloat16 would return it."""
        # A NaN or denormal that the host put there is rounded like a result.
        step = self._body.steps[index]
        if isinstance(step, Cast) and step.dtype.is_compute_type:
            return self._is_bfloat16(step.operand)
        is_clean = self._body.numerics is not Numerics.DEVICE or not isinstance(step, Load)
        return is_clean and self._is_stored_as_bfloat16(index)

    def _is_stored_as_bfloat16(self, index: int) -> bool:
        """Whether the step's tile holds bfloat16 numbers, under device numerics perhaps NaN and denormals."""
        match step := self._body.steps[index]:
            case Cast() if step.dtype.is_compute_type:
                return self._is_stored_as_bfloat16(step.operand)
            case Apply() if self._needs_no_rounding(index, step):
                return True
            case _:
                return self._body.dtype_of(index).is_upper_half
