"""A loop around LlvmVector's text, compiled and called on numpy arrays: the smallest stand-in for a kernel.

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
from ttnn_jit.kernels.llvm_float import ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.runtime.executable import mapped
from ttnn_jit.runtime.image import Image, image_of

Build = Callable[[LlvmVector, list[str]], str]


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
    vector = f"<{isa.lanes} x float>"
    lines = []
    block = "loop"
    for u in range(unroll):
        b = LlvmVector(isa, module, prefix=f"u{u}.", block=block)
        names = []
        lines.append(f"%i{u} = add i64 %i, {u * isa.lanes}")
        for k in range(inputs):
            lines += [
                f"%p{u}.{k} = getelementptr float, ptr %in{k}, i64 %i{u}",
                f"%x{u}.{k} = load {vector}, ptr %p{u}.{k}, align 4",
            ]
            names.append(f"%x{u}.{k}")
        result = build(b, names)
        lines += b.lines
        lines += [
            f"%q{u} = getelementptr {output}, ptr %out, i64 %i{u}",
            f"store <{isa.lanes} x {output}> {result}, ptr %q{u}, align 2",
        ]
        block = b.block
    body = "\n  ".join(lines)
    arguments = ", ".join(f"ptr %in{k}" for k in range(inputs))
    return f"""
define void @f(ptr %out, i64 %n, {arguments}) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %{block} ]
  {body}
  %next = add i64 %i, {isa.lanes * unroll}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
{module.text()}
"""


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
    """`build` as a function of flat arrays, float32 in; a 16-bit output comes as uint16."""
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
    place = guest.place(out)
    guest.call("f", place, out.size, *map(guest.place, arrays))
    return guest.read(place, out)


@cache
def native_function(name: str, inputs: int, isa: HostIsa) -> Callable[..., np.ndarray]:
    """A function of VectorMath by name."""
    return native(lambda b, names: str(getattr(b, name)(*names)), inputs, isa)
