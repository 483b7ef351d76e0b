"""Argument reduction along a loop (argmax, argmin): the index of the first largest or smallest element.

A row whose elements lie together is gone through block by block: what is farthest in a block is found in vectors, and
in the first block that has what is farthest in the row the element is looked for that equals it, while the first cache
holds them. A NaN ends the search in its block. Columns that lie together are a vector, with the indices in another one.

Bound: the bytes of the elements, and a second look at one block of a row; two comparisons and two selections a vector
of columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.elements import computed
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I1, I32, I64, PTR, Type, type_of
from ttnn_jit.kernels.llvm.values import FALSE, TRUE, Value, i64, zero
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType

_CHAINS = 4
"""Vectors that elements are compared with in turn, which hides the latency of a comparison."""
_SPAN = 16
"""Steps of a block, each of a vector for every chain."""
_FIND = "ttnn_jit.find"


@dataclass(frozen=True)
class ArgumentReduction:
    """The function ``void name(ptr pointers, ptr params)`` over elements and the indices, of 32 bits, of one for a row.

    Attributes:
        name: Its symbol.
        dtype: Of the elements.
        rank: Number of the outermost loop; the innermost one goes along the elements that are compared.
        largest: Whether it looks for the largest; else for the smallest.
        is_dense: Whether the elements that are compared lie together; else those along the next loop may.
        isa: Decides the lanes of a vector.
        module: What it declares.
    """

    name: str
    dtype: DataType
    rank: int
    largest: bool
    is_dense: bool
    isa: HostIsa
    module: ModuleText

    def definitions(self) -> list[str]:
        """The functions."""
        elements = _Elements(self.dtype, self.largest, self.isa.lanes)
        kernel, one_by_one = self._kernel(elements), _one_by_one(elements, self.module)
        return [kernel, one_by_one, *([_in_blocks(elements, self.module)] if self.is_dense else [])]

    def _kernel(self, elements: _Elements) -> str:
        in_columns = self.rank > 0 and not self.is_dense
        f = KernelFunction(self.name, self.module, (elements.stored, I32), self.rank)
        n = f.extent(0, "n")
        with f.when(f.compare("sgt", n, 0, "some"), "any"):
            step = f.stride(0, 0, "step")
            columns = _Columns.of(f) if in_columns else None
            with f.outer_loops(f.streams(), innermost=2 if in_columns else 1) as (x, indices):
                if columns is not None:
                    columns.find(elements, x, indices, n, step)
                elif self.is_dense:
                    f.store(f.narrow(f.call(I64, f"{_FIND}.dense", x, n), I32, "found"), indices)
                else:
                    f.store(_index_of(f, elements, x, n, step), indices)
        return f.ended()


@dataclass(frozen=True)
class _Elements:
    """Elements that are compared.

    Attributes:
        dtype: Of them.
        largest: Whether the largest is the farthest; else the smallest.
        lanes: Of a vector.
    """

    dtype: DataType
    largest: bool
    lanes: int

    @property
    def stored(self) -> Type:
        """As they are in memory."""
        return type_of(self.dtype.traits.llvm)

    @property
    def scalar(self) -> Type:
        """As they are computed with."""
        return type_of(self.dtype.compute.llvm)

    @property
    def vector(self) -> Type:
        """A vector of them."""
        return self.scalar.times(self.lanes)

    @property
    def is_float(self) -> bool:
        """Whether they are floats."""
        return not self.dtype.is_integer

    @property
    def ordered(self) -> str:
        """The comparison that finds numbers that are farther."""
        way = "gt" if self.largest else "lt"
        return f"o{way}" if self.is_float else f"{'s' if self.dtype.compute.is_signed else 'u'}{way}"

    def further(self, f: FunctionBuilder, value: Value, held: Value) -> Value:
        """Whether the value is farther than what is held; NaN is, than what is none."""
        if not self.is_float:
            return f.compare(self.ordered, value, held)
        or_nan = f.compare(f"u{self.ordered[1:]}", value, held)
        return f.bit_and(or_nan, f.compare("ord", held, held))

    def farther(self, f: FunctionBuilder, x: Value, y: Value) -> Value:
        """That of two numbers which is farther; the second, of equal ones."""
        return f.select(f.compare(self.ordered, x, y), x, y)

    def load(self, f: FunctionBuilder, address: Value, lanes: int = 0) -> Value:
        """The numbers at an address, as they are computed with."""
        return computed(f, f.load(self.stored.times(lanes), address, self.dtype.itemsize), self.dtype)

    def load_vector(self, f: FunctionBuilder, base: Value, at: Value, k: int = 0) -> Value:
        """The vector that is number k from element `at` on."""
        from_at = f.element(base, self.stored, at)
        return self.load(f, f.element(from_at, self.stored.times(self.lanes), k), self.lanes)


def _index_of(f: FunctionBuilder, elements: _Elements, x: Value, n: Value, step: Value) -> Value:
    """The index among n elements from `x` on, an i32."""
    found = f.call(I64, _FIND, x, n, step, elements.load(f, x), i64(0), i64(0))
    return f.narrow(found, I32, "found")


def _one_by_one(elements: _Elements, module: ModuleText) -> str:
    """The index of the farthest of n elements, those before `start` aside, of which `best` is at `at`."""
    scalars = [Parameter(name, I64) for name in ("n", "step", "at", "start")]
    parameters = Parameter("x", PTR), *scalars[:2], Parameter("best", elements.scalar), *scalars[2:]
    f = FunctionBuilder(_FIND, module, parameters, I64, is_internal=True)
    x, n, step, best, at, start = f.parameters
    with f.when(f.compare("slt", start, n, "some"), "any", ("found", at)) as any_left:
        with f.count("i", n, ("held", best), ("index", at), begin=start) as each:
            held, index = each.values
            value = elements.load(f, f.element(x, elements.stored, f.mul(each.index, step)))
            further = elements.further(f, value, held)
            each.carry(f.select(further, value, held), f.select(further, each.index, index))
        any_left.give(each.values[1])
    return f.ended(any_left.values[0])


def _in_blocks(elements: _Elements, module: ModuleText) -> str:
    """The index among n elements that lie together."""
    f = FunctionBuilder(f"{_FIND}.dense", module, [Parameter("x", PTR), Parameter("n", I64)], I64, is_internal=True)
    x, n = f.parameters
    lanes, scalar = elements.lanes, elements.scalar
    step = lanes * _CHAINS
    whole = f.bit_and(n, -step, "whole")
    first = elements.load(f, x)
    block = f.new_block("block", (I64, "b"), (scalar, "best"), (I64, "best.at"))
    folded = f.new_block("folded")
    search = f.new_block("search", (I1, "is.odd"), (I64, "begin"), (scalar, "wanted"))
    rest = f.new_block("rest", (scalar, "held"), (I64, "index"))
    f.branch_if(f.compare("sgt", whole, 0, "some"), block, rest, (0, first, 0), (first, 0))
    b, best, best_at = f.begin(block)
    beyond = f.add(b, step * _SPAN)
    end = f.select(f.compare("sgt", beyond, whole), whole, beyond, "b.end")
    of_block, has_nan = _farthest_of(f, elements, x, b, end, f.splat(best, lanes, "start"))
    better = f.compare(elements.ordered, of_block, best, "better")
    f.branch_if(has_nan, search, folded, (TRUE, b, best))
    f.begin(folded)
    best_next = f.select(better, of_block, best, "best.next")
    at_next = f.select(better, b, best_at, "best.at.next")
    more = f.compare("slt", end, whole)
    f.branch_if(more, block, search, (end, best_next, at_next), (FALSE, at_next, best_next))
    is_odd, begin, wanted = f.begin(search)
    hit = _first_hit(f, elements, x, begin, wanted, is_odd)
    done = f.new_block("done")
    f.branch_if(is_odd, done, rest, (), (wanted, hit))
    f.begin(done)
    f.give_back(hit)
    held, index = f.begin(rest)
    return f.ended(f.call(I64, _FIND, x, n, i64(1), held, index, whole))


def _farthest_of(
    f: FunctionBuilder, elements: _Elements, x: Value, begin: Value, end: Value, start: Value
) -> tuple[Value, Value]:
    """The farthest of `start` and of a block's elements, and whether one of these is NaN: then it is any of them."""
    lanes, odd = elements.lanes, [("odd", zero(I1.times(elements.lanes)))] if elements.is_float else []
    chains = [("held", start)] * _CHAINS
    with f.count("i", end, *chains, *odd, begin=begin, step=lanes * _CHAINS) as step:
        held = step.values[:_CHAINS]
        vectors = [elements.load_vector(f, x, step.index, k) for k in range(_CHAINS)]
        farther = [elements.farther(f, vector, chain) for vector, chain in zip(vectors, held, strict=True)]
        step.carry(*farther, *_any_nan(f, vectors, step.values[_CHAINS:]))
    number = f.extract(_halved(f, elements, step.values[:_CHAINS]), 0, "block.best")
    return number, _is_any(f, step.values[-1]) if odd else FALSE


