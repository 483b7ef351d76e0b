"""Modules that several threads assemble: the images equal those of one thread, in any order."""

from __future__ import annotations

import threading

import pytest

from tests.unit.codegen.programs import host_isa
from ttnn_jit.codegen.images import assembly_threads
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.codegen.images.assembly_threads import SHARED_CHARACTERS, AssemblyThreads
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule

COUNT = 5


def chain(length):
    """A function of this many dependent additions, each of another constant."""
    steps = "\n".join(f"  %v{i + 1} = xor i64 %v{i}, {i * 7919 + length}" for i in range(length))
    return f"define i64 @f{length}(i64 %v0) {{\n{steps}\n  ret i64 %v{length}\n}}\n"


def modules():
    return {f"f{length}": LlvmModule(chain(length), fast_isel=length % 2 == 0) for length in range(300, 300 + COUNT)}


@pytest.mark.parametrize("threads", [1, 2, 9])
def test_images_do_not_depend_on_the_number_of_threads(threads, monkeypatch):
    monkeypatch.setattr(assembly_threads, "thread_count", lambda: threads)
    given = modules()
    assert sum(len(module.text) for module in given.values()) > SHARED_CHARACTERS
    before = threading.active_count()
    begun = AssemblyThreads(given, host_isa())
    assert before <= threading.active_count() <= before + min(threads, COUNT) - 1
    assert dict(begun.images({})) == {name: assemble(module, host_isa()) for name, module in given.items()}
    assert threading.active_count() <= before


def test_little_text_starts_no_thread():
    before = threading.active_count()
    begun = AssemblyThreads({"f3": LlvmModule(chain(3)), "f4": LlvmModule(chain(4))}, host_isa())
    assert threading.active_count() == before
    assert {symbol for symbol, _ in begun.images({})} == {"f3", "f4"}


def test_an_abandoned_assembly_leaves_no_thread():
    before = threading.active_count()
    AssemblyThreads(modules(), host_isa()).abandon()
    assert threading.active_count() <= before


def test_text_that_llvm_rejects_starts_nothing():
    before = threading.active_count()
    with pytest.raises(InternalError, match="LLVM rejects generated text"):
        AssemblyThreads(modules() | {"g": LlvmModule("define void @g( {")}, host_isa())
    assert threading.active_count() <= before


def test_a_module_that_cannot_be_assembled_is_an_error_that_names_it(monkeypatch):
    monkeypatch.setattr(assembly_threads, "_emit", lambda: lambda *_: None)
    with pytest.raises(InternalError, match="LLVM cannot assemble f30"):
        dict(AssemblyThreads(modules(), host_isa()).images({}))
