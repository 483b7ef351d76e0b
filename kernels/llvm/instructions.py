"""LLVM instructions, one method each, appended to blocks.

A value carries its type, which selects the instruction: `add` of floats is ``fadd``. A Python int operand gets the type
of the other operand. Integer constants fold; adding 0 and multiplying by 1 emit nothing, so writers need no special
cases for such extents.

No IR pass runs over the text: LLVM compiles it as written, block after block.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I1, I8, I32, I64, PTR, VOID, Type, struct
from ttnn_jit.kernels.llvm.values import (
    FALSE,
    TRUE,
    Body,
    InstructionCost,
    Literal,
    Value,
    i32,
    integer,
    integers,
    literal,
    operand,
)

Operand = Value | int
_NOTHING = literal("", VOID)
_NONE, _ONE = InstructionCost.NONE, InstructionCost.ONE
_type_of = operator.attrgetter("type")

NONTEMPORAL = "!0 = !{i32 1}"
_PREDICATES = {
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


class Instructions:
    """Writes instructions into a body.

    Attributes:
        module: Receives the declarations.
        body: Receives the instructions.
    """

    def __init__(self, module: ModuleText, body: Body | None = None) -> None:
        self.module = module
        self.body = Body() if body is None else body

    # --- Writing ----------------------------------------------------------------------------------------------------

    def _emit(
        self, type_: Type, template: str, operands: tuple[Value, ...], hint: str = "", cost: InstructionCost = _ONE
    ) -> Value:
        """Append an instruction with a result; `template` is its text with ``%s`` for each operand."""
        body = self.body
        if hint:
            result = Value(f"%{body.named(hint)}")
        else:
            body.count += 1
            result = Value(f"%v{body.count}")
        result.type = type_
        body.code.append((f"  %s = {template}", (result, *operands), _NONE if body.is_rare else cost))
        return result

    def _emit_void(self, template: str, *operands: Value) -> Value:
        """Append an instruction without a result."""
        body = self.body
        body.code.append((f"  {template}", operands, _NONE if body.is_rare else _ONE))
        return _NOTHING

    def new(self, type_: Type, hint: str) -> Value:
        """A value without a defining instruction: a parameter or a block argument."""
        return operand(f"%{self.body.named(hint)}", type_)

    # --- Arithmetic -------------------------------------------------------------------------------------------------

    def binary(self, opcode: str, a: Operand, b: Operand, hint: str = "", cost: InstructionCost = _ONE) -> Value:
        """``urem``, ``fsub``, ...: an instruction of two values of one type, which is emitted in any case."""
        left, right = _typed(a, b)
        type_ = left.type
        return self._emit(type_, _form("{} {} %s, %s", opcode, type_), (left, right), hint, cost)

    def add(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The sum."""
        left, right = _typed(a, b)
        if left.number == 0:
            return right
        if right.number == 0:
            return left
        return _folded(operator.add, left, right) or self._arithmetic("add", "fadd", left, right, hint)

    def sub(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The difference."""
        left, right = _typed(a, b)
        if right.number == 0:
            return left
        return _folded(operator.sub, left, right) or self._arithmetic("sub", "fsub", left, right, hint)

    def mul(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The product."""
        left, right = _typed(a, b)
        if left.number == 1:
            return right
        if right.number == 1:
            return left
        return _folded(operator.mul, left, right) or self._arithmetic("mul", "fmul", left, right, hint)

    def _arithmetic(self, of_integers: str, of_floats: str, left: Value, right: Value, hint: str) -> Value:
        type_ = left.type
        opcode = of_floats if type_.is_float else of_integers
        return self._emit(type_, _form("{} {} %s, %s", opcode, type_), (left, right), hint)

    def div(self, a: Value, b: Value, hint: str = "") -> Value:
        """The quotient of floats."""
        return self.binary("fdiv", a, b, hint, InstructionCost.DIVISION)

    def unsigned_div(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The quotient of unsigned integers."""
        return self.binary("udiv", a, b, hint)

    def signed_div(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The quotient of signed integers, rounded towards 0."""
        return self.binary("sdiv", a, b, hint)

    def signed_rem(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The remainder of `signed_div`."""
        return self.binary("srem", a, b, hint)

    def neg(self, a: Value) -> Value:
        """The float with its sign bit flipped."""
        return self._emit(a.type, f"fneg {a.type} %s", (a,))

    def bit_and(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The bitwise and."""
        left, right = _typed(a, b)
        return _folded(operator.and_, left, right) or self.binary("and", left, right, hint)

    def bit_or(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The bitwise or."""
        left, right = _typed(a, b)
        return _folded(operator.or_, left, right) or self.binary("or", left, right, hint)

    def bit_xor(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The bitwise exclusive or."""
        return self.binary("xor", a, b, hint)

    def bit_not(self, a: Value, hint: str = "") -> Value:
        """The bitwise complement."""
        ones = integer(1 if a.type.element == "i1" else -1, a.type)
        template = f"xor {a.type} %s, {ones}"  # not an operand: the constant needs no load and no register
        return self._emit(a.type, template, (a,), hint)

    def _shift(self, opcode: str, a: Value, count: Operand, hint: str) -> Value:
        # A constant count is an immediate in the template: as an operand it might be kept in a register, which is
        # slower.
        if isinstance(count, int):
            count = integer(count, a.type)
        if isinstance(count, Literal):
            return a if count.is_zero else self._emit(a.type, _form("{} {} %s, {}", opcode, a.type, count), (a,), hint)
        return self.binary(opcode, a, count, hint)

    def shift_left(self, a: Value, count: Operand, hint: str = "") -> Value:
        """``shl``."""
        return self._shift("shl", a, count, hint)

    def shift_right(self, a: Value, count: Operand, hint: str = "") -> Value:
        """``ashr``, which shifts in the sign."""
        return self._shift("ashr", a, count, hint)

    def shift_right_zero(self, a: Value, count: Operand, hint: str = "") -> Value:
        """``lshr``, which shifts in zeros."""
        return self._shift("lshr", a, count, hint)

    def compare(self, predicate: str, a: Operand, b: Operand, hint: str = "") -> Value:
        """Whether LLVM's `predicate` holds: ``slt``, ``ult`` or ``eq`` of integers and pointers, ``olt`` of floats."""
        left, right = _typed(a, b)
        if left.number is not None and right.number is not None and predicate in _PREDICATES:
            return TRUE if _PREDICATES[predicate](left.number, right.number) else FALSE
        type_ = left.type
        form = _form("{} {} {} %s, %s", "fcmp" if type_.is_float else "icmp", predicate, type_)
        return self._emit(type_.mask, form, (left, right), hint)

    def select(self, m: Value, a: Operand, b: Operand, hint: str = "") -> Value:
        """`a` where `m` is true, else `b`; `m` may be a scalar condition for all lanes."""
        left, right = _typed(a, b)
        if m.number is not None:
            return left if m.number else right
        type_ = left.type
        return self._emit(type_, _form("select {0} %s, {1} %s, {1} %s", m.type, type_), (m, left, right), hint)

    # --- Conversions ------------------------------------------------------------------------------------------------

    def convert(self, opcode: str, a: Value, to: Type, hint: str = "", cost: InstructionCost = _ONE) -> Value:
        """``zext``, ``sext``, ``trunc``, ``sitofp``, ...; a value that has the type already is returned unchanged."""
        if a.type is to:
            return a
        return self._emit(to, _form("{} {} %s to {}", opcode, a.type, to), (a,), hint, cost)

    def zext(self, a: Value, to: Type, hint: str = "") -> Value:
        """The zero-extended integer."""
        return self.convert("zext", a, to, hint)

    def sext(self, a: Value, to: Type, hint: str = "") -> Value:
        """The sign-extended integer."""
        return self.convert("sext", a, to, hint)

    def narrow(self, a: Value, to: Type, hint: str = "") -> Value:
        """The low bits."""
        return self.convert("trunc", a, to, hint)

    def bitcast(self, a: Value, to: Type, hint: str = "") -> Value:
        """The same bits."""
        return self.convert("bitcast", a, to, hint, InstructionCost.NONE)

    def freeze(self, a: Value, hint: str = "") -> Value:
        """The same value, which LLVM does not fold into its users."""
        return self._emit(a.type, f"freeze {a.type} %s", (a,), hint)

    # --- Vectors ----------------------------------------------------------------------------------------------------

    def extract(self, vector: Value, lane: int, hint: str = "") -> Value:
        """The element of a lane."""
        type_ = vector.type
        return self._emit(type_.scalar, _form("extractelement {} %s, i64 {}", type_, lane), (vector,), hint)

    def insert(self, vector: Value, element: Value, lane: int, hint: str = "") -> Value:
        """The vector with one lane replaced."""
        template = _form("insertelement {} %s, {} %s, i64 {}", vector.type, element.type, lane)
        return self._emit(vector.type, template, (vector, element), hint)

    def insert_first(self, element: Value, lanes: int, hint: str = "") -> Value:
        """A vector with `element` in lane 0; the other lanes are poison."""
        vector = element.type.times(lanes)
        form = _form("insertelement {} poison, {} %s, i64 0", vector, element.type)
        return self._emit(vector, form, (element,), hint)

    def shuffle(self, first: Value, second: Value | None, order: Sequence[int], hint: str = "") -> Value:
        """A shuffle of the lanes of one vector, or of the concatenation of two."""
        of, result = first.type, first.type.times(len(order))
        lanes = _order(tuple(order))
        if second is None:
            return self._emit(result, _form("shufflevector {0} %s, {0} poison, {1}", of, lanes), (first,), hint)
        return self._emit(result, _form("shufflevector {0} %s, {0} %s, {1}", of, lanes), (first, second), hint)

    def splat(self, element: Value, lanes: int, hint: str = "") -> Value:
        """The vector with `element` in all lanes."""
        if isinstance(element, Literal) and element.number is not None:
            return integer(element.number, element.type.times(lanes))
        first = self.insert_first(element, lanes, f"{hint}.lane" if hint else "")
        vector = first.type
        form = _form("shufflevector {0} %s, {0} poison, <{1} x i32> zeroinitializer", vector, lanes)
        return self._emit(vector, form, (first,), hint)

    # --- Aggregates -------------------------------------------------------------------------------------------------

    def extract_value(self, aggregate: Value, member: Type, *at: int, hint: str = "") -> Value:
        """A member of a struct or an array, of type `member`; `at` are its indices, the outermost first."""
        return self._emit(member, _form("extractvalue {} %s, {}", aggregate.type, _listed(at)), (aggregate,), hint)

    def insert_value(self, aggregate: Value, member: Value, *at: int, hint: str = "") -> Value:
        """The struct or array with one member replaced; `at` are its indices, the outermost first."""
        template = _form("insertvalue {} %s, {} %s, {}", aggregate.type, member.type, _listed(at))
        return self._emit(aggregate.type, template, (aggregate, member), hint)

    # --- Memory -----------------------------------------------------------------------------------------------------

    def alloca(self, type_: Type, count: int | Value = 1, align: int = 0, hint: str = "") -> Value:
        """The address of `count` values on the stack. Emit it in the entry block: memory is freed on return only."""
        aligned = f", align {align}" if align else ""
        if isinstance(count, Value):
            return self._emit(PTR, f"alloca {type_}, i64 %s{aligned}", (count,), hint)
        return self._emit(PTR, f"alloca [{count} x {type_}]{aligned}", (), hint)

    def variable(self, name: str, type_: Type, count: int = 1, align: int = 0) -> Value:
        """The address of `count` zero-initialized values in a variable of the module."""
        aligned = f", align {align}" if align else ""
        self.module.variables[f"@{name} = internal global [{count} x {type_}] zeroinitializer{aligned}"] = None
        return operand(f"@{name}", PTR)

    def element(self, base: Value, type_: Type, index: Operand, hint: str = "") -> Value:
        """The address of element `index` of an array of `type_` at `base`."""
        number = _in_64_bits(index)
        if number.number == 0:
            return base
        return self._emit(PTR, _form("getelementptr {}, ptr %s, {} %s", type_, number.type), (base, number), hint)

    def member(self, base: Value, type_: Type, index: Operand, *at: Operand, hint: str = "") -> Value:
        """The address of a part of element `index` of an array of `type_` at `base`.

        `at` are the indices in the element, the outermost first; those of structs are ints.
        """
        indices = [each if isinstance(each, Value) else i32(each) for each in (index, *at)]
        listed = _listed(f"{each.type} %s" for each in indices)
        return self._emit(PTR, _form("getelementptr {}, ptr %s, {}", type_, listed), (base, *indices), hint)

    def ptr_add(self, base: Value, nbytes: Operand, hint: str = "") -> Value:
        """The address `nbytes` after `base`."""
        return self.element(base, I8, nbytes, hint)

    def load(self, type_: Type, address: Value, align: int = 0, hint: str = "") -> Value:
        """Load a value; `align` is in bytes, 0: the natural alignment of the type."""
        form = _form("load {}, ptr %s, align {}", type_, align) if align else _form("load {}, ptr %s", type_)
        return self._emit(type_, form, (address,), hint)

    def store(self, stored: Value, address: Value, align: int = 0, *, nontemporal: bool = False) -> None:
        """Store a value; `nontemporal` bypasses the caches."""
        aligned = f", align {align}" if align else ""
        if nontemporal:
            self.module.declarations[NONTEMPORAL] = None
            aligned += ", !nontemporal !0"
        self._emit_void(_form("store {} %s, ptr %s{}", stored.type, aligned), stored, address)

    def atomic_load(self, type_: Type, address: Value, order: str = "monotonic", hint: str = "") -> Value:
        """Load a value atomically; `order` is LLVM's memory order."""
        return self._emit(type_, f"load atomic {type_}, ptr %s {order}, align {type_.nbytes}", (address,), hint)

    def atomic_store(self, stored: Value, address: Value, order: str = "monotonic") -> None:
        """Store a value atomically; `order` is LLVM's memory order."""
        self._emit_void(f"store atomic {stored.type} %s, ptr %s {order}, align {stored.type.nbytes}", stored, address)

    def atomic_add(self, address: Value, term: Value, hint: str = "") -> Value:
        """Add to a value atomically; returns the old value."""
        return self._emit(term.type, f"atomicrmw add ptr %s, {term.type} %s monotonic", (address, term), hint)

    def compare_exchange(self, address: Value, expected: Value, desired: Value, hint: str = "") -> Value:
        """Replace `expected` by `desired` atomically with acquire order; returns whether it did."""
        kind = expected.type
        template = f"cmpxchg ptr %s, {kind} %s, {kind} %s acquire monotonic"
        pair = self._emit(struct(kind, I1), template, (address, expected, desired), f"{hint}.pair" if hint else "")
        return self.extract_value(pair, I1, 1, hint=hint)

    def fence(self) -> None:
        """A sequentially consistent fence."""
        self._emit_void("fence seq_cst")

    def prefetch(self, address: Value, locality: int = 3) -> None:
        """Prefetch a cache line into all cache levels; with less `locality`, not into L1."""
        self.intrinsic(VOID, "llvm.prefetch.p0", address, i32(0), i32(locality), i32(1))

    def copy_bytes(self, target: Value, source: Value, nbytes: Operand) -> None:
        """``memcpy``."""
        self.intrinsic(VOID, "llvm.memcpy.p0.p0.i64", target, source, _in_64_bits(nbytes), FALSE)

    def clear_bytes(self, target: Value, nbytes: Operand) -> None:
        """``memset`` to zero."""
        self.intrinsic(VOID, "llvm.memset.p0.i64", target, integer(0, I8), _in_64_bits(nbytes), FALSE)

    def move_bytes(self, target: Value, source: Value, nbytes: Value) -> None:
        """``memmove``."""
        self.intrinsic(VOID, "llvm.memmove.p0.p0.i64", target, source, nbytes, FALSE)

    # --- Calls ------------------------------------------------------------------------------------------------------

    def intrinsic(
        self, result: Type, name: str, *operands: Value, hint: str = "", cost: InstructionCost = _ONE
    ) -> Value:
        """A call of an external function, an intrinsic or a library function, which the module declares.

        In its name ``{}`` is replaced by the suffix of the result's type: ``llvm.fma.{}``.
        """
        declaration, template = _call_texts(result, name, tuple(map(_type_of, operands)))
        self.module.declarations[declaration] = None
        if result is VOID:
            return self._emit_void(template, *operands)
        return self._emit(result, template, operands, hint, cost)

    def call(self, result: Type, name: str, *operands: Value, hint: str = "") -> Value:
        """A call of a function that the module defines."""
        _, template = _call_texts(result, name, tuple(map(_type_of, operands)))
        return self._emit_void(template, *operands) if result is VOID else self._emit(result, template, operands, hint)

    def call_at(self, address: Value, result: Type, *operands: Value, hint: str = "") -> Value:
        """A call of the function at an address."""
        arguments = ", ".join(f"{each.type} %s" for each in operands)
        template, given = f"call {result} %s({arguments})", (address, *operands)
        return self._emit_void(template, *given) if result is VOID else self._emit(result, template, given, hint)

    def smin(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The smaller of two signed integers."""
        return self._integer_extremum("llvm.smin.{}", a, b, hint)

    def umin(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The smaller of two unsigned integers."""
        return self._integer_extremum("llvm.umin.{}", a, b, hint)

    def umax(self, a: Operand, b: Operand, hint: str = "") -> Value:
        """The larger of two unsigned integers."""
        return self._integer_extremum("llvm.umax.{}", a, b, hint)

    def _integer_extremum(self, name: str, a: Operand, b: Operand, hint: str) -> Value:
        left, right = _typed(a, b)
        return self.intrinsic(left.type, name, left, right, hint=hint)


@lru_cache(maxsize=4096)
def _form(text: str, *parts: str | int) -> str:
    """A template with its types filled in; cached, because most instructions share few templates."""
    return text.format(*parts)


def _listed(parts: Iterable[object]) -> str:
    return ", ".join(map(str, parts))


def _typed(a: Operand, b: Operand) -> tuple[Value, Value]:
    """Both operands as values; an int gets the type of the other operand."""
    if isinstance(a, Value):
        return (a, b) if isinstance(b, Value) else (a, integer(b, a.type))
    return (integer(a, b.type), b) if isinstance(b, Value) else (integer(a, I64), integer(b, I64))


def _in_64_bits(number: Operand) -> Value:
    return number if isinstance(number, Value) else integer(number, I64)


def _folded(operation: Callable[[int, int], int], a: Value, b: Value) -> Value | None:
    return None if a.number is None or b.number is None else integer(operation(a.number, b.number), a.type)


@lru_cache(maxsize=4096)
def _order(lanes: tuple[int, ...]) -> str:
    return f"<{len(lanes)} x i32> {integers(lanes, I32)}"


@lru_cache(maxsize=4096)
def _call_texts(result: Type, function: str, types: tuple[Type, ...]) -> tuple[str, str]:
    """The declaration of a function, and the template of its calls."""
    name, arguments = function.format(result.suffix), ", ".join(f"{type_} %s" for type_ in types)
    return f"declare {result} @{name}({', '.join(types)})", f"call {result} @{name}({arguments})"
