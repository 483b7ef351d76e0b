"""Replay of a checkout: its combinations, and the comparison of two sets of hashes."""

import hashlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.checkouts import replay, replay_programs
from benchmarks.checkouts.checkouts import importable
from benchmarks.checkouts.replay_rendering import called, hashes, render
from benchmarks.harness.process import Process
from tests.copies import package_with_own
from ttnn_jit import jit
from ttnn_jit.codegen.writing import llvm_kernel
from ttnn_jit.kernels.llvm import llvm_module
from ttnn_jit.ops import OPERATIONS
from ttnn_jit.specs.tensor_spec import DataType

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def combinations():
    return replay_programs.combinations()


def test_a_thousand_combinations_have_keys_of_their_own(combinations):
    assert len({combination["key"] for combination in combinations}) == len(combinations) >= 1000


def test_every_operation_target_frontend_and_instruction_set_is_replayed(combinations):
    found = {
        name: {combination[name] for combination in combinations} for name in ("program", "frontend", "target", "isa")
    }
    called = {f"op_{operation.ttnn_name}" for operation in OPERATIONS if not operation.fixed_keywords}
    assert called <= found["program"]
    assert found["frontend"] == {"ast", "trace"}
    assert found["target"] == {"cpu", "wormhole_b0", "blackhole"}
    assert found["isa"] == {"host", "avx512", "avx2", "neon"}


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.examples and not one.fixed_keywords], ids=lambda one: one.ttnn_name
)
def test_an_operation_is_replayed_with_each_of_its_examples(operation, combinations):
    programs = re.compile(rf"op_{operation.ttnn_name}(_\d+)?")
    of_it = [c for c in combinations if programs.fullmatch(c["program"]) and c["isa"] == "host"]
    dtype = "f32" if DataType.FLOAT32 in operation.dtypes else replay_programs.INTEGER
    of_it = [c for c in of_it if c["target"] == "cpu" and c["dtype"] == dtype]
    shapes = [tuple(map(tuple, c["shapes"])) for c in of_it]  # another declaration may have the name too
    assert all(tuple(shape for shape in each if shape is not None) in shapes for each, _ in operation.examples)
    function, tensors = called(of_it[0])
    assert "func.func" in jit(enable_cache=False)(function).ir(*tensors, stage="convert-d2m-to-ttnn")


@pytest.mark.slow
@pytest.mark.process
def test_another_process_renders_the_same_hashes_from_the_frontend_to_the_object_code(combinations):
    chosen = [c for c in combinations if c["program"] == "cosh" and c["isa"] in {"host", "avx2"}][:3]
    with importable(ROOT) as folder, Process({"TTNN_JIT_CACHE": "0"}, folder) as process:
        found = process.call(hashes, chosen, "host")
        assert process.call(hashes, chosen, "host") == found
    assert [*found] == [combination["key"] for combination in chosen]
    for stages in found.values():
        assert {"frontend", "d2m-generic-fusion", "codegen", "plan", "objects"} <= stages.keys()
        assert "error" not in stages


