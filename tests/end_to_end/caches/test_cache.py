"""Calls, programs, and the two caches of programs, from a user's point of view."""

from __future__ import annotations

import os
import textwrap
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

import ttnn_jit
from tests import programs
from tests.processes import run_python
from ttnn_jit import ttnn
from ttnn_jit.compiler import stored_programs

SCALE = 2.0


def compiles() -> int:
    return ttnn_jit.cache_info().compiles


def test_a_second_call_with_the_same_metadata_does_not_compile():
    cosh = ttnn_jit.jit()(programs.cosh)
    cosh(torch.randn(4, 4))
    before = ttnn_jit.cache_info()
    cosh(torch.randn(4, 4))
    after = ttnn_jit.cache_info()
    assert cosh.num_entries == 1
    assert after.compiles == before.compiles
    assert after.memory_hits == before.memory_hits + 1


def test_shape_and_dtype_and_memory_config_each_make_an_entry(device):
    cosh = ttnn_jit.jit()(programs.cosh)
    sharded = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
    for dtype, config in [
        (torch.float32, ttnn.DRAM_MEMORY_CONFIG),
        (torch.bfloat16, ttnn.DRAM_MEMORY_CONFIG),
        (torch.bfloat16, sharded),
    ]:
        x = torch.randn(64, 64).to(dtype)
        cosh(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config))
    assert cosh.num_entries == 3


def test_two_decorations_have_caches_of_their_own():
    first, second = ttnn_jit.jit()(programs.cosh), ttnn_jit.jit(graph_capture=True)(programs.cosh)
    first(torch.randn(4, 4))
    assert (first.num_entries, second.num_entries) == (1, 0)


def test_a_thousand_shapes_share_few_kernels():
    cosh = ttnn_jit.jit(enable_cache=False)(programs.cosh)
    kernels = {cosh.ir(torch.empty(rows, 3 + rows % 7), stage="codegen") for rows in range(1, 20)}
    assert len(kernels) == 1


def test_scalars_of_different_types_and_signs_are_different_programs():
    @ttnn_jit.jit()
    def scale(x, factor):
        return x * factor

    x = torch.ones(2, 2)
    for factor in (1, True, 1.0, 0.0, -0.0, float("nan"), float("nan")):
        scale(x, factor)
    assert scale.num_entries == 6
    assert torch.signbit(scale(x, -0.0)).all()
    assert not torch.signbit(scale(x, 0.0)).any()


def test_a_changed_global_is_detected_at_the_next_call(monkeypatch):
    @ttnn_jit.jit()
    def scale(x):
        return x * SCALE

    x = torch.ones(2, 2)
    assert scale(x)[0, 0] == 2.0
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert scale(x)[0, 0] == 3.0
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert scale(x)[0, 0] == 2.0


def test_a_changed_closure_value_is_detected_at_the_next_call():
    factor = 2.0

    @ttnn_jit.jit()
    def scale(x):
        return x * factor

    assert scale(torch.ones(2))[0] == 2.0
    factor = 5.0
    assert scale(torch.ones(2))[0] == 5.0


def test_a_helpers_new_body_is_detected_at_the_next_call():
    def helper(x):
        return x * 2.0

    def other(x):
        return x * 7.0

    @ttnn_jit.jit()
    def scale(x):
        return helper(x)

    assert scale(torch.ones(2))[0] == 2.0
    helper.__code__ = other.__code__
    assert scale(torch.ones(2))[0] == 7.0


def test_a_mutated_list_is_detected_at_the_next_call():
    factors = [1.0, 2.0]

    @ttnn_jit.jit()
    def scale(x):
        for factor in factors:
            x = x * factor
        return x

    assert scale(torch.ones(2))[0] == 2.0
    factors.append(4.0)
    assert scale(torch.ones(2))[0] == 8.0


