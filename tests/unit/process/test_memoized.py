"""Memos of functions whose arguments may be extents use one decorator."""

import ast
from pathlib import Path

import pytest

import ttnn_jit
from ttnn_jit.process.memoized import memoized

ROOMS = [Path(ttnn_jit.__file__).parent / room for room in ("codegen", "specs", "transforms")]
FILES = sorted(path for room in ROOMS for path in room.rglob("*.py"))
MEMOS = {"cache", "lru_cache"}


def functools_memos(tree):
    """The names of functools' own caches in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "functools":
            yield from MEMOS.intersection(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "functools":
            yield from MEMOS.intersection([node.attr])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_file_of_these_rooms_uses_a_cache_of_functools(path):
    assert list(functools_memos(ast.parse(path.read_text()))) == []


def test_equal_arguments_are_computed_once_until_the_memo_is_cleared():
    seen = []

    @memoized
    def doubled(number):
        """Twice the number."""
        seen.append(number)
        return 2 * number

    assert (doubled(3), doubled(3), seen) == (6, 6, [3])
    doubled.cache_clear()
    assert (doubled(3), seen, doubled.__doc__) == (6, [3, 3], "Twice the number.")


def test_a_bounded_memo_evicts_the_least_recently_used_entry():
    seen = []

    @memoized(maxsize=1)
    def doubled(number):
        seen.append(number)
        return 2 * number

    assert [doubled(3), doubled(3), doubled(4), doubled(3)] == [6, 6, 8, 6]
    assert seen == [3, 4, 3]