def _any_nan(f: FunctionBuilder, vectors: Sequence[Value], held: Sequence[Value]) -> Sequence[Value]:
    """What is held, and the lanes in which a vector is NaN."""
    for k in range(0, len(vectors) if held else 0, 2):
        held = [f.bit_or(held[0], f.compare("uno", vectors[k], vectors[k + 1]))]
    return held


def _is_any(f: FunctionBuilder, mask: Value) -> Value:
    bits = f.bitcast(mask, type_of(f"i{mask.type.lanes}"))
    return f.compare("ne", bits, 0, "has.odd")


def _first_hit(f: FunctionBuilder, elements: _Elements, x: Value, begin: Value, wanted: Value, is_odd: Value) -> Value:
    """The first element from `begin` on, where there is one, that is the one that is wanted; or a NaN, if `is_odd`."""
    lanes, many = elements.lanes, f.splat(wanted, elements.lanes, "wanted")
    bits = type_of(f"i{lanes}")
    with f.loop("look", ("s", begin)) as look:
        (at,) = look.values
        vector = elements.load_vector(f, x, at)
        hit = f.compare("oeq" if elements.is_float else "eq", vector, many, "equal")
        if elements.is_float:
            hit = f.select(is_odd, f.compare("uno", vector, vector), hit, "hit")
        hits = f.bitcast(hit, bits, "hit.bits")
        look.again_if(f.compare("eq", hits, 0, "missed"), f.add(at, lanes))
    lane = f.intrinsic(bits, f"llvm.cttz.{bits}", hits, TRUE, hint="lane")
    return f.add(at, f.zext(lane, I64), "hit.at")


