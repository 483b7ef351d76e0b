"""Pytrees: what counts as a container, and that each keeps its class and what it holds beside its items."""

from __future__ import annotations

import dataclasses
import enum
import json
import operator
from collections import OrderedDict, defaultdict
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.foreign.container_items import items_of
from ttnn_jit.foreign.pytrees import LEAF, PyTree, flatten, from_json, join, leaves, map_leaves, parts_of, to_json
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


class Named(dict):
    """A dict whose class and attributes are the user's."""


class Listed(list):
    """A list whose class and attributes are the user's."""


CLASSES = {cls.__name__: cls for cls in (Pair, Record, Slotted)}
PYTREES = [1, [1, (2, {"a": 3})], Pair(1, [2]), Record([1, 2]), [Slotted((1, Pair(2, 3)))], (), {"a": []}]


@pytest.mark.parametrize("tree", PYTREES, ids=lambda tree: type(tree).__name__)
def test_a_pytree_maps_leaf_by_leaf_and_keeps_its_classes(tree):
    doubled = map_leaves(tree, lambda leaf: 2 * leaf)
    assert type(doubled) is type(tree)
    assert list(leaves(doubled)) == [2 * leaf for leaf in leaves(tree)]


@pytest.mark.parametrize("tree", PYTREES, ids=lambda tree: type(tree).__name__)
def test_a_pytree_comes_back_from_json(tree):
    back = from_json(to_json(tree, lambda cls: cls.__name__), CLASSES.__getitem__)
    assert back == tree
    assert type(back) is type(tree)


@pytest.mark.parametrize("key", [(1, "a"), (0.0, (True, None)), -0.0, 1.0, True], ids=repr)
def test_keys_of_a_dict_come_back_from_json(key):
    written = json.loads(json.dumps(to_json({key: 1}, str)))
    assert repr(from_json(written, CLASSES.__getitem__)) == repr({key: 1})


class Colour(enum.IntEnum):
    RED = 1


class Triple(tuple):
    __slots__ = ()


@pytest.mark.parametrize(
    "tree", [{Colour.RED: 1}, {b"key": 1}, Triple([1, 2, 3]), Noted(1)], ids=lambda tree: type(tree).__name__
)
def test_what_would_come_back_as_something_else_is_not_written_down(tree):
    with pytest.raises(TypeError, match="cannot be serialized"):
        to_json(tree, str)


def test_a_record_keeps_attributes_that_are_no_fields_and_lacks_fields_that_are_not_set():
    record = Noted(1)
    mapped = map_leaves(record, lambda leaf: leaf + 1)
    assert (mapped.value, mapped.made, hasattr(mapped, "later"), record.value) == (2, True, False, 1)


@dataclasses.dataclass
class Hiding:
    scale: float = 2.0

    def __getattribute__(self, name):
        return 3.0 if name == "scale" else None


def test_a_record_that_hides_its_own_parts_is_a_record_of_its_fields():
    tree = flatten(Hiding())
    assert tree.leaves == [3.0]
    assert type(tree.unflatten()) is Hiding


@pytest.mark.parametrize("change", ["append(2.0)", "clear()", "__setitem__(0, 2.0)", "__setitem__(0, [1.0])"])
def test_the_parts_of_a_pytree_tell_whether_it_was_changed(change):
    value = {"a": [1.0], "b": 2.0}
    before = parts_of(value)
    assert all(map(operator.is_, before, parts_of(value)))
    eval(f"value['a'].{change}")
    after = parts_of(value)
    assert len(before) != len(after) or not all(map(operator.is_, before, after))


def test_a_dataclass_of_this_package_is_a_leaf():
    assert items_of(MemoryConfig()) is None


def test_a_dataclass_whose_module_is_not_known_is_a_record_of_the_user():
    homeless = dataclasses.make_dataclass("Homeless", ["value"], namespace={"__module__": None})
    assert list(leaves(homeless([1, 2]))) == [1, 2]


LEAVES = st.integers(0, 9)


def holding(tree):
    """A container of the user's that holds something beside its items."""
    tree.note = "kept"
    return tree


PYTREES_OF_ANY_KIND = st.recursive(
    LEAVES,
    lambda trees: (
        st.lists(trees, max_size=3)
        | st.lists(trees, max_size=3).map(tuple)
        | st.lists(trees, max_size=3).map(lambda items: holding(Listed(items)))
        | st.lists(trees, max_size=3).map(Triple)
        | st.dictionaries(LEAVES, trees, max_size=3)
        | st.dictionaries(st.text(max_size=2), trees, max_size=3).map(lambda items: holding(Named(items)))
        | st.dictionaries(LEAVES, trees, max_size=3).map(OrderedDict)
        | st.dictionaries(LEAVES, trees, max_size=3).map(lambda items: defaultdict(list, items))
        | st.builds(Pair, trees, trees)
        | st.builds(Noted, trees)
        | st.builds(Slotted, trees)
    ),
    max_leaves=12,
)


def written(tree):
    """A pytree as text: classes, names, items, and what containers hold beside them."""
    items = items_of(tree)
    if items is None:
        return repr(tree)
    names = list(tree) if isinstance(tree, dict) else None
    own = {name: value for name, value in getattr(tree, "__dict__", {}).items() if name in {"note", "made"}}
    return f"{type(tree).__name__} {names} {own} {getattr(tree, 'default_factory', None)} {[*map(written, items)]}"


@given(PYTREES_OF_ANY_KIND)
def test_leaves_and_structure_make_up_the_pytree_again(tree):
    for flat in (flatten(tree), flatten(tree, "it")):
        again = flat.treedef.unflatten(flat.leaves)
        assert written(again) == written(tree)
        assert flat.leaves == leaves(again)
        assert flat.treedef.num_leaves == len(flat.leaves)
        assert again is not tree or items_of(tree) is None or tree == ()


@given(st.lists(PYTREES_OF_ANY_KIND, max_size=3))
def test_pytrees_that_are_joined_are_the_pytree_of_their_tuple_or_dict(trees):
    flat = [flatten(tree) for tree in trees]
    joined = join(flat)
    assert (joined.leaves, joined.treedef) == tuple(flatten(tuple(trees)))
    names = tuple(map(str, range(len(trees))))
    joined = join(flat, names)
    assert (joined.leaves, joined.treedef) == tuple(flatten(dict(zip(names, trees, strict=True))))


def test_a_leaf_is_a_pytree():
    assert flatten(3) == PyTree([3], LEAF)
    assert LEAF.unflatten([4]) == 4


@given(PYTREES_OF_ANY_KIND)
def test_a_container_at_several_paths_has_its_leaves_in_each(tree):
    flat = flatten([tree, {"a": tree}, tree], "it")
    assert flat.leaves == leaves(tree) * 3
    assert written(flat.treedef.unflatten(flat.leaves)) == written([tree, {"a": tree}, tree])
