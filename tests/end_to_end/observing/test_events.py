"""Events: typed records of what runs, made only while someone listens."""

from __future__ import annotations

import json
import threading

import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import SteppedRun
from ttnn_jit.dispatch.operation_events import listening
from ttnn_jit.events.listeners import LISTENERS, silence
from ttnn_jit.events.run_events import CompileStage, Launch
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS

TEXT = """func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = "ttir.exp"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}"""


def tensor(device):
    return ttnn.from_torch(torch.randn(32, 64), layout=ttnn.TILE_LAYOUT, device=device)


def heard(run, **options):
    events = []
    with listening(events.append, **options):
        run()
    return events


def test_a_first_call_is_its_stages_a_launch_and_the_call_itself(device):
    x = tensor(device)
    *stages, launch, call = heard(lambda: ttnn_jit.jit(enable_cache=False)(programs.cosh)(x))
    names = [each.name for each in stages]
    assert all(isinstance(each, CompileStage) and each.program == "cosh" for each in stages[1:])
    assert names[0] == "frontend"
    assert names[-1] == "assembly"
    assert isinstance(launch, Launch)
    assert (launch.kind, launch.name, len(launch.kernels)) == ("launch", "cosh", 1)
    assert (call.kind, call.name) == ("jitted_call", "tests.programs.cosh")
    assert "test_events.py" in call.location
    (operand,) = call.operands
    assert (operand.shape, operand.dtype, operand.nbytes) == ((32, 64), "f32", 32 * 64 * 4)
    assert call.nbytes == 2 * operand.nbytes
    assert call.device == str(device)
    assert call.thread == threading.get_ident()
    assert call.started_ns <= launch.started_ns
    assert call.duration_ns >= launch.duration_ns > 0


def test_remembered_calls_are_launches_too_and_are_remembered_again_when_nobody_listens(device):
    x = tensor(device)
    jitted = ttnn_jit.jit()(programs.cosh)
    for _ in range(3):
        jitted(x)
        ttnn.add(x, x)
    events = heard(lambda: [jitted(x), ttnn.add(x, x), jitted(x)])
    assert [each.kind for each in events] == [
        "launch", "jitted_call", "launch", "eager_operation", "launch", "jitted_call",
    ]  # fmt: skip
    assert not LISTENERS
    assert "__call__" in vars(type(jitted))
    jitted(x)
    assert jitted._latest
    assert jitted.num_entries == 1


def test_an_error_is_an_event_and_passes_through(device):
    x = tensor(device)
    events = []
    with listening(events.append), pytest.raises(ValueError, match="must be a tensor"):
        ttnn.add(x, "a")
    assert [each.error.partition(":")[0] for each in events] == ["ArgumentError"]


def test_calls_on_a_mesh_and_collectives_name_its_devices():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    x = tensor(mesh)
    events = [each for each in heard(lambda: ttnn.all_gather(ttnn.neg(x), 0)) if each.kind not in {"compile_stage"}]
    assert [each.kind for each in events if each.kind != "launch"] == ["eager_operation", "collective"]
    assert {each.operands[0].devices for each in events if each.kind != "launch"} == {2}
    assert events[-1].nbytes == (2 + 4) * 32 * 64 * 4


def test_torch_tensors_and_ops_of_texts_have_shapes_and_dtypes():
    x = torch.ones(3, 5, dtype=torch.bfloat16)
    call = heard(lambda: ttnn_jit.jit()(programs.cosh)(x))[-1]
    assert [(each.shape, each.dtype, each.nbytes) for each in call.operands] == [((3, 5), "bf16", 30)]
    (parsed,) = parse_texts(TEXT, "m.mlir")
    run = SteppedRun(TextModule(parsed, PRESETS["cpu"]), "main", [torch.ones(3, 5)])
    *_, last = heard(lambda: [*run.steps()])
    assert (last.kind, last.name, last.location, last.device) == ("text_operation", "ttir.exp", "m.mlir:2:3", "cpu")
    assert json.loads(json.dumps(last.to_dict()))["operands"] == [
        {"shape": [3, 5], "dtype": "f32", "nbytes": 60, "devices": 1}
    ]


def test_a_listener_hears_its_own_thread_or_all_and_nothing_that_is_silenced(device):
    x = tensor(device)

    def both():
        thread = threading.Thread(target=lambda: ttnn.neg(x))
        thread.start()
        thread.join()
        with silence():
            ttnn.neg(x)

    assert heard(both) == []
    assert [each.name for each in heard(both, all_threads=True) if each.kind == "eager_operation"] == ["ttnn.neg"]
