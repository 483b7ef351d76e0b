"""Functions that pack an operand of a contraction: what a microkernel reads at a step lies side by side.

Words are 32 bits: a float32, widened where it is none, or a pair of bfloat16, the even element below the odd one.
Groups of `width` neighbours lie one after the other, each step by step. Neighbours beyond the operand are zeros, or the
last one again, for nobody takes what is made of them; the partner of an odd last bfloat16 is a zero.

Bound: every element is loaded once and every word stored once, by vectors where neighbours or steps are contiguous. In
the second case words are transposed in registers, a perfect shuffle for each bit of a lane's number.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.contraction.cut_factors import FactorCut, cut_words
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import Functions, ModuleText
from ttnn_jit.kernels.llvm.shuffles import interleaved, transposed
from ttnn_jit.kernels.llvm.types import FLOAT, I16, I32, I64, PTR, Type, type_of
from ttnn_jit.kernels.llvm.values import FALSE, Value, i32, i64, integers, zero
from ttnn_jit.process.dataclass import dataclass


def packing_parameters(*, are_listed: bool) -> list[Parameter]:
    """What a function that packs is given: see `Packing`."""
    across = Parameter("offsets", PTR, "noalias readonly") if are_listed else Parameter("across", I64)
    pointers = Parameter("to", PTR, "noalias"), Parameter("from", PTR, "noalias readonly")
    return [*pointers, Parameter("count", I64), Parameter("depth", I64), across, Parameter("along", I64)]


@dataclass(frozen=True)
class Packing:
    """The function ``void @name(ptr to, ptr from, i64 count, i64 depth, i64 across, i64 along)``.

    It packs `count` neighbours, which are ``across`` elements apart, over ``depth`` terms, ``along`` elements apart.
    Where neighbours are listed, ``ptr offsets`` stands for ``across``: how many elements each lies behind ``from``.

    Attributes:
        name: Its symbol.
        element: Type of the operand's elements: of floats, or of words of bfloat16.
        width: Neighbours of a group.
        in_pairs: Whether words are pairs of bfloat16.
        group_words: From the start of a group to that of the next.
        lanes: Words of a vector; `width` is a multiple of it, or divides it.
        are_listed: Whether neighbours are listed.
        cut: What is left of a word.
    """

    name: str
    element: Type
    width: int
    in_pairs: bool
    group_words: int
    lanes: int
    are_listed: bool = False
    cut: FactorCut | None = None

    @property
    def terms(self) -> int:
        """Of a word."""
        return 2 if self.in_pairs else 1

    def functions(self) -> Functions:
        """The function."""
        module = ModuleText()
        return Functions((_Writer(self, module).text(),), module)


class _Writer:
    """Writes it."""

    def __init__(self, packing: Packing, module: ModuleText) -> None:
        self.packing = packing
        parameters = packing_parameters(are_listed=packing.are_listed)
        b = self.b = FunctionBuilder(packing.name, module, parameters, is_internal=True)
        self.to, self.source, self.count, self.depth, self.across, self.along = b.parameters
        terms = packing.terms
        are_terms_beside = b.compare("eq", self.along, 1)
        self.step = b.mul(self.along, terms, "step")
        self.words = b.shift_right_zero(self.depth, terms - 1, "words")
        self.whole_depth = b.shift_left(self.words, terms - 1, "whole.depth")
        self.transposes = b.bit_and(are_terms_beside, b.compare("sge", self.words, packing.lanes // 2), "turns")
        self.lanes = b.new_block("lanes", (I64, "start"))  # what is left of a group, from a term on
        self.group_end = b.new_block("group.end")

    def text(self) -> str:
        """The function."""
        b = self.b
        with b.loop("group", ("first", i64(0)), ("group.to", self.to)) as group:
            self.first, self.group_to = group.values
            self._group()
            following = b.add(self.first, self.packing.width, "first.next")
            target = b.element(self.group_to, I32, self.packing.group_words)
            group.again_if(b.compare("slt", following, self.count), following, target)
        return b.ended()

    def _group(self) -> None:
        b = self.b
        self.left = b.sub(self.count, self.first, "left")
        is_whole = b.compare("sge", self.left, self.packing.width, "is.whole")
        self.last = b.sub(self.left, 1, "group.last")
        self.group_from, are_beside = self._listed() if self.packing.are_listed else self._spaced()
        narrow, wide, transposing = (
            b.new_block("narrow"),
            b.new_block("wide.start", (I64, "wide.depth")),
            b.new_block("turn"),
        )
        b.branch_if(b.bit_and(are_beside, is_whole), wide, narrow, [self.depth])
        b.begin(narrow)
        if not self.packing.are_listed:  # of lists nobody knows how far they reach
            narrower = b.new_block("narrower")
            reach, reaches = self._reach(are_beside)
            b.branch_if(reaches, wide, narrower, [reach])
            b.begin(narrower)
        b.branch_if(self.transposes, transposing, self.lanes, (), [i64(0)])
        self._wide(*b.begin(wide))
        b.begin(transposing)
        self._transpose()
        self._one_by_one(*b.begin(self.lanes))
        b.begin(self.group_end)

    def _reach(self, are_beside: Value) -> tuple[Value, Value]:
        """How many terms have a whole vector before the end of the group's last term; whether any has one.

        What is read beyond a step's neighbours lies among the group's own elements.
        """
        b = self.b
        missing = b.sub(self.packing.width, self.left)
        goes_on = b.compare("sgt", self.along, 0)
        along = b.select(goes_on, self.along, 1)
        behind = b.sub(b.add(missing, along), 1)
        reach = b.bit_and(b.sub(self.depth, b.unsigned_div(behind, along)), -self.packing.terms, "reach")
        reaches = b.compare("sgt", reach, 0)
        return reach, b.bit_and(b.bit_and(are_beside, goes_on), reaches)

    def _wide(self, depth: Value) -> None:
        """The loop over steps whose neighbours are contiguous; those that it leaves are packed one by one."""
        b = self.b
        self._copy_steps(self.group_from, self.group_to, i64(0), depth, self.packing.width)
        b.branch_if(b.compare("eq", depth, self.depth), self.group_end, self.lanes, (), [depth])

    # Neighbours

    def _neighbour(self, number: Value) -> Value:
        """Where a neighbour begins."""
        b = self.b
        moved = (
            b.load(I64, b.element(self.across, I64, number)) if self.packing.are_listed else b.mul(number, self.across)
        )
        return b.element(self.source, self.packing.element, moved)

    def _spaced(self) -> tuple[Value, Value]:
        """Where a group begins, and whether each of its neighbours is one element behind the one before it."""
        return self._neighbour(self.first), self.b.compare("eq", self.across, 1)

    def _listed(self) -> tuple[Value, Value]:
        """The same of neighbours that are listed."""
        b, width = self.b, self.packing.width
        listed = b.element(self.across, I64, self.first)
        moved = b.load(I64, listed)
        start = b.element(self.source, self.packing.element, moved, "group.from")
        if width == 1:
            return start, FALSE
        # The list goes on beyond the last neighbour, as long as a whole group, with numbers that decide nothing.
        apart = b.sub(b.load(I64.times(width), listed, 8), b.splat(moved, width))
        bits = b.bitcast(b.compare("eq", apart, integers(tuple(range(width)), I64)), type_of(f"i{width}"))
        return start, b.compare("eq", bits, -1, "are.beside")

    def _nearest(self, number: Value) -> Value:
        """The neighbour of that number in the group, or the last one."""
        return self.b.select(self.b.compare("sle", number, self.last), number, self.last)

    # Groups whose terms are contiguous

    def _transpose(self) -> None:
        b, lanes = self.b, self.packing.lanes
        with b.choose(b.compare("sge", self.words, lanes), "words.many") as many:
            self._blocks(lanes)
            many.otherwise()
            self._blocks(lanes // 2)
        is_complete = b.compare("eq", self.whole_depth, self.depth)
        b.branch_if(is_complete, self.group_end, self.lanes, (), [self.whole_depth])

    def _blocks(self, lanes: int) -> None:
        """Blocks of `lanes` words, the last of which ends where those do.

        What lies beyond the last neighbour is a copy of it.
        """
        b, packing = self.b, self.packing
        rows, most = min(packing.width, lanes), lanes * packing.terms
        with b.count("block.row", packing.width, step=rows) as row:
            start = self._neighbour(b.add(self.first, self._nearest(row.index)))
            target = b.element(self.group_to, I32, row.index)
            last = b.sub(self.whole_depth, most)
            with b.loop("block", ("term", i64(0))) as block:
                (term,) = block.values
                addresses = [b.element(start, packing.element, term)]
                while len(addresses) < rows:
                    addresses.append(self._next_row(b.add(row.index, len(addresses)), addresses[-1], term))
                vectors = [self._along(address, lanes) for address in addresses]
                words = b.mul(b.shift_right_zero(term, packing.terms - 1), packing.width)
                self._store(
                    b.element(target, I32, words), transposed(b, vectors), packing.width if rows == lanes else lanes
                )
                ahead = b.add(term, most)
                following = b.select(b.compare("sle", ahead, last), ahead, last)
                block.again_if(b.compare("slt", term, last), following)

    def _store(self, target: Value, vectors: Sequence[Value], apart: int) -> None:
        for k, vector in enumerate(vectors):
            self.b.store(vector, self.b.element(target, I32, k * apart), 4)

    def _next_row(self, number: Value, before: Value, term: Value) -> Value:
        """Where the block's first term of a neighbour is, `before` being that of the one before it."""
        b, element = self.b, self.packing.element
        if self.packing.are_listed:
            return b.element(self._neighbour(b.add(self.first, self._nearest(number))), element, term)
        return b.element(before, element, b.select(b.compare("sle", number, self.last), self.across, 0))

    def _along(self, at: Value, lanes: int) -> Value:
        """`lanes` words of contiguous terms."""
        b, packing = self.b, self.packing
        if packing.element is FLOAT or packing.in_pairs:
            words = b.load(I32.times(lanes), at, 4 // packing.terms)
        else:
            words = b.shift_left(b.zext(b.load(I16.times(lanes), at, 2), I32.times(lanes)), 16)
        return cut_words(packing.cut, b, words)

    # Word by word

    def _one_by_one(self, start: Value) -> None:
        """What is left of a group, neighbour by neighbour, and word by word."""
        b, packing = self.b, self.packing
        moved = b.mul(start, self.along)
        words = b.mul(b.shift_right_zero(start, packing.terms - 1), packing.width)
        target = b.element(self.group_to, I32, words)
        with b.count("number", packing.width) as number:
            at = b.element(target, I32, number.index, "lane.to")
            with b.choose(b.compare("slt", number.index, self.left), "inside") as inside:
                begin = self._neighbour(b.add(self.first, number.index))
                self._copy_steps(b.element(begin, packing.element, moved), at, start, self.depth, 1)
                inside.otherwise()
                self._zeros(at, start)
        b.branch(self.group_end)

    def _zeros(self, target: Value, start: Value) -> None:
        b, packing = self.b, self.packing
        with b.loop("zeros", ("to", target), ("term", start)) as loop:
            to, term = loop.values
            b.store(i32(0), to)
            following = b.add(term, packing.terms)
            loop.again_if(b.compare("slt", following, self.depth), b.element(to, I32, packing.width), following)

    def _copy_steps(self, source: Value, target: Value, start: Value, end: Value, count: int) -> None:
        """The loop over terms from `start` to `end` that copies words of `count` neighbours at each step."""
        b, packing = self.b, self.packing
        with b.loop("steps", ("from", source), ("to", target), ("term", start)) as loop:
            at, to, term = loop.values
            b.store(cut_words(packing.cut, b, self._across(at, term, count)), to, 4)
            source_next = b.element(at, packing.element, self.step)
            target_next = b.element(to, I32, packing.width)
            following = b.add(term, packing.terms)
            loop.again_if(b.compare("slt", following, end), source_next, target_next, following)

    def _across(self, at: Value, term: Value, count: int) -> Value:
        """A step's words of `count` contiguous neighbours."""
        b, packing = self.b, self.packing
        words, halves = (type_of(each, count if count > 1 else 0) for each in (I32, I16))
        if packing.element is FLOAT:
            return b.load(words, at, 4)
        even = b.load(halves, at, 2)
        if not packing.in_pairs:
            return b.shift_left(b.zext(even, words), 16)
        is_pair = b.compare("slt", b.add(term, 1), self.depth)
        partner = b.element(at, packing.element, b.select(is_pair, self.along, 0))
        odd = b.select(is_pair, b.load(halves, partner, 2), zero(halves))
        if count == 1:
            return b.bit_or(b.zext(even, words), b.shift_left(b.zext(odd, words), 16))
        return b.bitcast(b.shuffle(even, odd, interleaved(count)), words)
