"""Functions of the LLVM builder do what their `with` blocks say."""

from __future__ import annotations

import ctypes
import operator
from dataclasses import dataclass

import llvmlite.binding as llvm
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.kernels.native_loop import host_isa, machine
from ttnn_jit.kernels.llvm.blocks import Region
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I1, I8, I32, I64, PTR, array, struct
from ttnn_jit.kernels.llvm.values import InstructionCost, i64, integer, usual_instructions, zero
from ttnn_jit.kernels.loops.loop_constants import constants_of
from ttnn_jit.runtime.native.executable import mapped
from ttnn_jit.runtime.native.image import Image, image_of


def native(text: str, name: str, arguments: int):
    """A function with this many i64 parameters, whose result is an i64."""
    module = llvm.parse_assembly(text)
    module.verify()
    llvm.initialize_native_asmprinter()
    image = Image.read(image_of(machine(host_isa()).emit_object(module)))
    address = mapped(image, {}) + image.functions[name]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(address)


def function_of(*names: str) -> FunctionBuilder:
    return FunctionBuilder("f", ModuleText(), [Parameter(name, I64) for name in names], I64)


# --- Programs of numbers, which Python runs too -------------------------------------------------------------------


def wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


ARITHMETIC = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "bit_and": operator.and_,
    "bit_or": operator.or_,
}
PREDICATES = {"slt": operator.lt, "sge": operator.ge, "eq": operator.eq, "ne": operator.ne}


@dataclass(frozen=True)
class Compute:
    """One more variable: an operation of two others, or of one and a number."""

    name: str
    left: int
    right: int
    number: int | None


@dataclass(frozen=True)
class If:
    """One more variable: the last one of a body under a condition, else another."""

    predicate: str
    left: int
    right: int
    body: tuple[object, ...]
    otherwise: int


@dataclass(frozen=True)
class Repeat:
    """One more variable, which a body updates in each iteration; the body sees it and the iteration number last."""

    trips: int
    first: int
    body: tuple[object, ...]
    tested: str


def bodies(statements):
    return st.lists(statements, max_size=3).map(tuple)


OPERANDS = st.integers(0, 30)
NUMBERS = st.none() | st.sampled_from([0, 1, -1, 2, 77])
STATEMENTS = st.recursive(
    st.builds(Compute, st.sampled_from(sorted(ARITHMETIC)), OPERANDS, OPERANDS, NUMBERS),
    lambda inner: st.one_of(
        st.builds(If, st.sampled_from(sorted(PREDICATES)), OPERANDS, OPERANDS, bodies(inner), OPERANDS),
        st.builds(Repeat, st.integers(1, 4), OPERANDS, bodies(inner), st.sampled_from(["end", "head"])),
    ),
    max_leaves=5,
)


BODIES = bodies(STATEMENTS)


def build(b: Builder, body, variables: list) -> list:
    """The variables after a body."""
    variables = list(variables)

    def at(operand):
        return variables[operand % len(variables)]

    for statement in body:
        match statement:
            case Compute(name, left, right, number):
                made = getattr(b, name)(at(left), at(right) if number is None else number)
            case If(predicate, left, right, inner, otherwise):
                with b.when(b.compare(predicate, at(left), at(right)), "some", ("chosen", at(otherwise))) as branch:
                    branch.yield_values(build(b, inner, variables)[-1])
                (made,) = branch.values
            case Repeat(trips, first, inner, "end"):
                with b.count("i", trips, ("held", at(first))) as loop:
                    loop.carry(build(b, inner, [*variables, loop.index, *loop.values])[-1])
                (made,) = loop.values
            case Repeat(trips, first, inner, _):
                with b.while_loop("trip", ("i", i64(0)), ("held", at(first))) as loop:
                    index, held = loop.values
                    loop.leave_unless(b.compare("slt", index, trips - 1))
                    loop.again(b.add(index, 1), build(b, inner, [*variables, index, held])[-1])
                made = loop.values[1]
        variables.append(made)
    return variables


