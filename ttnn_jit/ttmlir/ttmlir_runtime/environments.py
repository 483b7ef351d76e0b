"""Names of tt-mlir's runtime that choose how a chip runs; on a processor most choose nothing."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NoReturn

from ttnn_jit.compiler.texts.text_programs import KeptResults
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription


class HostRuntime(enum.Enum):
    """Where the runtime is."""

    Local = 0
    Distributed = 1


class DistributedMode(enum.Enum):
    """How a distributed runtime would start its workers."""

    LocalSubprocess = 0
    MultiProcess = 1


class MemoryLogLevel(enum.Flag):
    """When memory is logged (`memory_log.py`)."""

    NONE = 0
    PROGRAM = 1
    OPERATION = 2
    ANY = 3


class Event:
    """The end of a submission, which has come when it returns."""


class TensorDesc:
    """The extents and the dtype of a tensor.

    Args:
        shape: Its extents.
        stride: Its strides, in elements.
        item_size: The bytes of an element.
        dtype: Its dtype.
        physical_volume: The number of its elements.
    """

    def __init__(self, shape: Any, stride: Any, item_size: int, dtype: Any, physical_volume: int) -> None:
        self.shape, self.stride, self.item_size = shape, stride, item_size
        self.dtype, self.physical_volume = dtype, physical_volume


class _Environment:
    """Settings of a chip, which are kept and choose nothing."""

    def __init__(self, *settings: Any, **named: Any) -> None:
        self.settings, self.named = settings, named

    @classmethod
    def get(cls, *settings: Any, **named: Any) -> _Environment:
        """The settings."""
        return cls(*settings, **named)

    def __str__(self) -> str:
        return f"{type(self).__name__}, without effect here"


class DebugEnv(_Environment):
    """Where kernels are written to and read from: programs here are compiled of operations."""


class WorkaroundEnv(_Environment):
    """Which workarounds for a chip are applied: none are."""


class PerfEnv(_Environment):
    """What tracy is told: there is none here, and `ttrt perf` measures operations."""

    def set_program_metadata(self, metadata: str) -> None:
        """Nothing: no profile is written."""

    def tracy_log_op_location(self, location: str) -> None:
        """Nothing: no profile is written."""

    def tracy_log_input_layout_conversion(self, is_conversion: bool) -> None:
        """Nothing: no profile is written."""

    def tracy_log_const_eval_program(self, is_const_eval: bool) -> None:
        """Nothing: no profile is written."""

    def tracy_log_program_metadata(self, metadata: str) -> None:
        """Nothing: no profile is written."""


class DebugStats(_Environment):
    """Counters: of functions of constants, as upstream names them, those of this process; of others, 0."""

    def get_stat(self, name: str) -> int:
        """How often it happened since the last `clear`."""
        return KeptResults.counts[_COUNTED[name]] if name in _COUNTED else 0

    def remove_stat(self, name: str) -> None:
        """Counts anew."""
        KeptResults.counts.pop(_COUNTED.get(name, ""), None)

    def clear(self) -> None:
        """Counts all anew."""
        KeptResults.counts.clear()


_COUNTED = {"ConstEvalCacheHit": "hit", "ConstEvalCacheMiss": "miss"}


def set_mlir_home(mlir_home: str) -> None:
    """Nothing: no file of tt-mlir is read."""


def set_metal_home(metal_home: str) -> None:
    """Nothing: no file of tt-metal is read."""


def get_current_host_runtime() -> HostRuntime:
    """The runtime of this process."""
    return HostRuntime.Local


def get_available_host_runtimes() -> list[HostRuntime]:
    """The runtime of this process alone."""
    return [HostRuntime.Local]


def set_current_host_runtime(runtime: HostRuntime) -> None:
    """Chooses the runtime of this process.

    Raises:
        NotImplementedError: Another one is chosen.
    """
    if runtime is not HostRuntime.Local:
        _no_workers()


def get_current_system_desc(*_: Any) -> SystemDescription:
    """The description of this system: that of ``SYSTEM_DESC_PATH``, else of a Wormhole.

    Raises:
        ArgumentError: The file is no description, or one of a cpu.
    """
    return SystemDescription.of_target(resolve_target(None))


def get_worker_debug_stats() -> list[Any]:
    """The counters of workers: there are none."""
    return []


def invoke_cpu_op(*_: Any) -> NoReturn:
    """Refused: functions of the host are part of the program.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("invoke_cpu_op: functions of the host run with the program; hooks see their operations")


def _no_workers(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError("a runtime of several processes: `ttnn-jit launch -n 2 SCRIPT` starts ranks instead")


class DistributedOptions:
    """Refused where they are used: there are no workers.

    Attributes:
        mode: How workers would be started.
    """

    def __init__(self) -> None:
        self.mode = DistributedMode.LocalSubprocess
        self.controller_port: int | None = None
        self.worker_path: str | None = None
        self.multi_process_args: Any = None


class MultiProcessArgs:
    """Refused: there are no workers."""

    create: Callable[..., Any] = staticmethod(_no_workers)


launch_distributed_runtime: Callable[..., Any] = _no_workers
shutdown_distributed_runtime: Callable[..., Any] = _no_workers
