"""What writes every operation of LLVM's dialect that functions of the host have.

Flags that make a result undefined (`nsw`, `inbounds`, fast-math) are left out, undefined values are zeros, and what
LLVM leaves undefined is an error or has a value: a shift by as many bits as there are gives 0, a float beyond an
integer's range gives the nearest integer.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.llvm import GEPOp, LLVMArrayType, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.codegen.checked.checked_functions import CheckedText, FunctionWriter, Write, written
from ttnn_jit.codegen.checked.libm_functions import FUNCTIONS
from ttnn_jit.codegen.checked.value_types import llvm_type
from ttnn_jit.dialects.cpu_module.cpu_functions import CpuFunction
from ttnn_jit.dialects.cpu_module.instruction_attributes import (
    address_indices,
    attribute,
    branch_operands,
    numbers,
    predicate,
    signature,
    symbol,
)
from ttnn_jit.dialects.cpu_module.memory_layout import size_of
from ttnn_jit.kernels.llvm.types import DOUBLE, FLOAT, I1, I8, I32, I64, PTR, VOID, Type
from ttnn_jit.kernels.llvm.values import FALSE, Value, double, integer, operand, real, zero
from ttnn_jit.runtime.native.run_record import Error, Word


def checked_text(function: CpuFunction) -> CheckedText:
    """The text of a function and of all that it calls.

    Raises:
        CompileError: An operation or a type of it is not executed here.
    """
    return written(function, _INSTRUCTIONS)


# --- Operands ---------------------------------------------------------------------------------------------------------

_KINDS: Mapping[str, Callable[[Type], bool]] = {
    "i": lambda type_: type_.element.startswith("i"),
    "j": lambda type_: type_.element.startswith("i"),
    "b": lambda type_: type_ == I8,
    "c": lambda type_: type_ == I1,
    "f": lambda type_: type_ in (FLOAT, DOUBLE),
    "p": lambda type_: type_ == PTR,
    "o": lambda type_: type_ == PTR or type_.element.startswith("i"),
    "s": lambda type_: type_.is_float or type_.element.startswith("i"),
    "x": lambda _: True,
    "z": lambda _: True,
}
"""Letter of an operand's type -> whether a type is one.

Floats of 16 bits are none in arithmetic: LLVM calls functions for them that the C library lacks.
"""


def _taking(form: str, write: Write) -> Write:
    """Refuses operands of other types than `form`: a letter for each; those of one letter are of one type.

    After `*` come any others.
    """
    letters, others = form.rstrip("*"), form.endswith("*")

    def checked(to: FunctionWriter, op: Operation, *operands: Value) -> Value | None:
        kinds = [each.type for each in operands]
        named = dict(zip(letters, kinds, strict=False))
        is_of_form = (len(kinds) >= len(letters)) if others else (len(kinds) == len(letters))
        if not is_of_form or not all(
            _KINDS[letter](kind) and named[letter] == kind for letter, kind in zip(letters, kinds, strict=False)
        ):
            raise to.refused(f"it is not executed on ({', '.join(kinds)})")
        return write(to, op, *operands)

    return checked


# --- Numbers ----------------------------------------------------------------------------------------------------------


def _binary(opcode: str) -> Write:
    return lambda to, _, a, b: to.binary(opcode, a, b)


def _quotient(opcode: str) -> Write:
    def write(to: FunctionWriter, op: Operation, a: Value, b: Value) -> Value:
        to.fail_if(to.compare("eq", b, 0), Error.DIVISION)
        if opcode.startswith("s"):
            is_least = to.compare("eq", a, -(2 ** (_width(to, op.operands[0]) - 1)))
            to.fail_if(to.bit_and(is_least, to.compare("eq", b, -1)), Error.DIVISION)
        return to.binary(opcode, a, b)

    return write


def _shift(opcode: str) -> Write:
    def write(to: FunctionWriter, op: Operation, a: Value, count: Value) -> Value:
        fits = to.compare("ult", count, _width(to, op.operands[0]))
        shifted = to.binary(opcode, a, to.select(fits, count, 0))
        return to.select(fits, shifted, 0)

    return write


def _width(to: FunctionWriter, value: SSAValue) -> int:
    if not isinstance(value.type, IntegerType):
        raise to.refused(f"{value.type} is no integer")
    return int(value.type.width.data)


def _cast(opcode: str, result: str, relation: Callable[[int, int], bool]) -> Write:
    """A conversion to a type of the letter `result`, whose bits have a relation to those of the operand."""

    def write(to: FunctionWriter, op: Operation, a: Value) -> Value:
        kind = llvm_type(op.results[0].type)
        if not _KINDS[result](kind) or not relation(a.type.bits, kind.bits):
            raise to.refused(f"it does not convert {a.type} to {kind}")
        return to.convert(opcode, a, kind)

    return write


def _intrinsic(name: str) -> Write:
    """A function that LLVM expands."""
    return lambda to, _, *given: to.intrinsic(given[0].type, f"llvm.{name}.{{}}", *given)


def _saturating(name: str) -> Write:
    def write(to: FunctionWriter, op: Operation, a: Value) -> Value:
        kind = llvm_type(op.results[0].type)
        if not _KINDS["i"](kind):
            raise to.refused(f"it does not convert {a.type} to {kind}")
        return to.intrinsic(kind, f"llvm.{name}.sat.{{}}.{a.type.suffix}", a)

    return write


def _of_libm(name: str) -> Write:
    return lambda to, _, *given: _call_libm(to, name + "f" * (given[0].type == FLOAT), given)


def _call_libm(to: FunctionWriter, name: str, given: Sequence[Value]) -> Value:
    count, kind = FUNCTIONS[name]
    if [each.type for each in given] != [kind] * count:
        raise to.refused(f"{name} takes {count} of {kind}")
    return to.intrinsic(kind, name, *given)


def _compare(to: FunctionWriter, op: Operation, a: Value, b: Value) -> Value:
    return to.compare(predicate(op), a, b)


def _constant(to: FunctionWriter, op: Operation) -> Value:
    kind = op.results[0].type
    return _number(to, attribute(op, "value"), kind, llvm_type(kind))


def _number(to: FunctionWriter, value: Attribute, kind: Attribute, type_: Type) -> Value:
    """A constant that the builder does not fold, because the width of its integers is not that of Python's."""
    if isinstance(value, IntegerAttr) and isinstance(kind, IntegerType):
        return operand(integer(value.value.data % 2**kind.width.data, type_), type_)
    if isinstance(value, FloatAttr) and type_ in (FLOAT, DOUBLE):
        return (real if type_ == FLOAT else double)(value.value.data, type_)
    raise to.refused(f"a constant of {kind} is not executed on the host")


