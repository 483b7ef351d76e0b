"""A function of one bfloat16 as a table: each of the 65,536 results is computed once, then looked up.

A lane's bits never depend on other lanes, so a table that the kernel's own code fills holds the bits of that code for
any function. A launch that finds the table empty fills it; concurrent launches write the same bits, and none waits. A
table is used by launches of at least as many elements as it has entries, so the first launch costs at most the lookups
more than without a table.

Bound: a load and an insert per element, from the L1 cache if the used entries fit there, as those of activations do
    (512 bytes per binade), else from the L2 cache. AVX-512's gather is slower. Lookups of elements that a kernel has
    just computed wait in the reorder buffer for that computation. Rates: benchmarks/results/vector_math.md.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.function import FunctionBuilder
from ttnn_jit.kernels.llvm.instructions import Instructions
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction, NestedCall
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I16, I32, VOID
from ttnn_jit.kernels.llvm.values import Value, i32
from ttnn_jit.nest.limits import ENTRIES, LINE

_BLOCK = 1 << 10  # entries that one call fills
_FILL = "ttnn_jit.fill"


def results(b: Instructions) -> Value:
    """The address of the module's table."""
    return b.variable("ttnn_jit.results", I16, ENTRIES, LINE)


def lookup_table(name: str, look_up: str, function: str, module: ModuleText) -> list[str]:
    """The functions of the kernel `name`, whose table is a variable of the module.

    Args:
        name: Symbol of the kernel.
        look_up: Symbol of the kernel function that looks up the filled table.
        function: Symbol of the kernel function, over one run of bfloat16, that computes the entries.
        module: Receives the declarations.
    """
    kernel = KernelFunction(name, module, (), 0)
    filled = kernel.variable("ttnn_jit.filled", I32)
    with kernel.when(kernel.compare("eq", kernel.atomic_load(I32, filled, "acquire"), 0), "fill"):
        kernel.call(VOID, _FILL)
        kernel.atomic_store(i32(1), filled, "release")
    kernel.call(VOID, look_up, *kernel.parameters)
    return [_fill_function(function, module), kernel.build()]


def _fill_function(function: str, module: ModuleText) -> str:
    # It runs once: optimising it would cost more than it saves.
    b = FunctionBuilder(_FILL, module, (), is_internal=True, attributes="noinline optnone cold nounwind")
    table = results(b)
    arguments = b.alloca(I16, _BLOCK, LINE, "arguments")
    call = NestedCall(b, function, 2, [_BLOCK, 1, 1])
    with b.count("first", ENTRIES, step=_BLOCK) as block:
        with b.count("at", _BLOCK) as entry:
            b.store(b.narrow(b.add(block.index, entry.index), I16), b.element(arguments, I16, entry.index))
        call.run(arguments, b.element(table, I16, block.index))
    return b.build()
