"""What writes every operation of LLVM's dialect that functions of the host have.

Flags that make a result undefined (`nsw`, `inbounds`, fast-math) are left out, undefined values are zeros, and what
LLVM leaves undefined is an error or has a value: a shift by as many bits as there are gives 0, a float beyond an
integer's range gives the nearest integer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.llvm import GEPOp
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
from ttnn_jit.kernels.llvm.types import DOUBLE, FLOAT, I32, I64, PTR, VOID, Type
from ttnn_jit.kernels.llvm.values import Value, double, integer, operand, real, zero
from ttnn_jit.runtime.native.run_record import Error, Word


def checked_text(function: CpuFunction) -> CheckedText:
    """The text of a function and of all that it calls.

    Raises:
        CompileError: An operation or a type of it is not executed here.
    """
    return written(function, _INSTRUCTIONS)


# --- Numbers ----------------------------------------------------------------------------------------------------------


def _of_whole_floats(write: Write) -> Write:
    """Refuses arithmetic on floats of 16 bits, for which LLVM calls functions that the C library lacks."""

    def checked(to: FunctionWriter, op: Operation, *operands: Value) -> Value | None:
        for value in (*op.operands, *op.results):
            if isinstance(value.type, BFloat16Type | Float16Type):
                raise to.refused(f"arithmetic on {value.type} is not executed on the host")
        return write(to, op, *operands)

    return checked


def _binary(opcode: str) -> Write:
    return _of_whole_floats(lambda to, _, a, b: to.binary(opcode, a, b))


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


def _cast(opcode: str) -> Write:
    def write(to: FunctionWriter, op: Operation, a: Value) -> Value:
        kind = llvm_type(op.results[0].type)
        if kind is a.type and opcode != "bitcast":
            raise to.refused("a value has its type already")
        return to.convert(opcode, a, kind)

    return write if opcode in {"bitcast", "ptrtoint", "inttoptr"} else _of_whole_floats(write)


def _intrinsic(name: str) -> Write:
    """A function that LLVM expands."""
    return _of_whole_floats(lambda to, op, *given: to.intrinsic(llvm_type(op.results[0].type), name, *given))


def _saturating(name: str) -> Write:
    def write(to: FunctionWriter, op: Operation, a: Value) -> Value:
        return to.intrinsic(llvm_type(op.results[0].type), f"llvm.{name}.sat.{{}}.{a.type.suffix}", a)

    return _of_whole_floats(write)


def _of_libm(name: str) -> Write:
    def write(to: FunctionWriter, _: Operation, *given: Value) -> Value:
        return _call_libm(to, name + "f" * (given[0].type is FLOAT), given)

    return _of_whole_floats(write)


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
        return (real if type_ is FLOAT else double)(value.value.data, type_)
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
    return to.member(base, llvm_type(kind), *at)


def _extract(to: FunctionWriter, op: Operation, whole: Value) -> Value:
    return to.extract_value(whole, llvm_type(op.results[0].type), *numbers(op, "position"))


def _insert(to: FunctionWriter, op: Operation, whole: Value, part: Value) -> Value:
    return to.insert_value(whole, part, *numbers(op, "position"))


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

_BINARY = "add sub mul and or xor fadd fsub fmul fdiv"
_CASTS = "trunc zext sext fptrunc fpext uitofp sitofp ptrtoint inttoptr bitcast"
_EXPANDED = "fabs sqrt copysign fma floor ceil trunc rint nearbyint round roundeven maxnum minnum maximum minimum"
_EXPANDED_INTEGERS = "smax smin umax umin ctpop bswap bitreverse"
_OF_LIBM = """exp exp2 log log2 log10 log1p expm1 pow sin cos tan asin acos atan atan2 sinh cosh tanh"""

_INSTRUCTIONS: dict[str, Write] = {
    **{f"llvm.{each}": _binary(each) for each in _BINARY.split()},
    **{f"llvm.{each}": _quotient(each) for each in ("udiv", "sdiv", "urem", "srem")},
    **{f"llvm.{each}": _shift(each) for each in ("shl", "lshr", "ashr")},
    **{f"llvm.{each}": _cast(each) for each in _CASTS.split()},
    **{f"llvm.intr.{each}": _intrinsic(f"llvm.{each}.{{}}") for each in f"{_EXPANDED} {_EXPANDED_INTEGERS}".split()},
    **{f"llvm.intr.{each}": _of_libm(each) for each in _OF_LIBM.split()},
    "llvm.intr.fmuladd": _intrinsic("llvm.fma.{}"),
    "llvm.fptosi": _saturating("fptosi"),
    "llvm.fptoui": _saturating("fptoui"),
    "llvm.frem": _of_libm("fmod"),
    "llvm.fneg": _of_whole_floats(lambda to, _, a: to.neg(a)),
    "llvm.icmp": _compare,
    "llvm.fcmp": _of_whole_floats(_compare),
    "llvm.select": lambda to, _, condition, a, b: to.select(condition, a, b),
    "llvm.freeze": lambda _, __, a: a,
    "llvm.mlir.constant": _constant,
    "llvm.mlir.zero": _zeros,
    "llvm.mlir.undef": _zeros,
    "llvm.mlir.poison": _zeros,
    "llvm.mlir.addressof": _address_of,
    GEPOp.name: _address,
    "llvm.extractvalue": _extract,
    "llvm.insertvalue": _insert,
    "llvm.load": _load,
    "llvm.store": _store,
    "llvm.alloca": _allocate_on_stack,
    "llvm.intr.memcpy": _copy,
    "llvm.intr.memmove": _copy,
    "llvm.intr.memset": _set,
    "llvm.intr.stacksave": _zeros,
    "llvm.intr.stackrestore": _nothing,
    "llvm.br": _branch,
    "llvm.cond_br": _branch_if,
    "llvm.return": _return,
    "llvm.unreachable": _unreachable,
    "llvm.call": _call,
}
"""Operation -> what writes it."""
