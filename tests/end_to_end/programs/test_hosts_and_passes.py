"""Hosts without native vector code, and user-defined passes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import ttnn_jit
from tests import programs
from ttnn_jit.compiler import backends, stored_programs
from ttnn_jit.diagnostics.errors import ArgumentError, PassError
from ttnn_jit.dialects import print_module
from ttnn_jit.kernels.isa import isa_for
from ttnn_jit.transforms import pipeline


@pytest.fixture
def old_host(monkeypatch):
    """A host without fused multiply-add, as far as the compiler can tell."""
    backends.backend_for.cache_clear()
    monkeypatch.setattr("ttnn_jit.kernels.isa.isa_for", lambda name, *_: isa_for(name, {}, "x86_64-pc-linux"))
    yield
    backends.backend_for.cache_clear()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_host_without_fma_uses_numba_and_warns(dtype, request, tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path / "cache"))
    x = torch.randn(5, 7).to(dtype)
    by_numba = ttnn_jit.jit(enable_cache=False, backend="numba")(programs.cosh)(x)
    request.getfixturevalue("old_host")
    stored_programs.IN_MEMORY.clear()
    with pytest.warns(RuntimeWarning, match="numba compiles them here"):
        ours = ttnn_jit.jit()(programs.cosh)(x)
    assert torch.equal(by_numba, ours)
    assert ttnn_jit.cache_info().entries == 1
    assert "def kernel(pointers, params)" in ttnn_jit.jit()(programs.cosh).ir(x, stage="codegen")


@pytest.mark.usefixtures("old_host")
def test_a_dump_on_a_host_without_fma_is_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(RuntimeWarning, match="numba compiles them here"):
        ttnn_jit.jit(compile_only=True, enable_cache=False)(programs.cosh)(torch.ones(4, 4))
    assert list(tmp_path.glob("generated/jit/*/*_codegen.py"))


@dataclass(frozen=True)
class AddInsteadOfMultiply(ModulePass):
    """Replaces every multiplication by an addition."""

    name = "add-instead-of-multiply"

    def apply(self, _, module: ModuleOp) -> None:
        from ttnn_jit.dialects.ttir import OP_OF
        from ttnn_jit.ops import OVERLOADS

        multiply, add = OP_OF[OVERLOADS["multiply"][0]], OP_OF[OVERLOADS["add"][0]]
        for op in list(module.walk()):
            if isinstance(op, multiply):
                new = add.create(
                    operands=op.operands, result_types=op.result_types, attributes=op.attributes, location=op.location
                )
                op.parent.insert_op_before(new, op)
                op.results[0].replace_all_uses_with(new.results[0])
                op.parent.erase_op(op)


@dataclass(frozen=True)
class Failing(ModulePass):
    """Fails."""

    name = "failing"

    def apply(self, _, __) -> None:
        raise ValueError("on purpose")


KEPT = []


@dataclass(frozen=True)
class Keeping(ModulePass):
    """Keeps the module for the test to inspect."""

    name = "keeping"

    def apply(self, _, module: ModuleOp) -> None:
        KEPT.append(module)


def test_a_pass_of_the_users_own_may_keep_the_module():
    pipeline.register_pass(Keeping, after="canonicalize")
    ttnn_jit.jit(enable_cache=False, extra_pipeline_options="keeping")(lambda v: v * 2.0)(torch.randn(3))
    assert "ttnn.generic" in print_module(KEPT.pop())


def test_a_pass_of_the_users_own_runs_between_named_stages():
    pipeline.register_pass(AddInsteadOfMultiply, after="canonicalize")
    x = torch.randn(3)
    plain = ttnn_jit.jit()(lambda v: v * 2.0)
    changed = ttnn_jit.jit(extra_pipeline_options="add-instead-of-multiply")(lambda v: v * 2.0)
    inserted = ttnn_jit.jit(extra_pipeline_options="after-cse{add-instead-of-multiply}")(lambda v: v * 2.0)
    assert torch.equal(plain(x), x * 2)
    assert torch.equal(changed(x), x + 2)
    assert torch.equal(inserted(x), x + 2)


def test_a_pass_registered_again_under_its_name_replaces_the_first():
    @dataclass(frozen=True)
    class Nothing(ModulePass):
        """Changes nothing."""

        name = AddInsteadOfMultiply.name

        def apply(self, _, __) -> None:
            pass

    x = torch.randn(3)
    pipeline.register_pass(AddInsteadOfMultiply, after="canonicalize")
    changed = ttnn_jit.jit(extra_pipeline_options="add-instead-of-multiply")(lambda v: v * 2.0)
    for _ in range(3):
        assert torch.equal(changed(x), x + 2)
    pipeline.register_pass(Nothing, after="canonicalize")
    for _ in range(3):
        assert torch.equal(changed(x), x * 2)


def test_a_failing_pass_names_itself_and_the_users_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pipeline.register_pass(Failing, after="cse")
    with pytest.raises(PassError, match=r"test_hosts_and_passes\.py:\d+.*Failed to run pass manager: `failing`"):
        ttnn_jit.jit(extra_pipeline_options="failing")(lambda v: v * 2.0)(torch.randn(3))
    assert not (tmp_path / "generated").exists()
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
    with pytest.raises(PassError):
        ttnn_jit.jit(extra_pipeline_options="failing")(lambda v: v * 2.0)(torch.randn(3))
    assert (tmp_path / "generated" / "jit" / "reproducer" / "before.mlir").exists()


def test_an_unknown_pass_or_stage_is_refused():
    with pytest.raises(ArgumentError, match="did you mean"):
        ttnn_jit.jit(extra_pipeline_options="after-csee{cse}")(lambda v: v * 2.0)(torch.randn(3))
    with pytest.raises(ArgumentError, match="no stage is named 'frontent'\nhelp: did you mean frontend"):
        ttnn_jit.jit()(programs.cosh).ir(torch.randn(3), stage="frontent")
