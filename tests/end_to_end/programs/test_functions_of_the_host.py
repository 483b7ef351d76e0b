"""Functions that tt-mlir hoists to the host, as texts of TTNN at the level of the runtime hold them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from tests.hoisted_texts import called, elementwise, program
from ttnn_jit.compiler.texts.text_programs import KeptResults, TextModule
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.verifier import InvalidModule
from ttnn_jit.frontend.ir.texts import entries_of, parse_texts
from ttnn_jit.sessions.text_runs import ComparedOp, GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.texts.bisect import module_of_op

HALF = """%f = llvm.mlir.constant(0.5 : f32) : f32
%y = llvm.fmul %x0, %f : f32"""
VECTOR = "tensor<8xf32>"


def module_of(text: str, mesh: Sequence[int] = (1,)) -> TextModule:
    (module,) = parse_texts(text, "host.mlir")
    return TextModule(module, PRESETS["cpu"], mesh)


def run(text: str, *inputs: torch.Tensor) -> torch.Tensor:
    (result,) = module_of(text).program("main")(*inputs)
    return result


def compared(text: str, *inputs: torch.Tensor) -> list[ComparedOp]:
    return [*GoldenRun(module_of(text), "main", inputs).compared()]


def test_a_function_of_the_host_runs_between_the_ops_of_a_program() -> None:
    lines = f"""%0 = "ttir.add"(%arg0, %arg1) : ({VECTOR}, {VECTOR}) -> {VECTOR}
        %1 = call @apply(%0) : ({VECTOR}) -> {VECTOR}
        %2 = "ttir.add"(%0, %1) : ({VECTOR}, {VECTOR}) -> {VECTOR}
        %3 = call @apply(%2) : ({VECTOR}) -> {VECTOR}
        %r = "ttir.multiply"(%3, %arg1) : ({VECTOR}, {VECTOR}) -> {VECTOR}"""
    text = program(elementwise(HALF), lines, [VECTOR, VECTOR], VECTOR)
    a, b = torch.randn(8), torch.randn(8)
    sums = a + b
    assert torch.equal(run(text, a, b), (sums + sums * 0.5) * 0.5 * b)
    found = compared(text, a, b)
    assert [each.op.name for each in found] == ["ttir.add", "func.call", "ttir.add", "func.call", "ttir.multiply"]
    assert all(each.matches and not each.has_no_golden for each in found)


def test_a_function_that_runs_once_may_call_the_host() -> None:
    lines = f"""%0 = ttcore.load_cached(@once, [%arg0]) : ({VECTOR}) -> {VECTOR}
        %r = "ttir.add"(%0, %arg1) : ({VECTOR}, {VECTOR}) -> {VECTOR}"""
    once = f"""func.func private @once(%arg0: {VECTOR}) -> {VECTOR} {{
        %0 = "ttir.neg"(%arg0) : ({VECTOR}) -> {VECTOR}
        %1 = call @apply(%0) : ({VECTOR}) -> {VECTOR}
        return %1 : {VECTOR}
      }}"""
    made = module_of(program(elementwise(HALF), lines, [VECTOR, VECTOR], VECTOR, once))
    a, b = torch.randn(8), torch.randn(8)
    KeptResults.counts.clear()
    for _ in range(2):
        (result,) = made.program("main")(a, b)
        assert torch.equal(result, a * -0.5 + b)
    assert KeptResults.counts == {"miss": 1, "hit": 1}


def test_what_a_function_that_calls_the_host_writes_to_its_parameters_reaches_its_caller() -> None:
    device = '%d = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device'
    step = f"""func.func private @step(%kept: {VECTOR}, %sum: {VECTOR}) {{
        %0 = "ttnn.add"(%kept, %sum) : ({VECTOR}, {VECTOR}) -> {VECTOR}
        "ttnn.copy"(%0, %sum) : ({VECTOR}, {VECTOR}) -> ()
        %1 = call @apply(%sum) : ({VECTOR}) -> {VECTOR}
        %2 = "ttnn.add"(%1, %kept) : ({VECTOR}, {VECTOR}) -> {VECTOR}
        %3 = call @apply(%2) : ({VECTOR}) -> {VECTOR}
        WRITES
        return
      }}"""
    lines = f"""{device}
        %sum = "ttnn.multiply"(%arg0, %arg1) : ({VECTOR}, {VECTOR}) -> {VECTOR}
        func.call @step(%arg0, %sum) : ({VECTOR}, {VECTOR}) -> ()
        func.call @step(%arg1, %sum) : ({VECTOR}, {VECTOR}) -> ()
        %r = "ttnn.add"(%sum, %arg0) : ({VECTOR}, {VECTOR}) -> {VECTOR}"""
    a, b = torch.randn(8), torch.randn(8)
    early, late = a * b, a * b
    for kept in (a, b):
        early = early + kept
        late = ((late + kept) * 0.5 + kept) * 0.5
    for writes, total in (("", early), (f'"ttnn.copy"(%3, %sum) : ({VECTOR}, {VECTOR}) -> ()', late)):
        text = program(elementwise(HALF), lines, [VECTOR, VECTOR], VECTOR, step.replace("WRITES", writes))
        torch.testing.assert_close(run(text, a, b), total + a)
        assert all(each.matches for each in compared(text, a, b))


def test_every_device_of_a_mesh_calls_the_host_on_its_own_tensors() -> None:
    part = "tensor<4xf32>"
    shard = (
        "<{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<%s>, "
        "shard_shape = array<i64: 2>, shard_type = #ttcore.shard_type<devices>}>"
    )
    lines = f"""%0 = "ttir.mesh_shard"(%arg0) {shard % "full_to_shard"} : ({VECTOR}) -> {part}
        %1 = call @apply(%0) : ({part}) -> {part}
        %r = "ttir.mesh_shard"(%1) {shard % "shard_to_full"} : ({part}) -> {VECTOR}"""
    text = program(elementwise(HALF, count=4), lines, [VECTOR], VECTOR)
    a = torch.randn(8)
    made = module_of(text, (1, 2))
    (result,) = made.program("main")(a)
    assert torch.equal(result, a * 0.5)
    assert all(each.matches for each in GoldenRun(made, "main", [a]).compared())


def test_a_wrapper_of_2025_writes_its_results_into_its_last_operands() -> None:
    host = """
      llvm.func @double(!llvm.ptr, !llvm.ptr) attributes {arg_ranks = [1, 1]} {
      ^bb0(%from: !llvm.ptr, %to: !llvm.ptr):
        %x = llvm.load %from : !llvm.ptr -> i32
        %y = llvm.add %x, %x : i32
        llvm.store %y, %to : i32, !llvm.ptr
        llvm.return
      }
      llvm.func @double_helper(%arg0: !llvm.ptr) {
        %0 = llvm.load %arg0 : !llvm.ptr -> !llvm.ptr
        %1 = llvm.getelementptr %arg0[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
        %2 = llvm.load %1 : !llvm.ptr -> !llvm.ptr
        llvm.call @double(%0, %2) : (!llvm.ptr, !llvm.ptr) -> ()
        llvm.return
      }"""
    one = "tensor<1xi32>"
    given = program(host, f"%r = call @double(%arg0, %arg1) : ({one}, {one}) -> {one}", [one, one], one)
    made = program(host, f"%r = call @double(%arg0) : ({one}) -> {one}", [one], one)
    x, y = (torch.tensor([each], dtype=torch.int32) for each in (21, 5))
    assert run(given, x, y).tolist() == run(made, x).tolist() == [42]
    assert y.tolist() == [5], "tensors of the caller stay as they are"
    assert all(each.matches for each in (*compared(given, x, y), *compared(made, x)))


def test_globals_are_numbers_of_the_text() -> None:
    numbers = "dense<[3, -1, 4, 1, 5, 9, 2, 6]> : tensor<8xi32>"
    table = f"llvm.mlir.global private constant @table({numbers}) : !llvm.array<8 x i32>"
    body = """%g = llvm.mlir.addressof @table : !llvm.ptr
        %gp = llvm.getelementptr %g[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x i32>
        %n = llvm.load %gp : !llvm.ptr -> i32
        %y = llvm.add %n, %x0 : i32"""
    text = called(body, ["i32"], "i32", further=table)
    x = torch.arange(8, dtype=torch.int32)
    assert run(text, x).tolist() == [3, 0, 6, 4, 9, 14, 8, 13]
    assert all(each.matches for each in compared(text, x))


FAULTS = {
    """%y = llvm.fadd %x0, %x0 : f32
       %bad = llvm.getelementptr %p0[%end] : (!llvm.ptr, i64) -> !llvm.ptr, f32
       llvm.store %y, %bad : f32, !llvm.ptr""": "`llvm.store` of @apply: an access to 4 bytes outside",
    """%n = llvm.mlir.zero : !llvm.ptr
       %y = llvm.load %n : !llvm.ptr -> f32""": "`llvm.load` of @apply: an access to 4 bytes outside",
    """llvm.call @free(%made) : (!llvm.ptr) -> ()
       %y = llvm.load %made : !llvm.ptr -> f32""": "`llvm.load` of @apply: an access to 4 bytes outside",
    """llvm.call @free(%p0) : (!llvm.ptr) -> ()
       %y = llvm.fadd %x0, %x0 : f32""": "`llvm.call` of @apply: memory is released that is not allocated",
    """%huge = llvm.mlir.constant(1099511627776 : i64) : i64
       %h = llvm.call @malloc(%huge) : (i64) -> !llvm.ptr
       %y = llvm.load %h : !llvm.ptr -> f32""": "`llvm.call` of @apply: more memory",
    """%q = llvm.udiv %i, %zero : i64
       %y = llvm.uitofp %q : i64 to f32""": "`llvm.udiv` of @apply: a quotient",
    """llvm.br ^bb4
       ^bb4:
       %n = llvm.call @malloc(%one) : (i64) -> !llvm.ptr
       llvm.call @free(%n) : (!llvm.ptr) -> ()
       llvm.br ^bb4
       ^bb5:
       %y = llvm.fadd %x0, %x0 : f32""": "`llvm.br` of @apply: the function takes too many steps",
    """%y = "llvm.inline_asm"(%x0) <{asm_string = "", constraints = ""}> : (f32) -> f32""": (
        "`llvm.inline_asm` in @apply_helper of the host's module is not executed here"
    ),
}


MALFORMED = {
    '"llvm.add"(%i) : (i64) -> i64': "`llvm.add` of @apply_helper: it is not executed on (i64)",
    '"llvm.add"(%i, %x0) : (i64, f32) -> i64': "`llvm.add` of @apply_helper: it is not executed on (i64, float)",
    '"llvm.select"(%i, %x0, %x0) : (i64, f32, f32) -> f32': "it is not executed on (i64, float, float)",
    '"llvm.zext"(%i) : (i64) -> i32': "it does not convert i64 to i32",
    '"llvm.extractvalue"(%t0) <{position = array<i64: 0>}> : (!llvm.struct<(ptr, ptr, i64, ptr)>) -> i64': (
        "its result is of another type"
    ),
    '"llvm.extractvalue"(%t0) <{position = array<i64: 9>}> : (!llvm.struct<(ptr, ptr, i64, ptr)>) -> i64': (
        "has no member 9"
    ),
    """"llvm.getelementptr"(%p0, %i) <{elem_type = !llvm.struct<(ptr, i64)>,
        rawConstantIndices = array<i32: 0, -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr""": "is named by a number",
}


@pytest.mark.parametrize(("operation", "message"), MALFORMED.items())
def test_an_operation_of_other_operands_is_refused_at_its_place(operation: str, message: str) -> None:
    with pytest.raises(CompileError) as raised:
        run(called(f"%q = {operation}\n{HALF}"), torch.randn(8))
    assert message in raised.value.message
    assert raised.value.location is not None


@pytest.mark.parametrize(("body", "message"), FAULTS.items())
def test_what_no_function_may_do_is_an_error_at_its_place(body: str, message: str) -> None:
    with pytest.raises(CompileError) as raised:
        run(called(body), torch.randn(8))
    assert message in raised.value.message
    assert raised.value.location is not None


def test_a_function_without_an_end_is_stopped() -> None:
    text = called(HALF).replace("%next = llvm.add %i, %one : i64", "%next = llvm.add %i, %zero : i64")
    with pytest.raises(CompileError, match=r"takes too many steps"):
        run(text, torch.randn(8))


def test_a_function_that_calls_itself_and_one_without_a_wrapper_are_refused() -> None:
    again = "%z = llvm.call @apply_helper(%arg0) : (!llvm.ptr) -> !llvm.ptr\n" + HALF
    with pytest.raises(CompileError, match=r"@apply_helper of the host's module calls itself"):
        run(called(again), torch.randn(8))
    with pytest.raises(CompileError, match=r"has @apply, and no @apply_helper, by which a runtime calls it"):
        run(called(HALF).replace("@apply_helper", "@other"), torch.randn(8))


def test_an_interrupt_ends_a_function() -> None:
    count = 2**20
    text = called(HALF, count=count).replace("%next = llvm.add %i, %one : i64", "%next = llvm.add %i, %zero : i64")
    program = module_of(text).program("main")
    assert program.program
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program(torch.randn(count))
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_functions_that_call_each_other_too_deep_are_refused() -> None:
    def chain(length: int) -> str:
        bodies = [f"%z = llvm.call @c{k + 1}(%x) : (f32) -> f32" for k in range(length - 1)]
        bodies.append("%z = llvm.fadd %x, %x : f32")
        return "".join(
            f"llvm.func @c{k}(%x: f32) -> f32 {{\n{body}\nllvm.return %z : f32\n}}\n" for k, body in enumerate(bodies)
        )

    body = "%y = llvm.call @c0(%x0) : (f32) -> f32"
    x = torch.randn(8)
    assert torch.equal(run(called(body, further=chain(63)), x), x + x)
    assert all(each.matches for each in compared(called(body, further=chain(63)), x))
    for length in (64, 3000):
        with pytest.raises(CompileError, match=r"nest more than 64 deep"):
            run(called(body, further=chain(length)), x)


def test_a_function_of_many_operations_is_compiled_in_time_that_is_linear_in_them() -> None:
    body = "\n".join(f"%q{k} = llvm.load %p0 : !llvm.ptr -> f32" for k in range(3000)) + "\n" + HALF
    x = torch.randn(8)
    assert torch.equal(run(called(body), x), x * 0.5)
    with pytest.raises(CompileError, match=r"more than 32,768 scalars"):
        run(called("%q = llvm.mlir.zero : !llvm.array<32768 x i8>\n" + HALF), x)


def test_threads_run_one_program_at_a_time_of_their_own() -> None:
    made = module_of(called(HALF, count=1000))
    program = made.program("main")
    inputs = [torch.randn(1000) for _ in range(40)]
    with ThreadPoolExecutor(4) as pool:
        results = [*pool.map(program, inputs)]
    assert all(torch.equal(result, x * 0.5) for (result,), x in zip(results, inputs, strict=True))


def test_blocks_are_in_any_order_and_both_targets_of_a_branch_may_be_one() -> None:
    body = """%c = llvm.fcmp "olt" %x0, %x1 : f32
        llvm.br ^bb8(%x0 : f32)
       ^bb7:
        %y = llvm.fadd %w, %v : f32
        llvm.br ^bb9
       ^bb8(%v: f32):
        llvm.cond_br %c, ^bb6(%v : f32), ^bb6(%x1 : f32)
       ^bb6(%w: f32):
        llvm.br ^bb7
       ^bb9:"""
    text = called(body, ["f32", "f32"])
    x, y = torch.randn(8), torch.randn(8)
    assert torch.equal(run(text, x, y), torch.minimum(x, y) + x)
    assert all(each.matches for each in compared(text, x, y))


def test_a_module_of_several_blocks_is_refused_and_one_around_it_is_not() -> None:
    with pytest.raises(InvalidModule, match=r"bodyRegion.*region with 1 blocks") as raised:
        run(called(HALF).replace("llvm.func @malloc", "^bb0:\n^bb1:\nllvm.func @malloc"), torch.randn(8))
    assert raised.value.location is not None
    x = torch.randn(8)
    assert torch.equal(run(called(HALF).replace("cpu_module {", "cpu_module {\n^bb0:\n^bb1:"), x), x * 0.5)


def test_a_result_of_another_shape_is_refused() -> None:
    text = called(HALF).replace("llvm.store %end, %extents", "llvm.store %one, %extents")
    with pytest.raises(CompileError, match=r"@apply returns the shape \[1\], and the text says \[8\]"):
        run(text, torch.randn(8))


def test_a_run_that_is_too_long_to_interpret_has_no_golden() -> None:
    body = (
        "%s = llvm.load %made : !llvm.ptr -> f32\n%y = llvm.fadd %s, %x0 : f32\nllvm.store %y, %made : f32, !llvm.ptr"
    )
    (found,) = compared(called(body, count=100_000), torch.ones(100_000))
    assert found.matches
    assert found.has_no_golden


def test_other_forms_of_such_a_program_are_refused_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "host.mlir"
    path.write_text(called(HALF))
    assert main(["run", str(path), "--golden"]) == 0
    assert "func.call" in capsys.readouterr().err
    for command in (["run", "--interpret"], ["translate", "--mlir-to-python"]):
        assert main([*command, str(path)]) == 1
        assert "@apply of the host's module is native code, which has no" in capsys.readouterr().err


def test_the_module_of_one_call_has_the_functions_of_the_host() -> None:
    made = module_of(called(HALF))
    call = next(op for op in made.functions["main"].body.walk() if op.name == "func.call")
    text = print_module(module_of_op(call))
    (again,) = parse_texts(text, "one.mlir")
    assert entries_of(again) == ["main"]
    x = torch.randn(8)
    assert torch.equal(run(text, x), x * 0.5)