def _zeros(_: FunctionWriter, op: Operation) -> Value:
    return zero(llvm_type(op.results[0].type))


# --- Aggregates and memory --------------------------------------------------------------------------------------------


def _address_of(to: FunctionWriter, op: Operation) -> Value:
    addresses = to.load(PTR, to.word(Word.GLOBALS))
    return to.load(PTR, to.element(addresses, PTR, to.written.global_numbers[symbol(op, "global_name")]))


def _address(to: FunctionWriter, op: Operation, base: Value, *_: Value) -> Value:
    kind = attribute(op, "elem_type")
    size_of(kind)
    at = [to.value(each) if isinstance(each, SSAValue) else each for each in address_indices(op)]
    own = kind
    for each in at[1:]:
        is_number = not isinstance(each, Value)
        own = own.type if isinstance(own, LLVMArrayType) else _part(to, own, [int(each)] if is_number else [])
    return to.member(base, llvm_type(kind), *at)


def _part(to: FunctionWriter, kind: Attribute, at: Sequence[int]) -> Attribute:
    """The type of a member of a value; `at` are its indices, the outermost first."""
    if not at:
        raise to.refused(f"a member of {kind} is named by a number")
    for index in at:
        match kind:
            case LLVMStructType() if 0 <= index < len(kind.types.data):
                kind = kind.types.data[index]
            case LLVMArrayType() if 0 <= index < kind.size.data:
                kind = kind.type
            case _:
                raise to.refused(f"{kind} has no member {index}")
    return kind


def _extract(to: FunctionWriter, op: Operation, whole: Value) -> Value:
    at = numbers(op, "position")
    return to.extract_value(whole, llvm_type(_part(to, op.operands[0].type, at)), *at)


def _insert(to: FunctionWriter, op: Operation, whole: Value, part: Value) -> Value:
    at = numbers(op, "position")
    if llvm_type(_part(to, op.operands[0].type, at)) != part.type:
        raise to.refused(f"the member is no {part.type}")
    return to.insert_value(whole, part, *at)


def _load(to: FunctionWriter, op: Operation, pointer: Value) -> Value:
    kind = op.results[0].type
    to.require_access(pointer, size_of(kind))
    return to.load(llvm_type(kind), pointer, align=1)


def _store(to: FunctionWriter, op: Operation, value: Value, pointer: Value) -> None:
    to.require_access(pointer, size_of(op.operands[0].type))
    to.store(value, pointer, align=1)


