"""Hand-written kernels: f32 elementwise, `params` = [number of elements]."""

from __future__ import annotations

from functools import cache

import llvmlite.binding as llvm

from ttnn_jit.runtime.native.image import image_of
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.plans.launch_bounds import Signature
from ttnn_jit.runtime.programs.program import Launch, Program, ProgramPlan
from ttnn_jit.specs.tensor_spec import BufferType, DataType, Layout, TensorSpec

TEXT = """
define void @{name}(ptr %pointers, ptr %params) {{
entry:
  %n = load i64, ptr %params
  %x = load ptr, ptr %pointers
  %y.at = getelementptr ptr, ptr %pointers, i64 1
  %y = load ptr, ptr %y.at
  %z.at = getelementptr ptr, ptr %pointers, i64 {last}
  %z = load ptr, ptr %z.at
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %a.at = getelementptr float, ptr %x, i64 %i
  %a = load float, ptr %a.at
  %b.at = getelementptr float, ptr %y, i64 %i
  %b = load float, ptr %b.at
  %r = {expression}
  %r.at = getelementptr float, ptr %z, i64 %i
  store float %r, ptr %r.at
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
UNARY = {"t_neg": "fneg float %a", "t_double": "fadd float %a, %a"}
BINARY = {"t_add": "fadd float %a, %b", "t_sub": "fsub float %a, %b"}


@cache
def object_code(name: str) -> bytes:
    """The image of one of the kernels."""
    return image_of(object_file(name), Signature(1, (("float", 1),) * (3 if name in BINARY else 2), 1).to_json())


@cache
def object_file(name: str) -> bytes:
    """LLVM's object code of one of the kernels."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu = host_cpu()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=cpu.name, reloc="pic", codemodel="small")
    expression = (UNARY | BINARY)[name]
    text = TEXT.format(name=name, expression=expression, last=2 if name in BINARY else 1)
    code: bytes = machine.emit_object(llvm.parse_assembly(text))
    return code


def row_major(*shape: int) -> TensorSpec:
    return TensorSpec(shape, DataType.FLOAT32, Layout.ROW_MAJOR, buffer_type=BufferType.DRAM)


def tiled(*shape: int) -> TensorSpec:
    return TensorSpec(shape, DataType.FLOAT32, Layout.TILE)


def program(spec: TensorSpec, inputs: int, *steps: tuple[str, tuple[int, ...]], temps: int = 0, **fields) -> Program:
    """A program of one output over tensors of one spec; a step is a kernel and its buffer indices."""
    elements = spec.nbytes // 4
    launches = tuple(Launch(kernel, operands, (elements, *[1] * len(operands))) for kernel, operands in steps)
    plan = ProgramPlan("test", (spec,) * inputs, (spec,), (spec,) * temps, launches, **fields)
    return Program(plan, {kernel: object_code(kernel) for kernel in plan.kernels})
