"""Names of ttnn and operators of Python that are not supported, each with the reason or a replacement."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import NO_DTYPE

_NO_MESH = "use `ttnn.all_reduce`, and read the root's tensor"
_NO_KERNELS = "a CPU runs no kernels of a chip; write the operation by `@ttnn_jit.tile_op`, or of ttnn's operations"
_NO_HALO = "convolutions and pools read the elements around a shard in place, whatever the sharding"
_NO_PROFILER = "there is no device profiler; time the calls"

_BY_REASON: dict[str, tuple[str, ...]] = {
    _NO_MESH: ("reduce_to_root",),
    _NO_KERNELS: (
        "CBDescriptor", "CBFormatDescriptor", "ComputeConfigDescriptor", "DataMovementConfigDescriptor",
        "DataMovementProcessor", "KernelDescriptor", "MeshProgramDescriptor", "NOC", "NOC_MODE", "ProgramDescriptor",
        "ReaderConfigDescriptor", "RuntimeArgs", "RuntimeArgsColProxy", "SemaphoreDescriptor", "TensorAccessorArgs",
        "TileDescriptor", "UnpackToDestMode", "WriterConfigDescriptor", "cb_descriptor_from_sharded_tensor",
        "compute_program_descriptor_hash", "generic_op", "get_cb_address", "merge_program_descriptors",
    ),
    NO_DTYPE: ("fp8_e4m3", "int8"),
    _NO_HALO: ("SlidingWindowConfig", "SlidingWindowParallelConfig", "halo"),
    _NO_PROFILER: ("get_all_programs_perf_data",),
}  # fmt: skip

ABSENT = {name: reason for reason, names in _BY_REASON.items() for name in names}
"""Name of ttnn -> why it is not supported."""


@dataclass(frozen=True)
class AbsentOperator:
    """An operator of Python that tensors lack, eager or compiled.

    Attributes:
        symbol: The operator in source code.
        methods: The special methods that it calls.
        instead: The replacement to write.
    """

    symbol: str
    methods: tuple[str, ...]
    instead: str


def _two_sided(symbol: str, stem: str, instead: str) -> AbsentOperator:
    return AbsentOperator(symbol, (f"__{stem}__", f"__r{stem}__"), instead)


ABSENT_OPERATORS = (
    _two_sided("//", "floordiv", "write `ttnn.floor_divide(x, y)`"),
    _two_sided("%", "mod", "write `ttnn.remainder(x, y)`, or `ttnn.fmod(x, y)` for the sign of x"),
    AbsentOperator("+", ("__pos__",), "write `x`"),
)
