"""Structures that native code and Python share."""

from itertools import pairwise

import pytest

from ttnn_jit.runtime.native.structures import LaunchEntry, Pool, Structure, address, cache_line_field, number


def test_fields_are_contiguous_and_isolated_ones_share_no_cache_line():
    class Shared(Structure):
        first = number()
        second = address()
        alone = cache_line_field("i64", 128)
        last = number()

    assert [field.offset for field in Shared.fields.values()] == [0, 8, 128, 256]
    assert Shared.nbytes == 264


def test_a_call_takes_the_pool_by_its_first_field():
    assert Pool.busy.offset == 0


def test_no_two_fields_of_the_pool_overlap():
    ends = [(field.offset, field.offset + field.nbytes) for field in Pool.fields.values()]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    assert ends[-1][1] == Pool.nbytes


def test_a_structure_of_numbers_and_addresses_takes_each_of_its_fields_by_name():
    values = {name: k for k, name in enumerate(LaunchEntry.fields)}
    assert LaunchEntry.int64s(**dict(reversed(values.items()))) == list(range(10))
    with pytest.raises(AssertionError):
        LaunchEntry.int64s(function=0)
