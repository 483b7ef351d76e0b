"""One compile for functions and eager operations: the same stages, keys and look-ups."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from xdsl.passes import ModulePass

from ttnn_jit import ttnn
from ttnn_jit.cache.disk import MANIFEST, PROGRAM, store_of
from ttnn_jit.cache.key import differences
from ttnn_jit.cache.statistics import cache_info
from ttnn_jit.compiler import driver, stored_programs
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.compiler.inspection import stage_text
from ttnn_jit.compiler.request import FunctionRequest, OperationRequest
from ttnn_jit.compiler.stored_programs import request_key
from ttnn_jit.diagnostics.errors import ArgumentError, PassError
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.result_options import ResultOptions
from ttnn_jit.specs.options import BACKENDS, CompileOptions, Environment
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.tools.opt import with_stages
from ttnn_jit.transforms import pipeline

DOCS = Path(__file__).parents[3] / "docs"
SPEC = TensorSpec((32, 64), DataType.FLOAT32, Layout.TILE)
CPU = PRESETS["cpu"]
(ADD,), (EXP,), (RELU,) = (OVERLOADS[name] for name in ("add", "exp", "relu"))
SCALE = 2.0


def scaled(x, y):
    return ttnn.multiply(ttnn.add(x, y), SCALE), x


FUNCTION = FunctionRequest(scaled, {"x": SPEC, "y": SPEC}, CPU, CompileOptions())
REQUESTS = {
    "a function": FUNCTION,
    "a traced function": dataclasses.replace(FUNCTION, options=CompileOptions(graph_capture=True)),
    "a function for numba": dataclasses.replace(FUNCTION, options=CompileOptions(backend="numba")),
    "an operation": OperationRequest(EXP, (SPEC,), (), CPU),
    "an operation with a number": OperationRequest(ADD, (SPEC, 0.5), (), CPU),
    "an operation and what follows": OperationRequest(
        ADD,
        (SPEC, SPEC),
        (),
        PRESETS["wormhole_b0"],
        ResultOptions(dtype=DataType.BFLOAT16, activations=(AppliedUnary((RELU,)),)),
    ),
}


@pytest.fixture(params=REQUESTS)
def request_(request):
    return REQUESTS[request.param]


def compiled(request, monkeypatch):
    """The program of a process with an empty memory, and the counts of its compiles and disk reads."""
    monkeypatch.setattr(stored_programs, "IN_MEMORY", {})
    before = cache_info()
    found = compile_program(request, use_disk=True)
    after = cache_info()
    return found, (after.compiles - before.compiles, after.disk_hits - before.disk_hits)


def test_a_program_is_found_on_disk_by_the_inputs_of_its_compile(request_, monkeypatch):
    first, counts = compiled(request_, monkeypatch)
    assert counts == (1, 0)
    monkeypatch.setattr(type(request_), "lower", None)  # no frontend runs
    second, counts = compiled(request_, monkeypatch)
    assert counts == (0, 1)
    assert second.program.to_bytes() == first.program.to_bytes()
    assert (second.structure, second.warnings) == (first.structure, first.warnings)
    assert [read.path for read in second.reads] == [read.path for read in first.reads]


def test_a_program_is_found_on_disk_by_its_content(request_, monkeypatch):
    first, _ = compiled(request_, monkeypatch)
    monkeypatch.setattr(stored_programs.StoredPrograms, "find", lambda _: None)
    second, counts = compiled(request_, monkeypatch)
    assert counts == (0, 1)
    assert second.program.to_bytes() == first.program.to_bytes()


def test_a_program_is_found_in_memory_by_its_content(request_, monkeypatch):
    monkeypatch.setattr(stored_programs, "IN_MEMORY", {})
    first = compile_program(request_, use_disk=False)
    before = cache_info()
    assert compile_program(request_, use_disk=False).program is first.program
    assert cache_info() == before


def test_functions_with_equal_text_share_a_program_wherever_they_are_defined(monkeypatch):
    def made():
        def scaled(x, y):
            return ttnn.multiply(ttnn.add(x, y), 2.0), x

        return scaled

    first, _ = compiled(FUNCTION, monkeypatch)
    other = dataclasses.replace(FUNCTION, function=made())
    assert compiled(other, monkeypatch)[1] == (0, 1)
    again = compile_program(other, use_disk=False).program
    assert compile_program(FUNCTION, use_disk=False).program is again
    assert again.to_bytes() == first.program.to_bytes()


@pytest.mark.parametrize("data", [b"", b"no program"])
def test_an_invalid_program_on_disk_is_compiled_anew_and_stored(request_, data, monkeypatch):
    compiled(request_, monkeypatch)
    store = store_of(Environment.read())
    (name,) = store.names(PROGRAM)
    sound = store.get(name)
    store.set(name, data)
    assert compiled(request_, monkeypatch)[1] == (1, 0)
    assert store.get(name) == sound
    assert compiled(request_, monkeypatch)[1] == (0, 1)


def test_a_program_of_other_inputs_is_not_taken_from_disk(request_, monkeypatch):
    compiled(request_, monkeypatch)
    store = store_of(Environment.read())
    (name,) = store.names(PROGRAM)
    compile_program(OperationRequest(EXP, (SPEC.with_(dtype=DataType.BFLOAT16),), (), CPU), use_disk=True)
    (other,) = {*store.names(PROGRAM)} - {name}
    store.set(name, store.get(other))
    assert compiled(request_, monkeypatch)[1] == (1, 0)


def test_a_manifest_of_an_operation_with_reads_is_a_miss(monkeypatch):
    request = REQUESTS["an operation"]
    compiled(request, monkeypatch)
    store = store_of(Environment.read())
    (name,) = store.names(MANIFEST)
    line, key = store.get(name).split(b"\n")
    ((_, content),) = json.loads(line)
    store.set(name, json.dumps([[[['[["global", "SCALE"]]', "float:2"]], content]]).encode() + b"\n" + key)
    monkeypatch.setattr(stored_programs.StoredPrograms, "find_content", lambda *_: None)
    assert compiled(request, monkeypatch)[1] == (1, 0)


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (OperationRequest(EXP, (SPEC,), (), CPU), []),
        (OperationRequest(RELU, (SPEC,), (), CPU), ["function", "operation"]),
        (OperationRequest(EXP, (SPEC.with_(dtype=DataType.BFLOAT16),), (), CPU), ["operands"]),
        (OperationRequest(EXP, (SPEC,), (), CPU, ResultOptions(dtype=DataType.BFLOAT16)), ["dtype"]),
        (
            OperationRequest(EXP, (SPEC,), (), CPU, ResultOptions(activations=(AppliedUnary((RELU,)),))),
            ["activations", "option fp32_dest_acc"],
        ),
    ],
)
def test_the_keys_of_operations_differ_in_the_named_contributions(other, names):
    first, second = request_key(REQUESTS["an operation"]), request_key(other)
    assert [difference.name for difference in differences(first.contributions, second.contributions)] == names
    assert (first.entry == second.entry) is (not names)


def test_the_key_of_an_operation_and_of_a_function_can_be_compared():
    found = differences(*(request_key(each).contributions for each in (REQUESTS["an operation"], FUNCTION)))
    assert {"function", "operation", "code", "argument x"} <= {difference.name for difference in found}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_compile_leaves_the_text_of_every_stage_in_order(backend):
    request = dataclasses.replace(FUNCTION, options=CompileOptions(backend=backend))
    seen = []
    program = compile_program(
        request, use_disk=False, observer=lambda stage, _: seen.append(stage), keep_texts=True
    ).program
    assert tuple(program.texts) == driver.stages()
    assert tuple(seen) == driver.stages()[:-1]  # assembly is made on request
    assert {stage: stage_text(request, stage) for stage in driver.stages()} == program.texts
    with pytest.raises(ArgumentError, match=f"the stages are {', '.join(driver.stages())}"):
        stage_text(request, "no stage")


def test_the_text_of_a_stage_is_available_if_a_later_one_fails(monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Failing(ModulePass):
        name = "failing"

        def apply(self, _context, _module):
            raise ValueError("not today")

    monkeypatch.setitem(pipeline.USER_PASSES, Failing.name, (Failing, "d2m-generic-fusion"))
    options = CompileOptions(extra_pipeline_options="after-d2m-generic-fusion{failing}")
    request = dataclasses.replace(FUNCTION, options=options)
    assert "ttir.multiply" in stage_text(request, "convert-ttnn-to-ttir")
    for stage in ("d2m-op-scheduler", "host", "assembly"):
        with pytest.raises(PassError, match="not today"):
            stage_text(request, stage)


def test_the_stages_that_docs_list_are_those_of_a_compile():
    document = (DOCS / "command_line.md").read_text()
    assert with_stages(document) == document, "run `make docs`"


def test_the_passes_over_texts_that_docs_list_are_those_there_are():
    document = (DOCS / "passes_over_texts.md").read_text()
    assert with_stages(document) == document, "run `make docs`"
