"""The exchanges of a program with other ranks: which bytes of which buffers go to a rank and come from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.plans.spec_json import numbers, text_of
from ttnn_jit.specs.tensor_spec import TensorSpec

_KEY_BYTES = 16


class Piece(NamedTuple):
    """Bytes of a buffer.

    Attributes:
        buffer: The index of the buffer.
        begin: The first byte.
        nbytes: The number of bytes, at least one.
    """

    buffer: int
    begin: int
    nbytes: int


class Transfer(NamedTuple):
    """Bytes that go to another rank, or come from it.

    Attributes:
        rank: The other rank, counted among those that share the mesh.
        piece: The bytes.
    """

    rank: int
    piece: Piece


class Copied(NamedTuple):
    """Bytes that are copied within the rank."""

    target: Piece
    source: Piece


@dataclass(frozen=True)
class ExchangeCall:
    """What ranks call together in a program.

    Attributes:
        begin: The operation and its attributes, for errors.
        shapes: The extents of its operands on each device.
        end: The type of the first operand, and the function.
        base: The hash of everything else that the ranks must agree on, in hexadecimal.
        file: The user's file of the operation; "" if it is not known.
        line: Its line.
    """

    begin: str
    shapes: tuple[tuple[int, ...], ...]
    end: str
    base: str
    file: str = ""
    line: int = 0

    @property
    def text(self) -> str:
        """The operation, its operand and attributes, and the function."""
        return f"{self.begin}{[*self.shapes[0]]}{self.end}"

    @property
    def key(self) -> bytes:
        """The hash of everything that the ranks must agree on."""
        return blake2b(f"{self.base} {self.shapes}".encode(), digest_size=_KEY_BYTES).digest()


@dataclass(frozen=True)
class PlanExchange:
    """An exchange with other ranks between two launches.

    Every rank that shares the mesh has it at the same place among the exchanges of its program, even if it neither
    sends nor receives.

    Attributes:
        before: The index of the launch before which it is made.
        call: What is called.
        sends: What is sent, in the order in which the receivers expect it.
        receives: What is received.
        copies: What is copied meanwhile.
    """

    before: int
    call: ExchangeCall
    sends: tuple[Transfer, ...] = ()
    receives: tuple[Transfer, ...] = ()
    copies: tuple[Copied, ...] = ()

    @property
    def read(self) -> Iterator[Piece]:
        """The bytes that it reads."""
        yield from (each.piece for each in self.sends)
        yield from (each.source for each in self.copies)

    @property
    def written(self) -> Iterator[Piece]:
        """The bytes that it writes."""
        yield from (each.piece for each in self.receives)
        yield from (each.target for each in self.copies)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that depend on sizes, in order."""
        pieces = [each.piece for each in (*self.sends, *self.receives)]
        pieces += [piece for each in self.copies for piece in each]
        extents = (extent for shape in self.call.shapes for extent in shape)
        return (*extents, *(number for each in pieces for number in (each.begin, each.nbytes)))

    def with_numbers(self, numbers: Sequence[int]) -> PlanExchange:
        """The exchange with other `numbers`."""
        rest = iter(numbers)

        def piece(own: Piece) -> Piece:
            return Piece(own.buffer, next(rest), next(rest))

        shapes = tuple(tuple([next(rest) for _ in shape]) for shape in self.call.shapes)
        sends, receives = (
            tuple([Transfer(each.rank, piece(each.piece)) for each in several])
            for several in (self.sends, self.receives)
        )
        copies = tuple([Copied(piece(each.target), piece(each.source)) for each in self.copies])
        return PlanExchange(self.before, replace(self.call, shapes=shapes), sends, receives, copies)

    def in_memory(self, memory_of: Sequence[int]) -> PlanExchange:
        """The exchange over the memory of its buffers, which `memory_of` numbers."""

        def piece(own: Piece) -> Piece:
            return own._replace(buffer=memory_of[own.buffer])

        sends, receives = (
            tuple([Transfer(each.rank, piece(each.piece)) for each in several])
            for several in (self.sends, self.receives)
        )
        copies = tuple([Copied(piece(each.target), piece(each.source)) for each in self.copies])
        return PlanExchange(self.before, self.call, sends, receives, copies)

    def faults(self, buffers: Sequence[TensorSpec]) -> Iterator[str]:
        """Errors of an exchange over these buffers."""
        for piece in (*self.read, *self.written):
            if not 0 <= piece.buffer < len(buffers):
                yield f"an exchange names buffer {piece.buffer}, which does not exist"
            elif piece.begin < 0 or piece.nbytes < 1 or piece.begin + piece.nbytes > buffers[piece.buffer].nbytes:
                yield f"an exchange leaves the memory of buffer {piece.buffer}"
        if any(each.rank < 0 for each in (*self.sends, *self.receives)):
            yield "an exchange is with a rank that does not exist"
        if any(target.nbytes != source.nbytes for target, source in self.copies):
            yield "an exchange copies another number of bytes than there are"

    def to_json(self) -> list[Any]:
        """JSON values."""
        call = self.call
        transfers = ([[each.rank, *each.piece] for each in several] for several in (self.sends, self.receives))
        copies = [[*each.target, *each.source] for each in self.copies]
        own = [call.begin, [*map(list, call.shapes)], call.end, call.base, call.file, call.line]
        return [self.before, own, *transfers, copies]

    @staticmethod
    def from_json(fields: Any) -> PlanExchange:
        """The inverse of `to_json`.

        Raises:
            LookupError, TypeError, ValueError: The fields do not describe an exchange.
        """
        before, (begin, shapes, end, base, file, line), sends, receives, copies = fields
        index, number = numbers([before, line])
        extents = tuple(map(numbers, shapes))
        if not extents:
            raise ValueError("an exchange of no operand")
        call = ExchangeCall(text_of(begin), extents, text_of(end), text_of(base), text_of(file), number)
        return PlanExchange(index, call, _transfers(sends), _transfers(receives), tuple(map(_copied, copies)))


def _transfers(fields: Any) -> tuple[Transfer, ...]:
    found = []
    for each in fields:
        rank, *piece = numbers(each)
        found.append(Transfer(rank, Piece(*piece)))
    return tuple(found)


def _copied(fields: Any) -> Copied:
    own = numbers(fields)
    return Copied(Piece(*own[:3]), Piece(*own[3:]))


def parts_of_launches(exchanges: Sequence[PlanExchange], launches: int) -> list[range]:
    """The indices of the launches before each exchange, and of those after the last one."""
    ends = [*(each.before for each in exchanges), launches]
    return [range(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
