"""Rows that indices name, copied as LLVM IR text: numba takes half a second for such a loop, LLVM ten milliseconds.

Bound: the bytes of the rows that are read, and of the result.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.specs.dtypes import DataType

_INTEGER_PART = "llvm.fptosi.sat.i64.f32"
_TOGETHER = 16  # elements of a row that are copied at a time, where both rows are dense


def gathering_text(name: str, index: DataType, element: DataType, rank: int) -> str:
    """The function ``void name(ptr pointers, ptr params)`` over indices, a table and the result.

    The innermost loop goes along a row, the next one along the rows of the table, of which one is taken for an index:
    the nearest, where there is none of its number.

    Args:
        name: Of the function.
        index: Element type of the indices; of floats it is their integer part.
        element: Of the table and of the result.
        rank: Number of the outermost loop.
    """
    elements = (f"i{8 * index.itemsize}", *(f"i{8 * element.itemsize}",) * 2)
    loops = OuterLoops(elements, rank, innermost=2)
    return "\n".join(
        [
            f"define void @{name}(ptr %pointers, ptr %params) nounwind {{",
            "entry:",
            *(line for k, _ in enumerate(elements) for line in _pointer(k, rank)),
            *word("%width", 0),
            *word("%count", 1),
            *word("%rows", loops.stride_index(1, 1)),
            *word("%across", loops.stride_index(1, 0)),
            *word("%step", loops.stride_index(2, 0)),
            "  %last = sub i64 %count, 1",
            "  %dense.read = icmp eq i64 %across, 1",
            "  %dense.written = icmp eq i64 %step, 1",
            "  %dense = and i1 %dense.read, %dense.written",
            f"  %whole = and i64 %width, {-_TOGETHER}",
            "  %together = select i1 %dense, i64 %whole, i64 0",
            f"  br label %{loops.first}",
            *loops.open(),
            *_row(index, elements[1]),
            *loops.close(),
            "  ret void",
            "}",
            *([f"declare i64 @{_INTEGER_PART}(float)"] if index.is_upper_half else []),
        ]
    )


def _pointer(k: int, rank: int) -> Iterator[str]:
    yield f"  %pointer{k} = getelementptr ptr, ptr %pointers, i64 {k}"
    yield f"  %at{rank + 1}_{k} = load ptr, ptr %pointer{k}"


def _number(index: DataType) -> Iterator[str]:
    """``%number``, an index, of the element ``%given``."""
    if index.is_upper_half:
        yield "  %wide = zext i16 %given to i32"
        yield "  %bits = shl i32 %wide, 16"
        yield "  %float = bitcast i32 %bits to float"
        yield f"  %number = call i64 @{_INTEGER_PART}(float %float)"
    elif index.compute.is_double_word:
        yield "  %number = add i64 %given, 0"
    else:
        yield f"  %number = {'sext' if index.compute.is_signed else 'zext'} i{8 * index.itemsize} %given to i64"


def _row(index: DataType, element: str) -> Iterator[str]:
    """The block ``row``: one row, from the index's place in the table."""
    yield "row:"
    yield f"  %given = load i{8 * index.itemsize}, ptr %at2_0"
    yield from _number(index)
    yield "  %negative = icmp slt i64 %number, 0"
    yield "  %from.first = select i1 %negative, i64 0, i64 %number"
    yield "  %beyond = icmp sgt i64 %from.first, %last"
    yield "  %row.number = select i1 %beyond, i64 %last, i64 %from.first"
    yield "  %row.offset = mul i64 %row.number, %rows"
    yield f"  %source = getelementptr {element}, ptr %at2_1, i64 %row.offset"
    yield "  br label %blocks"
    yield "blocks:"
    yield "  %b = phi i64 [0, %row], [%b.next, %block]"
    yield "  %more.blocks = icmp slt i64 %b, %together"
    yield "  br i1 %more.blocks, label %block, label %rest"
    yield "block:"
    yield from _copied("b", f"<{_TOGETHER} x {element}>", element, "%b", "%b", element_bytes=int(element[1:]) // 8)
    yield f"  %b.next = add i64 %b, {_TOGETHER}"
    yield "  br label %blocks"
    yield "rest:"
    yield "  %r = phi i64 [%b, %blocks], [%r.next, %one]"
    yield "  %more.rest = icmp slt i64 %r, %width"
    yield "  br i1 %more.rest, label %one, label %close2"
    yield "one:"
    yield "  %r.read = mul i64 %r, %across"
    yield "  %r.written = mul i64 %r, %step"
    yield from _copied("r", element, element, "%r.read", "%r.written", element_bytes=int(element[1:]) // 8)
    yield "  %r.next = add i64 %r, 1"
    yield "  br label %rest"


def _copied(name: str, kind: str, element: str, read: str, written: str, *, element_bytes: int) -> Iterator[str]:
    yield f"  %{name}.from = getelementptr {element}, ptr %source, i64 {read}"
    yield f"  %{name}.to = getelementptr {element}, ptr %at2_2, i64 {written}"
    yield f"  %{name}.value = load {kind}, ptr %{name}.from, align {element_bytes}"
    yield f"  store {kind} %{name}.value, ptr %{name}.to, align {element_bytes}"