def run(body, variables: list[int]) -> list[int]:
    variables = list(variables)

    def at(operand):
        return variables[operand % len(variables)]

    for statement in body:
        match statement:
            case Compute(name, left, right, number):
                made = wrapped(ARITHMETIC[name](at(left), at(right) if number is None else number))
            case If(predicate, left, right, inner, otherwise):
                holds = PREDICATES[predicate](at(left), at(right))
                made = run(inner, variables)[-1] if holds else at(otherwise)
            case Repeat(trips, first, inner, tested):
                made = at(first)
                for index in range(trips if tested == "end" else trips - 1):
                    made = run(inner, [*variables, index, made])[-1]
        variables.append(made)
    return variables


INT64S = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 3)


@given(BODIES, st.lists(st.tuples(INT64S, INT64S), min_size=1, max_size=4))
def test_a_function_computes_the_code_of_its_blocks(body, calls):
    f = function_of("a", "b")
    f.ret(build(f, body, [*f.parameters, i64(5)])[-1])
    compiled = native(f.text, "f", 2)
    for a, b in calls:
        assert compiled(a, b) == run(body, [a, b, 5])[-1]


@given(BODIES, BODIES, st.tuples(INT64S, INT64S))
def test_a_region_computes_the_same_in_the_function_that_contains_it(body, before, arguments):
    """After code of the function itself, whose names and blocks are different."""
    inner = Builder(ModuleText())
    parameters = [inner.new(I64, name) for name in ("x", "y")]
    region = Region(inner.body, parameters, [build(inner, body, [*parameters, i64(5)])[-1]])
    f = FunctionBuilder("f", ModuleText(), [Parameter("a", I64), Parameter("b", I64)], I64, inlining=inner.body)
    first = build(f, before, [*f.parameters, i64(5)])[-1]
    (result,) = f.inline(region, [first, f.parameters[1]])
    f.ret(result)
    known = run(before, [*arguments, 5])[-1]
    assert native(f.text, "f", 2)(*arguments) == run(body, [known, arguments[1], 5])[-1]


# --- Single features ------------------------------------------------------------------------------------------------


def test_the_type_of_values_decides_the_instruction():
    f = FunctionBuilder("f", ModuleText(), [Parameter("x", FLOAT), Parameter("n", I64)])
    x, n = f.parameters
    f.add(x, x), f.add(n, n), f.compare("olt", x, x), f.compare("slt", n, n)
    for instruction in ("fadd float %x, %x", "add i64 %n, %n", "fcmp olt float %x, %x", "icmp slt i64 %n, %n"):
        assert f" = {instruction}\n" in f"{f.text}\n"


def test_constants_and_neutral_operations_fold():
    f = function_of("n")
    (n,) = f.parameters
    before = len(f.body.code)
    assert f.add(n, 0) is n
    assert f.mul(1, n) is n
    assert f.element(n, I64, 0) is n
    assert f.sub(i64(3), 5) == "-2"
    assert f.select(f.compare("slt", i64(3), 5), n, 7) is n
    assert f.convert("zext", n, I64) is n
    assert len(f.body.code) == before


def test_hints_become_names_while_they_are_free():
    f = function_of("n")
    (n,) = f.parameters
    assert [f.add(n, 1, "n"), f.add(n, 2, "x"), f.add(n, 3, "x"), f.add(n, 4)] == ["%n.1", "%x", "%x.1", "%v1"]


def test_rare_code_costs_nothing_on_the_common_path():
    f = function_of("n")
    (n,) = f.parameters
    with f.when(f.compare("eq", n, 0), "rare", ("found", n), is_rare=True) as branch:
        branch.yield_values(f.mul(f.mul(n, n), n))
    # The comparison and the branch; the end of the branch, and its phi node.
    assert usual_instructions(f.body.code) == 4
    assert "branch_weights" in f.text


def test_the_cost_of_a_division_is_high():
    f = FunctionBuilder("f", ModuleText(), [Parameter("x", FLOAT)])
    f.div(*f.parameters * 2)
    *_, cost = f.body.code[-1]
    assert cost is InstructionCost.DIVISION


