"""No two modules of the package import each other, so that one can be read, tested and moved alone."""

from __future__ import annotations

import graphlib

import grimp
import pytest


def circle_in(graph: grimp.ImportGraph) -> list[str]:
    """Modules of which each imports the next, and the last the first; empty if there are none."""
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        graphlib.TopologicalSorter(imported).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []


def test_no_modules_import_each_other_in_a_circle_not_even_inside_functions():
    graph = grimp.build_graph("ttnn_jit", exclude_type_checking_imports=True, cache_dir=None)
    assert len(graph.modules) > 100
    assert circle_in(graph) == []


@pytest.mark.parametrize("room", ["cache", "calls", "codegen", "compiler", "runtime", "specs"])
def test_no_modules_of_these_rooms_need_each_other_for_type_annotations_either(room):
    graph = grimp.build_graph("ttnn_jit", cache_dir=None)
    modules = graph.find_descendants(f"ttnn_jit.{room}")
    own = grimp.ImportGraph()
    for module in modules:
        for imported in graph.find_modules_directly_imported_by(module) & modules:
            own.add_import(importer=module, imported=imported)
    assert len(own.modules) > 5
    assert circle_in(own) == []


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_a_circle_of_any_length_is_found(length):
    graph = grimp.ImportGraph()
    for number in range(length):
        graph.add_import(importer=f"m{number}", imported=f"m{(number + 1) % length}")
    graph.add_import(importer="outside", imported="m0")
    assert len(set(circle_in(graph))) == length
