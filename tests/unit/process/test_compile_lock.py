"""Objects of imports are not traversed by the next small garbage collection."""

import gc
import sys
import types

import pytest

from ttnn_jit.process.compile_lock import compiles


class Made:
    pass


@compiles
def imported(name):
    sys.modules[name] = types.ModuleType(name)
    return Made()


@pytest.fixture(autouse=True)
def _collecting():
    gc.enable()
    gc.unfreeze()  # what tests/conftest.py has frozen, and freezes again
    yield
    gc.freeze()
    sys.modules.pop("imported_in_a_test", None)


def is_old(made):
    return any(made is each for each in gc.get_objects(generation=2))


def test_objects_of_an_import_are_old_for_the_collector():
    made = imported("imported_in_a_test")
    assert is_old(made)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_objects_of_a_compile_without_imports_are_young():
    imported("imported_in_a_test")
    assert not is_old(imported("imported_in_a_test"))


def test_objects_that_were_frozen_stay_frozen():
    gc.freeze()
    frozen = gc.get_freeze_count()
    imported("imported_in_a_test")
    assert gc.get_freeze_count() == frozen
