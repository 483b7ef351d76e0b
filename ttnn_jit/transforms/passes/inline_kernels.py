"""The inverse of convert-d2m-to-ttnn: inlines kernel functions into their launches, so that a host program can run."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import d2m, ttnn
from ttnn_jit.dialects.d2m_generic import PRINTED_PROPERTIES
from ttnn_jit.dialects.functions import KERNEL, functions_of, is_kernel
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.writing.creation import SEGMENTS, segments
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild
from ttnn_jit.transforms.kernels.tile_inits import erase_tile_inits
from ttnn_jit.transforms.passes.convert_ttnn_to_ttir import without_device


def inline_kernels(module: ModuleOp) -> None:
    """Replaces every `ttnn.generic` of `module` by the `d2m.generic` that it launches, and erases the kernel functions.

    Deallocations are erased: codegen computes live ranges itself.

    Raises:
        CompileError: A launch names a function that is no kernel of the module.
    """
    functions = functions_of(module)
    kernels = {function.sym_name.data: function for function in functions if is_kernel(function)}

    def inline(op: Operation, values: ValueMap) -> Iterable[Operation] | None:
        if not isinstance(op, ttnn.GenericOp):
            return without_device(op, values)
        kernel = kernels.get(op.kernel)
        if kernel is None:
            raise _refusal(op, "is no kernel of the module")
        return values.replaced(op, _generic(kernel, op, values))

    for function in functions:
        if is_kernel(function):
            module.body.block.detach_op(function)
    for function in functions:
        if not is_kernel(function):
            rebuild(function.body.block, inline)


def _refusal(launch: ttnn.GenericOp, reason: str) -> CompileError:
    """The error of a launch whose kernel cannot be inlined."""
    return CompileError(f"`ttnn.generic` launches @{launch.kernel}, which {reason}", location=location_of(launch))


def _generic(kernel: FuncOp, launch: ttnn.GenericOp, values: ValueMap) -> d2m.GenericOp:
    region = kernel.body.clone()  # several launches may name one kernel
    erase_tile_inits(region)
    if missing := [name for name in PRINTED_PROPERTIES if name not in kernel.attributes]:
        raise _refusal(launch, f"has no {', '.join(missing)}")
    last = region.block.last_op
    if isinstance(last, ReturnOp):
        erase(last)
    attributes = {name: value for name, value in kernel.attributes.items() if name not in (*PRINTED_PROPERTIES, KERNEL)}
    sizes = segments(len(launch.operands) - len(launch.results), len(launch.results))
    return d2m.GenericOp.create(
        operands=values.operands(launch),
        result_types=launch.result_types,
        properties={name: kernel.attributes[name] for name in PRINTED_PROPERTIES} | {SEGMENTS: sizes},
        attributes=attributes,
        regions=(region,),
        location=launch.location,
    )
