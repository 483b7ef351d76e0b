"""The events of a run: frozen records of metadata, which keep no tensor alive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, ClassVar

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class TensorInfo:
    """The metadata of a tensor.

    Attributes:
        shape: Its extents, without padding.
        dtype: Its element type, as MLIR spells it: ``bf16``.
        nbytes: The bytes that it takes up, with padding.
        devices: The number of devices that have a part or a copy of it.
    """

    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    devices: int = 1


def tensor_info(spec: TensorSpec, devices: int = 1) -> TensorInfo:
    """The metadata of a tensor of this spec, which `devices` have."""
    return TensorInfo(tuple(spec.shape), spec.dtype.mlir, spec.nbytes, devices)


def total_nbytes(tensors: Iterable[TensorInfo]) -> int:
    """The bytes of tensors on all their devices."""
    return sum(each.nbytes * each.devices for each in tensors)


@dataclass(frozen=True)
class Event:
    """Something that ran.

    Attributes:
        kind: The name of the class in reports.
        name: The name of what ran.
        location: The line of the user, of a program or of a text; empty if there is none.
        operands: The tensors that it read.
        results: The tensors that it gave.
        device: The device, as it prints: ``wormhole_b0 rules on cpu``; empty for the host.
        process: The process id.
        thread: The identifier of the thread (`threading.get_ident`).
        started_ns: When it began, on the clock of `time.perf_counter_ns`.
        duration_ns: How long it took.
        depth: The number of observed calls around it in its thread.
        error: The type and text of the exception that it raised; empty if it raised none.
    """

    kind: ClassVar[str] = "event"

    name: str
    location: str = ""
    operands: tuple[TensorInfo, ...] = ()
    results: tuple[TensorInfo, ...] = ()
    device: str = ""
    process: int = 0
    thread: int = 0
    started_ns: int = 0
    duration_ns: int = 0
    depth: int = 0
    error: str = ""

    @property
    def nbytes(self) -> int:
        """The bytes of all its tensors."""
        return total_nbytes((*self.operands, *self.results))

    def to_dict(self) -> dict[str, Any]:
        """Its fields as JSON values, its kind and its bytes."""
        return {"kind": self.kind, **asdict(self), "nbytes": self.nbytes}


@dataclass(frozen=True)
class CompileStage(Event):
    """A stage of a compile.

    Attributes:
        program: The name of what is compiled; empty if the stage does not know it.
    """

    kind: ClassVar[str] = "compile_stage"

    program: str = ""


@dataclass(frozen=True)
class Launch(Event):
    """A native call: the kernels of a program, one after the other.

    Attributes:
        kernels: The kernels in the order of their launches.
        scratch_nbytes: The bytes of the memory of its intermediate values, which those that are never live at the same
            time share.
    """

    kind: ClassVar[str] = "launch"

    kernels: tuple[str, ...] = ()
    scratch_nbytes: int = 0


@dataclass(frozen=True)
class EagerOperation(Event):
    """A call of an operation of ttnn, or of a function of its host API."""

    kind: ClassVar[str] = "eager_operation"


@dataclass(frozen=True)
class JittedCall(Event):
    """A call of a jitted function, its compile included if there was one."""

    kind: ClassVar[str] = "jitted_call"


@dataclass(frozen=True)
class TextOperation(Event):
    """An op of a text that ran by itself."""

    kind: ClassVar[str] = "text_operation"


@dataclass(frozen=True)
class Collective(Event):
    """An operation by which devices exchange data."""

    kind: ClassVar[str] = "collective"


@dataclass(frozen=True)
class Remark(Event):
    """What a pass says of an op that it treats in a costly way, with equal results.

    Attributes:
        message: What it says, as after ``remark:`` in the output of mlir-opt.
    """

    kind: ClassVar[str] = "remark"

    message: str = ""
