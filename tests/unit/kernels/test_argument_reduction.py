"""Argument reductions, by the text of every instruction set that this host can run."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import numpy as np
import pytest

from tests.unit.kernels.native_loop import host_isa, machine
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.loops.argument_reduction import ArgumentReduction
from ttnn_jit.specs.dtypes import DataType

NUMPY = {DataType.FLOAT32: np.float32, DataType.INT32: np.int32, DataType.UINT8: np.uint8}


@pytest.mark.parametrize("is_dense", [True, False], ids=["rows", "columns"])
@pytest.mark.parametrize("dtype", NUMPY, ids=lambda dtype: dtype.name)
def test_every_instruction_set_finds_the_indices_of_numpy(dtype, is_dense):
    rng, host = np.random.default_rng(1), host_isa()
    for isa in (AVX512, AVX2, NEON):
        text = ModuleText()
        loops = ArgumentReduction("indices", dtype, 1, largest=True, is_dense=is_dense, isa=isa, module=text)
        module = llvm.parse_assembly(text.modules(loops.definitions()).whole.text)
        module.verify()
        assert machine(isa).emit_assembly(module)
        if isa.neon != host.neon or (isa.avx512 and not host.avx512) or (isa.avx2 and not host.avx2):
            continue
        engine = llvm.create_mcjit_compiler(module, machine(isa))
        engine.finalize_object()
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(engine.get_function_address("indices"))
        for count, width in ((1, 1), (40, 5), (130, 70), (2500, 33)):
            x = rng.integers(0, 5, (width, count)).astype(NUMPY[dtype])
            if dtype is DataType.FLOAT32:
                x[rng.random(x.shape) < 0.002] = np.nan
            laid = x if is_dense else np.ascontiguousarray(x.T)
            found = np.zeros(width, np.uint32)
            pointers = np.array([laid.ctypes.data, found.ctypes.data], np.uint64)
            params = np.array([count, width, *((1, count) if is_dense else (width, 1)), 0, 1], np.int64)
            function(pointers.ctypes.data, params.ctypes.data)
            assert (found == np.argmax(x, 1)).all(), (isa.name, count, width)
