"""Values, instructions and blocks of an LLVM function, and instruction costs."""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain

from ttnn_jit.kernels.llvm.types import I1, I32, I64, PTR, Type
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.specs.dtypes import COMPUTE_TYPE


class Value(str):
    """The text of an operand, ``%sum`` or ``splat (i32 3)``.

    Attributes:
        type: Its type.
        number: Its value if it is a constant integer scalar; else None.
    """

    __slots__ = ("type",)
    type: Type

    number: int | None = None


class Literal(Value):
    """A constant.

    Attributes:
        is_zero: Whether it needs no load, because all of its bits are 0 or unspecified.
    """

    __slots__ = ("is_zero", "number")
    is_zero: bool


class OrdinaryNumber(Value):
    """A number that is not known before the call: see `Stream.is_ordinary`."""

    __slots__ = ()


class OrdinaryParameter:
    """A parameter of an operation that is an `OrdinaryNumber`: only a constant of it may be made, in `const`.

    Comparisons with numbers that it cannot be are decided. All else is a TypeError, as it depends on its value.
    """

    __slots__ = ("number",)

    def __init__(self, number: OrdinaryNumber) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        if other in _SPECIAL:
            return False
        raise TypeError(f"whether a number is {other} depends on it")

    def __hash__(self) -> int:
        raise TypeError("a number that is not known is no key")

    def __le__(self, other: float) -> bool:
        if abs(other) < MAX_FLOAT32:
            raise TypeError(f"whether a number is at most {other} depends on it")
        return other > 0

    def __ge__(self, other: float) -> bool:
        return not self <= other


MAX_FLOAT32 = float(COMPUTE_TYPE.traits.largest)
_SPECIAL = {0.0, 1.0, -1.0, MAX_FLOAT32, -MAX_FLOAT32}


def ordinary(value: Value) -> OrdinaryNumber:
    """The same value as an ordinary number."""
    made = OrdinaryNumber(value)
    made.type = value.type
    return made


def operand(text: str, type_: Type) -> Value:
    """The value with this text."""
    made = Value(text)
    made.type = type_
    return made


def literal(text: str, type_: Type, *, is_zero: bool = False, number: int | None = None) -> Literal:
    """The constant with this text."""
    made = Literal(text)
    made.type, made.is_zero, made.number = type_, is_zero, number
    return made


def _text(number: int, type_: Type) -> str:
    return str(bool(number)).lower() if type_.element == "i1" else str(number)


@cache
def integer(number: int, type_: Type) -> Value:
    """An integer constant; a vector type has it in every lane."""
    if type_.lanes:
        return literal(f"splat ({type_.element} {_text(number, type_)})", type_, is_zero=number == 0)
    return literal(_text(number, type_), type_, is_zero=number == 0, number=number)


def i64(number: int) -> Value:
    """An i64 constant."""
    return integer(number, I64)


def i32(number: int) -> Value:
    """An i32 constant."""
    return integer(number, I32)


@cache
def zero(type_: Type) -> Value:
    """The constant whose bits are all 0."""
    if type_ is PTR:
        return literal("null", type_, is_zero=True)
    return literal("zeroinitializer", type_, is_zero=True)


@cache
def poison(type_: Type) -> Value:
    """The poison value, which needs no load."""
    return literal("poison", type_, is_zero=True)


@cache
def integers(numbers: tuple[int, ...], type_: Type) -> Value:
    """A vector constant of elements of `type_`."""
    return literal(f"<{', '.join(f'{type_} {number}' for number in numbers)}>", type_.times(len(numbers)))


def real(number: float, type_: Type) -> Literal:
    """The float32 constant nearest to a number; a vector type has it in every lane."""
    return _real(struct.pack("<d", number), type_)


@lru_cache(maxsize=4096)
def _real(double: bytes, type_: Type) -> Literal:
    """Cached by bits, because 0.0 and -0.0 compare equal."""
    text = real_text(struct.unpack("<d", double)[0])
    return literal(f"splat (float {text})" if type_.lanes else text, type_, is_zero=text == _ZERO)


