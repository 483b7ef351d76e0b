"""`backend="numba"` from a user's point of view: the same programs and interface, and readable source."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests import programs
from tests.processes import run_python
from ttnn_jit import ttnn
from ttnn_jit.codegen.writing.numba_module import numba_module
from ttnn_jit.compiler import backends, stored_programs
from ttnn_jit.kernels.isa import isa_for


def test_an_unknown_backend_is_refused_with_the_names_of_both():
    with pytest.raises(ValueError, match="unknown backend 'metal'; the backends are 'ttnn' and 'numba'"):
        ttnn_jit.jit(backend="metal")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_whole_programs_match_torch(dtype):
    x = torch.randn(7, 33).to(dtype)
    cosh = ttnn_jit.jit(backend="numba")(programs.cosh)(x)
    torch.testing.assert_close(
        cosh, torch.cosh(x.double()).to(dtype), rtol=3e-7 if dtype is torch.float32 else 0, atol=0
    )
    chain = ttnn_jit.jit(backend="numba")(programs.unary_chain)(x)
    exact = torch.exp(-torch.sin(x.double().abs())).to(dtype)
    torch.testing.assert_close(chain, exact, rtol=5e-7 if dtype is torch.float32 else 0, atol=0)


def test_strides_broadcasts_and_empty_tensors_are_traversed():
    add = ttnn_jit.jit(backend="numba")(lambda a, b: ttnn.add(a, b))
    a, b = torch.randn(3, 5, 8), torch.randn(8, 5)
    assert torch.equal(add(a[:, :, ::2], b.T[3:4, :4].T.mT[:, :4]), a[:, :, ::2] + b.T[3:4, :4].T.mT[:, :4])
    assert torch.equal(add(a, torch.ones(5, 1)), a + 1)
    assert torch.equal(add(a, torch.tensor(2.0)), a + 2)
    assert add(torch.ones(0, 4), torch.ones(4)).shape == (0, 4)


def test_a_program_of_several_kernels_is_one_call(device):
    def two_readers(x):
        e = ttnn.exp(x)
        return ttnn.add(ttnn.sin(e), ttnn.cos(e))

    x = ttnn.from_torch(torch.randn(64, 64), layout=ttnn.TILE_LAYOUT, device=device)
    jitted = ttnn_jit.jit(backend="numba")(two_readers)
    exact = torch.exp(x.to_torch().double())
    torch.testing.assert_close(jitted(x).to_torch().double(), torch.sin(exact) + torch.cos(exact), rtol=1e-5, atol=1e-5)
    assert len(jitted.explain(x).kernels) > 1


def test_the_source_is_shown_and_dumped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = torch.ones(4, 4)
    source = ttnn_jit.jit(backend="numba")(programs.cosh).ir(x, stage="codegen")
    assert "def kernel(pointers, params):" in source
    assert "t1 = exp(t0)" in source
    compile(source, "kernel", "exec")
    program = ttnn_jit.jit(backend="numba", compile_only=True)(programs.cosh)(x)
    (dumped,) = Path("generated/jit").glob("*/*_codegen.py")
    assert dumped.read_text() == source
    assert program.ir("codegen") == source
    assert "define" not in source
    assert "ret" in ttnn_jit.jit(backend="numba")(programs.cosh).ir(x, stage="assembly")


def test_the_backend_is_part_of_every_key():
    x = torch.randn(4, 4)
    for backend in ("ttnn", "numba"):
        ttnn_jit.jit(backend=backend)(programs.cosh)(x)
    before = ttnn_jit.cache_info().compiles
    other = ttnn_jit.jit(backend="numba")(programs.cosh)
    other(x)
    assert ttnn_jit.cache_info().compiles == before
    assert other.ir(x, stage="codegen").startswith("from ttnn_jit.kernels.numba.scalar_math")


def test_a_stored_program_runs_again_after_saving(tmp_path, monkeypatch):
    from ttnn_jit.runtime.programs.program import Program

    monkeypatch.chdir(tmp_path)
    x = ttnn.from_torch(torch.ones(4, 4), device=ttnn.open_device(device_id=0, target="cpu"))
    program = ttnn_jit.jit(backend="numba", compile_only=True)(programs.cosh)(x)
    program.save(tmp_path / "cosh.ttjp")
    again = Program.load(tmp_path / "cosh.ttjp")
    assert torch.equal(again(x).to_torch(), program(x).to_torch())


def test_numba_serves_a_host_without_fma_natively(monkeypatch):
    backends.backend_for.cache_clear()
    monkeypatch.setattr("ttnn_jit.kernels.isa.isa_for", lambda name, *_: isa_for(name, {}, "x86_64-pc-linux"))
    stored_programs.IN_MEMORY.clear()
    ttnn_jit.cache_clear()
    x = torch.randn(5, 5)
    # Warnings are errors here: an explicit backend causes none.
    result = ttnn_jit.jit(backend="numba")(programs.cosh)(x)
    torch.testing.assert_close(result, torch.cosh(x))
    assert ttnn_jit.cache_info().entries > 0
    backends.backend_for.cache_clear()


def test_numba_makes_neither_entry_points_for_python_nor_machine_code_of_functions_of_ours(monkeypatch, device):
    from numba.core.codegen import JITCodeLibrary
    from numba.core.cpu import CPUContext

    made, assembled, assemble = [], [], JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary, "_finalize_specific", lambda library: (assembled.append(library.name), assemble(library))
    )
    for entry in ("create_cpython_wrapper", "create_cfunc_wrapper"):
        monkeypatch.setattr(CPUContext, entry, lambda *parts, **_: made.append(parts[2]))
    numba_module.cache_clear()
    for dtype in (torch.float32, torch.bfloat16, torch.int32):
        x = torch.arange(15).reshape(3, 5).to(dtype)
        assert torch.equal(ttnn_jit.jit()(lambda x: ttnn.tril(x))(x), x.tril())
        assert torch.equal(ttnn_jit.jit(backend="numba")(lambda x: ttnn.add(ttnn.abs(x), x))(x), x + x)
    packed = ttnn.from_torch(torch.ones(32, 32), dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn_jit.jit(backend="numba")(lambda x: ttnn.add(x, x))(packed).to_torch().sum() == 2048
    assert {function.unique_name for function in made if not function.modname.startswith("numba.")} == set()
    assert {name.rpartition(".")[2] for name in assembled}.isdisjoint(
        {"kernel", "called", "load", "loop", "unpack_tile"}
    )


SCRIPT = """
    import sys
    import numpy
    import ttnn_jit
    from ttnn_jit import ttnn

    @ttnn_jit.jit(backend="numba")
    def cosh(x):
        return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)

    print(cosh(numpy.arange(6, dtype=numpy.float32).reshape(2, 3)).tolist())
    print(ttnn_jit.cache_info().compiles, "numba" in sys.modules, "xdsl" in sys.modules)
"""


@pytest.mark.process
@pytest.mark.slow
def test_a_second_process_needs_neither_numba_nor_the_compiler(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(textwrap.dedent(SCRIPT))

    def lines():
        return run_python(script, check=True).stdout.splitlines()

    first, second = lines(), lines()
    assert first[0] == second[0]
    assert first[1] == "1 True True"
    assert second[1] == "0 False False"


@pytest.mark.process
def test_the_other_backend_never_loads_numba(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(textwrap.dedent(SCRIPT).replace('backend="numba"', ""))
    assert run_python(script, check=True).stdout.splitlines()[1] == "1 False True"
