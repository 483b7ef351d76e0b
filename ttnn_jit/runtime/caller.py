"""The functions behind a program's call, generated for its number of tensors.

A warm call checks metadata by identity, takes output blocks from the pool, and makes one native call: no loops, no
dictionaries. Addresses go over packed into one bytes object, which costs ctypes the same for 2 tensors as for 20.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ttnn_jit.errors import ArgumentError
from ttnn_jit.runtime import native
from ttnn_jit.runtime.buffer import ALIGNMENT, HOST_POOL, POOLED_RESULT_BYTES, Buffer
from ttnn_jit.runtime.chunks import chunks_of
from ttnn_jit.runtime.device import Device, implicit_cpu_device
from ttnn_jit.runtime.l1 import in_l1
from ttnn_jit.runtime.launch_ir import CALL_WORDS, ENTRY_WORDS, HEADER_WORDS, LAUNCH_SYMBOL
from ttnn_jit.runtime.plan import ProgramPlan
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.runtime.threads import HELPERS
from ttnn_jit.tensor_spec import BufferType

RELEASE_GIL_BYTES = 1 << 20
"""Programs that touch this much let other Python threads run: 1 MB takes a kernel about 50 us at 20 GB/s, which pays
for giving the lock away (20 ns) and for the wait to get it back, up to 5 ms when another thread computes in Python."""


@dataclass(frozen=True)
class NativeCall:
    """A program's native code, ready to be called.

    Attributes:
        function: Called with the packed words of launch_ir.py.
        table: Address of the launch table.
        shares: Whether it has chunks for helper threads.
        keeps: What the table points into.
    """

    function: Callable[[bytes], None]
    table: int
    shares: bool
    keeps: tuple[Any, ...]


def link(plan: ProgramPlan, objects: Mapping[str, bytes]) -> NativeCall | None:
    """Load the kernels of `plan`, and the other `objects`, which they call; None if it launches nothing."""
    if not plan.launches:
        return None
    called = {name: native.kernel_address(name, code) for name, code in objects.items() if name not in plan.kernels}
    addresses = {kernel: native.kernel_address(kernel, objects[kernel], called) for kernel in plan.kernels}
    table = [len(plan.launches), max(len(launch.operands) for launch in plan.launches)]
    keeps: list[ctypes.Array[ctypes.c_int64]] = []
    shares = wakes = False
    for launch in plan.launches:
        specs = [plan.buffers[index] for index in launch.operands]
        chunks = chunks_of(launch, [spec.dtype.itemsize for spec in specs], sum(spec.nbytes for spec in specs))
        shares = shares or chunks is not None
        wakes = wakes or (chunks is not None and chunks.wakes)
        words = [_words(launch.operands), _words(launch.params)]
        words += [_words(part) for part in ((chunks.params, chunks.last_params, chunks.steps) if chunks else ())]
        operands, params, *parts = map(ctypes.addressof, words)
        count = chunks.count if chunks else 1
        table += [addresses[launch.kernel], len(launch.operands), operands, params, count, *(parts or (0, 0, 0))]
        table += [chunks is not None and chunks.wakes]
        keeps += words
    assert len(table) == HEADER_WORDS + ENTRY_WORDS * len(plan.launches)
    packed = _words(table)
    gives_lock_away = wakes or plan.bytes_touched >= RELEASE_GIL_BYTES
    kind = ctypes.CFUNCTYPE if gives_lock_away else ctypes.PYFUNCTYPE
    function = kind(None, ctypes.c_char_p)(native.launch_address(LAUNCH_SYMBOL))
    return NativeCall(function, ctypes.addressof(packed), shares, (packed, *keeps))


def _words(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    # One word more, so that an empty list still has an address.
    return (ctypes.c_int64 * (len(values) + 1))(*values)


def tensor_caller(plan: ProgramPlan, call: NativeCall | None, buffer_bytes: int) -> Callable[..., Any]:
    """The function from the program's input tensors to its result, or to the tuple of its results.

    Args:
        plan: Buffers and launches.
        call: The plan's native code.
        buffer_bytes: L1 of a core that circular buffers take while the program runs.
    """
    inputs = range(len(plan.inputs))
    arguments = ", ".join(f"a{i}" for i in inputs)
    checks = [f"a{i}.spec is not S{i}" for i in inputs]
    checks += [f"(a{i}._device is not device and differ(device, a{i}._device))" for i in inputs[1:]]
    lines = [f"def {identifier(plan.name)}({arguments}):", " try:"]
    lines += [f"  device = {'a0._device' if inputs else 'implicit_device()'}"]
    if checks:
        lines += [f"  if {' or '.join(checks)}:", f"   refuse(({arguments},))"]
    lines += ["  if device.closed:", "   device.require_open(NAME)"]
    lines += [f"  p{i} = a{i}._buffer.address" for i in inputs]
    lines += [" except AttributeError:", f"  refuse(({arguments}{',' if inputs else ''}))", "  raise"]
    lines += device_allocations(plan, buffer_bytes)
    lines += native_call(plan, call)
    results = ", ".join(f"a{i}" if i in inputs else f"Tensor(S{i}, device, b{i})" for i in plan.results)
    lines += [f" return {results}" if len(plan.results) == 1 else f" return ({results},)"]
    return generate(plan, call, lines)


def address_caller(plan: ProgramPlan, call: NativeCall | None) -> Callable[..., None]:
    """The function of the addresses of inputs and outputs, in order; the caller keeps both alive."""
    visible = range(len(plan.inputs) + len(plan.outputs))
    lines = [f"def {identifier(plan.name)}({', '.join(f'p{i}' for i in visible)}):"]
    big = [i for i in visible[len(plan.inputs) :] if plan.buffers[i].nbytes >= POOLED_RESULT_BYTES]
    lines += [f" if p{i} % ALIGNMENT: refuse_unaligned(NAME, {i - len(plan.inputs)})" for i in big]
    lines += allocations(plan, range(len(visible), len(plan.buffers)))
    return generate(plan, call, [*lines, *native_call(plan, call), " return None"])


def allocations(plan: ProgramPlan, indices: Iterable[int]) -> list[str]:
    """Lines that make buffers ``b<index>`` at addresses ``p<index>``: `SizeClass.take`, written out."""
    lines = []
    for i in indices:
        lines += [" try:", f"  p{i} = free{i}.pop()", " except IndexError:", f"  p{i} = grow(class{i})"]
        lines += [f" b{i} = new(Buffer)", f" b{i}._home = class{i}"]
        lines += [f" b{i}.address = p{i}", f" b{i}.nbytes = {plan.buffers[i].nbytes}"]
    return lines


def device_allocations(plan: ProgramPlan, buffer_bytes: int) -> list[str]:
    """Lines that count a program on ``device`` and make the buffers that it owns there, L1 accounted for."""
    owned = range(len(plan.inputs), len(plan.buffers))
    in_account = [i for i in owned if in_l1(plan.buffers[i])]
    lines = [" if HASH not in device.programs:", "  device.programs.add(HASH)"]
    lines += [f" l{i} = device.l1.lease(S{i})" for i in in_account]
    if any(map(in_l1, plan.buffers)):
        lines += [f" device.l1.require({buffer_bytes}, CIRCULAR_BUFFERS)"]
    return [*lines, *allocations(plan, owned), *(f" b{i}.lease = l{i}" for i in in_account)]


def native_call(plan: ProgramPlan, call: NativeCall | None) -> list[str]:
    """The line that runs a program's kernels on addresses ``p<index>``."""
    if call is None:
        return []
    addresses = ", ".join(f"p{index}" for index in range(len(plan.buffers)))
    return [f" native(pack(TABLE, {'lend_helpers()' if call.shares else '0'}, {addresses}))"]