def _length(to: FunctionWriter, value: Value) -> Value:
    """A count of bytes in 64 bits."""
    return to.convert("zext", value, I64)


def _copy(to: FunctionWriter, _: Operation, target: Value, source: Value, length: Value) -> None:
    size = _length(to, length)
    to.require_range(target, size)
    to.require_range(source, size)
    to.spend_steps(to.shift_right_zero(size, _BYTES_OF_STEP_LOG2))
    to.move_bytes(target, source, size)


def _set(to: FunctionWriter, _: Operation, target: Value, value: Value, length: Value) -> None:
    size = _length(to, length)
    to.require_range(target, size)
    to.spend_steps(to.shift_right_zero(size, _BYTES_OF_STEP_LOG2))
    to.intrinsic(PTR, "memset", target, to.zext(value, I32), size)


_BYTES_OF_STEP_LOG2 = 4
"""So many bytes are copied in the time of a step."""
_STEPS_OF_CALL = 2**12
"""A call of the runtime, which is Python, takes the time of so many steps."""


def _allocate_on_stack(to: FunctionWriter, op: Operation, count: Value) -> Value:
    each, number = size_of(attribute(op, "elem_type")), _length(to, count)
    to.fail_if(to.compare("uge", number, 2**63 // max(each, 1)), Error.NO_MEMORY)
    return _allocated(to, to.mul(number, each))


def _allocated(to: FunctionWriter, size: Value) -> Value:
    return _call_runtime(to, Word.ALLOCATE, PTR, size)


def _call_runtime(to: FunctionWriter, which: Word, result: Type, *given: Value) -> Value:
    to.spend_steps(_STEPS_OF_CALL)
    made = to.call_at(to.load(PTR, to.word(which)), result, to.run, *given, to.site())
    to.require_no_error()
    return made


def _nothing(_: FunctionWriter, __: Operation, ___: Value) -> None:
    """A stack that is saved and restored: what a run allocates is released at its end."""


# --- Control flow -----------------------------------------------------------------------------------------------------


def _branch(to: FunctionWriter, op: Operation, *given: Value) -> None:
    branch_operands(op)
    to.take_step()
    to.branch(to.target(op.successors[0]), *given)


def _branch_if(to: FunctionWriter, op: Operation, condition: Value, *_: Value) -> None:
    passed = [[*map(to.value, given)] for given in branch_operands(op)]
    to.take_step()
    first, second = map(to.target, op.successors)
    if first is second:  # a block argument has one value for each predecessor
        chosen = (to.select(condition, a, b) for a, b in zip(*passed, strict=True))
        to.branch(first, *chosen)
    else:
        to.branch_if(condition, first, second, *passed)


def _return(to: FunctionWriter, op: Operation, *given: Value) -> None:
    if [each.type for each in op.operands] != ([] if to.returned is None else [to.returned]):
        raise to.refused("it returns another type than its function")
    to.ret(*given)


def _unreachable(to: FunctionWriter, _: Operation) -> None:
    to.fail(Error.UNREACHABLE)


def _call(to: FunctionWriter, op: Operation, *given: Value) -> Value | None:
    name = symbol(op, "callee")
    if name in to.written.symbols:
        return _call_function(to, op, name, given)
    if name in _RUNTIME:
        kinds, result, which, passed = _RUNTIME[name]
        if tuple(each.type for each in given) != kinds or bool(op.results) != (result is not VOID):
            raise to.refused(f"{name} takes {', '.join(kinds)}")
        return _call_runtime(to, which, result, *given[passed])
    if name in FUNCTIONS:
        return _call_libm(to, name, given)
    raise to.refused(f"@{name} is no function that the host provides")


def _call_function(to: FunctionWriter, op: Operation, name: str, given: Sequence[Value]) -> Value:
    parameters, result = signature(to.written.function.functions[name])
    if [each.type for each in op.operands] != [*parameters]:
        raise to.refused(f"@{name} takes other values")
    if [each.type for each in op.results] != ([] if result is None else [result]):
        raise to.refused(f"@{name} returns another type")
    to.take_step()
    made = to.call(VOID if result is None else llvm_type(result), to.written.symbols[name], to.run, *given)
    to.require_no_error()
    return made


_RUNTIME: Mapping[str, tuple[tuple[Type, ...], Type, Word, slice]] = {
    "malloc": ((I64,), PTR, Word.ALLOCATE, slice(0, 1)),
    "aligned_alloc": ((I64, I64), PTR, Word.ALLOCATE, slice(1, 2)),
    "free": ((PTR,), VOID, Word.RELEASE, slice(0, 1)),
    "memrefCopy": ((I64, PTR, PTR), VOID, Word.COPY, slice(0, 3)),
}
"""Function of the runtime -> the types of its operands and of its result, what runs it, which operands that takes."""

_Forms = Mapping[str, tuple[str, Write]]
"""Operation of LLVM's dialect -> the operands that it takes, as in `_taking`, and what writes it."""

_ARITHMETIC = "add sub mul and or xor"
_INTEGERS: _Forms = {
    **{each: ("ii", _binary(each)) for each in _ARITHMETIC.split()},
    **{each: ("ii", _quotient(each)) for each in ("udiv", "sdiv", "urem", "srem")},
    **{each: ("ii", _shift(each)) for each in ("shl", "lshr", "ashr")},
    **{f"intr.{each}": ("ii", _intrinsic(each)) for each in ("smax", "smin", "umax", "umin")},
    **{f"intr.{each}": ("i", _intrinsic(each)) for each in ("ctpop", "bswap", "bitreverse")},
    "intr.abs": ("i", lambda to, _, a: to.intrinsic(a.type, "llvm.abs.{}", a, FALSE)),
    "icmp": ("oo", _compare),
}
_UNARY = "fabs sqrt floor ceil trunc rint nearbyint round roundeven"
_BINARY = "copysign maxnum minnum maximum minimum"
_UNARY_OF_LIBM = "exp exp2 log log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh"
_BINARY_OF_LIBM = "pow atan2"
_FLOATS: _Forms = {
    **{each: ("ff", _binary(each)) for each in ("fadd", "fsub", "fmul", "fdiv")},
    **{f"intr.{each}": ("f", _intrinsic(each)) for each in _UNARY.split()},
    **{f"intr.{each}": ("ff", _intrinsic(each)) for each in _BINARY.split()},
    **{f"intr.{each}": ("fff", _intrinsic("fma")) for each in ("fma", "fmuladd")},
    **{f"intr.{each}": ("f", _of_libm(each)) for each in _UNARY_OF_LIBM.split()},
    **{f"intr.{each}": ("ff", _of_libm(each)) for each in _BINARY_OF_LIBM.split()},
    "frem": ("ff", _of_libm("fmod")),
    "fneg": ("f", lambda to, _, a: to.neg(a)),
    "fcmp": ("ff", _compare),
}
_CASTS: _Forms = {
    "trunc": ("i", _cast("trunc", "i", operator.gt)),
    **{each: ("i", _cast(each, "i", operator.lt)) for each in ("zext", "sext")},
    "fptrunc": ("f", _cast("fptrunc", "f", operator.gt)),
    "fpext": ("f", _cast("fpext", "f", operator.lt)),
    **{each: ("i", _cast(each, "f", lambda _, __: True)) for each in ("uitofp", "sitofp")},
    "fptosi": ("f", _saturating("fptosi")),
    "fptoui": ("f", _saturating("fptoui")),
    "ptrtoint": ("p", _cast("ptrtoint", "i", lambda _, __: True)),
    "inttoptr": ("i", _cast("inttoptr", "p", lambda _, __: True)),
    "bitcast": ("s", _cast("bitcast", "s", operator.eq)),
}
_MEMORY: _Forms = {
    "extractvalue": ("x", _extract),
    "insertvalue": ("xz", _insert),
    "load": ("p", _load),
    "store": ("xp", _store),
    "alloca": ("i", _allocate_on_stack),
    "intr.memcpy": ("ppj", _copy),
    "intr.memmove": ("ppj", _copy),
    "intr.memset": ("pbj", _set),
    "intr.stacksave": ("", _zeros),
    "intr.stackrestore": ("p", _nothing),
    "mlir.addressof": ("", _address_of),
}
_OTHERS: _Forms = {
    "select": ("cxx", lambda to, _, condition, a, b: to.select(condition, a, b)),
    "freeze": ("x", lambda _, __, a: a),
    "mlir.constant": ("", _constant),
    **{f"mlir.{each}": ("", _zeros) for each in ("zero", "undef", "poison")},
    "br": ("*", _branch),
    "cond_br": ("c*", _branch_if),
    "return": ("*", _return),
    "unreachable": ("", _unreachable),
    "call": ("*", _call),
}
_FORMS = {**_INTEGERS, **_FLOATS, **_CASTS, **_MEMORY, **_OTHERS}

_INSTRUCTIONS: dict[str, Write] = {
    **{f"llvm.{name}": _taking(form, write) for name, (form, write) in _FORMS.items()},
    GEPOp.name: _taking("p*", _address),
}
"""Operation -> what writes it."""