def test_constants_of_a_region_are_values_of_the_function_that_contains_it():
    vector = FLOAT.times(4)
    inner = Builder(ModuleText())
    x = inner.new(vector, "x")
    constant = integer(3, I32.times(4))
    patterns = inner.add(inner.bitcast(x, I32.times(4)), constant)
    region = Region(inner.body, [x], [patterns])
    assert constants_of(inner.body.code, most=4) == (constant,)
    assert constants_of(inner.body.code, most=0) is None
    f = FunctionBuilder("f", ModuleText(), [Parameter("a", vector)], inlining=inner.body)
    held = f.freeze(constant, "three")
    f.inline(region, f.parameters, {(constant.type, str(constant)): held})
    f.ret()
    assert "add <4 x i32> %v1, %three" in f.text


def test_constants_of_one_text_and_two_types_are_values_of_their_own():
    module = ModuleText()
    constants = [integer(3, I32.times(lanes)) for lanes in (8, 16)]
    assert constants[0] == constants[1], "their texts are equal"
    inner = Builder(module)
    results = [inner.add(zero(each.type), each, "sum") for each in constants]
    f = FunctionBuilder("f", module, [Parameter("eight", constants[0].type), Parameter("sixteen", constants[1].type)])
    held = {(each.type, str(each)): value for each, value in zip(constants, f.parameters, strict=True)}
    f.inline(Region(inner.body, [], results), [], held)
    text = f.build()
    assert "add <8 x i32> zeroinitializer, %eight" in text
    assert "add <16 x i32> zeroinitializer, %sixteen" in text


def test_declarations_are_added_once_when_needed():
    module = ModuleText()
    f = FunctionBuilder("f", module, [Parameter("to", PTR), Parameter("n", I64)])
    to, n = f.parameters
    for _ in range(2):
        f.copy_bytes(to, to, n)
        f.store(zero(FLOAT.times(4)), to, 16, nontemporal=True)
    assert module.text().count("@llvm.memcpy") == 1
    assert module.text().count("!0 = ") == 1


@pytest.mark.parametrize("ends", [False, True])
def test_a_loop_without_an_end_condition_is_an_error(ends):
    f = function_of("n")

    def loop():
        with f.loop("again", ("i", i64(0))) as trips:
            if ends:
                trips.again_if(f.compare("slt", trips.values[0], 3), f.add(trips.values[0], 1))

    if ends:
        loop()
    else:
        with pytest.raises(AssertionError, match="ends with `again_if`"):
            loop()


def test_a_block_takes_as_many_values_as_it_has_arguments():
    f = function_of("n")
    block = f.new_block("next", (I64, "x"), (I1, "holds"))
    with pytest.raises(AssertionError, match="takes 2 arguments"):
        f.branch(block, *f.parameters)


PAIRS = struct(I8, I64, array(2, struct(I32, I64)))


def test_members_of_an_aggregate_are_those_in_memory():
    f = function_of("n")
    (n,) = f.parameters
    slot = f.alloca(PAIRS, 2)
    f.store(zero(array(2, PAIRS)), slot)
    f.store(n, f.member(slot, PAIRS, 1, 2, n, 1))
    second = f.load(PAIRS, f.member(slot, PAIRS, 1))
    whole = f.insert_value(second, f.narrow(f.extract_value(second, I64, 2, 1, 1), I8), 0)
    f.store(whole, slot, align=1)
    bytes_, last = f.load(I8, slot), f.load(I64, f.member(slot, PAIRS, 0, 2, 1, 1))
    f.ret(f.add(f.mul(f.zext(bytes_, I64), 1000), last))
    assert native(f.text, "f", 1)(1) == 1001


@pytest.mark.parametrize(("opcode", "expected"), [("urem", 5), ("sub", 33), ("srem", 5)])
def test_an_instruction_by_its_opcode_does_not_fold(opcode, expected):
    f = function_of()
    f.ret(f.binary(opcode, i64(40), i64(7)))
    assert opcode in f.text
    assert native(f.text, "f", 0)() == expected
