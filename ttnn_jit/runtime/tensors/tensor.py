"""A tensor's data: a spec, the device it lies on, and the buffer that holds it; and the way from and to torch.

Elements are stored row-major, padded to whole tiles under TILE layout; the padding is zero.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, overload

from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.numpy_array import is_numpy_array
from ttnn_jit.foreign.torch_tensor import is_torch_tensor, require_torch
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.elements.elements import Elements
from ttnn_jit.runtime.elements.numpy_elements import fill, lay_out, numbers, owning_bytes, unpack, write_numbers
from ttnn_jit.runtime.elements.torch_elements import logical_view, torch_tensor, write_torch
from ttnn_jit.runtime.memory.buffer import ADDRESS_IS_KNOWN, HOST_POOL, Buffer, address_of
from ttnn_jit.runtime.native.panels import InPanels, plain_memory, taken_away
from ttnn_jit.runtime.tensors.tensor_operators import TensorOperators
from ttnn_jit.runtime.tensors.tensor_queries import TensorQueries
from ttnn_jit.runtime.tensors.tensor_text import tensor_html, tensor_text
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.storage_type import StorageType
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, HOST_MEMORY_CONFIG, Layout, MemoryConfig, TensorSpec, checked

if TYPE_CHECKING:
    import numpy
    import torch


class ItemError(ShapeError, RuntimeError):
    """A tensor was asked for its only element and has another number of them (a TT_FATAL in ttnn)."""


class Tensor(TensorQueries, TensorOperators):
    """A tensor on a device, or on the host when `device()` is None.

    Users make one of numbers, of a torch tensor or of a numpy array, as ttnn does
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
    """From the arguments of ttnn's constructor to what a tensor has; the host API gives it."""

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
        """Whether it is on the host or on a device."""
        return StorageType.HOST if self.device() is None else StorageType.DEVICE

    def is_allocated(self) -> bool:
        """Whether the tensor still has its memory."""
        return self._buffer is not None

    def buffer(self, operation: str) -> Buffer:
        """The memory of the tensor, for `operation`, by which the host reads or writes it.

        Raises:
            DeallocatedError: The tensor was deallocated; the text names the operation and the tensor.
            DeviceError: Its device is closed.
            TraceError: Its device captures a trace, which holds no such operation.
        """
        buffer = self.memory(operation)
        if self._device is not None:
            self._device.require_host_access(operation)
        return buffer

    def memory(self, operation: str) -> Buffer:
        """The memory of the tensor, for `operation`, which reads nothing of it or is recorded where its device records.

        Raises:
            DeallocatedError, DeviceError: As `buffer` does.
        """
        self.check_usable(operation)
        buffer = plain_memory(self)
        if buffer is None:  # another thread deallocated it meanwhile
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
        """A copy of the bytes that hold the elements, padding included; of block floats, the packed tiles."""
        with in_order(self):
            buffer = self.buffer("stored_bytes")
            return ctypes.string_at(buffer.address, self.spec.nbytes)

    def buffer_address(self) -> int:
        """Address of the first stored element, where it stays."""
        buffer = self.memory("buffer_address")
        if getattr(buffer, "lease", None) is None:
            buffer.lease = ADDRESS_IS_KNOWN
        return int(address_of(buffer))  # another object, for whoever holds the buffer's own holds its memory

    def deallocate(self, force: bool = True) -> None:  # noqa: ARG002 - as ttnn has it
        """Free the memory now; a second time does nothing. Any later use is a DeallocatedError."""
        buffer = taken_away(self)
        if isinstance(buffer, Buffer):
            buffer.lease = None  # even if somebody, a traceback perhaps, still holds the buffer

    def cpu(self, blocking: bool = True, cq_id: int | None = None) -> Tensor:  # noqa: ARG002 - as ttnn has it
        """A copy on the host; a tensor that is there already is returned as it is. Every call waits for it.

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
        """A copy on a device, or on each of a mesh, or in another layout where the tensor is.

        On a device it lies where `memory_config` says, else where this tensor's own does, which on the host is DRAM;
        `mem_config` is another name of it.

        Raises:
            ArgumentError: `device_or_layout` is neither, or has no command queue `cq_id`.
            DeviceError: The device is closed.
            GridError, LayoutError, L1CapacityError: It does not fit.
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
        copied: Tensor = device_or_layout.everywhere(lambda device: stored_as(self, spec, device, "to"))
        return copied

    def to_torch(self) -> torch.Tensor:
        """A torch tensor with the logical elements, fresh and contiguous.

        Raises:
            DeallocatedError: The tensor was deallocated.
        """
        return to_torch(self)

    def to_list(self) -> Any:
        """The logical elements in nested lists, from a device or the host; a number where there are no dimensions.

        Raises:
            DeallocatedError: The tensor was deallocated.
        """
        return self._numbers("to_list").tolist()

    def item(self) -> float:
        """The only element, as a number of Python's.

        Raises:
            ItemError: There are more, or none.
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
        """Another name for the same memory."""
        return Tensor(self.spec, self._device, self.memory("copy"))

    def __deepcopy__(self, _: object) -> Tensor:
        """A copy of its own, on the same device."""
        return stored_as(self, self.spec, self._device, "deepcopy")

    def __reduce__(self) -> NoReturn:
        raise ArgumentError(
            "a ttnn tensor cannot be pickled: it lies in memory of this process", help="pickle `ttnn.to_torch(tensor)`"
        )

    @classmethod
    def __torch_function__(cls, function: Any, *_: object, **__: object) -> NoReturn:
        name = getattr(function, "__name__", "a function")
        raise ArgumentError(
            f"torch's `{name}` got a ttnn tensor",
            help=f"write `ttnn.{name}`, or call `.to_torch()` on the tensor first",
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """A host tensor's elements, copied: of their own type where no `dtype` is given, float32 for bfloat16.

        Raises:
            ArgumentError: The tensor is on a device, or no copy is allowed.
            DeallocatedError: The tensor was deallocated.
        """
        if self.device() is not None:
            raise ArgumentError(
                f"numpy was given a ttnn tensor that lies on {self.device()}",
                help="write `numpy.asarray(tensor.cpu())`, or `ttnn.to_torch(tensor)`",
            )
        if copy is False:
            raise ArgumentError(
                "numpy wants the memory of a ttnn tensor, and gets a copy only", help="leave `copy=False` out"
            )
        values = self._numbers("numpy.asarray")
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return tensor_text(self.spec, self._values_to_show())

    def _repr_html_(self) -> str:
        """As notebooks show it."""
        spec = self.spec
        where = "the host" if self._device is None else str(self._device)
        caption = f"{'x'.join(map(str, spec.shape))} {spec.dtype.name} {spec.layout.name} on {where}"
        return tensor_html(spec, self._values_to_show(), caption)

    def _values_to_show(self) -> numpy.ndarray[Any, Any] | str:
        if not self.is_allocated():
            return "buffer is not allocated"
        if self._device is not None and self._device.recorder is not None:
            return "calls are captured, and do not run"
        memory = self.memory("repr")
        if memory.pool.is_unread:
            return "a trace makes it that did not run"
        with in_order(self):
            return numbers(self.spec, memory)

    def _numbers(self, operation: str) -> numpy.ndarray[Any, Any]:
        with in_order(self):
            return numbers(self.spec, self.buffer(operation))


_NO_ORDER = nullcontext()


def in_order(tensor: Tensor) -> AbstractContextManager[object]:
    """What the host holds while it reads or writes a tensor's memory, so that no trace runs meanwhile."""
    device = tensor.device()
    return _NO_ORDER if device is None else device.order


