"""Ops that say where a tensor lies, or of which type its elements are; and those that make or free one."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops import TYPECAST
from ttnn_jit.ops.families.text_operation import F64, REQUIRED, Role, TextCall, text
from ttnn_jit.specs.tensor_spec import DataType


def _cast_in_torch(torch: Any, call: TextCall) -> Any:
    return TYPECAST.golden(torch, call.input, call.result.dtype)


def _same_elements(_: Any, call: TextCall) -> Any:
    """The operand; the caller casts it to the element type of the result."""
    source: DataType = call.input.spec.dtype
    if call.element_types.get("result") == F64 and call.result.dtype is not source and source.itemsize > 2:
        raise DTypeError(f"not every number of {source.mlir} is a float32, which is how f64 is held")
    return call.input


SAME_ELEMENTS = text(
    "ttir.to_layout ttir.typecast ttir.ttnn_metal_layout_cast ttnn.to_layout ttnn.to_device ttnn.from_device "
    "ttnn.to_memory_config ttnn.typecast ttnn.to_dtype ttnn.to_tensor_spec ttnn.assign",
    "input",
    _same_elements,
    _cast_in_torch,
    takes_f64=True,
    virtual_grid_inverse_mapping=None,
    virtual_grid_forward_mapping=None,
)
MARKS = text(
    "debug.annotate debug.region_start debug.region_end debug.begin_trace debug.end_trace debug.hook "
    "debug.profiler_start debug.profiler_end debug.timestamp debug.snapshot",
    "operand",
    lambda _, call: call.operand,
    lambda _, call: call.operand,
    takes_f64=True,
    annotation="",
    region_id="",
    scope_id="",
    trace_id="",
)
ALLOCATION = text(
    "ttir.empty ttnn.empty tensor.empty ttir.alloc ttnn.alloc",
    "",
    lambda ops, call: ops.filled(0, call.result),
    lambda torch, call: torch.zeros(tuple(call.result.shape)),
    shape=(),
    address=0,
    size=0,
    memory_space=None,
    buffer_type=None,
    role=Role.ALLOCATES,
)
CALL_ONCE = text(
    "ttcore.load_cached",
    "inputs*",
    lambda _, call: call.inputs,
    lambda _, call: call.inputs,
    callee=REQUIRED,
    role=Role.CALLS_ONCE,
)
COMPOSITE = text(
    "ttcore.composite",
    "inputs*",
    lambda _, call: call.inputs,
    lambda _, call: call.inputs,
    composite_name="",
    decomposition=REQUIRED,
    composite_attributes=None,
    role=Role.CALLS,
)
NO_COMPUTATION = text(
    "ttnn.deallocate ttnn.get_device ttir.dealloc ttcore.device ttcore.get_device ttnn.create_global_semaphore "
    "ttnn.reset_global_semaphore ttnn.dump_tensor debug.breakpoint debug.print debug.dump debug.memory_snapshot",
    "inputs*",
    lambda *_: (),
    lambda *_: (),
    role=Role.NOTHING,
)

TEXTS = (SAME_ELEMENTS, MARKS, ALLOCATION, CALL_ONCE, COMPOSITE, NO_COMPUTATION)
