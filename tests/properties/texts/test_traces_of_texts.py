"""Ops between `begin_trace_capture` and `end_trace_capture` run where a text executes the trace, on what it reads then.

What a called function writes to its parameters is what later readers of the operands find.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.texts.passes_keep_results import results_of
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import SteppedRun
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main
from ttnn_jit.transforms.texts.registry import text_passes
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary
from ttnn_jit.ttmlir.ttmlir_runtime.submission import outputs_of

TYPE = "tensor<2x32xf32>"
DEVICE = '%d = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device'
EMPTY = f'"ttnn.empty"(%d) <{{shape = #ttnn.shape<2x32>}}> : (!ttnn.device) -> {TYPE}'
ID = "tensor<ui32, #ttnn.trace_id>"


def op(name: str, *operands: str) -> str:
    types = ", ".join([TYPE] * len(operands))
    return f'"ttnn.{name}"({", ".join(operands)}) : ({types}) -> {TYPE}'


def written(source: str, target: str) -> str:
    return f'"ttnn.write_tensor"({source}, {target}) <{{blocking = false, cq_id = 0 : ui32}}> : ({TYPE}, {TYPE}) -> ()'


def of_trace(name: str, number: str = "%id") -> str:
    return f'"ttnn.{name}"(%d, {number}) <{{blocking = false, cq_id = 0 : ui32}}> : (!ttnn.device, {ID}) -> ()'


def begun(number: str = "%id") -> str:
    return f'{number} = "ttnn.begin_trace_capture"(%d) <{{cq_id = 0 : ui32}}> : (!ttnn.device) -> {ID}'


def module_of(lines: list[str], returned: str, *, private: str = "") -> TextModule:
    body = "\n".join([DEVICE, *lines])
    main = f"func.func @main(%x: {TYPE}, %y: {TYPE}) -> {TYPE} {{ {body}\n return {returned} : {TYPE} }}"
    (module,) = parse_texts(f"module {{ {private}\n {main} }}", "trace.mlir")
    return TextModule(module, PRESETS["cpu"])


def results(module: TextModule, *inputs: torch.Tensor) -> torch.Tensor:
    """The result of the whole program, which those of its ops one by one are, and their goldens."""
    (whole,) = module.program("main")(*inputs)
    for frees in (False, True):
        run = SteppedRun(module, "main", inputs, frees=frees)
        for _ in run.steps():
            pass
        assert torch.equal(run.results[0], whole)
    assert all(each.matches for each in GoldenRun(module, "main", inputs).compared())
    return whole


CAPTURED = f"""func.func private @step(%slot: {TYPE}, %sum: {TYPE}) {{
  %0 = {op("add", "%slot", "%sum")}
  "ttnn.copy"(%0, %sum) : ({TYPE}, {TYPE}) -> ()
  return
}}"""
CALL = f"func.call @step(%slot, %sum) : ({TYPE}, {TYPE}) -> ()"


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["x", "y", "execute", "call"]), max_size=8), st.booleans())
def test_a_trace_reads_what_its_tensors_hold_when_it_is_executed(steps, warm):
    lines = [f"%slot = {EMPTY}", f"%sum = {op('multiply', '%x', '%y')}", written("%x", "%slot")]
    lines += [CALL] * warm + [begun(), CALL, of_trace("end_trace_capture")]
    x, y = torch.randn(2, 32), torch.randn(2, 32)
    slot, total = x, x * y + x if warm else x * y
    for step in steps:
        if step in "xy":
            slot = x if step == "x" else y
            lines.append(written(f"%{step}", "%slot"))
        else:
            total = total + slot
            lines.append(CALL if step == "call" else of_trace("execute_trace"))
    assert torch.equal(results(module_of(lines, "%sum", private=CAPTURED), x, y), total)


def test_what_a_trace_computes_is_that_of_its_last_execution():
    lines = [f"%slot = {EMPTY}", written("%x", "%slot"), begun(), f"%0 = {op('exp', '%slot')}"]
    lines += [of_trace("end_trace_capture"), of_trace("execute_trace"), f"%1 = {op('neg', '%0')}"]
    lines += [written("%y", "%slot"), of_trace("execute_trace"), f"%2 = {op('add', '%0', '%1')}"]
    x, y = torch.randn(2, 32), torch.randn(2, 32)
    torch.testing.assert_close(results(module_of(lines, "%2"), x, y), y.exp() - x.exp(), rtol=1e-5, atol=1e-5)


RECORDED = [begun(), f"%0 = {op('exp', '%x')}", of_trace("end_trace_capture")]
REFUSED = {
    "reads what a trace computes before": [*RECORDED, f"%1 = {op('neg', '%0')}", of_trace("execute_trace")],
    "the capture of a trace does not end": RECORDED[:2],
    "`ttnn.begin_trace_capture` does not fit": [begun(), begun("%2")],
    "`ttnn.end_trace_capture` does not fit": [*RECORDED, of_trace("end_trace_capture")],
    "`ttnn.execute_trace` does not fit": [*RECORDED[:2], of_trace("execute_trace"), RECORDED[2]],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_traces_that_no_chip_could_run_are_refused(reason):
    module = module_of(REFUSED[reason], "%x")
    with pytest.raises(CompileError, match=reason):
        module.program("main")
    with pytest.raises(CompileError, match=reason):
        [*SteppedRun(module, "main", [torch.ones(2, 32)] * 2).steps()]


def test_a_trace_of_another_function_is_refused_with_what_to_run():
    text = f"module {{ func.func @execute(%id: {ID}, %x: {TYPE}) -> {TYPE} {{ {DEVICE}\n"
    (parsed,) = parse_texts(f"{text} {of_trace('execute_trace')}\n return %x : {TYPE} }} }}", "trace.mlir")
    with pytest.raises(CompileError, match="this function has not captured the trace") as refused:
        [*SteppedRun(TextModule(parsed, PRESETS["cpu"]), "execute", [torch.ones(2, 32)] * 2).steps()]
    assert "capture_or_execute_trace" in str(refused.value)


LAYOUT = "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>"
TILES = f"#tiles = {LAYOUT}, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>"
ROWS = f"#rows = {LAYOUT}, memref<2x32xf32, #ttnn.buffer_type<system_memory>>>"
DEV, HOST = "tensor<2x32xf32, #tiles>", "tensor<2x32xf32, #rows>"
SLOTS = f"""
{TILES}
{ROWS}
module {{
  func.func private @trace(%w: {DEV}, %x: {DEV}, %out: {DEV}) {{
    %0 = "ttnn.multiply"(%x, %w) : ({DEV}, {DEV}) -> {DEV}
    "ttnn.copy"(%0, %out) : ({DEV}, {DEV}) -> ()
    WRITES
    return
  }}
  func.func private @allocate(%w: {DEV}) -> ({DEV}, {DEV}, {DEV}) {{
    {DEVICE}
    %1 = {EMPTY.replace(TYPE, DEV)}
    %2 = {EMPTY.replace(TYPE, DEV)}
    return %w, %1, %2 : {DEV}, {DEV}, {DEV}
  }}
  func.func private @capture(%x: {HOST}, %w: {DEV}, %slot: {DEV}, %out: {DEV}) -> {ID} {{
    {DEVICE}
    "ttnn.write_tensor"(%x, %slot) <{{blocking = false, cq_id = 0 : ui32}}> : ({HOST}, {DEV}) -> ()
    {begun()}
    call @trace(%w, %slot, %out) : ({DEV}, {DEV}, {DEV}) -> ()
    {of_trace("end_trace_capture")}
    {of_trace("execute_trace")}
    return %id : {ID}
  }}
  func.func @main(%x: {HOST}, %w: {DEV}) -> ({DEV}, {DEV}) {{
    {DEVICE}
    %1 = "ttnn.capture_or_execute_trace"(%d, %w, %x) <{{allocate_slots_callee = @allocate, capture_callee = @capture,
      execute_callee = @execute, operandSegmentSizes = array<i32: 1, 2, 0>}}> : (!ttnn.device, {DEV}, {HOST}) -> {DEV}
    return %1, %w : {DEV}, {DEV}
  }}
}}"""


@pytest.mark.parametrize("writes", ["", f'"ttnn.copy"(%out, %w) : ({DEV}, {DEV}) -> ()'])
def test_a_trace_on_slots_gives_what_its_function_writes_there(writes):
    (parsed,) = parse_texts(SLOTS.replace("WRITES", writes), "slots.mlir")
    module = TextModule(parsed, PRESETS["cpu"])
    x, w = torch.randn(2, 32), torch.randn(2, 32)
    for _ in range(2):
        found, kept = module.program("main")(x, w)
        assert torch.equal(found, x * w)
        assert torch.equal(kept, x * w if writes else w)
    run = SteppedRun(module, "main", [x, w], frees=True)
    assert sum("multiply" in str(step.op) for step in run.steps()) == 1
    assert all(map(torch.equal, run.results, [found, kept]))


OF_2025 = f"""module {{
  func.func private @trace(%x: {TYPE}, %y: {TYPE}) -> {TYPE} {{
    %0 = {op("multiply", "%x", "%y")}
    return %0 : {TYPE}
  }}
  func.func private @capture(%x: {TYPE}, %y: {TYPE}) -> ({ID}, {TYPE}, {TYPE}, {TYPE}, {TYPE}) {{
    {DEVICE}
    %slot = {EMPTY}
    {written("%x", "%slot")}
    %first = call @trace(%slot, %y) : ({TYPE}, {TYPE}) -> {TYPE}
    {begun()}
    %recorded = call @trace(%slot, %y) : ({TYPE}, {TYPE}) -> {TYPE}
    {of_trace("end_trace_capture")}
    return %id, %first, %slot, %y, %recorded : {ID}, {TYPE}, {TYPE}, {TYPE}, {TYPE}
  }}
  func.func @main(%x: {TYPE}, %y: {TYPE}) -> {TYPE} {{
    {DEVICE}
    %1 = "ttnn.capture_or_execute_trace"(%d, %x, %y) <{{capture_callee = @capture, execute_callee = @execute}}>
      : (!ttnn.device, {TYPE}, {TYPE}) -> {TYPE}
    return %1 : {TYPE}
  }}
}}"""


def test_a_capture_that_executes_nothing_gives_the_results_of_the_run_before_it():
    (parsed,) = parse_texts(OF_2025, "of_2025.mlir")
    x, y = torch.randn(2, 32), torch.randn(2, 32)
    assert torch.equal(results(TextModule(parsed, PRESETS["cpu"]), x, y), x * y)


MODEL = """func.func @main(%x: tensor<4x32xf32> {ttcore.argument_type = #ttcore.argument_type<input>},
    %w: tensor<32x8xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
    %c: tensor<1x2x4x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.kv_cache},
    %u: tensor<1x2x1x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>})
    -> (tensor<4x8xf32>, tensor<4x32xf32>, tensor<1x2x4x8xf32>) {
  %i = "ttir.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
  %t = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}> : (tensor<32x8xf32>) -> tensor<8x32xf32>
  %n = "ttir.neg"(%t) : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %0 = "ttir.matmul"(%x, %n) <{transpose_b = true}> : (tensor<4x32xf32>, tensor<8x32xf32>) -> tensor<4x8xf32>
  %1 = "ttir.relu"(%x) : (tensor<4x32xf32>) -> tensor<4x32xf32>
  "ttir.update_cache"(%c, %u, %i) <{batch_offset = 0 : i32}> : (tensor<1x2x4x8xf32>, tensor<1x2x1x8xf32>, tensor<1xi32>)
    -> ()
  return %0, %1, %c : tensor<4x8xf32>, tensor<4x32xf32>, tensor<1x2x4x8xf32>
}"""


@pytest.mark.parametrize("kept", ["enable-const-eval=true", "enable-const-eval=false"])
@pytest.mark.parametrize("version", ["2025-12", "2026-08"])
@pytest.mark.parametrize("pipeline", ["ttir-to-ttnn-runtime-pipeline", "ttir-to-ttnn-common-pipeline"])
def test_a_model_that_is_hoisted_into_a_trace_has_the_same_results(tmp_path, capsys, version, kept, pipeline):
    module = parse_upstream(MODEL)
    for each in text_passes(pipeline, f"enable-trace=true {kept}", ir_version=version):
        each.apply(None, module)
    verify_upstream(module)
    text = print_module(module)
    names = ("ttnn.execute_trace", "@trace_0_main", "run_and_capture_trace_0_main")
    assert all(name in text for name in names)
    assert ("allocate_slots_trace_0_main" in text) == (version == "2026-08")
    inputs = [torch.randn(4, 32), torch.randn(32, 8), torch.randn(1, 2, 4, 8), torch.randn(1, 2, 1, 8)]
    cache = inputs[2].clone()
    cache[:, :, 2] = inputs[3][:, :, 0]
    wanted = [inputs[0] @ -inputs[1], inputs[0].relu(), cache]
    found = [results_of(parse_texts(text, "traced.mlir")[0], inputs)[0]]
    (tmp_path / "traced.mlir").write_text(text)
    written = main(["translate", "--ttnn-to-flatbuffer", str(tmp_path / "traced.mlir"), "-o", str(tmp_path / "b.ttnn")])
    if version == "2025-12":
        assert written == 1
        assert "without `allocate_slots_callee`" in capsys.readouterr().err
    elif "runtime" in pipeline:
        assert written == 0
        found.append(
            [each for (each,) in outputs_of(Binary.load(str(tmp_path / "b.ttnn")), 0, [[each] for each in inputs])]
        )
    for results in found:
        torch.testing.assert_close(results[0], wanted[0], rtol=2e-2, atol=2e-1)
        assert torch.equal(results[1], wanted[1])
        assert torch.equal(results[2], wanted[2])


def test_what_stays_outside_of_a_trace_is_not_between_its_operations():
    text = f"""func.func private @once(%x: {TYPE}) -> {TYPE} attributes {{const_eval}} {{ return %x : {TYPE} }}
    func.func @main(%x: {TYPE}) -> {TYPE} {{
      %0 = {op("exp", "%x")}
      %1 = ttcore.load_cached(@once, [%x]) : ({TYPE}) -> {TYPE}
      %2 = {op("add", "%0", "%1")}
      return %2 : {TYPE}
    }}"""
    module = parse_upstream(text)
    (each,) = text_passes("ttnn-trace-hoist-transform", "")
    with pytest.raises(CompileError, match="Non-hoistable op found in the middle of hoistable ops"):
        each.apply(None, module)
