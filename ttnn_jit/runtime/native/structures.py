"""Layouts of the structures that native code and Python share: the one source of all field offsets."""

from __future__ import annotations

from typing import ClassVar

from ttnn_jit.process.dataclass import dataclass

FIELD_BYTES = 8


@dataclass(eq=False)
class Field:
    """A field of a `Structure`, which sets its offset.

    Attributes:
        kind: Its LLVM type, ``i64`` or ``ptr``; empty for memory that is opaque outside of the C library.
        nbytes: Its size in bytes.
        align: The alignment of its offset, in bytes.
        offset: Its offset in the structure, in bytes.
    """

    kind: str
    nbytes: int = FIELD_BYTES
    align: int = FIELD_BYTES
    offset: int = -1


def number() -> Field:
    """A field of a 64-bit integer."""
    return Field("i64")


def address() -> Field:
    """A field of an address."""
    return Field("ptr")


def cache_line_field(kind: str, nbytes: int) -> Field:
    """A field that fills aligned `nbytes`, so that writes to it cause no false sharing with other fields."""
    return Field(kind, nbytes, nbytes)


class Structure:
    """The base of structures: classes whose attributes are consecutive fields. They have no instances.

    Attributes:
        nbytes: The size of the structure in bytes.
        fields: The fields by name, in order.
    """

    nbytes: ClassVar[int] = 0
    fields: ClassVar[dict[str, Field]] = {}

    def __init_subclass__(cls) -> None:
        cls.fields = {name: field for name, field in vars(cls).items() if isinstance(field, Field)}
        end = 0
        for field in cls.fields.values():
            field.offset = -(-end // field.align) * field.align
            end = field.offset + field.nbytes
        cls.nbytes = end

    @classmethod
    def int64s(cls, **values: int) -> list[int]:
        """The values of a structure of 64-bit fields, in order; one value for each field."""
        assert values.keys() == cls.fields.keys(), f"{cls.__name__} has other fields"
        return [int(values[name]) for name in cls.fields]


class Pool(Structure):
    """The state of the helper threads; POSIX hosts' mutexes and conditions take 40 to 64 bytes."""

    busy = number()  # whether a call uses the pool
    chunks = number()  # of the shared kernel
    entry = address()  # its `LaunchEntry`
    pointers = address()  # its operands
    is_open = number()  # whether helpers may still join
    active = number()  # helpers that work
    round = number()  # kernels that were shared so far
    openings = number()  # helpers that may still join
    limit = number()  # most helpers of a kernel
    sleepers = number()
    caller_cpu = number()  # of the last caller
    awake = number()  # helpers that do not sleep
    last_end = number()  # of a kernel that its caller ran alone, in nanoseconds
    next_chunk = cache_line_field("i64", 128)  # low half: chunks taken from the front; high half: from the back
    mutex = cache_line_field("", 128)
    work = cache_line_field("", 128)  # the condition that helpers sleep on
    finished = cache_line_field("", 128)  # the condition that a caller sleeps on


class LaunchTable(Structure):
    """The header of a program's launch table.

    A `LaunchEntry` for each kernel or group of launches follows, then the entries of the launches of groups, then the
    `GroupChunk`s of groups, then the plan's constants.
    """

    kernels = number()  # kernels and groups
    widest = number()  # the largest number of operands


class LaunchEntry(Structure):
    """One launch of a kernel."""

    function = address()
    operands = number()
    indices = address()  # of the operands' buffers, each an i64
    offsets = address()  # per operand, the bytes from the start of its buffer to its first element
    params = address()
    chunks = number()
    chunk_params = address()  # of every chunk but the last
    last_params = address()
    steps = address()  # per operand, the bytes from one chunk to the next
    wakes = number()  # whether it is worth waking a thread for


class GroupChunk(Structure):
    """Launches of a group that one thread runs in order."""

    launches = number()
    entries = number()  # bytes from here to the first `LaunchEntry`


class GroupParams(Structure):
    """The params of the kernel that runs chunks of a group (`launch_each` in launch_ir.py)."""

    chunks = number()
    widest = number()  # the largest number of operands


TABLE = -1
"""The index of the launch table among a call's buffers."""
BUFFERS = -2
"""The index of the addresses of a call's buffers themselves."""


class CallArguments(Structure):
    """The arguments of a program's entry; the address of every buffer follows.

    The end is as in a `ReplayedCall`: the table is the buffer of index `TABLE`, since constants lie behind it.
    """

    pool = address()  # 0: the call runs on the calling thread only; the call overwrites it as `ReplayedCall.buffers`
    table = address()


class ReplayArguments(Structure):
    """The arguments of the entry that replays a trace."""

    calls = address()  # of the arguments of each call: a `ReplayedCall`
    count = number()  # of calls, one at least
    pool = address()  # as in `CallArguments`


class ReplayedCall(Structure):
    """One call of a program in a trace; the address of every buffer of the program follows."""

    buffers = address()  # of the first of these addresses; the call writes it
    table = address()


class CopyParams(Structure):
    """The params of the kernel that copies rows between two memories; all but the counts are bytes."""

    batches = number()  # one at least
    rows = number()  # of a batch, one at least
    row_bytes = number()  # that are copied
    source_row = number()  # from one row to the next
    source_batch = number()  # from one batch to the next
    target_row = number()  # likewise; what follows a copied row is made zero
    target_batch = number()  # what follows the last row of a batch is made zero


class Timespec(Structure):
    """The C library's struct timespec, where time_t and long have 64 bits."""

    seconds = number()
    nanoseconds = number()
