"""convert-d2m-to-ttkernel: a reader, a compute kernel and a writer of each kernel, as functions of ttkernel ops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttnn_jit.dialects import system_desc_of
from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.transforms.function_bodies import require_converted

THREAD = "d2m.thread"
"""Attribute of a function that is already a thread of a kernel, as tt-mlir writes them."""


@dataclass(frozen=True)
class ConvertD2MToTTKernel(ModulePass):
    """Replaces every scheduled kernel by three functions, which the cores of its grid run as threads.

    ``%r = d2m.generic {...} ins(%a) outs(%out) {region}`` in ``@f`` becomes::

        %cast = ttir.ttnn_metal_layout_cast %a : tensor<...> -> memref<1x1x2x2x!ttcore.tile<...>, ...>
        %alloc = memref.alloc() {address = 32 : i64} : memref<1x1x2x2x!ttcore.tile<...>, ...>
        %cb0 = memref.alloc() {address = 103712 : i64} : memref<1x1x!ttcore.tile<...>, #ttcore.cb_layout<...>, ...>
        d2m.generic {grid, threads = [#d2m.thread<datamovement, @datamovement_kernel0, dm_core = 1>,
                     #d2m.thread<compute, @compute_kernel1>, #d2m.thread<datamovement, @datamovement_kernel2, ...>]}
            ins(%cast) outs(%alloc) additionalArgs(%cb0, %cb1)
        %r = ttir.ttnn_metal_layout_cast %alloc : memref<...> -> tensor<...>

    A reader moves the blocks of the inputs to circular buffers in the order in which the compute kernel takes them; a
    circular buffer holds two blocks. Where DST is acquired and the tiles that it holds are those of
    `d2m-insert-dst-register-access`. An op that prepares the core's engines precedes each tile function.
    """

    name = "convert-d2m-to-ttkernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Converts the kernels of all functions."""
        from ttnn_jit.transforms.kernel_level.host_side import KernelLowering, KernelNames, erase_unused

        lowering = KernelLowering(system_desc_of(op), KernelNames(op))
        for function in functions_of(op):
            kernels = [
                kernel
                for each in [*function.body.block.ops]
                if isinstance(each, GenericOp)
                for kernel in lowering.lower(each)
            ]
            erase_unused(function.body.block.ops)
            op.body.block.insert_ops_after(kernels, function)
            if THREAD in function.attributes:
                require_converted(function.walk(), "d2m")
