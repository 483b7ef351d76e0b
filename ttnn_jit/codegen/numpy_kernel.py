"""Kernels for hosts that no native code is generated for: the same bodies over numpy, called like native ones.

A `NumpyKernel` stands at an address with the signature of native kernels, ``void (ptr pointers, ptr params)``, so that
whatever launches kernels launches it too. It computes a body's steps on whole rows at a time with the arithmetic of
the tile interpreter: the bits are those of native code. Slow, and it holds Python's lock; `ttnn_jit.kernels.isa` says
which hosts need it. `interpreted_program` is to these kernels what `generate` and `assemble` are to native ones::

    plan, objects = interpreted_program(module)     # module as d2m-insert-dst-register-access left it
    program = Program(plan, objects)

The objects hold addresses of this process: such a program must not be stored.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.codegen.assemble import assemble
from ttnn_jit.codegen.body_analysis import operation_of_tile
from ttnn_jit.codegen.host_program import planned
from ttnn_jit.codegen.steps import Apply, Cast, Constant, KernelBody, Load, Store
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_module import LlvmModule
from ttnn_jit.kernels.numpy_vector import NumpyVector
from ttnn_jit.runtime.plan import ProgramPlan
from ttnn_jit.tensor_spec import DataType

Array = np.ndarray[Any, Any]
_Signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


_KERNELS: dict[str, tuple[NumpyKernel, bytes]] = {}
"""By name, with the object code that calls them; native code points at them, so they live as long as the process."""

# Of no instruction set in particular: LLVM's baseline for this process.
_ANY_HOST = HostIsa("any", cpu="", features="", lanes=1)


def interpreted_program(module: ModuleOp) -> tuple[ProgramPlan, dict[str, bytes]]:
    """Plan of a scheduled module and, by name, object code whose functions call back into numpy.

    Raises:
        CompileError: The module holds what is no scheduled kernel.
    """
    _, plan = planned(module, _registered)
    return plan, {name: _KERNELS[name][1] for name in plan.kernels}


def _registered(body: KernelBody) -> tuple[str, int]:
    # 0 picoseconds: a kernel that holds Python's lock is not shared among threads.
    name = f"n_{hashlib.sha256(repr(body).encode()).hexdigest()[:16]}"
    if name not in _KERNELS:
        kernel = NumpyKernel(body)
        _KERNELS[name] = kernel, assemble(_call_module(name, kernel.address), _ANY_HOST)
    return name, 0


def _call_module(name: str, address: int) -> LlvmModule:
    return LlvmModule(
        f"define void @{name}(ptr %pointers, ptr %params) nounwind {{\n"
        f"  call void inttoptr (i64 {address} to ptr)(ptr %pointers, ptr %params)\n  ret void\n}}\n"
    )


class NumpyKernel:
    """A body, callable at `address` for as long as the object lives.

    Attributes:
        body: What it computes.
        address: Of the function ``void (ptr pointers, ptr params)``; see `ttnn_jit.codegen.launch` for the words.
    """

    def __init__(self, body: KernelBody) -> None:
        self.body = body
        self._math = NumpyVector()
        self._callback = _Signature(self._run)
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        assert address is not None
        self.address: int = address

    def _run(self, pointers: int, params: int) -> None:
        streams, loops = self.body.streams, self.body.rank + 1
        words = np.ctypeslib.as_array((ctypes.c_int64 * (loops * (1 + len(streams)))).from_address(params))
        bases = (ctypes.c_void_p * len(streams)).from_address(pointers)
        extents = tuple(int(extent) for extent in words[:loops][::-1])
        if 0 in extents:
            return
        arrays = []
        for k, (stream, base) in enumerate(zip(streams, bases, strict=True)):
            strides = [int(stride) for stride in words[loops * (k + 1) : loops * (k + 2)][::-1]]
            arrays.append(_strided(base, stream.dtype.traits.numpy, extents, strides))
        with NumpyVector.quiet():
            self._compute(arrays)

    def _compute(self, arrays: Sequence[Array]) -> None:
        values: list[Any] = []
        for step in self.body.steps:
            match step:
                case Load():
                    values.append(self._math.loaded(arrays[step.stream], self._dtype(step.stream)))
                case Cast():
                    same = step.dtype is self.body.dtype_of(step.operand)
                    tile, numerics = values[step.operand], self.body.numerics
                    values.append(tile if same else self._math.round_to(tile, step.dtype, numerics))
                case Apply():
                    values.append(self._applied(step, values))
                case Store():
                    arrays[step.stream][...] = self._math.stored(values[step.operand], self._dtype(step.stream))
                    values.append(None)

    def _applied(self, step: Apply, values: Sequence[Any]) -> Any:
        operands = [
            self._math.const(operand.value) if isinstance(operand, Constant) else values[operand]
            for operand in step.operands
        ]
        numbers = [number.value for number in step.numbers]
        exact = operation_of_tile(step.tile_name).tile_body(self.body.numerics)(self._math, *operands, *numbers)
        return self._math.round_to(exact, step.dtype, self.body.numerics)

    def _dtype(self, stream: int) -> DataType:
        return self.body.streams[stream].dtype


def _strided(base: int, word: Any, extents: tuple[int, ...], strides: Sequence[int]) -> Array:
    """The elements that a walk from `base` meets; strides count elements and may be negative."""
    itemsize = np.dtype(word).itemsize
    below = sum((extent - 1) * min(stride, 0) for extent, stride in zip(extents, strides, strict=True))
    above = sum((extent - 1) * max(stride, 0) for extent, stride in zip(extents, strides, strict=True))
    lowest = base + below * itemsize
    buffer = (ctypes.c_char * ((above - below + 1) * itemsize)).from_address(lowest)
    flat = np.frombuffer(buffer, word)
    return np.lib.stride_tricks.as_strided(flat[-below:], extents, [stride * itemsize for stride in strides])
