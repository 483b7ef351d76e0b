"""Rare paths are assembled once, separately from their kernels; shared ones are emitted once."""

import re

import numpy as np
import pytest
import torch

import ttnn_jit
from tests.unit.codegen.programs import scheduled
from tests.unit.codegen.test_llvm_kernel import hot_loop, kernel_in
from ttnn_jit import ttnn
from ttnn_jit.codegen.images.assemble import assembly
from ttnn_jit.codegen.writing import llvm_kernel
from ttnn_jit.compiler import driver
from ttnn_jit.kernels.contraction import contracting_loops
from ttnn_jit.kernels.contraction.contracting_packing import Packing
from ttnn_jit.kernels.contraction.contracting_unpacking import Unpacking
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

SPEC = TensorSpec((40, 33), DataType.FLOAT32, Layout.ROW_MAJOR)
ISAS = pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)


def module_of(*ops):
    return scheduled([SPEC], ops, target="cpu")


def without_names_of_rare_paths(loop):
    return [re.sub(r"ttnn_jit\.\w+(\.\w+)*(@PLT)?", "rare", line) for line in loop]


@ISAS
def test_the_hot_loop_is_that_of_the_text_with_its_rare_path(isa):
    modules = kernel_in(module_of(("sin", 0)), isa).modules
    whole, hot = (hot_loop(assembly(each, isa)) for each in (modules.whole, modules.kernel))
    assert without_names_of_rare_paths(hot) == without_names_of_rare_paths(whole)


@ISAS
def test_kernels_share_a_rare_path_by_its_content(isa):
    alone = kernel_in(module_of(("sin", 0)), isa).modules
    beside_others = kernel_in(module_of(("exp", 0), ("sin", 1), ("cos", 2)), isa).modules
    (symbol,) = alone.rare_paths
    assert symbol in beside_others.rare_paths
    assert len(beside_others.rare_paths) == 2
    assert "noinline cold" not in beside_others.kernel.text


@ISAS
@pytest.mark.parametrize("function", ["sin", "cos", "tan", "rsqrt", "sin_bfloat16", "tan_bfloat16"])
def test_a_rare_path_is_emitted_once_for_all_modules(function, isa):
    modules = ModuleText(), ModuleText()
    for module in modules:
        b = LlvmVector(isa, module)
        getattr(b, function)(b.new(FLOAT.times(isa.lanes), "x"))
    first, second = (module.rare_paths for module in modules)
    assert [*first] == [*second] != []
    assert all(first[symbol] is second[symbol] for symbol in first)
    assert modules[0].declarations == modules[1].declarations != {}


@ISAS
def test_modules_share_no_declarations_through_a_rare_path(isa):
    first, second = ModuleText(), ModuleText()
    for module, more in ((first, "floor"), (second, "ceil")):
        b = LlvmVector(isa, module)
        x = b.new(FLOAT.times(isa.lanes), "x")
        b.sin(x)
        getattr(b, more)(x)
    differing = first.declarations.keys() ^ second.declarations.keys()
    assert sorted(each.partition("llvm.")[2].partition(".")[0] for each in differing) == ["ceil", "floor"]


DEVICE = ttnn.open_device(device_id=0, target="cpu")
PACKED = {ttnn.float32: Packing, ttnn.bfloat16: Packing, ttnn.bfloat8_b: Unpacking}


@pytest.mark.parametrize("dtype", PACKED, ids=lambda dtype: dtype.mlir)
def test_products_share_the_functions_that_pack(dtype, monkeypatch):
    """The rare paths of kernels with different loops after the product equal those that each emits alone."""
    written, kind = [], PACKED[dtype]
    functions = kind.functions
    monkeypatch.setattr(kind, "functions", lambda packing: (written.append(packing), functions(packing))[1])
    a, b = (ttnn.from_torch(torch.zeros(96, 96), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=DEVICE) for _ in "ab")

    def packing_of(behind):
        llvm_kernel.kernel_of.cache_clear()
        text = ttnn_jit.jit(lambda x, y: behind(ttnn.matmul(x, y)), graph_capture=True).ir(a, b, stage="codegen")
        return re.findall(r"define [^\n]*@ttnn_jit\.pack_.*?\n}", text, re.DOTALL)

    contracting_loops._functions_of.cache_clear()
    first, second = packing_of(ttnn.relu), packing_of(ttnn.exp)
    assert len(first) == len(written) * (3 if kind is Unpacking else 1)
    contracting_loops._functions_of.cache_clear()
    assert first == second == packing_of(ttnn.abs) != []


def test_a_kernel_without_rare_paths_is_not_changed():
    modules = kernel_in(module_of(("exp", 0)), AVX512).modules
    assert modules.kernel == modules.whole
    assert not modules.rare_paths


def test_a_program_carries_the_rare_paths_of_its_kernels():
    made = driver.compile_scheduled(module_of(("sin", 0)))
    again = Program.from_bytes(made.to_bytes())
    rare = [symbol for symbol in again.objects if symbol not in made.plan.kernels]
    assert len(rare) == 1
    x = np.linspace(1e30, 3e38, 40 * 33, dtype=np.float32)
    out = np.empty_like(x)
    again.run(x.ctypes.data, out.ctypes.data)
    assert np.abs(out - np.sin(x)).max() < 1e-6
