"""The launches of a collective: copies between the tensors of devices, and folds.

An expression (`ops/families/collective.py`) over whole tensors or slices is a view, which costs nothing; a
concatenation, a constant or a fold is a value that launches write. An expression that several devices share is one
value. A slice of a fold is a fold of slices. Block floats are unpacked, and packed once; of them a fold is packed
before it is sliced, so that its groups of elements are those of the whole tensor.

Where other ranks have devices, a stage of the collective (`ops/collectives/rank_stages.py`) is an exchange: a launch
without code, whose operands are what is sent and what is received.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation

from ttnn_jit.codegen.meshes.fold_kernel import fold_kernel
from ttnn_jit.codegen.reading.copies import copies_of, fill
from ttnn_jit.codegen.reading.exchanging import loops_of_exchange
from ttnn_jit.codegen.reading.packing import packed_into, repacking_whole
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, streams_of
from ttnn_jit.codegen.schedules.device_exchange import OperandPiece, RankExchange
from ttnn_jit.codegen.schedules.host_plan import HostLaunch
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.ops.collectives.rank_partition import has_partial_sums
from ttnn_jit.ops.collectives.rank_stages import Gather, Stage, bytes_of_slice, partial_dtype, spec_of_value
from ttnn_jit.ops.families.collective import (
    Extents,
    Fill,
    Fold,
    Join,
    Received,
    Shard,
    Slice,
    Source,
    devices_read_by,
    shape_of,
)
from ttnn_jit.process.memoized import keys_as_expressions
from ttnn_jit.runtime.plans.rank_exchanges import ExchangeCall
from ttnn_jit.specs.access.access import Access, Part
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

_Bytes: TypeAlias = "tuple[Operand, int, int]"
"""An operand, the first byte of a piece of it, and the number of bytes."""


class ExchangeLaunches:
    """The launches of one collective on all devices.

    Args:
        op: The collective.
        shard: The tensor of an operand on a device of this rank, or a view of it.
        spec: The spec of the first operand.
        shapes: The extents of each operand.
        positions: The position of each device of this rank, by its number.
        numerics: The rounding of folds.

    Attributes:
        launches: The launches, in order.
        placed: The values that they write -> the device on which each was first needed.
    """

    def __init__(
        self,
        op: Operation,
        shard: Callable[[Shard], Operand],
        spec: TensorSpec,
        shapes: Sequence[Extents],
        positions: Mapping[int, int],
        numerics: Numerics,
    ) -> None:
        self._op = op
        self._given = shard
        self._shapes = shapes
        self._spec = spec
        self._positions = positions
        self._is_packed = spec.dtype.is_block_float
        self._numerics = numerics
        self._pieces: dict[Shard, Operand] = {}
        self._received: dict[int, Operand] = {}
        self._made: dict[tuple[object, TensorSpec], tuple[PlanValue, Source | None]] = {}
        self.launches: list[HostLaunch] = []
        self.placed: dict[PlanValue, int] = {}

    def value(self, source: Source, spec: TensorSpec, device: int) -> PlanValue:
        """The value of an expression as a tensor of `spec`, which may be that of another device."""
        whole = self._known(source)
        if whole is not None and whole.view == View(spec):
            return whole.value
        key = whole or id(source), spec
        found = self._found(key)
        if found is None:
            made = self._new(spec, device)
            found = self._note(key, made.value, source)
            self._write(source, made, device)
        return found

    def _found(self, key: tuple[object, TensorSpec]) -> PlanValue | None:
        """The known value of an expression, or of an operand, as a tensor of a spec."""
        with keys_as_expressions():
            known = self._made.get(key)
        return known and known[0]

    def _note(self, key: tuple[object, TensorSpec], value: PlanValue, source: Source | None) -> PlanValue:
        """Remembers a value, and the expression whose identity is in its key."""
        with keys_as_expressions():
            self._made[key] = value, source
        return value

    def _known(self, source: Source) -> Operand | None:
        """An expression that is a tensor, or a view of one; None of others."""
        match source:
            case Shard():
                return self._pieces.get(source) or self._given(source)
            case Received():
                return self._received[id(source)]
            case _:
                return None

    # --- Exchanges with other ranks -----------------------------------------------------------------------------------

    def exchange(self, stage: Stage, call: ExchangeCall) -> None:
        """Adds the exchange of a stage: other ranks get what they need of this one, which receives what it needs."""
        sends = [(rank, self._sent(value)) for rank, value in stage.part.sends]
        places: dict[int, _Bytes] = {}
        copies = [copied for gather in stage.gathers for copied in self._gather(gather, places)]
        receives = []
        for source, spec in stage.received:
            if id(source) not in places:
                made = self._received[id(source)] = self._new(spec, 0)
                places[id(source)] = made, 0, spec.nbytes
            receives.append((source.rank, places[id(source)]))
        self._add(self._rank_exchange(call, sends, receives, copies))

    def _rank_exchange(
        self,
        call: ExchangeCall,
        sends: Sequence[tuple[int, _Bytes]],
        receives: Sequence[tuple[int, _Bytes]],
        copies: Sequence[tuple[_Bytes, _Bytes]],
    ) -> BoundKernel:
        read = dict.fromkeys([*(own[0] for _, own in sends), *(source[0] for _, source in copies)])
        written = dict.fromkeys([*(own[0] for _, own in receives), *(target[0] for target, _ in copies)])
        operands = {operand: index for index, operand in enumerate([*read, *written])}

        def piece(own: _Bytes) -> OperandPiece:
            operand, begin, nbytes = own
            return OperandPiece(operands[operand], begin, nbytes)

        loops = loops_of_exchange(len(operands))
        streams = streams_of((*read,), (*written,), loops)
        kernel = RankExchange(
            streams,
            call,
            tuple((rank, piece(own)) for rank, own in sends),
            tuple((rank, piece(own)) for rank, own in receives),
            tuple((piece(target), piece(source)) for target, source in copies),
        )
        return BoundKernel(kernel, (*read,), (*written,), loops)

    def _sent(self, value: Source) -> _Bytes:
        """The bytes of a value to send; a slice that lies in one piece is sent from where it is."""
        if isinstance(value, Slice):
            whole = self._in_memory(value.of)
            piece = bytes_of_slice(value, whole.view.spec, self._shapes)
            if piece is not None:
                return (whole, *piece)
        sent = self._in_memory(value)
        return sent, 0, sent.view.spec.nbytes

    def _in_memory(self, source: Source) -> Operand:
        """A whole tensor that has an expression in the memory that ranks agree on."""
        spec, known = spec_of_value(source, self._spec, self._shapes), self._known(source)
        if known is not None and known.view == View(known.view.spec) and known.view.spec.interleaved == spec:
            return known
        position = next(self._positions[each] for each in devices_read_by(source) if each in self._positions)
        return Operand(self.value(source, spec, position), View(spec))

    def _gather(self, gather: Gather, places: dict[int, _Bytes]) -> list[tuple[_Bytes, _Bytes]]:
        """The own parts of a join, as pairs of target and source; notes the places of the parts that are received."""
        target = self._new(gather.spec, self._positions[gather.number])
        self._note((id(gather.join), gather.spec), target.value, gather.join)
        first, copies = 0, []
        for part, begin, end in zip(gather.join.parts, gather.offsets, gather.offsets[1:], strict=False):
            extent = shape_of(part, self._shapes)[gather.join.dim]
            place = target, begin, end - begin
            if isinstance(part, Received):
                self._received[id(part)] = _block(target, gather.join.dim, first, extent)
                places[id(part)] = place
            else:
                copies.append((place, (self._in_memory(part), 0, end - begin)))
            first += extent
        return copies

    def add_operand(self, results: Mapping[int, tuple[Source, ...]], index: int) -> None:
        """Takes the results of a stage as the operand of this index of the next one."""
        for number, (result,) in results.items():
            self._pieces[Shard(number, index)] = self._in_memory(result)

    # --- Expressions --------------------------------------------------------------------------------------------------

    def _new(self, spec: TensorSpec, device: int) -> Operand:
        made = Operand.new(spec)
        self.placed[made.value] = device
        return made

    def _add(self, *kernels: BoundKernel) -> None:
        self.launches += [HostLaunch((self._op,), kernel) for kernel in kernels]

    def _write(self, source: Source, target: Operand, device: int) -> None:
        """Adds the launches that write an expression to a tensor, or to a block of one."""
        if target.view.spec.dtype.is_block_float:
            self._write_packed(source, target, device)
            return
        match source:
            case Join(dim, parts):
                begin = 0
                for part in parts:
                    extent = shape_of(part, self._shapes)[dim]
                    self._write(part, _block(target, dim, begin, extent), device)
                    begin += extent
            case Fill(_, _, _, number):
                self._add(fill(target, number, self._numerics))
            case Fold(terms=terms):
                self._fold(source, terms, target, device)
            case Slice(Fold(terms=terms) as fold, dim, begin, end) if not self._is_packed:
                self._fold(fold, [Slice(term, dim, begin, end) for term in terms], target, device)
            case _:
                self._copy(self._operand(source, target.view.spec, device), target)

    def _write_packed(self, source: Source, target: Operand, device: int) -> None:
        known = self._known(source)
        if known is not None:
            self._add(repacking_whole(known, target, self._numerics))
            return
        spec = target.view.spec
        dense = self._new(spec.with_(dtype=COMPUTE_TYPE if isinstance(source, Fold) else spec.dtype.unpacked), device)
        self._write(source, dense, device)
        self._add(*packed_into(dense, target, self._numerics))

    def _fold(self, fold: Fold, terms: Sequence[Source], target: Operand, device: int) -> None:
        operands = [self._operand(term, target.view.spec, device) for term in terms]
        try:
            self._add(fold_kernel(fold, operands, target, self._numerics))
        except NotStridedError:
            dense = [self._new(target.view.spec.with_(shape=target.view.shape), device) for _ in operands]
            for read, copied in zip(operands, dense, strict=True):
                self._copy(read, copied)
            self._add(fold_kernel(fold, dense, target, self._numerics))

    def _copy(self, read: Operand, target: Operand) -> None:
        self._add(*copies_of(read, Access.identity(read.view.shape), target, self._numerics))

    def _operand(self, source: Source, like: TensorSpec, device: int) -> Operand:
        """An expression as a view of elements of `like`; what is no view is written to a tensor in its layout."""
        match source:
            case Shard() | Received():
                known = self._known(source)
                assert known is not None, "it is a tensor"
                return self._unpacked(known, like.dtype, device)
            case Slice(of, dim, begin, end) if self._is_packed or not isinstance(of, Fold):
                return _block(self._operand(of, like, device), dim, begin, end - begin)
            case _:
                own = self._spec.dtype if isinstance(source, Fold) else like.dtype
                own = partial_dtype(self._spec.dtype) if has_partial_sums(source) else own
                spec = like.with_(shape=shape_of(source, self._shapes), dtype=own)
                return self._unpacked(Operand(self.value(source, spec, device), View(spec)), like.dtype, device)

    def _unpacked(self, operand: Operand, dtype: DataType, device: int) -> Operand:
        """A tensor with elements of `dtype`, unpacked once, if it has block floats; another tensor as it is."""
        if not operand.view.spec.dtype.is_block_float or operand.view.spec.dtype is dtype:
            return operand
        key = operand, operand.view.spec.with_(dtype=dtype)
        found = self._found(key)
        if found is None:
            made = self._new(key[1], device)
            found = self._note(key, made.value, None)
            self._add(repacking_whole(operand, made, self._numerics))
        return Operand(found, View(key[1]))


def _block(operand: Operand, dim: int, begin: int, extent: int) -> Operand:
    """The elements from `begin` on along a dimension of a view."""
    shape = operand.view.shape
    origin = tuple(begin if axis == dim else 0 for axis in range(len(shape)))
    extents = tuple(extent if axis == dim else own for axis, own in enumerate(shape))
    return operand if extents == tuple(shape) else operand.through(Part(origin, Access.identity(extents)).result_access)
