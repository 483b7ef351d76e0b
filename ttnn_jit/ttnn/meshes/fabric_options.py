"""Options of collectives that choose how chips transfer data; checked, and without effect on any result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict

from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.specs.tensor_spec import CoreRangeSet, MemoryConfig
from ttnn_jit.ttnn.devices.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.meshes.topology import Topology
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS

PositiveInt = Annotated[int, "at least 1"]


class WorkerOptions(TypedDict, total=False):
    """Options of the workers that transfer data on a chip."""

    barrier_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None
    chunks_per_sync: PositiveInt | None
    final_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None
    intermediate_memory_config: MemoryConfig | None
    num_buffers_per_channel: PositiveInt | None
    num_links: PositiveInt | None
    num_workers_per_link: PositiveInt | None
    sub_core_grids: CoreRangeSet | None
    sub_device_id: SubDeviceId | None
    subdevice_id: SubDeviceId | None
    use_optimal_ccl_for_llama: bool | None


class FabricOptions(WorkerOptions, total=False):
    """Options of the links between chips, which change no result."""

    topology: Topology | None


WITHOUT_LINKS = {NO_LINKS: " ".join(FabricOptions.__annotations__)}
"""Why the options have no effect."""
