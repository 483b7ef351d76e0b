"""A failed compile leaves no state behind, and a call writes only into the cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, UnsupportedFunction
from ttnn_jit.runtime.memory import buffer
from ttnn_jit.specs.options import BACKENDS, Environment


@pytest.fixture(autouse=True)
def cache_below(tmp_path, monkeypatch):
    """The folder in which tests look for new files."""
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path / "ttnn_jit_cache"))


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def misspelt(x):
    return ttnn.mul(x, 0.5)


def branches_on_data(x):
    if x > 0:
        return x
    return -x


@pytest.mark.parametrize("function", [misspelt, branches_on_data])
def test_a_failed_compile_leaves_no_file_no_entry_and_no_count(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, info = files_below(tmp_path), ttnn_jit.cache_info()
    jitted = ttnn_jit.jit()(function)
    for _ in range(2):
        with pytest.raises(CompileError):
            jitted(torch.randn(4))
    assert jitted.num_entries == 0
    after = ttnn_jit.cache_info()
    assert (after.compiles, after.entries) == (info.compiles, info.entries)
    assert files_below(tmp_path) - before <= {"ttnn_jit_cache", *cache_files(tmp_path)}


def cache_files(folder: Path) -> set[str]:
    return {f"ttnn_jit_cache/{name}" for name in files_below(folder / "ttnn_jit_cache")}


def test_an_alias_of_eager_ttnn_is_refused_inside_jit_with_the_right_name():
    with pytest.raises(UnsupportedFunction, match=r"Function mul not supported(.|\n)*\^(.|\n)*multiply") as caught:
        ttnn_jit.jit()(misspelt)(torch.randn(4))
    assert isinstance(caught.value, AssertionError)
    assert f"{__file__}:" in str(caught.value)


def test_a_call_writes_nothing_outside_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ttnn_jit.jit()(programs.cosh)(torch.randn(4))
    assert {name.split("/")[0] for name in files_below(tmp_path)} == {"ttnn_jit_cache"}


@pytest.mark.parametrize("value", ["0", "false", "NO", "off"])
def test_the_cache_can_be_turned_off(value, tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE", value)
    ttnn_jit.jit()(programs.cosh)(torch.randn(4))
    assert files_below(tmp_path) == set()


def test_a_switch_that_is_neither_on_nor_off_is_refused(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE", "maybe")
    with pytest.raises(ArgumentError, match="TTNN_JIT_CACHE is 'maybe'"):
        ttnn_jit.jit()(programs.cosh)(torch.randn(4))


def test_the_cache_folder_is_the_one_whose_owner_was_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FOLDER", "inner")
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", "~/$FOLDER/cache")
    ttnn_jit.jit()(programs.cosh)(torch.randn(4))
    assert ttnn_jit.cache_info().entries == 1
    assert (tmp_path / "inner" / "cache" / "cache.db").exists()


@pytest.mark.parametrize(("base", "used"), [("{tmp}/xdg", "xdg"), ("xdg", "home/.cache"), ("", "home/.cache")])
def test_the_cache_lies_below_the_cache_home_of_xdg_if_that_is_absolute(base, used, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTNN_JIT_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", base.format(tmp=tmp_path))
    assert Environment.read().cache_dir == tmp_path / used / "ttnn_jit"


def test_a_user_without_a_home_compiles_and_keeps_nothing_on_disk(monkeypatch):
    def no_entry(_):
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", no_entry)
    for name in ("TTNN_JIT_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    x = torch.randn(4)
    with pytest.warns(RuntimeWarning, match="no home folder; set TTNN_JIT_CACHE_DIR"):
        assert torch.equal(ttnn_jit.jit(lambda v: v + 1.0)(x), x + 1.0)
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", "~nobody-of-that-name/cache")
    with pytest.raises(ArgumentError, match="'~nobody-of-that-name/cache', and there is no such home"):
        Environment.read()


def test_compile_only_returns_a_program_that_runs_and_writes_every_stage(tmp_path, monkeypatch, cpu_device):
    from ttnn_jit.runtime.programs.program import Program

    monkeypatch.chdir(tmp_path)
    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=cpu_device)
    program = ttnn_jit.jit(compile_only=True)(programs.cosh)(x)
    expected = ttnn_jit.jit()(programs.cosh)(x).to_torch()
    assert torch.equal(program(x).to_torch(), expected)
    (folder,) = (tmp_path / "generated" / "jit").iterdir()
    assert folder.name.startswith("cosh_")
    names = files_below(folder)
    assert {"00_frontend.mlir", "cosh.ttjp"} <= names
    assert any(name.endswith(".ll") for name in names)
    loaded = Program.load(folder / "cosh.ttjp")
    assert torch.equal(loaded(x).to_torch(), expected)
    assert loaded.descriptors[0]["cbs"][0] == {
        "access": "stream",
        "dtype": "f32",
        "num_pages": 1,
        "page_size": 4096,
    }
    assert "ttnn.generic" in program.ir("convert-d2m-to-ttnn")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [programs.cosh, lambda x: ttnn.sin(x), lambda x: x], ids=["cosh", "sin", "same"])
def test_compile_only_leaves_the_assembly_that_ir_shows_beside_the_object_code(
    backend, function, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    x = torch.randn(8, 8)
    program = ttnn_jit.jit(compile_only=True, backend=backend)(function)(x)
    (listing,) = Path("generated/jit").glob("*/*_assembly.s")
    shown = ttnn_jit.jit(backend=backend)(function).ir(x, stage="assembly")
    assert listing.read_text() == program.ir("assembly") == shown
    labels = {line.removesuffix(":") for line in shown.splitlines()}
    assert set(program.plan.kernels) <= labels
    assert all((listing.parent / f"{kernel}.o").exists() for kernel in program.plan.kernels)


def test_debug_prints_every_stage_under_its_banner(capsys):
    from ttnn_jit.transforms import pipeline

    ttnn_jit.jit(debug=True)(programs.cosh)(torch.randn(4))
    printed = capsys.readouterr().out
    banners = [line.split()[5] for line in printed.splitlines() if line.startswith("// -----// IR Dump After")]
    assert banners == ["frontend", *pipeline.STAGES, "host", "codegen", "ttkernel", "ttmetal"]


def test_debug_says_why_the_cores_of_a_chip_have_no_kernels(capsys):
    ttnn_jit.jit(debug=True)(lambda x: ttnn.mish(x))(torch.randn(4))
    printed = capsys.readouterr().out
    assert "// no kernels for the cores of a chip: " in printed.partition("IR Dump After ttkernel")[2]


def test_kernels_of_cores_are_shown_for_tensors_that_have_no_tiles():
    function, x = ttnn_jit.jit()(programs.cosh), torch.randn(32, 64)
    for stage, op in (("ttkernel", "ttkernel.pack_tile"), ("ttmetal", "ttmetal.enqueue_program")):
        text = function.ir(x, stage=stage)
        assert op in text
        assert text == function.ir(x.numpy(), stage=stage)


def test_an_ignored_keyword_warns_once(device):
    @ttnn_jit.jit()
    def in_l1(x):
        return ttnn.exp(x, memory_config=ttnn.L1_MEMORY_CONFIG)

    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.warns(UserWarning, match="memory_config") as caught:
        result = in_l1(x)
    assert len(caught) == 1
    in_l1(x)
    assert result.memory_config() == x.memory_config()


def test_a_scalar_that_keeps_changing_warns_and_is_named():
    scale = ttnn_jit.jit(enable_cache=False, dynamic=False)(lambda x, step: x * step)
    x = torch.ones(1)
    for number in range(15):
        scale(x, float(number))
    with pytest.warns(UserWarning, match="16 values of `step`"):
        scale(x, 15.0)
    scale(x, 16.0)


@pytest.mark.parametrize("position", [lambda index: index, lambda index: [index, index + 3]])
def test_a_position_that_grows_causes_a_hint_to_pass_a_tensor_before_many_programs_are_compiled(position):
    function = lambda x, index: x * (index if isinstance(index, int) else index[0])  # noqa: E731 - of one line
    shifted = ttnn_jit.jit(enable_cache=False, dynamic=False)(function)
    x = torch.ones(1)
    for index in (7, 2, 3, 3, 4, 5):
        shifted(x, position(index))
    with pytest.warns(UserWarning, match=r"compiled for 6 values of `index`.* as a tensor of integers"):
        shifted(x, position(6))
    for index in range(7, 30):
        shifted(x, position(index))


def test_an_eager_number_that_keeps_changing_warns_and_is_named():
    device = ttnn.open_device(device_id=0)
    x = ttnn.ones((32, 32), ttnn.float32, ttnn.TILE_LAYOUT, device)
    ttnn.multiply.clear()
    for number in range(40):
        ttnn.multiply(x, 0.5 + number)  # one program serves all of these
        ttnn.addcmul(x, x, x, value=0.5 + number)  # `value` can be no tensor

    def multiply_by_denormals():
        for number in range(2, 40):
            ttnn.multiply(x, 1e-40 * number)  # a denormal is a constant of its program

    with pytest.warns(UserWarning, match=r"ttnn.multiply was compiled for 16 values of `input_tensor_b`"):
        multiply_by_denormals()


def test_an_allocation_that_exceeds_host_memory_names_the_tensor_and_the_largest_ones(device, monkeypatch):
    def no_memory(nbytes):
        raise OSError(12, f"Cannot allocate memory, not even {nbytes} bytes")

    kept = ttnn.ones((64, 96), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    gone = ttnn.ones((64, 2048), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    ttnn.deallocate(gone)
    monkeypatch.setattr(buffer, "_map", no_memory)
    with pytest.raises(MemoryError, match=r"for the [\d,]+ bytes of TensorSpec\(\[65536, 32768\]") as found:
        ttnn.empty((1 << 16, 1 << 15), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    assert f"12,288 bytes of {kept.spec}" in str(found.value)
    assert "2048" not in str(found.value)


@pytest.mark.process
def test_importing_loads_no_heavy_library_and_none_that_few_programs_need():
    script = """
        import sys
        import ttnn_jit
        from ttnn_jit import ttnn
        ttnn_jit.jit()(lambda x: x)
        heavy = ("torch", "numpy", "numba", "llvmlite", "xdsl", "diskcache")
        seldom_needed = ("html", "tempfile", "uuid")
        of_programs = ("hashlib", "ttnn_jit.runtime.programs.program", "ttnn_jit.runtime.programs.warm_caller")
        print([name for name in (*heavy, *seldom_needed, *of_programs) if name in sys.modules])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout.strip() == "[]"
