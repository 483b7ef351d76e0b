"""The loops around the innermost one of a kernel, as LLVM IR text, and the words that a launch passes them.

The words are i64, strides counted in elements::

    innermost extent, outer extents [rank], then per stream: innermost stride, outer strides [rank]

where ``rank`` counts the loops around the innermost one, which are listed from the inside out. Outer extents are at
least 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.process.dataclass import dataclass


def word(name: str, index: int) -> Iterator[str]:
    """``%name``: the word of ``%params`` at `index`."""
    yield f"  {name}.at = getelementptr i64, ptr %params, i64 {index}"
    yield f"  {name} = load i64, ptr {name}.at"


@dataclass(frozen=True)
class OuterLoops:
    """Loops around the block ``row``, in which ``%at<i>_<k>`` is stream k's first element; it goes on at ``close<i>``.

    Attributes:
        elements: LLVM type of each stream's elements.
        rank: Number of the outermost loop.
        innermost: Number i of the innermost one of these.
    """

    elements: tuple[str, ...]
    rank: int
    innermost: int = 1

    @property
    def first(self) -> str:
        """Label of the outermost loop: ``entry`` branches into it, with the streams in ``%at<rank + 1>_<k>``."""
        return self._label(self.rank)

    def stride_index(self, k: int, loop: int) -> int:
        """Which word is stream k's stride along a loop; 0 is the innermost."""
        return 1 + self.rank + k * (1 + self.rank) + loop

    def open(self) -> Iterator[str]:
        """The heads of the loops."""
        for loop in range(self.rank, self.innermost - 1, -1):
            before = f"%loop{loop + 1}" if loop < self.rank else "%entry"
            yield f"loop{loop}:"
            yield f"  %i{loop} = phi i64 [0, {before}], [%i{loop}.next, %close{loop}]"
            for k, _ in enumerate(self.elements):
                yield f"  %at{loop}_{k} = phi ptr [%at{loop + 1}_{k}, {before}], [%next{loop}_{k}, %close{loop}]"
            yield f"  br label %{self._label(loop - 1)}"

    def close(self) -> Iterator[str]:
        """Their ends, and the label of the block that follows them."""
        for loop in range(self.innermost, self.rank + 1):
            yield f"close{loop}:"
            yield f"  %i{loop}.next = add i64 %i{loop}, 1"
            yield from word(f"%extent{loop}", loop)
            for k, element in enumerate(self.elements):
                yield from word(f"%outer{loop}_{k}", self.stride_index(k, loop))
                yield f"  %next{loop}_{k} = getelementptr {element}, ptr %at{loop}_{k}, i64 %outer{loop}_{k}"
            yield f"  %more{loop} = icmp slt i64 %i{loop}.next, %extent{loop}"
            yield f"  br i1 %more{loop}, label %loop{loop}, label %close{loop + 1}"
        yield f"close{self.rank + 1}:"

    def _label(self, loop: int) -> str:
        return f"loop{loop}" if loop >= self.innermost else "row"
