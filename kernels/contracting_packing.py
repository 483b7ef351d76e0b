"""Functions that pack an operand of a contraction: what a microkernel reads at a step lies side by side.

Words are 32 bits: a float32, widened where it is none, or a pair of bfloat16, the even element below the odd one.
Groups of `width` neighbours lie one after the other, each step by step. Neighbours beyond the operand are zeros, or the
last one again, for nobody takes what is made of them; the partner of an odd last bfloat16 is a zero.

Bound: every element is loaded once and every word stored once, by vectors where neighbours or steps are contiguous. In
the second case words are transposed in registers, a perfect shuffle for each bit of a lane's number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.cut_factors import FactorCut, cut_lines, uncut
from ttnn_jit.process.dataclass import dataclass

LISTED = "ptr noalias readonly %offsets"
"""The parameter that lists neighbours."""


@dataclass(frozen=True)
class Packing:
    """The function ``void @name(ptr to, ptr from, i64 count, i64 depth, i64 across, i64 along)``.

    It packs `count` neighbours, which are ``across`` elements apart, over ``depth`` terms, ``along`` elements apart.
    Where neighbours are listed, ``ptr offsets`` stands for ``across``: how many elements each lies behind ``from``.

    Attributes:
        name: Its symbol.
        element: LLVM type of the operand's elements: ``float``, or ``i16`` for bfloat16.
        width: Neighbours of a group.
        lanes: Words of a vector; `width` is a multiple of it, or divides it.
        in_pairs: Whether words are pairs of bfloat16.
        group_words: From the start of a group to that of the next.
        are_listed: Whether neighbours are listed.
        cut: What is left of a word.
    """

    name: str
    element: str
    width: int
    lanes: int
    in_pairs: bool
    group_words: int
    are_listed: bool = False
    cut: FactorCut | None = None

    @property
    def _terms(self) -> int:
        return 2 if self.in_pairs else 1

    def definition(self) -> str:
        """Its text."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"define internal void @{self.name}(ptr noalias %to, ptr noalias readonly %from, i64 %count, i64 %depth, "
            f"{LISTED if self.are_listed else 'i64 %across'}, i64 %along) nounwind {{"
        )
        yield "entry:"
        yield "  %are.terms.beside = icmp eq i64 %along, 1"
        yield f"  %step = mul i64 %along, {self._terms}"
        yield f"  %words = lshr i64 %depth, {self._terms - 1}"
        yield f"  %whole.depth = shl i64 %words, {self._terms - 1}"
        yield f"  %are.words.some = icmp sge i64 %words, {self.lanes // 2}"
        yield "  %turns = and i1 %are.terms.beside, %are.words.some"
        yield "  br label %group"
        yield from self._group()
        yield from self._wide()
        yield from self._turning(self.lanes)
        yield from self._turning(self.lanes // 2)
        yield "turned.end:"
        yield "  %is.complete = icmp eq i64 %whole.depth, %depth"
        yield "  br i1 %is.complete, label %group.end, label %lanes"
        yield from self._one_by_one()
        yield "group.end:"
        yield f"  %first.next = add i64 %first, {self.width}"
        yield f"  %group.next = getelementptr i32, ptr %group.to, i64 {self.group_words}"
        yield "  %more = icmp slt i64 %first.next, %count"
        yield "  br i1 %more, label %group, label %done"
        yield "done:"
        yield "  ret void"
        yield "}"

    def _group(self) -> Iterator[str]:
        yield "group:"
        yield "  %first = phi i64 [0, %entry], [%first.next, %group.end]"
        yield "  %group.to = phi ptr [%to, %entry], [%group.next, %group.end]"
        yield "  %left = sub i64 %count, %first"
        yield f"  %is.whole = icmp sge i64 %left, {self.width}"
        yield "  %group.last = sub i64 %left, 1"
        yield from self._neighbour("group.from", "first")
        yield from self._listed_beside() if self.are_listed else self._beside()
        yield "  %is.wide = and i1 %are.beside, %is.whole"
        yield "  br i1 %is.wide, label %wide.start, label %narrow"
        yield from self._narrow()
        yield "turn:"
        yield f"  %are.words.many = icmp sge i64 %words, {self.lanes}"
        yield f"  br i1 %are.words.many, label %turned{self.lanes}, label %turned{self.lanes // 2}"

    def _narrow(self) -> Iterator[str]:
        """To ``wide.start`` for as many steps as have a whole vector before the end of the group's last step.

        What is read beyond a step's neighbours lies among the group's own elements; of lists nobody knows how far they
        reach.
        """
        yield "narrow:"
        if self.are_listed:
            yield "  br i1 %turns, label %turn, label %lanes"
            return
        yield f"  %missing = sub i64 {self.width}, %left"
        yield "  %goes.on = icmp sgt i64 %along, 0"
        yield "  %along.some = select i1 %goes.on, i64 %along, i64 1"
        yield "  %behind.some = add i64 %missing, %along.some"
        yield "  %behind = sub i64 %behind.some, 1"
        yield "  %steps.behind = udiv i64 %behind, %along.some"
        yield "  %reach.all = sub i64 %depth, %steps.behind"
        yield f"  %reach = and i64 %reach.all, {-self._terms}"
        yield "  %reaches = icmp sgt i64 %reach, 0"
        yield "  %goes.on.beside = and i1 %are.beside, %goes.on"
        yield "  %is.partly.wide = and i1 %goes.on.beside, %reaches"
        yield "  br i1 %is.partly.wide, label %wide.start, label %narrower"
        yield "narrower:"
        yield "  br i1 %turns, label %turn, label %lanes"

    def _wide(self) -> Iterator[str]:
        """The loop over steps whose neighbours are contiguous; those that it leaves are packed one by one."""
        partly = "" if self.are_listed else ", [%reach, %narrow]"
        yield "wide.start:"
        yield f"  %wide.depth = phi i64 [%depth, %group]{partly}"
        yield "  br label %wide"
        yield from self._packing_loop("wide", "wide.start", "wide.end", "0", self.width, "wide.depth")
        yield "wide.end:"
        yield "  %is.done = icmp eq i64 %wide.depth, %depth"
        yield "  br i1 %is.done, label %group.end, label %lanes"

    def _neighbour(self, name: str, number: str) -> Iterator[str]:
        """``%<name>``: where a neighbour begins."""
        if self.are_listed:
            yield f"  %{name}.listed = getelementptr i64, ptr %offsets, i64 %{number}"
            yield f"  %{name}.moved = load i64, ptr %{name}.listed"
        else:
            yield f"  %{name}.moved = mul i64 %{number}, %across"
        yield f"  %{name} = getelementptr {self.element}, ptr %from, i64 %{name}.moved"

    def _beside(self) -> Iterator[str]:
        yield "  %are.beside = icmp eq i64 %across, 1"

    def _listed_beside(self) -> Iterator[str]:
        """``%are.beside``: whether each of a group's neighbours is one element behind the one before it."""
        if self.width == 1:
            yield "  %are.beside = icmp eq i64 0, 1"
            return
        kind, bits = f"<{self.width} x i64>", f"i{self.width}"
        # The list goes on beyond the last neighbour, as long as a whole group, with numbers that decide nothing.
        yield f"  %listed = load {kind}, ptr %group.from.listed, align 8"
        yield f"  %one = insertelement {kind} poison, i64 %group.from.moved, i64 0"
        yield f"  %all = shufflevector {kind} %one, {kind} poison, <{self.width} x i32> zeroinitializer"
        yield f"  %apart = sub {kind} %listed, %all"
        yield f"  %equal = icmp eq {kind} %apart, <{', '.join(f'i64 {k}' for k in range(self.width))}>"
        yield f"  %bits = bitcast <{self.width} x i1> %equal to {bits}"
        yield f"  %are.beside = icmp eq {bits} %bits, -1"

    def _turning(self, lanes: int) -> Iterator[str]:
        """Groups whose terms are contiguous: blocks of `lanes` words, the last of which ends where those do.

        What lies beyond the last neighbour is a copy of it.
        """
        rows, block, most = min(self.width, lanes), f"block{lanes}", lanes * self._terms
        yield f"turned{lanes}:"
        yield f"  %{block}.row = phi i64 [0, %turn], [%{block}.row.next, %{block}.end]"
        yield from self._nearest(f"%{block}.nearest", f"%{block}.row")
        yield f"  %{block}.number = add i64 %first, %{block}.nearest"
        yield from self._neighbour(f"{block}.from", f"{block}.number")
        yield f"  %{block}.row.to = getelementptr i32, ptr %group.to, i64 %{block}.row"
        yield f"  %{block}.last = sub i64 %whole.depth, {most}"
        yield f"  br label %{block}"
        yield f"{block}:"
        yield f"  %{block}.term = phi i64 [0, %turned{lanes}], [%{block}.term.next, %{block}]"
        yield f"  %{block}.at0 = getelementptr {self.element}, ptr %{block}.from, i64 %{block}.term"
        for row in range(1, rows):
            yield from self._next_row(block, row)
        for row in range(rows):
            yield from self._along(f"%{block}.row{row}", f"%{block}.at{row}", lanes)
        yield f"  %{block}.step = lshr i64 %{block}.term, {self._terms - 1}"
        yield f"  %{block}.word = mul i64 %{block}.step, {self.width}"
        yield f"  %{block}.to = getelementptr i32, ptr %{block}.row.to, i64 %{block}.word"
        yield from self._transposed(block, rows, lanes)
        yield f"  %{block}.ahead = add i64 %{block}.term, {most}"
        yield f"  %{block}.fits = icmp sle i64 %{block}.ahead, %{block}.last"
        yield f"  %{block}.term.next = select i1 %{block}.fits, i64 %{block}.ahead, i64 %{block}.last"
        yield f"  %{block}.more = icmp slt i64 %{block}.term, %{block}.last"
        yield f"  br i1 %{block}.more, label %{block}, label %{block}.end"
        yield f"{block}.end:"
        yield f"  %{block}.row.next = add i64 %{block}.row, {rows}"
        yield f"  %{block}.more.rows = icmp slt i64 %{block}.row.next, {self.width}"
        yield f"  br i1 %{block}.more.rows, label %turned{lanes}, label %turned.end"

    def _transposed(self, block: str, rows: int, lanes: int) -> Iterator[str]:
        """Stores the words of `rows` neighbours step by step."""
        kind = f"<{lanes} x i32>"
        lines, vectors = transposed([f"%{block}.row{row}" for row in range(rows)], lanes, f"{block}.turn")
        yield from lines
        apart = self.width if rows == lanes else lanes
        for k, vector in enumerate(vectors):
            yield f"  %{block}.to{k} = getelementptr i32, ptr %{block}.to, i64 {k * apart}"
            yield f"  store {kind} {vector}, ptr %{block}.to{k}, align 4"

    def _next_row(self, block: str, row: int) -> Iterator[str]:
        """``%<block>.at<row>``: the block's first term of the neighbour `row` behind the first one."""
        at = f"%{block}.at"
        if not self.are_listed:
            yield f"  {at}{row}.row = add i64 %{block}.row, {row}"
            yield f"  {at}{row}.is.inside = icmp sle i64 {at}{row}.row, %group.last"
            yield f"  {at}{row}.step = select i1 {at}{row}.is.inside, i64 %across, i64 0"
            yield f"  {at}{row} = getelementptr {self.element}, ptr {at}{row - 1}, i64 {at}{row}.step"
            return
        yield f"  {at}{row}.row = add i64 %{block}.row, {row}"
        yield from self._nearest(f"{at}{row}.nearest", f"{at}{row}.row")
        yield f"  {at}{row}.number = add i64 %first, {at}{row}.nearest"
        yield f"  {at}{row}.listed = getelementptr i64, ptr %offsets, i64 {at}{row}.number"
        yield f"  {at}{row}.moved = load i64, ptr {at}{row}.listed"
        yield f"  {at}{row}.start = getelementptr {self.element}, ptr %from, i64 {at}{row}.moved"
        yield f"  {at}{row} = getelementptr {self.element}, ptr {at}{row}.start, i64 %{block}.term"

    def _nearest(self, name: str, number: str) -> Iterator[str]:
        """`name`: the neighbour of that number in the group, or the last one."""
        yield f"  {name}.is.inside = icmp sle i64 {number}, %group.last"
        yield f"  {name} = select i1 {name}.is.inside, i64 {number}, i64 %group.last"

    def _along(self, name: str, at: str, lanes: int) -> Iterator[str]:
        """`lanes` words of contiguous terms."""
        kind, halves, words = f"<{lanes} x i32>", f"<{lanes} x i16>", uncut(self.cut, name)
        if self.element == "float" or self.in_pairs:
            yield f"  {words} = load {kind}, ptr {at}, align {4 // self._terms}"
        else:
            yield f"  {name}.half = load {halves}, ptr {at}, align 2"
            yield f"  {name}.low = zext {halves} {name}.half to {kind}"
            yield f"  {words} = shl {kind} {name}.low, splat (i32 16)"
        yield from cut_lines(self.cut, name, kind, lanes)

    def _one_by_one(self) -> Iterator[str]:
        """What is left of a group, neighbour by neighbour, and word by word."""
        yield "lanes:"
        before = "narrow" if self.are_listed else "narrower"
        yield f"  %start = phi i64 [0, %{before}], [%whole.depth, %turned.end], [%wide.depth, %wide.end]"
        yield "  %start.moved = mul i64 %start, %along"
        yield f"  %start.step = lshr i64 %start, {self._terms - 1}"
        yield f"  %start.word = mul i64 %start.step, {self.width}"
        yield "  %start.to = getelementptr i32, ptr %group.to, i64 %start.word"
        yield "  br label %lane"
        yield "lane:"
        yield "  %number = phi i64 [0, %lanes], [%number.next, %lane.end]"
        yield "  %lane.to = getelementptr i32, ptr %start.to, i64 %number"
        yield "  %is.inside = icmp slt i64 %number, %left"
        yield "  br i1 %is.inside, label %inside, label %zeros"
        yield "inside:"
        yield "  %lane.number = add i64 %first, %number"
        yield from self._neighbour("lane.begin", "lane.number")
        yield f"  %lane.from = getelementptr {self.element}, ptr %lane.begin, i64 %start.moved"
        yield "  br label %column"
        yield from self._packing_loop("column", "inside", "lane.end", "%start", 1)
        yield "zeros:"
        yield "  %zeros.to = phi ptr [%lane.to, %lane], [%zeros.to.next, %zeros]"
        yield "  %zeros.term = phi i64 [%start, %lane], [%zeros.term.next, %zeros]"
        yield "  store i32 0, ptr %zeros.to"
        yield f"  %zeros.to.next = getelementptr i32, ptr %zeros.to, i64 {self.width}"
        yield f"  %zeros.term.next = add i64 %zeros.term, {self._terms}"
        yield "  %zeros.more = icmp slt i64 %zeros.term.next, %depth"
        yield "  br i1 %zeros.more, label %zeros, label %lane.end"
        yield "lane.end:"
        yield "  %number.next = add i64 %number, 1"
        yield f"  %lane.more = icmp slt i64 %number.next, {self.width}"
        yield "  br i1 %lane.more, label %lane, label %group.end"

    def _packing_loop(
        self, name: str, before: str, after: str, start: str, count: int, end: str = "depth"
    ) -> Iterator[str]:
        """The loop over terms from `start` to `end` that copies words of `count` neighbours at each step."""
        source, target = ("group.from", "group.to") if name == "wide" else ("lane.from", "lane.to")
        words = _vector(count, "i32")
        yield f"{name}:"
        yield f"  %{name}.from = phi ptr [%{source}, %{before}], [%{name}.from.next, %{name}]"
        yield f"  %{name}.to = phi ptr [%{target}, %{before}], [%{name}.to.next, %{name}]"
        yield f"  %{name}.term = phi i64 [{start}, %{before}], [%{name}.term.next, %{name}]"
        yield from self._across(name, count, uncut(self.cut, f"%{name}.word"))
        yield from cut_lines(self.cut, f"%{name}.word", words, count)
        yield f"  store {words} %{name}.word, ptr %{name}.to, align 4"
        yield f"  %{name}.from.next = getelementptr {self.element}, ptr %{name}.from, i64 %step"
        yield f"  %{name}.to.next = getelementptr i32, ptr %{name}.to, i64 {self.width}"
        yield f"  %{name}.term.next = add i64 %{name}.term, {self._terms}"
        yield f"  %{name}.more = icmp slt i64 %{name}.term.next, %{end}"
        yield f"  br i1 %{name}.more, label %{name}, label %{after}"

    def _across(self, name: str, count: int, word: str) -> Iterator[str]:
        """`word`: a step's words of `count` contiguous neighbours."""
        words, halves = _vector(count, "i32"), _vector(count, "i16")
        if self.element == "float":
            yield f"  {word} = load {words}, ptr %{name}.from, align 4"
            return
        yield f"  %{name}.even = load {halves}, ptr %{name}.from, align 2"
        if not self.in_pairs:
            yield f"  %{name}.low = zext {halves} %{name}.even to {words}"
            yield f"  {word} = shl {words} %{name}.low, {'16' if count == 1 else 'splat (i32 16)'}"
            return
        yield f"  %{name}.second = add i64 %{name}.term, 1"
        yield f"  %{name}.is.pair = icmp slt i64 %{name}.second, %depth"
        yield f"  %{name}.partner = select i1 %{name}.is.pair, i64 %along, i64 0"
        yield f"  %{name}.partner.at = getelementptr {self.element}, ptr %{name}.from, i64 %{name}.partner"
        yield f"  %{name}.other = load {halves}, ptr %{name}.partner.at, align 2"
        zeros = "0" if count == 1 else "zeroinitializer"
        yield f"  %{name}.odd = select i1 %{name}.is.pair, {halves} %{name}.other, {halves} {zeros}"
        if count == 1:
            yield f"  %{name}.low = zext i16 %{name}.even to i32"
            yield f"  %{name}.wide = zext i16 %{name}.odd to i32"
            yield f"  %{name}.high = shl i32 %{name}.wide, 16"
            yield f"  {word} = or i32 %{name}.low, %{name}.high"
            return
        order = _indices(_interleaved(count))
        yield f"  %{name}.mixed = shufflevector {halves} %{name}.even, {halves} %{name}.odd, {order}"
        yield f"  {word} = bitcast <{2 * count} x i16> %{name}.mixed to {words}"


def transposed(
    vectors: Sequence[str], lanes: int, prefix: str, element: str = "i32", within: int = 0
) -> tuple[list[str], Sequence[str]]:
    """The lines that transpose vectors of as many words as `lanes`, a power of 2 of them, and what they make.

    The words of a step lie side by side then; of fewer vectors than lanes, those of several steps in one. No word
    leaves its group of so many `within` a vector, each of which is transposed for itself; 0: a vector is one.
    """
    lines, kind, count = list[str](), f"<{lanes} x {element}>", len(vectors)
    own = within or lanes
    for stage in range(count.bit_length() - 1):
        shuffled = [f"%{prefix}{stage}.{k}" for k in range(count)]
        for k, name in enumerate(shuffled):
            first, second = vectors[k // 2], vectors[k // 2 + count // 2]
            pairs = [own // 2 * (k % 2) + lane for lane in range(own // 2)]
            order = [group + lane + of for group in range(0, lanes, own) for lane in pairs for of in (0, lanes)]
            lines.append(f"  {name} = shufflevector {kind} {first}, {kind} {second}, {_indices(order)}")
        vectors = shuffled
    return lines, vectors


def _vector(count: int, element: str) -> str:
    return element if count == 1 else f"<{count} x {element}>"


def _interleaved(count: int) -> list[int]:
    """The elements of two vectors in turn."""
    return [k // 2 + count * (k % 2) for k in range(2 * count)]


def _indices(order: Sequence[int]) -> str:
    return f"<{len(order)} x i32> <{', '.join(f'i32 {index}' for index in order)}>"
