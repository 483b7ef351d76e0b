"""A loop around the output of LlvmVector, compiled and called on numpy arrays: the smallest kernel.

Code for another architecture is called in an emulator.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial

import llvmlite.binding as llvm
import numpy as np

from tests.unit.kernels.emulated import Machine, is_foreign
from ttnn_jit.kernels.isa import HostIsa, isa_for
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I64, PTR, type_of
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.runtime.native.executable import mapped
from ttnn_jit.runtime.native.image import Image, image_of

Build = Callable[[LlvmVector, list[Value]], Value]


def host_isa() -> HostIsa:
    llvm.initialize_native_target()
    return isa_for(llvm.get_host_cpu_name(), llvm.get_host_cpu_features(), llvm.get_process_triple())


def machine(isa: HostIsa, level: int = 2) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(isa.triple or llvm.get_process_triple())
    return target.create_target_machine(cpu=isa.cpu, features=isa.features, opt=level, reloc="pic", codemodel="small")


def loop_text(build: Build, inputs: int, isa: HostIsa, output: str = "float", unroll: int = 1) -> str:
    """LLVM text of ``void f(ptr out, i64 n, ptr in0, ...)``; n a multiple of lanes * unroll, inputs float32."""
    module = ModuleText()
    sources = (Parameter(f"in{k}", PTR) for k in range(inputs))
    b = FunctionBuilder("f", module, [Parameter("out", PTR), Parameter("n", I64), *sources])
    out, n, *addresses = b.parameters
    with b.count("i", n, step=isa.lanes * unroll) as i:
        for u in range(unroll):
            at = b.add(i.index, u * isa.lanes)
            x = [b.load(FLOAT.times(isa.lanes), b.element(address, FLOAT, at), 4) for address in addresses]
            result = build(LlvmVector(isa, module, b.body), x)
            b.store(result, b.element(out, type_of(output), at), 2)
    b.ret()
    return f"{b.text}\n{module.text()}\n"


def function_of(text: str, inputs: int, isa: HostIsa, output: type, level: int) -> Callable[..., np.ndarray]:
    """@f of `text` on flat float32 arrays of equal size, a multiple of the lanes."""
    module = llvm.parse_assembly(text)
    module.verify()
    llvm.initialize_native_asmprinter()
    code = image_of(machine(isa, level).emit_object(module))
    if is_foreign(code):
        return partial(emulated, code, output)
    image = Image.read(code)
    address = mapped(image, {}) + image.functions["f"]
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * inputs)(address)

    def call(*arrays: np.ndarray) -> np.ndarray:
        out = np.empty(arrays[0].size, output)
        function(out.ctypes.data, out.size, *(array.ctypes.data for array in arrays))
        return out

    return call


def assembly(text: str, isa: HostIsa, level: int = 2) -> str:
    module = llvm.parse_assembly(text)
    module.verify()
    return str(machine(isa, level).emit_assembly(module))


def native(build: Build, inputs: int, isa: HostIsa, output: str = "float", level: int = 2) -> Callable[..., np.ndarray]:
    """`build` as a function of flat float32 arrays; a 16-bit output is returned as uint16."""
    element = np.float32 if output == "float" else np.uint16
    function = function_of(loop_text(build, inputs, isa, output), inputs, isa, element, level)

    def call(*arrays: np.ndarray) -> np.ndarray:
        count = arrays[0].size
        padding = np.zeros(-count % isa.lanes, np.float32)
        return function(*(np.concatenate([array, padding]) for array in arrays))[:count]

    return call


def emulated(code: bytes, output: type, *arrays: np.ndarray) -> np.ndarray:
    """@f of aarch64 code."""
    guest = Machine(code)
    out = np.empty(arrays[0].size, output)
    address = guest.write(out)
    guest.call("f", address, out.size, *map(guest.write, arrays))
    return guest.read(address, out)


@cache
def native_function(name: str, inputs: int, isa: HostIsa) -> Callable[..., np.ndarray]:
    """A function of VectorMath by name."""
    return native(lambda b, x: getattr(b, name)(*x), inputs, isa)