@lru_cache(maxsize=4096)
def _double(bits: bytes, type_: Type) -> Literal:
    text = f"0x{struct.unpack('<Q', bits)[0]:016X}"
    return literal(f"splat (double {text})" if type_.lanes else text, type_, is_zero=text == _ZERO)


def double(number: float, type_: Type) -> Literal:
    """A float64 constant; a vector type has it in every lane."""
    return _double(struct.pack("<d", number), type_)


def real_text(number: float) -> str:
    """`number` rounded to float32 in LLVM's syntax: the bits of the equal double."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', as_float32(number)))[0]:016X}"


_ZERO = real_text(0.0)

TRUE, FALSE = integer(1, I1), integer(0, I1)


class InstructionCost(enum.Enum):
    """The cost of an instruction on the common path of a chunk."""

    NONE = "nothing: it is on a rare path, or reinterprets bits"
    ONE = "one instruction"
    DIVISION = "a division or a square root, which overlaps with other instructions"


Instruction = tuple[str, tuple[Value, ...], InstructionCost]
"""An instruction: ``template, values, cost``; a bare tuple, because there are thousands.

The template is the line with ``%s`` for each value, in order: for the result, if it has one, and for the operands.
"""


class Block:
    """A basic block with arguments, which are phi nodes.

    Attributes:
        label: Its label.
        arguments: Its arguments.
        incoming: For every branch to it, the predecessor and the passed values.
        cost: The cost of its label and of each phi node.
    """

    __slots__ = ("arguments", "cost", "incoming", "label")

    def __init__(
        self, label: str, arguments: Sequence[Value] = (), cost: InstructionCost = InstructionCost.NONE
    ) -> None:
        self.label = label
        self.arguments = tuple(arguments)
        self.incoming: list[tuple[Block, Sequence[Value]]] = []
        self.cost = cost

    @property
    def text(self) -> str:
        """The label and the phi nodes."""
        lines = [f"{self.label}:"]
        for k, argument in enumerate(self.arguments):
            ways = ", ".join([f"[{given[k]}, %{block.label}]" for block, given in self.incoming])
            lines.append(f"  {argument} = phi {argument.type} {ways}")
        return "\n".join(lines)

    def costs(self) -> Iterable[InstructionCost]:
        """The costs of the label and of the phi nodes."""
        return (self.cost,) * (1 + len(self.arguments))


Code = Sequence[Instruction | Block]


def usual_instructions(code: Code) -> int:
    """The number of instructions that every chunk executes."""
    count, rare = 0, InstructionCost.NONE
    for item in code:
        if isinstance(item, Block):
            count += sum(cost is not rare for cost in item.costs())
        elif item[2] is not rare:
            count += 1
    return count


def costs(code: Code) -> Iterable[InstructionCost]:
    """The cost of each instruction."""
    for item in code:
        if isinstance(item, Block):
            yield from item.costs()
        else:
            yield item[2]


class Body:
    """The code of a function.

    Attributes:
        code: Blocks, each followed by its instructions.
        block: The current block.
        is_rare: Whether the current block is on a rare path.
        names: Used names of values and blocks -> number of names derived from each.
        count: Number of unnamed values.
    """

    __slots__ = ("block", "code", "count", "is_rare", "names")

    def __init__(self, inlining: Body | None = None) -> None:
        """An empty body, whose names avoid those of the body that it will inline, `inlining`."""
        self.names: dict[str, int] = {} if inlining is None else dict(inlining.names)
        self.count: int = 0 if inlining is None else inlining.count
        self.names["entry"] = 1
        self.block = Block("entry")
        self.code: list[Instruction | Block] = [self.block]
        self.is_rare = False

    def named(self, hint: str) -> str:
        """A free name: `hint`, or `hint` with a number."""
        if not hint:
            self.count += 1
            return f"v{self.count}"
        name = hint
        while name in self.names:
            number = self.names[hint]
            self.names[hint] = number + 1
            name = f"{hint}.{number}"
        self.names[name] = 1
        return name


def text_of(code: Code) -> str:
    """The text of the code."""
    lines = [("%s", (item.text,)) if isinstance(item, Block) else item for item in code]
    values = chain.from_iterable([item[1] for item in lines])
    return "\n".join([item[0] for item in lines]) % tuple(
        values
    )  # one format operation: quicker than one for each line
