"""Names of ttnn that are not here, each with its reason."""

from __future__ import annotations

_NO_MATMUL = "matrix multiplication is not implemented"
_NO_REDUCTION = "reductions are not implemented"
_NO_MOVEMENT = "operations that move data are not implemented; do it in torch before `from_torch`"
_NO_COMPOSITE = "composites with a reduction are not implemented"
_NO_MESH = "devices of a mesh exchange nothing here"
_NO_TRACE = "traces are not implemented; a call of a jitted function costs about a microsecond"
_NO_DTYPE = "only float32 and bfloat16 are implemented"
_NO_PROFILER = "there is no device profiler; time the calls"
_NO_FILES = "tensors in files are not implemented; use `torch.save` and `torch.load`"

_BY_REASON: dict[str, tuple[str, ...]] = {
    _NO_MATMUL: ("linear", "matmul"),
    _NO_REDUCTION: ("argmax", "max", "mean", "min", "prod", "std", "sum", "topk", "var"),
    _NO_MOVEMENT: (
        "arange", "concat", "embedding", "gather", "pad", "permute", "rearrange", "repeat", "reshape", "slice", "split",
        "squeeze", "tilize", "transpose", "unsqueeze", "untilize",
    ),
    _NO_COMPOSITE: ("batch_norm", "group_norm", "layer_norm", "rms_norm", "softmax"),
    _NO_MESH: ("all_gather", "all_reduce", "reduce_scatter"),
    _NO_TRACE: ("begin_trace_capture", "end_trace_capture", "execute_trace", "release_trace"),
    _NO_DTYPE: (
        "bfloat4_b", "bfloat8_b", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "int32", "uint16",
        "uint32", "uint8",
    ),
    _NO_PROFILER: ("ReadDeviceProfiler", "get_all_programs_perf_data"),
    _NO_FILES: ("dump_tensor", "load_tensor"),
}  # fmt: skip

ABSENT = {name: reason for reason, names in _BY_REASON.items() for name in names}
"""Name of ttnn -> why it is not here."""
