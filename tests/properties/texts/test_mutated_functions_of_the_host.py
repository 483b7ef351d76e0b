"""Functions of the host: native code computes what the interpreter does, and mutated ones stay in their memory."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Operation

from tests.hoisted_texts import called
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.interpreters.host_level import address_space
from ttnn_jit.interpreters.host_level.host_interpreter import interpreted
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS

INTEGERS = "add sub mul and or xor shl lshr ashr udiv sdiv urem srem"
ORDERS = "eq ne slt sle sgt sge ult ule ugt uge"
FLOATS = "fadd fsub fmul fdiv"
UNARY = "fabs sqrt floor ceil trunc rint roundeven exp exp2 log log2 log10 log1p expm1 sin cos tan tanh atan"
BINARY = "maxnum minnum maximum minimum copysign pow atan2"
EDGES = [0, 1, -1, 2, 31, 32, 33, 63, 64, 2**31 - 1, -(2**31), 7, -5, 12345, -99, 100]


def equal(text: str, *inputs: torch.Tensor) -> None:
    """Runs a text natively and by the interpreter, and compares each bit; NaN is NaN."""
    (module,) = parse_texts(text, "host.mlir")
    made = TextModule(module, PRESETS["cpu"])
    (native,) = made.program("main")(*inputs)
    call = made.host_call(next(op for op in made.functions["main"].body.walk() if op.name == "func.call"))
    (golden,) = interpreted(
        call.function, [each.numpy() for each in inputs], [(tuple(native.shape), native.numpy().dtype)]
    )
    torch.testing.assert_close(native, torch.from_numpy(golden), rtol=2e-7, atol=1e-30, equal_nan=True)


@pytest.mark.parametrize("kind", ["i32", "i64", "i8"])
@pytest.mark.parametrize("name", INTEGERS.split())
def test_integers_are_computed_as_the_interpreter_does(kind: str, name: str) -> None:
    dtype = {"i32": torch.int32, "i64": torch.int64, "i8": torch.int8}[kind]
    x, y = (torch.tensor(EDGES).to(dtype), torch.tensor(EDGES[5:] + EDGES[:5]).to(dtype))
    if "div" in name or "rem" in name:
        y = torch.where(y == 0, 3, torch.where(y == -1, 5, y))
    equal(called(f"%y = llvm.{name} %x0, %x1 : {kind}", [kind, kind], kind, len(EDGES)), x, y)


@pytest.mark.parametrize("order", ORDERS.split())
def test_orders_choose_as_the_interpreter_does(order: str) -> None:
    body = f"""%c = llvm.icmp "{order}" %x0, %x1 : i32
        %y = llvm.select %c, %x0, %x1 : i1, i32"""
    x, y = torch.tensor(EDGES, dtype=torch.int32), torch.tensor(EDGES[::-1], dtype=torch.int32)
    equal(called(body, ["i32", "i32"], "i32", len(EDGES)), x, y)


@pytest.mark.parametrize(
    "order", ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"]
)
def test_orders_of_floats_know_nan(order: str) -> None:
    body = f"""%c = llvm.fcmp "{order}" %x0, %x1 : f32
        %y = llvm.uitofp %c : i1 to f32"""
    x = torch.tensor([0.0, 1.0, float("nan"), float("nan"), 2.0, -0.0, float("inf"), 1.0])
    y = torch.tensor([0.0, 2.0, 1.0, float("nan"), float("nan"), 0.0, float("inf"), -1.0])
    equal(called(body, ["f32", "f32"]), x, y)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", [*FLOATS.split(), *UNARY.split(), *BINARY.split()])
def test_floats_are_computed_as_the_interpreter_does(kind: str, name: str) -> None:
    torch.manual_seed(1)
    x, y = (torch.randn(8, dtype=torch.float32 if kind == "f32" else torch.float64) * 3 for _ in range(2))
    if name in UNARY.split():
        body = f"%y = llvm.intr.{name}(%x0) : ({kind}) -> {kind}"
    elif name in BINARY.split():
        body = f'%y = "llvm.intr.{name}"(%x0, %x1) : ({kind}, {kind}) -> {kind}'
    else:
        body = f"%y = llvm.{name} %x0, %x1 : {kind}"
    equal(called(body, [kind, kind], kind), x, y)


@pytest.mark.parametrize("name", ["smax", "smin", "umax", "umin", "abs"])
def test_functions_of_integers_are_computed_as_the_interpreter_does(name: str) -> None:
    x, y = torch.tensor(EDGES, dtype=torch.int32), torch.tensor(EDGES[::-1], dtype=torch.int32)
    operation = f"llvm.intr.{name}(%x0, %x1) : (i32, i32) -> i32"
    if name == "abs":
        operation = '"llvm.intr.abs"(%x0) <{is_int_min_poison = false}> : (i32) -> i32'
    equal(called(f"%y = {operation}", ["i32", "i32"], "i32", len(EDGES)), x, y)


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [("fptosi", "f32", "i32"), ("fptoui", "f32", "i32"), ("sitofp", "i32", "f32"), ("uitofp", "i32", "f32"),
     ("sext", "i32", "i64"), ("zext", "i32", "i64"), ("trunc", "i64", "i32"), ("fpext", "f32", "f64"),
     ("fptrunc", "f64", "f32"), ("bitcast", "f32", "i32")],
)  # fmt: skip
def test_casts_are_those_of_the_interpreter(name: str, given: str, result: str) -> None:
    dtypes = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64}
    x = torch.tensor([0.5, -1.5, 3e9, -3e9, float("nan"), 7.0, 0.0, 2.0**31]).to(dtypes[given])
    equal(called(f"%y = llvm.{name} %x0 : {given} to {result}", [given], result), x)


MUTABLE = """%n = llvm.call @malloc(%bytes) : (i64) -> !llvm.ptr
        %m = llvm.getelementptr %p0[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        "llvm.intr.memcpy"(%n, %m, %four) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
        %v = llvm.load %n : !llvm.ptr -> f32
        llvm.call @free(%n) : (!llvm.ptr) -> ()
        %c = llvm.fcmp "olt" %v, %x1 : f32
        %y = llvm.select %c, %v, %x1 : i1, f32"""
NUMBERS = [0, 1, -1, 2, 3, 7, 8, 32, 33, 1_000_000, 2**31, 2**62, 2**63 - 1, -(2**63)]


def mutated(module: ModuleOp, chance: random.Random) -> ModuleOp:
    """A copy in which some numbers, operands, predicates, targets or stores of the host's functions are others."""
    made = module.clone()
    host = next(op for op in made.walk() if op.name == "ttcore.cpu_module")
    ops = [op for op in host.walk() if op.name.startswith("llvm.") and op.name != "llvm.func"]
    for op in chance.sample(ops, chance.choice([1, 1, 2, 3])):
        mutate(op, chance)
    return made


def mutate(op: Operation, chance: random.Random) -> None:
    value = op.properties.get("value")
    if isinstance(value, IntegerAttr):
        op.properties["value"] = IntegerAttr(chance.choice(NUMBERS), value.type)
    elif "rawConstantIndices" in op.properties and len(op.operands) == 1:
        op.properties["rawConstantIndices"] = DenseArrayBase.from_list(i32, [chance.choice([0, 1, -1, 5, 2**31 - 1])])
    elif "predicate" in op.properties and chance.random() < 0.5:
        op.properties["predicate"] = IntegerAttr(chance.randrange(10), i64)
    elif op.name == "llvm.store" and chance.random() < 0.3:
        op.detach()
    elif op.operands:
        index, block = chance.randrange(len(op.operands)), op.parent
        assert block is not None, "operations are in blocks"
        known = [*block.args, *(each for other in block.ops for each in other.results)]
        alike = [each for each in known if each.type == op.operands[index].type]
        op.operands[index] = chance.choice(alike or [op.operands[index]])


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_mutated_function_is_refused_or_computes_what_the_interpreter_does(seed: int) -> None:
    body = f"%four = llvm.mlir.constant(4 : i64) : i64\n{MUTABLE}"
    (module,) = parse_texts(called(body, ["f32", "f32"]), "host.mlir")
    made = TextModule(mutated(module, random.Random(seed)), PRESETS["cpu"])
    inputs = [torch.linspace(-1, 1, 8), torch.linspace(2, -2, 8)]
    refused = refusal(made, inputs)
    if refused is None:
        is_golden = all(each.matches for each in GoldenRun(made, "main", inputs).compared())
        assert is_golden or depends_on_addresses(made, inputs)
    else:
        assert refused.location is not None


def depends_on_addresses(made: TextModule, inputs: list[torch.Tensor]) -> bool:
    """Whether the interpreter's result changes with the addresses of memory, which a mutated function may return."""
    call = made.host_call(next(op for op in made.functions["main"].body.walk() if op.name == "func.call"))
    found = []
    for first in (2**32, 2**40 + 2**21):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(address_space, "_FIRST", first)
            found += interpreted(call.function, [each.numpy() for each in inputs], [((8,), np.dtype("f4"))])
    return not np.array_equal(*found, equal_nan=True)


def refusal(made: TextModule, inputs: list[torch.Tensor]) -> CompileError | None:
    """The error of a program; None if it runs."""
    try:
        made.program("main")(*inputs)
    except CompileError as error:
        return error
    return None