def test_a_model_is_replayed_by_both_frontends_with_one_text(combinations, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
    models = {c["program"] for c in combinations if c["kind"] == replay_programs.MODEL}
    assert models == {path.stem for path in (ROOT / "docs" / "examples" / "models").glob("*.py")}
    one, other = (
        render(c, "host") for c in combinations if (c["kind"], c["program"]) == (replay_programs.MODEL, "mnist_mlp")
    )
    assert {"frontend", "host", "codegen", "plan", "objects"} <= one.keys()
    assert one == other


@pytest.mark.parametrize("program", ["tree_of_30", "op_attention_softmax", "op_argmax", "two_results"])
def test_kernel_names_do_not_count_as_differences(program, combinations, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
    combination = next(c for c in combinations if (c["program"], c["isa"], c["target"]) == (program, "host", "cpu"))
    named = []

    def sha256(data):
        named.append(data)
        return hashlib.sha256(b"another name" + data)

    before = render(combination, "host")
    with monkeypatch.context() as renamed:
        renamed.setattr(llvm_module, "hashlib", SimpleNamespace(sha256=sha256))
        llvm_kernel.kernel_of.cache_clear()
        after = render(combination, "host")
    llvm_kernel.kernel_of.cache_clear()
    assert after == before
    assert named
    assert "error" not in before
    assert not re.search(r"\b[kgr]_[0-9a-f]{16}\b", "\n".join(before.values()))


@pytest.mark.parametrize("isa", ["avx512", "avx2", "neon"])
def test_an_explicit_instruction_set_is_compiled_for(isa, combinations, monkeypatch, tmp_path):
    from ttnn_jit.compiler import backends
    from ttnn_jit.kernels import isa as isas

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
    monkeypatch.setattr(isas, "isa_for", isas.isa_for)  # rendering replaces it, permanently, in its own process
    monkeypatch.setattr(backends, "backend_for", backends.backend_for.__wrapped__)
    (combination,) = (
        c for c in combinations if (c["program"], c["dtype"], c["target"], c["isa"]) == ("cosh", "f32", "cpu", isa)
    )
    width = {"avx512": 16, "avx2": 8, "neon": 4}[isa]
    assert f"<{width} x float>" in render(combination, isa)["codegen"]


def test_an_error_of_a_combination_is_its_text():
    combination = {"source": "def refused(a0):\n    return ttnn.no_such_operation(a0)\n", "program": "refused"}
    shown = {"dtypes": ["f32"], "shapes": [[32, 32]], "kind": "torch", "target": "cpu", "frontend": "ast"}
    (text,) = render({"key": "k", "options": {}} | combination | shown, "host").values()
    assert "no_such_operation" in text


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"k": {"ttnn": "a", "codegen": "b"}}, []),
        ({"k": {"ttnn": "a", "codegen": "c"}}, ["codegen: 1 differs, first k"]),
        ({"k": {"ttnn": "a"}}, ["codegen: 1 in BEFORE alone, first k"]),
        ({"k": {"ttnn": "a", "codegen": "b", "x": "d"}}, ["x: 1 in AFTER alone, first k"]),
        ({}, ["combinations: 1 in BEFORE alone, first k"]),
        ({"k": {"ttnn": "a", "codegen": "b"}, "l": {}}, ["combinations: 1 in AFTER alone, first l"]),
    ],
)
def test_differing_hashes_are_reported_by_stage(after, said):
    before = {"k": {"ttnn": "a", "codegen": "b"}}
    assert replay.differences(before, after).lines == said


def test_the_first_difference_is_that_of_the_earliest_stage_of_any_combination():
    before = {"k": {"ttnn": "a", "codegen": "b"}, "l": {"ttnn": "a", "codegen": "b"}}
    after = {"k": {"ttnn": "a", "codegen": "y"}, "l": {"ttnn": "x", "codegen": "b"}}
    assert replay.differences(before, after).first == ("l", "ttnn")


def test_hashes_of_files_are_compared_without_compiling(tmp_path, monkeypatch, capsys):
    for name, stages in (("a", {"ttnn": "1"}), ("b", {"ttnn": "2"})):
        (tmp_path / f"{name}.json").write_text(json.dumps({"key": stages}))
    for after, status in (("a", 0), ("b", 1)):
        arguments = [str(tmp_path / "a.json"), str(tmp_path / f"{after}.json")]
        monkeypatch.setattr(sys, "argv", ["replay", *arguments])
        assert replay.main() == status
    assert "ttnn: 1 differs, first key" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.process
def test_two_checkouts_are_rendered_and_the_first_differing_text_is_shown(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rich", reason="the progress bar is of the extra [bench]")
    changed = tmp_path / "changed"
    declarations = package_with_own("ops", changed) / "ops" / "elementwise" / "binary.py"
    text, own = declarations.read_text(), '    aten="mul",\n'
    assert own in text
    declarations.write_text(text.replace(own, f"{own}    emit=lambda b, x, y: b.add(x, y),\n", 1))
    monkeypatch.setattr(sys, "argv", ["replay", str(ROOT), str(changed), "--only", "cosh/cpu/f32/5x7x33/numpy"])
    assert replay.main() == 1
    shown = capsys.readouterr().out
    assert "codegen: 1 differs" in shown
    assert "fmul" in shown
    assert "fadd" in shown
