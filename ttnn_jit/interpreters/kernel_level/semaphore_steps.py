"""Steps of semaphores, and of single words in L1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.interpreters.kernel_level.dataflow_steps import NocAddress, local_bytes
from ttnn_jit.interpreters.kernel_level.faults import Wait, fail
from ttnn_jit.interpreters.kernel_level.kernel_core import Core, Thread, by_name
from ttnn_jit.interpreters.kernel_level.kernel_steps import Execute, Maker

Array = np.ndarray[Any, Any]

_WORD = 4


def _words(core: Core, address: int, thread: Thread, op: Operation) -> Array:
    """The 32-bit word at an address of a core's L1, as an array of one."""
    found = core.space.find(address, _WORD)
    if found is None:
        fail(op, thread, f"nothing in L1 of core ({core.row}, {core.column}) has a word at the address {address}")
    region, offset = found
    return region.data[offset : offset + _WORD].view(np.int32)


def _semaphore(op: Operation) -> Execute:
    (operand,), (result,) = op.operands, op.results

    def execute(thread: Thread) -> None:
        thread.values[result] = thread.values[operand]

    return execute


def _set(op: Operation) -> Execute:
    address, value = op.operands

    def execute(thread: Thread) -> None:
        _words(thread.core, thread.values[address], thread, op)[0] = thread.values[value]

    return execute


def _waiting(holds: Callable[[int, int], bool], words: str) -> Maker:
    def make(op: Operation) -> Execute:
        address, value = op.operands

        def execute(thread: Thread) -> Wait | None:
            current = int(_words(thread.core, thread.values[address], thread, op)[0])
            wanted = int(thread.values[value])
            if holds(current, wanted):
                return None
            return Wait(
                op, f"waits until the semaphore at {thread.values[address]} is {words}{wanted}; it is {current}"
            )

        return execute

    return make


def _increment(*, is_multicast: bool) -> Maker:
    def make(op: Operation) -> Execute:
        named = named_operands(op)
        address, step = by_name(op, named, "addr"), by_name(op, named, "incr")
        count = named.get("num_dests", ())

        def execute(thread: Thread) -> None:
            place: NocAddress = thread.values[address]
            cores = place.cores(thread, op)
            if is_multicast and count and len(cores) != thread.values[count[0]]:
                fail(op, thread, f"it increments on {len(cores)} cores, and says {thread.values[count[0]]}")
            for core in cores:
                _words(core, place.address, thread, op)[0] += thread.values[step]

        return execute

    return make


def _set_multicast(*, includes_self: bool) -> Maker:
    def make(op: Operation) -> Execute:
        named = named_operands(op)
        source, target = by_name(op, named, "src_local_l1_addr"), by_name(op, named, "dst_noc_addr_multicast")

        def execute(thread: Thread) -> None:
            place: NocAddress = thread.values[target]
            value = _words(thread.core, thread.values[source], thread, op)[0]
            for core in place.cores(thread, op):
                if includes_self or core is not thread.core:
                    _words(core, place.address, thread, op)[0] = value

        return execute

    return make


def _width(op: Operation, operand: int, result: int) -> int:
    """The bytes of an element that an op loads or stores."""
    types = op.operands[operand].type if operand >= 0 else op.results[result].type
    bits = getattr(getattr(types, "width", None), "data", 32)
    return int(bits) // 8


_ELEMENTS = {1: np.uint8, 2: np.uint16, 4: np.int32}


def _load(op: Operation) -> Execute:
    pointer, offset = op.operands
    (result,) = op.results
    width = _width(op, -1, 0)

    def execute(thread: Thread) -> None:
        address = thread.values[pointer] + thread.values[offset] * width
        data = local_bytes(thread, op, address, width, is_written=False)
        thread.values[result] = int(data.view(_ELEMENTS[width])[0])

    return execute


def _store(op: Operation) -> Execute:
    value, pointer, offset = op.operands
    width = _width(op, 0, -1)

    def execute(thread: Thread) -> None:
        address = thread.values[pointer] + thread.values[offset] * width
        data = local_bytes(thread, op, address, width, is_written=True)
        bits = int(thread.values[value]) & ((1 << 8 * width) - 1)
        data[...] = np.frombuffer(bits.to_bytes(width, "little"), np.uint8)

    return execute


_EQUAL = _waiting(lambda current, wanted: current == wanted, "")
_AT_LEAST = _waiting(lambda current, wanted: current >= wanted, "at least ")

STEPS: Mapping[str, Maker] = {
    "ttkernel.get_semaphore": _semaphore,
    "ttkernel.noc_semaphore_set": _set,
    "ttkernel.experimental.semaphore_wait": _EQUAL,
    "ttkernel.noc_semaphore_wait": _EQUAL,
    "ttkernel.experimental.semaphore_wait_min": _AT_LEAST,
    "ttkernel.noc_semaphore_wait_min": _AT_LEAST,
    "ttkernel.noc_semaphore_inc": _increment(is_multicast=False),
    "ttkernel.noc_semaphore_inc_multicast": _increment(is_multicast=True),
    "ttkernel.noc_semaphore_set_multicast": _set_multicast(includes_self=False),
    "ttkernel.noc_semaphore_set_multicast_loopback_src": _set_multicast(includes_self=True),
    "ttkernel.load_from_l1": _load,
    "ttkernel.store_to_l1": _store,
}
"""Name of an op -> what translates it."""
