"""Where a program's tensors say that they lie: there where `memory_config=` of the calls that made them asks for it.

Inside a jitted function a kernel's result lies where its operands do, whatever is asked (the ttnn.jit document). So a
tensor says what it would say eagerly, and is brought there for an operation whose numbers depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.frontend.module_builder import TensorOperand
from ttnn_jit.ops import BoundCall
from ttnn_jit.ops.result_options import ResultOptions
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG

if TYPE_CHECKING:
    from ttnn_jit.frontend.emitter import Emitter
    from ttnn_jit.frontend.proxy import ProxyTensor


def note_layouts(emitter: Emitter, bound: BoundCall, results: Sequence[ProxyTensor], options: ResultOptions) -> None:
    """Have the results of a call say where they would lie eagerly; nothing where an eager call would be refused."""
    given = [value for value in bound.operands if hasattr(type(value), "__ttnn_call__")]
    if options.memory_config is None and all(value.requested is None for value in given):
        return
    operands = [value.spec if hasattr(type(value), "__ttnn_call__") else value for value in bound.operands]
    grid = emitter.builder.target.grid
    try:
        by_rule = bound.operation.results(operands, bound.attributes)
        wanted = [options.spec(spec, bound.operation, given[0].spec, grid) for spec in by_rule]
    except TtnnJitError:
        return
    for result, spec in zip(results, wanted, strict=True):
        held = result.held[1]
        result.requested = None if spec is held or held.memory_config == HOST_MEMORY_CONFIG else spec


def brought_there(emitter: Emitter, tensor: ProxyTensor, held: TensorOperand) -> TensorOperand:
    """What `tensor` holds, where it says that it lies."""
    return held if tensor.requested is None else emitter.builder.laid_out(held, tensor.requested, emitter.location())
