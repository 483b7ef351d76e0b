"""The reason for a miss on disk, by the contributions that differ."""

from __future__ import annotations

import dataclasses

import pytest

from tests.unit.compiler.test_driver import FUNCTION, REQUESTS, SPEC
from ttnn_jit import ttnn
from ttnn_jit.cache.disk import MANIFEST, PROGRAM, store_of
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.compiler.inspection import explain_miss
from ttnn_jit.compiler.request import FunctionRequest
from ttnn_jit.specs.options import CompileOptions, Environment
from ttnn_jit.specs.tensor_spec import DataType

HIT = "nothing differs: this call is a hit"
GONE = "nothing differs, but the program is no longer on disk"


@pytest.mark.parametrize("name", REQUESTS)
def test_a_call_that_is_a_hit_reports_it_for_functions_and_operations(name):
    assert explain_miss(REQUESTS[name]) == "the disk cache is empty"
    compile_program(REQUESTS[name], use_disk=True)
    assert explain_miss(REQUESTS[name]) == HIT


def test_a_global_with_several_values_is_a_hit_for_each_and_is_named_for_another(monkeypatch):
    for value in (2.0, 3.0):
        monkeypatch.setattr("tests.unit.compiler.test_driver.SCALE", value)
        compile_program(FUNCTION, use_disk=True)
    for value in (2.0, 3.0):
        monkeypatch.setattr("tests.unit.compiler.test_driver.SCALE", value)
        assert explain_miss(FUNCTION) == HIT
    monkeypatch.setattr("tests.unit.compiler.test_driver.SCALE", 4.0)
    (line,) = explain_miss(FUNCTION).splitlines()
    assert line.startswith("read SCALE: float:")


def test_the_inputs_of_a_compile_are_named_in_a_miss():
    compile_program(FUNCTION, use_disk=True)
    other = dataclasses.replace(FUNCTION, arguments={"x": SPEC, "y": 0.5}, options=CompileOptions(fuse=False))
    assert [line.partition(":")[0] for line in explain_miss(other).splitlines()] == ["argument y", "option fuse"]


def request_of_text(path, body):
    """The request of a function named `f` in the file `path`."""
    namespace = {"ttnn": ttnn}
    exec(compile(f"def f(x):\n    return {body}", path, "exec"), namespace)
    return FunctionRequest(namespace["f"], {"x": SPEC}, FUNCTION.target, CompileOptions())


def test_a_function_of_the_same_name_in_another_file_is_another_function():
    here, there = request_of_text("here.py", "ttnn.exp(x)"), request_of_text("there.py", "ttnn.multiply(x, 3.0)")
    traced = CompileOptions(graph_capture=True)
    compile_program(dataclasses.replace(there, options=traced), use_disk=True)
    assert explain_miss(dataclasses.replace(here, options=traced)) == "the disk cache has no program of f"
    compile_program(dataclasses.replace(here, options=traced), use_disk=True)
    (line,) = explain_miss(here).splitlines()
    assert line.startswith("option graph_capture: True -> None")
    edited = dataclasses.replace(request_of_text("here.py", "ttnn.log(x)"), options=traced)
    assert [line.partition(":")[0] for line in explain_miss(edited).splitlines()] == ["code"]
    bf16 = {"x": SPEC.with_(dtype=DataType.BFLOAT16)}
    moved = dataclasses.replace(request_of_text("moved.py", "ttnn.exp(x)"), arguments=bf16, options=traced)
    assert [line.partition(":")[0] for line in explain_miss(moved).splitlines()] == ["argument x"]


def test_a_removed_program_is_a_miss():
    compile_program(FUNCTION, use_disk=True)
    store = store_of(Environment.read())
    ((manifest, kept),) = [(name, store.get(name)) for name in store.names(MANIFEST)]
    store.clear()
    store.set(manifest, kept)
    assert store.names(PROGRAM) == []
    assert explain_miss(FUNCTION) == GONE


def test_a_manifest_without_programs_is_a_miss():
    compile_program(FUNCTION, use_disk=True)
    store = store_of(Environment.read())
    (manifest,) = store.names(MANIFEST)
    store.set(manifest, b"[]\n" + store.get(manifest).partition(b"\n")[2])
    assert explain_miss(FUNCTION) == GONE
