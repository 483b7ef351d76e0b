"""Steps of circular buffers, of arguments, and of reads and writes over the NoC."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.interpreters.kernel_level.circular_buffer import CircularBuffer
from ttnn_jit.interpreters.kernel_level.faults import Wait, fail
from ttnn_jit.interpreters.kernel_level.kernel_core import Argument, Core, Thread, Transfer, by_name
from ttnn_jit.interpreters.kernel_level.kernel_steps import Execute, Maker
from ttnn_jit.interpreters.kernel_level.memory import Pages
from ttnn_jit.process.dataclass import dataclass

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class NocAddress:
    """An address in the L1 of the cores of a rectangle, or in a bank of DRAM.

    Attributes:
        rows: First and last row.
        columns: First and last column.
        address: The address there.
        bank: The bank of DRAM; None: in L1.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    address: int
    bank: int | None = None

    def cores(self, thread: Thread, op: Operation) -> list[Core]:
        """The cores, row by row."""
        rows, columns = (range(min(ends), max(ends) + 1) for ends in (self.rows, self.columns))
        return [thread.chip.core(row, column, op, thread) for row in rows for column in columns]


@dataclass(frozen=True)
class Accessor:
    """A tensor behind an accessor, and the index of its compile-time argument."""

    pages: Pages
    index: int


# Circular buffers


def _on_buffer(action: Callable[[CircularBuffer, int, Operation, Thread], Wait | None]) -> Maker:
    def make(op: Operation) -> Execute:
        buffer, count = op.operands

        def execute(thread: Thread) -> Wait | None:
            return action(thread.values[buffer], thread.values[count], op, thread)

        return execute

    return make


def _push(buffer: CircularBuffer, count: int, op: Operation, thread: Thread) -> None:
    start, size = buffer.address + buffer.write_page * buffer.page_bytes, count * buffer.page_bytes
    for each in thread.core.reads:
        if each.overlaps(start, size):
            fail(
                op,
                thread,
                f"it pushes pages of cb {buffer.port} whose bytes a read may still be writing",
                f"`ttkernel.noc_async_read_barrier` has to run between `{each.op.name}` and it",
            )
    buffer.push(count, op, thread)


def _pop(buffer: CircularBuffer, count: int, op: Operation, thread: Thread) -> None:
    start, size = buffer.address + buffer.read_page * buffer.page_bytes, count * buffer.page_bytes
    for each in thread.core.writes:
        if each.overlaps(start, size):
            fail(
                op,
                thread,
                f"it frees pages of cb {buffer.port} from which a write may still be reading",
                f"`ttkernel.noc_async_write_barrier` has to run between `{each.op.name}` and it",
            )
    buffer.pop(count, op, thread)


def _pointer(of: Callable[[CircularBuffer], int]) -> Maker:
    def make(op: Operation) -> Execute:
        (operand,), (result,) = op.operands, op.results

        def execute(thread: Thread) -> None:
            buffer: CircularBuffer = thread.values[operand]
            thread.values[result] = of(buffer)

        return execute

    return make


# Arguments


def _compile_time_argument(op: Operation) -> Execute:
    index = op.properties["arg_index"]
    assert isinstance(index, IntegerAttr)
    number, result = index.value.data, op.results[0]

    def execute(thread: Thread) -> None:
        thread.values[result] = _argument(thread.arguments.compile_time, number, op, thread)

    return execute


def _runtime_argument(of: Callable[[Thread], Sequence[Argument]]) -> Maker:
    def make(op: Operation) -> Execute:
        (index,), (result,) = op.operands, op.results

        def execute(thread: Thread) -> None:
            thread.values[result] = _argument(of(thread), thread.values[index], op, thread)

        return execute

    return make


def _argument(given: Sequence[Argument], index: int, op: Operation, thread: Thread) -> Any:
    if not 0 <= index < len(given):
        fail(op, thread, f"there is no argument {index}: the host passes {len(given)}")
    argument = given[index]
    if argument.kind == "cb_port":
        return thread.core.buffers[argument.value]
    return argument.value.address if isinstance(argument.value, Pages) else argument.value


def _accessor_arguments(op: Operation) -> Execute:
    named = named_operands(op)
    (result,) = op.results
    previous, base = named.get("prev_args", ()), named.get("cta_base", ())

    def execute(thread: Thread) -> None:
        index = thread.values[previous[0]].index + 1 if previous else thread.values[base[0]]
        given = thread.arguments.compile_time
        if not 0 <= index < len(given) or given[index].kind != "tensor_accessor_args":
            fail(op, thread, f"the compile-time argument {index} describes no tensor")
        thread.values[result] = Accessor(given[index].value, index)

    return execute