def _halved(f: FunctionBuilder, elements: _Elements, values: Sequence[Value]) -> Value:
    """The vector whose first lane is the farthest of all lanes, none of which is NaN."""
    held, width, lanes = list(values), elements.lanes, range(elements.lanes)
    while len(held) > 1:
        held = [elements.farther(f, held[k], held[k + 1]) for k in range(0, len(held), 2)]
    (value,) = held
    while width > 1:
        width //= 2
        value = elements.farther(f, value, f.shuffle(value, None, [(lane + width) % len(lanes) for lane in lanes]))
    return value


@dataclass(frozen=True)
class _Columns:
    """The loop across columns.

    Attributes:
        f: The kernel.
        width: Its extent.
        across: From one column to the next.
        written: From one result to the next.
        dense: How many columns lie together in both operands.
    """

    f: KernelFunction
    width: Value
    across: Value
    written: Value
    dense: Value

    @staticmethod
    def of(f: KernelFunction) -> _Columns:
        """Reads its params."""
        width, across, written = f.extent(1, "width"), f.stride(0, 1, "across"), f.stride(1, 1, "written")
        dense = f.bit_and(f.compare("eq", across, 1), f.compare("eq", written, 1), "dense")
        return _Columns(f, width, across, written, f.select(dense, width, 0, "dense.width"))

    def find(self, elements: _Elements, x: Value, indices: Value, n: Value, step: Value) -> None:
        """The indices of all columns: of many vectors of them, of one, and of single ones."""
        f = self.f
        column = i64(0)
        for vectors in (_CHAINS, 1):
            column = self._blocks(vectors, elements, x, indices, n, step, column)
        with f.while_loop("column", ("c", column)) as each:
            (at,) = each.values
            each.leave_unless(f.compare("slt", at, self.width))
            found = _index_of(f, elements, f.element(x, elements.stored, f.mul(at, self.across)), n, step)
            f.store(found, f.element(indices, I32, f.mul(at, self.written)), I32.nbytes)
            each.again(f.add(at, 1))

    def _blocks(
        self, vectors: int, elements: _Elements, x: Value, indices: Value, n: Value, step: Value, column: Value
    ) -> Value:
        """Blocks of so many vectors of columns, as long as there is a whole one; the column behind them."""
        f, lanes = self.f, elements.lanes
        with f.while_loop("columns", ("c", column)) as block:
            (at,) = block.values
            following = f.add(at, lanes * vectors)
            block.leave_unless(f.compare("sle", following, self.dense))
            base = f.element(x, elements.stored, at)
            first = [("held", elements.load_vector(f, base, i64(0), k)) for k in range(vectors)]
            where = [("index", zero(I32.times(lanes)))] * vectors
            with f.count("i", n, *first, *where) as row:
                held, found = row.values[:vectors], row.values[vectors:]
                offset = f.mul(row.index, step)
                own = f.splat(f.narrow(row.index, I32), lanes)
                values = [elements.load_vector(f, base, offset, k) for k in range(vectors)]
                further = [elements.further(f, *each) for each in zip(values, held, strict=True)]
                better = [f.select(*each) for each in zip(further, values, held, strict=True)]
                row.carry(*better, *(f.select(is_, own, old) for is_, old in zip(further, found, strict=True)))
            for k, result in enumerate(row.values[vectors:]):
                f.store(result, f.element(indices, I32, f.add(at, k * lanes)), I32.nbytes)
            block.again(following)
        return at
