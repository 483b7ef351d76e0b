"""convert-d2m-to-ttmetal: launches as `ttmetal.enqueue_program`, allocations as `ttmetal.create_buffer`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class ConvertD2MToTTMetal(ModulePass):
    """Replaces every `d2m.generic` that names kernel functions, as `convert-d2m-to-ttkernel` leaves it.

    ``d2m.generic {grid, threads} ins(%a) outs(%out) additionalArgs(%cb0, %cb1)`` becomes::

        "ttmetal.enqueue_program"(%a, %out, %cb0, %cb1) <{cb_ports = array<i64: 0, 1>, kernelConfigs = [
            #ttmetal.noc_config<@datamovement_kernel0, #ttmetal.core_range<0x0, 8x8>, #ttmetal.kernel_args<...>, ...>,
            #ttmetal.compute_config<@compute_kernel1, ...>, #ttmetal.noc_config<@datamovement_kernel2, ...>]}>

    The arguments of a kernel are those of its ``ttkernel.arg_spec``, by their places in the program.
    """

    name = "convert-d2m-to-ttmetal"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Converts all launches and allocations."""
        from ttnn_jit.transforms.kernel_level.metal_program import lower_launches

        lower_launches(op)