def _accessor(op: Operation) -> Execute:
    named = named_operands(op)
    arguments, address = by_name(op, named, "args"), by_name(op, named, "bank_base_address_in")
    (result,) = op.results

    def execute(thread: Thread) -> None:
        accessor: Accessor = thread.values[arguments]
        if thread.values[address] != accessor.pages.address:
            found = thread.values[address]
            fail(op, thread, f"its tensor lies at {accessor.pages.address}, and the address is {found}")
        thread.values[result] = accessor

    return execute


# Transfers


def _page(thread: Thread, accessor: SSAValue, number: SSAValue, op: Operation) -> Array:
    pages, page = thread.values[accessor].pages, thread.values[number]
    if not 0 <= page < pages.count:
        fail(op, thread, f"there is no page {page} in a tensor of {pages.count}")
    found: Array = pages.page(page)
    return found


def _read_tile(op: Operation) -> Execute:
    named = named_operands(op)
    number, accessor, address = (by_name(op, named, each) for each in ("id", "addrGenStruct", "dstLocalL1Addr"))

    def execute(thread: Thread) -> None:
        source = _page(thread, accessor, number, op)
        begin_read(thread, op, source, thread.values[address])

    return execute


def _write_tile(op: Operation) -> Execute:
    named = named_operands(op)
    number, accessor, address = (by_name(op, named, each) for each in ("id", "addrGenStruct", "srcLocalL1Addr"))

    def execute(thread: Thread) -> None:
        target = _page(thread, accessor, number, op)
        begin_write(thread, op, thread.values[address], len(target), [target])

    return execute


def begin_read(thread: Thread, op: Operation, source: Array, address: int, tag: int | None = None) -> None:
    """Begins a read into the core's L1: into pages that are reserved."""
    target = local_bytes(thread, op, address, len(source), is_written=True)
    thread.core.reads.append(Transfer(op, source, [target], address, len(source), thread, tag))


def begin_write(
    thread: Thread, op: Operation, address: int, size: int, target: Sequence[Array], tag: int | None = None
) -> None:
    """Begins a write from the core's L1: from pages that were waited for, or that are reserved."""
    source = local_bytes(thread, op, address, size, is_written=False)
    thread.core.writes.append(Transfer(op, source, target, address, size, thread, tag))


def local_bytes(thread: Thread, op: Operation, address: int, size: int, *, is_written: bool) -> Array:
    """Bytes of the core's own L1, which the thread may read or write now."""
    found = thread.core.space.find(address, size)
    if found is None:
        fail(op, thread, f"nothing in L1 has {size} bytes at the address {address}")
    region, offset = found
    if isinstance(region.owner, CircularBuffer):
        _require_owned(thread, op, region.owner, offset, size, is_written=is_written)
    if not is_written:
        for each in thread.core.reads:
            if each.overlaps(address, size):
                fail(
                    op,
                    thread,
                    "it uses bytes that a read may still be writing",
                    f"`ttkernel.noc_async_read_barrier` has to run between `{each.op.name}` and it",
                )
    return region.data[offset : offset + size]


def _require_owned(
    thread: Thread, op: Operation, buffer: CircularBuffer, offset: int, size: int, *, is_written: bool
) -> None:
    """Refuses bytes of pages that are neither reserved nor, for reading, waited for, and bytes that nothing wrote."""
    first, last = offset // buffer.page_bytes, (offset + size - 1) // buffer.page_bytes
    reserved = buffer.write_page <= first and last < buffer.write_page + buffer.reserved
    waited = buffer.read_page <= first and last < buffer.read_page + buffer.waited
    if reserved or waited:
        if is_written:
            buffer.fill_bytes(offset, size)
        else:
            buffer.require_written(first, last, op, thread)
        return
    pages = f"page {first}" if first == last else f"pages {first} to {last}"
    if is_written:
        fail(op, thread, f"it writes {pages} of cb {buffer.port}, which are not reserved")
    fail(op, thread, f"it reads {pages} of cb {buffer.port}, for which nothing waited")


def _barrier(of: Callable[[Core], list[Transfer]], *, has_tag: bool = False) -> Maker:
    def make(op: Operation) -> Execute:
        named = named_operands(op)
        tag = by_name(op, named, "trid") if has_tag else None

        def execute(thread: Thread) -> None:
            transfers = of(thread.core)
            own = [each for each in transfers if each.by is thread]
            done = [each for each in own if tag is None or each.tag == thread.values[tag]]
            for each in done:
                each.complete()
                transfers.remove(each)

        return execute

    return make


# Addresses of other cores and banks


