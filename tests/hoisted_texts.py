"""Texts of TTNN programs that call functions of the host's module, in LLVM's dialect."""

from __future__ import annotations

from collections.abc import Sequence

WRAPPED = "!llvm.struct<(ptr, ptr, i64, ptr)>"
BYTES = {"f32": 4, "f64": 8, "i32": 4, "i64": 8, "i8": 1, "i1": 1}

_RETURN = f"""\
      ^bb3:
        %size = llvm.mlir.constant(32 : i64) : i64
        %out = llvm.call @malloc(%size) : (i64) -> !llvm.ptr
        %extents = llvm.call @malloc(%size) : (i64) -> !llvm.ptr
        llvm.store %end, %extents : i64, !llvm.ptr
        %strides = llvm.getelementptr %extents[1] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %one, %strides : i64, !llvm.ptr
        %s0 = llvm.mlir.undef : {WRAPPED}
        %s1 = llvm.insertvalue %made, %s0[0] : {WRAPPED}
        %s2 = llvm.insertvalue %made, %s1[1] : {WRAPPED}
        %s3 = llvm.insertvalue %zero, %s2[2] : {WRAPPED}
        %s4 = llvm.insertvalue %extents, %s3[3] : {WRAPPED}
        llvm.store %s4, %out : {WRAPPED}, !llvm.ptr
        llvm.return %out : !llvm.ptr"""
"""The block that returns `%made`, a vector of `%end` elements, as a wrapped tensor."""


def elementwise(
    body: str,
    operands: Sequence[str] = ("f32",),
    result: str = "f32",
    count: int = 8,
    further: str = "",
    name: str = "apply",
) -> str:
    """A function of the host that computes ``%y`` of ``%x0``, ``%x1``... for each of `count` elements.

    Args:
        body: The operations.
        operands: The element types of the operands.
        result: The element type of the result.
        count: The number of elements.
        further: Other operations of the host's module.
        name: The function.
    """
    lines = []
    for index in range(len(operands)):
        lines += [
            f"%w{index} = llvm.getelementptr inbounds %arg0[{4 * index}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr",
            f"%t{index} = llvm.load %w{index} : !llvm.ptr -> {WRAPPED}",
            f"%p{index} = llvm.extractvalue %t{index}[1] : {WRAPPED}",
        ]
    loads = []
    for index, kind in enumerate(operands):
        loads += [
            f"%a{index} = llvm.getelementptr inbounds|nuw %p{index}[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {kind}",
            f"%x{index} = llvm.load %a{index} : !llvm.ptr -> {kind}",
        ]
    newline = "\n        "
    return f"""
      llvm.func @malloc(i64) -> !llvm.ptr
      llvm.func @free(!llvm.ptr)
      {further}
      llvm.func @{name}(!llvm.ptr) -> !llvm.ptr attributes {{arg_ranks = {[1] * len(operands)}, result_ranks = [1]}} {{
      ^bb0(%arg0: !llvm.ptr):
        llvm.return %arg0 : !llvm.ptr
      }}
      llvm.func @{name}_helper(%arg0: !llvm.ptr) -> !llvm.ptr {{
        %zero = llvm.mlir.constant(0 : index) : i64
        %one = llvm.mlir.constant(1 : index) : i64
        %end = llvm.mlir.constant({count} : index) : i64
        %bytes = llvm.mlir.constant({count * BYTES[result]} : index) : i64
        {newline.join(lines)}
        %made = llvm.call @malloc(%bytes) : (i64) -> !llvm.ptr
        llvm.br ^bb1(%zero : i64)
      ^bb1(%i: i64):
        %more = llvm.icmp "slt" %i, %end : i64
        llvm.cond_br %more, ^bb2, ^bb3
      ^bb2:
        {newline.join(loads)}
        {newline.join(body.strip().splitlines())}
        %to = llvm.getelementptr inbounds|nuw %made[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {result}
        llvm.store %y, %to : {result}, !llvm.ptr
        %next = llvm.add %i, %one : i64
        llvm.br ^bb1(%next : i64)
{_RETURN}
      }}"""


def program(host: str, lines: str, arguments: Sequence[str], result: str, further: str = "") -> str:
    """A text of a device's module, whose function @main has these lines and returns ``%r``, and of a host's module."""
    given = ", ".join(f"%arg{index}: {kind}" for index, kind in enumerate(arguments))
    return f"""
module {{
  ttcore.device_module {{
    builtin.module {{
      func.func @main({given}) -> {result} {{
        {lines}
        return %r : {result}
      }}
      {further}
    }}
  }}
  ttcore.cpu_module {{
    builtin.module {{{host}
    }}
  }}
}}
"""


def called(
    body: str, operands: Sequence[str] = ("f32",), result: str = "f32", count: int = 8, further: str = ""
) -> str:
    """A text of one call of an `elementwise` function."""
    kinds = [f"tensor<{count}x{each}>" for each in operands]
    given = ", ".join(f"%arg{index}" for index in range(len(kinds)))
    call = f"%r = call @apply({given}) : ({', '.join(kinds)}) -> tensor<{count}x{result}>"
    return program(elementwise(body, operands, result, count, further), call, kinds, f"tensor<{count}x{result}>")