def test_many_threads_compile_once():
    cosh = ttnn_jit.jit(enable_cache=False)(programs.cosh)
    x = torch.randn(16, 16)
    expected = ttnn_jit.jit()(programs.cosh)(x)
    before, results = compiles(), []
    threads = [threading.Thread(target=lambda: results.append(cosh(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(result, expected) for result in results)
    assert len(results) == 8
    assert compiles() - before <= 1


def test_cache_clear_forgets_memory_and_disk():
    cosh = ttnn_jit.jit()(programs.cosh)
    cosh(torch.randn(4, 4))
    assert ttnn_jit.cache_info().entries >= 1
    ttnn_jit.cache_clear()
    assert cosh.num_entries == 0
    assert ttnn_jit.cache_info().entries == 0


SCRIPT = """
    import sys, json
    import llvmlite.binding
    import numpy, ttnn_jit
    from ttnn_jit import ttnn

    assembled, parse = [], llvmlite.binding.parse_assembly
    llvmlite.binding.parse_assembly = lambda *a, **k: assembled.append(parse(*a, **k)) or assembled[-1]

    @ttnn_jit.jit()
    def cosh(x):
        return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)

    print(repr(cosh(numpy.arange(6, dtype=numpy.float32).reshape(2, 3)).tolist()))
    info = ttnn_jit.cache_info()
    print(json.dumps([info.compiles, info.disk_hits, "xdsl" in sys.modules, len(assembled)]))
"""


def run_script(path: Path) -> list[str]:
    return run_python(path, check=True).stdout.splitlines()


@pytest.mark.process
@pytest.mark.slow
def test_a_second_process_compiles_and_assembles_nothing_and_never_imports_xdsl(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(textwrap.dedent(SCRIPT))
    first, second = run_script(script), run_script(script)
    assert first[0] == second[0]
    assert first[1] == "[1, 0, true, 2]"  # the kernel, and the function that launches kernels
    assert second[1] == "[0, 1, false, 0]"
    script.write_text("# moved down by a line\n" + textwrap.dedent(SCRIPT))
    assert run_script(script)[1].startswith("[0, 1")
    script.write_text(textwrap.dedent(SCRIPT).replace("0.5", "0.25"))
    changed = run_script(script)
    assert changed[1].startswith("[1, 0")
    assert changed[0] != first[0]


class Settings:
    """A user object with state that no path leads to."""

    scale = 2.0

    def __init__(self) -> None:
        self.values = [1.0]

    def __getitem__(self, index: int) -> float:
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)


SETTINGS = Settings()
ARRAY = np.array([1.0])


@pytest.mark.filterwarnings("ignore:.*compiled at every call")
@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(
    ("function", "change"),
    [
        (lambda x: x * float(ARRAY[0]), lambda: ARRAY.__setitem__(0, ARRAY[0] + 1)),
        (lambda x: x * SETTINGS[0], lambda: SETTINGS.values.__setitem__(0, SETTINGS.values[0] + 1)),
        (lambda x: x * len(SETTINGS), lambda: SETTINGS.values.append(1.0)),
        (lambda x: x * float(os.environ["SCALE"]), lambda: os.environ.__setitem__("SCALE", "7")),
    ],
    ids=["array", "item", "length", "environment"],
)
def test_methods_of_objects_are_called_again_at_every_call(function, change, graph_capture, monkeypatch):
    monkeypatch.setenv("SCALE", "1")
    x = torch.ones(2)
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
    assert torch.equal(jitted(x), function(x))
    change()
    assert torch.equal(jitted(x), function(x))


def test_attributes_of_an_object_are_guarded_so_that_calls_stay_warm():
    jitted = ttnn_jit.jit()(lambda x: x * SETTINGS.scale if isinstance(SETTINGS, Settings) else x)
    x = torch.ones(2)
    jitted(x)
    before = ttnn_jit.cache_info()
    jitted(x)
    assert ttnn_jit.cache_info().memory_hits == before.memory_hits + 1
    SETTINGS.scale = 5.0
    assert jitted(x)[0] == 5.0


@pytest.mark.parametrize(("first", "second"), [(torch.int32, torch.uint32), (torch.bfloat16, torch.uint16)])
def test_a_program_is_found_on_disk_whose_kernel_was_made_for_elements_of_another_type(
    first, second, cpu_device, monkeypatch
):
    """Copies of 32 bits are one kernel, whatever the bits mean."""
    swapped = ttnn_jit.jit(dynamic=False)(lambda x: ttnn.permute(x, (1, 0, 2)))
    for dtype in (first, second):
        x = ttnn.from_torch(torch.arange(2 * 3 * 8).reshape(2, 3, 8).to(dtype), device=cpu_device)
        swapped(x)
    swapped.clear()
    monkeypatch.setattr(stored_programs, "IN_MEMORY", weakref.WeakValueDictionary())
    before = compiles()
    assert swapped(x).shape == (3, 2, 8)
    assert compiles() == before


def test_a_function_that_is_defined_anew_finds_its_program_on_disk_or_by_an_equal_one_that_is_alive():
    def scaled(enable_cache):
        scale = 0.375
        return ttnn_jit.jit(enable_cache=enable_cache)(lambda x: ttnn.exp(x * scale) + 0.625)

    def compiled_by(function):
        before = compiles()
        function(torch.ones(7, 5))
        return compiles() - before

    first = scaled(enable_cache=False)
    assert [compiled_by(each) for each in (first, scaled(enable_cache=False))] == [1, 0]
    del first
    assert [compiled_by(scaled(enable_cache=False)) for _ in range(2)] == [1, 1]
    assert [compiled_by(scaled(enable_cache=True)) for _ in range(3)] == [1, 0, 0]
