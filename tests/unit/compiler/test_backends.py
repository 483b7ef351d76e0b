"""Backends: one table, one class, and no code that branches on their names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ttnn_jit
from tests.unit.codegen.programs import scheduled
from ttnn_jit.codegen.images import assembly_threads, kernel_images
from ttnn_jit.compiler import backends
from ttnn_jit.compiler.llvm_backend import llvm_backend
from ttnn_jit.compiler.numba_backend import numba_backend
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs import options
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

PACKAGE = Path(ttnn_jit.__file__).parent


def test_the_table_has_the_backends_that_users_may_name():
    assert tuple(backends.BACKENDS) == options.BACKENDS
    assert options.CompileOptions().backend in backends.BACKENDS
    assert len({backends.backend_for(name).suffix for name in options.BACKENDS}) == len(options.BACKENDS)


@pytest.mark.parametrize("name", options.BACKENDS)
@pytest.mark.parametrize("calls", [[("exp", 0)], [("exp", 0), ("sin", 1), ("cos", 1), ("add", 2, 3)]])
def test_code_has_a_text_and_an_image_for_every_kernel_of_its_plan(name, calls):
    code = backends.backend_for(name).program(scheduled([TensorSpec((32, 64), DataType.FLOAT32, Layout.TILE)], calls))
    images, listing = code.assemble(), code.assembly()
    assert set(code.plan.kernels) == set(code.texts) == set(code.modules())
    for kernel in code.plan.kernels:
        assert images[kernel]
        assert f"{kernel}:" in listing


@pytest.mark.parametrize("name", options.BACKENDS)
def test_a_kernel_that_another_program_has_is_not_assembled_again(name, monkeypatch):
    assembled = []
    monkeypatch.setattr(kernel_images, "IMAGES", {})
    emit = assembly_threads._emit()
    monkeypatch.setattr(assembly_threads, "_emit", lambda: lambda *parts: assembled.append(parts) or emit(*parts))
    specs = [TensorSpec((32, columns), DataType.FLOAT32, Layout.TILE) for columns in (64, 96)]
    kernels = set()
    for other in ("abs", "neg"):
        code = backends.backend_for(name).program(scheduled(specs, [("exp", 0), (other, 1)], results=(2, 3)))
        assert set(code.assemble()) == set(code.texts)
        assert len(code.texts) == 2
        kernels |= set(code.texts)
    assert len(assembled) == len(kernels) == 3


def test_a_host_without_vectors_uses_numba_and_warns_once(monkeypatch):
    def refused(*_):
        raise ArgumentError("no kernels are generated for this host")

    monkeypatch.setattr("ttnn_jit.kernels.isa.isa_for", refused)
    backends.backend_for.cache_clear()
    try:
        with pytest.raises(ArgumentError, match="for this host"):
            llvm_backend()
        with pytest.warns(RuntimeWarning, match="numba compiles them here") as warned:
            assert [backends.backend_for("ttnn") for _ in range(2)] == [numba_backend()] * 2
        assert len(warned) == 1
    finally:
        backends.backend_for.cache_clear()


def asking_for_a_backend(text):
    """Lines with comparisons and matches that branch on the name of a backend."""
    for node in ast.walk(ast.parse(text)):
        parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        named = any(isinstance(part, ast.Constant) and part.value in options.BACKENDS for part in parts)
        matched = isinstance(node, ast.Match) and "backend" in ast.unparse(node.subject)
        if matched or (named and any("backend" in ast.unparse(part) for part in parts)):
            yield node.lineno


def test_no_code_branches_on_the_name_of_a_backend():
    texts = {path.name: path.read_text() for path in PACKAGE.rglob("*.py")}
    asking = {name: [*asking_for_a_backend(text)] for name, text in texts.items() if "backend" in text}
    assert {name: lines for name, lines in asking.items() if lines} == {}


@pytest.mark.parametrize("text", ['options.backend == "numba"', '"ttnn" != backend', "match backend:\n case _: pass"])
def test_a_branch_on_the_name_of_a_backend_is_detected(text):
    assert [*asking_for_a_backend(text)] == [1]
