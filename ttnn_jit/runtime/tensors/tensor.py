"""Tensors: a spec, a device and a buffer; and conversion from and to torch.

Elements are stored row-major and, in TILE layout, padded with zeros to whole tiles.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, overload

from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.numpy_array import is_numpy_array
from ttnn_jit.foreign.torch_tensor import is_torch_tensor, require_torch
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.elements.elements import Elements
from ttnn_jit.runtime.elements.numpy_elements import lay_out, numbers, owning_bytes, unpack
from ttnn_jit.runtime.elements.torch_elements import as_signed, logical_view, torch_tensor
from ttnn_jit.runtime.memory.buffer import ADDRESS_IS_KNOWN, HOST_POOL, Buffer, address_of
from ttnn_jit.runtime.memory.replicas import own_memory, replica_of
from ttnn_jit.runtime.native.panels import InPanels, detach_memory, plain_memory
from ttnn_jit.runtime.tensors.tensor_operators import TensorOperators
from ttnn_jit.runtime.tensors.tensor_queries import TensorQueries
from ttnn_jit.runtime.tensors.tensor_text import tensor_html, tensor_text
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.meshes.tensor_topology import ONE_DEVICE, TensorTopology
from ttnn_jit.specs.storage_type import StorageType
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, HOST_MEMORY_CONFIG, Layout, MemoryConfig, TensorSpec, checked

if TYPE_CHECKING:
    import numpy
    import torch


class ItemError(ShapeError, RuntimeError):
    """`item` of a tensor that does not have exactly one element (a TT_FATAL in ttnn)."""


class Tensor(TensorQueries, TensorOperators):
    """A tensor on a device, or on the host when `device()` is None.

    Users construct one from numbers, a torch tensor or a numpy array, as in ttnn
    (`ttnn_jit.ttnn.tensors.tensor_constructor`): ``Tensor([1.0, 2.0], [1, 2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)``,
    ``Tensor(torch_tensor, ttnn.bfloat16)``.

    Attributes:
        spec: Shape, dtype, layout, memory config; interned, so that two tensors' metadata compare by identity.
    """

    __slots__ = ("__weakref__", "_buffer", "_device", "spec")
    __array_ufunc__ = None  # numpy scalars on the left leave the operator to us

    _device: Device | None
    _buffer: Buffer | InPanels | None
    parts_of: ClassVar[Callable[..., tuple[TensorSpec, Device | None, Buffer]]]
    """From the arguments of ttnn's constructor to the fields of a tensor; the host API sets it."""

    @overload
    def __init__(self, spec: TensorSpec, device: Device | None, buffer: Buffer) -> None: ...
    @overload
    def __init__(self, *args: Any, **keywords: Any) -> None: ...
    def __init__(self, *args: Any, **keywords: Any) -> None:
        is_made = len(args) == 3 and type(args[0]) is TensorSpec
        self.spec, self._device, self._buffer = args if is_made else Tensor.parts_of(*args, **keywords)

    def device(self) -> Device | None:
        """The device that holds the tensor; None on the host."""
        return self._device

    def storage_type(self) -> StorageType:
        """Whether the tensor is on the host or on a device."""
        return StorageType.HOST if self.device() is None else StorageType.DEVICE

    def tensor_topology(self) -> TensorTopology:
        """The placement on a mesh: whole on one device (ttnn.Tensor.tensor_topology)."""
        return ONE_DEVICE

    def is_allocated(self) -> bool:
        """Whether the tensor still has its memory."""
        return self._buffer is not None

    def buffer(self, operation: str) -> Buffer:
        """The memory of the tensor, for an `operation` by which the host reads or writes it.

        Raises:
            DeallocatedError: The tensor was deallocated; the text names the operation and the tensor.
            DeviceError: Its device is closed.
            TraceError: Its device captures a trace, which cannot contain the operation.
        """
        buffer = self.memory(operation)
        if self._device is not None:
            self._device.require_host_access(operation)
        return buffer

    def memory(self, operation: str) -> Buffer:
        """The memory of the tensor, for an `operation` that does not access elements or that a recorder can record.

        Raises:
            DeallocatedError, DeviceError: As `buffer` does.
        """
        self.check_usable(operation)
        buffer = plain_memory(self)
        if buffer is None:  # another thread deallocated it since
            self._refuse_deallocated(operation)
        return buffer

    def check_usable(self, operation: str) -> None:
        """Refuse a tensor whose memory `operation` cannot have.

        Raises:
            DeallocatedError, DeviceError: As `buffer` does.
        """
        if self._buffer is None:
            self._refuse_deallocated(operation)
        if self._device is not None:
            self._device.require_device_access(operation)

    def _refuse_deallocated(self, operation: str) -> NoReturn:
        raise DeallocatedError(
            f"{operation}: the tensor was deallocated: {self!r}",
            help="use it before `ttnn.deallocate`, or keep a copy of it",
        )

    def stored_bytes(self) -> bytes:
        """A copy of the stored bytes, padding included; for block floats, the packed tiles."""
        with in_order(self):
            buffer = self.buffer("stored_bytes")
            return ctypes.string_at(buffer.address, self.spec.nbytes)

    def buffer_address(self) -> int:
        """Address of the first stored element. The elements do not move afterwards, and no other tensor shares them."""
        buffer = self.memory("buffer_address")
        own_memory(buffer)
        if getattr(buffer, "lease", None) is None:
            buffer.lease = ADDRESS_IS_KNOWN
        return int(address_of(buffer))  # a new object: a reference to the buffer's own int would keep its memory

    def deallocate(self, force: bool = True) -> None:  # noqa: ARG002 - as ttnn has it
        """Free the memory now; a second time does nothing. Any later use is a DeallocatedError."""
        buffer = detach_memory(self)
        if isinstance(buffer, Buffer):
            buffer.lease = None  # even if a reference, for example of a traceback, still holds the buffer

    def cpu(self, blocking: bool = True, cq_id: int | None = None) -> Tensor:  # noqa: ARG002 - as ttnn has it
        """A copy on the host; a host tensor is returned unchanged. The call returns when the copy is complete.

        Raises:
            ArgumentError: The device has no command queue `cq_id`.
            DeallocatedError, DeviceError: The tensor was deallocated, or its device closed.
        """
        if self._device is None:
            return self
        self._device.require_queue(cq_id, "cpu")
        return stored_as(self, self.spec, None, "cpu")

    def to(
        self,
        device_or_layout: Device | Layout,
        memory_config: MemoryConfig | None = None,
        cq_id: int | None = None,
        *,
        mem_config: MemoryConfig | None = None,
    ) -> Tensor:
        """A copy on a device, or on each device of a mesh, or in another layout on the same device.

        `memory_config` defaults to this tensor's, or to DRAM if it is on the host; `mem_config` is an alias.

        Raises:
            ArgumentError: `device_or_layout` is neither a device nor a layout, or has no command queue `cq_id`.
            DeviceError: The device is closed.
            GridError, LayoutError, L1CapacityError: The copy does not fit.
        """
        own = self.spec.memory_config
        memory_config = mem_config if memory_config is None else memory_config
        if isinstance(device_or_layout, Layout):
            spec = TensorSpec(self.shape, self.dtype, device_or_layout, own if memory_config is None else memory_config)
            return stored_as(self, checked(spec), self._device, "to")
        check_kind(device_or_layout, Device, "the device of a tensor")
        device_or_layout.require_queue(cq_id, "to")
        if memory_config is None:
            memory_config = DRAM_MEMORY_CONFIG if own == HOST_MEMORY_CONFIG else own
        spec = checked(self.spec.with_(memory_config=memory_config))
        copied: Tensor = device_or_layout.map_devices(lambda device: stored_as(self, spec, device, "to"))
        return copied

    def to_torch(self) -> torch.Tensor:
        """A torch tensor with the logical elements, fresh and contiguous; UINT16 as int16 and UINT32 as int32 bits.

        Raises:
            DeallocatedError: The tensor was deallocated.
        """
        return as_signed(torch_copy(self))

    def to_list(self) -> Any:
        """The logical elements in nested lists; a number if there are no dimensions.

        Raises:
            DeallocatedError: The tensor was deallocated.
        """
        return self._numbers("to_list").tolist()

    def item(self) -> float:
        """The only element, as a Python number.

        Raises:
            ItemError: There is not exactly one element.
            DeallocatedError: The tensor was deallocated.
        """
        if self.spec.volume != 1:
            raise ItemError(
                f"item: a tensor of shape {self.spec.shape} has {self.spec.volume} elements",
                help="choose one: `x[i, j]`",
            )
        number: float = self._numbers("item").reshape(-1)[0].item()
        return number

    def __copy__(self) -> Tensor:
        """A tensor that shares the memory."""
        return Tensor(self.spec, self._device, self.memory("copy"))

    def __deepcopy__(self, _: object) -> Tensor:
        """An independent copy on the same device."""
        return stored_as(self, self.spec, self._device, "deepcopy")

    def __reduce__(self) -> NoReturn:
        raise ArgumentError(
            "a ttnn tensor cannot be pickled: its memory is of this process", help="pickle `ttnn.to_torch(tensor)`"
        )

    @classmethod
    def __torch_function__(cls, function: Any, *_: object, **__: object) -> NoReturn:
        name = getattr(function, "__name__", "a function")
        raise ArgumentError(
            f"torch's `{name}` got a ttnn tensor",
            help=f"write `ttnn.{name}`, or call `.to_torch()` on the tensor first",
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """A copy of a host tensor's elements, by default of their own type, or float32 for bfloat16.

        Raises:
            ArgumentError: The tensor is on a device, or `copy` is False.
            DeallocatedError: The tensor was deallocated.
        """
        if self.device() is not None:
            raise ArgumentError(
                f"numpy got a ttnn tensor that is on {self.device()}",
                help="write `numpy.asarray(tensor.cpu())`, or `ttnn.to_torch(tensor)`",
            )
        if copy is False:
            raise ArgumentError(
                "numpy cannot share the memory of a ttnn tensor, it gets a copy only", help="leave `copy=False` out"
            )
        values = self._numbers("numpy.asarray")
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return tensor_text(self.spec, self._values_to_show())

    def _repr_html_(self) -> str:
        """The form that notebooks show."""
        spec = self.spec
        where = "the host" if self._device is None else str(self._device)
        caption = f"{'x'.join(map(str, spec.shape))} {spec.dtype.name} {spec.layout.name} on {where}"
        return tensor_html(spec, self._values_to_show(), caption)

    def _values_to_show(self) -> numpy.ndarray[Any, Any] | str:
        if not self.is_allocated():
            return "buffer is not allocated"
        if self._device is not None and self._device.recorder is not None:
            return "calls are captured and do not run"
        memory = self.memory("repr")
        if memory.pool.is_unread:
            return "the trace that makes it has not run"
        with in_order(self):
            return numbers(self.spec, memory)

    def _numbers(self, operation: str) -> numpy.ndarray[Any, Any]:
        with in_order(self):
            return numbers(self.spec, self.buffer(operation))


_NO_ORDER = nullcontext()


def in_order(tensor: Tensor) -> AbstractContextManager[object]:
    """The lock that the host holds while it reads or writes a tensor's memory, so that no trace runs."""
    device = tensor.device()
    return _NO_ORDER if device is None else device.order


def allocated(spec: TensorSpec, device: Device | None) -> Buffer:
    """Memory for a tensor of `spec` on `device`, or on the host if it is None."""
    return HOST_POOL.allocate(spec.nbytes) if device is None else device.allocate_tensor(spec)


def stored_as(tensor: Tensor, spec: TensorSpec, device: Device | None, operation: str) -> Tensor:
    """A copy of `tensor` in the form of `spec`, which differs in layout and memory config at most.

    The copy is on the host if `device` is None.

    Raises:
        DeallocatedError, DeviceError: As `Tensor.buffer` does.
        TraceError: A device captures a trace, and the copy is from or to the host.
    """
    with in_order(tensor):
        source = _memory_for_copy(tensor, device, operation)

        def made() -> Tensor:
            copy = Tensor(spec, device, allocated(spec, device))
            _copy(tensor, source, copy, copy.memory(operation))
            return copy

        return once_of_replicas(address_of(source), tensor.spec, spec, device, made)


_REPLICAS: ContextVar[dict[object, tuple[Tensor, object]] | None] = ContextVar("_REPLICAS", default=None)
"""Tensors that were made for other devices of a mesh, by what they were made of, and the object of that identity."""


@contextmanager
def replicas_share_memory() -> Iterator[None]:
    """A block in which tensors that are made of one object or one memory for several devices share memory.

    Nothing in the block writes into the tensors that it makes, or into what they are made of.
    """
    token = _REPLICAS.set({})
    try:
        yield
    finally:
        _REPLICAS.reset(token)


def once_of_replicas(
    source: object, kind: object, spec: TensorSpec, device: Device | None, make: Callable[[], Tensor]
) -> Tensor:
    """The tensor that `make` makes of `source`, or a replica of one that was made of the same object."""
    known = _REPLICAS.get()
    if known is None or not spec.nbytes:
        return make()
    key = id(source), kind, spec
    if key in known:
        memory = _shared_memory(known[key][0], spec, device)
        if memory is not None:
            return Tensor(spec, device, memory)
    made = make()
    known[key] = made, source
    return made


def _shared_memory(tensor: Tensor, spec: TensorSpec, device: Device | None) -> Buffer | None:
    original = tensor.memory("a replica")
    return replica_of(original) if device is None else device.allocate_replica(spec, original)


def replica(tensor: Tensor, spec: TensorSpec, device: Device, operation: str) -> Tensor:
    """`stored_as` for the elements of a tensor of any device, in the same memory where possible.

    A tensor that is written gets memory of its own first (`ttnn_jit.runtime.memory.replicas`).
    """
    original = tensor.memory(operation)
    memory = device.allocate_replica(spec, original) if spec is tensor.spec else None
    if memory is not None:
        return Tensor(spec, device, memory)
    return stored_as(Tensor(tensor.spec, device, original), spec, device, operation)


def write_elements(source: Tensor, target: Tensor, operation: str = "a write") -> None:
    """Copy the elements of `source` to `target`; the specs differ in layout and memory config at most.

    Raises:
        DeallocatedError, DeviceError, TraceError: As `stored_as` does.
    """
    with in_order(source), in_order(target):
        read = _memory_for_copy(source, target._device, operation)
        written = _memory_for_copy(target, source._device, operation)
        own_memory(written)
        _copy(source, read, target, written)


def _memory_for_copy(tensor: Tensor, device: Device | None, operation: str) -> Buffer:
    """The memory of `tensor` for a copy from or to `device`; a trace can record it if both are on one device."""
    if tensor._device is device is not None:
        return tensor.memory(operation)
    if device is not None:
        device.require_host_access(operation)
    return tensor.buffer(operation)


def _copy(source: Tensor, read: Buffer, target: Tensor, written: Buffer) -> None:
    device = target._device
    if device is not None and device.recorder is not None:
        device.recorder.copy(source.spec, read, target.spec, written)
    elif source.spec.layout is target.spec.layout:
        ctypes.memmove(written.address, read.address, target.spec.nbytes)
    else:
        lay_out(source.spec, read, target.spec, written)


def check_dense(spec: TensorSpec) -> None:
    """Refuse a `spec` that a ttnn tensor cannot have.

    Raises:
        ShapeError: It has strides.
    """
    if spec.strides is not None:
        raise ShapeError(f"{spec} has strides; a ttnn tensor is stored dense")


def torch_copy(tensor: Tensor) -> torch.Tensor:
    """The logical elements as a new, contiguous torch tensor of the same dtype; block floats become float32.

    Raises:
        DeallocatedError: The tensor was deallocated.
        DeviceError: Its device is closed.
    """
    require_torch("to_torch", "`numpy.asarray(tensor.cpu())` needs numpy alone")
    spec = tensor.spec
    with in_order(tensor):
        source = tensor.buffer("to_torch")
        if spec.dtype.is_block_float:
            import torch

            return torch.from_numpy(unpack(spec, source))
        result = torch_tensor(spec, HOST_POOL.allocate(spec.nbytes_of_elements))
        if spec.volume:
            result.copy_(logical_view(spec, source))
        return result


def as_torch(tensor: Any) -> torch.Tensor:
    """The elements of a ttnn tensor as a torch tensor; other values are converted by `torch.as_tensor`.

    Raises:
        ArgumentError: torch cannot convert the value.
    """
    require_torch("the comparison of tensors", "compare `numpy.asarray(tensor.cpu())` by `numpy.testing`")
    import torch

    if isinstance(tensor, Tensor):
        return torch_copy(tensor)
    try:
        return torch.as_tensor(tensor)
    except (TypeError, ValueError, RuntimeError):
        raise ArgumentError(f"a {type_name(tensor)} is not a tensor, and torch cannot convert it to one") from None


def elements_of(tensor: Tensor, what: str) -> Elements:
    """The logical elements of a tensor, in place.

    Raises:
        DeallocatedError: The tensor was deallocated; the text calls it `what`.
    """
    return Elements(tensor.spec, memoryview(owning_bytes(tensor.buffer(what), tensor.spec.nbytes)))


def foreign_tensor_help(value: object) -> str | None:
    """The help text that converts a torch tensor or a numpy array to a ttnn tensor; None for other values."""
    if not is_torch_tensor(value) and not is_numpy_array(value):
        return None
    torch_tensor = "tensor" if is_torch_tensor(value) else "torch.from_numpy(array)"
    return f"make a ttnn tensor of it: `ttnn.from_torch({torch_tensor}, layout=ttnn.TILE_LAYOUT, device=device)`"


def specs_of(operands: Iterable[Any]) -> tuple[Any, ...]:
    """The operands of a call, with tensors replaced by their specs."""
    return tuple(value.spec if isinstance(value, Tensor) else value for value in operands)


def check_tensor(value: object, what: str) -> None:
    """Refuse a `value` that is not a ttnn tensor; the text calls it `what`.

    Raises:
        ArgumentError: It is not a ttnn tensor.
    """
    try:
        check_kind(value, Tensor, what)
    except ArgumentError as error:
        raise ArgumentError(error.message, help=foreign_tensor_help(value)) from None