def _address_of(named: Mapping[str, Sequence[SSAValue]], *names: str) -> Callable[[Thread], NocAddress]:
    """What makes the address that an op names by a core or a bank, and an address there."""
    cores, banks, address = names
    core, bank, offset = named.get(cores, ()), named.get(banks, ()), named[address][0]

    def made(thread: Thread) -> NocAddress:
        values = thread.values
        if bank:
            return NocAddress((0, 0), (0, 0), values[offset], values[bank[0]])
        if not core:
            given = values[offset]
            assert isinstance(given, NocAddress)
            return given
        column, row = (values[each] for each in core)
        return NocAddress((row, row), (column, column), values[offset])

    return made


def _bytes_at(thread: Thread, op: Operation, place: NocAddress, size: int, *, is_written: bool) -> list[Array]:
    """The bytes at an address, of each core that it names, which are read or written."""
    if place.bank is not None:
        return [_in_bank(thread, op, place, size)]
    found = []
    for core in place.cores(thread, op):
        held = core.space.find(place.address, size)
        if held is None:
            fail(op, thread, f"nothing in L1 of core ({core.row}, {core.column}) has {size} bytes at {place.address}")
        region, offset = held
        if is_written and isinstance(region.owner, CircularBuffer):
            region.owner.fill_bytes(offset, size)
        found.append(region.data[offset : offset + size])
    return found


def _in_bank(thread: Thread, op: Operation, place: NocAddress, size: int) -> Array:
    assert place.bank is not None
    tensors = [pages for pages in thread.chip.tensors if pages.space == "dram"]
    banks = [(pages.bank(place.bank, thread.chip.banks), place.address - pages.address) for pages in tensors]
    held = next((each for each in banks if each[1] >= 0 and each[1] + size <= each[0].size), None)
    if held is None or held[1] % held[0].shape[1] + size > held[0].shape[1]:
        fail(op, thread, f"no tensor has {size} bytes in one page at {place.address} of bank {place.bank}")
    pages, offset = held
    page, inside = divmod(offset, pages.shape[1])
    found: Array = pages[page, inside : inside + size]
    return found


def _read(op: Operation) -> Execute:
    named = named_operands(op)
    place = _address_of(named, "srcCoreXY", "srcBankId", "srcAddress" if "srcAddress" in named else "srcNocAddr")
    address, size = by_name(op, named, "dstLocalL1Addr"), by_name(op, named, "size")

    def execute(thread: Thread) -> None:
        (source,) = _bytes_at(thread, op, place(thread), thread.values[size], is_written=False)
        begin_read(thread, op, source, thread.values[address])

    return execute


def _write(op: Operation) -> Execute:
    named = named_operands(op)
    place = _address_of(named, "dstCoreXY", "dstBankId", "dstAddress" if "dstAddress" in named else "dstNocAddr")
    address, size = by_name(op, named, "srcLocalL1Addr"), by_name(op, named, "size")
    tag = named.get("trid", ())

    def execute(thread: Thread) -> None:
        target = _bytes_at(thread, op, place(thread), thread.values[size], is_written=True)
        barrier = thread.values[tag[0]] if tag else None
        begin_write(thread, op, thread.values[address], thread.values[size], target, barrier)

    return execute


def _multicast(*, includes_self: bool) -> Maker:
    def make(op: Operation) -> Execute:
        named = named_operands(op)
        ends = ("dstNocXStart", "dstNocYStart", "dstNocXEnd", "dstNocYEnd")
        given = [by_name(op, named, each) for each in ends] if ends[0] in named else []
        target = by_name(op, named, "dstLocalL1Addr" if given else "dstNocAddrMulticast")
        address, size, count = (by_name(op, named, each) for each in ("srcLocalL1Addr", "size", "num_dests"))

        def execute(thread: Thread) -> None:
            values = thread.values
            place = values[target]
            if given:
                left, top, right, bottom = (values[each] for each in given)
                place = NocAddress((top, bottom), (left, right), place)
            cores = [core for core in place.cores(thread, op) if includes_self or core is not thread.core]
            if len(cores) != values[count]:
                fail(op, thread, f"it writes to {len(cores)} cores, and says {values[count]}")
            each_place = (NocAddress((core.row,) * 2, (core.column,) * 2, place.address) for core in cores)
            bytes_ = [each for one in each_place for each in _bytes_at(thread, op, one, values[size], is_written=True)]
            begin_write(thread, op, values[address], values[size], bytes_)

        return execute

    return make


def _noc_address(op: Operation) -> Execute:
    named = named_operands(op)
    column, row, address = (by_name(op, named, each) for each in ("x", "y", "l1Address"))
    (result,) = op.results

    def execute(thread: Thread) -> None:
        values = thread.values
        values[result] = NocAddress((values[row],) * 2, (values[column],) * 2, values[address])

    return execute


