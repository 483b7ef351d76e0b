"""Buffers that live at one time never overlap, and each lies at the lowest address that is free."""

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32
from xdsl.ir import Block

from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.buffer_allocation import ALIGNMENT, Buffer, place


@st.composite
def buffers(draw):
    count = draw(st.integers(1, 25))
    values = Block(arg_types=[f32] * count).args
    found = []
    for value in values:
        first = draw(st.integers(-1, 12))
        last = draw(st.integers(max(first, 0), 14))
        found.append(Buffer(value, draw(st.sampled_from(["dram", "l1"])), draw(st.integers(1, 100)), first, last))
    return found


def aligned(address):
    return -(-address // ALIGNMENT) * ALIGNMENT


@given(buffers(), st.sampled_from([0, 1000]))
def test_addresses_are_those_of_a_search_among_all_buffers(found, base):
    addresses, peaks = place(found, {"dram": base})
    before = []
    for buffer in sorted(found, key=lambda each: (each.first, -each.size)):
        start = addresses[buffer.value]
        taken = [
            (addresses[each.value], addresses[each.value] + each.size)
            for each in before
            if each.space == buffer.space and each.last >= buffer.first
        ]
        assert all(start + buffer.size <= low or high <= start for low, high in taken)
        own = base if buffer.space == "dram" else 0
        candidates = sorted({aligned(own), *(aligned(high) for _, high in taken)})
        free = (
            each
            for each in candidates
            if each >= own and all(each + buffer.size <= low or high <= each for low, high in taken)
        )
        assert start == next(free)
        before.append(buffer)
    for space, peak in peaks.items():
        ends = [addresses[each.value] + each.size for each in found if each.space == space]
        assert peak == max(ends) - (base if space == "dram" else 0)