def from_torch(tensor: torch.Tensor, spec: TensorSpec, device: Device | None) -> Tensor:
    """A copy of `tensor` as `spec` says, on `device` or, given None, on the host.

    Values convert to the spec's dtype with one rounding to nearest even; a NaN stays a NaN. Integers keep their low
    bits in a narrower type. In one of integers floats lose their fraction; what is beyond its range becomes its nearest
    number, and NaN 0.

    Raises:
        ShapeError: `spec` has another shape than `tensor`, or strides.
        DeviceError: The device is closed.
    """
    if tuple(tensor.shape) != tuple(spec.shape):
        raise ShapeError(f"a torch tensor of shape {list(tensor.shape)} cannot become {spec}")
    return _of_host(spec, device, write_torch, tensor.detach())


def of_numbers(values: Sequence[float] | numpy.ndarray[Any, Any], spec: TensorSpec, device: Device | None) -> Tensor:
    """A tensor of `spec` whose elements are what `values`, row by row, or those of an array become (`write_numbers`).

    Raises:
        ShapeError: `spec` has strides.
        DeviceError: The device is closed.
    """
    return _of_host(spec, device, write_numbers, values)


def _of_host(
    spec: TensorSpec, device: Device | None, write: Callable[[Any, TensorSpec, Buffer], None], of: Any
) -> Tensor:
    """A tensor of `spec` whose elements the host writes, `of` something of its own."""
    check_dense(spec)
    if device is not None:
        device.require_host_access("a tensor that the host makes")
    buffer = _allocated(spec, device)
    if spec.nbytes:
        write(of, spec, buffer)
    return Tensor(spec, device, buffer)


