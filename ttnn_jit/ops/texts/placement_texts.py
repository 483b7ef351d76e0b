"""Ops that say where a tensor lies, or of which type its elements are; and those that make or free one."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops import TYPECAST
from ttnn_jit.ops.families.text_operation import REQUIRED, Role, TextCall, text


def _cast_in_torch(torch: Any, call: TextCall) -> Any:
    return TYPECAST.golden(torch, call.input, call.result.dtype)


SAME_ELEMENTS = text(
    "ttir.to_layout ttir.typecast ttir.ttnn_metal_layout_cast ttnn.to_layout ttnn.to_device ttnn.from_device "
    "ttnn.to_memory_config ttnn.typecast ttnn.to_dtype ttnn.to_tensor_spec ttnn.assign",
    "input",
    lambda _, call: call.input,  # the caller casts it to the element type of the result
    _cast_in_torch,
    moves=True,
    virtual_grid_inverse_mapping=None,
    virtual_grid_forward_mapping=None,
    preserveDataFormat=False,
)
MARKS = text(
    "debug.annotate debug.region_start debug.region_end debug.begin_trace debug.end_trace debug.hook "
    "debug.profiler_start debug.profiler_end debug.timestamp debug.snapshot",
    "operand",
    lambda _, call: call.operand,
    lambda _, call: call.operand,
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
    takes_quantized=True,
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
SUBGRAPH = text(
    "ttnn.d2m_subgraph",
    "inputs* outputs*",
    lambda _, call: call.inputs,
    lambda _, call: call.inputs,
    d2m_func=REQUIRED,
    role=Role.CALLS,
    calls="d2m_func",
)
TRACE = text(
    "ttnn.capture_or_execute_trace",
    "inputs*",
    lambda _, call: call.inputs,
    lambda _, call: call.inputs,
    capture_callee=REQUIRED,
    execute_callee=None,
    allocate_slots_callee=None,
    role=Role.TRACES,
    calls="capture_callee",
)
COPY = text(
    "ttnn.copy",
    "src dst",
    lambda _, call: call.src,
    lambda _, call: call.src,
    moves=True,
    updates="dst",
)
WRITE = text(
    "ttnn.write_tensor",
    "host_tensor device_tensor",
    lambda _, call: call.host_tensor,
    lambda _, call: call.host_tensor,
    blocking=False,
    cq_id=0,
    moves=True,
    updates="device_tensor",
)
TRACE_NUMBER = text(
    "ttnn.begin_trace_capture",
    "",
    lambda ops, call: ops.filled(0, call.result),
    lambda torch, call: torch.zeros(tuple(call.result.shape)),
    cq_id=0,
)
NO_COMPUTATION = text(
    "ttnn.deallocate ttnn.dealloc ttnn.get_device ttnn.open_device ttnn.close_device ttir.dealloc ttcore.device "
    "ttcore.get_device ttnn.create_global_semaphore ttnn.reset_global_semaphore ttnn.allocate_moe_compute_semaphore "
    "ttnn.end_trace_capture ttnn.execute_trace ttnn.dump_tensor debug.breakpoint debug.print "
    "debug.dump debug.memory_snapshot",
    "inputs*",
    lambda *_: (),
    lambda *_: (),
    role=Role.NOTHING,
)

TEXTS = (
    SAME_ELEMENTS,
    MARKS,
    ALLOCATION,
    CALL_ONCE,
    COMPOSITE,
    SUBGRAPH,
    TRACE,
    COPY,
    WRITE,
    TRACE_NUMBER,
    NO_COMPUTATION,
)