def _multicast_address(op: Operation) -> Execute:
    named = named_operands(op)
    names = ("noc_x_start", "noc_y_start", "noc_x_end", "noc_y_end", "addr")
    given = [by_name(op, named, each) for each in names]
    (result,) = op.results

    def execute(thread: Thread) -> None:
        left, top, right, bottom, address = (thread.values[each] for each in given)
        thread.values[result] = NocAddress((top, bottom), (left, right), address)

    return execute


def _bank_address(op: Operation) -> Execute:
    named = named_operands(op)
    bank, offset = by_name(op, named, "bank_id"), by_name(op, named, "bankAddressOffset")
    (result,) = op.results

    def execute(thread: Thread) -> None:
        thread.values[result] = NocAddress((0, 0), (0, 0), thread.values[offset], thread.values[bank])

    return execute


def _own(of: Callable[[Core], int]) -> Maker:
    def make(op: Operation) -> Execute:
        (result,) = op.results

        def execute(thread: Thread) -> None:
            thread.values[result] = of(thread.core)

        return execute

    return make


def _as_given(op: Operation) -> Execute:
    operand, (result,) = op.operands[0], op.results

    def execute(thread: Thread) -> None:
        thread.values[result] = thread.values[operand]

    return execute


def _nothing(op: Operation) -> Execute:
    def execute(thread: Thread) -> None:
        """It changes nothing that is observed here."""

    assert not op.results, "an op without effect has no results"
    return execute


def _stop(op: Operation) -> Execute:
    def execute(thread: Thread) -> None:
        fail(op, thread, "it is executed")

    return execute


def _named(names: Iterable[str], maker: Maker) -> dict[str, Maker]:
    return {f"ttkernel.{name}": maker for name in names}


STEPS: Mapping[str, Maker] = {
    "ttkernel.cb_reserve_back": _on_buffer(CircularBuffer.reserve),
    "ttkernel.cb_push_back": _on_buffer(_push),
    "ttkernel.cb_wait_front": _on_buffer(CircularBuffer.wait),
    "ttkernel.cb_pop_front": _on_buffer(_pop),
    "ttkernel.get_write_ptr": _pointer(lambda buffer: buffer.address + buffer.write_page * buffer.page_bytes),
    "ttkernel.get_read_ptr": _pointer(lambda buffer: buffer.address + buffer.read_page * buffer.page_bytes),
    "ttkernel.get_tile_size": _pointer(lambda buffer: buffer.page_bytes),
    "ttkernel.get_compile_time_arg_val": _compile_time_argument,
    "ttkernel.get_common_arg_val": _runtime_argument(lambda thread: thread.arguments.common),
    "ttkernel.get_arg_val": _runtime_argument(lambda thread: thread.arguments.own),
    "ttkernel.TensorAccessorArgs": _accessor_arguments,
    "ttkernel.TensorAccessor": _accessor,
    "ttkernel.noc_async_read_tile": _read_tile,
    "ttkernel.noc_async_write_tile": _write_tile,
    "ttkernel.noc_async_read": _read,
    "ttkernel.noc_async_write": _write,
    "ttkernel.noc_async_write_one_packet_with_trid": _write,
    "ttkernel.noc_async_read_barrier": _barrier(lambda core: core.reads),
    "ttkernel.noc_async_write_barrier": _barrier(lambda core: core.writes),
    "ttkernel.noc_async_read_barrier_with_trid": _barrier(lambda core: core.reads, has_tag=True),
    "ttkernel.noc_async_write_barrier_with_trid": _barrier(lambda core: core.writes, has_tag=True),
    "ttkernel.noc_async_write_multicast": _multicast(includes_self=False),
    "ttkernel.noc_async_write_multicast_one_packet": _multicast(includes_self=False),
    "ttkernel.noc_async_write_multicast_loopback_src": _multicast(includes_self=True),
    "ttkernel.get_noc_addr": _noc_address,
    "ttkernel.get_noc_multicast_addr": _multicast_address,
    "ttkernel.experimental::get_noc_multicast_addr": _multicast_address,
    "ttkernel.get_noc_addr_from_bank_id": _bank_address,
    "ttkernel.unreachable": _stop,
    **_named(("my_logical_x_", "my_x"), _own(lambda core: core.column)),
    **_named(("my_logical_y_", "my_y"), _own(lambda core: core.row)),
    **_named(
        (
            "experimental.convert_logical_x_to_translated",
            "experimental.convert_logical_y_to_translated",
            "experimental::convert_logical_x_to_translated",
            "experimental::convert_logical_y_to_translated",
            "reinterpret_cast",
            "reinterpret_cast<volatile tt_l1_ptr uint32_t*>",
        ),
        _as_given,
    ),
    **_named(("dprint", "noc_async_atomic_barrier"), _nothing),
}
"""Name of an op -> what translates it."""
