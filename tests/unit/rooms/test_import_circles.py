"""No modules import each other in a circle.

Imports inside functions and for type checkers count as those at the top do: whoever reads follows them too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ttnn_jit

PACKAGE = Path(ttnn_jit.__file__).parent
FOLDERS = {  # `cache` and `kernels` may be links, which a walk of the package does not follow
    "ttnn_jit": PACKAGE,
    "ttnn_jit.cache": PACKAGE / "cache",
    "ttnn_jit.kernels": PACKAGE / "kernels",
    "benchmarks": PACKAGE.parent / "benchmarks",
}


def modules() -> dict[str, str]:
    """Name of a module -> its text."""
    return {
        ".".join([package, *file.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__"): file.read_text()
        for package, folder in FOLDERS.items()
        for file in folder.rglob("*.py")
    }


def imported(module: str, text: str, known: dict[str, str]) -> Iterator[str]:
    """The modules among `known` that a module imports: a submodule, and not the package that it is taken from."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            names = (f"{node.module}.{each.name}" for each in node.names)
            yield from (found for name in names if (found := name if name in known else str(node.module)) in known)


def circle(texts: dict[str, str]) -> list[str]:
    """Modules of which each imports the next, and the last the first; empty if there are none."""
    graph = {module: set(imported(module, text, texts)) - {module} for module, text in texts.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_no_modules_import_each_other_in_a_circle():
    assert circle(modules()) == []


@pytest.mark.parametrize("package", FOLDERS)
def test_every_folder_is_checked(package):
    assert any(module.startswith(f"{package}.") for module in modules())


TYPING = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "


@pytest.mark.parametrize(
    "back",
    [
        "import a.first",
        "from a.first import x",
        "from a import first",
        "from a.first import *",
        f"{TYPING}from a.first import x",
        f"{TYPING}from a import first",
        "def f():\n    from a.first import x",
        "class C:\n    def f(self):\n        import a.first as g",
        "try:\n    import a.first\nexcept ImportError:\n    pass",
    ],
)
def test_an_import_back_is_a_circle(back):
    texts = {"a": "", "a.first": "from a.second import y", "a.second": back}
    assert circle(texts) in (["a.first", "a.second", "a.first"], ["a.second", "a.first", "a.second"])


def test_a_package_and_its_submodule_are_a_circle_where_the_submodule_takes_a_name_of_the_package():
    package = "from a.first import x"
    assert circle({"a": package, "a.first": "from a.second import y", "a.second": ""}) == []
    assert set(circle({"a": package, "a.first": "from a import z"})) == {"a", "a.first"}