def filled(number: float, spec: TensorSpec, device: Device | None) -> Tensor:
    """A tensor of `spec` whose elements are all `number`, on `device` or, given None, on the host.

    Raises:
        ShapeError: `spec` has strides.
        DeviceError: The device is closed.
    """
    check_dense(spec)
    buffer = _allocated(spec, device)
    if device is None or device.recorder is None:
        fill(spec, buffer, number)
    else:
        constant = HOST_POOL.allocate(spec.nbytes)
        fill(spec, constant, number)
        device.recorder.write(constant, spec, buffer)
    return Tensor(spec, device, buffer)


def _allocated(spec: TensorSpec, device: Device | None) -> Buffer:
    return HOST_POOL.allocate(spec.nbytes) if device is None else device.allocate_tensor(spec)


def stored_as(tensor: Tensor, spec: TensorSpec, device: Device | None, operation: str) -> Tensor:
    """A copy of `tensor` as `spec` says, which differs in layout and memory config at most; on the host, given None.

    Raises:
        DeallocatedError, DeviceError: As `Tensor.buffer` does.
        TraceError: A device captures a trace, and the copy goes to the host or comes from there.
    """
    with in_order(tensor):
        source = _memory_beside(tensor, device, operation)
        copy = Tensor(spec, device, _allocated(spec, device))
        _copy(tensor, source, copy, copy.memory(operation))
    return copy


def write_elements(source: Tensor, target: Tensor, operation: str = "a write") -> None:
    """Have `target` hold the elements of `source`, which differs in layout and memory config at most.

    Raises:
        DeallocatedError, DeviceError, TraceError: As `stored_as` does.
    """
    with in_order(source), in_order(target):
        read = _memory_beside(source, target._device, operation)
        _copy(source, read, target, _memory_beside(target, source._device, operation))


def _memory_beside(tensor: Tensor, device: Device | None, operation: str) -> Buffer:
    """The memory of `tensor` for a copy from or to another `device`, which a trace holds where both are one."""
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
    """Refuse a `spec` that a tensor of ttnn's cannot have.

    Raises:
        ShapeError: It has strides.
    """
    if spec.strides is not None:
        raise ShapeError(f"{spec} has strides; a tensor of ttnn's is stored dense")


def to_torch(tensor: Tensor) -> torch.Tensor:
    """The logical elements of `tensor` as a fresh, contiguous torch tensor of the same dtype; block floats in float32.

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
    """The elements of a ttnn tensor, or of what torch makes a tensor of: a torch tensor itself, a numpy array.

    Raises:
        ArgumentError: It is nothing of that kind.
    """
    require_torch("the comparison of tensors", "compare `numpy.asarray(tensor.cpu())` by `numpy.testing`")
    import torch

    if isinstance(tensor, Tensor):
        return to_torch(tensor)
    try:
        return torch.as_tensor(tensor)
    except (TypeError, ValueError, RuntimeError):
        raise ArgumentError(f"a {type_name(tensor)} is no tensor, and torch makes none of it") from None


def elements_of(tensor: Tensor, what: str) -> Elements:
    """The logical elements of a tensor where they lie, without padding.

    Raises:
        DeallocatedError: The tensor, named `what` in the text, was deallocated.
    """
    return Elements(tensor.spec, memoryview(owning_bytes(tensor.buffer(what), tensor.spec.nbytes)))


def foreign_tensor_help(value: object) -> str | None:
    """How to make a ttnn tensor of a torch tensor or a numpy array; None of anything else."""
    if not is_torch_tensor(value) and not is_numpy_array(value):
        return None
    torch_tensor = "tensor" if is_torch_tensor(value) else "torch.from_numpy(array)"
    return f"make a ttnn tensor of it: `ttnn.from_torch({torch_tensor}, layout=ttnn.TILE_LAYOUT, device=device)`"


def specs_of(operands: Iterable[Any]) -> tuple[Any, ...]:
    """The operands of a call, with specs for the tensors."""
    return tuple(value.spec if isinstance(value, Tensor) else value for value in operands)


def check_tensor(value: object, what: str) -> None:
    """Refuse a `value` that is no ttnn tensor, named `what` in the text.

    Raises:
        ArgumentError: It is something else.
    """
    try:
        check_kind(value, Tensor, what)
    except ArgumentError as error:
        raise ArgumentError(error.message, help=foreign_tensor_help(value)) from None
