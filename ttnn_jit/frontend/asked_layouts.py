"""What a program's tensors say of where they lie: what `memory_config=` of the calls that made them asked for.

Inside a jitted function a kernel's result lies where its operands do, whatever is asked (the ttnn.jit document). So a
tensor says what it would say eagerly, and is brought there for an operation whose numbers depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.frontend.asked_results import Asked
from ttnn_jit.frontend.module_builder import TensorOperand
from ttnn_jit.ops import BoundCall
from ttnn_jit.ops.result_places import result_config
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, TensorSpec, checked

if TYPE_CHECKING:
    from ttnn_jit.frontend.emitter import Emitter
    from ttnn_jit.frontend.proxy import ProxyTensor


def note_layouts(emitter: Emitter, bound: BoundCall, results: Sequence[ProxyTensor], asked: Asked) -> None:
    """Have the results of a call say where they would lie eagerly; nothing where an eager call would be refused."""
    given = [value for value in bound.operands if hasattr(type(value), "__ttnn_call__")]
    if asked.memory_config is None and all(value.asked is None for value in given):
        return
    operands = [value.spec if hasattr(type(value), "__ttnn_call__") else value for value in bound.operands]
    try:
        by_rule = bound.operation.results(operands, bound.attributes)
        wanted = [_placed(emitter, bound, given[0].spec, spec, asked) for spec in by_rule]
    except TtnnJitError:
        return
    for result, spec in zip(results, wanted, strict=True):
        held = result.held[1]
        result.asked = None if spec is held or held.memory_config == HOST_MEMORY_CONFIG else spec


def _placed(emitter: Emitter, bound: BoundCall, first: TensorSpec, spec: TensorSpec, asked: Asked) -> TensorSpec:
    dtype = asked.dtype or spec.dtype
    if asked.memory_config is None:
        return spec.with_(dtype=dtype)
    place = result_config(bound.operation, first, emitter.builder.target.grid, asked.memory_config)
    return checked(spec.with_(dtype=dtype, memory_config=place(spec)))


def brought_there(emitter: Emitter, tensor: ProxyTensor, held: TensorOperand) -> TensorOperand:
    """What `tensor` holds, where it says that it lies."""
    return held if tensor.asked is None else emitter.builder.laid_out(held, tensor.asked, emitter.location())
