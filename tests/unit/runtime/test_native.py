"""Code is mapped wherever the address space has room."""

import subprocess
import sys
import weakref

import pytest

from tests.unit.codegen.programs import host_isa
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.runtime.native import executable, native

IN_A_TORN_ADDRESS_SPACE = """
import ctypes
from tests.unit.codegen.programs import host_isa, native, scheduled
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
import numpy as np

PAGE, FAR = 4096, 5 << 30
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
reserved = lambda size: libc.mmap(None, size, 0, 0x4022, -1, 0)  # private, anonymous, nothing behind it

x = np.linspace(-3, 3, 1024, dtype=np.float32).reshape(32, 32)
module = scheduled([TensorSpec((32, 32), DataType.FLOAT32, Layout.TILE)], [("exp", 0)])
native(module, [x])  # loads what there is to load
for _ in range(4000):
    reserved(PAGE)  # no small hole is left
libc.munmap(reserved(FAR + PAGE) + FAR, PAGE)  # but one, with the next 5 GB below it
module = scheduled([TensorSpec((32, 32), DataType.FLOAT32, Layout.TILE)], [("tanh", 0)])
(result,) = native(module, [x])
np.testing.assert_allclose(result, np.tanh(x), rtol=1e-6)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mmap's flags are those of Linux")
@pytest.mark.process
def test_code_and_its_constants_stay_close_in_fragmented_memory():
    done = subprocess.run([sys.executable, "-c", IN_A_TORN_ADDRESS_SPACE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_kernel_whose_loading_was_interrupted_is_loaded_again(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    code = assemble(LlvmModule("define void @interrupted_once() { ret void }"), host_isa())
    with monkeypatch.context() as patch:
        patch.setattr(native, "mapped", interrupted)
        with pytest.raises(KeyboardInterrupt):
            native.kernel_address("interrupted_once", code)
    assert native.kernel_address("interrupted_once", code)


def test_an_interrupt_leaves_no_memory_behind(monkeypatch):
    mapped = []

    def interrupted(memory):
        mapped.append(weakref.ref(memory))
        raise KeyboardInterrupt

    code = assemble(LlvmModule("define void @interrupted_late() { ret void }"), host_isa())
    monkeypatch.setattr(executable, "_keep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        native.kernel_address("interrupted_late", code)
    assert [memory() for memory in mapped] == [None]
