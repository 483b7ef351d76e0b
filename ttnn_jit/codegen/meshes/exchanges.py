"""The launches of a collective: copies between the tensors of devices, and folds.

An expression (`ops/families/collective.py`) over whole tensors or slices is a view, which costs nothing; a
concatenation, a constant or a fold is a value that launches write. An expression that several devices share is one
value. A slice of a fold is a fold of slices. Block floats are unpacked, and packed once; of them a fold is packed
before it is sliced, so that its groups of elements are those of the whole tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation

from ttnn_jit.codegen.meshes.fold_kernel import fold_kernel
from ttnn_jit.codegen.reading.copies import copies_of, fill
from ttnn_jit.codegen.reading.packing import packed_into, repacking_whole
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand
from ttnn_jit.codegen.schedules.host_plan import HostLaunch
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.ops.families.collective import Fill, Fold, Join, Shard, Slice, Source, shape_of
from ttnn_jit.specs.access.access import Access, Part
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


class ExchangeLaunches:
    """The launches of one collective on all devices.

    Args:
        op: The collective.
        shard: The tensor of an operand on a device, or a view of it.
        specs: The spec of each operand.
        numerics: The rounding of folds.

    Attributes:
        launches: The launches, in order.
        placed: The values that they write -> the device on which each was first needed.
    """

    def __init__(
        self,
        op: Operation,
        shard: Callable[[Shard], Operand],
        specs: Sequence[TensorSpec],
        numerics: Numerics,
    ) -> None:
        self._op = op
        self._shard = shard
        self._shapes = [tuple(spec.shape) for spec in specs]
        self._spec = specs[0]
        self._is_packed = specs[0].dtype.is_block_float
        self._numerics = numerics
        self._made: dict[tuple[object, TensorSpec], tuple[PlanValue, Source | None]] = {}
        self.launches: list[HostLaunch] = []
        self.placed: dict[PlanValue, int] = {}

    def value(self, source: Source, spec: TensorSpec, device: int) -> PlanValue:
        """The value of an expression as a tensor of `spec`, which may be that of another device."""
        whole = self._shard(source) if isinstance(source, Shard) else None
        if whole is not None and whole.view == View(spec):
            return whole.value
        key = whole or id(source), spec
        if key not in self._made:
            made = self._new(spec, device)
            self._made[key] = made.value, source  # which keeps the id of `source`
            self._write(source, made, device)
        return self._made[key][0]

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
        if isinstance(source, Shard):
            self._add(repacking_whole(self._shard(source), target, self._numerics))
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
            case Shard():
                return self._unpacked(self._shard(source), like.dtype, device)
            case Slice(of, dim, begin, end) if self._is_packed or not isinstance(of, Fold):
                return _block(self._operand(of, like, device), dim, begin, end - begin)
            case _:
                own = self._spec.dtype if isinstance(source, Fold) else like.dtype
                spec = like.with_(shape=shape_of(source, self._shapes), dtype=own)
                return self._unpacked(Operand(self.value(source, spec, device), View(spec)), like.dtype, device)

    def _unpacked(self, operand: Operand, dtype: DataType, device: int) -> Operand:
        """A tensor with elements of `dtype`, unpacked once if it has block floats."""
        if operand.view.spec.dtype is dtype:
            return operand
        key = operand, operand.view.spec.with_(dtype=dtype)
        if key not in self._made:
            made = self._new(key[1], device)
            self._made[key] = made.value, None
            self._add(repacking_whole(operand, made, self._numerics))
        return Operand(self._made[key][0], View(key[1]))


def _block(operand: Operand, dim: int, begin: int, extent: int) -> Operand:
    """The elements from `begin` on along a dimension of a view."""
    shape = operand.view.shape
    origin = tuple(begin if axis == dim else 0 for axis in range(len(shape)))
    extents = tuple(extent if axis == dim else own for axis, own in enumerate(shape))
    return operand if extents == tuple(shape) else operand.through(Part(origin, Access.identity(extents)).result_access)
