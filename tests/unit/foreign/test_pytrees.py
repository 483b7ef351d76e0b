"""Nests of containers: what counts as one, and that each keeps its class and what it holds beside its items."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import NamedTuple

import pytest

from ttnn_jit.foreign.pytrees import from_json, items_of, leaves, map_leaves, to_json
from ttnn_jit.specs.tensor_spec import MemoryConfig


class Pair(NamedTuple):
    first: object
    second: object


@dataclasses.dataclass
class Record:
    value: object
    later: object = dataclasses.field(init=False, compare=False)


@dataclasses.dataclass
class Noted(Record):
    def __post_init__(self):
        self.made = True


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    value: object


CLASSES = {cls.__name__: cls for cls in (Pair, Record, Slotted)}
NESTS = [1, [1, (2, {"a": 3})], Pair(1, [2]), Record([1, 2]), [Slotted((1, Pair(2, 3)))], (), {"a": []}]


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: type(nest).__name__)
def test_a_nest_maps_leaf_by_leaf_and_keeps_its_classes(nest):
    doubled = map_leaves(nest, lambda leaf: 2 * leaf)
    assert type(doubled) is type(nest)
    assert list(leaves(doubled)) == [2 * leaf for leaf in leaves(nest)]


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: type(nest).__name__)
def test_a_nest_comes_back_from_json(nest):
    back = from_json(to_json(nest, lambda cls: cls.__name__), CLASSES.__getitem__)
    assert back == nest
    assert type(back) is type(nest)


@pytest.mark.parametrize("key", [(1, "a"), (0.0, (True, None)), -0.0, 1.0, True], ids=repr)
def test_keys_of_a_dict_come_back_from_json(key):
    written = json.loads(json.dumps(to_json({key: 1}, str)))
    assert repr(from_json(written, CLASSES.__getitem__)) == repr({key: 1})


class Colour(enum.IntEnum):
    RED = 1


class Triple(tuple):
    __slots__ = ()


@pytest.mark.parametrize(
    "nest", [{Colour.RED: 1}, {b"key": 1}, Triple([1, 2, 3]), Noted(1)], ids=lambda nest: type(nest).__name__
)
def test_what_would_come_back_as_something_else_is_not_written_down(nest):
    with pytest.raises(TypeError, match="cannot be written down"):
        to_json(nest, str)


def test_a_record_keeps_attributes_that_are_no_fields_and_lacks_fields_that_are_not_set():
    record = Noted(1)
    mapped = map_leaves(record, lambda leaf: leaf + 1)
    assert (mapped.value, mapped.made, hasattr(mapped, "later"), record.value) == (2, True, False, 1)


def test_a_dataclass_of_this_package_is_a_leaf():
    assert items_of(MemoryConfig()) is None


def test_a_dataclass_whose_module_is_not_known_is_a_record_of_the_user():
    homeless = dataclasses.make_dataclass("Homeless", ["value"], namespace={"__module__": None})
    assert list(leaves(homeless([1, 2]))) == [1, 2]