def generate(
    plan: ProgramPlan, call: NativeCall | None, lines: list[str], names: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """The function that `lines` define under the plan's `identifier`, over the names of this module and `names`."""
    classes = [HOST_POOL.size_class(spec.nbytes) for spec in plan.buffers]
    scope: dict[str, Any] = {
        "NAME": plan.name,
        "Buffer": Buffer,
        "HASH": plan.hash,
        "CIRCULAR_BUFFERS": f"the circular buffers of {plan.name}",
        "Tensor": Tensor,
        "new": object.__new__,
        "grow": HOST_POOL.grow,
        "differ": _targets_differ,
        "implicit_device": implicit_cpu_device,
        "ALIGNMENT": ALIGNMENT,
        "refuse_unaligned": _refuse_unaligned,
        "refuse": lambda tensors: _refuse(plan, tensors),
        **{f"S{index}": spec for index, spec in enumerate(plan.buffers)},
        **{f"class{index}": size_class for index, size_class in enumerate(classes)},
        **{f"free{index}": size_class.free for index, size_class in enumerate(classes)},
        **(names or {}),
    }
    if call is not None:
        pack = struct.Struct(f"{CALL_WORDS + len(plan.buffers)}P").pack
        scope |= {"native": call.function, "pack": pack, "TABLE": call.table, "KEEPS": call.keeps}
        scope["lend_helpers"] = HELPERS.lend
    exec(compile("\n".join(lines), f"<ttnn_jit call of {plan.name}>", "exec"), scope)
    generated: Callable[..., Any] = scope[identifier(plan.name)]
    return generated


def identifier(name: str) -> str:
    """A name for the generated function of the program `name`."""
    return "call_" + "".join(character if character.isalnum() and character.isascii() else "_" for character in name)


def _targets_differ(device: Device, other: Device) -> bool:
    return device.target != other.target


def _refuse(plan: ProgramPlan, tensors: tuple[Any, ...]) -> None:
    """Raise what is wrong with the arguments of a call; return if nothing is."""
    for index, (tensor, spec) in enumerate(zip(tensors, plan.inputs, strict=True)):
        if not isinstance(tensor, Tensor):
            _refuse_foreign(plan, index, tensor)
        _refuse_tensor(plan, index, tensor, spec is tensor.spec)
    devices = {repr(tensor.device()): tensor.device().target for tensor in tensors}
    if len(set(devices.values())) > 1:
        raise ArgumentError(f"{plan.name}: the tensors lie on devices of different targets: {', '.join(devices)}")


def _refuse_foreign(plan: ProgramPlan, index: int, value: object) -> NoReturn:
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    if plan.inputs[index].memory_config.buffer_type is BufferType.SYSTEM_MEMORY:
        raise ArgumentError(
            f"{plan.name}: argument {index} is a {kind}; the program was compiled for torch or numpy memory, of which "
            "it takes addresses only",
            help="call the jitted function itself, without `compile_only`; or give addresses to `Program.run`",
        )
    raise ArgumentError(
        f"{plan.name}: argument {index} is a {kind}, not a ttnn tensor",
        help="make it with `ttnn.from_torch(..., device=device)`",
    )


def _refuse_tensor(plan: ProgramPlan, index: int, tensor: Tensor, fits: bool) -> None:
    if not fits:
        raise ArgumentError(f"{plan.name}: argument {index} is {tensor.spec}; compiled for {plan.inputs[index]}")
    if tensor.device() is None:
        raise ArgumentError(
            f"{plan.name}: argument {index} is on the host",
            help="move it to a device: `ttnn.from_torch(..., device=device)`",
        )
    tensor.buffer(plan.name)


def _refuse_unaligned(name: str, index: int) -> NoReturn:
    raise ArgumentError(
        f"{name}: the memory for output {index} does not start at a multiple of {ALIGNMENT} bytes",
        help=f"kernels count on that from {POOLED_RESULT_BYTES} bytes on; `Program.allocate_outputs` gives such memory",
    )


def wrong_count(plan: ProgramPlan, what: str, expected: int, got: int) -> NoReturn:
    """Raise that a call has the wrong number of arguments."""
    raise ArgumentError(f"{plan.name} takes {expected} {what}, got {got}")
