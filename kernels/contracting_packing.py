"""Functions that pack an operand of a contraction: what a microkernel reads at a step lies side by side.

Words are 32 bits: a float32, widened where it is none, or a pair of bfloat16, the even element below the odd one.
Groups of `width` neighbours lie one after the other, each step by step. Neighbours beyond the operand are zeros, and so
is the partner of an odd last bfloat16.

Bound: every element is loaded once and every word stored once, by vectors where neighbours or steps are contiguous. In
the second case words are transposed in registers, a perfect shuffle for each bit of a lane's number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.process.dataclass import dataclass


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
    """

    name: str
    element: str
    width: int
    lanes: int
    in_pairs: bool
    group_words: int
    are_listed: bool = False

    @property
    def _terms(self) -> int:
        return 2 if self.in_pairs else 1

    @property
    def _turned(self) -> int:
        """Neighbours that are transposed at a time, `lanes` steps of each."""
        return min(self.width, self.lanes)

    def definition(self) -> str:
        """Its text."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"define internal void @{self.name}(ptr noalias %to, ptr noalias readonly %from, i64 %count, i64 %depth, "
            f"{'ptr noalias readonly %offsets' if self.are_listed else 'i64 %across'}, i64 %along) nounwind {{"
        )
        yield "entry:"
        yield "  %are.terms.beside = icmp eq i64 %along, 1"
        yield f"  %step = mul i64 %along, {self._terms}"
        yield f"  %whole.depth = and i64 %depth, {-self.lanes * self._terms}"
        yield "  %are.many.terms = icmp ne i64 %whole.depth, 0"
        yield "  %turns = and i1 %are.terms.beside, %are.many.terms"
        yield "  br label %group"
        yield from self._group()
        yield from self._packing_loop("wide", "group", "group.end", "0", self.width)
        yield from self._turning()
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
        yield "  %is.turned = and i1 %turns, %is.whole"
        yield from self._neighbour("group.from", "first")
        yield from self._listed_beside() if self.are_listed else self._beside()
        yield "  %is.wide = and i1 %are.beside, %is.whole"
        yield "  br i1 %is.wide, label %wide, label %narrow"
        yield "narrow:"
        yield "  br i1 %is.turned, label %turned, label %lanes"

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

    def _turning(self) -> Iterator[str]:
        """Whole groups whose terms are contiguous: as many steps as are a multiple of a vector's lanes."""
        rows, lanes = self._turned, self.lanes
        yield "turned:"
        yield "  %row = phi i64 [0, %narrow], [%row.next, %rows.end]"
        yield "  %row.number = add i64 %first, %row"
        yield from self._neighbour("row.from", "row.number")
        yield "  %row.to = getelementptr i32, ptr %group.to, i64 %row"
        yield "  br label %block"
        yield "block:"
        yield "  %block.term = phi i64 [0, %turned], [%block.term.next, %block]"
        yield "  %block.to = phi ptr [%row.to, %turned], [%block.to.next, %block]"
        yield f"  %row.at0 = getelementptr {self.element}, ptr %row.from, i64 %block.term"
        for row in range(1, rows):
            yield from self._next_row(row)
        for row in range(rows):
            yield from self._along(f"%row{row}", f"%row.at{row}")
        lines, vectors = transposed([f"%row{row}" for row in range(rows)], lanes, "turn")
        yield from lines
        kind = f"<{lanes} x i32>"
        apart = self.width if rows == lanes else lanes
        for k, vector in enumerate(vectors):
            yield f"  %block.to{k} = getelementptr i32, ptr %block.to, i64 {k * apart}"
            yield f"  store {kind} {vector}, ptr %block.to{k}, align 4"
        yield f"  %block.term.next = add i64 %block.term, {lanes * self._terms}"
        yield f"  %block.to.next = getelementptr i32, ptr %block.to, i64 {lanes * self.width}"
        yield "  %more.blocks = icmp slt i64 %block.term.next, %whole.depth"
        yield "  br i1 %more.blocks, label %block, label %rows.end"
        yield "rows.end:"
        yield f"  %row.next = add i64 %row, {rows}"
        yield f"  %more.rows = icmp slt i64 %row.next, {self.width}"
        yield "  br i1 %more.rows, label %turned, label %turned.end"
        yield "turned.end:"
        yield "  %is.complete = icmp eq i64 %whole.depth, %depth"
        yield "  br i1 %is.complete, label %group.end, label %lanes"

    def _next_row(self, row: int) -> Iterator[str]:
        """``%row.at<row>``: the block's first term of the neighbour `row` behind the first one."""
        if not self.are_listed:
            yield f"  %row.at{row} = getelementptr {self.element}, ptr %row.at{row - 1}, i64 %across"
            return
        yield f"  %row.listed{row} = getelementptr i64, ptr %row.from.listed, i64 {row}"
        yield f"  %row.moved{row} = load i64, ptr %row.listed{row}"
        yield f"  %row.start{row} = getelementptr {self.element}, ptr %from, i64 %row.moved{row}"
        yield f"  %row.at{row} = getelementptr {self.element}, ptr %row.start{row}, i64 %block.term"

    def _along(self, name: str, at: str) -> Iterator[str]:
        """`lanes` words of contiguous terms."""
        kind, halves = f"<{self.lanes} x i32>", f"<{self.lanes} x i16>"
        if self.element == "float" or self.in_pairs:
            yield f"  {name} = load {kind}, ptr {at}, align {4 // self._terms}"
            return
        yield f"  {name}.half = load {halves}, ptr {at}, align 2"
        yield f"  {name}.low = zext {halves} {name}.half to {kind}"
        yield f"  {name} = shl {kind} {name}.low, splat (i32 16)"

    def _one_by_one(self) -> Iterator[str]:
        """What is left of a group, neighbour by neighbour, and word by word."""
        yield "lanes:"
        yield "  %start = phi i64 [0, %narrow], [%whole.depth, %turned.end]"
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

    def _packing_loop(self, name: str, before: str, after: str, start: str, count: int) -> Iterator[str]:
        """The loop over terms from `start` that copies words of `count` neighbours at each step."""
        source, target = ("group.from", "group.to") if name == "wide" else ("lane.from", "lane.to")
        words = _vector(count, "i32")
        yield f"{name}:"
        yield f"  %{name}.from = phi ptr [%{source}, %{before}], [%{name}.from.next, %{name}]"
        yield f"  %{name}.to = phi ptr [%{target}, %{before}], [%{name}.to.next, %{name}]"
        yield f"  %{name}.term = phi i64 [{start}, %{before}], [%{name}.term.next, %{name}]"
        yield from self._across(name, count)
        yield f"  store {words} %{name}.word, ptr %{name}.to, align 4"
        yield f"  %{name}.from.next = getelementptr {self.element}, ptr %{name}.from, i64 %step"
        yield f"  %{name}.to.next = getelementptr i32, ptr %{name}.to, i64 {self.width}"
        yield f"  %{name}.term.next = add i64 %{name}.term, {self._terms}"
        yield f"  %{name}.more = icmp slt i64 %{name}.term.next, %depth"
        yield f"  br i1 %{name}.more, label %{name}, label %{after}"

    def _across(self, name: str, count: int) -> Iterator[str]:
        """``%<name>.word``: a step's words of `count` contiguous neighbours."""
        words, halves = _vector(count, "i32"), _vector(count, "i16")
        if self.element == "float":
            yield f"  %{name}.word = load {words}, ptr %{name}.from, align 4"
            return
        yield f"  %{name}.even = load {halves}, ptr %{name}.from, align 2"
        if not self.in_pairs:
            yield f"  %{name}.low = zext {halves} %{name}.even to {words}"
            yield f"  %{name}.word = shl {words} %{name}.low, {'16' if count == 1 else 'splat (i32 16)'}"
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
            yield f"  %{name}.word = or i32 %{name}.low, %{name}.high"
            return
        order = _indices(_interleaved(count))
        yield f"  %{name}.mixed = shufflevector {halves} %{name}.even, {halves} %{name}.odd, {order}"
        yield f"  %{name}.word = bitcast <{2 * count} x i16> %{name}.mixed to {words}"


def transposed(vectors: Sequence[str], lanes: int, prefix: str) -> tuple[list[str], Sequence[str]]:
    """The lines that transpose vectors of as many words as `lanes`, a power of 2 of them, and what they make.

    The words of a step lie side by side then; of fewer vectors than lanes, those of several steps in one.
    """
    lines, kind, count = list[str](), f"<{lanes} x i32>", len(vectors)
    for stage in range(count.bit_length() - 1):
        shuffled = [f"%{prefix}{stage}.{k}" for k in range(count)]
        for k, name in enumerate(shuffled):
            first, second = vectors[k // 2], vectors[k // 2 + count // 2]
            order = _interleaved(lanes)[lanes * (k % 2) :][:lanes]
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
