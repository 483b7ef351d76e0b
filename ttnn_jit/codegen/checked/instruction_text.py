"""The LLVM text of every operation of LLVM's dialect that functions of the host have.

Flags that make a result undefined (`nsw`, `inbounds`, fast-math) are left out, undefined values are zeros, and what
LLVM leaves undefined is an error or has a value: a shift by as many bits as there are gives 0, a float beyond an
integer's range gives the nearest integer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.codegen.checked.checked_functions import CheckedText, FunctionWriter, llvm_type, written
from ttnn_jit.codegen.checked.libm_functions import FUNCTIONS
from ttnn_jit.diagnostics.errors import CompileError
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
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.runtime.native.run_record import Error, Word

Write = Callable[[FunctionWriter, Operation], None]
_BITS_OF_LENGTH = 64


def checked_text(function: CpuFunction) -> CheckedText:
    """The text of a function and of all that it calls.

    Raises:
        CompileError: An operation or a type of it is not executed here.
    """
    return written(function, _INSTRUCTIONS)


def _refuse(op: Operation, reason: str) -> CompileError:
    return CompileError(f"`{name_of(op)}`: {reason}", location=location_of(op))


def _require_whole_floats(op: Operation) -> None:
    """Refuses arithmetic on floats of 16 bits, for which LLVM calls functions that the C library lacks."""
    for value in (*op.operands, *op.results):
        if isinstance(value.type, BFloat16Type | Float16Type):
            raise _refuse(op, f"arithmetic on {value.type} is not executed on the host")


def _binary(instruction: str) -> Write:
    def write(to: FunctionWriter, op: Operation) -> None:
        _require_whole_floats(op)
        first, second = op.operands
        to.define(op.results[0], f"{instruction} {to.typed(first)}, {to.value(second)}")

    return write


def _quotient(instruction: str) -> Write:
    is_signed = instruction.startswith("s")

    def write(to: FunctionWriter, op: Operation) -> None:
        first, second = op.operands
        kind, divisor = llvm_type(second.type), to.value(second)
        to.require_or(to.made(f"icmp ne {kind} {divisor}, 0"), Error.DIVISION, op)
        if is_signed:
            least = -(2 ** (_width(op, second) - 1))
            is_least = to.made(f"icmp ne {to.typed(first)}, {least}")
            is_one = to.made(f"icmp ne {kind} {divisor}, -1")
            to.require_or(to.made(f"or i1 {is_least}, {is_one}"), Error.DIVISION, op)
        to.define(op.results[0], f"{instruction} {to.typed(first)}, {divisor}")

    return write


def _shift(instruction: str) -> Write:
    def write(to: FunctionWriter, op: Operation) -> None:
        first, second = op.operands
        kind, width = llvm_type(first.type), _width(op, first)
        fits = to.made(f"icmp ult {to.typed(second)}, {width if width > 1 else 'true'}")
        amount = to.made(f"select i1 {fits}, {to.typed(second)}, {kind} 0")
        shifted = to.made(f"{instruction} {to.typed(first)}, {amount}")
        to.define(op.results[0], f"select i1 {fits}, {kind} {shifted}, {kind} 0")

    return write


def _width(op: Operation, value: SSAValue) -> int:
    if not isinstance(value.type, IntegerType):
        raise _refuse(op, f"{value.type} is no integer")
    return int(value.type.width.data)


def _cast(instruction: str) -> Write:
    def write(to: FunctionWriter, op: Operation) -> None:
        if instruction not in {"bitcast", "ptrtoint", "inttoptr"}:
            _require_whole_floats(op)
        (value,) = op.operands
        to.define(op.results[0], f"{instruction} {to.typed(value)} to {llvm_type(op.results[0].type)}")

    return write


def _call_intrinsic(name: str, to: FunctionWriter, op: Operation, *further: str) -> None:
    kind = llvm_type(op.results[0].type)
    kinds = [llvm_type(each.type) for each in op.operands]
    arguments = [to.typed(each) for each in op.operands]
    to.declare(f"declare {kind} @{name}({', '.join([*kinds, *(each.split()[0] for each in further)])})")
    to.define(op.results[0], f"call {kind} @{name}({', '.join([*arguments, *further])})")


_SUFFIXES = {"float": "f32", "double": "f64"}


def _intrinsic(name: str, *further: str) -> Write:
    """A function that LLVM expands; of `further` operands the value is given."""

    def write(to: FunctionWriter, op: Operation) -> None:
        _require_whole_floats(op)
        kind = llvm_type(op.results[0].type)
        _call_intrinsic(f"llvm.{name}.{_SUFFIXES.get(kind, kind)}", to, op, *further)

    return write


def _saturating(name: str) -> Write:
    def write(to: FunctionWriter, op: Operation) -> None:
        _require_whole_floats(op)
        (value,) = op.operands
        given = llvm_type(value.type)
        _call_intrinsic(f"llvm.{name}.sat.{llvm_type(op.results[0].type)}.{_SUFFIXES.get(given, given)}", to, op)

    return write


def _of_libm(name: str) -> Write:
    def write(to: FunctionWriter, op: Operation) -> None:
        _require_whole_floats(op)
        _call_libm(to, op, name + "f" * (llvm_type(op.results[0].type) == "float"), tuple(op.operands))

    return write


def _call_libm(to: FunctionWriter, op: Operation, name: str, operands: tuple[SSAValue, ...]) -> None:
    count, kind = FUNCTIONS[name]
    given = [llvm_type(each.type) for each in (*operands, *op.results)]
    if given != [kind] * (count + 1):
        raise _refuse(op, f"{name} takes {count} of {kind}")
    to.declare(f"declare {kind} @{name}({', '.join([kind] * count)})")
    to.define(op.results[0], f"call {kind} @{name}({', '.join(map(to.typed, operands))})")


def _compare(to: FunctionWriter, op: Operation) -> None:
    _require_whole_floats(op)
    first, second = op.operands
    instruction = name_of(op).removeprefix("llvm.")
    to.define(op.results[0], f"{instruction} {predicate(op)} {to.typed(first)}, {to.value(second)}")


def _select(to: FunctionWriter, op: Operation) -> None:
    to.define(op.results[0], f"select {', '.join(map(to.typed, op.operands))}")


def _negate(to: FunctionWriter, op: Operation) -> None:
    _require_whole_floats(op)
    to.define(op.results[0], f"fneg {to.typed(op.operands[0])}")


def _same(to: FunctionWriter, op: Operation) -> None:
    to.define_as(op.results[0], to.value(op.operands[0]))


def _constant(to: FunctionWriter, op: Operation) -> None:
    to.define_as(op.results[0], _number_text(op, attribute(op, "value"), op.results[0].type))


def _number_text(op: Operation, value: Attribute, kind: Attribute) -> str:
    text = llvm_type(kind)
    if isinstance(value, IntegerAttr) and isinstance(kind, IntegerType):
        bits = value.value.data % 2**kind.width.data
        return str(bits) if kind.width.data > 1 else ("true" if bits else "false")
    if isinstance(value, FloatAttr) and text in _SUFFIXES:
        exact = value.value.data if text == "double" else struct.unpack("f", struct.pack("f", value.value.data))[0]
        return f"0x{struct.unpack('Q', struct.pack('d', exact))[0]:016X}"
    raise _refuse(op, f"a constant of {kind} is not executed on the host")


def _zeros(to: FunctionWriter, op: Operation) -> None:
    to.define_as(op.results[0], "zeroinitializer")


def _address_of(to: FunctionWriter, op: Operation) -> None:
    index = to.module.global_numbers[symbol(op, "global_name")]
    addresses = to.made(f"load ptr, ptr {to.word(Word.GLOBALS)}")
    to.define(op.results[0], f"load ptr, ptr {to.made(f'getelementptr ptr, ptr {addresses}, i64 {index}')}")


def _address(to: FunctionWriter, op: Operation) -> None:
    kind = to_element = attribute(op, "elem_type")
    size_of(to_element)
    indices = [to.typed(each) if isinstance(each, SSAValue) else f"i32 {each}" for each in address_indices(op)]
    to.define(op.results[0], f"getelementptr {llvm_type(kind)}, {to.typed(op.operands[0])}, {', '.join(indices)}")


def _extract(to: FunctionWriter, op: Operation) -> None:
    places = ", ".join(map(str, numbers(op, "position")))
    to.define(op.results[0], f"extractvalue {to.typed(op.operands[0])}, {places}")


def _insert(to: FunctionWriter, op: Operation) -> None:
    places = ", ".join(map(str, numbers(op, "position")))
    whole, part = op.operands
    to.define(op.results[0], f"insertvalue {to.typed(whole)}, {to.typed(part)}, {places}")


def _load(to: FunctionWriter, op: Operation) -> None:
    kind = op.results[0].type
    to.require_access(op.operands[0], size_of(kind), op)
    to.define(op.results[0], f"load {llvm_type(kind)}, {to.typed(op.operands[0])}, align 1")


def _store(to: FunctionWriter, op: Operation) -> None:
    value, pointer = op.operands
    to.type(value.type, op)
    to.require_access(pointer, size_of(value.type), op)
    to.line(f"store {to.typed(value)}, {to.typed(pointer)}, align 1")


def _length(to: FunctionWriter, op: Operation, value: SSAValue) -> str:
    """A count of bytes in 64 bits."""
    width = _width(op, value)
    return to.value(value) if width == _BITS_OF_LENGTH else to.made(f"zext {to.typed(value)} to i64")


def _copy(to: FunctionWriter, op: Operation) -> None:
    target, source, length = op.operands
    size = _length(to, op, length)
    to.require_range(target, size, op)
    to.require_range(source, size, op)
    to.spend_steps(to.made(f"lshr i64 {size}, {_BYTES_OF_STEP_LOG2}"))
    to.declare("declare ptr @memmove(ptr, ptr, i64)")
    to.line(f"call ptr @memmove({to.typed(target)}, {to.typed(source)}, i64 {size})")


def _set(to: FunctionWriter, op: Operation) -> None:
    target, value, length = op.operands
    size = _length(to, op, length)
    to.require_range(target, size, op)
    to.spend_steps(to.made(f"lshr i64 {size}, {_BYTES_OF_STEP_LOG2}"))
    to.declare("declare ptr @memset(ptr, i32, i64)")
    byte = to.made(f"zext {to.typed(value)} to i32")
    to.line(f"call ptr @memset({to.typed(target)}, i32 {byte}, i64 {size})")


_BYTES_OF_STEP_LOG2 = 4
"""So many bytes are copied in the time of a step."""
_STEPS_OF_CALL = 2**12
"""A call of the runtime, which is Python, takes the time of so many steps."""


def _allocated(to: FunctionWriter, op: Operation, size: str) -> str:
    to.spend_steps(str(_STEPS_OF_CALL))
    allocate = to.made(f"load ptr, ptr {to.word(Word.ALLOCATE)}")
    made = to.made(f"call ptr {allocate}(ptr %run, i64 {size}, i64 {to.site(op)})")
    to.require_no_error()
    return made


def _allocate_on_stack(to: FunctionWriter, op: Operation) -> None:
    count = _length(to, op, op.operands[0])
    each = size_of(attribute(op, "elem_type"))
    is_small = to.made(f"icmp ult i64 {count}, {2**63 // max(each, 1)}")
    to.require_or(is_small, Error.NO_MEMORY, op)
    to.define_as(op.results[0], _allocated(to, op, to.made(f"mul i64 {count}, {each}")))


def _nothing(_: FunctionWriter, __: Operation) -> None:
    """A stack that is saved and restored: what a run allocates is released at its end."""


def _branch(to: FunctionWriter, op: Operation) -> None:
    to.take_step(op)
    (target,) = op.successors
    _jump(to, op, target, branch_operands(op)[0])


def _jump(to: FunctionWriter, op: Operation, target: Block, given: tuple[SSAValue, ...]) -> None:
    for value, slot in to.jump_values(target, given):
        to.line(f"store {value}, ptr {slot}")
    to.line(f"br label %{to.block_label(target, op)}")


def _branch_if(to: FunctionWriter, op: Operation) -> None:
    to.take_step(op)
    name = to.fresh()[1:]
    to.line(f"br {to.typed(op.operands[0])}, label %yes{name}, label %not{name}")
    for label, target, given in zip(("yes", "not"), op.successors, branch_operands(op), strict=True):
        to.label(f"{label}{name}")
        _jump(to, op, target, given)


def _return(to: FunctionWriter, op: Operation) -> None:
    given = [each.type for each in op.operands]
    if given != ([] if to.result is None else [to.result]):
        raise _refuse(op, "it returns another type than its function")
    to.line(f"ret {to.typed(op.operands[0])}" if given else "ret void")


def _unreachable(to: FunctionWriter, op: Operation) -> None:
    to.require_or("false", Error.UNREACHABLE, op)
    to.line(to.zero_return())


def _call(to: FunctionWriter, op: Operation) -> None:
    name = symbol(op, "callee")
    operands = tuple(op.operands)
    if name in to.module.function.functions:
        _call_function(to, op, name, operands)
    elif name in _RUNTIME:
        kinds, result, write = _RUNTIME[name]
        if tuple(map(llvm_type, (each.type for each in operands))) != kinds or len(op.results) != result:
            raise _refuse(op, f"{name} takes {', '.join(kinds)}")
        write(to, op)
    elif name in FUNCTIONS and len(op.results) == 1:
        _call_libm(to, op, name, operands)
    else:
        raise _refuse(op, f"@{name} is no function that the host provides")


def _call_function(to: FunctionWriter, op: Operation, name: str, operands: tuple[SSAValue, ...]) -> None:
    parameters, result = signature(to.module.function.functions[name])
    if [each.type for each in operands] != [*parameters]:
        raise _refuse(op, f"@{name} takes other values")
    if [each.type for each in op.results] != ([] if result is None else [result]):
        raise _refuse(op, f"@{name} returns another type")
    to.take_step(op)
    arguments = ", ".join(["ptr %run", *map(to.typed, operands)])
    text = f"call {'void' if result is None else llvm_type(result)} {to.module.symbol(name)}({arguments})"
    if result is None:
        to.line(text)
    else:
        to.define(op.results[0], text)
    to.require_no_error()


def _malloc(to: FunctionWriter, op: Operation) -> None:
    to.define_as(op.results[0], _allocated(to, op, to.value(op.operands[-1])))


def _free(to: FunctionWriter, op: Operation) -> None:
    to.spend_steps(str(_STEPS_OF_CALL))
    release = to.made(f"load ptr, ptr {to.word(Word.RELEASE)}")
    to.line(f"call void {release}(ptr %run, {to.typed(op.operands[0])}, i64 {to.site(op)})")
    to.require_no_error()


def _copy_strided(to: FunctionWriter, op: Operation) -> None:
    to.spend_steps(str(_STEPS_OF_CALL))
    copy = to.made(f"load ptr, ptr {to.word(Word.COPY)}")
    to.line(f"call void {copy}(ptr %run, {', '.join(map(to.typed, op.operands))}, i64 {to.site(op)})")
    to.require_no_error()


_RUNTIME: Mapping[str, tuple[tuple[str, ...], int, Write]] = {
    "malloc": (("i64",), 1, _malloc),
    "aligned_alloc": (("i64", "i64"), 1, _malloc),
    "free": (("ptr",), 0, _free),
    "memrefCopy": (("i64", "ptr", "ptr"), 0, _copy_strided),
}
"""Function of the runtime -> types of its operands, how many results it has, what writes a call."""

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
    **{f"llvm.intr.{each}": _intrinsic(each) for each in f"{_EXPANDED} {_EXPANDED_INTEGERS}".split()},
    **{f"llvm.intr.{each}": _of_libm(each) for each in _OF_LIBM.split()},
    "llvm.intr.fmuladd": _intrinsic("fma"),
    "llvm.fptosi": _saturating("fptosi"),
    "llvm.fptoui": _saturating("fptoui"),
    "llvm.frem": _of_libm("fmod"),
    "llvm.fneg": _negate,
    "llvm.icmp": _compare,
    "llvm.fcmp": _compare,
    "llvm.select": _select,
    "llvm.freeze": _same,
    "llvm.mlir.constant": _constant,
    "llvm.mlir.zero": _zeros,
    "llvm.mlir.undef": _zeros,
    "llvm.mlir.poison": _zeros,
    "llvm.mlir.addressof": _address_of,
    "llvm.getelementptr": _address,
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
