"""The place of the first largest or smallest element along a loop, as LLVM IR text.

A row whose elements lie together is gone through block by block: what is farthest in a block is found in vectors, and
in the first block that has what is farthest in the row the element is looked for that equals it, while the first cache
holds them. A NaN ends the search in its block. Columns that lie together are a vector, with the places in another one.

Bound: the bytes of the elements, and a second look at one block of a row; two comparisons and two selections a vector
of columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType

_CHAINS = 4
"""Vectors that elements are compared with in turn, which hides the latency of a comparison."""
_SPAN = 16
"""Steps of a block, each of a vector for every chain."""
_PLACE = "ttnn_jit.place"


@dataclass(frozen=True)
class FoundPlaces:
    """The function ``void name(ptr pointers, ptr params)`` over elements and the places, of 32 bits, of one for a row.

    Attributes:
        name: Its symbol.
        dtype: Of the elements.
        rank: Number of the outermost loop; the innermost one goes along the elements that are compared.
        largest: Whether it looks for the largest; else for the smallest.
        is_dense: Whether the elements that are compared lie together; else those along the next loop may.
        isa: Decides the lanes of a vector.
    """

    name: str
    dtype: DataType
    rank: int
    largest: bool
    is_dense: bool
    isa: HostIsa

    def text(self) -> str:
        """The module."""
        in_columns = self.rank > 0 and not self.is_dense
        loops = OuterLoops((self._element, "i32"), self.rank, innermost=2 if in_columns else 1)
        lines = [
            f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{",
            "begin:",
            *word("%n", 0),
            "  %some = icmp sgt i64 %n, 0",
            "  br i1 %some, label %entry, label %none",
            "none:",
            "  ret void",
            "entry:",
            *(line for k in range(2) for line in _pointer(k, self.rank)),
            *word("%step", loops.stride_index(0, 0)),
            *(_words_of_columns(loops) if in_columns else ()),
            f"  br label %{loops.first}",
            *loops.open(),
            *(self._columns() if in_columns else self._row()),
            *loops.close(),
            "  ret void",
            "}",
            *self._one_by_one(),
        ]
        if self.is_dense:
            lines += [*self._in_blocks(), f"declare i{self._lanes} @llvm.cttz.i{self._lanes}(i{self._lanes}, i1)"]
        return "\n".join([*lines, ""])

    # --- Rows -------------------------------------------------------------------------------------------------------

    def _row(self) -> Iterator[str]:
        yield "row:"
        function = f"{_PLACE}.dense" if self.is_dense else _PLACE
        yield from self._called("%found", function, "%at1_0", "%first")
        yield "  store i32 %found, ptr %at1_1"
        yield "  br label %close1"

    def _called(self, name: str, function: str, x: str, first: str) -> Iterator[str]:
        """``%name``: the place among %n elements from `x` on."""
        if function != _PLACE:
            yield f"  {name}.wide = call i64 @{function}(ptr {x}, i64 %n)"
        else:
            yield from self._number(first, f"load {self._element}, ptr {x}, align {self.dtype.itemsize}", lanes=0)
            given = f"{self._scalar} {first}, i64 0, i64 0"
            yield f"  {name}.wide = call i64 @{_PLACE}(ptr {x}, i64 %n, i64 %step, {given})"
        yield f"  {name} = trunc i64 {name}.wide to i32"

    def _one_by_one(self) -> Iterator[str]:
        """The place of the farthest of n elements, those before `start` aside, of which `best` is at `at`."""
        yield f"define internal i64 @{_PLACE}(ptr %x, i64 %n, i64 %step, {self._scalar} %best, i64 %at, i64 %start) {{"
        yield "entry:"
        yield "  %some = icmp slt i64 %start, %n"
        yield "  br i1 %some, label %one, label %end"
        yield "one:"
        yield "  %i = phi i64 [%start, %entry], [%i.next, %one]"
        yield f"  %held = phi {self._scalar} [%best, %entry], [%held.next, %one]"
        yield "  %place = phi i64 [%at, %entry], [%place.next, %one]"
        yield "  %offset = mul i64 %i, %step"
        yield f"  %from = getelementptr {self._element}, ptr %x, i64 %offset"
        yield from self._number("%value", f"load {self._element}, ptr %from, align {self.dtype.itemsize}", lanes=0)
        yield from self._further("%further", "%value", "%held", lanes=0)
        yield f"  %held.next = select i1 %further, {self._scalar} %value, {self._scalar} %held"
        yield "  %place.next = select i1 %further, i64 %i, i64 %place"
        yield "  %i.next = add i64 %i, 1"
        yield "  %more = icmp slt i64 %i.next, %n"
        yield "  br i1 %more, label %one, label %end"
        yield "end:"
        yield "  %found = phi i64 [%at, %entry], [%place.next, %one]"
        yield "  ret i64 %found"
        yield "}"

    def _in_blocks(self) -> Iterator[str]:
        """The place among n elements that lie together."""
        lanes, step = self._lanes, self._lanes * _CHAINS
        kind = self._kind(lanes)
        chains = range(_CHAINS)
        yield f"define internal i64 @{_PLACE}.dense(ptr %x, i64 %n) {{"
        yield "entry:"
        yield f"  %whole = and i64 %n, {-step}"
        yield from self._number("%first", f"load {self._element}, ptr %x, align {self.dtype.itemsize}", lanes=0)
        yield "  %some = icmp sgt i64 %whole, 0"
        yield "  br i1 %some, label %block, label %rest"
        yield "block:"
        yield "  %b = phi i64 [0, %entry], [%b.end, %folded]"
        yield f"  %best = phi {self._scalar} [%first, %entry], [%best.next, %folded]"
        yield "  %best.at = phi i64 [0, %entry], [%best.at.next, %folded]"
        yield f"  %b.beyond = add i64 %b, {step * _SPAN}"
        yield "  %b.is.last = icmp sgt i64 %b.beyond, %whole"
        yield "  %b.end = select i1 %b.is.last, i64 %whole, i64 %b.beyond"
        yield from self._splat("%best", "%start")
        yield "  br label %vector"
        yield "vector:"
        yield "  %i = phi i64 [%b, %block], [%i.next, %vector]"
        for k in chains:
            yield f"  %held{k} = phi {kind} [%start, %block], [%held{k}.next, %vector]"
        if self._is_float:
            yield f"  %odd = phi <{lanes} x i1> [zeroinitializer, %block], [%odd.next, %vector]"
        for k in chains:
            yield from self._vector(f"%v{k}", "%x", "%i", k)
            yield f"  %f{k} = {self._ordered} {kind} %v{k}, %held{k}"
            yield f"  %held{k}.next = select <{lanes} x i1> %f{k}, {kind} %v{k}, {kind} %held{k}"
        if self._is_float:
            yield from self._any_nan(kind)
        yield f"  %i.next = add i64 %i, {step}"
        yield "  %i.more = icmp slt i64 %i.next, %b.end"
        yield "  br i1 %i.more, label %vector, label %fold"
        yield "fold:"
        value, lines = self._halved([f"%held{k}.next" for k in chains])
        yield from lines
        yield f"  %block.best = extractelement {kind} {value}, i64 0"
        yield f"  %better = {self._ordered} {self._scalar} %block.best, %best"
        if self._is_float:
            yield f"  %odd.bits = bitcast <{lanes} x i1> %odd.next to i{lanes}"
            yield f"  %has.odd = icmp ne i{lanes} %odd.bits, 0"
            yield "  br i1 %has.odd, label %search, label %folded"
        else:
            yield "  br label %folded"
        yield "folded:"
        yield f"  %best.next = select i1 %better, {self._scalar} %block.best, {self._scalar} %best"
        yield "  %best.at.next = select i1 %better, i64 %b, i64 %best.at"
        yield "  %b.more = icmp slt i64 %b.end, %whole"
        yield "  br i1 %b.more, label %block, label %search"
        yield from self._search(kind)

    def _any_nan(self, kind: str) -> Iterator[str]:
        """``%odd.next``: `%odd`, and the lanes in which a vector of this step is NaN."""
        held = "%odd"
        for k in range(0, _CHAINS, 2):
            yield f"  %nan{k} = fcmp uno {kind} %v{k}, %v{k + 1}"
            result = "%odd.next" if k + 2 == _CHAINS else f"%odd{k}"
            yield f"  {result} = or <{self._lanes} x i1> {held}, %nan{k}"
            held = result

    def _search(self, kind: str) -> Iterator[str]:
        """Of the block that has the farthest, the first element that equals it; a NaN if there is one."""
        lanes = self._lanes
        is_odd = "%is.odd" if self._is_float else "false"
        yield "search:"
        if self._is_float:
            yield "  %is.odd = phi i1 [true, %fold], [false, %folded]"
            yield "  %s.begin = phi i64 [%b, %fold], [%best.at.next, %folded]"
            yield f"  %s.best = phi {self._scalar} [%best, %fold], [%best.next, %folded]"
        else:
            yield "  %s.begin = add i64 %best.at.next, 0"
            yield f"  %s.best = add {self._scalar} %best.next, 0"
        yield from self._splat("%s.best", "%wanted")
        yield "  br label %look"
        yield "look:"
        yield "  %s = phi i64 [%s.begin, %search], [%s.next, %look]"
        yield from self._vector("%sv", "%x", "%s", 0)
        equal = "fcmp oeq" if self._is_float else "icmp eq"
        yield f"  %equal = {equal} {kind} %sv, %wanted"
        hit = "%equal"
        if self._is_float:
            yield f"  %none = fcmp uno {kind} %sv, %sv"
            yield f"  %hit = select i1 {is_odd}, <{lanes} x i1> %none, <{lanes} x i1> %equal"
            hit = "%hit"
        yield f"  %hit.bits = bitcast <{lanes} x i1> {hit} to i{lanes}"
        yield f"  %s.next = add i64 %s, {lanes}"
        yield f"  %missed = icmp eq i{lanes} %hit.bits, 0"
        yield "  br i1 %missed, label %look, label %hit.here"
        yield "hit.here:"
        yield f"  %lane = call i{lanes} @llvm.cttz.i{lanes}(i{lanes} %hit.bits, i1 true)"
        yield f"  %lane.wide = zext i{lanes} %lane to i64"
        yield "  %hit.at = add i64 %s, %lane.wide"
        yield f"  br i1 {is_odd}, label %done, label %rest"
        yield "done:"
        yield "  ret i64 %hit.at"
        yield "rest:"
        yield f"  %r.best = phi {self._scalar} [%first, %entry], [%s.best, %hit.here]"
        yield "  %r.at = phi i64 [0, %entry], [%hit.at, %hit.here]"
        given = f"i64 1, {self._scalar} %r.best, i64 %r.at, i64 %whole"
        yield f"  %found = call i64 @{_PLACE}(ptr %x, i64 %n, {given})"
        yield "  ret i64 %found"
        yield "}"

    def _halved(self, values: Sequence[str]) -> tuple[str, list[str]]:
        """The vector whose first lane is the farthest of all lanes, none of which is NaN; and what computes it."""
        lanes, kind, lines = self._lanes, self._kind(self._lanes), list[str]()
        held, width = list(values), lanes

        def farther(x: str, y: str) -> str:
            name = f"%h{len(lines)}"
            lines.append(f"  {name}.is = {self._ordered} {kind} {x}, {y}")
            lines.append(f"  {name} = select <{lanes} x i1> {name}.is, {kind} {x}, {kind} {y}")
            return name

        while len(held) > 1:
            held = [farther(held[k], held[k + 1]) for k in range(0, len(held), 2)]
        (value,) = held
        while width > 1:
            width //= 2
            order = ", ".join(f"i32 {(lane + width) % lanes}" for lane in range(lanes))
            upper = f"%u{width}"
            lines.append(f"  {upper} = shufflevector {kind} {value}, {kind} poison, <{lanes} x i32> <{order}>")
            value = farther(value, upper)
        return value, lines

    # --- Columns ----------------------------------------------------------------------------------------------------

    def _columns(self) -> Iterator[str]:
        yield "row:"
        yield from self._blocks_of_columns("many", _CHAINS, "row", "0", "one")
        yield from self._blocks_of_columns("one", 1, "many.end", "%many.c", "column")
        yield "column:"
        yield "  br label %column.head"
        yield "column.head:"
        yield "  %c = phi i64 [%one.c, %column], [%c.next, %column.body]"
        yield "  %c.more = icmp slt i64 %c, %width"
        yield "  br i1 %c.more, label %column.body, label %close2"
        yield "column.body:"
        yield "  %c.read = mul i64 %c, %across"
        yield "  %c.written = mul i64 %c, %written"
        yield f"  %c.from = getelementptr {self._element}, ptr %at2_0, i64 %c.read"
        yield "  %c.to = getelementptr i32, ptr %at2_1, i64 %c.written"
        yield from self._called("%c.found", _PLACE, "%c.from", "%c.first")
        yield "  store i32 %c.found, ptr %c.to, align 4"
        yield "  %c.next = add i64 %c, 1"
        yield "  br label %column.head"

    def _blocks_of_columns(self, name: str, vectors: int, before: str, start: str, after: str) -> Iterator[str]:
        """Blocks of so many vectors of columns, from column `start` on, as long as there is a whole one."""
        lanes, kind, places = self._lanes, self._kind(self._lanes), f"<{self._lanes} x i32>"
        if before != "row":
            yield f"{name}:"
            before = name
        yield f"  br label %{name}.head"
        yield f"{name}.head:"
        yield f"  %{name}.c = phi i64 [{start}, %{before}], [%{name}.c.next, %{name}.stored]"
        yield f"  %{name}.c.next = add i64 %{name}.c, {lanes * vectors}"
        yield f"  %{name}.fits = icmp sle i64 %{name}.c.next, %dense.width"
        yield f"  br i1 %{name}.fits, label %{name}.first, label %{name}.end"
        yield f"{name}.end:"
        yield f"  br label %{after}"
        yield f"{name}.first:"
        yield f"  %{name}.at = getelementptr {self._element}, ptr %at2_0, i64 %{name}.c"
        for k in range(vectors):
            yield from self._vector(f"%{name}.f{k}", f"%{name}.at", "0", k)
        yield f"  br label %{name}.row"
        yield f"{name}.row:"
        yield f"  %{name}.i = phi i64 [0, %{name}.first], [%{name}.i.next, %{name}.row]"
        for k in range(vectors):
            yield f"  %{name}.held{k} = phi {kind} [%{name}.f{k}, %{name}.first], [%{name}.next{k}, %{name}.row]"
            yield f"  %{name}.p{k} = phi {places} [zeroinitializer, %{name}.first], [%{name}.p.next{k}, %{name}.row]"
        yield f"  %{name}.offset = mul i64 %{name}.i, %step"
        yield f"  %{name}.i32 = trunc i64 %{name}.i to i32"
        yield f"  %{name}.lane = insertelement {places} poison, i32 %{name}.i32, i64 0"
        yield f"  %{name}.is = shufflevector {places} %{name}.lane, {places} poison, {places} zeroinitializer"
        for k in range(vectors):
            yield from self._vector(f"%{name}.v{k}", f"%{name}.at", f"%{name}.offset", k)
            yield from self._further(f"%{name}.far{k}", f"%{name}.v{k}", f"%{name}.held{k}", lanes)
            mask = f"select <{lanes} x i1> %{name}.far{k}"
            yield f"  %{name}.next{k} = {mask}, {kind} %{name}.v{k}, {kind} %{name}.held{k}"
            yield f"  %{name}.p.next{k} = {mask}, {places} %{name}.is, {places} %{name}.p{k}"
        yield f"  %{name}.i.next = add i64 %{name}.i, 1"
        yield f"  %{name}.more = icmp slt i64 %{name}.i.next, %n"
        yield f"  br i1 %{name}.more, label %{name}.row, label %{name}.stored"
        yield f"{name}.stored:"
        for k in range(vectors):
            yield f"  %{name}.to{k}.at = add i64 %{name}.c, {k * lanes}"
            yield f"  %{name}.to{k} = getelementptr i32, ptr %at2_1, i64 %{name}.to{k}.at"
            yield f"  store {places} %{name}.p.next{k}, ptr %{name}.to{k}, align 4"
        yield f"  br label %{name}.head"

    # --- Elements ---------------------------------------------------------------------------------------------------

    @property
    def _lanes(self) -> int:
        return self.isa.lanes

    @property
    def _element(self) -> str:
        return self.dtype.traits.llvm

    @property
    def _scalar(self) -> str:
        return self.dtype.compute.llvm

    @property
    def _is_float(self) -> bool:
        return not self.dtype.is_integer

    @property
    def _ordered(self) -> str:
        """The comparison that finds numbers that are farther."""
        if self._is_float:
            return f"fcmp o{'gt' if self.largest else 'lt'}"
        return f"icmp {'s' if self.dtype.compute.is_signed else 'u'}{'gt' if self.largest else 'lt'}"

    def _kind(self, lanes: int) -> str:
        return f"<{lanes} x {self._scalar}>" if lanes else self._scalar

    def _further(self, name: str, value: str, held: str, lanes: int) -> Iterator[str]:
        """``%name``: whether the value is farther than what is held; NaN is, than what is none."""
        kind, bits = self._kind(lanes), f"<{lanes} x i1>" if lanes else "i1"
        if not self._is_float:
            yield f"  {name} = {self._ordered} {kind} {value}, {held}"
            return
        yield f"  {name}.or.nan = fcmp u{'gt' if self.largest else 'lt'} {kind} {value}, {held}"
        yield f"  {name}.number = fcmp ord {kind} {held}, {held}"
        yield f"  {name} = and {bits} {name}.or.nan, {name}.number"

    def _vector(self, name: str, base: str, at: str, k: int) -> Iterator[str]:
        """``%name``: the numbers of the vector that is number k from element `at` on."""
        yield f"  {name}.at = getelementptr {self._element}, ptr {base}, i64 {at}"
        yield f"  {name}.place = getelementptr <{self._lanes} x {self._element}>, ptr {name}.at, i64 {k}"
        load = f"load <{self._lanes} x {self._element}>, ptr {name}.place, align {self.dtype.itemsize}"
        yield from self._number(name, load, self._lanes)

    def _number(self, name: str, load: str, lanes: int) -> Iterator[str]:
        """``%name``: what is loaded as it is computed with."""
        words = f"<{lanes} x i32>" if lanes else "i32"
        if self._element == self._scalar:
            yield f"  {name} = {load}"
            return
        stored = f"<{lanes} x {self._element}>" if lanes else self._element
        yield f"  {name}.stored = {load}"
        if not self.dtype.is_upper_half:
            extend = "sext" if self.dtype.compute.is_signed else "zext"
            yield f"  {name} = {extend} {stored} {name}.stored to {words}"
            return
        yield f"  {name}.low = zext {stored} {name}.stored to {words}"
        yield f"  {name}.bits = shl {words} {name}.low, {'splat (i32 16)' if lanes else '16'}"
        yield f"  {name} = bitcast {words} {name}.bits to {self._kind(lanes)}"

    def _splat(self, scalar: str, name: str) -> Iterator[str]:
        """``%name``: the vector of a number."""
        kind = self._kind(self._lanes)
        yield f"  {name}.lane = insertelement {kind} poison, {self._scalar} {scalar}, i64 0"
        yield f"  {name} = shufflevector {kind} {name}.lane, {kind} poison, <{self._lanes} x i32> zeroinitializer"


def _words_of_columns(loops: OuterLoops) -> Iterator[str]:
    """The words of the loop across columns, and how many of these lie together in both operands."""
    yield from word("%width", 1)
    yield from word("%across", loops.stride_index(0, 1))
    yield from word("%written", loops.stride_index(1, 1))
    yield "  %dense.read = icmp eq i64 %across, 1"
    yield "  %dense.written = icmp eq i64 %written, 1"
    yield "  %dense = and i1 %dense.read, %dense.written"
    yield "  %dense.width = select i1 %dense, i64 %width, i64 0"


def _pointer(k: int, rank: int) -> Iterator[str]:
    yield f"  %pointer{k} = getelementptr ptr, ptr %pointers, i64 {k}"
    yield f"  %at{rank + 1}_{k} = load ptr, ptr %pointer{k}"
